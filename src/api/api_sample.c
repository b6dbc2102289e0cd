#include "api/api_options.h"
#include "infer/sampling.h"

void nade_sample_options_init(nade_sample_options *options, size_t size)
{
    const nade_sample_options defaults = {.size = size, .device = NADE_DEVICE_AUTO};
    nd_options_init(options, size, &defaults, sizeof defaults);
}

nade_status nade_sample(nade_context *context, const nade_model *model, const nade_sample_options *options, size_t rows,
                        double *values)
{
    nade_sample_options all;
    nade_sample_options_init(&all, sizeof all);
    nade_status status = nd_take_options(context, "sample options", &all, sizeof all, options);
    if (status != NADE_OK) return status;
    if (!model || (!values && rows > 0))
        return nd_fail(context, NADE_BAD_CALL, "nade_sample needs a model and a place for the values");
    return nd_sample(context, model, &all, (struct sample_numbers){0}, rows, values);
}
