/* Binary columns: one logit a, p(1) = 1/(1+exp(-a)).  Paper, eq. (2). */
#include <math.h>

#include "base/philox.h"
#include "model/head.h"
#include "model/label_column.h"
#include "model/log_sum.h"

static nade_status learn(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                         const struct chosen_rows *rows, struct column_spec *spec)
{
    const struct table_column *column = &table->column[number];
    if (!nd_learn_labels(arena, column, rows, true, spec)) return nd_no_memory(context, "the labels");
    if (spec->label_count == 1)
        return nd_fail(context, NADE_BAD_INPUT,
                       "%s, column '%s' is to be binary but holds only '%s', expected two values", table->source,
                       column->name, spec->labels[0]);
    return NADE_OK;
}

static void read_labels(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    nd_read_labels(r, object, 2, 2, true, spec);
}

static nade_status plan(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                        struct plan_column *column)
{
    (void)context, (void)arena, (void)spec, (void)components;
    column->input_width = column->output_width = 1;
    column->values = 2;
    return NADE_OK;
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

/* A share that nothing belongs to still has a logarithm. */
static void fit_weighted(const struct plan_column *column, const float *values, const double *weights, size_t count,
                         double *outputs)
{
    double weight[2] = {0, 0};
    (void)column;
    for (size_t i = 0; i < count; i++) weight[values[i] != 0] += weights[i];
    double least = 1e-12 * (weight[0] + weight[1]);
    if (least > 0) outputs[0] = log(fmax(weight[1], least) / fmax(weight[0], least));
}

static void mix(const struct plan_column *column, const struct mix_share *share, const double *outputs, double *mixed)
{
    double before = share->log_before, weight = share->log_weight;
    double one = nd_log_mean_by(-softplus(-mixed[0]), before, -softplus(-outputs[0]), weight);
    double zero = nd_log_mean_by(-softplus(mixed[0]), before, -softplus(outputs[0]), weight);
    (void)column;
    mixed[0] = one - zero;
}

const struct head nd_head_bernoulli = {
    .type = NADE_BINARY,
    .labels = true,
    .learn = learn,
    .write = nd_write_labels,
    .read = read_labels,
    .plan = plan,
    .encode = nd_encode_label,
    .log_density = log_density,
    .loss_gradient = loss_gradient,
    .fit_marginal = fit_marginal,
    .fit_weighted = fit_weighted,
    .sample = sample,
    .mode = mode,
    .tail = tail,
    .mix = mix,
    .initial_weight_scale = 0.2f,
};
