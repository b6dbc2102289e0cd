/* How surprising each cell is, given the rest of its row. */
#ifndef ND_INFER_SURPRISE_H
#define ND_INFER_SURPRISE_H

#include "model/model.h"

/* See nade_score_cells in the public header; options are complete and of the current size. */
nade_status nd_surprise(nade_context *context, const nade_model *model, const nade_table *table,
                        const nade_score_options *options, double *surprise, double *tail, int *scored);

#endif
