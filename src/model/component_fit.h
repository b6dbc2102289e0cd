/* fit_weighted of the heads whose likeliest outputs have no closed form: a few candidates are tried, and what a column
 * had is kept where none is better. */
#ifndef ND_MODEL_COMPONENT_FIT_H
#define ND_MODEL_COMPONENT_FIT_H

#include "model/plan.h"

void nd_fit_counts(const struct plan_column *column, const float *values, const double *weights, size_t count,
                   double *outputs);
void nd_fit_dates(const struct plan_column *column, const float *values, const double *weights, size_t count,
                  double *outputs);

#endif
