/* Optimiser steps, and the end of a graph of updates. */
#include <limits.h>

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/train/cuda_optimizer.cuh"
#include "backend/cuda/train/cuda_steps.h"

namespace
{

enum { THREADS = 256 };

/* A ReLU may swallow a number that is not finite, so that no loss need tell: the next update fails. */
__device__ __forceinline__ void note_overflow(const struct step_job &job, int32_t update, bool finite)
{
    if (!finite && !ND_CUDA_FAULT(FAULT_CUDA_OVERFLOW)) atomicMin(&job.progress->failed, update + 1);
}

/* The bias of one row, whose gradient is g. */
template <nade_optimizer OPTIMIZER, bool AVERAGED>
__device__ void step_bias(const struct step_job &job, const struct device_rates &r, int32_t update, size_t row, float g)
{
    size_t at = row * job.bias_stride;
    float unused = 0;
    take_step<OPTIMIZER>(r, 0, g, &job.bias1[at], has_second<OPTIMIZER> ? &job.bias2[at] : &unused, &job.bias[at]);
    note_overflow(job, update, isfinite(job.bias[at]));
    if (AVERAGED && !ND_CUDA_FAULT(FAULT_CUDA_AVERAGE_BIAS)) average_step(&r, job.bias[at], &job.bias_average[at]);
}

__device__ __forceinline__ float decay_of(const struct step_job &job, const struct device_rates &r)
{
    if (job.decay == STEP_DIRECT_DECAY && !ND_CUDA_FAULT(FAULT_CUDA_DIRECT_DECAY)) return r.direct_decay;
    return job.decay == STEP_NO_DECAY ? 0.0f : r.decay;
}

/* Four neighbours of a row, among which may be the bias's column. */
template <nade_optimizer OPTIMIZER, bool AVERAGED>
__device__ __forceinline__ void step_four(const struct step_job &job, const struct device_rates &r, int32_t update,
                                          float factor, size_t row, size_t first)
{
    const size_t at = row * job.stride + first, end = job.columns + (job.has_bias ? 1 : 0);
    const float decay = decay_of(job, r);
    if (first >= end) return;
    float4 g4 = *reinterpret_cast<const float4 *>(job.gradient + at);
    float4 w4 = *reinterpret_cast<const float4 *>(job.weight + at);
    float4 m4 = *reinterpret_cast<const float4 *>(job.moment1 + at);
    float4 s4 = has_second<OPTIMIZER> ? *reinterpret_cast<const float4 *>(job.moment2 + at) : make_float4(0, 0, 0, 0);
    float4 a4 = AVERAGED ? *reinterpret_cast<const float4 *>(job.average + at) : make_float4(0, 0, 0, 0);
    float *g = &g4.x, *w = &w4.x, *m = &m4.x, *s = &s4.x, *a = &a4.x;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (first + k >= end) continue;
        bool bias = first + k == job.columns;
        if (bias && !job.bias_in_product) {
            step_bias<OPTIMIZER, AVERAGED>(job, r, update, row, g[k] * factor);
            continue;
        }
        take_step<OPTIMIZER>(r, bias && !ND_CUDA_FAULT(FAULT_CUDA_BIAS_DECAYS) ? 0.0f : decay, g[k] * factor, &m[k],
                             &s[k], &w[k]);
        if (AVERAGED) average_step(&r, w[k], &a[k]);
    }
    note_overflow(job, update, isfinite(w[0]) && isfinite(w[1]) && isfinite(w[2]) && isfinite(w[3]));
    *reinterpret_cast<float4 *>(job.weight + at) = w4;
    *reinterpret_cast<float4 *>(job.moment1 + at) = m4;
    if (has_second<OPTIMIZER>) *reinterpret_cast<float4 *>(job.moment2 + at) = s4;
    if (AVERAGED) *reinterpret_cast<float4 *>(job.average + at) = a4;
    if (job.shadow && !ND_CUDA_FAULT(FAULT_CUDA_STALE_SHADOW)) {
        __nv_bfloat162 *shadow = reinterpret_cast<__nv_bfloat162 *>(static_cast<__nv_bfloat16 *>(job.shadow) + at);
        shadow[0] = __floats2bfloat162_rn(w[0], w[1]);
        shadow[1] = __floats2bfloat162_rn(w[2], w[3]);
    }
}

/* All of a job, by the blocks of one row of the grid. */
template <nade_optimizer OPTIMIZER, bool AVERAGED>
__device__ __forceinline__ void step_job_of(const struct step_job &job, uint32_t offset)
{
    const int32_t update = job.progress->next + (int32_t)offset;
    if (job.progress->failed <= update) return;
    const struct device_rates r = job.rates[update];
    const float factor = job.factor ? *job.factor : 1.0f;
    const size_t fours = job.stride / 4, all = job.rows * fours;
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < all; i += (size_t)gridDim.x * THREADS)
        step_four<OPTIMIZER, AVERAGED>(job, r, update, factor, i / fours, i % fours * 4);
}

template <nade_optimizer OPTIMIZER, bool AVERAGED>
__global__ void __launch_bounds__(THREADS) step_layer(struct step_job job)
{
    wait_for_predecessor();
    step_job_of<OPTIMIZER, AVERAGED>(job, job.offset);
}

template <nade_optimizer OPTIMIZER, bool AVERAGED>
__global__ void __launch_bounds__(THREADS) step_all(const struct step_job *jobs, uint32_t offset)
{
    wait_for_predecessor();
    const struct step_job job = jobs[blockIdx.y];
    step_job_of<OPTIMIZER, AVERAGED>(job, offset);
}

__global__ void __launch_bounds__(THREADS) square_parts(const struct step_job *jobs, double *part)
{
    wait_for_predecessor();
    const struct step_job &job = jobs[blockIdx.y];
    const size_t fours = job.stride / 4, all = job.rows * fours, end = job.columns + (job.has_bias ? 1 : 0);
    double sum = 0;
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < all; i += (size_t)gridDim.x * THREADS) {
        size_t row = i / fours, first = i % fours * 4;
        float4 g4 = *reinterpret_cast<const float4 *>(job.gradient + row * job.stride + first);
        const float *g = &g4.x;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (first + k < end) sum += (double)g[k] * (double)g[k];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) part[blockIdx.y * ND_SQUARE_PARTS + blockIdx.x] = sum;
}

/* nd_clip_factor on the device. */
__global__ void __launch_bounds__(THREADS) clip_factor(const double *part, size_t count, double clip, float *factor)
{
    wait_for_predecessor();
    double sum = 0;
    for (size_t i = threadIdx.x; i < count; i += THREADS) sum += part[i];
    const double norm = sqrt(block_sum(sum));
    if (threadIdx.x == 0) *factor = (float)(norm > clip ? clip / norm : 1.0);
}

__global__ void __launch_bounds__(THREADS)
    finish_updates(const double *row_loss, size_t rows, struct device_progress *progress, double *loss)
{
    double sum = 0;
    for (size_t i = threadIdx.x; i < rows; i += THREADS) sum += row_loss[blockIdx.x * rows + i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) loss[progress->next + blockIdx.x] = sum / (double)rows;
}

__global__ void advance(struct device_progress *progress, int32_t updates)
{
    progress->next += updates;
}

unsigned blocks_for(size_t count)
{
    return blocks_of(count, THREADS);
}

} /* namespace */

enum { BLOCKS_MOST = 4096 };

extern "C" cudaError_t nd_cuda_step(const struct step_job *job, cudaStream_t stream)
{
    unsigned blocks = blocks_for(job->rows * (job->stride / 4));
    if (blocks > BLOCKS_MOST) blocks = BLOCKS_MOST;
#define ROW(kind, name, moments, usual_rate, second)                                                                   \
    case kind:                                                                                                         \
        return launch_chained(job->average ? step_layer<kind, true> : step_layer<kind, false>, blocks, THREADS, 0,     \
                              stream, *job);
    switch (job->optimizer) {
        ND_OPTIMIZERS(ROW)
    }
#undef ROW
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t nd_cuda_step_all(const struct step_list *list, uint32_t offset, cudaStream_t stream)
{
    unsigned blocks = blocks_for(list->largest / 4);
    const unsigned most = (unsigned)(BLOCKS_MOST / list->count) + 1;
    const dim3 grid(blocks < most ? blocks : most, (unsigned)list->count);
#define ROW(kind, name, moments, usual_rate, second)                                                                   \
    case kind:                                                                                                         \
        return launch_chained(list->averaged ? step_all<kind, true> : step_all<kind, false>, grid, THREADS, 0, stream, \
                              list->job, offset);
    switch (list->optimizer) {
        ND_OPTIMIZERS(ROW)
    }
#undef ROW
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t nd_cuda_squares(const struct step_list *list, size_t count, double *part, cudaStream_t stream)
{
    const dim3 grid(ND_SQUARE_PARTS, (unsigned)count);
    return launch_chained(square_parts, grid, THREADS, 0, stream, list->job, part);
}

extern "C" cudaError_t nd_cuda_clip_factor(const double *part, size_t count, double clip, float *factor,
                                           cudaStream_t stream)
{
    return launch_chained(clip_factor, 1, THREADS, 0, stream, part, count, clip, factor);
}

extern "C" cudaError_t nd_cuda_finish_updates(const double *row_loss, size_t updates, size_t rows,
                                              struct device_progress *progress, double *loss, cudaStream_t stream)
{
    finish_updates<<<(unsigned)updates, THREADS, 0, stream>>>(row_loss, rows, progress, loss);
    advance<<<1, 1, 0, stream>>>(progress, (int32_t)updates);
    return cudaGetLastError();
}
