/* The container of model files: header, table of tensors, data; and what the model loader says to it. */
#include "fuzz_support.h"
#include "model/safetensors.h"
#include "safetensors_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    nade_context *context = fuzz_context();
    struct safetensors file;
    nade_model *model = NULL;
    const char *path = fuzz_file(0, bytes, size);
    if (fuzz_check(context, nd_safetensors_open(context, path, &file)) &&
        fuzz_check(context, nd_safetensors_read_data(context, &file))) {
        unsigned sum = 0;
        for (size_t i = 0; i < file.data_bytes; i++) sum += file.data[i];
        for (size_t i = 0; i < file.entries; i++) {
            const struct safetensors_entry *entry = nd_safetensors_find(&file, file.entry[i].name);
            fuzz_demand(entry && entry->begin <= entry->end && entry->end <= file.data_bytes, "a tensor out of place");
        }
        fuzz_demand(sum <= 255 * file.data_bytes, "bytes above 255");
    }
    nd_safetensors_close(&file);
    fuzz_check(context, nade_model_load(context, path, &model));
    nade_model_free(model);
    nade_context_free(context);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    return safetensors_mutate(bytes, size, most, seed);
}
