#include "backend/backend.h"

#include "model/head.h"

double nd_draw_cell(const struct sample_query *query, const struct plan_column *column, size_t c, const double *outputs,
                    const uint32_t words[4])
{
    if (c != query->bounded || !(query->low < query->high)) return column->head->sample(column, outputs, words);
    return column->head->sample_between(column, outputs, query->low, query->high, words);
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
