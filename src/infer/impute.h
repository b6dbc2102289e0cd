/* Missing cells, filled given those that are there. */
#ifndef ND_INFER_IMPUTE_H
#define ND_INFER_IMPUTE_H

#include "model/model.h"

/* See nade_impute in the public header; options are complete and of the current size. */
nade_status nd_impute(nade_context *context, const nade_model *model, const nade_impute_options *options, size_t rows,
                      double *values, double *low, double *high);

#endif
