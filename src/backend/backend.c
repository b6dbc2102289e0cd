#include "backend/backend.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"

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
