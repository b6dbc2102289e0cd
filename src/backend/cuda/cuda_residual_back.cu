/* The way back through norms and GELU of residual networks, and sums over a batch's rows: in an order that depends on
 * their number alone. */
#include "backend/cuda/cuda_residual_back.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/cuda_residual.cuh"

namespace
{

/* What the rows of threads have of four sums, added up and stored by the first.  All threads take part. */
__device__ __forceinline__ void store_sums4(float *to, bool inside, float value[FOUR])
{
    __shared__ float4 own[BLOCK_THREADS_MOST];
    if (blockDim.y > 1) {
        own[threadIdx.y * blockDim.x + threadIdx.x] = make_float4(value[0], value[1], value[2], value[3]);
        __syncthreads();
        for (uint32_t y = 1; threadIdx.y == 0 && y < blockDim.y; y++)
            add4(reinterpret_cast<const float *>(&own[y * blockDim.x + threadIdx.x]), value);
        __syncthreads(); /* own is free for the next sums */
    }
    if (threadIdx.y == 0 && inside) store_four(to, value);
}

/* The rows of a batch that a row of threads has: begin, begin + step, … */
struct own_rows {
    size_t begin, step, turns; /* turns: the same for all threads of a grid; the last may find no row */
};

__device__ __forceinline__ struct own_rows own_rows_of(size_t rows)
{
    struct own_rows own;
    own.begin = (size_t)blockIdx.x * blockDim.y + threadIdx.y;
    own.step = (size_t)gridDim.x * blockDim.y;
    own.turns = (rows + own.step - 1) / own.step;
    return own;
}

/* ---- back through GELU ------------------------------------------------------------------------------------------- */

/* delta *= the slope of drop(gelu(sum)). */
template <bool DROP>
__device__ __forceinline__ void slope4(const struct device_dropout &dropout, uint32_t row, int32_t width, int32_t first,
                                       const float sum[FOUR], float delta[FOUR])
{
    float factor[FOUR] = {1, 1, 1, 1};
    if (DROP && !ND_CUDA_FAULT(FAULT_CUDA_DROPOUT_BACK)) drop4(dropout, row, width, first, factor);
#pragma unroll
    for (int i = 0; i < FOUR; i++) delta[i] *= factor[i] * gelu_slope(sum[i], 0.0f);
}

/* Any width: a thread goes through its rows for four units after the other. */
template <typename T, bool DROP>
__global__ void __launch_bounds__(BLOCK_THREADS_MOST) gelu_back_rows(const struct gelu_back_job job, size_t rows)
{
    wait_for_predecessor();
    const struct gelu_job &forward = job.forward;
    const struct own_rows own = own_rows_of(rows);
    const int32_t width = forward.width, step = blockDim.x * FOUR, end = (width + step - 1) / step * step;
    for (int32_t first = threadIdx.x * FOUR; first < end; first += step) {
        alignas(16) float bias[FOUR] = {0, 0, 0, 0}, sums[FOUR] = {0, 0, 0, 0};
        if (first < width) load4(forward.bias + first, bias);
#pragma unroll 2
        for (size_t row = own.begin; row < rows && first < width; row += own.step) {
            const size_t at = row * forward.stride + first;
            alignas(16) float sum[FOUR], delta[FOUR];
            load4(static_cast<const T *>(forward.sum) + at, sum);
            load4(static_cast<T *>(forward.out) + at, delta);
#pragma unroll
            for (int i = 0; i < FOUR; i++) sum[i] += bias[i];
            slope4<DROP>(forward.dropout, (uint32_t)row, width, first, sum, delta);
            clear4(first, width, delta);
            store_four(static_cast<T *>(forward.out) + at, delta);
#pragma unroll
            for (int i = 0; i < FOUR; i++) sums[i] += delta[i];
        }
        store_sums4(job.part.first + blockIdx.x * job.part.gap + first, first < width, sums);
    }
}

/* ---- back through norms ------------------------------------------------------------------------------------------ */

/* Four units of a row on their way back. */
struct back4 {
    alignas(16) float unit[FOUR];    /* what the norm made of the stream, before weight and bias */
    alignas(16) float arrived[FOUR]; /* the gradient behind the norm; once it is weighed, before weight and bias */
    alignas(16) float below[FOUR];   /* the stream's gradient */
};

template <bool LAST, bool DROP>
__device__ __forceinline__ void arrive4(const struct norm_back_job &job, size_t row, int32_t first,
                                        const struct norm4 &norm, struct back4 *four)
{
    const struct norm_job &forward = job.forward;
    const size_t at = row * forward.stream.stride + first;
    const float mean = forward.moments[2 * row], inverse = forward.moments[2 * row + 1];
    stream4(forward.stream, row, first, four->unit);
    load4(job.arrived + at, four->arrived);
    if (job.above) load4(job.above + at, four->below);
#pragma unroll
    for (int i = 0; i < FOUR; i++) {
        four->unit[i] = (four->unit[i] - mean) * inverse;
        if (!job.above) four->below[i] = 0;
    }
    if (LAST) {
        float sum[FOUR];
#pragma unroll
        for (int i = 0; i < FOUR; i++) sum[i] = four->unit[i] * norm.weight[i] + norm.bias[i];
        slope4<DROP>(forward.dropout, (uint32_t)row, forward.stream.width, first, sum, four->arrived);
    }
    clear4(first, forward.stream.width, four->unit);
    clear4(first, forward.stream.width, four->arrived);
}

/* Sums over rows for four units. */
struct part4 {
    alignas(16) float weight[FOUR], bias[FOUR], below[FOUR];
};

/* Weighs what arrived; total: sums of that and of that times the units. */
__device__ __forceinline__ void weigh4(const struct norm4 &norm, struct back4 *four, struct part4 *part, float total[2])
{
#pragma unroll
    for (int i = 0; i < FOUR; i++) {
        part->weight[i] += four->arrived[i] * four->unit[i];
        part->bias[i] += four->arrived[i];
        four->arrived[i] *= norm.weight[i];
        total[0] += four->arrived[i];
        total[1] += four->arrived[i] * four->unit[i];
    }
}

/* Takes the gradient to before the norm, given the means of what arrived and of that times the units. */
template <typename T>
__device__ __forceinline__ void store_below(const struct norm_back_job &job, size_t row, int32_t first, float mean,
                                            float product, struct back4 *four, struct part4 *part)
{
    const size_t at = row * job.forward.stream.stride + first;
    const float inverse = job.forward.moments[2 * row + 1], centre = ND_CUDA_FAULT(FAULT_CUDA_NORM_MEAN) ? 0.0f : mean;
#pragma unroll
    for (int i = 0; i < FOUR; i++) four->below[i] += inverse * (four->arrived[i] - centre - four->unit[i] * product);
    clear4(first, job.forward.stream.width, four->below);
    store_four(static_cast<T *>(job.delta) + at, four->below);
    if (job.below) store_four(job.below + at, four->below);
#pragma unroll
    for (int i = 0; i < FOUR; i++) part->below[i] += four->below[i];
}

__device__ __forceinline__ float *part_of(const struct norm_back_job &job, int32_t first)
{
    return job.part.first + blockIdx.x * job.part.gap + first;
}

__device__ __forceinline__ void store_part4(const struct norm_back_job &job, int32_t first, struct part4 *part)
{
    const bool inside = first < job.forward.stream.width;
    const size_t stride = job.forward.stream.stride;
    store_sums4(part_of(job, first), inside, part->weight);
    store_sums4(part_of(job, first) + stride, inside, part->bias);
    store_sums4(part_of(job, first) + 2 * stride, inside, part->below);
}

/* A thread has four units, which stay in registers.  A block leaves its rows' part of the sums. */
template <typename T, bool LAST, bool DROP>
__global__ void __launch_bounds__(BLOCK_THREADS_MOST) norm_back_rows(const struct norm_back_job job, size_t rows)
{
    wait_for_predecessor();
    const struct own_rows own = own_rows_of(rows);
    const int32_t width = job.forward.stream.width, first = threadIdx.x * FOUR;
    struct norm4 norm;
    struct part4 part = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    if (first < width) load_norm4(job.forward, first, &norm);
    for (size_t turn = 0; turn < own.turns; turn++) {
        const size_t row = own.begin + turn * own.step;
        const bool inside = row < rows && first < width;
        struct back4 four;
        float total[2] = {0, 0};
        if (inside) arrive4<LAST, DROP>(job, row, first, norm, &four);
        if (inside) weigh4(norm, &four, &part, total);
        row_totals(total);
        if (inside) store_below<T>(job, row, first, total[0] / width, total[1] / width, &four, &part);
    }
    store_part4(job, first, &part);
}

/* The same for rows too wide for that: a thread reads its units twice, and its part is in memory. */
template <typename T, bool LAST, bool DROP>
__global__ void __launch_bounds__(ROW_THREADS_MOST) norm_back_wide(const struct norm_back_job job, size_t rows)
{
    wait_for_predecessor();
    const int32_t width = job.forward.stream.width, begin = threadIdx.x * FOUR, step = blockDim.x * FOUR;
    const size_t stride = job.forward.stream.stride;
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        struct norm4 norm;
        struct back4 four;
        struct part4 part = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
        float total[2] = {0, 0}, same[2] = {0, 0};
        for (int32_t first = begin; first < width; first += step) {
            load_norm4(job.forward, first, &norm);
            arrive4<LAST, DROP>(job, row, first, norm, &four);
            weigh4(norm, &four, &part, total);
        }
        row_totals(total);
        for (int32_t first = begin; first < width; first += step) {
            part = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
            if (row != blockIdx.x) {
                load4(part_of(job, first), part.weight);
                load4(part_of(job, first) + stride, part.bias);
                load4(part_of(job, first) + 2 * stride, part.below);
            }
            load_norm4(job.forward, first, &norm);
            arrive4<LAST, DROP>(job, row, first, norm, &four);
            weigh4(norm, &four, &part, same);
            store_below<T>(job, row, first, total[0] / width, total[1] / width, &four, &part);
            store_part4(job, first, &part);
        }
    }
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* LANES neighbouring sums over rows of a matrix: warp w has rows w, w + warps, …; in warp 0.  All threads take part. */
template <typename T>
__device__ __forceinline__ float sum_rows(const T *matrix, size_t rows, size_t stride, bool inside)
{
    __shared__ float own[BLOCK_THREADS_MOST / LANES][LANES];
    const size_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
    float sum = 0;
#pragma unroll 8
    for (size_t row = warp; row < rows && inside; row += warps) sum += from_element(matrix[row * stride]);
    own[warp][lane] = sum;
    __syncthreads();
    for (size_t w = 1; warp == 0 && w < warps; w++) sum += own[w][lane];
    return sum;
}

template <typename T>
__global__ void __launch_bounds__(BLOCK_THREADS_MOST)
    column_sums(const T *matrix, size_t rows, size_t columns, size_t stride, float *sum)
{
    wait_for_predecessor();
    const size_t column = blockIdx.x * (size_t)LANES + threadIdx.x % LANES;
    const float total = sum_rows(matrix + column, rows, stride, column < columns);
    if (threadIdx.x < LANES && column < columns) sum[column] = total;
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

/* Rows that a block of threads has at a time: about as many blocks as a large chip has multiprocessors. */
unsigned rows_at_once(size_t rows, size_t width)
{
    const unsigned most = is_once(width) ? BLOCK_THREADS_MOST / row_threads(width) : 1;
    const unsigned wanted = blocks_of(rows, ND_CUDA_PARTS_MOST);
    return wanted < most ? wanted : most;
}

template <typename T, bool LAST, bool DROP> auto norm_back_kernel(bool once)
{
    return once ? norm_back_rows<T, LAST, DROP> : norm_back_wide<T, LAST, DROP>;
}

template <typename T> cudaError_t launch_norm_back(const struct norm_back_job *job, size_t rows, cudaStream_t stream)
{
    const size_t width = (size_t)job->forward.stream.width;
    const bool once = is_once(width), drop = job->forward.dropout.threshold > 0;
    auto kernel = !job->forward.last ? norm_back_kernel<T, false, false>(once)
                  : drop             ? norm_back_kernel<T, true, true>(once)
                                     : norm_back_kernel<T, true, false>(once);
    return launch_chained(kernel, nd_cuda_parts(rows, width), dim3(row_threads(width), rows_at_once(rows, width)), 0,
                          stream, *job, rows);
}

template <typename T> cudaError_t launch_gelu_back(const struct gelu_back_job *job, size_t rows, cudaStream_t stream)
{
    const size_t width = (size_t)job->forward.width;
    auto kernel = job->forward.dropout.threshold > 0 ? gelu_back_rows<T, true> : gelu_back_rows<T, false>;
    return launch_chained(kernel, nd_cuda_parts(rows, width), dim3(row_threads(width), rows_at_once(rows, width)), 0,
                          stream, *job, rows);
}

} /* namespace */

extern "C" size_t nd_cuda_parts(size_t rows, size_t width)
{
    if (rows == 0) return 0;
    const size_t parts = blocks_of(rows, rows_at_once(rows, width));
    return parts < ND_CUDA_PARTS_MOST ? parts : (size_t)ND_CUDA_PARTS_MOST;
}

extern "C" cudaError_t nd_cuda_gelu_back(const struct gelu_back_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->forward.bf16 ? launch_gelu_back<__nv_bfloat16>(job, rows, stream)
                             : launch_gelu_back<float>(job, rows, stream);
}

extern "C" cudaError_t nd_cuda_norm_back(const struct norm_back_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->forward.bf16 ? launch_norm_back<__nv_bfloat16>(job, rows, stream)
                             : launch_norm_back<float>(job, rows, stream);
}

extern "C" cudaError_t nd_cuda_add_parts(const float *part, size_t parts, size_t numbers, float *sum,
                                         cudaStream_t stream)
{
    const size_t added = parts - (ND_CUDA_FAULT(FAULT_CUDA_LAST_PART) && parts > 1 ? 1 : 0);
    return launch_chained(column_sums<float>, blocks_of(numbers, LANES), BLOCK_THREADS_MOST / 2, 0, stream, part, added,
                          numbers, numbers, sum);
}

extern "C" cudaError_t nd_cuda_column_sums(const void *operand, bool bf16, size_t rows, size_t columns, size_t stride,
                                           float *sum, cudaStream_t stream)
{
    const unsigned blocks = blocks_of(columns, LANES);
    if (bf16)
        return launch_chained(column_sums<__nv_bfloat16>, blocks, BLOCK_THREADS_MOST, 0, stream,
                              static_cast<const __nv_bfloat16 *>(operand), rows, columns, stride, sum);
    return launch_chained(column_sums<float>, blocks, BLOCK_THREADS_MOST, 0, stream,
                          static_cast<const float *>(operand), rows, columns, stride, sum);
}
