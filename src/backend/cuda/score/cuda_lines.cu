/* From lines of the last hidden layer to log densities: only the block of a line's own column is computed, in float
 * from float weights; what follows is the formulas of model/head_*.c in double.  No sum depends on how lines are
 * shared out, so a row's density is the same whatever is scored beside it. */
#include "backend/cuda/score/cuda_lines.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/score/cuda_chunk.cuh"
#include "model/log_sum.h"
#include "model/schema.h"

namespace
{

enum { VECTOR = 8 };

__device__ __forceinline__ float4 load4(const float *from)
{
    return *reinterpret_cast<const float4 *>(from);
}

/* A bfloat16 is the upper half of a float. */
__device__ __forceinline__ float2 widen(unsigned pair)
{
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}

__device__ __forceinline__ float4 load4(const __nv_bfloat16 *from)
{
    const uint2 bits = *reinterpret_cast<const uint2 *>(from);
    const float2 low = widen(bits.x), high = widen(bits.y);
    return make_float4(low.x, low.y, high.x, high.y);
}

/* VECTOR elements, which for both kinds are read 16 bytes at a time. */
__device__ __forceinline__ void load8(const float *from, float to[VECTOR])
{
    const float4 low = load4(from), high = load4(from + 4);
    to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
    to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
}

__device__ __forceinline__ void load8(const __nv_bfloat16 *from, float to[VECTOR])
{
    const uint4 bits = *reinterpret_cast<const uint4 *>(from);
    const unsigned pair[4] = {bits.x, bits.y, bits.z, bits.w};
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float2 two = widen(pair[i]);
        to[2 * i] = two.x, to[2 * i + 1] = two.y;
    }
}

__device__ __forceinline__ double warp_most(double value)
{
    for (int step = LANES / 2; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(all_lanes, value, step));
    return value;
}

/* What an output has already. */
__device__ __forceinline__ float added(const struct device_lines &lines, const float *outputs, size_t at)
{
    return lines.direct ? outputs[at] : 0.0f;
}

/* ---- outputs of rows that go their own ways ---------------------------------------------------------------------- */

enum { WARPS = 8 };

/* A block a row, a warp an output. */
template <typename T>
__global__ void __launch_bounds__(WARPS *LANES)
    row_outputs(const struct device_lines lines, const struct device_plan plan, const struct walk_step *step,
                float *outputs, size_t widest)
{
    const size_t row = blockIdx.x;
    const int32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, target = step[row].target;
    if (target < 0) return;
    const struct device_column column = plan.column[target];
    const T *hidden = static_cast<const T *>(lines.hidden) + row * lines.stride;
    for (int32_t o = warp; o < column.output_width; o += WARPS) {
        const size_t output = (size_t)column.output + o;
        const float *weight = lines.weight + output * lines.stride;
        float sum = 0;
        for (int32_t u = lane * VECTOR; u < lines.stride; u += LANES * VECTOR) {
            float h[VECTOR], w[VECTOR];
            load8(hidden + u, h);
            load8(weight + u, w);
#pragma unroll
            for (int i = 0; i < VECTOR; i++) sum += h[i] * w[i];
        }
        sum = warp_sum(sum);
        if (lane == 0) outputs[row * widest + o] = sum + lines.bias[output] + added(lines, outputs, row * widest + o);
    }
}

/* ---- which column a group of lines is for ------------------------------------------------------------------------ */

/* The lines of one order and position: `rows` side by side. */
struct group {
    int32_t column;
    size_t first; /* line */
};

__device__ __forceinline__ struct group group_of(const struct line_job &job, int32_t number)
{
    const struct device_chunk &chunk = job.chunk;
    const int32_t position = number / chunk.orders, order = number % chunk.orders;
    struct group group;
    group.column = chunk.order[(size_t)order * chunk.length + job.scored + position];
    group.first = (size_t)number * chunk.rows;
    return group;
}

/* ---- binary columns: a dot product a line ------------------------------------------------------------------------ */

enum { WARP_LINES = 4 };

/* A warp takes WARP_LINES lines of a group, which share the weights it reads. */
template <typename T> __global__ void __launch_bounds__(WARPS *LANES) binary_density(const struct line_job job)
{
    const int32_t lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, rows = job.chunk.rows;
    const int32_t stride = job.lines.stride, first = ((int32_t)blockIdx.y * WARPS + warp) * WARP_LINES;
    if (first >= rows) return;
    const struct group group = group_of(job, (int32_t)blockIdx.x);
    const int32_t output = job.chunk.plan.column[group.column].output;
    const float *weight = job.lines.weight + (size_t)output * stride;
    const T *hidden[WARP_LINES];
    float sum[WARP_LINES] = {0};
#pragma unroll
    for (int l = 0; l < WARP_LINES; l++)
        hidden[l] = static_cast<const T *>(job.lines.hidden) + (group.first + min(first + l, rows - 1)) * stride;
    for (int32_t u = lane * VECTOR; u < stride; u += LANES * VECTOR) {
        float w[VECTOR];
        load8(weight + u, w);
#pragma unroll
        for (int l = 0; l < WARP_LINES; l++) {
            float h[VECTOR];
            load8(hidden[l] + u, h);
#pragma unroll
            for (int i = 0; i < VECTOR; i++) sum[l] += h[i] * w[i];
        }
    }
    float own = 0;
#pragma unroll
    for (int l = 0; l < WARP_LINES; l++) {
        const float total = warp_sum(sum[l]);
        if (lane == l) own = total;
    }
    if (lane >= WARP_LINES || first + lane >= rows) return;
    const float x = cell_of(job.chunk, first + lane, group.column);
    const size_t line = group.first + first + lane;
    own += job.lines.bias[output] + added(job.lines, job.outputs, line * job.widest);
    job.density[line] = isnan(x) ? 0.0 : binary_log_density(own, x);
}

/* ---- any columns: a product of a group's lines with their column's weights --------------------------------------- */

/* A block makes BLOCK_LINES lines by BLOCK_OUTPUTS outputs, a thread four by four of them, over DEPTH units at a
 * time.  A row of PITCH floats keeps four floats together and eight neighbouring rows in different banks. */
enum { BLOCK_LINES = 64, BLOCK_OUTPUTS = 32, DEPTH = 32, PITCH = DEPTH + 4, FOUR = 4 };
enum { PRODUCT_THREADS = BLOCK_LINES * BLOCK_OUTPUTS / (FOUR * FOUR), ROW_THREADS = DEPTH / FOUR };
enum { LINE_STEP = PRODUCT_THREADS / ROW_THREADS }; /* rows that all threads read at a time, four floats each */
enum { LINE_READS = BLOCK_LINES / LINE_STEP, WEIGHT_READS = BLOCK_OUTPUTS / LINE_STEP };
enum { LINE_GAP = BLOCK_LINES / FOUR, OUTPUT_GAP = BLOCK_OUTPUTS / FOUR };

__device__ __forceinline__ float dot4(float4 a, float4 b, float sum)
{
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

/* What a block's threads share, DEPTH units of it at a time. */
struct panels {
    float hidden[BLOCK_LINES][PITCH], weight[BLOCK_OUTPUTS][PITCH];
};

/* A thread's part of the next panels, read while the present ones are multiplied. */
struct ahead {
    float4 hidden[LINE_READS], weight[WEIGHT_READS];
};

/* hidden, weight: where the thread's first row and four units begin; what lies beyond rows and width is not read. */
template <typename T>
__device__ __forceinline__ void read_ahead(const T *hidden, int32_t rows, const float *weight, int32_t width,
                                           int32_t stride, struct ahead *ahead)
{
    const float4 zero = make_float4(0, 0, 0, 0);
    const int32_t first = threadIdx.x / ROW_THREADS;
#pragma unroll
    for (int i = 0; i < LINE_READS; i++)
        ahead->hidden[i] = first + i * LINE_STEP < rows ? load4(hidden + (size_t)(i * LINE_STEP) * stride) : zero;
#pragma unroll
    for (int i = 0; i < WEIGHT_READS; i++)
        ahead->weight[i] = first + i * LINE_STEP < width ? load4(weight + (size_t)(i * LINE_STEP) * stride) : zero;
}

__device__ __forceinline__ void store_panels(const struct ahead &ahead, struct panels *panels)
{
    const int32_t first = threadIdx.x / ROW_THREADS, unit = threadIdx.x % ROW_THREADS * FOUR;
#pragma unroll
    for (int i = 0; i < LINE_READS; i++)
        *reinterpret_cast<float4 *>(&panels->hidden[first + i * LINE_STEP][unit]) = ahead.hidden[i];
#pragma unroll
    for (int i = 0; i < WEIGHT_READS; i++)
        *reinterpret_cast<float4 *>(&panels->weight[first + i * LINE_STEP][unit]) = ahead.weight[i];
}

__device__ __forceinline__ void multiply_panels(const struct panels &panels, float sum[FOUR][FOUR])
{
    const int32_t line = threadIdx.x / OUTPUT_GAP, output = threadIdx.x % OUTPUT_GAP;
#pragma unroll
    for (int k = 0; k < DEPTH; k += FOUR) {
        float4 h[FOUR], w[FOUR];
#pragma unroll
        for (int i = 0; i < FOUR; i++) {
            h[i] = load4(&panels.hidden[line + i * LINE_GAP][k]);
            w[i] = load4(&panels.weight[output + i * OUTPUT_GAP][k]);
        }
#pragma unroll
        for (int i = 0; i < FOUR; i++)
#pragma unroll
            for (int j = 0; j < FOUR; j++) sum[i][j] = dot4(h[i], w[j], sum[i][j]);
    }
}

template <typename T> __global__ void __launch_bounds__(PRODUCT_THREADS) line_outputs(const struct line_job job)
{
    __shared__ __align__(16) struct panels panels;
    const struct group group = group_of(job, (int32_t)blockIdx.x);
    const struct device_column column = job.chunk.plan.column[group.column];
    const int32_t first_row = (int32_t)blockIdx.y * BLOCK_LINES, first_output = (int32_t)blockIdx.z * BLOCK_OUTPUTS;
    const int32_t rows = min(job.chunk.rows - first_row, (int32_t)BLOCK_LINES);
    const int32_t width = min(column.output_width - first_output, (int32_t)BLOCK_OUTPUTS);
    if (width <= 0) return;

    const int32_t stride = job.lines.stride;
    const size_t first_line = group.first + first_row, output = (size_t)column.output + first_output;
    const size_t reader = threadIdx.x / ROW_THREADS, unit = threadIdx.x % ROW_THREADS * FOUR;
    const T *hidden = static_cast<const T *>(job.lines.hidden) + (first_line + reader) * stride + unit;
    const float *weight = job.lines.weight + (output + reader) * stride + unit;
    float sum[FOUR][FOUR] = {{0}};
    struct ahead ahead;
    read_ahead(hidden, rows, weight, width, stride, &ahead);
    for (int32_t at = DEPTH; at <= stride; at += DEPTH) {
        __syncthreads();
        store_panels(ahead, &panels);
        __syncthreads();
        if (at < stride) read_ahead(hidden + at, rows, weight + at, width, stride, &ahead);
        multiply_panels(panels, sum);
    }
    const int32_t own_line = threadIdx.x / OUTPUT_GAP, own_output = threadIdx.x % OUTPUT_GAP;
#pragma unroll
    for (int i = 0; i < FOUR; i++)
#pragma unroll
        for (int j = 0; j < FOUR; j++) {
            const int32_t l = own_line + i * LINE_GAP, o = own_output + j * OUTPUT_GAP;
            const size_t at = (first_line + l) * job.widest + first_output + o;
            if (l < rows && o < width)
                job.outputs[at] = sum[i][j] + job.lines.bias[output + o] + added(job.lines, job.outputs, at);
        }
}

/* ---- log densities of any columns: a warp a line ----------------------------------------------------------------- */

/* Over all lanes' terms. */
__device__ double log_total(const struct log_sum &own)
{
    const double most = warp_most(own.most);
    const double sum = warp_sum(own.sum == 0 ? 0.0 : own.sum * exp(own.most - most));
    return most + log(sum);
}

__device__ double log_sum_exp(const float *a, int32_t count, int32_t lane)
{
    struct log_sum total = {-HUGE_VAL, 0};
    for (int32_t i = lane; i < count; i += LANES) nd_add_term(&total, (double)a[i]);
    return log_total(total);
}

/* log N(x; mean, scale) of a component, a Gaussian. */
__device__ double component_log_density(const struct device_column &column, const float *outputs, int32_t c, double x)
{
    const double half_log_two_pi = 0.91893853320467274178;
    const int32_t stride = column.stride;
    const double scale = exp(fmin((double)outputs[2 * stride + c], (double)ND_LOG_SCALE_MOST)) + (double)column.floor;
    const double z = (x - (double)outputs[stride + c]) / scale;
    return -0.5 * z * z - log(scale) - half_log_two_pi;
}

__device__ double mixture_log_density(const struct device_column &column, const float *atom, const float *outputs,
                                      float x, int32_t lane)
{
    const double root_twelve = 3.46410161513775458705;
    const double weights = log_sum_exp(outputs, column.components, lane);
    const int32_t which = find_atom(column, atom, x);
    if (which >= 0) return (double)outputs[which] - log(root_twelve * (double)column.floor) - weights;
    struct log_sum joint = {-HUGE_VAL, 0};
    for (int32_t c = column.atoms + lane; c < column.components; c += LANES)
        nd_add_term(&joint, (double)outputs[c] + component_log_density(column, outputs, c, (double)x));
    return log_total(joint) - weights;
}

/* True in all lanes when one of the outputs is not finite. */
__device__ bool any_not_finite(const float *outputs, int32_t count, int32_t lane)
{
    bool bad = false;
    for (int32_t i = lane; i < count; i += LANES) bad = bad || !is_finite(outputs[i]);
    return __any_sync(all_lanes, bad) != 0;
}

__global__ void __launch_bounds__(WARPS *LANES) line_density(const struct line_job job, size_t lines)
{
    const size_t line = (size_t)blockIdx.x * WARPS + threadIdx.x / LANES;
    const int32_t lane = threadIdx.x % LANES;
    if (line >= lines - (ND_CUDA_FAULT(FAULT_CUDA_LAST_LINE) ? 1 : 0)) return;
    const int32_t row = (int32_t)(line % (size_t)job.chunk.rows);
    const struct group group = group_of(job, (int32_t)(line / (size_t)job.chunk.rows));
    const struct device_column column = job.chunk.plan.column[group.column];
    const float *outputs = job.outputs + line * job.widest;
    const float x = cell_of(job.chunk, row, group.column);
    double density = 0;
    if (isnan(x))
        density = 0;
    else if (any_not_finite(outputs, column.output_width, lane))
        density = nan("");
    else if (column.type == NADE_BINARY)
        density = binary_log_density(outputs[0], x);
    else if (column.type == NADE_CATEGORICAL)
        density = (double)outputs[(int32_t)x] - log_sum_exp(outputs, column.output_width, lane);
    else
        density = mixture_log_density(column, job.chunk.plan.atom, outputs, x, lane);
    if (lane == 0) job.density[line] = density;
}

__global__ void __launch_bounds__(WARPS *LANES)
    add_density(const double *density, size_t positions, size_t walkers, bool fresh, double *total)
{
    const size_t walker = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (walker >= walkers) return;
    double sum = fresh ? 0 : total[walker];
#pragma unroll 8
    for (size_t p = 0; p < positions; p++) sum += density[p * walkers + walker];
    total[walker] = sum;
}

/* Groups of a job's lines. */
size_t groups_of(const struct line_job *job)
{
    return (size_t)(job->end - job->scored) * (size_t)job->chunk.orders;
}

} /* namespace */

extern "C" cudaError_t nd_cuda_row_outputs(const struct device_lines *lines, const struct device_plan *plan,
                                           const struct walk_step *step, size_t rows, float *outputs, size_t widest,
                                           cudaStream_t stream)
{
    const unsigned blocks = (unsigned)rows;
    if (rows == 0) return cudaSuccess;
    if (lines->bf16)
        row_outputs<__nv_bfloat16><<<blocks, WARPS * LANES, 0, stream>>>(*lines, *plan, step, outputs, widest);
    else
        row_outputs<float><<<blocks, WARPS * LANES, 0, stream>>>(*lines, *plan, step, outputs, widest);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_binary_density(const struct line_job *job, cudaStream_t stream)
{
    const size_t groups = groups_of(job);
    dim3 grid((unsigned)groups, blocks_of((size_t)job->chunk.rows, WARPS * WARP_LINES));
    if (groups == 0 || job->chunk.rows == 0) return cudaSuccess;
    if (job->lines.bf16)
        binary_density<__nv_bfloat16><<<grid, WARPS * LANES, 0, stream>>>(*job);
    else
        binary_density<float><<<grid, WARPS * LANES, 0, stream>>>(*job);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_line_outputs(const struct line_job *job, cudaStream_t stream)
{
    const size_t groups = groups_of(job);
    dim3 grid((unsigned)groups, blocks_of((size_t)job->chunk.rows, BLOCK_LINES),
              blocks_of((size_t)job->widest, BLOCK_OUTPUTS));
    if (groups == 0 || job->chunk.rows == 0) return cudaSuccess;
    if (job->lines.bf16)
        line_outputs<__nv_bfloat16><<<grid, PRODUCT_THREADS, 0, stream>>>(*job);
    else
        line_outputs<float><<<grid, PRODUCT_THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_line_density(const struct line_job *job, cudaStream_t stream)
{
    const size_t lines = groups_of(job) * (size_t)job->chunk.rows;
    if (lines == 0) return cudaSuccess;
    line_density<<<blocks_of(lines, WARPS), WARPS * LANES, 0, stream>>>(*job, lines);
    return cudaGetLastError();
}

extern "C" cudaError_t nd_cuda_add_density(const double *density, size_t positions, size_t walkers, bool fresh,
                                           double *total, cudaStream_t stream)
{
    if (walkers == 0) return cudaSuccess;
    add_density<<<blocks_of(walkers, WARPS * LANES), WARPS * LANES, 0, stream>>>(density, positions, walkers, fresh,
                                                                                 total);
    return cudaGetLastError();
}
