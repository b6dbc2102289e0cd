/* Compiled several times; ND_KERNELS names the variant (see CMakeLists.txt).
 *
 * After Goto and van de Geijn (2008) and BLIS: the matrix on the right lies packed in panels of PANEL columns.  A
 * stretch of a panel stays in the first-level cache while tiles of rows from the left pass it; the sums of a tile stay
 * in registers.  The left matrix is read where it lies, as rows; only a gradient, whose left matrix is a transpose,
 * copies it.  Rows are cut into tiles as equal as can be, for each number of rows has code of its own: no row is
 * computed in vain. */
#include "backend/cpu/cpu_products.h"

#include <stdbool.h>
#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

/* TILE_ROWS × VECTORS sums, the VECTORS of the panel's row and one number of the tile fill the registers: 31 of 32 with
 * AVX-512, 15 of 16 with AVX2.  DEPTH: a stretch of a panel (24 and 16 KiB) and a tile leave room in a first-level
 * cache of 48 and 32 KiB. */
#if defined __AVX512F__
#include <immintrin.h>
typedef __m512 vector;
enum { LANES = 16, VECTORS = 2, TILE_ROWS = 14, DEPTH = 192 };
#define EACH_TILE(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
#define ZERO() _mm512_setzero_ps()
#define LOAD(from) _mm512_loadu_ps(from)
#define STORE(to, x) _mm512_storeu_ps(to, x)
#define SPREAD(from) _mm512_set1_ps(*(from))
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps(a, b, c)
#elif defined __FMA__
#include <immintrin.h>
typedef __m256 vector;
enum { LANES = 8, VECTORS = 2, TILE_ROWS = 6, DEPTH = 256 };
#define EACH_TILE(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define ZERO() _mm256_setzero_ps()
#define LOAD(from) _mm256_loadu_ps(from)
#define STORE(to, x) _mm256_storeu_ps(to, x)
#define SPREAD(from) _mm256_broadcast_ss(from)
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#else
#ifdef __SSE__
#include <immintrin.h>
#endif
typedef float vector __attribute__((vector_size(16)));
enum { LANES = 4, VECTORS = 2, TILE_ROWS = 4, DEPTH = 256 };
#define EACH_TILE(X) X(1) X(2) X(3) X(4)
#define ZERO() ((vector){0})
#define LOAD(from) load_lanes(from)
#define STORE(to, x) memcpy(to, &(x), sizeof(vector))
#define SPREAD(from) ((vector){*(from), *(from), *(from), *(from)})
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))

static inline vector load_lanes(const float *from)
{
    vector x;
    memcpy(&x, from, sizeof x);
    return x;
}
#endif

enum { PANEL = LANES * VECTORS };

_Static_assert(ND_PANEL_MOST % PANEL == 0 && (int)DEPTH <= (int)ND_SPACE_DEPTH,
               "panels and stretches fit what the header says");

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* result (rows, vectors·LANES) = or += a (rows, depth) · panel (depth, PANEL); element (i, p) of a is a[i·row +
 * p·step]. With rows, vectors and one of the strides known to the compiler the inner loops vanish and the sums stay in
 * registers. */
static inline __attribute__((always_inline)) void multiply_tile(size_t rows, size_t vectors, size_t depth,
                                                                const float *restrict a, size_t row, size_t step,
                                                                const float *restrict panel, bool begins,
                                                                float *restrict result, size_t stride)
{
    vector sum[TILE_ROWS][VECTORS];
    UNROLLED for (size_t i = 0; i < rows; i++) UNROLLED for (size_t v = 0; v < vectors; v++) sum[i][v] =
        begins ? ZERO() : LOAD(result + i * stride + v * LANES);
    for (size_t p = 0; p < depth; p++) {
        vector right[VECTORS];
        UNROLLED for (size_t v = 0; v < vectors; v++) right[v] = LOAD(panel + p * PANEL + v * LANES);
        UNROLLED for (size_t i = 0; i < rows; i++)
        {
            vector left = SPREAD(a + i * row + p * step);
            UNROLLED for (size_t v = 0; v < vectors; v++) sum[i][v] = MULTIPLY_ADD(left, right[v], sum[i][v]);
        }
    }
    UNROLLED for (size_t i = 0; i < rows; i++) UNROLLED for (size_t v = 0; v < vectors; v++)
        STORE(result + i * stride + v * LANES, sum[i][v]);
}

typedef void tile_function(size_t depth, const float *a, size_t row, const float *panel, bool begins, float *result,
                           size_t stride);
typedef void copy_function(size_t depth, const float *from, size_t stride, float *copy);

/* For each number of rows: tiles, as wide as a panel and as wide as one vector, whose left matrix is read as rows; the
 * same with a left matrix that was copied, so that a tile's numbers for the same p lie together; and that copy, of
 * columns. */
#define TILE_FUNCTION(name, rows, vectors, row, step)                                                                  \
    static void name(size_t depth, const float *a, size_t a_row, const float *panel, bool begins, float *result,       \
                     size_t stride)                                                                                    \
    {                                                                                                                  \
        (void)a_row;                                                                                                   \
        multiply_tile(rows, vectors, depth, a, row, step, panel, begins, result, stride);                              \
    }
#define TILE_FUNCTIONS(rows)                                                                                           \
    TILE_FUNCTION(tile_##rows, rows, VECTORS, a_row, 1)                                                                \
    TILE_FUNCTION(slim_tile_##rows, rows, 1, a_row, 1)                                                                 \
    TILE_FUNCTION(copied_tile_##rows, rows, VECTORS, 1, rows)                                                          \
    TILE_FUNCTION(slim_copied_tile_##rows, rows, 1, 1, rows)                                                           \
    static void copy_##rows(size_t depth, const float *restrict from, size_t stride, float *restrict copy)             \
    {                                                                                                                  \
        for (size_t p = 0; p < depth; p++) memcpy(copy + p * (rows), from + p * stride, (rows) * sizeof *copy);        \
    }
EACH_TILE(TILE_FUNCTIONS)

/* By number of rows; [copied][slim]. */
#define NAME_TILE(rows) tile_##rows,
#define NAME_SLIM_TILE(rows) slim_tile_##rows,
#define NAME_COPIED_TILE(rows) copied_tile_##rows,
#define NAME_SLIM_COPIED_TILE(rows) slim_copied_tile_##rows,
#define NAME_COPY(rows) copy_##rows,
static tile_function *const tiles[2][2][TILE_ROWS + 1] = {
    {{NULL, EACH_TILE(NAME_TILE)}, {NULL, EACH_TILE(NAME_SLIM_TILE)}},
    {{NULL, EACH_TILE(NAME_COPIED_TILE)}, {NULL, EACH_TILE(NAME_SLIM_COPIED_TILE)}},
};
static copy_function *const copies[TILE_ROWS + 1] = {NULL, EACH_TILE(NAME_COPY)};

/* A tile at the right edge, where only `columns` of the panel's belong to the result. */
static void multiply_edge(tile_function *tile, size_t rows, size_t columns, size_t depth, const float *a, size_t row,
                          const float *panel, bool begins, float *result, size_t stride)
{
    float edge[TILE_ROWS * PANEL] = {0};
    if (!begins)
        for (size_t i = 0; i < rows; i++) memcpy(edge + i * PANEL, result + i * stride, columns * sizeof *edge);
    tile(depth, a, row, panel, begins, edge, PANEL);
    for (size_t i = 0; i < rows; i++) memcpy(result + i * stride, edge + i * PANEL, columns * sizeof *edge);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* Number of parts, and where part number `part` begins, when `whole` is cut as equally as can be. */
static size_t parts_of(size_t whole, size_t most)
{
    return whole > most ? (whole + most - 1) / most : 1;
}

static size_t cut(size_t whole, size_t parts, size_t part)
{
    size_t longer = whole % parts;
    return whole / parts * part + (part < longer ? part : longer);
}

/* Asks for part number `part` of a stretch of a panel, which is needed soon. */
static void prefetch(const float *panel, size_t depth, size_t parts, size_t part)
{
    enum { LINE = 16 };
    size_t end = cut(depth * PANEL, parts, part + 1);
    for (size_t i = cut(depth * PANEL, parts, part); i < end; i += LINE) __builtin_prefetch(panel + i);
}

/* The operands of a product, cut to one stretch of the inner dimension. */
struct block {
    bool copied; /* left is a copy, in tiles */
    size_t rows, depth;
    const float *left; /* where the stretch begins */
    size_t left_stride;
    bool begins; /* the first stretch */
};

/* All rows past one panel of `columns` columns, or as many as are left of the result; `next` is the following panel or
 * NULL. */
static void multiply_panel(const struct block *b, size_t columns, const float *panel, const float *next, float *result,
                           size_t stride)
{
    size_t count = parts_of(b->rows, TILE_ROWS), top = 0;
    for (size_t t = 0; t < count; t++) {
        size_t end = cut(b->rows, count, t + 1), height = end - top;
        tile_function *tile = tiles[b->copied][columns <= LANES][height];
        const float *a = b->left + top * (b->copied ? b->depth : b->left_stride);
        float *to = result + top * stride;
        if (next) prefetch(next, b->depth, count, t);
        if (columns >= PANEL)
            tile(b->depth, a, b->left_stride, panel, b->begins, to, stride);
        else
            multiply_edge(tile, height, columns, b->depth, a, b->left_stride, panel, b->begins, to, stride);
        top = end;
    }
}

/* packed: panels of `depth` lines, of which the block's are the stretch from `first`. */
static void multiply_block(const struct block *b, size_t depth, size_t first, size_t columns, const float *packed,
                           float *result, size_t stride)
{
    for (size_t c = 0; c < columns; c += PANEL) {
        const float *panel = packed + c * depth + first * PANEL;
        multiply_panel(b, columns - c, panel, columns - c > PANEL ? panel + depth * PANEL : NULL, result + c, stride);
    }
}

/* Rows in blocks that stay in the second-level cache from panel to panel, 128 KiB of them. */
static void multiply(size_t rows, size_t depth, size_t columns, const float *left, size_t left_stride,
                     const float *packed, float *result, size_t result_stride)
{
    enum { ROWS = 128 };
    size_t stretches = parts_of(depth, DEPTH);
    for (size_t top = 0; top < rows; top += ROWS)
        for (size_t s = 0; s < stretches; s++) {
            size_t first = cut(depth, stretches, s), length = cut(depth, stretches, s + 1) - first;
            struct block b = {.rows = rows - top < ROWS ? rows - top : ROWS,
                              .depth = length,
                              .left = left + top * left_stride + first,
                              .left_stride = left_stride,
                              .begins = s == 0};
            multiply_block(&b, depth, first, columns, packed, result + top * result_stride, result_stride);
        }
}

/* Columns of from (depth, …) as the tiles that multiply_panel cuts; a few lines at a time, so that they stay in the
 * first-level cache while one tile after the other takes its part of them. */
static void copy_tiles(size_t depth, size_t columns, const float *from, size_t stride, float *copy)
{
    enum { LINES = 16 };
    size_t count = parts_of(columns, TILE_ROWS);
    for (size_t p = 0; p < depth; p += LINES)
        for (size_t t = 0; t < count; t++) {
            size_t first = cut(columns, count, t), height = cut(columns, count, t + 1) - first;
            copies[height](depth - p < LINES ? depth - p : LINES, from + p * stride + first, stride,
                           copy + first * depth + p * height);
        }
}

static void multiply_transposed(size_t rows, size_t depth, size_t columns, const float *left, size_t left_stride,
                                const float *packed, float *result, size_t result_stride, struct product_space *space)
{
    size_t stretches = parts_of(depth, DEPTH);
    for (size_t top = 0; top < rows; top += ND_SPACE_ROWS) {
        size_t height = rows - top < ND_SPACE_ROWS ? rows - top : ND_SPACE_ROWS;
        for (size_t s = 0; s < stretches; s++) {
            size_t first = cut(depth, stretches, s), length = cut(depth, stretches, s + 1) - first;
            struct block b = {.copied = true, .rows = height, .depth = length, .left = space->tiles, .begins = s == 0};
            copy_tiles(length, height, left + first * left_stride + top, left_stride, space->tiles);
            multiply_block(&b, depth, first, columns, packed, result + top * result_stride, result_stride);
        }
    }
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/* A few lines of all panels at a time: they are read as they lie, and written in runs. */
static void pack(size_t depth, size_t columns, size_t first, size_t count, const float *from, size_t stride,
                 float *packed)
{
    enum { LINES = 16 };
    for (size_t p = first; p < first + count; p += LINES) {
        size_t end = first + count - p < LINES ? first + count : p + LINES, c = 0;
        for (; c + PANEL <= columns; c += PANEL)
            for (size_t q = p; q < end; q++)
                memcpy(packed + c * depth + q * PANEL, from + (q - first) * stride + c, PANEL * sizeof *packed);
        for (size_t q = p; c < columns && q < end; q++)
            for (size_t j = 0; j < PANEL; j++)
                packed[c * depth + q * PANEL + j] = j < columns - c ? from[(q - first) * stride + c + j] : 0;
    }
}

/* to (4, 4), rows PANEL apart = the transpose of from (4, 4). */
static inline void transpose4(const float *restrict from, size_t stride, float *restrict to)
{
#ifdef __SSE__
    __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + stride);
    __m128 c = _mm_loadu_ps(from + 2 * stride), d = _mm_loadu_ps(from + 3 * stride);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(to, a);
    _mm_storeu_ps(to + PANEL, b);
    _mm_storeu_ps(to + (size_t)2 * PANEL, c);
    _mm_storeu_ps(to + (size_t)3 * PANEL, d);
#else
    for (size_t p = 0; p < 4; p++)
        for (size_t j = 0; j < 4; j++) to[p * PANEL + j] = from[j * stride + p];
#endif
}

static void pack_transpose(size_t depth, size_t columns, size_t first, size_t count, const float *from, float *packed)
{
    for (size_t c = first; c < first + count; c += PANEL) {
        const float *lines = from + c * depth;
        float *panel = packed + c * depth;
        size_t width = columns - c < PANEL ? columns - c : PANEL, p = 0;
        for (; width == PANEL && p + 4 <= depth; p += 4)
            for (size_t j = 0; j < PANEL; j += 4) transpose4(lines + j * depth + p, depth, panel + p * PANEL + j);
        for (; p < depth; p++)
            for (size_t j = 0; j < PANEL; j++) panel[p * PANEL + j] = j < width ? lines[j * depth + p] : 0;
    }
}

extern const struct cpu_products JOIN(nd_cpu_products_, ND_KERNELS);

const struct cpu_products JOIN(nd_cpu_products_, ND_KERNELS) = {
    .name = TEXT(ND_KERNELS),
    .panel = PANEL,
    .pack = pack,
    .pack_transpose = pack_transpose,
    .multiply = multiply,
    .multiply_transposed = multiply_transposed,
};
