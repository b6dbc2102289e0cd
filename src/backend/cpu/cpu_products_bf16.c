/* Products of numbers that are rounded to bfloat16, with sums in float, for processors with AVX512-BF16.
 *
 * The blocks are those of cpu_products.c, but an instruction multiplies two numbers of the inner dimension and adds
 * both to a sum, so that numbers lie in pairs: a panel's line holds two lines of the right matrix, and the left matrix
 * is rounded and copied a block at a time.  A sum is one chain over the pairs, in their order, within a pair as the
 * processor does it: as with the others it depends on its row and column alone. */
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "backend/cpu/cpu_products.h"

/* Registers as in cpu_products.c.  A stretch of a panel is 16 KiB, a block of the left matrix 32 KiB. */
enum { LANES = 16, PANEL = 2 * LANES, TILE_ROWS = 14, PAIRS = 128, DEPTH = 2 * PAIRS, ROWS = 64 };
#define EACH_TILE(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)

_Static_assert((int)PANEL == (int)ND_PANEL_MOST && sizeof(uint32_t) * PAIRS * ROWS <= sizeof(struct product_space),
               "panels and copies fit what the header says");

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* Both numbers in bfloat16, the first in the lower half: a pair. */
static uint32_t pair_of(float first, float second)
{
    __m128i halves = (__m128i)_mm_cvtneps_pbh(_mm_setr_ps(first, second, 0, 0));
    return (uint32_t)_mm_cvtsi128_si32(halves);
}

/* 16 pairs, of the numbers `from` and those `after`. */
static __m512i pairs_across(const float *from, const float *after)
{
    __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(from)));
    __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(after)));
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/* 16 pairs, of 32 numbers that follow each other. */
static __m512i pairs_along(const float *from)
{
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + LANES), _mm512_loadu_ps(from));
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* result (rows, PANEL) = or += a (rows, pairs) · panel (pairs, PANEL); pair (i, p) of a is a[i·row + p·step]. */
static inline __attribute__((always_inline)) void multiply_tile(size_t rows, size_t pairs, const uint32_t *restrict a,
                                                                size_t row, size_t step, const uint32_t *restrict panel,
                                                                bool begins, float *restrict result, size_t stride)
{
    __m512 sum[TILE_ROWS][2];
    UNROLLED for (size_t i = 0; i < rows; i++) UNROLLED for (size_t v = 0; v < 2; v++) sum[i][v] =
        begins ? _mm512_setzero_ps() : _mm512_loadu_ps(result + i * stride + v * LANES);
    for (size_t p = 0; p < pairs; p++) {
        __m512bh right[2];
        UNROLLED for (size_t v = 0; v < 2; v++) right[v] = (__m512bh)_mm512_loadu_si512(panel + p * PANEL + v * LANES);
        UNROLLED for (size_t i = 0; i < rows; i++)
        {
            __m512bh left = (__m512bh)_mm512_set1_epi32((int)a[i * row + p * step]);
            UNROLLED for (size_t v = 0; v < 2; v++) sum[i][v] = _mm512_dpbf16_ps(sum[i][v], left, right[v]);
        }
    }
    UNROLLED for (size_t i = 0; i < rows; i++) UNROLLED for (size_t v = 0; v < 2; v++)
        _mm512_storeu_ps(result + i * stride + v * LANES, sum[i][v]);
}

typedef void tile_function(size_t pairs, const uint32_t *a, const uint32_t *panel, bool begins, float *result,
                           size_t stride);

/* For each number of rows: tiles of a block that was copied as rows, and as lines of ROWS pairs. */
#define TILE_FUNCTIONS(rows)                                                                                           \
    static void row_tile_##rows(size_t pairs, const uint32_t *a, const uint32_t *panel, bool begins, float *result,    \
                                size_t stride)                                                                         \
    {                                                                                                                  \
        multiply_tile(rows, pairs, a, PAIRS, 1, panel, begins, result, stride);                                        \
    }                                                                                                                  \
    static void line_tile_##rows(size_t pairs, const uint32_t *a, const uint32_t *panel, bool begins, float *result,   \
                                 size_t stride)                                                                        \
    {                                                                                                                  \
        multiply_tile(rows, pairs, a, 1, ROWS, panel, begins, result, stride);                                         \
    }
EACH_TILE(TILE_FUNCTIONS)

/* By number of rows; [copied as lines]. */
#define NAME_ROW_TILE(rows) row_tile_##rows,
#define NAME_LINE_TILE(rows) line_tile_##rows,
static tile_function *const tiles[2][TILE_ROWS + 1] = {{NULL, EACH_TILE(NAME_ROW_TILE)},
                                                       {NULL, EACH_TILE(NAME_LINE_TILE)}};

/* A tile at the right edge, where only `columns` of the panel's belong to the result. */
static void multiply_edge(tile_function *tile, size_t rows, size_t columns, size_t pairs, const uint32_t *a,
                          const uint32_t *panel, bool begins, float *result, size_t stride)
{
    float edge[TILE_ROWS * PANEL] = {0};
    if (!begins)
        for (size_t i = 0; i < rows; i++) memcpy(edge + i * PANEL, result + i * stride, columns * sizeof *edge);
    tile(pairs, a, panel, begins, edge, PANEL);
    for (size_t i = 0; i < rows; i++) memcpy(result + i * stride, edge + i * PANEL, columns * sizeof *edge);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* A block of the left matrix, rounded: rows ≤ ROWS, one stretch of the inner dimension. */
struct block {
    bool lines; /* copied as lines of ROWS pairs, not as rows of PAIRS */
    size_t rows, pairs;
    const uint32_t *left;
    bool begins; /* the first stretch */
};

static void multiply_panel(const struct block *b, size_t columns, const uint32_t *panel, float *result, size_t stride)
{
    size_t count = (b->rows + TILE_ROWS - 1) / TILE_ROWS, top = 0;
    for (size_t t = 0; t < count; t++) {
        size_t height = (b->rows - top + count - t - 1) / (count - t);
        tile_function *tile = tiles[b->lines][height];
        const uint32_t *a = b->left + top * (b->lines ? 1 : PAIRS);
        if (columns >= PANEL)
            tile(b->pairs, a, panel, b->begins, result + top * stride, stride);
        else
            multiply_edge(tile, height, columns, b->pairs, a, panel, b->begins, result + top * stride, stride);
        top += height;
    }
}

/* packed: panels of `all` pairs, of which the block's are the stretch from `first`. */
static void multiply_block(const struct block *b, size_t all, size_t first, size_t columns, const uint32_t *packed,
                           float *result, size_t stride)
{
    for (size_t c = 0; c < columns; c += PANEL)
        multiply_panel(b, columns - c, packed + c * all + first * PANEL, result + c, stride);
}

static void clear_result(size_t rows, size_t columns, float *result, size_t stride)
{
    for (size_t i = 0; i < rows; i++) memset(result + i * stride, 0, columns * sizeof *result);
}

/* copy (rows, PAIRS) = from (rows, depth) in pairs; the last one of an odd depth has a zero. */
static void copy_rows(size_t rows, size_t depth, const float *from, size_t stride, uint32_t *copy)
{
    for (size_t r = 0; r < rows; r++, from += stride, copy += PAIRS) {
        size_t p = 0;
        for (; p + PANEL <= depth; p += PANEL) _mm512_storeu_si512(copy + p / 2, pairs_along(from + p));
        for (; p < depth; p += 2) copy[p / 2] = pair_of(from[p], p + 1 < depth ? from[p + 1] : 0);
    }
}

static void multiply(size_t rows, size_t depth, size_t columns, const float *left, size_t left_stride,
                     const float *packed, float *result, size_t result_stride)
{
    uint32_t copy[ROWS * PAIRS];
    size_t all = (depth + 1) / 2;
    if (depth == 0) clear_result(rows, columns, result, result_stride);
    for (size_t top = 0; top < rows; top += ROWS)
        for (size_t first = 0; first < depth; first += DEPTH) {
            size_t height = rows - top < ROWS ? rows - top : ROWS,
                   length = depth - first < DEPTH ? depth - first : DEPTH;
            struct block b = {.rows = height, .pairs = (length + 1) / 2, .left = copy, .begins = first == 0};
            copy_rows(height, length, left + top * left_stride + first, left_stride, copy);
            multiply_block(&b, all, first / 2, columns, (const void *)packed, result + top * result_stride,
                           result_stride);
        }
}

/* copy (pairs, ROWS) = columns of from (depth, …) in pairs. */
static void copy_lines(size_t depth, size_t columns, const float *from, size_t stride, uint32_t *copy)
{
    static const float zeros[ROWS];
    for (size_t p = 0; p < depth; p += 2, copy += ROWS) {
        const float *line = from + p * stride, *after = p + 1 < depth ? line + stride : zeros;
        size_t c = 0;
        for (; c + LANES <= columns; c += LANES) _mm512_storeu_si512(copy + c, pairs_across(line + c, after + c));
        for (; c < columns; c++) copy[c] = pair_of(line[c], after[c]);
    }
}

static void multiply_transposed(size_t rows, size_t depth, size_t columns, const float *left, size_t left_stride,
                                const float *packed, float *result, size_t result_stride, struct product_space *space)
{
    uint32_t *copy = (void *)space;
    size_t all = (depth + 1) / 2;
    if (depth == 0) clear_result(rows, columns, result, result_stride);
    for (size_t top = 0; top < rows; top += ROWS)
        for (size_t first = 0; first < depth; first += DEPTH) {
            size_t height = rows - top < ROWS ? rows - top : ROWS,
                   length = depth - first < DEPTH ? depth - first : DEPTH;
            struct block b = {
                .lines = true, .rows = height, .pairs = (length + 1) / 2, .left = copy, .begins = first == 0};
            copy_lines(length, height, left + first * left_stride + top, left_stride, copy);
            multiply_block(&b, all, first / 2, columns, (const void *)packed, result + top * result_stride,
                           result_stride);
        }
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/* One line of a right matrix into its halves of the pairs, whose other halves may be another thread's; without such a
 * line, zero. */
static void pack_line(size_t depth, size_t columns, size_t line, const float *from, uint32_t *packed)
{
    size_t all = (depth + 1) / 2;
    for (size_t c = 0; c < columns; c += PANEL) {
        uint16_t *halves = (uint16_t *)(void *)(packed + c * all + line / 2 * PANEL) + line % 2;
        for (size_t j = 0; j < PANEL; j++)
            halves[2 * j] = (uint16_t)pair_of(line < depth && c + j < columns ? from[c + j] : 0, 0);
    }
}

/* Two lines at once. */
static void pack_pair(size_t depth, size_t columns, size_t line, const float *from, const float *after,
                      uint32_t *packed)
{
    size_t all = (depth + 1) / 2;
    for (size_t c = 0; c < columns; c += PANEL) {
        uint32_t *pairs = packed + c * all + line / 2 * PANEL;
        if (columns - c >= PANEL)
            for (size_t j = 0; j < PANEL; j += LANES)
                _mm512_storeu_si512(pairs + j, pairs_across(from + c + j, after + c + j));
        else
            for (size_t j = 0; j < PANEL; j++) pairs[j] = j < columns - c ? pair_of(from[c + j], after[c + j]) : 0;
    }
}

static void pack(size_t depth, size_t columns, size_t first, size_t count, const float *from, size_t stride,
                 float *packed)
{
    uint32_t *pairs = (void *)packed;
    for (size_t line = first; line < first + count;) {
        const float *at = from + (line - first) * stride;
        bool two = line % 2 == 0 && line + 1 < first + count;
        if (two)
            pack_pair(depth, columns, line, at, at + stride, pairs);
        else
            pack_line(depth, columns, line, at, pairs);
        if (line + 1 == depth && depth % 2 == 1) pack_line(depth, columns, depth, at, pairs);
        line += two ? 2 : 1;
    }
}

/* to (4, 4), rows PANEL apart = the transpose of from (4, 4), rows LANES apart. */
static void transpose4(const uint32_t *from, uint32_t *to)
{
    __m128 a = _mm_loadu_ps((const void *)from), b = _mm_loadu_ps((const void *)(from + LANES));
    __m128 c = _mm_loadu_ps((const void *)(from + (size_t)2 * LANES)),
           d = _mm_loadu_ps((const void *)(from + (size_t)3 * LANES));
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps((void *)to, a);
    _mm_storeu_ps((void *)(to + PANEL), b);
    _mm_storeu_ps((void *)(to + (size_t)2 * PANEL), c);
    _mm_storeu_ps((void *)(to + (size_t)3 * PANEL), d);
}

/* A panel's pairs first … first+LANES-1, or as many as there are, of its columns' lines (width, depth). */
static void pack_pairs(size_t depth, size_t width, size_t first, const float *lines, uint32_t *panel)
{
    uint32_t pairs[PANEL * LANES] = {0};
    size_t count = (depth + 1) / 2 - first;
    for (size_t j = 0; j < width; j++) {
        const float *line = lines + j * depth + 2 * first;
        if (2 * (first + LANES) <= depth)
            _mm512_storeu_si512(pairs + j * LANES, pairs_along(line));
        else
            for (size_t p = 0; p < count; p++)
                pairs[j * LANES + p] = pair_of(line[2 * p], 2 * (first + p) + 1 < depth ? line[2 * p + 1] : 0);
    }
    if (count >= LANES) {
        for (size_t p = 0; p < LANES; p += 4)
            for (size_t j = 0; j < PANEL; j += 4) transpose4(pairs + j * LANES + p, panel + (first + p) * PANEL + j);
        return;
    }
    for (size_t p = 0; p < count; p++)
        for (size_t j = 0; j < PANEL; j++) panel[(first + p) * PANEL + j] = pairs[j * LANES + p];
}

static void pack_transpose(size_t depth, size_t columns, size_t first, size_t count, const float *from, float *packed)
{
    size_t all = (depth + 1) / 2;
    for (size_t c = first; c < first + count; c += PANEL)
        for (size_t p = 0; p < all; p += LANES)
            pack_pairs(depth, columns - c < PANEL ? columns - c : PANEL, p, from + c * depth,
                       (uint32_t *)(void *)packed + c * all);
}

extern const struct cpu_products nd_cpu_products_avx512_bf16;

const struct cpu_products nd_cpu_products_avx512_bf16 = {
    .name = "avx512_bf16",
    .pack = pack,
    .pack_transpose = pack_transpose,
    .multiply = multiply,
    .multiply_transposed = multiply_transposed,
};
