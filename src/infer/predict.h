/* The distribution of one column given the other cells of each row. */
#ifndef ND_INFER_PREDICT_H
#define ND_INFER_PREDICT_H

#include "model/model.h"

/* nade_predict, whose prediction is laid over zeros. */
nade_status nd_predict(nade_context *context, const nade_model *model, const nade_prediction *prediction, size_t rows,
                       const double *values);

#endif
