/* The distribution that a real column's outputs describe: a mixture of Gaussians, its quantiles, modes and level sets.
 */
#ifndef ND_MODEL_MIXTURE_H
#define ND_MODEL_MIXTURE_H

#include <math.h>

#include "model/plan.h"

/* exp of a component's log-scale: its scale without the floor. */
static inline double nd_component_spread(const double *outputs, size_t count, size_t c)
{
    return exp(fmin(outputs[2 * count + c], ND_LOG_SCALE_MOST));
}

/* The functions of struct head for real columns. */
double nd_mixture_mean(const struct plan_column *column, const double *outputs);
double nd_mixture_quantile(const struct plan_column *column, const double *outputs, double p);
double nd_mixture_mode(const struct plan_column *column, const double *outputs);
double nd_mixture_tail(const struct plan_column *column, const double *outputs, double x);

#endif
