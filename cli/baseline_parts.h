/* What the kinds of baselines share (baseline.c), and what each does. */
#ifndef CLI_BASELINE_PARTS_H
#define CLI_BASELINE_PARTS_H

#include "baseline.h"

/* Numbers in units of their own deviation: the arithmetic is then that of numbers near 1. */
struct baseline_scale {
    double mean, sd;
    double floor; /* least deviation of a Gaussian, in these units */
};

/* Of each column of numbers (columns), from the rows; labels get zeros. */
void baseline_scales(const struct baseline_rows *rows, struct baseline_scale *scale);

/* The log density, or of a binned column the log probability of its bin by its unit, of a value whose Gaussian has
 * this mean and deviation in units of the scale. */
double baseline_log_normal(const struct baseline_column *column, const struct baseline_scale *scale, double mean,
                           double sd, double value);

/* log(Φ(b) - Φ(a)) for a < b, either of which may be infinite. */
double baseline_log_mass(double a, double b);

/* log Σ exp. */
double baseline_log_sum(const double *values, size_t count);

struct gaussian_fit;

/* NULL: no memory. */
struct gaussian_fit *gaussian_create(const struct baseline_rows *rows);
void gaussian_free(struct gaussian_fit *fit);
/* One round of expectation-maximisation; returns what it makes no smaller, before the round: the log likelihood of the
 * rows in units of their scale, blurred as docs/answers.md has it. */
double gaussian_round(struct gaussian_fit *fit, const struct baseline_rows *rows);
double gaussian_score(struct gaussian_fit *fit, const double *row, double *cell);

struct mixture_fit;

struct mixture_fit *mixture_create(const struct baseline_rows *rows, size_t components, uint32_t seed, uint32_t start);
void mixture_free(struct mixture_fit *fit);
/* The same: the log likelihood with that of the priors of shares. */
double mixture_round(struct mixture_fit *fit, const struct baseline_rows *rows);
double mixture_score(struct mixture_fit *fit, const double *row, double *cell);
size_t mixture_components(const struct mixture_fit *fit);

#endif
