#include "backend/cuda/train/cuda_step_jobs.h"

#include "backend/cuda/cuda_blocks.h"
#include "backend/optimizer.h"

struct device_rates nd_cuda_rates(const struct update_rule *rule, uint64_t update)
{
    struct step_rates rates = nd_step_rates(rule, update);
    struct float_rates r = nd_float_rates(&rates);
    return (struct device_rates){
        .rate = r.rate,
        .momentum = r.momentum,
        .second = r.second,
        .rest1 = r.rest1,
        .rest2 = r.rest2,
        .correction1 = r.correction1,
        .correction2 = r.correction2,
        .decay = (float)rule->weight_decay,
    };
}

/* Where a block lies that only optimisers of two moments have. */
static float *second_moments(const struct cuda_backend *backend, nade_optimizer optimizer, size_t offset)
{
    return nd_moments_of(optimizer) > 1 ? backend->block[BLOCK_MOMENT2] + offset : NULL;
}

struct step_job nd_cuda_step_job(const struct cuda_backend *backend, nade_optimizer optimizer, size_t index)
{
    const struct cuda_layer *layer = &backend->layer[index];
    float *const *block = backend->block;
    return (struct step_job){
        .optimizer = optimizer,
        .weight = block[BLOCK_PARAMETERS] + layer->offset,
        .moment1 = block[BLOCK_MOMENT1] + layer->offset,
        .moment2 = second_moments(backend, optimizer, layer->offset),
        .gradient = block[BLOCK_GRADIENT] + layer->offset,
        .shadow = backend->bf16 ? (void *)nd_cuda_operand_weight(backend, index) : NULL,
        .bias = block[BLOCK_PARAMETERS] + layer->bias_offset,
        .bias1 = block[BLOCK_MOMENT1] + layer->bias_offset,
        .bias2 = second_moments(backend, optimizer, layer->bias_offset),
        .bias_stride = layer->bias_stride,
        .rows = layer->rows,
        .columns = layer->columns,
        .stride = layer->stride,
        .bias_in_product = index < backend->plan->layers,
    };
}

struct step_job nd_cuda_scale_step_job(const struct cuda_backend *backend, nade_optimizer optimizer)
{
    float *const *block = backend->block;
    return (struct step_job){
        .optimizer = optimizer,
        .weight = block[BLOCK_PARAMETERS] + backend->scale_offset,
        .moment1 = block[BLOCK_MOMENT1] + backend->scale_offset,
        .moment2 = second_moments(backend, optimizer, backend->scale_offset),
        .gradient = block[BLOCK_GRADIENT] + backend->scale_offset,
        .rows = backend->plan->columns,
        .columns = 0,
        .stride = ND_SCALE_STRIDE,
        .bias_in_product = true,
    };
}
