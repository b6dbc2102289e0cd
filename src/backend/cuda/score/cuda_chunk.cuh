/* What the kernels of scoring and sampling share. */
#ifndef ND_BACKEND_CUDA_CHUNK_CUH
#define ND_BACKEND_CUDA_CHUNK_CUH

#include <float.h>

#include "backend/cuda/cuda_kernel_tools.cuh"
#include "backend/cuda/score/cuda_chunk.h"

/* A cell of the chunk, NaN when missing. */
__device__ __forceinline__ float cell_of(const struct device_chunk &chunk, int32_t row, int32_t column)
{
    return cell_at(chunk.cells, chunk.plan.columns, row, column);
}

/* False for infinities and NaN. */
__device__ __forceinline__ bool is_finite(float output)
{
    return fabsf(output) <= FLT_MAX;
}

/* log p(x) of a binary column. */
__device__ __forceinline__ double binary_log_density(float logit, float x)
{
    if (!is_finite(logit)) return nan("");
    const double a = x != 0 ? -(double)logit : (double)logit;
    return -(fmax(a, 0.0) + log1p(exp(-fabs(a))));
}

#endif
