/* Products of a small network by tiles of tensor cores, and steps along a gradient that is one. */
#ifndef ND_BACKEND_CUDA_SMALL_PRODUCT_CUH
#define ND_BACKEND_CUDA_SMALL_PRODUCT_CUH

#include "backend/cuda/small/cuda_small_memory.cuh"
#include "backend/cuda/train/cuda_optimizer.cuh"

namespace
{

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

template <int VALUE> struct number {
    static constexpr int value = VALUE;
};

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
            work(part, number<OWN_MOST>());
        else if (own > 0)
            work(part, number<2>());
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
template <nade_optimizer OPTIMIZER>
__device__ __noinline__ bool step_bias(const struct small_layer &layer, const struct device_rates &r, int32_t row,
                                       float gradient)
{
    const size_t at = row * layer.bias_stride;
    float unused = 0;
    take_step<OPTIMIZER>(r, 0, gradient, &layer.bias1[at], has_second<OPTIMIZER> ? &layer.bias2[at] : &unused,
                         &layer.bias[at]);
    return isfinite(layer.bias[at]);
}

/* The last weight of a row where it has no neighbour on its right but the bias. */
template <nade_optimizer OPTIMIZER>
__device__ __noinline__ bool step_single(const struct small_layer &layer, const struct device_rates &r, size_t at,
                                         float gradient)
{
    float unused = 0;
    take_step<OPTIMIZER>(r, r.decay, gradient, &layer.moment1[at], has_second<OPTIMIZER> ? &layer.moment2[at] : &unused,
                         &layer.weight[at]);
    return isfinite(layer.weight[at]);
}

/* Moves the parameters of rows first…first+rows-1 of a layer by the gradient left · right, whose column behind the
 * weights is the bias's.  What is to be moved is read before the gradient is computed.  Whether what is left is
 * finite. */
template <nade_optimizer OPTIMIZER, typename Left, typename Right>
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
            if (has_second<OPTIMIZER>)
                kept[i / 2][i % 2].moment2 = *reinterpret_cast<const float2 *>(layer.moment2 + at(i / 2, i % 2));
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
                if (column < columns) finite &= step_single<OPTIMIZER>(layer, r, place, gx);
                finite &= step_bias<OPTIMIZER>(layer, r, first + row, column < columns ? gy : gx);
                continue;
            }
            take_step<OPTIMIZER>(r, r.decay, gx, &p.moment1.x, &p.moment2.x, &p.weight.x);
            take_step<OPTIMIZER>(r, r.decay, gy, &p.moment1.y, &p.moment2.y, &p.weight.y);
            finite &= isfinite(p.weight.x) && isfinite(p.weight.y);
            *reinterpret_cast<float2 *>(layer.weight + place) = p.weight;
            *reinterpret_cast<float2 *>(layer.moment1 + place) = p.moment1;
            if (has_second<OPTIMIZER>) *reinterpret_cast<float2 *>(layer.moment2 + place) = p.moment2;
        }
    });
    return finite;
}

} /* namespace */

#endif
