/* The kernels that make a batch's rows ready, each instruction set's, against the plain loops that they stand for: the
 * choice of observed columns against that of model/draws.h, ties of keys included. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_kernels.h"
#include "data/encoded_rows.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { MOST = 3000 };

static void compare_selections(const struct cpu_kernels *k, size_t columns, uint32_t row)
{
    static uint8_t present[MOST], expected[MOST], found[MOST];
    static uint64_t ranked[MOST];
    size_t there = 0;
    uint32_t *keys = calloc(nd_key_space(columns), sizeof *keys);
    assert_non_null(keys);
    for (uint32_t c = 0; c < columns; c++) {
        present[c] = row % 2 || nd_random_word(3, PURPOSE_SPLIT, row, 0, c) % 4 || c == 0;
        there += present[c];
    }
    size_t count = row < 3 ? row * (there - 1) / 2 : row % there;
    nd_select_observed(9, PURPOSE_TRAIN_KEYS, 7, row, columns, present, count, ranked, expected);
    k->select_observed(9, PURPOSE_TRAIN_KEYS, 7, row, columns, present, count, keys, found);
    assert_memory_equal(found, expected, columns);
    free(keys);
}

static void test_selection(void **state)
{
    const size_t sizes[] = {1, 2, 5, 15, 16, 17, 63, 128, 784, MOST};
    const struct cpu_kernels *k;
    (void)state;
    for (size_t variant = 0; (k = nd_cpu_kernels_variant(variant)); variant++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (uint32_t row = 0; row < 60; row++) compare_selections(k, sizes[s], row);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Cuts right between two columns with equal keys: of those, only the first is observed. */
static void test_ties(void **state)
{
    enum { COLUMNS = 20000 };
    static uint8_t present[COLUMNS], found[COLUMNS];
    static uint64_t ranked[COLUMNS];
    static uint32_t keys[2 * (COLUMNS + ND_KEYS)];
    size_t ties = 0;
    (void)state;
    memset(present, 1, sizeof present);
    for (uint32_t row = 0; row < 200 && ties < 3; row++) {
        for (uint32_t c = 0; c < COLUMNS; c++)
            ranked[c] = ((uint64_t)nd_random_word(1, PURPOSE_TRAIN_KEYS, 0, row, c) << 32) | c;
        qsort(ranked, COLUMNS, sizeof *ranked, compare);
        for (size_t i = 0; i + 1 < COLUMNS; i++) {
            if (ranked[i] >> 32 != ranked[i + 1] >> 32) continue;
            const struct cpu_kernels *k;
            for (size_t variant = 0; (k = nd_cpu_kernels_variant(variant)); variant++) {
                k->select_observed(1, PURPOSE_TRAIN_KEYS, 0, row, COLUMNS, present, i + 1, keys, found);
                assert_true(found[ranked[i] & 0xffffffffu] && !found[ranked[i + 1] & 0xffffffffu]);
            }
            ties++;
        }
    }
    assert_true(ties >= 3);
}

static void check_cells(const struct cpu_kernels *k, size_t columns)
{
    float cells[MOST] = {0}, x[MOST], input[MOST], mask[MOST];
    uint8_t bytes[MOST] = {0}, present[MOST], observed[MOST], target[MOST], again[MOST];
    uint32_t there = 0, hidden = 0;
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t word = nd_random_word(5, PURPOSE_SPLIT, columns, 0, c);
        bytes[c] = word % 5 == 0 ? ND_BYTE_MISSING : (uint8_t)(word % 3);
        cells[c] = word % 5 == 0 ? NAN : (float)(word % 3);
        observed[c] = (uint8_t)(word >> 31);
    }
    there = k->load_bytes(columns, bytes, x, present);
    for (size_t c = 0; c < columns; c++) assert_true(x[c] == (isnan(cells[c]) ? 0 : cells[c]));
    assert_int_equal(k->load_floats(columns, cells, input, again), there);
    assert_memory_equal(again, present, columns);
    assert_memory_equal(input, x, columns * sizeof *x);
    hidden = k->hide(columns, present, observed, target);
    k->choose(columns, observed, x, input);
    k->widen(columns, observed, mask);
    for (size_t c = 0; c < columns; c++) {
        bool here = !isnan(cells[c]), seen = here && nd_random_word(5, PURPOSE_SPLIT, columns, 0, (uint32_t)c) >> 31;
        assert_true(present[c] == here && observed[c] == seen && target[c] == (here && !seen));
        assert_true(input[c] == (seen ? x[c] : 0) && mask[c] == (seen ? 1.0f : 0.0f));
        there -= present[c];
        hidden -= target[c];
    }
    assert_true(there == 0 && hidden == 0);
}

static void test_cells(void **state)
{
    const size_t sizes[] = {1, 15, 16, 100, 784, MOST};
    const struct cpu_kernels *k;
    (void)state;
    for (size_t variant = 0; (k = nd_cpu_kernels_variant(variant)); variant++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check_cells(k, sizes[s]);
}

/* Row after row, to the last bit. */
static void test_sums(void **state)
{
    enum { ROWS = 37, STRIDE = 211 };
    static float values[ROWS * STRIDE], sums[STRIDE];
    const struct cpu_kernels *k;
    (void)state;
    for (uint32_t i = 0; i < ROWS * STRIDE; i++)
        values[i] = nd_random_uniform(nd_random_word(2, PURPOSE_SPLIT, 0, 0, i)) - 0.3f;
    for (size_t variant = 0; (k = nd_cpu_kernels_variant(variant)); variant++)
        for (size_t width = 1; width <= STRIDE; width += 35) {
            k->sum_rows(ROWS, width, STRIDE, values, sums);
            for (size_t i = 0; i < width; i++) {
                float sum = 0;
                for (size_t r = 0; r < ROWS; r++) sum += values[r * STRIDE + i];
                assert_true(sums[i] == sum);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
