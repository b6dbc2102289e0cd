#include "api/api_options.h"
#include "infer/predict.h"

nade_status nade_predict(nade_context *context, const nade_model *model, const nade_prediction *prediction, size_t rows,
                         const double *values)
{
    nade_prediction all = {.size = sizeof all};
    if (!model || !prediction || (!values && rows > 0))
        return nd_fail(context, NADE_BAD_CALL, "nade_predict needs a model, a prediction to fill and values");
    if (!nd_options_valid(prediction, sizeof all))
        return nd_fail(context, NADE_BAD_CALL,
                       "the size of the prediction is not set, expected its sizeof, or it is of a newer version");
    nd_options_copy(&all, sizeof all, prediction, prediction->size);
    return nd_predict(context, model, &all, rows, values);
}
