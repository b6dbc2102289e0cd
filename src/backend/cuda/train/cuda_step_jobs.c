#include "backend/cuda/train/cuda_step_jobs.h"

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/train/cuda_training.h"
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
        .fresh = r.fresh,
        .decay = (float)rule->weight_decay,
    };
}

struct step_way nd_cuda_step_way(const struct update_rule *rule)
{
    return (struct step_way){rule->optimizer, rule->average > 0, rule->clip};
}

/* Where a block lies that only optimisers of two moments have. */
static float *second_moments(const struct cuda_backend *backend, const struct step_way *way, size_t offset)
{
    return nd_moments_of(way->optimizer) > 1 ? backend->block[BLOCK_MOMENT2] + offset : NULL;
}

static float *averages(const struct cuda_backend *backend, const struct step_way *way, size_t offset)
{
    return way->averaged ? backend->block[BLOCK_AVERAGE] + offset : NULL;
}

struct step_job nd_cuda_step_job(const struct cuda_backend *backend, const struct step_way *way, size_t index)
{
    const struct cuda_layer *layer = &backend->layer[index];
    float *const *block = backend->block;
    return (struct step_job){
        .optimizer = way->optimizer,
        .weight = block[BLOCK_PARAMETERS] + layer->offset,
        .moment1 = block[BLOCK_MOMENT1] + layer->offset,
        .moment2 = second_moments(backend, way, layer->offset),
        .gradient = block[BLOCK_GRADIENT] + layer->offset,
        .average = averages(backend, way, layer->offset),
        .shadow = backend->bf16 ? (void *)nd_cuda_operand_weight(backend, index) : NULL,
        .bias = block[BLOCK_PARAMETERS] + layer->bias_offset,
        .bias1 = block[BLOCK_MOMENT1] + layer->bias_offset,
        .bias2 = second_moments(backend, way, layer->bias_offset),
        .bias_average = averages(backend, way, layer->bias_offset),
        .bias_stride = layer->bias_stride,
        .rows = layer->rows,
        .columns = layer->columns,
        .stride = layer->stride,
        .bias_in_product = index < backend->plan->layers,
    };
}

struct step_job nd_cuda_scale_step_job(const struct cuda_backend *backend, const struct step_way *way)
{
    float *const *block = backend->block;
    return (struct step_job){
        .optimizer = way->optimizer,
        .weight = block[BLOCK_PARAMETERS] + backend->scale_offset,
        .moment1 = block[BLOCK_MOMENT1] + backend->scale_offset,
        .moment2 = second_moments(backend, way, backend->scale_offset),
        .gradient = block[BLOCK_GRADIENT] + backend->scale_offset,
        .average = averages(backend, way, backend->scale_offset),
        .rows = backend->plan->columns,
        .columns = 0,
        .stride = ND_SCALE_STRIDE,
        .bias_in_product = true,
    };
}

/* ---- steps of all layers ----------------------------------------------------------------------------------------- */

/* Layers, and behind them the factors where there are some. */
static size_t count_jobs(const struct cuda_backend *backend)
{
    return backend->plan->layers + 1 + (backend->plan->rescale ? 1 : 0);
}

static struct step_job job_of(const struct cuda_backend *backend, const struct step_way *way, size_t i, uint32_t offset)
{
    struct step_job job =
        i <= backend->plan->layers ? nd_cuda_step_job(backend, way, i) : nd_cuda_scale_step_job(backend, way);
    job.rates = backend->training->rates;
    job.progress = backend->training->progress;
    job.offset = offset;
    return job;
}

/* Behind the parts of all layers. */
static float *factor_of(const struct cuda_backend *backend)
{
    return (float *)(backend->training->squares + count_jobs(backend) * ND_SQUARE_PARTS);
}

void nd_cuda_need_steps(struct cuda_work *work, const struct step_way *way)
{
    struct cuda_training *training = work->backend->training;
    size_t count = count_jobs(work->backend) * ND_SQUARE_PARTS + 1;
    void *squares = training->squares;
    if (work->status == NADE_OK && way->averaged)
        work->status = nd_cuda_need_block(work->context, work->backend, BLOCK_AVERAGE);
    if (work->status == NADE_OK && way->clip > 0 && !squares)
        work->status = nd_cuda_alloc(work->context, &squares, count, sizeof(double), "training");
    training->squares = squares;
}

/* The norm is of the whole gradient, so all of it must be there. */
static void put_clip(struct cuda_work *work, const struct step_way *way, cudaStream_t stream)
{
    const struct cuda_training *training = work->backend->training;
    size_t jobs = count_jobs(work->backend) - (ND_CUDA_FAULT(FAULT_CUDA_CLIP_PART) ? 1 : 0);
    for (size_t i = 0; i < jobs && work->status == NADE_OK; i++) {
        struct step_job job = job_of(work->backend, way, i, 0);
        nd_work_note(work, nd_cuda_squares(&job, training->squares + i * ND_SQUARE_PARTS, stream), "a step");
    }
    if (work->status == NADE_OK)
        nd_work_note(
            work,
            nd_cuda_clip_factor(training->squares, jobs * ND_SQUARE_PARTS, way->clip, factor_of(work->backend), stream),
            "a step");
}

void nd_cuda_put_steps(struct cuda_work *work, const struct step_way *way, uint32_t offset, cudaStream_t stream)
{
    if (way->clip > 0) put_clip(work, way, stream);
    for (size_t i = 0; i < count_jobs(work->backend) && work->status == NADE_OK; i++) {
        struct step_job job = job_of(work->backend, way, i, offset);
        if (way->clip > 0) job.factor = factor_of(work->backend);
        nd_work_note(work, nd_cuda_step(&job, stream), "a step");
    }
}

void nd_cuda_put_step(struct cuda_work *work, const struct step_way *way, size_t layer, uint32_t offset,
                      cudaStream_t stream)
{
    struct step_job job = job_of(work->backend, way, layer, offset);
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_step(&job, stream), "a step");
}
