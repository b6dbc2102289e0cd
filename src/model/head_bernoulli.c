/* Binary columns: one logit a, p(1) = 1/(1+exp(-a)).  Paper, eq. (2). */
#include <math.h>

#include "base/philox.h"
#include "model/head.h"

static size_t input_width(const struct column_spec *spec)
{
    (void)spec;
    return 1;
}

static size_t output_width(const struct column_spec *spec, size_t components)
{
    (void)spec, (void)components;
    return 1;
}

/* log(1 + exp(a)) without overflow. */
static double softplus(double a)
{
    return fmax(a, 0) + log1p(exp(-fabs(a)));
}

static double log_density(const struct plan_column *column, const double *outputs, double x)
{
    (void)column;
    return -softplus(x != 0 ? -outputs[0] : outputs[0]);
}

static double sigmoid(double a)
{
    double e = exp(-fabs(a));
    return (a >= 0 ? 1 : e) / (1 + e);
}

static double loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient)
{
    gradient[0] = sigmoid(outputs[0]) - x;
    return -log_density(column, outputs, x);
}

static double sample(const struct plan_column *column, const double *outputs, const uint32_t words[4])
{
    (void)column;
    return (double)nd_random_uniform(words[0]) < sigmoid(outputs[0]) ? 1 : 0;
}

static double mode(const struct plan_column *column, const double *outputs)
{
    (void)column;
    return outputs[0] > 0 ? 1 : 0;
}

/* All, unless x is the less probable value. */
static double tail(const struct plan_column *column, const double *outputs, double x)
{
    double odds = x != 0 ? outputs[0] : -outputs[0];
    (void)column;
    return odds >= 0 ? 1 : sigmoid(odds);
}

/* p(1) = (ones + 1/2) / (count + 1): finite also for a constant column. */
static void fit_marginal(const struct plan_column *column, const float *values, size_t count, double *outputs)
{
    (void)column;
    size_t ones = 0;
    for (size_t i = 0; i < count; i++) ones += values[i] != 0;
    outputs[0] = log(((double)ones + 0.5) / ((double)(count - ones) + 0.5));
}

const struct head nd_head_bernoulli = {
    .type = NADE_BINARY,
    .discrete = true,
    .input_width = input_width,
    .output_width = output_width,
    .log_density = log_density,
    .loss_gradient = loss_gradient,
    .fit_marginal = fit_marginal,
    .sample = sample,
    .mode = mode,
    .tail = tail,
    .initial_weight_scale = 0.2f,
};
