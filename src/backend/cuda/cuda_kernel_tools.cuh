/* What several kernels share. */
#ifndef ND_BACKEND_CUDA_KERNEL_TOOLS_CUH
#define ND_BACKEND_CUDA_KERNEL_TOOLS_CUH

#include <cuda_bf16.h>

#include "backend/cuda/cuda_plan.h"
#include "base/inline.h"
#include "data/encoded_rows.h"
#include "nade/nade.h"

enum { LANES = 32 };

const unsigned all_lanes = 0xffffffffu;

/* Blocks of `size` threads that `count` things take. */
inline unsigned blocks_of(size_t count, size_t size)
{
    return (unsigned)((count + size - 1) / size);
}

/* A cell of a table with so many columns, NaN when missing. */
__device__ __forceinline__ float cell_at(const struct device_rows &cells, size_t columns, size_t row, size_t column)
{
    const size_t at = row * columns + column;
    if (!cells.bytes) return static_cast<const float *>(cells.data)[at];
    const uint8_t byte = static_cast<const uint8_t *>(cells.data)[at];
    return byte == ND_BYTE_MISSING ? NAN : (float)byte;
}

/* The place of x among the column's atoms, or -1. */
__device__ __forceinline__ int32_t find_atom(const struct device_column &column, const float *atom, float x)
{
    int32_t a = 0, end = column.atoms;
    if (!column.ascending) {
        for (; a < end; a++)
            if (x == atom[column.first_atom + a]) return a;
        return -1;
    }
    while (a < end) {
        int32_t middle = (a + end) / 2;
        if (atom[column.first_atom + middle] < x)
            a = middle + 1;
        else
            end = middle;
    }
    return a < column.atoms && atom[column.first_atom + a] == x ? a : -1;
}

/* Two sigmoids: the quicker one, and the CPU's, which keeps all digits of what is near zero. */
ND_INLINE float quick_sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

ND_INLINE float precise_sigmoid(float x)
{
    float e = expf(-fabsf(x)), p = 1 / (1 + e);
    return x < 0 ? e * p : p;
}

#ifndef ND_SIGMOID
#define ND_SIGMOID quick_sigmoid
#endif
#ifndef ND_NORMAL
#define ND_NORMAL normcdff
#endif
#ifndef ND_EXP
#define ND_EXP expf
#endif
#define ND_REAL float
#define ND_TANH tanhf
#include "backend/activation.h"

/* Kernels are compiled twice: for the activations whose slope reads the sum (SUMS), and for the others, so that these
 * carry none of their code.  a: what entered the activation, any number where the slope does not read it; h: what it
 * returned. */
#define ROW(kind_, name, reads_sum)                                                                                    \
    case kind_:                                                                                                        \
        if (SUMS == (reads_sum)) return name##_value(a);                                                               \
        break;

template <bool SUMS> __device__ __forceinline__ float value_of(int kind, float a)
{
    switch (kind) {
        ND_ACTIVATIONS(ROW)
    }
    return a;
}
#undef ROW

#define ROW(kind_, name, reads_sum)                                                                                    \
    case kind_:                                                                                                        \
        if (SUMS == (reads_sum)) return name##_slope(a, h);                                                            \
        break;

template <bool SUMS> __device__ __forceinline__ float slope_of(int kind, float a, float h)
{
    switch (kind) {
        ND_ACTIVATIONS(ROW)
    }
    return 1;
}
#undef ROW

inline bool reads_sum(int kind)
{
    return nd_slope_reads_sum((nade_activation)kind);
}

/* Kernels of a chain of small ones: the next is set up while the one before it on the stream still runs, and begins by
 * waiting for it.  Only code compiled for Hopper or later can wait; any other is launched in the ordinary way. */
__device__ __forceinline__ void wait_for_predecessor()
{
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

template <typename... Taken, typename... Given>
cudaError_t launch_chained(void (*kernel)(Taken...), dim3 grid, dim3 threads, size_t shared, cudaStream_t stream,
                           Given... arguments)
{
    cudaFuncAttributes compiled;
    cudaError_t error = cudaFuncGetAttributes(&compiled, kernel);
    if (error != cudaSuccess) return error;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t how = {};
    how.gridDim = grid;
    how.blockDim = threads;
    how.dynamicSmemBytes = shared;
    how.stream = stream;
    how.attrs = &early;
    how.numAttrs = compiled.ptxVersion >= 90 ? 1 : 0;
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

/* The sum of all lanes' values, in all lanes, always in the same order. */
template <typename T> __device__ __forceinline__ T warp_sum(T value)
{
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(all_lanes, value, step);
    return value;
}

/* The sum of every thread's value, in an order that depends on the block's size alone; in thread 0.  blockDim.x is a
 * multiple of 32. */
__device__ __forceinline__ double block_sum(double value)
{
    __shared__ double part[32];
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_down_sync(all_lanes, value, step);
    if (threadIdx.x % LANES == 0) part[threadIdx.x / LANES] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned warp = 1; warp < blockDim.x / LANES; warp++) value += part[warp];
    __syncthreads();
    return value;
}

#endif
