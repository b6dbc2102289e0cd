/* Densities of one-layer networks of binary columns, without writing a hidden unit: a warp goes along an order with
 * ROWS rows, whose sums stay in its registers, and takes the dot product with the target's weights at each position. */
#include "backend/cuda/score/cuda_shallow.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/score/cuda_chunk.cuh"

namespace
{

enum { WARPS = 4, ROWS = 2 };

/* What a warp reads for LANES positions at a time, a position a lane. */
struct positions {
    int32_t column, input, output;
    float x[ROWS];
};

__device__ struct positions read_positions(const struct device_chunk &chunk, int32_t order, int32_t position,
                                           int32_t end, int32_t first_row, int32_t rows)
{
    struct positions p = {0, 0, 0, {0}};
    for (int r = 0; r < ROWS; r++) p.x[r] = nanf("");
    if (position >= end) return p;
    p.column = chunk.order[(size_t)order * chunk.length + position];
    p.input = chunk.plan.column[p.column].input;
    p.output = chunk.plan.column[p.column].output;
    for (int r = 0; r < ROWS; r++)
        if (r < rows) p.x[r] = cell_of(chunk, first_row + r, p.column);
    return p;
}

/* A lane has every LANES-th unit; beyond the stride there is nothing to read, up to it there are zeros. */
template <int UNITS>
__device__ __forceinline__ void read_units(const float *weight, int32_t stride, int32_t lane, float to[UNITS])
{
#pragma unroll
    for (int i = 0; i < UNITS; i++) to[i] = lane + i * LANES < stride ? __ldg(weight + lane + i * LANES) : 0.0f;
}

/* Adds one position's cells: factor times weight. */
template <int UNITS>
__device__ __forceinline__ void add_units(const float weight[UNITS], const float factor[ROWS], double sum[ROWS][UNITS])
{
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
        const double w = (double)weight[i];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (factor[r] != 0) sum[r][i] += w; /* a binary cell is 0 or 1 */
    }
}

template <int UNITS>
__device__ __forceinline__ float dot_units(int activation, const float weight[UNITS], const double sum[UNITS])
{
    float total = 0;
#pragma unroll
    for (int i = 0; i < UNITS; i++) total += value_of<false>(activation, (float)sum[i]) * weight[i];
    return warp_sum(total);
}

/* The sums of a warp's rows: from nothing, or from where they were. */
template <int UNITS>
__device__ __forceinline__ void begin_sums(const struct sum_job &job, size_t walker, int32_t rows, int32_t lane,
                                           double sum[ROWS][UNITS])
{
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
        const int32_t unit = lane + i * LANES, units = job.first.units;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            sum[r][i] = 0;
            if (unit >= units || r >= rows) continue;
            sum[r][i] = job.begin == 0 ? (double)job.first.bias[unit * job.first.bias_stride]
                                       : job.sum[(walker + r) * units + unit];
        }
    }
}

template <int UNITS>
__device__ __forceinline__ void keep_sums(const struct sum_job &job, size_t walker, int32_t rows, int32_t lane,
                                          const double sum[ROWS][UNITS])
{
#pragma unroll
    for (int i = 0; i < UNITS; i++) {
        const int32_t unit = lane + i * LANES, units = job.first.units;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (unit < units && r < rows) job.sum[(walker + r) * units + unit] = sum[r][i];
    }
}

/* The warp's rows at one position: their logits, if it is scored; then its cells are observed. */
template <int UNITS>
__device__ __forceinline__ void take_position(const struct sum_job &job, const struct device_lines &lines,
                                              const struct positions &p, bool scored, int32_t lane,
                                              double sum[ROWS][UNITS], float logit[ROWS])
{
    const struct device_first &first = job.first;
    const struct device_plan &plan = job.chunk.plan;
    float weight[UNITS], present[ROWS], one[ROWS];
    bool any_present = false, any_one = false;
    if (scored) {
        read_units<UNITS>(lines.weight + (size_t)p.output * lines.stride, lines.stride, lane, weight);
#pragma unroll
        for (int r = 0; r < ROWS; r++) logit[r] = dot_units<UNITS>(first.activation, weight, sum[r]);
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        present[r] = isnan(p.x[r]) ? 0.0f : 1.0f;
        one[r] = isnan(p.x[r]) ? 0.0f : p.x[r];
        any_present = any_present || present[r] != 0;
        any_one = any_one || one[r] != 0;
    }
    if (any_one) {
        read_units<UNITS>(first.transposed + (size_t)p.input * first.stride, first.stride, lane, weight);
        add_units<UNITS>(weight, one, sum);
    }
    if (any_present && plan.masks && !ND_CUDA_FAULT(FAULT_CUDA_SHALLOW_MASK)) {
        const float *mask = first.transposed + (size_t)(plan.values_width + p.column) * first.stride;
        read_units<UNITS>(mask, first.stride, lane, weight);
        add_units<UNITS>(weight, present, sum);
    }
}

template <int UNITS>
__global__ void __launch_bounds__(WARPS *LANES) shallow_density(const struct sum_job job, const struct line_job lines)
{
    const struct device_chunk &chunk = job.chunk;
    const int32_t lane = threadIdx.x % LANES, groups = (chunk.rows + ROWS - 1) / ROWS;
    const int32_t group = (int32_t)(blockIdx.x * WARPS + threadIdx.x / LANES);
    if (group >= groups * chunk.orders) return;
    const int32_t order = group / groups, first_row = group % groups * ROWS;
    const int32_t rows = min(chunk.rows - first_row, (int32_t)ROWS);
    const size_t walkers = (size_t)chunk.orders * chunk.rows, walker = (size_t)order * chunk.rows + first_row;
    double sum[ROWS][UNITS];
    begin_sums<UNITS>(job, walker, rows, lane, sum);
    for (int32_t at = job.begin; at < job.end; at += LANES) {
        const struct positions own = read_positions(chunk, order, at + lane, job.end, first_row, rows);
        float own_logit[ROWS] = {0};
        for (int32_t s = 0; s < LANES && at + s < job.end; s++) {
            struct positions p;
            float logit[ROWS] = {0};
            p.column = __shfl_sync(all_lanes, own.column, s);
            p.input = __shfl_sync(all_lanes, own.input, s);
            p.output = __shfl_sync(all_lanes, own.output, s);
#pragma unroll
            for (int r = 0; r < ROWS; r++) p.x[r] = __shfl_sync(all_lanes, own.x[r], s);
            take_position<UNITS>(job, lines.lines, p, at + s >= job.scored, lane, sum, logit);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (lane == s) own_logit[r] = logit[r];
        }
        const int32_t position = at + lane;
        if (position < job.scored || position >= job.end) continue;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (r >= rows) continue;
            lines.density[(size_t)(position - job.scored) * walkers + walker + r] =
                isnan(own.x[r]) ? 0.0 : binary_log_density(own_logit[r] + lines.lines.bias[own.output], own.x[r]);
        }
    }
    keep_sums<UNITS>(job, walker, rows, lane, sum);
}

} /* namespace */

extern "C" cudaError_t nd_cuda_shallow_density(const struct sum_job *sums, const struct line_job *lines,
                                               cudaStream_t stream)
{
    const size_t groups = (size_t)sums->chunk.orders * (((size_t)sums->chunk.rows + ROWS - 1) / ROWS);
    const unsigned blocks = (unsigned)((groups + WARPS - 1) / WARPS);
    if (groups == 0) return cudaSuccess;
    if (sums->first.units <= 4 * LANES)
        shallow_density<4><<<blocks, WARPS * LANES, 0, stream>>>(*sums, *lines);
    else if (sums->first.units <= 8 * LANES)
        shallow_density<8><<<blocks, WARPS * LANES, 0, stream>>>(*sums, *lines);
    else if (sums->first.units <= 16 * LANES)
        shallow_density<16><<<blocks, WARPS * LANES, 0, stream>>>(*sums, *lines);
    else
        shallow_density<ND_SHALLOW_UNITS / LANES><<<blocks, WARPS * LANES, 0, stream>>>(*sums, *lines);
    return cudaGetLastError();
}
