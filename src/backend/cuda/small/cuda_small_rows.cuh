/* The rows of a batch of a small network, drawn by its block: by the rules of model/draws.h, bit for bit. */
#ifndef ND_BACKEND_CUDA_SMALL_ROWS_CUH
#define ND_BACKEND_CUDA_SMALL_ROWS_CUH

#include "backend/cuda/small/cuda_small_memory.cuh"
#include "backend/cuda/train/cuda_input.cuh"
#include "model/draws.h"

namespace
{

__device__ uint64_t present_cells(const struct small_job &job, uint32_t row)
{
    uint64_t present = 0;
    for (int32_t c = 0; c < job.plan.columns; c++)
        if (!isnan(cell_at(job.cells, job.plan.columns, row, c))) present |= (uint64_t)1 << c;
    return present;
}

/* Which rows the slots hold. */
struct drawing {
    uint64_t draw;  /* training: the number of the draw */
    uint32_t first; /* validation: the place of slot 0 among all rows' repeats */
    int32_t count;  /* slots */
    double scale;   /* of the losses besides present / hidden cells */
};

/* Which row each slot holds, how much of it is observed.  A thread a slot. */
__device__ void draw_slots(const struct small_job &job, const struct small_memory &memory,
                           const struct drawing &drawing)
{
    const bool train = job.repeats == 0;
    for (int32_t slot = threadIdx.x; slot < drawing.count; slot += THREADS) {
        const uint32_t place = drawing.first + slot;
        const uint32_t row =
            train ? nd_draw_train_row(job.seed, drawing.draw, slot, job.cells.rows) : place / job.repeats;
        uint32_t there = job.plan.columns;
        if (!job.cells.complete) {
            memory.present[slot] = present_cells(job, row);
            there = __popcll(memory.present[slot]);
        }
        const uint32_t observed = train
                                      ? nd_draw_train_observed(job.seed, drawing.draw, slot, job.strata, there)
                                      : nd_draw_valid_observed(job.seed, row, place % job.repeats, job.repeats, there);
        memory.row[slot] = row;
        memory.observed[slot] = observed;
        memory.factor[slot] = there == observed ? 0.0f : (float)((double)there / (there - observed) * drawing.scale);
        memory.loss[slot] = 0;
    }
}

/* keys (count, 4·groups).  A thread four columns of a slot. */
__device__ void draw_keys(const struct small_job &job, const struct drawing &drawing, int32_t groups, uint4 *keys)
{
    for (int32_t i = threadIdx.x; i < drawing.count * groups; i += THREADS) {
        const uint32_t slot = i / groups, place = drawing.first + slot;
        const bool train = job.repeats == 0;
        struct key_source from = {job.seed, PURPOSE_VALID_KEYS, place, 0};
        if (train) {
            from = nd_train_keys(job.seed, drawing.draw, slot, job.focus);
        } else {
            from.row = place / job.repeats;
            from.draw = place % job.repeats;
        }
        struct philox_block block = nd_philox(from.seed, from.purpose, from.draw, from.row, i % groups);
        keys[i] = make_uint4(block.word[0], block.word[1], block.word[2], block.word[3]);
    }
}

/* Whether a cell that is there is among the first of its slot's ordering. */
__device__ bool is_observed(const struct small_job &job, const uint32_t *keys, uint64_t present, uint32_t observed,
                            int32_t c)
{
    const uint64_t own = nd_ranked_key(keys[c], c);
    uint32_t smaller = 0;
    for (int32_t other = 0; other < job.plan.columns; other++)
        smaller += (present >> other & 1) && nd_ranked_key(keys[other], other) < own;
    return smaller < observed;
}

/* Inputs and targets.  A thread a cell. */
__device__ void fill_cells(const struct small_job &job, const struct small_memory &memory, int32_t count,
                           int32_t groups, const uint32_t *keys)
{
    const int32_t columns = job.plan.columns;
    for (int32_t i = threadIdx.x; i < count * columns; i += THREADS) {
        const int32_t slot = i / columns, c = i % columns;
        const uint64_t present = job.cells.complete ? ~(uint64_t)0 : memory.present[slot];
        const bool is = present >> c & 1;
        const float x = is ? cell_at(job.cells, columns, memory.row[slot], c) : 0.0f;
        const bool observed = is && is_observed(job, keys + slot * groups * 4, present, memory.observed[slot], c);
        write_input(job.plan, c, x, rounded(x), observed, memory.input + slot * job.layout.input_stride);
        memory.target[i] = is && !observed ? x : NAN;
    }
}

/* Lists for each column the rows that have it hidden.  A warp a column. */
__device__ void list_rows(const struct small_job &job, const struct small_memory &memory, int32_t slots)
{
    const int32_t columns = job.plan.columns, lane = threadIdx.x % LANES;
    for (int32_t c = threadIdx.x / LANES; c < columns; c += WARPS) {
        uint8_t *listed = memory.listed + c * job.layout.rows;
        int32_t count = 0;
        for (int32_t first = 0; first < slots; first += LANES) {
            const int32_t slot = first + lane;
            const bool hidden = slot < slots && !isnan(memory.target[slot * columns + c]);
            const uint32_t all = __ballot_sync(all_lanes, hidden);
            if (hidden) listed[count + __popc(all & ((1u << lane) - 1))] = (uint8_t)slot;
            count += __popc(all);
        }
        for (int32_t i = count + lane; i < job.layout.rows; i += LANES) listed[i] = 0;
        if (lane == 0) memory.count[c] = count;
    }
}

__device__ void draw_rows(const struct small_job &job, const struct small_memory &memory, const struct drawing &drawing)
{
    const int32_t groups = (job.plan.columns + 3) / 4;
    uint32_t *keys = reinterpret_cast<uint32_t *>(memory.output);
    draw_slots(job, memory, drawing);
    draw_keys(job, drawing, groups, reinterpret_cast<uint4 *>(keys));
    __syncthreads();
    fill_cells(job, memory, drawing.count, groups, keys);
    __syncthreads();
    list_rows(job, memory, drawing.count);
    __syncthreads();
}

} /* namespace */

#endif
