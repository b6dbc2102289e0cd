/* How scoring on a CUDA device packs its work, without a device: every row under every order goes along exactly once,
 * and no chunk needs more room than was set aside for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backend/cuda/score/cuda_tiles.h"

static void tiles_have_whole_lines_within_their_bytes(void **state)
{
    static const size_t unit_bytes[] = {128, 256, 2048, 4096, 8192, 65536, 4000256};
    static const size_t output_bytes[] = {4, 120, 12000, 400000, 1u << 30};
    (void)state;
    for (size_t u = 0; u < sizeof unit_bytes / sizeof *unit_bytes; u++) {
        for (size_t o = 0; o < sizeof output_bytes / sizeof *output_bytes; o++) {
            size_t lines = nd_tile_lines(unit_bytes[u], output_bytes[o]);
            assert_true((lines & (lines - 1)) == 0);
            assert_in_range(lines, ND_TILE_LINES_LEAST, ND_TILE_LINES_MOST);
            if (lines == ND_TILE_LINES_LEAST) continue;
            assert_true(lines * unit_bytes[u] <= ND_TILE_BYTES && lines * output_bytes[o] <= ND_TILE_OUTPUT_BYTES);
        }
    }
    assert_int_equal(nd_tile_lines(2048, 4), ND_TILE_BYTES / 2048);
}

enum { ROWS_MOST = 3000, ORDERS_MOST = 300 };

/* Goes through the chunks as scoring does and counts how often each pair comes. */
static void check_chunks(size_t lines, size_t rows, size_t orders, size_t length)
{
    static uint8_t seen[ROWS_MOST * ORDERS_MOST];
    struct chunk_shape shape = nd_chunk_shape(nd_tile_walkers(lines, ND_WALKERS_MOST), rows, orders, length);
    assert_true(shape.rows > 0 && shape.orders > 0);
    assert_true(shape.rows * shape.orders <= nd_tile_walkers(lines, ND_WALKERS_MOST));
    assert_true(shape.orders * length <= nd_tile_order_columns(length));
    assert_true(nd_tile_densities(lines) >= lines);
    memset(seen, 0, rows * orders);
    for (size_t row = 0; row < rows; row += shape.rows)
        for (size_t order = 0; order < orders; order += shape.orders)
            for (size_t r = row; r < row + shape.rows && r < rows; r++)
                for (size_t o = order; o < order + shape.orders && o < orders; o++) seen[o * rows + r]++;
    for (size_t i = 0; i < rows * orders; i++) assert_int_equal(seen[i], 1);
}

static void chunks_hold_every_pair_once(void **state)
{
    static const size_t rows[] = {1, 2, 31, 100, 511, 512, 1000, 1023, 1024, 1025, 3000};
    static const size_t orders[] = {1, 2, 7, 128, 300}, lengths[] = {0, 1, 63, 784, 18000};
    static const size_t lines[] = {128, 1024, 16384, 65536};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
            for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
                for (size_t t = 0; t < sizeof lines / sizeof *lines; t++)
                    check_chunks(lines[t], rows[r], orders[o], lengths[l]);
}

/* The cases that the speed of scoring is judged by. */
static void usual_calls_fill_their_tiles(void **state)
{
    (void)state;
    struct chunk_shape shape = nd_chunk_shape(ND_WALKERS_MOST, 1024, 128, 784);
    assert_int_equal(shape.rows, 1024);
    assert_int_equal(shape.orders, 1);
    shape = nd_chunk_shape(ND_WALKERS_MOST, 100, 128, 784);
    assert_int_equal(shape.rows, 100);
    assert_int_equal(shape.orders, 10);
    shape = nd_chunk_shape(ND_WALKERS_MOST, 1024, 1, 784);
    assert_int_equal(shape.rows, 512);
}

static void nothing_to_score_is_no_division_by_zero(void **state)
{
    (void)state;
    struct chunk_shape none = nd_chunk_shape(1024, 0, 5, 3), no_orders = nd_chunk_shape(1024, 5, 0, 3);
    assert_true(none.rows > 0 && none.orders > 0 && no_orders.rows > 0 && no_orders.orders > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_have_whole_lines_within_their_bytes),
        cmocka_unit_test(chunks_hold_every_pair_once),
        cmocka_unit_test(usual_calls_fill_their_tiles),
        cmocka_unit_test(nothing_to_score_is_no_division_by_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
