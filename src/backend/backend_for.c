/* Which backend a device means. */
#include <stdio.h>

#include "backend/backend.h"
#include "backend/cpu/cpu_backend.h"
#include "backend/cuda_loader.h"
#include "backend/gaussian/gaussian_backend.h"
#include "backend/mixture/mixture_backend.h"
#include "backend/reference/reference.h"
#include "base/fault.h"
#include "model/head.h"

enum { LACKING_TEXT = 64 };

/* The first thing of those needed that a backend can't compute, in words; NULL: there is none. */
static const char *find_lacking(const struct backend_entries *entries, uint32_t needed, char text[LACKING_TEXT])
{
    if (needed & ND_RESIDUAL_BIT && !entries->residual) return "residual networks";
    if (needed & ND_LINEAR_BIT && !entries->linear) return "networks without hidden layers";
    for (nade_type type = 0; nade_type_name(type) && entries->heads; type++) {
        if (!(needed & ~entries->heads & ND_HEAD_BIT(type))) continue;
        snprintf(text, LACKING_TEXT, "%s columns", nade_type_name(type));
        return text;
    }
    return NULL;
}

/* CUDA where it can be used.  Most machines have none, which is not worth a word; one that is there and can't be used
 * is, once. */
static const struct backend_entries *choose_backend(nade_context *context, uint32_t needed)
{
    bool first = context->cuda.state == CUDA_UNSOUGHT;
    const struct cuda_search *cuda = nd_cuda_search(context);
    if (cuda->state == CUDA_UNUSABLE && first) nd_warn(context, "%s; the CPU is used instead", cuda->reason);
    if (cuda->state != CUDA_FOUND) return &nd_cpu_entries;
    char text[LACKING_TEXT];
    const char *lacking = find_lacking(cuda->entries, needed, text);
    if (!lacking) return cuda->entries;
    if (!context->cuda.passed_over)
        nd_warn(context, "the device cuda can't compute %s; the CPU is used instead", lacking);
    context->cuda.passed_over = true;
    return &nd_cpu_entries;
}

static nade_status cuda_backend(nade_context *context, const struct backend_entries **entries)
{
    const struct cuda_search *cuda = nd_cuda_search(context);
    if (cuda->state != CUDA_FOUND) return nd_fail(context, NADE_NO_DEVICE, "%s", cuda->reason);
    *entries = cuda->entries;
    return NADE_OK;
}

static nade_status check_needs(nade_context *context, const struct backend_entries *entries, uint32_t needed)
{
    char text[LACKING_TEXT];
    bool cpu = entries == &nd_cpu_entries;
    const char *lacking = find_lacking(entries, needed, text);
    if (!lacking) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "the device %s can't compute %s, expected the device %s",
                   cpu ? "cpu" : "cuda", lacking, cpu ? "reference" : "cpu");
}

static nade_status check_precision(nade_context *context, const struct backend_entries *entries,
                                   nade_precision precision)
{
    static const char *const names[] = {"auto", "fp32", "tf32", "bf16"};
    if ((int)precision < 0 || (size_t)precision >= sizeof names / sizeof *names)
        return nd_fail(context, NADE_BAD_CALL, "precision %d is unknown, expected one of nade_precision",
                       (int)precision);
    bool cpu = entries == &nd_cpu_entries;
    if (precision <= NADE_PRECISION_FP32 || entries == context->cuda.entries) return NADE_OK;
    if (cpu && precision == NADE_PRECISION_BF16 && nd_cpu_products_bf16()) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "precision %s needs the device cuda: %s", names[precision],
                   cpu                               ? "this processor computes in fp32"
                   : entries == &nd_reference_double ? "the reference computes in double"
                                                     : "this kind of model is computed in double");
}

/* Of what is no network, by nade_kind: the backend, and what it computes in words. */
static const struct {
    const struct backend_entries *entries;
    const char *words;
} closed[] = {[NADE_KIND_MIXTURE] = {&nd_mixture_entries, "mixtures"},
              [NADE_KIND_GAUSSIAN] = {&nd_gaussian_entries, "Gaussians"},
              [NADE_KIND_MOG] = {&nd_gaussian_entries, "mixtures"},
              [NADE_KIND_MFA] = {&nd_gaussian_entries, "mixtures"}};

static nade_status closed_backend(nade_context *context, nade_kind kind, nade_device device,
                                  const struct backend_entries **entries)
{
    *entries = closed[kind].entries;
    if (device != NADE_DEVICE_CUDA) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "the device cuda can't compute %s, expected the device cpu",
                   closed[kind].words);
}

nade_status nd_backend_for(nade_context *context, uint32_t needed, nade_device device, nade_precision precision,
                           const struct backend_entries **entries)
{
    nade_status status = NADE_OK;
    nade_kind kind = ND_KIND_OF(needed);
    if ((int)device < 0 || device > NADE_DEVICE_CUDA)
        return nd_fail(context, NADE_BAD_CALL, "device %d is unknown, expected one of nade_device", (int)device);
    if (kind != NADE_KIND_NETWORK) {
        status = closed_backend(context, kind, device, entries);
        return status == NADE_OK ? check_precision(context, *entries, precision) : status;
    }
    switch (device) {
    case NADE_DEVICE_AUTO: *entries = choose_backend(context, needed); break;
    case NADE_DEVICE_CPU: *entries = &nd_cpu_entries; break;
    case NADE_DEVICE_REFERENCE: *entries = &nd_reference_double; break;
    case NADE_DEVICE_CUDA: status = cuda_backend(context, entries); break;
    }
    if (status == NADE_OK) status = check_needs(context, *entries, needed);
    return status == NADE_OK ? check_precision(context, *entries, precision) : status;
}

uint32_t nd_needs_of_plan(const struct plan *plan)
{
    uint32_t needs = (plan->blocks ? ND_RESIDUAL_BIT : 0) | ND_KIND_BITS(plan->kind);
    if (nd_is_linear(plan) && !ND_FAULT(FAULT_LINEAR_ANYWHERE)) needs |= ND_LINEAR_BIT;
    for (size_t c = 0; c < plan->columns; c++) needs |= ND_HEAD_BIT(plan->column[c].head->type);
    return needs;
}

nade_status nd_backend_open(nade_context *context, const struct plan *plan, nade_device device,
                            nade_precision precision, const struct backend_entries **entries, struct backend **backend)
{
    nade_status status = nd_backend_for(context, nd_needs_of_plan(plan), device, precision, entries);
    return status == NADE_OK ? (*entries)->open(context, plan, precision, backend) : status;
}
