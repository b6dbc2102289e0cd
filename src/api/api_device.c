#include <stdio.h>

#include "backend/backend.h"
#include "backend/cuda_loader.h"
#include "data/table.h"
#include "model/model.h"

static uint32_t needs_of(const nade_table *table, const nade_model *model)
{
    uint32_t needs = model ? nd_needs_of_plan(&model->plan) : 0;
    for (size_t c = 0; table && c < table->columns; c++) needs |= ND_HEAD_BIT(table->column[c].type);
    return needs;
}

nade_status nade_choose_device(nade_context *context, const nade_table *table, const nade_model *model,
                               nade_device *device, nade_precision *precision, char *name, size_t size)
{
    const struct backend_entries *entries;
    nade_status status = nd_backend_for(context, needs_of(table, model), *device, *precision, &entries);
    if (status != NADE_OK) return status;
    if (*device == NADE_DEVICE_AUTO) *device = entries == context->cuda.entries ? NADE_DEVICE_CUDA : NADE_DEVICE_CPU;
    if (*precision == NADE_PRECISION_AUTO) *precision = entries->usual;
    if (name) snprintf(name, size, "%s", *device == NADE_DEVICE_CUDA ? nd_cuda_search(context)->device : "");
    return NADE_OK;
}
