/* The first layer along an order: running sums in double, since 784 additions in float drift. */
#include "backend/cuda/score/cuda_sums.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/score/cuda_chunk.cuh"

namespace
{

/* The factor of the sums that predict a column; only where there are factors. */
__device__ __forceinline__ double scale_of(const struct device_first &first, const struct device_plan &plan,
                                           int32_t column)
{
    return (double)first.scale[(size_t)plan.column[column].position * first.scale_stride];
}

/* What stands at `unit` of a line: a hidden unit, the one behind them, or padding. */
template <bool SUMS, typename T>
__device__ __forceinline__ void write_unit(const struct device_first &first, int32_t unit, double sum, T *line)
{
    float value = unit == first.units ? 1.0f : 0.0f;
    if (unit < first.units) value = value_of<SUMS>(first.activation, (float)sum);
    line[unit] = to_element<T>(value);
}

/* The outputs of a column. */
struct span {
    int32_t first, count;
};

__device__ __forceinline__ struct span outputs_of(const struct device_column &column)
{
    struct span span = {column.output, column.output_width};
    return span;
}

/* A line that takes the outputs of its column alone. */
__device__ __forceinline__ void write_output(const struct span &span, int32_t unit, double sum, float *line)
{
    if (unit >= span.first && unit < span.first + span.count) line[unit - span.first] = (float)sum;
}

__device__ __forceinline__ bool one_hot(const struct device_column &column)
{
    return column.type == NADE_CATEGORICAL;
}

/* ---- a chunk's walkers ------------------------------------------------------------------------------------------- */

enum { THREADS = 128, ROWS = 4, STEPS = 64 };

/* What is written of a line: hidden units, whose sums have a factor or none, or the outputs of a column. */
enum line_kind { LINE_UNITS, LINE_SCALED, LINE_OUTPUTS };

/* A cell as the sums take it: factor times the weights of an input, and those of its mask. */
struct observation {
    double factor;
    int32_t input; /* -1: missing */
    int32_t mask;  /* -1: there are none */
    int32_t atom;  /* an input that is 1 beside; -1: none */
};

/* The column at a position of an order. */
__device__ __forceinline__ int32_t column_at(const struct device_chunk &chunk, int32_t order, int32_t position)
{
    return chunk.order[(size_t)order * chunk.length + position];
}

template <enum line_kind KIND>
__device__ struct observation observe(const struct device_chunk &chunk, int32_t order, int32_t position, int32_t row)
{
    const int32_t c = column_at(chunk, order, position);
    const float x = cell_of(chunk, row, c);
    struct observation o = {0, -1, -1, -1};
    if (isnan(x)) return o;
    const struct device_column &column = chunk.plan.column[c];
    o.factor = one_hot(column) ? 1.0 : (double)x;
    o.input = column.input + (one_hot(column) ? (int32_t)x : 0);
    if (chunk.plan.masks && !(KIND == LINE_OUTPUTS && ND_CUDA_FAULT(FAULT_CUDA_DIRECT_MASK)))
        o.mask = chunk.plan.values_width + c;
    if (column.atom_inputs) {
        const int32_t atom = find_atom(column, chunk.plan.atom, x);
        if (atom >= 0) o.atom = column.input + 1 + atom;
    }
    return o;
}

/* Adds one position's cells to a unit's sums, reading weights that rows share once. */
__device__ __forceinline__ void add_cells(const struct observation *cell, const float *weight, int32_t stride,
                                          double sum[ROWS])
{
    int32_t input = -1, mask = -1;
    double value = 0, shown = 0;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (cell[r].input < 0) continue;
        if (cell[r].input != input) {
            input = cell[r].input;
            value = (double)__ldg(weight + (size_t)input * stride);
        }
        if (cell[r].mask != mask) {
            mask = cell[r].mask;
            shown = (double)__ldg(weight + (size_t)mask * stride);
        }
        sum[r] += cell[r].factor * value + shown;
        if (cell[r].atom >= 0) sum[r] += (double)__ldg(weight + (size_t)cell[r].atom * stride);
    }
}

/* One unit of the lines of ROWS rows at a position. */
template <typename T, enum line_kind KIND, bool SUMS>
__device__ __forceinline__ void write_lines(const struct sum_job &job, int32_t order, int32_t position,
                                            const struct span &span, int32_t rows, size_t walker, int32_t unit,
                                            const double sum[ROWS])
{
    const struct device_chunk &chunk = job.chunk;
    const size_t walkers = (size_t)chunk.orders * chunk.rows, first = (position - job.scored) * walkers + walker;
    if (KIND == LINE_OUTPUTS) {
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (r < rows)
                write_output(span, unit, sum[r], static_cast<float *>(job.operand) + (first + r) * job.widest);
        return;
    }
    const double scale = KIND == LINE_SCALED ? scale_of(job.first, chunk.plan, column_at(chunk, order, position)) : 1;
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        if (r < rows)
            write_unit<SUMS>(job.first, unit, scale * sum[r],
                             static_cast<T *>(job.operand) + (first + r) * job.first.stride);
}

/* A thread has one unit of ROWS rows, which share the weights it reads. */
template <typename T, enum line_kind KIND, bool SUMS>
__global__ void __launch_bounds__(THREADS) running_sum(const struct sum_job job)
{
    __shared__ struct observation cell[STEPS][ROWS];
    __shared__ struct span span[STEPS]; /* where lines take outputs */
    const struct device_chunk &chunk = job.chunk;
    const int32_t groups = (chunk.rows + ROWS - 1) / ROWS;
    const int32_t order = (int32_t)blockIdx.y / groups, first_row = (int32_t)blockIdx.y % groups * ROWS;
    const int32_t unit = (int32_t)(blockIdx.x * THREADS + threadIdx.x), units = job.first.units;
    const int32_t rows = min(chunk.rows - first_row, (int32_t)ROWS);
    const size_t walker = (size_t)order * chunk.rows + first_row;
    double sum[ROWS] = {0};
    for (int r = 0; r < ROWS; r++) {
        if (unit >= units || r >= rows) continue;
        if (job.begin > 0)
            sum[r] = job.sum[(walker + r) * units + unit];
        else if (job.first.bias)
            sum[r] = (double)job.first.bias[unit * job.first.bias_stride];
    }
    for (int32_t at = job.begin; at < job.end; at += STEPS) {
        const int32_t steps = min(job.end - at, (int32_t)STEPS);
        __syncthreads();
        for (int32_t i = (int32_t)threadIdx.x; i < steps * ROWS; i += THREADS) {
            struct observation none = {0, -1, -1, -1};
            int32_t r = i % ROWS;
            cell[i / ROWS][r] = r < rows ? observe<KIND>(chunk, order, at + i / ROWS, first_row + r) : none;
            if (KIND == LINE_OUTPUTS && r == 0)
                span[i / ROWS] = outputs_of(chunk.plan.column[column_at(chunk, order, at + i / ROWS)]);
        }
        __syncthreads();
        for (int32_t s = 0; s < steps; s++) {
            if (at + s >= job.scored && unit < job.first.stride)
                write_lines<T, KIND, SUMS>(job, order, at + s, span[s], rows, walker, unit, sum);
            if (unit < units) add_cells(cell[s], job.first.transposed + unit, job.first.stride, sum);
        }
    }
    for (int r = 0; r < ROWS; r++)
        if (unit < units && r < rows) job.sum[(walker + r) * units + unit] = sum[r];
}

/* ---- rows that go their own ways --------------------------------------------------------------------------------- */

template <typename T, enum line_kind KIND, bool SUMS>
__global__ void __launch_bounds__(THREADS) walk(const struct walk_job job)
{
    const size_t row = blockIdx.y;
    const int32_t unit = (int32_t)(blockIdx.x * THREADS + threadIdx.x), units = job.first.units;
    const struct walk_step step = job.step[row];
    double sum = 0;
    if (step.target < 0 || unit >= job.first.stride) return;
    if (unit < units) sum = job.sum[row * units + unit];
    if (unit < units && step.observed >= 0) {
        const struct device_column &column = job.plan.column[step.observed];
        const float *weight = job.first.transposed + unit;
        const int32_t input = column.input + (one_hot(column) ? (int32_t)step.x : 0);
        double added = (one_hot(column) ? 1.0 : (double)step.x) * (double)weight[(size_t)input * job.first.stride];
        if (job.plan.masks) added += (double)weight[(size_t)(job.plan.values_width + step.observed) * job.first.stride];
        sum += added;
        const int32_t atom = column.atom_inputs ? find_atom(column, job.plan.atom, step.x) : -1;
        if (atom >= 0) sum += (double)weight[(size_t)(column.input + 1 + atom) * job.first.stride];
        job.sum[row * units + unit] = sum;
    }
    if (KIND == LINE_OUTPUTS) {
        write_output(outputs_of(job.plan.column[step.target]), unit, sum,
                     static_cast<float *>(job.operand) + row * job.widest);
        return;
    }
    if (KIND == LINE_SCALED) sum *= scale_of(job.first, job.plan, step.target);
    write_unit<SUMS>(job.first, unit, sum, static_cast<T *>(job.operand) + row * job.first.stride);
}

} /* namespace */

template <typename T> static auto running_sum_kernel(const struct sum_job *job)
{
    const bool sums = reads_sum(job->first.activation);
    if (job->widest > 0) return running_sum<float, LINE_OUTPUTS, false>;
    if (job->first.scale) return sums ? running_sum<T, LINE_SCALED, true> : running_sum<T, LINE_SCALED, false>;
    return sums ? running_sum<T, LINE_UNITS, true> : running_sum<T, LINE_UNITS, false>;
}

extern "C" cudaError_t nd_cuda_running_sum(const struct sum_job *job, cudaStream_t stream)
{
    size_t groups = (size_t)job->chunk.orders * blocks_of((size_t)job->chunk.rows, ROWS);
    dim3 grid(blocks_of((size_t)job->first.stride, THREADS), (unsigned)groups);
    if (groups == 0) return cudaSuccess;
    auto kernel = job->bf16 ? running_sum_kernel<__nv_bfloat16>(job) : running_sum_kernel<float>(job);
    kernel<<<grid, THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}

template <typename T> static auto walk_kernel(const struct walk_job *job)
{
    const bool sums = reads_sum(job->first.activation);
    if (job->widest > 0) return walk<float, LINE_OUTPUTS, false>;
    if (job->first.scale) return sums ? walk<T, LINE_SCALED, true> : walk<T, LINE_SCALED, false>;
    return sums ? walk<T, LINE_UNITS, true> : walk<T, LINE_UNITS, false>;
}

extern "C" cudaError_t nd_cuda_walk(const struct walk_job *job, size_t rows, cudaStream_t stream)
{
    dim3 grid(blocks_of((size_t)job->first.stride, THREADS), (unsigned)rows);
    if (rows == 0) return cudaSuccess;
    auto kernel = job->bf16 ? walk_kernel<__nv_bfloat16>(job) : walk_kernel<float>(job);
    kernel<<<grid, THREADS, 0, stream>>>(*job);
    return cudaGetLastError();
}
