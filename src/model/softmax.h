/* The distribution of columns whose cells are numbers of labels or values: a logit each, p(v) = softmax.  Functions of
 * struct head. */
#ifndef ND_MODEL_SOFTMAX_H
#define ND_MODEL_SOFTMAX_H

#include <stdint.h>

#include "model/head.h"

double nd_softmax_log_density(const struct plan_column *column, const double *outputs, double x);
double nd_softmax_loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient);
double nd_softmax_sample(const struct plan_column *column, const double *outputs, const uint32_t words[4]);
double nd_softmax_mode(const struct plan_column *column, const double *outputs);
double nd_softmax_tail(const struct plan_column *column, const double *outputs, double x);
void nd_softmax_mix(const struct plan_column *column, const struct mix_share *share, const double *outputs,
                    double *mixed);
void nd_softmax_fit_weighted(const struct plan_column *column, const float *values, const double *weights, size_t count,
                             double *outputs);
void nd_softmax_fit_marginal(const struct plan_column *column, const float *values, size_t count, double *outputs);

#endif
