/* A small network's updates in one block; see the header.
 *
 * Rows of a batch, hidden layers and deltas stay in shared memory; weights and moments are read and written where they
 * lie, mostly in the chip's cache.  Of the output layer one column is computed at a time, for the rows alone that have
 * it hidden, about half of them.  Products are tiles of tensor cores, whose operands are rounded to TF32. */
#include <cuda/std/type_traits>

#include "backend/cuda/cuda_draw.cuh"
#include "backend/cuda/cuda_head.cuh"
#include "backend/cuda/cuda_small.h"
#include "backend/cuda/cuda_step.cuh"
#include "model/draws.h"

namespace
{

enum { THREADS = 512, WARPS = THREADS / LANES, TILE_ROWS = 16, TILE = 8 };

/* Shared memory by names.  Where there are several of a kind, they follow one another. */
struct room {
    double *loss;                 /* (rows) */
    float *factor;                /* (rows): present / hidden cells / batch */
    uint32_t *row, *observed;     /* (rows): which row of the table, how many cells of it are observed */
    uint64_t *present;            /* (rows): a bit a column; only where cells are missing */
    struct device_column *column; /* (columns) */
    float *input;                 /* (rows, input_stride) */
    float *hidden;                /* (layers, rows, hidden_stride) */
    float *delta;                 /* (2, rows, hidden_stride): layer l has number l % 2 */
    float *output;                /* (2, rows, output_stride): column c has number c % 2.  Keys while rows are drawn */
    float *target;                /* (rows, columns) */
    uint8_t *listed;              /* (columns, rows): the rows that have a column hidden, then zeros */
    int32_t *count;               /* (columns): how many */
};

template <typename T> __device__ __forceinline__ T *shared_at(int32_t bytes)
{
    extern __shared__ double memory[];
    return reinterpret_cast<T *>(reinterpret_cast<unsigned char *>(memory) + bytes);
}

__device__ __forceinline__ struct room room_of(const struct small_layout &at)
{
    return {
        shared_at<double>(at.loss),       shared_at<float>(at.factor),     shared_at<uint32_t>(at.row),
        shared_at<uint32_t>(at.observed), shared_at<uint64_t>(at.present), shared_at<struct device_column>(at.column),
        shared_at<float>(at.input),       shared_at<float>(at.hidden),     shared_at<float>(at.delta),
        shared_at<float>(at.output),      shared_at<float>(at.target),     shared_at<uint8_t>(at.listed),
        shared_at<int32_t>(at.count)};
}

__device__ __forceinline__ float *hidden_of(const struct small_job &job, const struct room &room, int32_t l)
{
    return room.hidden + l * job.layout.rows * job.layout.hidden_stride;
}

__device__ __forceinline__ float *delta_of(const struct small_job &job, const struct room &room, int32_t l)
{
    return room.delta + l % 2 * job.layout.rows * job.layout.hidden_stride;
}

__device__ __forceinline__ uint32_t tf32(float x)
{
    uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
    return rounded;
}

__device__ __forceinline__ float rounded(float x)
{
    return __uint_as_float(tf32(x));
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

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
__device__ void draw_slots(const struct small_job &job, const struct room &room, const struct drawing &drawing)
{
    const bool train = job.repeats == 0;
    for (int32_t slot = threadIdx.x; slot < drawing.count; slot += THREADS) {
        const uint32_t place = drawing.first + slot;
        const uint32_t row =
            train ? nd_draw_train_row(job.seed, drawing.draw, slot, job.cells.rows) : place / job.repeats;
        uint32_t there = job.plan.columns;
        if (!job.cells.complete) {
            room.present[slot] = present_cells(job, row);
            there = __popcll(room.present[slot]);
        }
        const uint32_t observed = train
                                      ? nd_draw_train_observed(job.seed, drawing.draw, slot, there)
                                      : nd_draw_valid_observed(job.seed, row, place % job.repeats, job.repeats, there);
        room.row[slot] = row;
        room.observed[slot] = observed;
        room.factor[slot] = there == observed ? 0.0f : (float)((double)there / (there - observed) * drawing.scale);
        room.loss[slot] = 0;
    }
}

/* keys (count, 4·groups).  A thread four columns of a slot. */
__device__ void draw_keys(const struct small_job &job, const struct drawing &drawing, int32_t groups, uint4 *keys)
{
    for (int32_t i = threadIdx.x; i < drawing.count * groups; i += THREADS) {
        const uint32_t slot = i / groups, place = drawing.first + slot;
        const bool train = job.repeats == 0;
        const uint32_t purpose = train ? PURPOSE_TRAIN_KEYS : PURPOSE_VALID_KEYS;
        const uint64_t number = train ? drawing.draw : place % job.repeats;
        struct philox_block block =
            nd_philox(job.seed, purpose, number, train ? slot : place / job.repeats, i % groups);
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
__device__ void fill_cells(const struct small_job &job, const struct room &room, int32_t count, int32_t groups,
                           const uint32_t *keys)
{
    const int32_t columns = job.plan.columns;
    for (int32_t i = threadIdx.x; i < count * columns; i += THREADS) {
        const int32_t slot = i / columns, c = i % columns;
        const uint64_t present = job.cells.complete ? ~(uint64_t)0 : room.present[slot];
        const bool is = present >> c & 1;
        const float x = is ? cell_at(job.cells, columns, room.row[slot], c) : 0.0f;
        const bool observed = is && is_observed(job, keys + slot * groups * 4, present, room.observed[slot], c);
        write_input(job.plan, c, rounded(x), observed, room.input + slot * job.layout.input_stride);
        room.target[i] = is && !observed ? x : NAN;
    }
}

/* Lists for each column the rows that have it hidden.  A warp a column. */
__device__ void list_rows(const struct small_job &job, const struct room &room, int32_t slots)
{
    const int32_t columns = job.plan.columns, lane = threadIdx.x % LANES;
    for (int32_t c = threadIdx.x / LANES; c < columns; c += WARPS) {
        uint8_t *listed = room.listed + c * job.layout.rows;
        int32_t count = 0;
        for (int32_t first = 0; first < slots; first += LANES) {
            const int32_t slot = first + lane;
            const bool hidden = slot < slots && !isnan(room.target[slot * columns + c]);
            const uint32_t all = __ballot_sync(all_lanes, hidden);
            if (hidden) listed[count + __popc(all & ((1u << lane) - 1))] = (uint8_t)slot;
            count += __popc(all);
        }
        for (int32_t i = count + lane; i < job.layout.rows; i += LANES) listed[i] = 0;
        if (lane == 0) room.count[c] = count;
    }
}

__device__ void draw_rows(const struct small_job &job, const struct room &room, const struct drawing &drawing)
{
    const int32_t groups = (job.plan.columns + 3) / 4;
    uint32_t *keys = reinterpret_cast<uint32_t *>(room.output);
    draw_slots(job, room, drawing);
    draw_keys(job, drawing, groups, reinterpret_cast<uint4 *>(keys));
    __syncthreads();
    fill_cells(job, room, drawing.count, groups, keys);
    __syncthreads();
    list_rows(job, room, drawing.count);
    __syncthreads();
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* sum += left (16, 8) · right (8, 8), each lane with its elements of them. */
__device__ __forceinline__ void multiply_add(float (&sum)[4], const uint32_t (&left)[4], const uint32_t (&right)[2])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/* One factor of a product: the element of line i at step k is values[line(i) + step(k)].  ROUNDED: they are TF32
 * already.  What lies in shared memory is rounded when it is written, which is once; weights when they are read. */
template <bool ROUNDED, typename Line, typename Step> struct factor {
    const float *values;
    Line line;
    Step step;

    __device__ __forceinline__ uint32_t at(int32_t place) const
    {
        return ROUNDED ? __float_as_uint(values[place]) : tf32(values[place]);
    }
};

template <typename Line, typename Step>
__device__ __forceinline__ struct factor<true, Line, Step> rounded_factor(const float *values, Line line, Step step) {
    return {values, line, step};
}

template <typename Line, typename Step>
__device__ __forceinline__ struct factor<false, Line, Step> weight_factor(const float *values, Line line, Step step) {
    return {values, line, step};
}

/* A warp's part of a product: eight columns of every second tile of rows. */
enum {
    SPLIT = 2,
    OWN_MOST = ND_SMALL_BATCH / TILE_ROWS / SPLIT
};

struct part {
    int32_t rows;  /* of the whole product, in whole tiles */
    int32_t first; /* 0 or 1: its first tile of rows */
    int32_t n;     /* its first column */
    int32_t group, place;
};

__device__ __forceinline__ int32_t row_of(const struct part &part, int i)
{
    return (part.first + i * SPLIT) * TILE_ROWS + part.group;
}

/* sum = left (rows, 8·steps) · right (8·steps, columns) for so many tiles, of which the last may lie behind the
 * product; left's lines are rows, right's columns.  No branch stands between the loads, so that many of them are under
 * way at a time. */
template <int TILES, typename Left, typename Right>
__device__ __forceinline__ void multiply(const struct part &part, int32_t steps, const Left &left, const Right &right,
                                         float (&sum)[OWN_MOST][4])
{
    int32_t row[TILES][2];
    const int32_t column = right.line(part.n + part.group);
#pragma unroll
    for (int i = 0; i < TILES; i++) {
        row[i][0] = left.line(min(row_of(part, i), part.rows - 1));
        row[i][1] = left.line(min(row_of(part, i) + 8, part.rows - 1));
        for (int e = 0; e < 4; e++) sum[i][e] = 0;
    }
    constexpr int TOGETHER = TILES > 2 ? 2 : 4;
    for (int32_t first = 0; first < steps; first += TOGETHER) {
#pragma unroll
        for (int s = 0; s < TOGETHER; s++) {
            const bool there = first + s < steps;
            const int32_t k = (there ? first + s : first) * TILE + part.place;
            const int32_t left0 = left.step(k), left1 = left.step(k + 4);
            const uint32_t right0 = right.at(column + right.step(k)), right1 = right.at(column + right.step(k + 4));
            const uint32_t r[2] = {there ? right0 : 0, there ? right1 : 0};
#pragma unroll
            for (int i = 0; i < TILES; i++) {
                const uint32_t l[4] = {left.at(row[i][0] + left0), left.at(row[i][1] + left0),
                                       left.at(row[i][0] + left1), left.at(row[i][1] + left1)};
                multiply_add(sum[i], l, r);
            }
        }
    }
}

/* Calls work(part, tiles) for each part of a product that is the warp's, where tiles is a type whose value is how many
 * it has at most.  Two types are enough: more of them are more code than the chip keeps at hand. */
template <typename Work>
__device__ __forceinline__ void share_out(int32_t row_tiles, int32_t column_tiles, const Work &work)
{
    const int32_t lane = threadIdx.x % LANES;
    for (int32_t task = threadIdx.x / LANES; task < column_tiles * SPLIT; task += WARPS) {
        const struct part part = {row_tiles * TILE_ROWS, task % SPLIT, task / SPLIT * TILE, lane / 4, lane % 4};
        const int32_t own = (row_tiles - part.first + SPLIT - 1) / SPLIT;
        if (own > 2)
            work(part, cuda::std::integral_constant<int, OWN_MOST>());
        else if (own > 0)
            work(part, cuda::std::integral_constant<int, 2>());
    }
}

/* put(m, n, x, y) takes the elements (m, n) and (m, n + 1) of the product. */
template <typename Left, typename Right, typename Put>
__device__ __forceinline__ void product(int32_t row_tiles, int32_t column_tiles, int32_t steps, const Left &left,
                                        const Right &right, const Put &put)
{
    share_out(row_tiles, column_tiles, [&](const struct part &part, auto tiles) {
        constexpr int TILES = decltype(tiles)::value;
        float sum[OWN_MOST][4];
        multiply<TILES>(part, steps, left, right, sum);
#pragma unroll
        for (int i = 0; i < TILES; i++) {
            if (row_of(part, i) >= part.rows) break;
            put(row_of(part, i), part.n + 2 * part.place, sum[i][0], sum[i][1]);
            put(row_of(part, i) + 8, part.n + 2 * part.place, sum[i][2], sum[i][3]);
        }
    });
}

__device__ __forceinline__ int32_t tiles_of(int32_t count, int32_t size)
{
    return (count + size - 1) / size;
}

/* ---- gradients and steps ----------------------------------------------------------------------------------------- */

/* Two neighbours in a row of a layer with their moments. */
struct pair {
    float2 weight, moment1, moment2;
};

/* The bias of a row.  Whether what is left is finite. */
template <bool ADAM>
__device__ __noinline__ bool step_bias(const struct small_layer &layer, const struct device_rates &r, int32_t row,
                                       float gradient)
{
    const size_t at = row * layer.bias_stride;
    float unused = 0;
    layer.bias[at] =
        take_step<ADAM>(r, 0, gradient, layer.bias[at], &layer.bias1[at], ADAM ? &layer.bias2[at] : &unused);
    return isfinite(layer.bias[at]);
}

/* The last weight of a row where it has no neighbour on its right but the bias. */
template <bool ADAM>
__device__ __noinline__ bool step_single(const struct small_layer &layer, const struct device_rates &r, size_t at,
                                         float gradient)
{
    float unused = 0;
    layer.weight[at] = take_step<ADAM>(r, r.decay, gradient, layer.weight[at], &layer.moment1[at],
                                       ADAM ? &layer.moment2[at] : &unused);
    return isfinite(layer.weight[at]);
}

/* Moves the parameters of rows first…first+rows-1 of a layer by the gradient left · right, whose column behind the
 * weights is the bias's.  What is to be moved is read before the gradient is computed.  Whether what is left is
 * finite. */
template <bool ADAM, typename Left, typename Right>
__device__ __forceinline__ bool step_rows(const struct small_layer &layer, const struct device_rates &r, int32_t first,
                                          int32_t rows, int32_t steps, const Left &left, const Right &right)
{
    const int32_t columns = layer.columns;
    bool finite = true;
    share_out(tiles_of(rows, TILE_ROWS), tiles_of(columns + 1, TILE), [&](const struct part &part, auto tiles) {
        constexpr int TILES = decltype(tiles)::value;
        const int32_t column = part.n + 2 * part.place;
        const bool both = column + 1 < columns;
        float sum[OWN_MOST][4];
        struct pair kept[TILES][2];
        auto at = [&](int i, int half) { return (size_t)(first + row_of(part, i) + 8 * half) * layer.stride + column; };
#pragma unroll
        for (int i = 0; i < TILES * 2; i++) {
            if (!both || row_of(part, i / 2) + i % 2 * 8 >= rows) continue;
            kept[i / 2][i % 2].weight = *reinterpret_cast<const float2 *>(layer.weight + at(i / 2, i % 2));
            kept[i / 2][i % 2].moment1 = *reinterpret_cast<const float2 *>(layer.moment1 + at(i / 2, i % 2));
            if (ADAM) kept[i / 2][i % 2].moment2 = *reinterpret_cast<const float2 *>(layer.moment2 + at(i / 2, i % 2));
        }
        multiply<TILES>(part, steps, left, right, sum);
#pragma unroll
        for (int i = 0; i < TILES * 2; i++) {
            const int32_t row = row_of(part, i / 2) + i % 2 * 8;
            const size_t place = at(i / 2, i % 2);
            const float gx = sum[i / 2][i % 2 * 2], gy = sum[i / 2][i % 2 * 2 + 1];
            struct pair p = kept[i / 2][i % 2];
            if (row >= rows || column > columns) continue;
            if (!both) {
                if (column < columns) finite &= step_single<ADAM>(layer, r, place, gx);
                finite &= step_bias<ADAM>(layer, r, first + row, column < columns ? gy : gx);
                continue;
            }
            p.weight.x = take_step<ADAM>(r, r.decay, gx, p.weight.x, &p.moment1.x, &p.moment2.x);
            p.weight.y = take_step<ADAM>(r, r.decay, gy, p.weight.y, &p.moment1.y, &p.moment2.y);
            finite &= isfinite(p.weight.x) && isfinite(p.weight.y);
            *reinterpret_cast<float2 *>(layer.weight + place) = p.weight;
            *reinterpret_cast<float2 *>(layer.moment1 + place) = p.moment1;
            if (ADAM) *reinterpret_cast<float2 *>(layer.moment2 + place) = p.moment2;
        }
    });
    return finite;
}

/* ---- the hidden layers ------------------------------------------------------------------------------------------- */

struct operand {
    float *values;
    int32_t stride;
};

__device__ __forceinline__ struct operand input_of(const struct small_job &job, const struct room &room, int32_t l)
{
    if (l == 0) return {room.input, job.layout.input_stride};
    return {hidden_of(job, room, l - 1), job.layout.hidden_stride};
}

/* Hidden layer l of all rows before its activation, with a one behind its units. */
__device__ __forceinline__ void forward_hidden(const struct small_job &job, const struct room &room, int32_t l)
{
    const struct small_layer &layer = job.layer[l];
    const struct operand in = input_of(job, room, l);
    const int32_t units = layer.rows, stride = job.layout.hidden_stride, weights = layer.stride;
    float *out = hidden_of(job, room, l);
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

__device__ __forceinline__ void activate(const struct small_job &job, const struct room &room, int32_t l)
{
    const int32_t stride = job.layout.hidden_stride, units = job.layer[l].rows;
    float *hidden = hidden_of(job, room, l);
#pragma unroll 1
    for (int32_t i = threadIdx.x; i < job.layout.rows * stride; i += THREADS)
        if (i % stride < units) hidden[i] = rounded(activation_of(job.activation, hidden[i]));
}

/* delta of the layer below l, before its activation. */
__device__ __forceinline__ void backward_hidden(const struct small_job &job, const struct room &room, int32_t l)
{
    const struct small_layer &layer = job.layer[l];
    const int32_t stride = job.layout.hidden_stride, below = layer.columns, weights = layer.stride;
    const int32_t kind = job.activation;
    const float *hidden = hidden_of(job, room, l - 1);
    float *to = delta_of(job, room, l - 1);
    auto same = [](int32_t i) { return i; };
    product(job.layout.rows / TILE_ROWS, tiles_of(below, TILE), tiles_of(layer.rows, TILE),
            rounded_factor(
                delta_of(job, room, l), [=](int32_t m) { return m * stride; }, same),
            weight_factor(layer.weight, same, [=](int32_t k) { return k * weights; }),
            [=](int32_t m, int32_t n, float x, float y) {
                const int32_t at = m * stride + n;
                const float2 h = *reinterpret_cast<const float2 *>(hidden + at);
                *reinterpret_cast<float2 *>(to + at) =
                    make_float2(n < below ? rounded(x * slope_of(kind, h.x)) : 0.0f,
                                n + 1 < below ? rounded(y * slope_of(kind, h.y)) : 0.0f);
            });
}

/* Hidden layer l's step.  Whether what it leaves is finite. */
template <bool ADAM>
__device__ __forceinline__ bool step_hidden(const struct small_job &job, const struct room &room,
                                            const struct device_rates &r, int32_t l)
{
    const struct small_layer &layer = job.layer[l];
    const struct operand in = input_of(job, room, l);
    const int32_t stride = job.layout.hidden_stride;
    auto same = [](int32_t i) { return i; };
    return step_rows<ADAM>(layer, r, 0, layer.rows, job.layout.rows / TILE,
                           rounded_factor(delta_of(job, room, l), same, [=](int32_t k) { return k * stride; }),
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

__device__ __forceinline__ struct turn turn_of(const struct small_job &job, const struct room &room, int32_t c)
{
    return {room.column[c], room.listed + c * job.layout.rows, room.count[c],
            room.output + c % 2 * job.layout.rows * job.layout.output_stride};
}

/* Outputs of the listed rows, zeros behind them. */
__device__ __forceinline__ void forward_column(const struct small_job &job, const struct room &room,
                                               const struct turn &turn)
{
    const struct small_layer &layer = job.layer[job.layers];
    const int32_t first = turn.column.output, width = turn.column.output_width, last = layer.rows - 1;
    const int32_t stride = job.layout.hidden_stride, output_stride = job.layout.output_stride;
    const int32_t weights = layer.stride;
    auto same = [](int32_t k) { return k; };
    auto left = rounded_factor(
        hidden_of(job, room, job.layers - 1), [&](int32_t m) { return turn.listed[m] * stride; }, same);
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
__device__ __forceinline__ void lose_column(const struct small_job &job, const struct room &room,
                                            const struct turn &turn, int32_t c)
{
    const struct team team = team_of(job.plan.lanes);
    for (int32_t i = threadIdx.x / team.size; i < turn.count; i += THREADS / team.size) {
        const int32_t slot = turn.listed[i];
        float *output = turn.output + i * job.layout.output_stride;
        const float x = room.target[slot * job.plan.columns + c];
        const float loss = column_loss(team, job.plan, turn.column, x, room.factor[slot], output);
        __syncwarp(team.mask);
        for (int32_t o = team.lane; o < turn.column.output_width; o += team.size) output[o] = rounded(output[o]);
        if (team.lane == 0) room.loss[slot] += (double)loss;
    }
}

/* Adds the column's part to delta of the last hidden layer. */
__device__ __forceinline__ void backward_column(const struct small_job &job, const struct room &room,
                                                const struct turn &turn)
{
    const struct small_layer &layer = job.layer[job.layers];
    const int32_t first = turn.column.output, last = layer.rows - 1, units = layer.columns;
    const int32_t stride = job.layout.hidden_stride, output_stride = job.layout.output_stride;
    const int32_t weights = layer.stride;
    float *delta = delta_of(job, room, job.layers - 1);
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

template <bool ADAM>
__device__ __forceinline__ bool step_column(const struct small_job &job, const struct room &room,
                                            const struct device_rates &r, const struct turn &turn)
{
    const int32_t stride = job.layout.hidden_stride, output_stride = job.layout.output_stride;
    auto same = [](int32_t i) { return i; };
    return step_rows<ADAM>(
        job.layer[job.layers], r, turn.column.output, turn.column.output_width, tiles_of(turn.count, TILE),
        rounded_factor(turn.output, same, [=](int32_t k) { return k * output_stride; }),
        rounded_factor(hidden_of(job, room, job.layers - 1), same, [&](int32_t k) { return turn.listed[k] * stride; }));
}

/* Losses, gradients and steps of all outputs; delta of the last hidden layer behind its activation.  A column's step
 * waits until nobody needs its old weights; it is made beside the next column's losses, and the next column is computed
 * forward while this one is backward. */
template <bool ADAM>
__device__ __forceinline__ bool pass_outputs(const struct small_job &job, const struct room &room,
                                             const struct device_rates &r)
{
    bool finite = true;
    float *delta = delta_of(job, room, job.layers - 1);
    const int32_t elements = job.layout.rows * job.layout.hidden_stride, columns = job.plan.columns;
    for (int32_t i = threadIdx.x; i < elements; i += THREADS) delta[i] = 0;
    forward_column(job, room, turn_of(job, room, 0));
    __syncthreads();
    for (int32_t c = 0; c < columns; c++) {
        const struct turn turn = turn_of(job, room, c);
        lose_column(job, room, turn, c);
        if (c > 0) finite &= step_column<ADAM>(job, room, r, turn_of(job, room, c - 1));
        __syncthreads();
        backward_column(job, room, turn);
        if (c + 1 < columns) forward_column(job, room, turn_of(job, room, c + 1));
        __syncthreads();
    }
    finite &= step_column<ADAM>(job, room, r, turn_of(job, room, columns - 1));
    const float *hidden = hidden_of(job, room, job.layers - 1);
    for (int32_t i = threadIdx.x; i < elements; i += THREADS)
        delta[i] = rounded(delta[i] * slope_of(job.activation, hidden[i]));
    __syncthreads();
    return finite;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* The sum of the slots' losses, in every thread, always in the same order; not finite where one is not. */
__device__ double sum_losses(const struct room &room, int32_t slots)
{
    double sum = 0;
    for (int32_t slot = threadIdx.x % LANES; slot < slots; slot += LANES)
        sum += room.loss[slot] * (double)room.factor[slot];
    return warp_sum(sum);
}

/* Zeros everywhere, what is constant, and ones behind the inputs of so many rows. */
__device__ void prepare_room(const struct small_job &job, const struct room &room, int32_t slots)
{
    for (int32_t i = threadIdx.x; i < job.layout.bytes / (int32_t)sizeof(float); i += THREADS)
        shared_at<float>(0)[i] = 0;
    __syncthreads();
    for (int32_t c = threadIdx.x; c < job.plan.columns; c += THREADS) room.column[c] = job.plan.column[c];
    for (int32_t i = threadIdx.x; i < slots; i += THREADS)
        room.input[i * job.layout.input_stride + job.plan.inputs] = 1;
}

__device__ void pass_hidden(const struct small_job &job, const struct room &room)
{
    for (int32_t l = 0; l < job.layers; l++) {
        forward_hidden(job, room, l);
        __syncthreads();
        activate(job, room, l);
        __syncthreads();
    }
}

/* Whether what the steps left is finite. */
template <bool ADAM>
__device__ __forceinline__ bool pass_hidden_back(const struct small_job &job, const struct room &room,
                                                 const struct device_rates &r)
{
    bool finite = true;
    for (int32_t l = job.layers - 1; l >= 0; l--) {
        if (l > 0) backward_hidden(job, room, l);
        __syncthreads();
        finite &= step_hidden<ADAM>(job, room, r, l);
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
template <bool ADAM> __global__ void __launch_bounds__(THREADS, 1) small_updates(const struct small_job *jobs)
{
    __shared__ struct small_job job;
    take_job(jobs + blockIdx.x, &job);
    const struct room room = room_of(job.layout);
    prepare_room(job, room, job.batch);
    for (int32_t update = 0; update < job.updates; update++) {
        const struct device_rates r = job.rates[update];
        draw_rows(job, room, {job.first_draw + update, 0, job.batch, 1 / (double)job.batch});
        pass_hidden(job, room);
        bool finite = pass_outputs<ADAM>(job, room, r);
        const double loss = sum_losses(room, job.batch);
        finite &= pass_hidden_back<ADAM>(job, room, r);
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
    const struct room room = room_of(job.layout);
    const uint32_t all = job.cells.rows * job.repeats, rows = job.layout.rows;
    double sum = 0;
    prepare_room(job, room, job.layout.rows);
    __syncthreads();
    for (uint32_t first = 0; first < all; first += rows) {
        const int32_t count = (int32_t)min(rows, all - first);
        draw_rows(job, room, {0, first, count, 1});
        pass_hidden(job, room);
        forward_column(job, room, turn_of(job, room, 0));
        for (int32_t c = 0; c < job.plan.columns; c++) {
            __syncthreads();
            lose_column(job, room, turn_of(job, room, c), c);
            if (c + 1 < job.plan.columns) forward_column(job, room, turn_of(job, room, c + 1));
        }
        __syncthreads();
        sum += sum_losses(room, count);
        __syncthreads();
    }
    if (threadIdx.x == 0) *job.loss = sum;
}

template <typename Kernel>
cudaError_t launch(Kernel kernel, const struct small_job *jobs, size_t count, int32_t shared, cudaStream_t stream)
{
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    if (error != cudaSuccess) return error;
    kernel<<<(unsigned)count, THREADS, shared, stream>>>(jobs);
    return cudaGetLastError();
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

extern "C" cudaError_t nd_cuda_small_jobs(const struct small_job *jobs, size_t count, enum small_kind kind,
                                          int32_t shared, cudaStream_t stream)
{
    switch (kind) {
    case SMALL_NAG: return launch(small_updates<false>, jobs, count, shared, stream);
    case SMALL_ADAM: return launch(small_updates<true>, jobs, count, shared, stream);
    default: return launch(small_validation, jobs, count, shared, stream);
    }
}
