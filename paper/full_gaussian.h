/* The baseline of the paper's tables of real data: one Gaussian with a full covariance matrix. */
#ifndef PAPER_FULL_GAUSSIAN_H
#define PAPER_FULL_GAUSSIAN_H

#include "nade/nade.h"

/* In units in which every column of the rows that it was fitted to has mean 0 and standard deviation 1.  Begins all
 * zero.  Free in any case. */
struct full_gaussian {
    size_t columns;
    double *mean, *sd; /* (columns), in the data's units, deviations divided by the count */
    double *factor;    /* (columns, columns) lower triangle L of the correlations L L' */
    double *work;      /* (columns) */
};

/* Fits it to `count` rows of values (…, columns).  NADE_BAD_INPUT: the columns depend on each other linearly. */
nade_status full_gaussian_fit(struct full_gaussian *gaussian, const double *values, size_t columns, const size_t *rows,
                              size_t count);
void full_gaussian_free(struct full_gaussian *gaussian);

/* Log density of row (columns), given in the data's units, in the units above. */
double full_gaussian_log_density(struct full_gaussian *gaussian, const double *row);

#endif
