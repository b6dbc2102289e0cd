/* What the kernels of scoring and sampling share. */
#ifndef ND_BACKEND_CUDA_CHAIN_CUH
#define ND_BACKEND_CUDA_CHAIN_CUH

#include "backend/cuda/cuda_chain.h"
#include "backend/cuda/cuda_device.cuh"

/* A cell of the chunk, NaN when missing. */
__device__ __forceinline__ float cell_of(const struct device_chunk &chunk, int32_t row, int32_t column)
{
    const size_t at = (size_t)row * chunk.plan.columns + column;
    if (!chunk.cells.bytes) return static_cast<const float *>(chunk.cells.data)[at];
    const uint8_t byte = static_cast<const uint8_t *>(chunk.cells.data)[at];
    return byte == 255 ? nanf("") : (float)byte;
}

enum { LANES = 32 };

const unsigned all_lanes = 0xffffffffu;

/* The sum of all lanes' values, in all lanes, always in the same order. */
template <typename T> __device__ __forceinline__ T warp_sum(T value)
{
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(all_lanes, value, step);
    return value;
}

/* log p(x) of a binary column. */
__device__ __forceinline__ double binary_log_density(float logit, float x)
{
    const double a = x != 0 ? -(double)logit : (double)logit;
    return -(fmax(a, 0.0) + log1p(exp(-fabs(a))));
}

#endif
