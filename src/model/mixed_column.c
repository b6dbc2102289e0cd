#include "model/mixed_column.h"

#include <math.h>

#include "base/context.h"
#include "base/fault.h"
#include "model/log_sum.h"

struct plan_column nd_mixed_column(const struct plan_column *column, size_t count)
{
    struct plan_column mixed = *column;
    if (count > 1 && column->head->mixed_plan) column->head->mixed_plan(count, &mixed);
    return mixed;
}

struct mix_share nd_equal_share(size_t count, size_t number)
{
    double all = log((double)count);
    return (struct mix_share){count, number, -all, number > 0 ? log((double)number) - all : -HUGE_VAL};
}

size_t nd_widest_mixed(const struct plan *plan, size_t members)
{
    size_t widest = 1;
    for (size_t c = 0; c < plan->columns; c++) {
        size_t width = nd_mixed_column(&plan->column[c], members).output_width;
        if (width > widest) widest = width;
    }
    return widest;
}

nade_status nd_check_members(nade_context *context, const struct schema *schema, const struct plan *plan,
                             size_t members)
{
    for (size_t c = 0; c < schema->count; c++) {
        size_t components = nd_mixed_column(&plan->column[c], members).components;
        if (components > ND_MIXED_MOST)
            return nd_fail(context, NADE_BAD_CALL,
                           "column '%s' has %zu components in %zu members together, expected at most %d: fewer "
                           "`members`, or fewer `components`",
                           schema->column[c].name, components, members, ND_MIXED_MOST);
    }
    return NADE_OK;
}

void nd_mixed_plan(size_t count, struct plan_column *column)
{
    size_t others = count * (column->components - column->atoms);
    column->components = column->atoms + others;
    column->stride = others;
    column->output_width = column->components + 2 * others;
}

void nd_mix(const struct plan_column *column, const struct mix_share *share, const double *outputs, double *mixed)
{
    size_t atoms = column->atoms, others = column->components - atoms, stride = share->count * others;
    size_t from = column->stride ? column->stride : others; /* counts' follow without one */
    double weights = nd_log_sum(outputs, column->components);
    double log_weight = ND_FAULT(FAULT_MIX_EVENLY) ? -log((double)share->count) : share->log_weight;
    for (size_t a = 0; a < atoms; a++) {
        const double terms[] = {share->number ? mixed[a] : -HUGE_VAL, outputs[a] - weights + log_weight};
        mixed[a] = nd_log_sum(terms, 2);
    }
    for (size_t c = atoms; c < column->components; c++) {
        size_t at = share->number * others + c;
        mixed[at] = outputs[c] - weights + log_weight;
        mixed[stride + at] = outputs[from + c];
        mixed[2 * stride + at] = outputs[2 * from + c];
    }
}
