/* What the kinds of baselines share (baseline.c), and what each does. */
#ifndef ND_CHECK_BASELINE_PARTS_H
#define ND_CHECK_BASELINE_PARTS_H

#include "check/baseline.h"

/* Numbers in units of their own deviation: the arithmetic is then that of numbers near 1. */
struct baseline_scale {
    double mean, sd;
    double floor; /* least deviation of a Gaussian, in these units */
};

/* Of each column of numbers (columns), from the rows; labels get zeros. */
void nd_baseline_scales(const struct baseline_rows *rows, struct baseline_scale *scale);

/* The log density, or of a binned column the log probability of its bin by its unit, of a value whose Gaussian has
 * this mean and deviation in units of the scale. */
double nd_baseline_log_normal(const struct baseline_column *column, const struct baseline_scale *scale, double mean,
                              double sd, double value);

/* log(Φ(b) - Φ(a)) for a < b, either of which may be infinite. */
double nd_baseline_log_mass(double a, double b);

struct gaussian_fit;

/* NULL: no memory. */
struct gaussian_fit *nd_baseline_gaussian_create(const struct baseline_rows *rows);
void nd_baseline_gaussian_free(struct gaussian_fit *fit);
/* One round of expectation-maximisation; returns what it makes no smaller, before the round: the log likelihood of the
 * rows in units of their scale, blurred as docs/answers.md has it. */
double nd_baseline_gaussian_round(struct gaussian_fit *fit, const struct baseline_rows *rows);
double nd_baseline_gaussian_score(struct gaussian_fit *fit, const double *row, double *cell);

/* The mixture of products that `nade train --kind mixture` fits, with the columns of the method's schema. */
nade_status nd_baseline_mixture_score(const struct baseline_method *method, const struct baseline_rows *fitted,
                                      const struct baseline_rows *scored, double *score, double *cell,
                                      size_t *components);

#endif
