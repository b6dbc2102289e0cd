/* Draws of rows, whole or with some cells given. */
#ifndef ND_INFER_SAMPLING_H
#define ND_INFER_SAMPLING_H

#include "model/model.h"

/* See nade_sample in the public header; options are complete and of the current size. */
nade_status nd_sample(nade_context *context, const nade_model *model, const nade_sample_options *options, size_t rows,
                      double *values);

#endif
