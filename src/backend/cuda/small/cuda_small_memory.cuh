/* The shared memory of a block that trains a small network (cuda_small_block.cu). */
#ifndef ND_BACKEND_CUDA_SMALL_MEMORY_CUH
#define ND_BACKEND_CUDA_SMALL_MEMORY_CUH

#include "backend/cuda/cuda_kernel_tools.cuh"
#include "backend/cuda/small/cuda_small_block.h"

namespace
{

enum { THREADS = 512, WARPS = THREADS / LANES, TILE_ROWS = 16, TILE = 8 };

/* Shared memory by names.  Where there are several of a kind, they follow one another. */
struct small_memory {
    double *loss;                 /* (rows) */
    float *factor;                /* (rows): present / hidden cells / batch */
    uint32_t *row, *observed;     /* (rows): which row of the table, how many cells of it are observed */
    uint64_t *present;            /* (rows): a bit a column; only where cells are missing */
    struct device_column *column; /* (columns) */
    float *input;                 /* (rows, input_stride) */
    float *hidden;                /* (layers, rows, hidden_stride) */
    float *delta;                 /* (2, rows, hidden_stride): layer l has number l % 2 */
    float *output;                /* (2, rows, output_stride): column c has number c % 2.  Keys while rows are drawn */
    float *target;                /* (rows, columns) */
    uint8_t *listed;              /* (columns, rows): the rows that have a column hidden, then zeros */
    int32_t *count;               /* (columns): how many */
};

template <typename T> __device__ __forceinline__ T *shared_at(int32_t bytes)
{
    extern __shared__ uint4 memory[]; /* aligned for all that lies in it */
    return reinterpret_cast<T *>(reinterpret_cast<unsigned char *>(memory) + bytes);
}

__device__ __forceinline__ struct small_memory memory_of(const struct small_layout &at)
{
    return {
        shared_at<double>(at.loss),       shared_at<float>(at.factor),     shared_at<uint32_t>(at.row),
        shared_at<uint32_t>(at.observed), shared_at<uint64_t>(at.present), shared_at<struct device_column>(at.column),
        shared_at<float>(at.input),       shared_at<float>(at.hidden),     shared_at<float>(at.delta),
        shared_at<float>(at.output),      shared_at<float>(at.target),     shared_at<uint8_t>(at.listed),
        shared_at<int32_t>(at.count)};
}

__device__ __forceinline__ float *hidden_of(const struct small_job &job, const struct small_memory &memory, int32_t l)
{
    return memory.hidden + l * job.layout.rows * job.layout.hidden_stride;
}

__device__ __forceinline__ float *delta_of(const struct small_job &job, const struct small_memory &memory, int32_t l)
{
    return memory.delta + l % 2 * job.layout.rows * job.layout.hidden_stride;
}

__device__ __forceinline__ uint32_t tf32(float x)
{
    uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

__device__ __forceinline__ float rounded(float x)
{
    return __uint_as_float(tf32(x));
}

} /* namespace */

#endif
