/* The matrix products, every variant that this processor runs: each element is the chain of operations that the header
 * promises, to the bit, and near the exact sum; no byte outside the operands is read or written.  Those of bfloat16 are
 * near the exact sum of the rounded numbers, and within 2^-7 of the terms' magnitudes of that of the numbers. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_products.h"
#include "support/cmocka_all.h"
#include "support/guarded.h"

enum operation { FORWARD, BACKWARD, GRADIENT, OPERATIONS };

/* left, right as the caller has it, right packed, result, work space. */
enum { LEFT, RIGHT, PACKED, RESULT, SPACE, OPERANDS };
static struct guarded memory[OPERANDS];

static const float untouched = -12345.0f;

struct shape {
    enum operation operation;
    size_t rows, depth, columns;
    size_t gap;   /* between rows, where an operand may have one */
    bool at_end;  /* operands end at a guard, else they begin at one */
    size_t piece; /* packed so much at a time */
};

static size_t left_stride(const struct shape *s)
{
    return (s->operation == GRADIENT ? s->rows : s->depth) + s->gap;
}

static size_t right_stride(const struct shape *s)
{
    return s->operation == FORWARD ? s->depth : s->columns + s->gap;
}

static size_t index_left(const struct shape *s, size_t i, size_t p)
{
    return s->operation == GRADIENT ? p * left_stride(s) + i : i * left_stride(s) + p;
}

static size_t index_right(const struct shape *s, size_t p, size_t j)
{
    return s->operation == FORWARD ? j * right_stride(s) + p : p * right_stride(s) + j;
}

/* The last row's gap does not belong to a matrix. */
static size_t extent(size_t rows, size_t width, size_t stride)
{
    return rows == 0 ? 0 : (rows - 1) * stride + width;
}

static float *place(const struct shape *s, int operand, size_t count)
{
    assert_true(count * sizeof(float) <= memory[operand].bytes);
    return (float *)(void *)memory[operand].pages + (s->at_end ? memory[operand].bytes / sizeof(float) - count : 0);
}

static float next_number(void)
{
    static uint32_t state = 12345;
    state = state * 1664525u + 1013904223u;
    return (float)(state >> 8) / (float)(1 << 23) - 1;
}

static void pack(const struct cpu_products *products, const struct shape *s, const float *right, float *packed)
{
    size_t whole = s->operation == FORWARD ? s->columns : s->depth;
    for (size_t first = 0; first < whole; first += s->piece) {
        size_t count = whole - first < s->piece ? whole - first : s->piece;
        if (s->operation == FORWARD)
            products->pack_transpose(s->depth, s->columns, first, count, right, packed);
        else
            products->pack(s->depth, s->columns, first, count, right + first * right_stride(s), right_stride(s),
                           packed);
    }
}

/* The variants and, as the last, the products of bfloat16; NULL past it. */
static const struct cpu_products *products_number(size_t number)
{
    size_t variants = 0;
    while (nd_cpu_products_variant(variants)) variants++;
    return number < variants ? nd_cpu_products_variant(number) : number == variants ? nd_cpu_products_bf16() : NULL;
}

/* To the nearest bfloat16, of two the even one. */
static float rounded(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x7fffu + (bits >> 16 & 1)) & 0xffff0000u;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void check_rounded(const struct shape *s, const float *left, const float *right, size_t i, size_t j, float found)
{
    double sum = 0, exact = 0, magnitude = 0;
    for (size_t p = 0; p < s->depth; p++) {
        float a = left[index_left(s, i, p)], b = right[index_right(s, p, j)];
        sum += (double)rounded(a) * (double)rounded(b);
        exact += (double)a * (double)b;
        magnitude += fabs((double)a * (double)b);
    }
    if (fabs((double)found - sum) > 1.01 * magnitude * (double)s->depth * (double)FLT_EPSILON ||
        fabs((double)found - exact) > magnitude / 128)
        fail_msg("bf16, operation %d, %zu x %zu x %zu: element %zu,%zu is %.9g, not %.17g (exactly %.17g)",
                 (int)s->operation, s->rows, s->depth, s->columns, i, j, (double)found, sum, exact);
}

/* One element against its definition and against the sum in double. */
static void check_element(const struct cpu_products *products, const struct shape *s, const float *left,
                          const float *right, size_t i, size_t j, float found)
{
    bool fused = strcmp(products->name, "baseline") != 0;
    float chain = 0;
    double sum = 0, magnitude = 0;
    for (size_t p = 0; p < s->depth; p++) {
        float a = left[index_left(s, i, p)], b = right[index_right(s, p, j)];
        chain = fused ? fmaf(a, b, chain) : chain + a * b;
        sum += (double)a * (double)b;
        magnitude += fabs((double)a * (double)b);
    }
    if (found != chain || fabs((double)found - sum) > magnitude * (double)s->depth * (double)FLT_EPSILON)
        fail_msg("%s, operation %d, %zu x %zu x %zu: element %zu,%zu is %.9g, not %.9g (exactly %.17g)", products->name,
                 (int)s->operation, s->rows, s->depth, s->columns, i, j, (double)found, (double)chain, sum);
}

static void check_shape(const struct cpu_products *products, const struct shape *s)
{
    size_t stride = s->columns + s->gap, size = extent(s->rows, s->columns, stride);
    size_t left_size = s->operation == GRADIENT ? extent(s->depth, s->rows, left_stride(s))
                                                : extent(s->rows, s->depth, left_stride(s));
    size_t right_size = s->operation == FORWARD ? s->columns * s->depth : extent(s->depth, s->columns, right_stride(s));
    float *left = place(s, LEFT, left_size), *right = place(s, RIGHT, right_size), *result = place(s, RESULT, size);
    float *packed = place(s, PACKED, (s->columns + ND_PANEL_MOST - 1) / ND_PANEL_MOST * ND_PANEL_MOST * s->depth);
    float *space = place(s, SPACE, sizeof(struct product_space) / sizeof(float));
    for (size_t i = 0; i < left_size; i++) left[i] = next_number();
    for (size_t i = 0; i < right_size; i++) right[i] = next_number();
    for (size_t i = 0; i < size; i++) result[i] = untouched;
    pack(products, s, right, packed);
    if (s->operation == GRADIENT)
        products->multiply_transposed(s->rows, s->depth, s->columns, left, left_stride(s), packed, result, stride,
                                      (struct product_space *)(void *)space);
    else
        products->multiply(s->rows, s->depth, s->columns, left, left_stride(s), packed, result, stride);
    for (size_t i = 0; i < s->rows; i++) {
        for (size_t j = 0; j < s->columns; j++)
            if (products == nd_cpu_products_bf16())
                check_rounded(s, left, right, i, j, result[i * stride + j]);
            else
                check_element(products, s, left, right, i, j, result[i * stride + j]);
        for (size_t j = s->columns; j < stride && i + 1 < s->rows; j++)
            assert_true(result[i * stride + j] == untouched);
    }
}

static void check_everywhere(size_t rows, size_t depth, size_t columns)
{
    for (size_t v = 0; products_number(v); v++)
        for (int operation = 0; operation < OPERATIONS; operation++) {
            struct shape s = {(enum operation)operation, rows, depth, columns, (rows + columns) % 3, rows % 2 == 0, 64};
            if (columns % 2 == 0) s.piece = operation == FORWARD ? ND_PANEL_MOST : 17;
            check_shape(products_number(v), &s);
        }
}

/* All numbers of rows and columns around the tiles of every variant. */
static void test_small(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 34; rows++)
        for (size_t columns = 1; columns <= 70; columns += columns < 34 ? 1 : 3)
            check_everywhere(rows, 1 + (rows + columns) % 7, columns);
}

/* Around the borders of blocks: stretches of 192 and 256, 64 and 128 rows, and the networks' own sizes. */
static void test_borders(void **state)
{
    static const size_t shape[][3] = {{1, 1, 1},      {3, 0, 5},      {0, 4, 5},      {1, 191, 33},   {2, 192, 1},
                                      {7, 193, 64},   {6, 255, 16},   {13, 256, 31},  {14, 257, 32},  {15, 384, 33},
                                      {29, 385, 47},  {63, 511, 49},  {64, 512, 17},  {65, 513, 63},  {127, 64, 65},
                                      {128, 100, 50}, {129, 101, 70}, {130, 3, 96},   {200, 31, 100}, {25, 246, 500},
                                      {63, 500, 784}, {5, 1568, 37},  {64, 1000, 126}};
    (void)state;
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) check_everywhere(shape[i][0], shape[i][1], shape[i][2]);
}

/* A row gives the same bytes alone and among others, in any place. */
static void test_row_alone(void **state)
{
    enum { ROWS = 61, DEPTH = 300, COLUMNS = 45 };
    static float left[ROWS * DEPTH], right[COLUMNS * DEPTH], packed[DEPTH * 2 * ND_PANEL_MOST], all[ROWS * COLUMNS],
        one[COLUMNS];
    (void)state;
    for (size_t i = 0; i < ROWS * DEPTH; i++) left[i] = next_number();
    for (size_t i = 0; i < COLUMNS * DEPTH; i++) right[i] = next_number();
    for (size_t v = 0; products_number(v); v++) {
        const struct cpu_products *products = products_number(v);
        products->pack_transpose(DEPTH, COLUMNS, 0, COLUMNS, right, packed);
        products->multiply(ROWS, DEPTH, COLUMNS, left, DEPTH, packed, all, COLUMNS);
        for (size_t r = 0; r < ROWS; r++) {
            products->multiply(1, DEPTH, COLUMNS, left + r * DEPTH, DEPTH, packed, one, COLUMNS);
            assert_memory_equal(one, all + r * COLUMNS, sizeof one);
        }
    }
}

/* What is not finite stays in its row: nothing that pads a tile spreads it. */
static void test_not_finite(void **state)
{
    enum { ROWS = 9, DEPTH = 5, COLUMNS = 3 };
    float left[ROWS * DEPTH], right[COLUMNS * DEPTH], packed[DEPTH * ND_PANEL_MOST], result[ROWS * COLUMNS];
    (void)state;
    for (size_t i = 0; i < ROWS * DEPTH; i++) left[i] = 1;
    for (size_t i = 0; i < COLUMNS * DEPTH; i++) right[i] = 2;
    left[4 * DEPTH] = INFINITY;
    left[6 * DEPTH + 1] = NAN;
    for (size_t v = 0; products_number(v); v++) {
        const struct cpu_products *products = products_number(v);
        products->pack_transpose(DEPTH, COLUMNS, 0, COLUMNS, right, packed);
        products->multiply(ROWS, DEPTH, COLUMNS, left, DEPTH, packed, result, COLUMNS);
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            size_t row = i / COLUMNS;
            assert_true(row == 4 ? isinf(result[i]) : row == 6 ? isnan(result[i]) : result[i] == 2 * DEPTH);
        }
    }
}

static int get_memory(void **state)
{
    (void)state;
    for (int i = 0; i < OPERANDS; i++) memory[i] = guarded_alloc(2 << 20);
    return 0;
}

static int free_memory(void **state)
{
    (void)state;
    for (int i = 0; i < OPERANDS; i++) guarded_free(&memory[i]);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_borders),
                                       cmocka_unit_test(test_row_alone), cmocka_unit_test(test_not_finite)};
    return cmocka_run_group_tests(tests, get_memory, free_memory);
}
