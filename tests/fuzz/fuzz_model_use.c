/* A model file, and then all that the verbs ask of a model: of rows made of its own columns and labels. */
#include <string.h>

#include "fuzz_support.h"
#include "safetensors_mutator.h"

/* Cells of the table follow the file's bytes. */
static uint32_t hash(const uint8_t *bytes, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MEMORY_MOST = 1 << 28 };
    nade_context *context = fuzz_context_of(MEMORY_MOST);
    nade_model *model = NULL;
    if (fuzz_check(context, nade_model_load(context, fuzz_file(0, bytes, size), &model))) {
        nade_table *table = fuzz_table_of(context, model, hash(bytes, size));
        fuzz_use_model(context, model, table, false);
        nade_table_free(table);
        /* What was read can be written, and read again. */
        fuzz_must(context, nade_model_save(context, model, fuzz_output()), "saving what was loaded");
        nade_model_free(model);
        model = NULL;
        fuzz_must(context, nade_model_load(context, fuzz_output(), &model), "loading what was saved");
    }
    nade_model_free(model);
    nade_context_free(context);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    return safetensors_mutate(bytes, size, most, seed);
}
