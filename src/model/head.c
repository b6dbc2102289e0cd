#include "model/head.h"

#include <float.h>
#include <math.h>

extern const struct head nd_head_bernoulli, nd_head_mixture, nd_head_softmax;

/* One row for each kind of column. */
static const struct head *const heads[] = {&nd_head_bernoulli, &nd_head_mixture, &nd_head_softmax};

const struct head *nd_head_for(nade_type type)
{
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (heads[i]->type == type) return heads[i];
    return NULL;
}

bool nd_outputs_are_finite(const struct plan_column *column, const double *outputs)
{
    bool good = true;
    for (size_t i = 0; i < column->output_width; i++) good = good && fabs(outputs[i]) <= (double)FLT_MAX;
    return good;
}

double nd_log_cell_or_density(const struct plan_column *column, const double *outputs, double x, double half)
{
    if (!nd_outputs_are_finite(column, outputs)) return NAN;
    if (half > 0 && column->head->log_cell) return column->head->log_cell(column, outputs, x, half);
    return column->head->log_density(column, outputs, x);
}

size_t nd_pick_from_logits(const double *logits, size_t count, double uniform)
{
    double most = logits[0], total = 0, sum = 0;
    for (size_t i = 1; i < count; i++) most = fmax(most, logits[i]);
    for (size_t i = 0; i < count; i++) total += exp(logits[i] - most);
    for (size_t i = 0; i + 1 < count; i++) {
        sum += exp(logits[i] - most);
        if (uniform * total < sum) return i;
    }
    return count - 1;
}
