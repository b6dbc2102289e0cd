#include "backend/backend.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "model/head.h"

const struct backend_entries *nd_backend_for(nade_context *context, nade_device device)
{
    switch (device) {
    case NADE_DEVICE_AUTO:
    case NADE_DEVICE_CPU: return &nd_cpu_entries;
    case NADE_DEVICE_REFERENCE: return &nd_reference_double;
    }
    nd_fail(context, NADE_BAD_CALL, "device %d is unknown, expected one of nade_device", (int)device);
    return NULL;
}

double nd_draw_cell(const struct sample_query *query, const struct plan_column *column, size_t c, const double *outputs,
                    const uint32_t words[4])
{
    if (c != query->bounded || !(query->low < query->high)) return column->head->sample(column, outputs, words);
    return column->head->sample_between(column, outputs, query->low, query->high, words);
}
