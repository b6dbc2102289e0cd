/* Densities of rows under ensembles of orderings. */
#ifndef ND_INFER_ENSEMBLE_H
#define ND_INFER_ENSEMBLE_H

#include "model/model.h"

/* See nade_score in the public header; options are complete and of the current size. */
nade_status nd_score(nade_context *context, const nade_model *model, const nade_table *table,
                     const nade_score_options *options, double *log_density, double *spread,
                     nade_score_summary *summary);

#endif
