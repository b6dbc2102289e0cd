/* A small network's updates in one block; see the header.
 *
 * Rows of a batch, hidden layers and deltas stay in shared memory; weights and moments are read and written where they
 * lie, mostly in the chip's cache.  Of the output layer one column is computed at a time, for the rows alone that have
 * it hidden, about half of them.  Products are tiles of tensor cores, whose operands are rounded to TF32. */
#include "backend/cuda/small/cuda_small_product.cuh"
#include "backend/cuda/small/cuda_small_rows.cuh"
#include "backend/cuda/train/cuda_column_loss.cuh"

namespace
{

/* ---- the hidden layers ------------------------------------------------------------------------------------------- */

struct operand {
    float *values;
    int32_t stride;
};

__device__ __forceinline__ struct operand input_of(const struct small_job &job, const struct small_memory &memory,
                                                   int32_t l)
{
    if (l == 0) return {memory.input, job.layout.input_stride};
    return {hidden_of(job, memory, l - 1), job.layout.hidden_stride};
}

/* Hidden layer l of all rows before its activation, with a one behind its units. */
__device__ __forceinline__ void forward_hidden(const struct small_job &job, const struct small_memory &memory,
                                               int32_t l)
{
    const struct small_layer &layer = job.layer[l];
    const struct operand in = input_of(job, memory, l);
    const int32_t units = layer.rows, stride = job.layout.hidden_stride, weights = layer.stride;
    float *out = hidden_of(job, memory, l);
    auto ending = [=](int32_t n, float x) { return n < units ? x : n == units ? 1.0f : 0.0f; };
    auto same = [](int32_t k) { return k; };
    product(job.layout.rows / TILE_ROWS, tiles_of(units + 1, TILE), tiles_of(layer.columns + 1, TILE),
            rounded_factor(
                in.values, [=](int32_t m) { return m * in.stride; }, same),
            weight_factor(
                layer.weight, [=](int32_t n) { return n * weights; }, same),
            [=](int32_t m, int32_t n, float x, float y) {
                *reinterpret_cast<float2 *>(out + m * stride + n) = make_float2(ending(n, x), ending(n + 1, y));
            });
}

__device__ __forceinline__ void activate(const struct small_job &job, const struct small_memory &memory, int32_t l)
{
    const int32_t stride = job.layout.hidden_stride, units = job.layer[l].rows;
    float *hidden = hidden_of(job, memory, l);
#pragma unroll 1
    for (int32_t i = threadIdx.x; i < job.layout.rows * stride; i += THREADS)
        if (i % stride < units) hidden[i] = rounded(value_of<false>(job.activation, hidden[i]));
}

/* delta of the layer below l, before its activation. */
__device__ __forceinline__ void backward_hidden(const struct small_job &job, const struct small_memory &memory,
                                                int32_t l)
{
    const struct small_layer &layer = job.layer[l];
    const int32_t stride = job.layout.hidden_stride, below = layer.columns, weights = layer.stride;
    const int32_t kind = job.activation;
    const float *hidden = hidden_of(job, memory, l - 1);
    float *to = delta_of(job, memory, l - 1);
    auto same = [](int32_t i) { return i; };
    product(job.layout.rows / TILE_ROWS, tiles_of(below, TILE), tiles_of(layer.rows, TILE),
            rounded_factor(
                delta_of(job, memory, l), [=](int32_t m) { return m * stride; }, same),
            weight_factor(layer.weight, same, [=](int32_t k) { return k * weights; }),
            [=](int32_t m, int32_t n, float x, float y) {
                const int32_t at = m * stride + n;
                const float2 h = *reinterpret_cast<const float2 *>(hidden + at);
                *reinterpret_cast<float2 *>(to + at) =
                    make_float2(n < below ? rounded(x * slope_of<false>(kind, 0, h.x)) : 0.0f,
                                n + 1 < below ? rounded(y * slope_of<false>(kind, 0, h.y)) : 0.0f);
            });
}

/* Hidden layer l's step.  Whether what it leaves is finite. */
template <nade_optimizer OPTIMIZER>
__device__ __forceinline__ bool step_hidden(const struct small_job &job, const struct small_memory &memory,
                                            const struct device_rates &r, int32_t l)
{
    const struct small_layer &layer = job.layer[l];
    const struct operand in = input_of(job, memory, l);
    const int32_t stride = job.layout.hidden_stride;
    auto same = [](int32_t i) { return i; };
    return step_rows<OPTIMIZER>(layer, r, 0, layer.rows, job.layout.rows / TILE,
                                rounded_factor(delta_of(job, memory, l), same, [=](int32_t k) { return k * stride; }),
                                rounded_factor(in.values, same, [=](int32_t k) { return k * in.stride; }));
}

/* ---- the output layer, a column at a time ------------------------------------------------------------------------ */

/* What is known of a column's turn. */
struct turn {
    struct device_column column;
    const uint8_t *listed;
    int32_t count; /* rows that have it hidden */
    float *output; /* (count, output_stride) */
};

__device__ __forceinline__ struct turn turn_of(const struct small_job &job, const struct small_memory &memory,
                                               int32_t c)
{
    return {memory.column[c], memory.listed + c * job.layout.rows, memory.count[c],
            memory.output + c % 2 * job.layout.rows * job.layout.output_stride};
}

/* Outputs of the listed rows, zeros behind them. */
__device__ __forceinline__ void forward_column(const struct small_job &job, const struct small_memory &memory,
                                               const struct turn &turn)
{
    const struct small_layer &layer = job.layer[job.layers];
    const int32_t first = turn.column.output, width = turn.column.output_width, last = layer.rows - 1;
    const int32_t stride = job.layout.hidden_stride, output_stride = job.layout.output_stride;
    const int32_t weights = layer.stride;
    auto same = [](int32_t k) { return k; };
    auto left = rounded_factor(
        hidden_of(job, memory, job.layers - 1), [&](int32_t m) { return turn.listed[m] * stride; }, same);
    auto right = weight_factor(
        layer.weight, [=](int32_t n) { return min(first + n, last) * weights; }, same);
    share_out(tiles_of(turn.count, TILE_ROWS), tiles_of(width, TILE), [&](const struct part &part, auto tiles) {
        constexpr int TILES = decltype(tiles)::value;
        const int32_t n = part.n + 2 * part.place;
        const float2 bias = {layer.bias[min(first + n, last)], layer.bias[min(first + n + 1, last)]};
        float sum[OWN_MOST][4];
        multiply<TILES>(part, tiles_of(layer.columns, TILE), left, right, sum);
#pragma unroll
        for (int i = 0; i < TILES * 2; i++) {
            const int32_t m = row_of(part, i / 2) + i % 2 * 8;
            const float x = sum[i / 2][i % 2 * 2] + bias.x, y = sum[i / 2][i % 2 * 2 + 1] + bias.y;
            if (m < part.rows)
                *reinterpret_cast<float2 *>(turn.output + m * output_stride + n) =
                    make_float2(m < turn.count && n < width ? x : 0.0f, m < turn.count && n + 1 < width ? y : 0.0f);
        }
    });
}

/* Outputs become gradients; losses are added up. */
__device__ __forceinline__ void column_losses(const struct small_job &job, const struct small_memory &memory,
                                              const struct turn &turn, int32_t c)
{
    const struct team team = team_of(job.plan.lanes);
    for (int32_t i = threadIdx.x / team.size; i < turn.count; i += THREADS / team.size) {
        const int32_t slot = turn.listed[i];
        float *output = turn.output + i * job.layout.output_stride;
        const float x = memory.target[slot * job.plan.columns + c];
        const float loss = column_loss(team, job.plan, turn.column, x, memory.factor[slot], output);
        __syncwarp(team.mask);
        for (int32_t o = team.lane; o < turn.column.output_width; o += team.size) output[o] = rounded(output[o]);
        if (team.lane == 0) memory.loss[slot] += (double)loss;
    }
}

/* Adds the column's part to delta of the last hidden layer. */
__device__ __forceinline__ void backward_column(const struct small_job &job, const struct small_memory &memory,
                                                const struct turn &turn)
{
    const struct small_layer &layer = job.layer[job.layers];
    const int32_t first = turn.column.output, last = layer.rows - 1, units = layer.columns;
    const int32_t stride = job.layout.hidden_stride, output_stride = job.layout.output_stride;
    const int32_t weights = layer.stride;
    float *delta = delta_of(job, memory, job.layers - 1);
    auto same = [](int32_t i) { return i; };
    product(tiles_of(turn.count, TILE_ROWS), tiles_of(units, TILE), tiles_of(turn.column.output_width, TILE),
            rounded_factor(
                turn.output, [=](int32_t m) { return m * output_stride; }, same),
            weight_factor(layer.weight, same, [=](int32_t k) { return min(first + k, last) * weights; }),
            [&](int32_t m, int32_t n, float x, float y) {
                if (m >= turn.count) return;
                float *to = delta + turn.listed[m] * stride + n;
                if (n < units) to[0] += x;
                if (n + 1 < units) to[1] += y;
            });
}

template <nade_optimizer OPTIMIZER>
__device__ __forceinline__ bool step_column(const struct small_job &job, const struct small_memory &memory,
                                            const struct device_rates &r, const struct turn &turn)
{
    const int32_t stride = job.layout.hidden_stride, output_stride = job.layout.output_stride;
    auto same = [](int32_t i) { return i; };
    return step_rows<OPTIMIZER>(job.layer[job.layers], r, turn.column.output, turn.column.output_width,
                                tiles_of(turn.count, TILE),
                                rounded_factor(turn.output, same, [=](int32_t k) { return k * output_stride; }),
                                rounded_factor(hidden_of(job, memory, job.layers - 1), same,
                                               [&](int32_t k) { return turn.listed[k] * stride; }));
}

/* Losses, gradients and steps of all outputs; delta of the last hidden layer behind its activation.  A column's step
 * waits until nobody needs its old weights; it is made beside the next column's losses, and the next column is computed
 * forward while this one is backward. */
template <nade_optimizer OPTIMIZER>
__device__ __forceinline__ bool pass_outputs(const struct small_job &job, const struct small_memory &memory,
                                             const struct device_rates &r)
{
    bool finite = true;
    float *delta = delta_of(job, memory, job.layers - 1);
    const int32_t elements = job.layout.rows * job.layout.hidden_stride, columns = job.plan.columns;
    for (int32_t i = threadIdx.x; i < elements; i += THREADS) delta[i] = 0;
    forward_column(job, memory, turn_of(job, memory, 0));
    __syncthreads();
    for (int32_t c = 0; c < columns; c++) {
        const struct turn turn = turn_of(job, memory, c);
        column_losses(job, memory, turn, c);
        if (c > 0) finite &= step_column<OPTIMIZER>(job, memory, r, turn_of(job, memory, c - 1));
        __syncthreads();
        backward_column(job, memory, turn);
        if (c + 1 < columns) forward_column(job, memory, turn_of(job, memory, c + 1));
        __syncthreads();
    }
    finite &= step_column<OPTIMIZER>(job, memory, r, turn_of(job, memory, columns - 1));
    const float *hidden = hidden_of(job, memory, job.layers - 1);
    for (int32_t i = threadIdx.x; i < elements; i += THREADS)
        delta[i] = rounded(delta[i] * slope_of<false>(job.activation, 0, hidden[i]));
    __syncthreads();
    return finite;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* The sum of the slots' losses, in every thread, always in the same order; not finite where one is not. */
__device__ double sum_losses(const struct small_memory &memory, int32_t slots)
{
    double sum = 0;
    for (int32_t slot = threadIdx.x % LANES; slot < slots; slot += LANES)
        sum += memory.loss[slot] * (double)memory.factor[slot];
    return warp_sum(sum);
}

/* Zeros everywhere, what is constant, and ones behind the inputs of so many rows. */
__device__ void clear_memory(const struct small_job &job, const struct small_memory &memory, int32_t slots)
{
    for (int32_t i = threadIdx.x; i < job.layout.bytes / (int32_t)sizeof(float); i += THREADS)
        shared_at<float>(0)[i] = 0;
    __syncthreads();
    for (int32_t c = threadIdx.x; c < job.plan.columns; c += THREADS) memory.column[c] = job.plan.column[c];
    for (int32_t i = threadIdx.x; i < slots; i += THREADS)
        memory.input[i * job.layout.input_stride + job.plan.inputs] = 1;
}

__device__ void pass_hidden(const struct small_job &job, const struct small_memory &memory)
{
    for (int32_t l = 0; l < job.layers; l++) {
        forward_hidden(job, memory, l);
        __syncthreads();
        activate(job, memory, l);
        __syncthreads();
    }
}

/* Whether what the steps left is finite. */
template <nade_optimizer OPTIMIZER>
__device__ __forceinline__ bool pass_hidden_back(const struct small_job &job, const struct small_memory &memory,
                                                 const struct device_rates &r)
{
    bool finite = true;
    for (int32_t l = job.layers - 1; l >= 0; l--) {
        if (l > 0) backward_hidden(job, memory, l);
        __syncthreads();
        finite &= step_hidden<OPTIMIZER>(job, memory, r, l);
        __syncthreads();
    }
    return finite;
}

/* What a block has to do, at hand. */
__device__ void take_job(const struct small_job *job, struct small_job *own)
{
    static_assert(sizeof *job % sizeof(uint32_t) == 0, "a job is words");
    for (size_t i = threadIdx.x; i < sizeof *job / sizeof(uint32_t); i += THREADS)
        reinterpret_cast<uint32_t *>(own)[i] = reinterpret_cast<const uint32_t *>(job)[i];
    __syncthreads();
}

/* A block a job. */
template <nade_optimizer OPTIMIZER>
__global__ void __launch_bounds__(THREADS, 1) small_updates(const struct small_job *jobs)
{
    __shared__ struct small_job job;
    take_job(jobs + blockIdx.x, &job);
    const struct small_memory memory = memory_of(job.layout);
    clear_memory(job, memory, job.batch);
    for (int32_t update = 0; update < job.updates; update++) {
        const struct device_rates r = job.rates[update];
        draw_rows(job, memory, {job.first_draw + update, 0, job.batch, 1 / (double)job.batch});
        pass_hidden(job, memory);
        bool finite = pass_outputs<OPTIMIZER>(job, memory, r);
        const double loss = sum_losses(memory, job.batch);
        finite &= pass_hidden_back<OPTIMIZER>(job, memory, r);
        const bool lost = !isfinite(loss), failed = __syncthreads_or(!finite);
        if (threadIdx.x == 0) job.loss[update] = loss;
        if (lost || failed) {
            if (threadIdx.x == 0) job.progress->failed = update + (lost ? 0 : 1);
            return;
        }
    }
}

/* The sum of the losses of all validation rows under all their draws. */
__global__ void __launch_bounds__(THREADS, 1) small_validation(const struct small_job *jobs)
{
    __shared__ struct small_job job;
    take_job(jobs + blockIdx.x, &job);
    const struct small_memory memory = memory_of(job.layout);
    const uint32_t all = job.cells.rows * job.repeats, rows = job.layout.rows;
    double sum = 0;
    clear_memory(job, memory, job.layout.rows);
    __syncthreads();
    for (uint32_t first = 0; first < all; first += rows) {
        const int32_t count = (int32_t)min(rows, all - first);
        draw_rows(job, memory, {0, first, count, 1});
        pass_hidden(job, memory);
        forward_column(job, memory, turn_of(job, memory, 0));
        for (int32_t c = 0; c < job.plan.columns; c++) {
            __syncthreads();
            column_losses(job, memory, turn_of(job, memory, c), c);
            if (c + 1 < job.plan.columns) forward_column(job, memory, turn_of(job, memory, c + 1));
        }
        __syncthreads();
        sum += sum_losses(memory, count);
        __syncthreads();
    }
    if (threadIdx.x == 0) *job.loss = sum;
}

using small_kernel = void (*)(const struct small_job *);

small_kernel kernel_of(int kind)
{
#define ROW(kind_, name, moments, usual_rate, second)                                                                  \
    case kind_: return small_updates<kind_>;
    switch (kind) {
        ND_OPTIMIZERS(ROW)
    }
#undef ROW
    return small_validation;
}

/* Room for count things; where it begins. */
int32_t take(int32_t *bytes, size_t count, size_t size)
{
    int32_t at = *bytes;
    *bytes += (int32_t)((count * size + 15) / 16 * 16);
    return at;
}

} /* namespace */

extern "C" void nd_small_lay_out(struct small_job *job, int32_t widest_output)
{
    struct small_layout *at = &job->layout;
    int32_t most = 0, bytes = 0;
    for (int32_t l = 0; l < job->layers; l++) most = most < job->layer[l].rows ? job->layer[l].rows : most;
    const size_t units = (size_t)most, batch = (size_t)job->batch, columns = (size_t)job->plan.columns;
    /* Four more than whole tiles: a tile's rows then fall into different banks. */
    auto stride = [](size_t count) { return (int32_t)((count + TILE - 1) / TILE * TILE + 4); };
    const size_t rows = (batch + TILE_ROWS - 1) / TILE_ROWS * TILE_ROWS, layers = (size_t)job->layers;
    at->rows = (int32_t)rows;
    at->input_stride = stride((size_t)job->plan.inputs + 1);
    at->hidden_stride = stride(units + 1);
    at->output_stride = stride((size_t)widest_output);
    const size_t outputs = 2 * rows * (size_t)at->output_stride, keys = rows * ((columns + 3) / 4 * 4);
    at->loss = take(&bytes, rows, sizeof(double));
    at->factor = take(&bytes, rows, sizeof(float));
    at->row = take(&bytes, rows, sizeof(uint32_t));
    at->observed = take(&bytes, rows, sizeof(uint32_t));
    at->present = take(&bytes, rows, sizeof(uint64_t));
    at->column = take(&bytes, columns, sizeof(struct device_column));
    at->input = take(&bytes, rows * (size_t)at->input_stride, sizeof(float));
    at->hidden = take(&bytes, layers * rows * (size_t)at->hidden_stride, sizeof(float));
    at->delta = take(&bytes, (layers > 1 ? 2 : 1) * rows * (size_t)at->hidden_stride, sizeof(float));
    at->output = take(&bytes, outputs > keys ? outputs : keys, sizeof(float));
    at->target = take(&bytes, rows * columns, sizeof(float));
    at->count = take(&bytes, columns, sizeof(int32_t));
    at->listed = take(&bytes, columns * rows, 1);
    /* Tiles of 16 units or outputs may reach that far behind a row of 8: what they find there is not used. */
    take(&bytes, TILE_ROWS, sizeof(float));
    at->bytes = bytes;
}

extern "C" cudaError_t nd_cuda_small_load(int kind, int32_t shared_most)
{
    cudaFuncAttributes compiled;
    cudaError_t error = cudaFuncGetAttributes(&compiled, kernel_of(kind));
    if (error != cudaSuccess) return error;
    return cudaFuncSetAttribute(kernel_of(kind), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                shared_most - (int)compiled.sharedSizeBytes);
}

extern "C" cudaError_t nd_cuda_small_jobs(const struct small_job *jobs, size_t count, int kind, int32_t shared,
                                          cudaStream_t stream)
{
    kernel_of(kind)<<<(unsigned)count, THREADS, shared, stream>>>(jobs);
    return cudaGetLastError();
}
