#include <stdio.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cuda_loader.h"

nade_status nade_choose_device(nade_context *context, nade_device *device, nade_precision *precision, char *name,
                               size_t size)
{
    const struct backend_entries *entries;
    nade_status status = nd_backend_for(context, NULL, *device, *precision, &entries);
    if (status != NADE_OK) return status;
    if (*device == NADE_DEVICE_AUTO) *device = entries == &nd_cpu_entries ? NADE_DEVICE_CPU : NADE_DEVICE_CUDA;
    if (*precision == NADE_PRECISION_AUTO) *precision = entries->usual;
    if (name) snprintf(name, size, "%s", *device == NADE_DEVICE_CUDA ? nd_cuda_search(context)->device : "");
    return NADE_OK;
}
