#include "backend/cuda/train/cuda_step_jobs.h"

#include "backend/cuda/cuda_blocks.h"
#include "backend/optimizer.h"

struct device_rates nd_cuda_rates(const struct update_rule *rule, uint64_t update)
{
    struct step_rates r = nd_step_rates(rule, update);
    return (struct device_rates){
        .rate = (float)r.rate,
        .momentum = (float)r.momentum,
        .second = (float)r.second,
        .rest1 = (float)(1 - r.momentum),
        .rest2 = (float)(1 - r.second),
        .correction1 = (float)r.correction1,
        .correction2 = (float)r.correction2,
        .decay = (float)rule->weight_decay,
    };
}

struct step_job nd_cuda_step_job(const struct cuda_backend *backend, nade_optimizer optimizer, size_t index)
{
    const struct cuda_layer *layer = &backend->layer[index];
    float *const *block = backend->block;
    bool adam = optimizer == NADE_ADAM;
    return (struct step_job){
        .weight = block[BLOCK_PARAMETERS] + layer->offset,
        .moment1 = block[BLOCK_MOMENT1] + layer->offset,
        .moment2 = adam ? block[BLOCK_MOMENT2] + layer->offset : NULL,
        .gradient = block[BLOCK_GRADIENT] + layer->offset,
        .shadow = backend->bf16 ? (void *)nd_cuda_operand_weight(backend, index) : NULL,
        .bias = block[BLOCK_PARAMETERS] + layer->bias_offset,
        .bias1 = block[BLOCK_MOMENT1] + layer->bias_offset,
        .bias2 = adam ? block[BLOCK_MOMENT2] + layer->bias_offset : NULL,
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
        .weight = block[BLOCK_PARAMETERS] + backend->scale_offset,
        .moment1 = block[BLOCK_MOMENT1] + backend->scale_offset,
        .moment2 = optimizer == NADE_ADAM ? block[BLOCK_MOMENT2] + backend->scale_offset : NULL,
        .gradient = block[BLOCK_GRADIENT] + backend->scale_offset,
        .rows = backend->plan->columns,
        .columns = 0,
        .stride = ND_SCALE_STRIDE,
        .bias_in_product = true,
    };
}
