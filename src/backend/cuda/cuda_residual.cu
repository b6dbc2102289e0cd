/* Norms, GELU and dropout of residual networks, forward. */
#include "backend/cuda/cuda_residual.cuh"
#include "model/plan.h"

namespace
{

enum { FLAT_THREADS = 256 };

/* value = drop(gelu(value)). */
template <bool DROP>
__device__ __forceinline__ void gelu4(const struct device_dropout &dropout, uint32_t row, int32_t width, int32_t first,
                                      float value[FOUR])
{
    float factor[FOUR] = {1, 1, 1, 1};
    if (DROP) drop4(dropout, row, width, first, factor);
#pragma unroll
    for (int i = 0; i < FOUR; i++) value[i] = factor[i] * gelu_value(value[i]);
}

/* ---- GELU -------------------------------------------------------------------------------------------------------- */

template <typename T, bool DROP>
__global__ void __launch_bounds__(FLAT_THREADS) gelu_rows(const struct gelu_job job, uint32_t fours, uint32_t count)
{
    wait_for_predecessor();
    const uint32_t i = blockIdx.x * FLAT_THREADS + threadIdx.x;
    if (i >= count) return;
    const uint32_t row = i / fours;
    const int32_t first = (int32_t)(i % fours) * FOUR;
    const size_t at = (size_t)row * job.stride + first;
    alignas(16) float value[FOUR];
    load4(static_cast<const T *>(job.sum) + at, value);
    add4(job.bias + first, value);
    gelu4<DROP>(job.dropout, row, job.width, first, value);
    clear4(first, job.width, value);
    store_four(static_cast<T *>(job.out) + at, value);
}

/* ---- norms ------------------------------------------------------------------------------------------------------- */

/* ONCE: a thread has four units; all it needs is read at once and stays in registers.  Else it reads its units anew for
 * each sum. */
template <typename T, bool LAST, bool DROP, bool ONCE>
__global__ void __launch_bounds__(ROW_THREADS_MOST) norm_rows(const struct norm_job job)
{
    wait_for_predecessor();
    const size_t row = blockIdx.x;
    const int32_t width = job.stream.width, begin = threadIdx.x * FOUR, step = blockDim.x * FOUR;
    alignas(16) float h[FOUR] = {0, 0, 0, 0};
    struct norm4 norm;
    float total[1] = {0};
    for (int32_t first = begin; first < width; first += step) {
        stream4(job.stream, row, first, h);
        if (ONCE) load_norm4(job, first, &norm);
        total[0] += (h[0] + h[1]) + (h[2] + h[3]);
    }
    row_totals(total);
    const float mean = total[0] / width;
    total[0] = 0;
    for (int32_t first = begin; first < width; first += step) {
        if (!ONCE) stream4(job.stream, row, first, h);
#pragma unroll
        for (int i = 0; i < FOUR; i++)
            if (first + i < width) total[0] += (h[i] - mean) * (h[i] - mean);
    }
    row_totals(total);
    const float inverse = 1.0f / sqrtf(total[0] / width + (float)ND_NORM_EPSILON);
    for (int32_t first = begin; first < width; first += step) {
        if (!ONCE) stream4(job.stream, row, first, h);
        if (!ONCE) load_norm4(job, first, &norm);
#pragma unroll
        for (int i = 0; i < FOUR; i++) h[i] = (h[i] - mean) * inverse * norm.weight[i] + norm.bias[i];
        if (LAST) gelu4<DROP>(job.dropout, (uint32_t)row, width, first, h);
        clear4(first, width, h);
        store_four(static_cast<T *>(job.out) + row * job.stream.stride + first, h);
    }
    if (threadIdx.x != 0 || !job.moments) return;
    job.moments[2 * row] = mean;
    job.moments[2 * row + 1] = inverse;
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

template <typename T, bool LAST, bool DROP> auto norm_kernel(bool once)
{
    return once ? norm_rows<T, LAST, DROP, true> : norm_rows<T, LAST, DROP, false>;
}

template <typename T> cudaError_t launch_norm(const struct norm_job *job, size_t rows, cudaStream_t stream)
{
    const size_t width = (size_t)job->stream.width;
    const bool once = is_once(width), drop = job->dropout.threshold > 0;
    auto kernel = !job->last ? norm_kernel<T, false, false>(once)
                  : drop     ? norm_kernel<T, true, true>(once)
                             : norm_kernel<T, true, false>(once);
    return launch_chained(kernel, rows, row_threads(width), 0, stream, *job);
}

template <typename T> cudaError_t launch_gelu(const struct gelu_job *job, size_t rows, cudaStream_t stream)
{
    const size_t fours = blocks_of((size_t)job->width, FOUR), count = rows * fours;
    auto kernel = job->dropout.threshold > 0 ? gelu_rows<T, true> : gelu_rows<T, false>;
    return launch_chained(kernel, blocks_of(count, FLAT_THREADS), FLAT_THREADS, 0, stream, *job, (uint32_t)fours,
                          (uint32_t)count);
}

} /* namespace */

extern "C" cudaError_t nd_cuda_norm(const struct norm_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->bf16 ? launch_norm<__nv_bfloat16>(job, rows, stream) : launch_norm<float>(job, rows, stream);
}

extern "C" cudaError_t nd_cuda_gelu(const struct gelu_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->bf16 ? launch_gelu<__nv_bfloat16>(job, rows, stream) : launch_gelu<float>(job, rows, stream);
}
