#include "backend/cuda/train/cuda_step_jobs.h"

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/train/cuda_training.h"
#include "backend/optimizer.h"
#include "base/context.h"
#include "base/memory.h"

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
        .direct_decay = (float)rule->direct_decay,
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

/* What all jobs have: a part of the blocks from offset on. */
static struct step_job job_at(const struct cuda_backend *backend, const struct step_way *way, size_t offset)
{
    float *const *block = backend->block;
    return (struct step_job){
        .optimizer = way->optimizer,
        .weight = block[BLOCK_PARAMETERS] + offset,
        .moment1 = block[BLOCK_MOMENT1] + offset,
        .moment2 = second_moments(backend, way, offset),
        .gradient = block[BLOCK_GRADIENT] + offset,
        .average = averages(backend, way, offset),
    };
}

static struct step_job matrix_job(const struct cuda_backend *backend, const struct step_way *way,
                                  const struct cuda_layer *layer)
{
    struct step_job job = job_at(backend, way, layer->offset);
    job.shadow = backend->bf16 ? (void *)nd_cuda_operand_weight(backend, layer) : NULL;
    job.rows = layer->rows;
    job.columns = layer->columns;
    job.stride = layer->stride;
    return job;
}

static struct step_job layer_job(const struct cuda_backend *backend, const struct step_way *way, size_t index)
{
    const struct cuda_layer *layer = &backend->layer[index];
    struct step_job job = matrix_job(backend, way, layer);
    float *const *block = backend->block;
    if (backend->plan->blocks) return job; /* its bias is a vector */
    job.has_bias = true;
    job.bias_in_product = layer->bias_stride > 1;
    job.bias = block[BLOCK_PARAMETERS] + layer->bias_offset;
    job.bias1 = block[BLOCK_MOMENT1] + layer->bias_offset;
    job.bias2 = second_moments(backend, way, layer->bias_offset);
    job.bias_average = averages(backend, way, layer->bias_offset);
    job.bias_stride = layer->bias_stride;
    return job;
}

/* A layer of no columns whose biases the factors are. */
static struct step_job scale_job(const struct cuda_backend *backend, const struct step_way *way)
{
    struct step_job job = job_at(backend, way, backend->scale_offset);
    job.rows = backend->plan->columns;
    job.stride = ND_SCALE_STRIDE;
    job.has_bias = job.bias_in_product = true;
    return job;
}

/* One row of all: what lies between vectors is zero, and so is its gradient. */
static struct step_job vector_job(const struct cuda_backend *backend, const struct step_way *way)
{
    struct step_job job = job_at(backend, way, backend->vector_offset);
    job.rows = 1;
    job.columns = job.stride = backend->vector_size;
    job.decay = STEP_NO_DECAY;
    return job;
}

static struct step_job direct_job(const struct cuda_backend *backend, const struct step_way *way)
{
    struct step_job job = matrix_job(backend, way, &backend->direct);
    job.decay = STEP_DIRECT_DECAY;
    return job;
}

size_t nd_cuda_vector_job(const struct cuda_backend *backend)
{
    return backend->plan->layers + 1;
}

size_t nd_cuda_direct_job(const struct cuda_backend *backend)
{
    return backend->plan->layers + 2;
}

struct step_job nd_cuda_step_job(const struct cuda_backend *backend, const struct step_way *way, size_t number)
{
    if (number <= backend->plan->layers) return layer_job(backend, way, number);
    if (backend->plan->rescale) return scale_job(backend, way);
    return number == nd_cuda_vector_job(backend) ? vector_job(backend, way) : direct_job(backend, way);
}

/* ---- steps of all layers ----------------------------------------------------------------------------------------- */

static size_t count_jobs(const struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    return plan->layers + 1 + (plan->rescale ? 1 : 0) + (plan->blocks ? 1 : 0) + (plan->direct ? 1 : 0);
}

/* Behind the parts of all jobs. */
static float *factor_of(const struct cuda_backend *backend)
{
    return (float *)(backend->training->squares + count_jobs(backend) * ND_SQUARE_PARTS);
}

static struct step_job job_of(const struct cuda_backend *backend, const struct step_way *way, size_t i, uint32_t offset)
{
    struct step_job job = nd_cuda_step_job(backend, way, i);
    job.rates = backend->training->rates;
    job.progress = backend->training->progress;
    job.offset = offset;
    if (way->clip > 0) job.factor = factor_of(backend);
    return job;
}

/* Where the rates lie, and with them the list, may change from call to call. */
static void send_jobs(struct cuda_work *work, const struct step_way *way)
{
    const struct cuda_backend *backend = work->backend;
    size_t count = count_jobs(backend);
    struct step_job *jobs = nd_alloc(&work->context->allocator, count, sizeof *jobs);
    if (!jobs) {
        work->status = nd_no_memory(work->context, "training");
        return;
    }
    for (size_t i = 0; i < count; i++) jobs[i] = job_of(backend, way, i, 0);
    nd_work_note(work, nd_cuda_copy(backend->training->jobs, jobs, count * sizeof *jobs, cudaMemcpyHostToDevice),
                 "a list of steps");
    nd_free(&work->context->allocator, jobs);
}

void nd_cuda_need_steps(struct cuda_work *work, const struct step_way *way)
{
    struct cuda_training *training = work->backend->training;
    size_t count = count_jobs(work->backend);
    void *squares = training->squares, *jobs = training->jobs;
    if (work->status == NADE_OK && way->averaged)
        work->status = nd_cuda_need_block(work->context, work->backend, BLOCK_AVERAGE);
    if (work->status == NADE_OK && !squares)
        work->status = nd_cuda_alloc(work->context, &squares, count * ND_SQUARE_PARTS + 1, sizeof(double), "training");
    training->squares = squares;
    if (work->status == NADE_OK && !jobs)
        work->status = nd_cuda_alloc(work->context, &jobs, count, sizeof(struct step_job), "training");
    training->jobs = jobs;
    if (work->status == NADE_OK) send_jobs(work, way);
}

/* What lies in the largest matrix. */
static size_t largest_of(const struct cuda_backend *backend, const struct step_way *way)
{
    size_t largest = 0;
    for (size_t i = 0; i < count_jobs(backend); i++) {
        struct step_job job = nd_cuda_step_job(backend, way, i);
        if (job.rows * job.stride > largest) largest = job.rows * job.stride;
    }
    return largest;
}

static struct step_list list_of(const struct cuda_backend *backend, const struct step_way *way)
{
    return (struct step_list){backend->training->jobs, count_jobs(backend), largest_of(backend, way), way->optimizer,
                              way->averaged};
}

/* The squares of `count` steps' gradients. */
static void put_squares(struct cuda_work *work, const struct step_way *way, size_t first, size_t count,
                        cudaStream_t stream)
{
    struct step_list list = list_of(work->backend, way);
    if (ND_CUDA_FAULT(FAULT_CUDA_CLIP_PART) && first + count == list.count) count--;
    list.job += first;
    if (work->status == NADE_OK && way->clip > 0 && count > 0)
        nd_work_note(work,
                     nd_cuda_squares(&list, count, work->backend->training->squares + first * ND_SQUARE_PARTS, stream),
                     "the gradient's norm");
}

void nd_cuda_put_squares(struct cuda_work *work, const struct step_way *way, size_t number, cudaStream_t stream)
{
    put_squares(work, way, number, 1, stream);
}

void nd_cuda_put_factor(struct cuda_work *work, const struct step_way *way, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    if (work->status == NADE_OK && way->clip > 0)
        nd_work_note(work,
                     nd_cuda_clip_factor(backend->training->squares, count_jobs(backend) * ND_SQUARE_PARTS, way->clip,
                                         factor_of(backend), stream),
                     "the gradient's norm");
}

void nd_cuda_put_steps(struct cuda_work *work, const struct step_way *way, uint32_t offset, cudaStream_t stream)
{
    struct step_list list = list_of(work->backend, way);
    put_squares(work, way, 0, list.count, stream);
    nd_cuda_put_factor(work, way, stream);
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_step_all(&list, offset, stream), "the steps");
}

void nd_cuda_put_step(struct cuda_work *work, const struct step_way *way, size_t number, uint32_t offset,
                      cudaStream_t stream)
{
    struct step_job job = job_of(work->backend, way, number, offset);
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_step(&job, stream), "a step");
}
