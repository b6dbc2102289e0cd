/* What several kernels share. */
#ifndef ND_BACKEND_CUDA_DEVICE_CUH
#define ND_BACKEND_CUDA_DEVICE_CUH

#include <cuda_bf16.h>

#include "backend/cuda/cuda_kernels.h"
#include "nade/nade.h"

/* An operand's element. */
template <typename T> __device__ __forceinline__ T to_element(float x);
template <> __device__ __forceinline__ float to_element<float>(float x)
{
    return x;
}
template <> __device__ __forceinline__ __nv_bfloat16 to_element<__nv_bfloat16>(float x)
{
    return __float2bfloat16_rn(x);
}

__device__ __forceinline__ float from_element(float x)
{
    return x;
}
__device__ __forceinline__ float from_element(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

/* The sum of every thread's value, in an order that depends on the block's size alone; in thread 0.  blockDim.x is a
 * multiple of 32. */
__device__ __forceinline__ double block_sum(double value)
{
    __shared__ double part[32];
    for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned warp = 1; warp < blockDim.x / 32; warp++) value += part[warp];
    __syncthreads();
    return value;
}

#endif
