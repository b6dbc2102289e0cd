/* What several kernels share. */
#ifndef ND_BACKEND_CUDA_DEVICE_CUH
#define ND_BACKEND_CUDA_DEVICE_CUH

#include <cuda_bf16.h>

#include "backend/cuda/cuda_kernels.h"
#include "nade/nade.h"

/* Kernels of a chain of small ones: the next is set up while the one before it on the stream still runs, and begins by
 * waiting for it (Hopper and later; elsewhere this is an ordinary launch). */
__device__ __forceinline__ void wait_for_predecessor()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

template <typename... Taken, typename... Given>
cudaError_t launch_chained(void (*kernel)(Taken...), size_t blocks, unsigned threads, size_t shared,
                           cudaStream_t stream, Given... arguments)
{
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = dim3((unsigned)blocks);
    how.blockDim = dim3(threads);
    how.dynamicSmemBytes = shared;
    how.stream = stream;
    how.attrs = &early;
    how.numAttrs = 1;
    return cudaLaunchKernelEx(&how, kernel, static_cast<Taken>(arguments)...);
}

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

/* Four neighbours, those from `left` on replaced by `other`.  VECTOR: all four are there, at a multiple of 16 bytes. */
template <bool VECTOR>
__device__ __forceinline__ void load_four(const float *from, int32_t left, float other, float *to)
{
    if constexpr (VECTOR) {
        *reinterpret_cast<float4 *>(to) = *reinterpret_cast<const float4 *>(from);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++) to[i] = i < left ? from[i] : other;
    }
}

/* to is at a multiple of four elements. */
__device__ __forceinline__ void store_four(float *to, const float *from)
{
    *reinterpret_cast<float4 *>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
__device__ __forceinline__ void store_four(__nv_bfloat16 *to, const float *from)
{
    __nv_bfloat162 pair[2] = {__floats2bfloat162_rn(from[0], from[1]), __floats2bfloat162_rn(from[2], from[3])};
    *reinterpret_cast<uint2 *>(to) = *reinterpret_cast<const uint2 *>(pair);
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
