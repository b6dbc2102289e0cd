#include "backend/backend.h"

#include <float.h>
#include <math.h>

#include "backend/activation.h"
#include "model/head.h"

#define ROW(...) +1
_Static_assert(ND_ACTIVATIONS(ROW) == NADE_ACTIVATIONS(ROW), "each activation of the public header has a row");
#undef ROW

bool nd_keeps_sums(nade_activation activation)
{
    return nd_slope_reads_sum(activation);
}

static double draw(const struct sample_query *query, const struct plan_column *column, size_t c, const double *outputs,
                   const uint32_t words[4])
{
    if (c != query->bounded) return column->head->sample(column, outputs, words);
    return column->head->sample_between(column, outputs, query->low, query->high, words);
}

float nd_draw_cell(const struct sample_query *query, const struct plan_column *column, size_t c, const double *outputs,
                   const uint32_t words[4])
{
    if (!nd_outputs_are_finite(column, outputs)) return NAN;
    double x = draw(query, column, c, outputs, words);
    return fabs(x) <= (double)FLT_MAX ? (float)x : NAN;
}

nade_status nd_host_set_rows(nade_context *context, struct backend *backend, enum data_role role, size_t first,
                             size_t count)
{
    (void)context;
    (void)backend;
    (void)role;
    (void)first;
    (void)count;
    return NADE_OK;
}
