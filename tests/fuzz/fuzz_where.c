/* Conditions of --where, one a line, on a model with names that look like numbers and conditions; those that are good
 * are sampled with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "fuzz_support.h"
#include "report.h"

enum { ROWS = 2, COLUMNS_MOST = 8 };

/* Several unlikely ranges are refused only after very many draws, which takes a second: too long for a fuzzer. */
static bool is_quick(const struct conditions *conditions, size_t columns)
{
    size_t ranges = 0, unlikely = 0;
    for (size_t c = 0; c < columns; c++) {
        ranges += isfinite(conditions->low[c]) || isfinite(conditions->high[c]);
        unlikely += conditions->low[c] > 1 || conditions->high[c] < 1;
    }
    return ranges < 2 || unlikely == 0;
}

static void sample(const nade_model *model, const struct conditions *conditions)
{
    size_t columns = nade_model_columns(model);
    nade_context *context = fuzz_context();
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.device = NADE_DEVICE_CPU;
    if (conditions->ranges) {
        options.low = conditions->low;
        options.high = conditions->high;
    }
    double values[ROWS * COLUMNS_MOST];
    for (size_t i = 0; i < ROWS * columns; i++) values[i] = conditions->given[i % columns];
    if (fuzz_check(context, nade_sample(context, model, &options, ROWS, values)))
        for (size_t i = 0; i < ROWS * columns; i++)
            fuzz_demand(isfinite(values[i]) && values[i] >= conditions->low[i % columns] &&
                            values[i] <= conditions->high[i % columns],
                        "a sample is %g where %g to %g was asked for", values[i], conditions->low[i % columns],
                        conditions->high[i % columns]);
    nade_context_free(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const nade_model *model = fuzz_model();
    fuzz_demand(nade_model_columns(model) <= COLUMNS_MOST, "too many columns");
    static struct text_list where;
    struct conditions conditions = {.given = calloc(COLUMNS_MOST, sizeof(double)),
                                    .low = calloc(COLUMNS_MOST, sizeof(double)),
                                    .high = calloc(COLUMNS_MOST, sizeof(double))};
    fuzz_demand(conditions.given && conditions.low && conditions.high, "no memory");
    struct common common = {.quiet = 1};
    char *text = fuzz_text(bytes, size), *rest = NULL;
    where.count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line && where.count < TEXTS_MOST; line = strtok_r(NULL, "\n", &rest))
        where.text[where.count++] = line;
    int status = parse_conditions(&common, model, "--where", &where, &conditions);
    fuzz_demand(status == EXIT_DONE || status == EXIT_WRONG, "status %d", status);
    if (status == EXIT_DONE && is_quick(&conditions, nade_model_columns(model))) sample(model, &conditions);
    free_conditions(&conditions);
    free(text);
    return 0;
}
