/* The distribution that a real column's outputs describe: a mixture of Gaussians and, where the column has any, atoms;
 * its quantiles, modes and level sets.
 *
 * Densities count each atom as if its probability were spread over an interval of nd_atom_width: they are taken with
 * respect to length plus that width at every atom, where the Gaussians, which have no probability there, do not count.
 */
#ifndef ND_MODEL_MIXTURE_H
#define ND_MODEL_MIXTURE_H

#include <math.h>

#include "base/fault.h"
#include "model/plan.h"

/* exp of a component's log-scale: its scale without the floor. */
static inline double nd_component_spread(const double *outputs, size_t count, size_t c)
{
    return exp(fmin(outputs[2 * count + c], ND_LOG_SCALE_MOST));
}

/* Which of the column's atoms x is; column->atoms: none of them. */
static inline size_t nd_find_atom(const struct plan_column *column, double x)
{
    size_t a = 0;
    while (a < column->atoms && (double)column->atom[a] != x) a++;
    return a;
}

/* The width of the uniform distribution whose deviation is the floor: the recording step, where that made the floor. */
static inline double nd_atom_width(const struct plan_column *column)
{
    return ND_FAULT(FAULT_ATOM_WIDTH) ? 1 : 3.46410161513775458705 * column->floor; /* sqrt(12) */
}

/* The functions of struct head for real columns. */
double nd_mixture_mean(const struct plan_column *column, const double *outputs);
double nd_mixture_quantile(const struct plan_column *column, const double *outputs, double p);
double nd_mixture_mode(const struct plan_column *column, const double *outputs);
double nd_mixture_tail(const struct plan_column *column, const double *outputs, double x);

#endif
