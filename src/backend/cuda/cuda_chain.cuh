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

#endif
