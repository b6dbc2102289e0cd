#include "model/mixed_column.h"

#include "base/context.h"
#include "model/head.h"
#include "model/log_sum.h"

struct plan_column nd_mixed_column(const struct plan_column *column, size_t members)
{
    struct plan_column mixed = *column;
    if (members > 1 && column->head->mixed_plan) column->head->mixed_plan(members, &mixed);
    return mixed;
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

void nd_mixed_plan(size_t members, struct plan_column *column)
{
    size_t others = members * (column->components - column->atoms);
    column->components = column->atoms + others;
    column->stride = others;
    column->output_width = column->components + 2 * others;
}

void nd_mix(const struct plan_column *column, size_t members, size_t member, const double *outputs, double *mixed)
{
    size_t atoms = column->atoms, others = column->components - atoms, stride = members * others;
    size_t from = column->stride ? column->stride : others; /* counts' follow without one */
    double weights = nd_log_sum(outputs, column->components);
    for (size_t a = 0; a < atoms; a++) mixed[a] = nd_log_mean_with(mixed[a], member, outputs[a] - weights);
    for (size_t c = atoms; c < column->components; c++) {
        size_t at = member * others + c;
        mixed[at] = outputs[c] - weights - log((double)members);
        mixed[stride + at] = outputs[from + c];
        mixed[2 * stride + at] = outputs[2 * from + c];
    }
}
