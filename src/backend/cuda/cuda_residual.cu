/* Norms, GELU and dropout of residual networks.  A block of threads has a row, a thread four of its units at a time;
 * what a row adds up is added up in an order that depends on the width alone. */
#include "backend/cuda/cuda_residual.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/cuda_kernel_tools.cuh"
#include "model/draws.h"
#include "model/plan.h"

namespace
{

enum { FOUR = 4, ROW_THREADS_MOST = 512, FLAT_THREADS = 256 };

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

/* Values of units from `first` on; behind the last one stand a one, where an operand has it, and zeros. */
template <typename T>
__device__ __forceinline__ void store4(T *to, int32_t first, int32_t width, float behind, float value[FOUR])
{
#pragma unroll
    for (int i = 0; i < FOUR; i++)
        if (first + i >= width) value[i] = first + i == width ? behind : 0.0f;
    store_four(to, value);
}

/* The sums of every thread's values, in all threads, in an order that depends on the block's size alone. */
template <int COUNT> __device__ __forceinline__ void block_totals(float (&value)[COUNT])
{
    __shared__ float part[COUNT][LANES];
    const int32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, warps = blockDim.x / LANES;
#pragma unroll
    for (int i = 0; i < COUNT; i++) value[i] = warp_sum(value[i]);
    if (warps == 1) return;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        if (lane == 0) part[i][warp] = value[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; i++) value[i] = warp_sum(lane < warps ? part[i][lane] : 0.0f);
    __syncthreads(); /* part is free for the next sums */
}

/* ---- dropout ----------------------------------------------------------------------------------------------------- */

/* What dropout multiplies units first…first+3 of a row with. */
__device__ __forceinline__ void drop4(const struct device_dropout &dropout, uint32_t row, int32_t width, int32_t first,
                                      float factor[FOUR])
{
    const uint64_t draw = dropout.progress->first_draw + dropout.progress->next + dropout.offset;
    const uint32_t place = ND_CUDA_FAULT(FAULT_CUDA_DROPOUT_PLACE) ? 0 : dropout.place;
    const uint32_t unit = place * (uint32_t)width + (uint32_t)first;
    struct philox_block block = nd_philox(dropout.seed, PURPOSE_DROPOUT, draw, row, unit / 8);
#pragma unroll
    for (int i = 0; i < FOUR; i++) {
        const uint32_t number = unit + i, word = number / 2 % 4;
        if (i > 0 && number % 8 == 0) block = nd_philox(dropout.seed, PURPOSE_DROPOUT, draw, row, number / 8);
        const uint32_t bits = word == 0   ? block.word[0]
                              : word == 1 ? block.word[1]
                              : word == 2 ? block.word[2]
                                          : block.word[3];
        factor[i] = (number % 2 ? bits >> 16 : bits & 0xffffu) < dropout.threshold ? 0.0f : dropout.scale;
    }
}

/* value = drop(gelu(value)). */
template <bool DROP>
__device__ __forceinline__ void gelu4(const struct device_dropout &dropout, uint32_t row, int32_t width, int32_t first,
                                      float value[FOUR])
{
    float factor[FOUR] = {1, 1, 1, 1};
    if (DROP) drop4(dropout, row, width, first, factor);
#pragma unroll
    for (int i = 0; i < FOUR; i++) value[i] = factor[i] * gelu_value(value[i]);
}

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

/* ---- norms ------------------------------------------------------------------------------------------------------- */

/* Units first…first+3 of the stream; zero behind the last one. */
__device__ __forceinline__ void stream4(const struct device_stream &stream, size_t row, int32_t first, float h[FOUR])
{
    load4(stream.sum + row * stream.stride + first, h);
    if (stream.first_bias) add4(stream.first_bias + first, h);
    const int32_t biases = stream.biases - (ND_CUDA_FAULT(FAULT_CUDA_STREAM_BIAS) ? 1 : 0);
#pragma unroll 4
    for (int32_t b = 0; b < biases; b++) add4(stream.bias + b * stream.bias_gap + first, h);
#pragma unroll
    for (int i = 0; i < FOUR; i++)
        if (first + i >= stream.width) h[i] = 0;
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

/* ONCE: a thread has four units; all it needs is read at once and stays in registers.  Else it reads its units anew for
 * each sum. */
template <typename T, bool LAST, bool DROP, bool ONCE>
__global__ void __launch_bounds__(ROW_THREADS_MOST) norm_rows(const struct norm_job job)
{
    wait_for_predecessor();
    const size_t row = blockIdx.x;
    const int32_t width = job.stream.width, begin = threadIdx.x * FOUR, step = blockDim.x * FOUR;
    alignas(16) float h[FOUR] = {0, 0, 0, 0};
    struct norm4 norm;
    float total[1] = {0};
    for (int32_t first = begin; first < width; first += step) {
        stream4(job.stream, row, first, h);
        if (ONCE) load_norm4(job, first, &norm);
        total[0] += (h[0] + h[1]) + (h[2] + h[3]);
    }
    block_totals(total);
    const float mean = total[0] / width;
    total[0] = 0;
    for (int32_t first = begin; first < width; first += step) {
        if (!ONCE) stream4(job.stream, row, first, h);
#pragma unroll
        for (int i = 0; i < FOUR; i++)
            if (first + i < width) total[0] += (h[i] - mean) * (h[i] - mean);
    }
    block_totals(total);
    const float inverse = 1.0f / sqrtf(total[0] / width + (float)ND_NORM_EPSILON);
    for (int32_t first = begin; first < width; first += step) {
        if (!ONCE) stream4(job.stream, row, first, h);
        if (!ONCE) load_norm4(job, first, &norm);
#pragma unroll
        for (int i = 0; i < FOUR; i++) h[i] = (h[i] - mean) * inverse * norm.weight[i] + norm.bias[i];
        if (LAST) gelu4<DROP>(job.dropout, (uint32_t)row, width, first, h);
        store4(static_cast<T *>(job.out) + row * job.out_stride + first, first, width, 1.0f, h);
    }
    if (threadIdx.x != 0 || !job.moments) return;
    job.moments[2 * row] = mean;
    job.moments[2 * row + 1] = inverse;
}

/* ---- back through norms ------------------------------------------------------------------------------------------ */

/* Four units of a row on their way back. */
struct back4 {
    alignas(16) float unit[FOUR];    /* what the norm made of the stream, before weight and bias */
    alignas(16) float arrived[FOUR]; /* the gradient behind the norm; once it is weighted, before weight and bias */
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
#pragma unroll
    for (int i = 0; i < FOUR; i++)
        if (first + i >= forward.stream.width) four->unit[i] = four->arrived[i] = 0;
}

/* A part's sums of four units. */
struct part4 {
    alignas(16) float weight[FOUR], bias[FOUR];
};

/* Adds what arrived to the part and weights it; total: sums of that and of that times the units. */
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

__device__ __forceinline__ float *part_of(const struct norm_back_job &job, int32_t first)
{
    return job.part + 2 * job.forward.stream.stride * blockIdx.x + first;
}

__device__ __forceinline__ void store_part4(const struct norm_back_job &job, int32_t first, const struct part4 &part)
{
    store_four(part_of(job, first), part.weight);
    store_four(part_of(job, first) + job.forward.stream.stride, part.bias);
}

__device__ __forceinline__ void load_part4(const struct norm_back_job &job, int32_t first, struct part4 *part)
{
    load4(part_of(job, first), part->weight);
    load4(part_of(job, first) + job.forward.stream.stride, part->bias);
}

/* Takes the gradient to before the norm, given the means of what arrived and of that times the units. */
template <typename T>
__device__ __forceinline__ void store_below(const struct norm_back_job &job, size_t row, int32_t first, float mean,
                                            float product, struct back4 *four)
{
    const int32_t width = job.forward.stream.width;
    const size_t at = row * job.forward.stream.stride + first;
    const float inverse = job.forward.moments[2 * row + 1], centre = ND_CUDA_FAULT(FAULT_CUDA_NORM_MEAN) ? 0.0f : mean;
#pragma unroll
    for (int i = 0; i < FOUR; i++) four->below[i] += inverse * (four->arrived[i] - centre - four->unit[i] * product);
    store4(static_cast<T *>(job.delta) + at, first, width, 0.0f, four->below);
    if (job.below) store4(job.below + at, first, width, 0.0f, four->below);
}

/* A block has rows blockIdx.x, blockIdx.x + gridDim.x, …, and leaves their part of the norm's gradients. */
template <typename T, bool LAST, bool DROP, bool ONCE>
__global__ void __launch_bounds__(ROW_THREADS_MOST) norm_back_rows(const struct norm_back_job job, size_t rows)
{
    wait_for_predecessor();
    const int32_t width = job.forward.stream.width, begin = threadIdx.x * FOUR, step = blockDim.x * FOUR;
    struct norm4 norm;
    struct back4 four;
    struct part4 part = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    if (ONCE && begin < width) load_norm4(job.forward, begin, &norm);
    for (size_t row = blockIdx.x; row < rows; row += gridDim.x) {
        float total[2] = {0, 0};
        for (int32_t first = begin; first < width; first += step) {
            if (!ONCE) load_norm4(job.forward, first, &norm);
            if (!ONCE && row == blockIdx.x) part = {{0, 0, 0, 0}, {0, 0, 0, 0}};
            if (!ONCE && row != blockIdx.x) load_part4(job, first, &part);
            arrive4<LAST, DROP>(job, row, first, norm, &four);
            weigh4(norm, &four, &part, total);
            if (!ONCE) store_part4(job, first, part);
        }
        block_totals(total);
        for (int32_t first = begin; first < width; first += step) {
            if (!ONCE) {
                struct part4 again = {{0, 0, 0, 0}, {0, 0, 0, 0}};
                float same[2] = {0, 0};
                load_norm4(job.forward, first, &norm);
                arrive4<LAST, DROP>(job, row, first, norm, &four);
                weigh4(norm, &four, &again, same);
            }
            store_below<T>(job, row, first, total[0] / width, total[1] / width, &four);
        }
    }
    if (ONCE && begin < width) store_part4(job, begin, part);
}

/* A block adds up LANES neighbours of a norm's parts, a warp every so many of the parts. */
enum { PART_WARPS = 8, PARTS_MOST = 512 };

__global__ void __launch_bounds__(PART_WARPS *LANES)
    norm_gradients(const float *part, size_t parts, size_t numbers, float *gradient)
{
    __shared__ float own[PART_WARPS][LANES];
    wait_for_predecessor();
    const size_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, at = blockIdx.x * (size_t)LANES + lane;
    const float *norm = part + blockIdx.y * parts * numbers;
    const size_t end = parts - (ND_CUDA_FAULT(FAULT_CUDA_NORM_PART) && parts > 1 ? 1 : 0);
    float sum = 0;
#pragma unroll 8
    for (size_t p = warp; p < end; p += PART_WARPS) sum += norm[p * numbers + at];
    own[warp][lane] = sum;
    __syncthreads();
    if (warp != 0) return;
    for (int w = 1; w < PART_WARPS; w++) sum += own[w][lane];
    gradient[blockIdx.y * numbers + at] = sum;
}

/* ---- GELU -------------------------------------------------------------------------------------------------------- */

template <typename T, bool DROP, bool SLOPE>
__global__ void __launch_bounds__(FLAT_THREADS) gelu_rows(const struct gelu_job job, uint32_t fours, uint32_t count)
{
    wait_for_predecessor();
    const uint32_t i = blockIdx.x * FLAT_THREADS + threadIdx.x;
    if (i >= count) return;
    const uint32_t row = i / fours;
    const int32_t first = (int32_t)(i % fours) * FOUR;
    T *out = static_cast<T *>(job.out) + (size_t)row * job.out_stride + first;
    alignas(16) float value[FOUR];
    load4(static_cast<const T *>(job.sum) + (size_t)row * job.sum_stride + first, value);
    add4(job.bias + first, value);
    if (SLOPE) {
        alignas(16) float delta[FOUR];
        load4(out, delta);
        slope4<DROP>(job.dropout, row, job.width, first, value, delta);
        store4(out, first, job.width, 0.0f, delta);
    } else {
        gelu4<DROP>(job.dropout, row, job.width, first, value);
        store4(out, first, job.width, 1.0f, value);
    }
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

/* Threads that share a row. */
unsigned row_threads(int32_t width)
{
    const unsigned threads = blocks_of((size_t)width, FOUR * LANES) * LANES;
    return threads < ROW_THREADS_MOST ? threads : (unsigned)ROW_THREADS_MOST;
}

bool is_once(int32_t width)
{
    return width <= ROW_THREADS_MOST * FOUR;
}

template <typename T, bool LAST, bool DROP> auto norm_kernel(bool once)
{
    return once ? norm_rows<T, LAST, DROP, true> : norm_rows<T, LAST, DROP, false>;
}

template <typename T> cudaError_t launch_norm(const struct norm_job *job, size_t rows, cudaStream_t stream)
{
    const bool once = is_once(job->stream.width), drop = job->dropout.threshold > 0;
    auto kernel = !job->last ? norm_kernel<T, false, false>(once)
                  : drop     ? norm_kernel<T, true, true>(once)
                             : norm_kernel<T, true, false>(once);
    return launch_chained(kernel, rows, row_threads(job->stream.width), 0, stream, *job);
}

template <typename T, bool LAST, bool DROP> auto norm_back_kernel(bool once)
{
    return once ? norm_back_rows<T, LAST, DROP, true> : norm_back_rows<T, LAST, DROP, false>;
}

template <typename T> cudaError_t launch_norm_back(const struct norm_back_job *job, size_t rows, cudaStream_t stream)
{
    const int32_t width = job->forward.stream.width;
    const bool once = is_once(width), drop = job->forward.dropout.threshold > 0;
    auto kernel = !job->forward.last ? norm_back_kernel<T, false, false>(once)
                  : drop             ? norm_back_kernel<T, true, true>(once)
                                     : norm_back_kernel<T, true, false>(once);
    return launch_chained(kernel, nd_cuda_norm_parts(rows), row_threads(width), 0, stream, *job, rows);
}

template <typename T, bool SLOPE> cudaError_t launch_gelu(const struct gelu_job *job, size_t rows, cudaStream_t stream)
{
    const size_t fours = blocks_of((size_t)job->width, FOUR), count = rows * fours;
    auto kernel = job->dropout.threshold > 0 ? gelu_rows<T, true, SLOPE> : gelu_rows<T, false, SLOPE>;
    return launch_chained(kernel, blocks_of(count, FLAT_THREADS), FLAT_THREADS, 0, stream, *job, (uint32_t)fours,
                          (uint32_t)count);
}

} /* namespace */

extern "C" cudaError_t nd_cuda_norm(const struct norm_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->bf16 ? launch_norm<__nv_bfloat16>(job, rows, stream) : launch_norm<float>(job, rows, stream);
}

extern "C" cudaError_t nd_cuda_gelu(const struct gelu_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->bf16 ? launch_gelu<__nv_bfloat16, false>(job, rows, stream)
                     : launch_gelu<float, false>(job, rows, stream);
}

extern "C" cudaError_t nd_cuda_gelu_slope(const struct gelu_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->bf16 ? launch_gelu<__nv_bfloat16, true>(job, rows, stream)
                     : launch_gelu<float, true>(job, rows, stream);
}

extern "C" size_t nd_cuda_norm_parts(size_t rows)
{
    const size_t each = blocks_of(rows, PARTS_MOST);
    return each ? blocks_of(rows, each) : 0;
}

extern "C" cudaError_t nd_cuda_norm_back(const struct norm_back_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->forward.bf16 ? launch_norm_back<__nv_bfloat16>(job, rows, stream)
                             : launch_norm_back<float>(job, rows, stream);
}

extern "C" cudaError_t nd_cuda_norm_gradients(const float *part, size_t norms, size_t parts, size_t stride,
                                              float *gradient, cudaStream_t stream)
{
    const dim3 grid(blocks_of(2 * stride, LANES), (unsigned)norms);
    return launch_chained(norm_gradients, grid, PART_WARPS * LANES, 0, stream, part, parts, 2 * stride, gradient);
}
