#include "model/softmax.h"

#include <math.h>

#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"

static double log_sum_exp(const double *a, size_t count)
{
    double most = a[0], sum = 0;
    for (size_t i = 1; i < count; i++) most = fmax(most, a[i]);
    for (size_t i = 0; i < count; i++) sum += exp(a[i] - most);
    return most + log(sum);
}

double nd_softmax_log_density(const struct plan_column *column, const double *outputs, double x)
{
    return outputs[(size_t)x] - log_sum_exp(outputs, column->values);
}

double nd_softmax_loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient)
{
    double total = log_sum_exp(outputs, column->values);
    for (size_t v = 0; v < column->values; v++) gradient[v] = exp(outputs[v] - total);
    gradient[(size_t)x] -= 1;
    return total - outputs[(size_t)x];
}

double nd_softmax_sample(const struct plan_column *column, const double *outputs, const uint32_t words[4])
{
    return (double)nd_pick_from_logits(outputs, column->values, (double)nd_random_uniform(words[0]));
}

double nd_softmax_mode(const struct plan_column *column, const double *outputs)
{
    size_t best = 0;
    for (size_t v = 1; v < column->values; v++)
        if (outputs[v] > outputs[best]) best = v;
    return (double)best;
}

double nd_softmax_tail(const struct plan_column *column, const double *outputs, double x)
{
    double total = log_sum_exp(outputs, column->values), sum = 0;
    if (nd_softmax_mode(column, outputs) == x) return 1;
    for (size_t v = 0; v < column->values; v++)
        if (outputs[v] <= outputs[(size_t)x]) sum += exp(outputs[v] - total);
    return fmin(sum, 1);
}

void nd_softmax_mix(const struct plan_column *column, const struct mix_share *share, const double *outputs,
                    double *mixed)
{
    double total = log_sum_exp(outputs, column->values);
    for (size_t v = 0; v < column->values; v++)
        mixed[v] = nd_log_mean_by(mixed[v], share->log_before, outputs[v] - total, share->log_weight);
}

/* A label that nothing belongs to still has a logarithm. */
void nd_softmax_fit_weighted(const struct plan_column *column, const float *values, const double *weights, size_t count,
                             double *outputs)
{
    double total = 0;
    for (size_t i = 0; i < count; i++) total += weights[i];
    if (!(total > 0)) return;
    for (size_t v = 0; v < column->values; v++) outputs[v] = 0;
    for (size_t i = 0; i < count; i++) outputs[(size_t)values[i]] += weights[i];
    for (size_t v = 0; v < column->values; v++) outputs[v] = log(fmax(outputs[v] / total, 1e-12));
}

/* p(v) = (count of v + 1/2) / (count + V/2). */
void nd_softmax_fit_marginal(const struct plan_column *column, const float *values, size_t count, double *outputs)
{
    for (size_t v = 0; v < column->values; v++) outputs[v] = 0.5;
    for (size_t i = 0; i < count; i++) outputs[(size_t)values[i]] += 1;
    double total = log((double)count + 0.5 * (double)column->values);
    for (size_t v = 0; v < column->values; v++) outputs[v] = log(outputs[v]) - total;
}
