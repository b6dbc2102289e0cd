/* Which backend a device means. */
#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cuda_loader.h"
#include "backend/reference/reference.h"

/* CUDA where it can be used.  Most machines have none, which is not worth a word; one that is there and can't be used
 * is, once. */
static const struct backend_entries *choose_backend(nade_context *context)
{
    bool first = context->cuda.state == CUDA_UNSOUGHT;
    const struct cuda_search *cuda = nd_cuda_search(context);
    if (cuda->state == CUDA_FOUND) return cuda->entries;
    if (cuda->state == CUDA_UNUSABLE && first) nd_warn(context, "%s; the CPU is used instead", cuda->reason);
    return &nd_cpu_entries;
}

static nade_status cuda_backend(nade_context *context, const struct backend_entries **entries)
{
    const struct cuda_search *cuda = nd_cuda_search(context);
    if (cuda->state != CUDA_FOUND) return nd_fail(context, NADE_NO_DEVICE, "%s", cuda->reason);
    *entries = cuda->entries;
    return NADE_OK;
}

static nade_status check_precision(nade_context *context, const struct backend_entries *entries,
                                   nade_precision precision)
{
    static const char *const names[] = {"auto", "fp32", "tf32", "bf16"};
    if ((int)precision < 0 || (size_t)precision >= sizeof names / sizeof *names)
        return nd_fail(context, NADE_BAD_CALL, "precision %d is unknown, expected one of nade_precision",
                       (int)precision);
    if (precision <= NADE_PRECISION_FP32 || entries == context->cuda.entries) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "precision %s needs the device cuda: %s", names[precision],
                   entries == &nd_cpu_entries ? "the CPU computes in fp32" : "the reference computes in double");
}

nade_status nd_backend_for(nade_context *context, nade_device device, nade_precision precision,
                           const struct backend_entries **entries)
{
    nade_status status = NADE_OK;
    switch (device) {
    case NADE_DEVICE_AUTO: *entries = choose_backend(context); break;
    case NADE_DEVICE_CPU: *entries = &nd_cpu_entries; break;
    case NADE_DEVICE_REFERENCE: *entries = &nd_reference_double; break;
    case NADE_DEVICE_CUDA: status = cuda_backend(context, entries); break;
    default: return nd_fail(context, NADE_BAD_CALL, "device %d is unknown, expected one of nade_device", (int)device);
    }
    return status == NADE_OK ? check_precision(context, *entries, precision) : status;
}
