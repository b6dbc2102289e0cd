/* A checkpoint, from which the training of a fixed little table goes on.  Its options count, and may ask for much: time
 * and memory are limited, as a caller would. */
#include "fuzz_support.h"
#include "safetensors_mutator.h"

/* The seeds are checkpoints of a training on exactly these rows. */
static const char rows[] = "a,b,c\n0,1.5,red\n1,2.5,green\n0,,blue\n1,7.125,red\n1,-3.5,green\n0,0.5,blue\n"
                           "1,3.5,red\n0,1.25,\n0,4.5,green\n1,0.75,blue\n";

static int stop_soon(void *calls, const nade_progress *report)
{
    (void)report;
    return ++*(int *)calls > 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { MEMORY_MOST = 1 << 26 };
    int calls = 0;
    nade_context *context = fuzz_context_of(MEMORY_MOST);
    nade_table *table = fuzz_table(context, rows);
    nade_model *model = NULL;
    nade_train_options options;
    nade_train_options_init(&options, sizeof options);
    options.resume = fuzz_file(0, bytes, size);
    options.device = NADE_DEVICE_CPU;
    options.time_limit = 0.05;
    options.progress = stop_soon;
    options.progress_user = &calls;
    if (fuzz_check(context, nade_train(context, table, NULL, &options, &model)))
        fuzz_use_model(context, model, table, false);
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    return safetensors_mutate(bytes, size, most, seed);
}
