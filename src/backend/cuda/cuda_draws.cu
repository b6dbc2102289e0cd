/* Rows, d and observed sets drawn on the device, by the rules of model/draws.h, bit for bit. */
#include <cuda_bf16.h>

#include "backend/cuda/cuda_device.cuh"
#include "model/draws.h"

namespace
{

enum { THREADS = 128, BINS = 256 };

struct shared_counts {
    uint32_t bin[BINS];
    uint32_t chosen_bin, before, candidates;
    uint64_t threshold;
};

__device__ float load_cell(const struct draw_job &job, uint32_t row, int32_t column)
{
    size_t at = (size_t)row * job.plan.columns + column;
    if (!job.cells.bytes) return static_cast<const float *>(job.cells.data)[at];
    uint8_t byte = static_cast<const uint8_t *>(job.cells.data)[at];
    return byte == 255 ? NAN : (float)byte;
}

/* The row of the data that a slot of the batch holds. */
__device__ uint32_t row_of_slot(const struct draw_job &job, uint64_t draw, uint32_t slot)
{
    if (job.source == DRAW_TRAIN) return nd_draw_train_row(job.seed, draw, slot, job.cells.rows);
    return job.source == DRAW_VALID ? (job.offset + slot) / job.repeats : job.offset + slot;
}

/* keys (columns, 4 at a time): those of the slot's ordering. */
__device__ void fill_keys(const struct draw_job &job, uint64_t draw, uint32_t slot, uint32_t row, uint32_t *keys)
{
    bool train = job.source == DRAW_TRAIN;
    uint32_t purpose = train ? PURPOSE_TRAIN_KEYS : PURPOSE_VALID_KEYS, of = train ? slot : row;
    uint64_t number = train ? draw : (job.offset + slot) % job.repeats;
    for (int32_t group = threadIdx.x; group * 4 < job.plan.columns; group += THREADS) {
        struct philox_block block = nd_philox(job.seed, purpose, number, of, (uint32_t)group);
        reinterpret_cast<uint4 *>(keys)[group] = make_uint4(block.word[0], block.word[1], block.word[2], block.word[3]);
    }
}

__device__ uint32_t count_observed(const struct draw_job &job, uint64_t draw, uint32_t slot, uint32_t row,
                                   uint32_t present)
{
    if (job.source == DRAW_TRAIN) return nd_draw_train_observed(job.seed, draw, slot, present);
    return nd_draw_valid_observed(job.seed, row, (job.offset + slot) % job.repeats, job.repeats, present);
}

/* The bin, by leading byte, that holds the key of rank `rank` among those counted.  One warp. */
__device__ void choose_bin(struct shared_counts *s, uint32_t rank)
{
    const uint32_t lane = threadIdx.x, each = BINS / 32;
    uint32_t own = 0;
    for (uint32_t i = 0; i < each; i++) own += s->bin[lane * each + i];
    uint32_t upto = own;
    for (uint32_t step = 1; step < 32; step *= 2) {
        uint32_t other = __shfl_up_sync(0xffffffffu, upto, step);
        if (lane >= step) upto += other;
    }
    uint32_t before = upto - own;
    if (before > rank || rank >= upto) return; /* exactly one lane goes on */
    uint32_t bin = lane * each;
    while (before + s->bin[bin] <= rank) before += s->bin[bin++];
    s->chosen_bin = bin;
    s->before = before;
}

/* The largest ranked key among the `count` smallest of the present columns.  A few columns share its leading byte;
 * only those are ranked, each by counting the smaller ones. */
__device__ uint64_t find_threshold(const uint32_t *keys, const uint8_t *present, int32_t columns, uint32_t count,
                                   uint32_t *candidate, struct shared_counts *s)
{
    for (int32_t i = threadIdx.x; i < BINS; i += THREADS) s->bin[i] = 0;
    if (threadIdx.x == 0) s->candidates = 0;
    __syncthreads();
    for (int32_t c = threadIdx.x; c < columns; c += THREADS)
        if (present[c]) atomicAdd(&s->bin[keys[c] >> 24], 1u);
    __syncthreads();
    if (threadIdx.x < 32) choose_bin(s, count - 1);
    __syncthreads();
    for (int32_t c = threadIdx.x; c < columns; c += THREADS)
        if (present[c] && keys[c] >> 24 == s->chosen_bin) candidate[atomicAdd(&s->candidates, 1u)] = (uint32_t)c;
    __syncthreads();
    uint32_t wanted = count - 1 - s->before, candidates = s->candidates;
    for (uint32_t i = threadIdx.x; i < candidates; i += THREADS) {
        uint64_t own = nd_ranked_key(keys[candidate[i]], candidate[i]);
        uint32_t smaller = 0;
        for (uint32_t j = 0; j < candidates; j++) smaller += nd_ranked_key(keys[candidate[j]], candidate[j]) < own;
        if (smaller == wanted) s->threshold = own;
    }
    __syncthreads();
    return s->threshold;
}

/* Writes a column's part of the input: its value and its mask, zero where it is not observed. */
template <typename T>
__device__ void write_input(const struct draw_job &job, int32_t c, float x, bool observed, T *input)
{
    const struct device_column column = job.plan.column[c];
    if (column.type == NADE_CATEGORICAL)
        for (int32_t v = 0; v < column.input_width; v++)
            input[column.input + v] = to_element<T>(observed && v == (int32_t)x ? 1.0f : 0.0f);
    else
        input[column.input] = to_element<T>(observed ? x : 0.0f);
    if (job.plan.masks) input[job.plan.values_width + c] = to_element<T>(observed ? 1.0f : 0.0f);
}

/* A block a slot.  Shared memory: keys and candidates (columns, rounded up to 4), then presence. */
template <typename T> __global__ void __launch_bounds__(THREADS) draw_slot(struct draw_job job)
{
    extern __shared__ uint4 memory[];
    __shared__ struct shared_counts counts;
    const int32_t columns = job.plan.columns, rounded = (columns + 3) / 4 * 4;
    uint32_t *keys = reinterpret_cast<uint32_t *>(memory), *candidate = keys + rounded;
    uint8_t *present = reinterpret_cast<uint8_t *>(candidate + rounded);
    const uint32_t slot = blockIdx.x;
    const uint64_t draw = job.source == DRAW_TRAIN ? job.progress->first_draw + job.progress->next + job.offset : 0;
    const uint32_t row = row_of_slot(job, draw, slot);

    uint32_t there = 0;
    for (int32_t first = 0; first < columns; first += THREADS) {
        int32_t c = first + threadIdx.x;
        bool is = c < columns && !isnan(load_cell(job, row, c));
        if (c < columns) present[c] = is;
        there += __syncthreads_count(is);
    }
    uint64_t threshold = 0;
    uint32_t observe = 0;
    if (job.source != DRAW_GIVEN) {
        fill_keys(job, draw, slot, row, keys);
        observe = count_observed(job, draw, slot, row, there);
        if (observe > 0) threshold = find_threshold(keys, present, columns, observe, candidate, &counts);
    }

    T *input = static_cast<T *>(job.input) + slot * job.input_stride;
    uint32_t hidden = 0;
    for (int32_t first = 0; first < columns; first += THREADS) {
        int32_t c = first + threadIdx.x;
        bool is_hidden = false;
        if (c < columns) {
            bool observed = job.source == DRAW_GIVEN ? job.observed[(size_t)row * columns + c] != 0
                                                     : observe > 0 && nd_ranked_key(keys[c], (uint32_t)c) <= threshold;
            observed = observed && present[c];
            is_hidden = present[c] && !observed;
            float x = present[c] ? load_cell(job, row, c) : 0.0f;
            write_input(job, c, x, observed, input);
            job.target[(size_t)slot * columns + c] = is_hidden ? x : NAN;
            if (job.drawn_observed) job.drawn_observed[(size_t)slot * columns + c] = observed;
        }
        hidden += __syncthreads_count(is_hidden);
    }
    if (threadIdx.x != 0) return;
    job.weight[slot] = hidden == 0 ? 1.0 : (double)there / hidden;
    if (job.drawn_row) job.drawn_row[slot] = row;
}

template <typename T> cudaError_t launch(const struct draw_job *job, size_t rows, cudaStream_t stream)
{
    size_t rounded = ((size_t)job->plan.columns + 3) / 4 * 4, shared = rounded * (2 * sizeof(uint32_t) + 1);
    if (shared > 48 << 10) {
        cudaError_t error =
            cudaFuncSetAttribute(draw_slot<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess) return error;
    }
    draw_slot<T><<<(unsigned)rows, THREADS, shared, stream>>>(*job);
    return cudaGetLastError();
}

} /* namespace */

extern "C" cudaError_t nd_cuda_draw(const struct draw_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->half ? launch<__nv_bfloat16>(job, rows, stream) : launch<float>(job, rows, stream);
}
