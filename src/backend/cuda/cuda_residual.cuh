/* What kernels of residual networks share.  A row of a block of threads (threadIdx.y) has a row of the batch, a thread
 * four of its units at a time; what a row adds up is added up in an order that depends on the width alone. */
#ifndef ND_BACKEND_CUDA_RESIDUAL_CUH
#define ND_BACKEND_CUDA_RESIDUAL_CUH

#include "base/inline.h"

/* Off by a float's rounding of 1, in half of normcdff's time. */
ND_INLINE float quick_normal(float x)
{
    return 0.5f + 0.5f * erff(0.70710678118654752440f * x);
}
#define ND_NORMAL quick_normal

#include "backend/cuda/cuda_kernel_tools.cuh"
#include "backend/cuda/cuda_residual.h"
#include "model/draws.h"

namespace
{

enum { FOUR = 4, ROW_THREADS_MOST = 512, BLOCK_THREADS_MOST = 1024 };
enum { ROW_WARPS_MOST = ROW_THREADS_MOST / LANES, GROUPS_MOST = BLOCK_THREADS_MOST / LANES };

__device__ __forceinline__ void load4(const float *from, float to[FOUR])
{
    *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
}

__device__ __forceinline__ void load4(const __nv_bfloat16 *from, float to[FOUR])
{
    alignas(8) __nv_bfloat16 four[FOUR];
    *reinterpret_cast<uint2 *>(four) = *reinterpret_cast<const uint2 *>(from);
#pragma unroll
    for (int i = 0; i < FOUR; i++) to[i] = from_element(four[i]);
}

__device__ __forceinline__ void add4(const float *from, float to[FOUR])
{
    alignas(16) float more[FOUR];
    load4(from, more);
#pragma unroll
    for (int i = 0; i < FOUR; i++) to[i] += more[i];
}

/* Units from `first` on; those behind the last one become zero. */
__device__ __forceinline__ void clear4(int32_t first, int32_t width, float value[FOUR])
{
#pragma unroll
    for (int i = 0; i < FOUR; i++)
        if (first + i >= width) value[i] = 0;
}

/* The sums of the values of all threads with the same threadIdx.y, in all of them, in an order that depends on their
 * number alone.  All threads of the block take part. */
template <int COUNT> __device__ __forceinline__ void row_totals(float (&value)[COUNT])
{
    __shared__ float part[GROUPS_MOST][COUNT]; /* a warp's */
    const int32_t lane = threadIdx.x % LANES, warps = blockDim.x / LANES, first = threadIdx.y * warps;
#pragma unroll
    for (int i = 0; i < COUNT; i++) value[i] = warp_sum(value[i]);
    if (warps == 1) return;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (lane == 0) part[first + threadIdx.x / LANES][i] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; i++) value[i] = warp_sum(lane < warps ? part[first + lane][i] : 0.0f);
    __syncthreads(); /* part is free for the next sums */
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* What dropout multiplies units first…first+3 of a row with. */
__device__ __forceinline__ void drop4(const struct device_dropout &dropout, uint32_t row, int32_t width, int32_t first,
                                      float factor[FOUR])
{
    const uint64_t draw = dropout.progress->first_draw + dropout.progress->next + dropout.offset;
    const uint32_t unit = dropout.place * (uint32_t)width + (uint32_t)first;
    struct philox_block block = nd_philox(dropout.seed, PURPOSE_DROPOUT, draw, row, unit / 8);
#pragma unroll
    for (int i = 0; i < FOUR; i++) {
        const uint32_t number = unit + i, word = number / 2 % 4;
        if (i > 0 && number % 8 == 0) block = nd_philox(dropout.seed, PURPOSE_DROPOUT, draw, row, number / 8);
        const uint32_t low = word % 2 ? block.word[1] : block.word[0], high = word % 2 ? block.word[3] : block.word[2];
        const uint32_t bits = word < 2 ? low : high;
        factor[i] = (number % 2 ? bits >> 16 : bits & 0xffffu) < dropout.threshold ? 0.0f : dropout.scale;
    }
}

/* ---- norms ------------------------------------------------------------------------------------------------------- */

/* Units first…first+3 of the stream; zero behind the last one. */
__device__ __forceinline__ void stream4(const struct device_stream &stream, size_t row, int32_t first, float h[FOUR])
{
    load4(stream.sum + row * stream.stride + first, h);
    if (stream.first_bias) add4(stream.first_bias + first, h);
#pragma unroll 4
    for (int32_t b = 0; b < stream.biases; b++) add4(stream.bias + b * stream.bias_gap + first, h);
    clear4(first, stream.width, h);
}

/* A norm's weight and bias for four units. */
struct norm4 {
    alignas(16) float weight[FOUR], bias[FOUR];
};

__device__ __forceinline__ void load_norm4(const struct norm_job &job, int32_t first, struct norm4 *norm)
{
    load4(job.weight + first, norm->weight);
    load4(job.bias + first, norm->bias);
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

/* Threads that share a row. */
inline unsigned row_threads(size_t width)
{
    const unsigned threads = blocks_of(width, FOUR * LANES) * LANES;
    return threads < ROW_THREADS_MOST ? threads : (unsigned)ROW_THREADS_MOST;
}

inline bool is_once(size_t width)
{
    return width <= ROW_THREADS_MOST * FOUR;
}

} /* namespace */

#endif
