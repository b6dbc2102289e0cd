#include "api/api_options.h"
#include "infer/impute.h"

void nade_impute_options_init(nade_impute_options *options, size_t size)
{
    const nade_impute_options defaults = {.size = size, .draws = 1, .device = NADE_DEVICE_AUTO};
    nd_options_init(options, size, &defaults, sizeof defaults);
}

nade_status nade_impute(nade_context *context, const nade_model *model, const nade_impute_options *options, size_t rows,
                        double *values, double *low, double *high)
{
    nade_impute_options all;
    nade_impute_options_init(&all, sizeof all);
    nade_status status = nd_take_options(context, "impute options", &all, sizeof all, options);
    if (status != NADE_OK) return status;
    if (!model || (!values && rows > 0)) return nd_fail(context, NADE_BAD_CALL, "nade_impute needs a model and values");
    return nd_impute(context, model, &all, rows, values, low, high);
}
