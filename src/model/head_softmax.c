/* Categorical columns: V logits, p(v) = softmax; the input is one-hot. */
#include <math.h>

#include "base/philox.h"
#include "model/head.h"
#include "model/label_column.h"
#include "model/rare_labels.h"

static nade_status learn(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                         struct column_spec *spec)
{
    return nd_learn_labels(arena, &table->column[number], false, spec) ? NADE_OK : nd_no_memory(context, "the labels");
}

static void read_labels(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    nd_read_labels(r, object, 1, ND_LABELS_MOST, false, spec);
    nd_read_rare_labels(r, object, spec);
}

static const char *const keys[] = {"rare", NULL};

static nade_status plan(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                        struct plan_column *column)
{
    (void)context, (void)arena, (void)components;
    column->input_width = column->output_width = column->values = nd_value_count(spec);
    return NADE_OK;
}

static double log_sum_exp(const double *a, size_t count)
{
    double most = a[0], sum = 0;
    for (size_t i = 1; i < count; i++) most = fmax(most, a[i]);
    for (size_t i = 0; i < count; i++) sum += exp(a[i] - most);
    return most + log(sum);
}

static double log_density(const struct plan_column *column, const double *outputs, double x)
{
    return outputs[(size_t)x] - log_sum_exp(outputs, column->values);
}

static double loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient)
{
    double total = log_sum_exp(outputs, column->values);
    for (size_t v = 0; v < column->values; v++) gradient[v] = exp(outputs[v] - total);
    gradient[(size_t)x] -= 1;
    return total - outputs[(size_t)x];
}

static double sample(const struct plan_column *column, const double *outputs, const uint32_t words[4])
{
    return (double)nd_pick_from_logits(outputs, column->values, (double)nd_random_uniform(words[0]));
}

static double mode(const struct plan_column *column, const double *outputs)
{
    size_t best = 0;
    for (size_t v = 1; v < column->values; v++)
        if (outputs[v] > outputs[best]) best = v;
    return (double)best;
}

static double tail(const struct plan_column *column, const double *outputs, double x)
{
    double total = log_sum_exp(outputs, column->values), sum = 0;
    if (mode(column, outputs) == x) return 1;
    for (size_t v = 0; v < column->values; v++)
        if (outputs[v] <= outputs[(size_t)x]) sum += exp(outputs[v] - total);
    return fmin(sum, 1);
}

/* p(v) = (count of v + 1/2) / (count + V/2). */
static void fit_marginal(const struct plan_column *column, const float *values, size_t count, double *outputs)
{
    for (size_t v = 0; v < column->values; v++) outputs[v] = 0.5;
    for (size_t i = 0; i < count; i++) outputs[(size_t)values[i]] += 1;
    double total = log((double)count + 0.5 * (double)column->values);
    for (size_t v = 0; v < column->values; v++) outputs[v] = log(outputs[v]) - total;
}

const struct head nd_head_softmax = {
    .type = NADE_CATEGORICAL,
    .labels = true,
    .one_hot = true,
    .learn = learn,
    .write = nd_write_labels,
    .read = read_labels,
    .keys = keys,
    .plan = plan,
    .encode = nd_encode_label,
    .log_density = log_density,
    .loss_gradient = loss_gradient,
    .fit_marginal = fit_marginal,
    .sample = sample,
    .mode = mode,
    .tail = tail,
    .initial_weight_scale = 0.2f,
};
