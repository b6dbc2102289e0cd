/* Rows, d and observed sets drawn on the device, by the rules of model/draws.h, bit for bit.  A block a row. */
#include "backend/cuda/train/cuda_draws.h"

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/train/cuda_input.cuh"
#include "model/draws.h"

namespace
{

enum { THREADS = 128, BINS = 256 };

struct counts {
    uint32_t bin[BINS];
    uint32_t row, observe;
    uint32_t chosen_bin, before, candidates;
    uint32_t sum;
    uint64_t threshold;
};

/* The sum of every thread's count, for all of them.  counts->sum is zero before and after. */
__device__ uint32_t sum_counts(uint32_t own, struct counts *counts)
{
    for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffffu, own, step);
    if (threadIdx.x % 32 == 0) atomicAdd(&counts->sum, own);
    __syncthreads();
    uint32_t sum = counts->sum;
    __syncthreads();
    if (threadIdx.x == 0) counts->sum = 0;
    __syncthreads();
    return sum;
}

/* The row of the data that a slot of the batch holds. */
__device__ uint32_t row_of_slot(const struct draw_job &job, uint64_t draw, uint32_t slot)
{
    if (job.source == DRAW_TRAIN) return nd_draw_train_row(job.seed, draw, slot, job.cells.rows);
    return job.source == DRAW_VALID ? (job.offset + slot) / job.repeats : job.offset + slot;
}

__device__ uint32_t count_observed(const struct draw_job &job, uint64_t draw, uint32_t slot, uint32_t row,
                                   uint32_t present)
{
    if (job.source == DRAW_TRAIN) return nd_draw_train_observed(job.seed, draw, slot, job.strata, present);
    return nd_draw_valid_observed(job.seed, row, (job.offset + slot) % job.repeats, job.repeats, present);
}

/* keys (columns, whole groups of 4): those of the slot's ordering. */
__device__ void fill_keys(const struct draw_job &job, uint64_t draw, uint32_t slot, uint32_t row, uint32_t *keys)
{
    bool train = job.source == DRAW_TRAIN;
    struct key_source from = {job.seed, PURPOSE_VALID_KEYS, row, 0};
    if (train)
        from = nd_train_keys(job.seed, draw, slot, job.focus);
    else
        from.draw = (job.offset + slot) % job.repeats;
    for (int32_t group = threadIdx.x; group * 4 < job.plan.columns; group += THREADS) {
        struct philox_block block = nd_philox(from.seed, from.purpose, from.draw, from.row, (uint32_t)group);
        reinterpret_cast<uint4 *>(keys)[group] = make_uint4(block.word[0], block.word[1], block.word[2], block.word[3]);
    }
}

/* The bin, by leading byte, that holds the key of rank `rank` among those counted.  One warp. */
__device__ void choose_bin(struct counts *s, uint32_t rank)
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

/* The largest ranked key among the `count` smallest of the present columns (NULL: all are).  A few columns share its
 * leading byte; only those are ranked, each by counting the smaller ones.  bin is zero. */
__device__ uint64_t find_threshold(const uint32_t *keys, const uint8_t *present, int32_t columns, uint32_t count,
                                   uint32_t *candidate, struct counts *s)
{
    for (int32_t c = threadIdx.x; c < columns; c += THREADS)
        if (!present || present[c]) atomicAdd(&s->bin[keys[c] >> 24], 1u);
    __syncthreads();
    if (threadIdx.x < 32) choose_bin(s, count - 1);
    __syncthreads();
    const uint32_t bin = s->chosen_bin, wanted = count - 1 - s->before;
    for (int32_t c = threadIdx.x; c < columns; c += THREADS)
        if (keys[c] >> 24 == bin && (!present || present[c])) candidate[atomicAdd(&s->candidates, 1u)] = (uint32_t)c;
    __syncthreads();
    const uint32_t candidates = s->candidates;
    for (uint32_t i = threadIdx.x; i < candidates; i += THREADS) {
        uint64_t own = nd_ranked_key(keys[candidate[i]], candidate[i]);
        uint32_t smaller = 0;
        for (uint32_t j = 0; j < candidates; j++) smaller += nd_ranked_key(keys[candidate[j]], candidate[j]) < own;
        if (smaller == wanted) s->threshold = own;
    }
    __syncthreads();
    return s->threshold;
}

/* Shared memory: keys and candidates (columns, rounded up to 4), then presence. */
template <typename T> __global__ void __launch_bounds__(THREADS) draw_slot(struct draw_job job)
{
    extern __shared__ uint4 memory[];
    __shared__ struct counts counts;
    const int32_t columns = job.plan.columns, rounded = (columns + 3) / 4 * 4;
    uint32_t *keys = reinterpret_cast<uint32_t *>(memory), *candidate = keys + rounded;
    uint8_t *present = job.cells.complete ? nullptr : reinterpret_cast<uint8_t *>(candidate + rounded);
    const uint32_t slot = blockIdx.x;
    const uint64_t draw = job.source == DRAW_TRAIN ? job.progress->first_draw + job.progress->next + job.offset : 0;
    const uint32_t row = row_of_slot(job, draw, slot);

    for (int32_t i = threadIdx.x; i < BINS; i += THREADS) counts.bin[i] = 0;
    if (threadIdx.x == 0) counts.candidates = counts.sum = 0;
    if (job.source != DRAW_GIVEN) fill_keys(job, draw, slot, row, keys);
    uint32_t own = 0, there = (uint32_t)columns;
    for (int32_t c = threadIdx.x; present && c < columns; c += THREADS)
        own += present[c] = !isnan(cell_at(job.cells, job.plan.columns, row, c));
    __syncthreads();
    if (present) there = sum_counts(own, &counts);
    uint64_t threshold = 0;
    uint32_t observe = job.source == DRAW_GIVEN ? 0 : count_observed(job, draw, slot, row, there);
    if (observe > 0) threshold = find_threshold(keys, present, columns, observe, candidate, &counts);
    if (ND_CUDA_FAULT(FAULT_CUDA_TIES) && threshold > 0) threshold--;

    T *input = static_cast<T *>(job.input) + slot * job.input_stride;
    own = 0;
    for (int32_t c = threadIdx.x; c < columns; c += THREADS) {
        bool is = !present || present[c];
        bool observed = job.source == DRAW_GIVEN ? job.observed[(size_t)row * columns + c] != 0
                                                 : observe > 0 && nd_ranked_key(keys[c], (uint32_t)c) <= threshold;
        observed = observed && is;
        own += is && !observed;
        float x = is ? cell_at(job.cells, job.plan.columns, row, c) : 0.0f;
        write_input(job.plan, ND_CUDA_FAULT(FAULT_CUDA_MASK_SHIFTED) ? (c + 1) % columns : c, x, x, observed, input);
        job.target[(size_t)slot * columns + c] = is && !observed ? x : NAN;
        if (job.drawn_observed) job.drawn_observed[(size_t)slot * columns + c] = observed;
    }
    uint32_t hidden = job.source == DRAW_GIVEN ? sum_counts(own, &counts) : there - observe;
    if (threadIdx.x != 0) return;
    job.weight[slot] = hidden == 0 ? 1.0 : (double)there / hidden;
    if (job.drawn_row) job.drawn_row[slot] = row;
}

/* x[i] = the cell of column first + i, where there is one. */
template <bool VECTORS>
__device__ __forceinline__ void load_cells(const struct draw_job &job, uint32_t row, int32_t first, float *x)
{
    if (VECTORS && job.cells.bytes) {
        size_t at = (size_t)row * job.plan.columns + first;
        uchar4 four = *reinterpret_cast<const uchar4 *>(static_cast<const uint8_t *>(job.cells.data) + at);
        x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (first + i < job.plan.columns) x[i] = cell_at(job.cells, job.plan.columns, row, first + i);
}

template <bool VECTORS, typename T> __device__ __forceinline__ void write_four(T *to, int32_t left, const float *from)
{
    if constexpr (VECTORS) {
        store_four(to, from);
    } else {
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (i < left) to[i] = to_element<T>(from[i]);
    }
}

/* find_threshold for draw_narrow: a thread's keys are those of columns first…first+3.  bin and candidates are zero, and
 * observe is above zero where there is a threshold to find. */
template <int COUNT>
__device__ __forceinline__ void find_narrow_threshold(const struct philox_block &keys, int32_t first, int32_t columns,
                                                      uint32_t observe, uint64_t *candidate, struct counts *s)
{
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (first + i < columns) atomicAdd(&s->bin[keys.word[i] >> 24], 1u);
    __syncthreads();
    if (threadIdx.x < 32 && observe > 0) choose_bin(s, observe - 1);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (observe > 0 && first + i < columns && keys.word[i] >> 24 == s->chosen_bin)
            candidate[atomicAdd(&s->candidates, 1u)] = nd_ranked_key(keys.word[i], first + i);
    __syncthreads();
    for (uint32_t i = threadIdx.x; observe > 0 && i < s->candidates; i += COUNT) {
        uint32_t smaller = 0;
        for (uint32_t j = 0; j < s->candidates; j++) smaller += candidate[j] < candidate[i];
        if (smaller == observe - 1 - s->before) s->threshold = candidate[i];
    }
    __syncthreads();
}

/* A thread's four columns of input and target: those up to the threshold are observed. */
template <typename T, bool VECTORS>
__device__ __forceinline__ void write_narrow(const struct draw_job &job, const struct philox_block &keys, int32_t first,
                                             uint32_t observe, const uint64_t &threshold, const float *x)
{
    const int32_t columns = job.plan.columns;
    const uint32_t slot = blockIdx.x;
    float value[4], mask[4], target[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        bool observed = observe > 0 && nd_ranked_key(keys.word[i], first + i) <= threshold;
        value[i] = observed || ND_CUDA_FAULT(FAULT_CUDA_TARGET_SEEN) ? x[i] : 0.0f;
        mask[i] = observed ? 1.0f : 0.0f;
        target[i] = observed ? NAN : x[i];
        if (job.drawn_observed && first + i < columns)
            job.drawn_observed[(size_t)slot * columns + first + i] = observed;
    }
    T *input = static_cast<T *>(job.input) + slot * job.input_stride;
    write_four<VECTORS>(input + first, columns - first, value);
    if (job.plan.masks) write_four<VECTORS>(input + job.plan.values_width + first, columns - first, mask);
    write_four<VECTORS>(job.target + (size_t)slot * columns + first, columns - first, target);
}

/* The same for complete rows of up to 4·COUNT columns without labels: a thread has four neighbouring columns, whose
 * keys and cells stay in registers.  VECTORS: columns are a multiple of 4. */
template <typename T, int COUNT, bool VECTORS>
__global__ void __launch_bounds__(COUNT, 2048 / COUNT > 16 ? 16 : 2048 / COUNT) draw_narrow(struct draw_job job)
{
    __shared__ struct counts counts;
    __shared__ uint64_t candidate[4 * COUNT];
    const int32_t columns = job.plan.columns, first = threadIdx.x * 4;
    const uint32_t slot = blockIdx.x;
    const bool train = job.source == DRAW_TRAIN;
    const uint32_t offset = ND_CUDA_FAULT(FAULT_CUDA_GRAPH_OFFSET) ? 0 : job.offset;
    const uint64_t draw = train ? job.progress->first_draw + job.progress->next + offset : 0;
    if (threadIdx.x == 0) { /* once for all: random words are most of the work */
        counts.row = row_of_slot(job, draw, slot);
        counts.observe = count_observed(job, draw, slot, counts.row, (uint32_t)columns);
    }
    struct philox_block keys;
    if (train) {
        const struct key_source from = nd_train_keys(job.seed, draw, slot, job.focus);
        keys = nd_philox(from.seed, from.purpose, from.draw, from.row, threadIdx.x);
    }
    for (int32_t i = threadIdx.x; i < BINS; i += COUNT) counts.bin[i] = 0;
    if (threadIdx.x == 0) counts.candidates = 0;
    __syncthreads();
    const uint32_t row = counts.row, observe = counts.observe;
    if (!train) keys = nd_philox(job.seed, PURPOSE_VALID_KEYS, (job.offset + slot) % job.repeats, row, threadIdx.x);
    float x[4] = {0, 0, 0, 0};
    if (first < columns) load_cells<VECTORS>(job, row, first, x);

    find_narrow_threshold<COUNT>(keys, first, columns, observe, candidate, &counts);
    if (threadIdx.x == 0) {
        job.weight[slot] = (double)columns / (columns - observe);
        if (job.drawn_row) job.drawn_row[slot] = row;
    }
    if (first < columns) write_narrow<T, VECTORS>(job, keys, first, observe, counts.threshold, x);
}

template <typename T, int COUNT> cudaError_t launch_narrow(const struct draw_job *job, size_t rows, cudaStream_t stream)
{
    if (job->plan.columns % 4 == 0)
        draw_narrow<T, COUNT, true><<<(unsigned)rows, COUNT, 0, stream>>>(*job);
    else
        draw_narrow<T, COUNT, false><<<(unsigned)rows, COUNT, 0, stream>>>(*job);
    return cudaGetLastError();
}

template <typename T> cudaError_t launch(const struct draw_job *job, size_t rows, cudaStream_t stream)
{
    bool narrow = job->cells.complete && !job->plan.one_hot && job->source != DRAW_GIVEN;
    if (narrow && job->plan.columns <= 128) return launch_narrow<T, 32>(job, rows, stream);
    if (narrow && job->plan.columns <= 512) return launch_narrow<T, 128>(job, rows, stream);
    if (narrow && job->plan.columns <= 1024) return launch_narrow<T, 256>(job, rows, stream);
    size_t rounded = ((size_t)job->plan.columns + 3) / 4 * 4, shared = rounded * (2 * sizeof(uint32_t) + 1);
    if (shared > 40 << 10) {
        cudaError_t error =
            cudaFuncSetAttribute(draw_slot<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
        if (error != cudaSuccess) return error;
    }
    draw_slot<T><<<(unsigned)rows, THREADS, shared, stream>>>(*job);
    return cudaGetLastError();
}

} /* namespace */

extern "C" size_t nd_cuda_draw_columns(const struct device_plan *plan)
{
    return ((size_t)plan->shared_most - sizeof(struct counts)) / (2 * sizeof(uint32_t) + 1) / 4 * 4;
}

extern "C" cudaError_t nd_cuda_draw(const struct draw_job *job, size_t rows, cudaStream_t stream)
{
    if (rows == 0) return cudaSuccess;
    return job->bf16 ? launch<__nv_bfloat16>(job, rows, stream) : launch<float>(job, rows, stream);
}
