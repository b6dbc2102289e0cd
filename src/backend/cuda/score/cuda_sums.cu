/* The first layer along an order: running sums in double, since 784 additions in float drift. */
#include "backend/cuda/score/cuda_sums.h"

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

__device__ __forceinline__ bool one_hot(const struct device_column &column)
{
    return column.type == NADE_CATEGORICAL;
}

/* ---- a chunk's walkers ------------------------------------------------------------------------------------------- */

enum { THREADS = 128, ROWS = 4, STEPS = 64 };

/* A cell as the sums take it: factor times the weights of an input, and those of its mask. */
struct observation {
    double factor;
    int32_t input; /* -1: missing */
    int32_t mask;  /* -1: there are none */
    int32_t atom;  /* an input that is 1 beside; -1: none */
};

__device__ struct observation observe(const struct device_chunk &chunk, int32_t order, int32_t position, int32_t row)
{
    const int32_t c = chunk.order[(size_t)order * chunk.length + position];
    const float x = cell_of(chunk, row, c);
    struct observation o = {0, -1, -1, -1};
    if (isnan(x)) return o;
    const struct device_column &column = chunk.plan.column[c];
    o.factor = one_hot(column) ? 1.0 : (double)x;
    o.input = column.input + (one_hot(column) ? (int32_t)x : 0);
    if (chunk.plan.masks) o.mask = chunk.plan.values_width + c;
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

/* A thread has one unit of ROWS rows, which share the weights it reads. */
template <typename T, bool SCALED, bool SUMS>
__global__ void __launch_bounds__(THREADS) running_sum(const struct sum_job job)
{
    __shared__ struct observation cell[STEPS][ROWS];
    const struct device_chunk &chunk = job.chunk;
    const int32_t groups = (chunk.rows + ROWS - 1) / ROWS, walkers = chunk.orders * chunk.rows;
    const int32_t order = (int32_t)blockIdx.y / groups, first_row = (int32_t)blockIdx.y % groups * ROWS;
    const int32_t unit = (int32_t)(blockIdx.x * THREADS + threadIdx.x), units = job.first.units;
    const int32_t rows = min(chunk.rows - first_row, (int32_t)ROWS);
    const size_t walker = (size_t)order * chunk.rows + first_row;
    double sum[ROWS] = {0};
    for (int r = 0; r < ROWS; r++) {
        if (unit >= units || r >= rows) continue;
        sum[r] = job.begin == 0 ? (double)job.first.bias[unit * job.first.bias_stride]
                                : job.sum[(walker + r) * units + unit];
    }
    for (int32_t at = job.begin; at < job.end; at += STEPS) {
        const int32_t steps = min(job.end - at, (int32_t)STEPS);
        __syncthreads();
        for (int32_t i = (int32_t)threadIdx.x; i < steps * ROWS; i += THREADS) {
            struct observation none = {0, -1, -1, -1};
            int32_t r = i % ROWS;
            cell[i / ROWS][r] = r < rows ? observe(chunk, order, at + i / ROWS, first_row + r) : none;
        }
        __syncthreads();
        for (int32_t s = 0; s < steps; s++) {
            if (at + s >= job.scored && unit < job.first.stride) {
                T *line = static_cast<T *>(job.operand) +
                          ((size_t)(at + s - job.scored) * walkers + walker) * job.first.stride;
                double scale = 1;
                if (SCALED) scale = scale_of(job.first, chunk.plan, chunk.order[(size_t)order * chunk.length + at + s]);
#pragma unroll
                for (int r = 0; r < ROWS; r++)
                    if (r < rows)
                        write_unit<SUMS>(job.first, unit, scale * sum[r], line + (size_t)r * job.first.stride);
            }
            if (unit < units) add_cells(cell[s], job.first.transposed + unit, job.first.stride, sum);
        }
    }
    for (int r = 0; r < ROWS; r++)
        if (unit < units && r < rows) job.sum[(walker + r) * units + unit] = sum[r];
}

/* ---- rows that go their own ways --------------------------------------------------------------------------------- */

template <typename T, bool SUMS> __global__ void __launch_bounds__(THREADS) walk(const struct walk_job job)
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
    if (job.first.scale) sum *= scale_of(job.first, job.plan, step.target);
    write_unit<SUMS>(job.first, unit, sum, static_cast<T *>(job.operand) + row * job.first.stride);
}

} /* namespace */

template <bool SCALED, bool SUMS>
static void launch_running_sum(const struct sum_job *job, dim3 grid, cudaStream_t stream)
{
    if (job->bf16)
        running_sum<__nv_bfloat16, SCALED, SUMS><<<grid, THREADS, 0, stream>>>(*job);
    else
        running_sum<float, SCALED, SUMS><<<grid, THREADS, 0, stream>>>(*job);
}

extern "C" cudaError_t nd_cuda_running_sum(const struct sum_job *job, cudaStream_t stream)
{
    size_t groups = (size_t)job->chunk.orders * blocks_of((size_t)job->chunk.rows, ROWS);
    dim3 grid(blocks_of((size_t)job->first.stride, THREADS), (unsigned)groups);
    if (groups == 0) return cudaSuccess;
    const bool sums = reads_sum(job->first.activation);
    if (job->first.scale)
        sums ? launch_running_sum<true, true>(job, grid, stream) : launch_running_sum<true, false>(job, grid, stream);
    else
        sums ? launch_running_sum<false, true>(job, grid, stream) : launch_running_sum<false, false>(job, grid, stream);
    return cudaGetLastError();
}

template <bool SUMS> static void launch_walk(const struct walk_job *job, dim3 grid, cudaStream_t stream)
{
    if (job->bf16)
        walk<__nv_bfloat16, SUMS><<<grid, THREADS, 0, stream>>>(*job);
    else
        walk<float, SUMS><<<grid, THREADS, 0, stream>>>(*job);
}

extern "C" cudaError_t nd_cuda_walk(const struct walk_job *job, size_t rows, cudaStream_t stream)
{
    dim3 grid(blocks_of((size_t)job->first.stride, THREADS), (unsigned)rows);
    if (rows == 0) return cudaSuccess;
    if (reads_sum(job->first.activation))
        launch_walk<true>(job, grid, stream);
    else
        launch_walk<false>(job, grid, stream);
    return cudaGetLastError();
}
