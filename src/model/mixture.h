/* The distribution that a real column's outputs describe: a mixture of Gaussians and, where the column has any, atoms;
 * its quantiles, modes and level sets.
 *
 * Densities count each atom as if its probability were spread over an interval of nd_atom_width: they are taken with
 * respect to length plus that width at every atom, where the Gaussians, which have no probability there, do not count.
 */
#ifndef ND_MODEL_MIXTURE_H
#define ND_MODEL_MIXTURE_H

#include <math.h>
#include <stdint.h>

#include "base/ascending.h"
#include "base/fault.h"
#include "model/plan.h"

/* exp of a component's log-scale: its scale without the floor. */
static inline double nd_component_spread(const struct plan_column *column, const double *outputs, size_t c)
{
    return exp(fmin(outputs[2 * column->stride + c], ND_LOG_SCALE_MOST));
}

/* Which of the column's atoms x is; column->atoms: none of them. */
static inline size_t nd_find_atom(const struct plan_column *column, double x)
{
    size_t a = 0;
    if (!column->ascending) {
        while (a < column->atoms && (double)column->atom[a] != x) a++;
        return a;
    }
    a = nd_first_float_from(column->atom, column->atoms, x);
    return a < column->atoms && (double)column->atom[a] == x ? a : column->atoms;
}

/* The input that is 1 for this cell beside its first, where the column has such inputs; SIZE_MAX: none. */
static inline size_t nd_atom_input(const struct plan_column *column, double x)
{
    size_t a = column->atom_inputs ? nd_find_atom(column, x) : column->atoms;
    if (ND_FAULT(FAULT_ATOM_INPUT) && a + 1 < column->atoms) a++;
    return a < column->atoms ? column->input + 1 + a : SIZE_MAX;
}

/* Where atom a lies in the model's units: its cell, or beyond, where the cell was moved closer to the others. */
static inline double nd_atom_place(const struct plan_column *column, size_t a)
{
    bool elsewhere = column->atom_place && !ND_FAULT(FAULT_ATOM_PLACE);
    return elsewhere ? column->atom_place[a] : (double)column->atom[a];
}

/* The same of any cell. */
static inline double nd_cell_place(const struct plan_column *column, double cell)
{
    size_t a = column->atom_place ? nd_find_atom(column, cell) : column->atoms;
    return a < column->atoms ? nd_atom_place(column, a) : cell;
}

/* The width of the uniform distribution whose deviation is the floor: the recording step, where that made the floor. */
static inline double nd_atom_width(const struct plan_column *column)
{
    return ND_FAULT(FAULT_ATOM_WIDTH) ? 1 : 3.46410161513775458705 * column->floor; /* sqrt(12) */
}

/* The mean in the column's own units: those of its map, where it has one. */
double nd_mixture_mean(const struct plan_column *column, const double *outputs);

/* A column of one Gaussian beside its atoms: the likeliest outputs for cells of which each atom has so much weight, and
 * all others have this weight, sum and sum of squares. */
void nd_fit_one_gaussian(const struct plan_column *column, const double *atom_weight, double weight, double sum,
                         double squares, double *outputs);

/* The functions of struct head for real columns. */
double nd_mixture_quantile(const struct plan_column *column, const double *outputs, double p);
double nd_mixture_mode(const struct plan_column *column, const double *outputs);
double nd_mixture_tail(const struct plan_column *column, const double *outputs, double x);

#endif
