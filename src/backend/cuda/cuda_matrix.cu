/* Sums, activations that no product does by itself, fills, transposition. */
#include "backend/cuda/cuda_matrix.h"

#include "backend/cuda/cuda_kernel_tools.cuh"

namespace
{

enum { THREADS = 256 };

__global__ void __launch_bounds__(THREADS) sum_all(const double *values, size_t count, double *result)
{
    double sum = 0;
    for (size_t i = threadIdx.x; i < count; i += THREADS) sum += values[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *result = sum;
}

/* out may be in. */
template <typename T, bool SUMS>
__global__ void activate(int kind, const T *in, T *out, size_t count, size_t units, size_t stride)
{
    size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x, unit = i % stride;
    if (i >= count) return;
    float h = unit < units ? value_of<SUMS>(kind, from_element(in[i])) : unit == units ? 1.0f : 0.0f;
    out[i] = to_element<T>(h);
}

/* Sixteen bytes of each a thread, in a kernel for each activation: a choice inside would be most of its work.  Behind a
 * layer's own units out is zero, or one at the constant, whose delta nobody reads. */
template <typename T, int KIND, bool SUMS>
__global__ void __launch_bounds__(THREADS) slope(const uint4 *sum, const uint4 *out, uint4 *delta, size_t count)
{
    enum { EACH = sizeof(uint4) / sizeof(T) };
    wait_for_predecessor();
    size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (i >= count) return;
    uint4 h = out[i], d = delta[i], a = SUMS ? sum[i] : h;
    const T *hs = reinterpret_cast<const T *>(&h), *as = reinterpret_cast<const T *>(&a);
    T *ds = reinterpret_cast<T *>(&d);
#pragma unroll
    for (int k = 0; k < EACH; k++)
        ds[k] = to_element<T>(from_element(ds[k]) * slope_of<SUMS>(KIND, from_element(as[k]), from_element(hs[k])));
    delta[i] = d;
}

template <typename T> __global__ void ones(T *operand, size_t rows, size_t stride, size_t column)
{
    size_t row = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (row < rows) operand[row * stride + column] = to_element<T>(1.0f);
}

__global__ void shadow_all(const float *weight, __nv_bfloat16 *shadow, size_t count)
{
    size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (i < count) shadow[i] = __float2bfloat16_rn(weight[i]);
}

__global__ void swap_all(float *a, float *b, size_t count)
{
    size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x;
    if (i >= count) return;
    const float was = a[i];
    a[i] = b[i];
    b[i] = was;
}

/* A block takes a square, a thread SQUARE / SQUARE_LINES numbers of it. */
enum { SQUARE = 32, SQUARE_LINES = 8 };

__global__ void transpose(const float *from, size_t rows, size_t columns, size_t from_stride, float *to,
                          size_t to_stride)
{
    __shared__ float tile[SQUARE][SQUARE + 1];
    size_t column = (size_t)blockIdx.x * SQUARE, row = (size_t)blockIdx.y * SQUARE;
    for (size_t i = threadIdx.y; i < SQUARE; i += SQUARE_LINES) {
        size_t r = row + i, c = column + threadIdx.x;
        tile[i][threadIdx.x] = r < rows && c < columns ? from[r * from_stride + c] : 0;
    }
    __syncthreads();
    for (size_t i = threadIdx.y; i < SQUARE; i += SQUARE_LINES) {
        size_t c = column + i, r = row + threadIdx.x;
        if (c < columns && r < to_stride) to[c * to_stride + r] = tile[threadIdx.x][i];
    }
}

unsigned blocks_for(size_t count)
{
    return blocks_of(count, THREADS);
}

} /* namespace */

extern "C" cudaError_t nd_cuda_sum(const double *values, size_t count, double *sum, cudaStream_t stream)
{
    sum_all<<<1, THREADS, 0, stream>>>(values, count, sum);
    return cudaGetLastError();
}

template <typename T>
static cudaError_t launch_activate(int activation, const void *in, void *out, size_t rows, size_t units, size_t stride,
                                   cudaStream_t stream)
{
    const T *from = static_cast<const T *>(in);
    T *to = static_cast<T *>(out);
    size_t count = rows * stride;
    if (reads_sum(activation))
        activate<T, true><<<blocks_for(count), THREADS, 0, stream>>>(activation, from, to, count, units, stride);
    else
        activate<T, false><<<blocks_for(count), THREADS, 0, stream>>>(activation, from, to, count, units, stride);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_activate(int activation, const void *in, void *out, bool bf16, size_t rows, size_t units,
                                        size_t stride, cudaStream_t stream)
{
    return bf16 ? launch_activate<__nv_bfloat16>(activation, in, out, rows, units, stride, stream)
                : launch_activate<float>(activation, in, out, rows, units, stride, stream);
}

template <typename T>
static cudaError_t launch_slope(int activation, const void *sum, const void *out, void *delta, size_t count,
                                cudaStream_t stream)
{
    const size_t threads = count * sizeof(T) / sizeof(uint4);
#define ROW(kind, name, reads_sum)                                                                                     \
    case kind:                                                                                                         \
        return launch_chained(slope<T, kind, reads_sum>, blocks_for(threads), THREADS, 0, stream,                      \
                              static_cast<const uint4 *>(sum), static_cast<const uint4 *>(out),                        \
                              static_cast<uint4 *>(delta), threads);
    switch (activation) {
        ND_ACTIVATIONS(ROW)
    }
#undef ROW
    return cudaErrorInvalidValue;
}

extern "C" cudaError_t nd_cuda_slope(int activation, const void *sum, const void *out, void *delta, bool bf16,
                                     size_t count, cudaStream_t stream)
{
    return bf16 ? launch_slope<__nv_bfloat16>(activation, sum, out, delta, count, stream)
                : launch_slope<float>(activation, sum, out, delta, count, stream);
}

extern "C" cudaError_t nd_cuda_ones(void *operand, bool bf16, size_t rows, size_t stride, size_t column,
                                    cudaStream_t stream)
{
    if (bf16)
        ones<<<blocks_for(rows), THREADS, 0, stream>>>(static_cast<__nv_bfloat16 *>(operand), rows, stride, column);
    else
        ones<<<blocks_for(rows), THREADS, 0, stream>>>(static_cast<float *>(operand), rows, stride, column);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_shadow(const float *weight, void *shadow, size_t count, cudaStream_t stream)
{
    shadow_all<<<blocks_for(count), THREADS, 0, stream>>>(weight, static_cast<__nv_bfloat16 *>(shadow), count);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_swap(float *a, float *b, size_t count, cudaStream_t stream)
{
    swap_all<<<blocks_for(count), THREADS, 0, stream>>>(a, b, count);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_transpose(const float *from, size_t rows, size_t columns, size_t from_stride, float *to,
                                         size_t to_stride, cudaStream_t stream)
{
    if (rows == 0 || columns == 0) return cudaSuccess;
    dim3 grid(blocks_of(columns, SQUARE), blocks_of(to_stride, SQUARE)), block(SQUARE, SQUARE_LINES);
    transpose<<<grid, block, 0, stream>>>(from, rows, columns, from_stride, to, to_stride);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_try_kernel(void)
{
    cudaFuncAttributes attributes;
    cudaError_t error = cudaFuncGetAttributes(&attributes, shadow_all);
    if (error != cudaSuccess) cudaGetLastError();
    return error;
}
