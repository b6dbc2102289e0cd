/* A draw depends on its seed, number and own cells alone: bit for bit the same alone, at every place of a block, and
 * for any number of threads; and the CPU backend draws what the reference draws. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

#define ROWS ((size_t)2 * ND_TILE + 37)

/* Draws to be made, some cells given. */
struct draws {
    struct support_model m;
    size_t columns;
    size_t *order;  /* (ROWS, columns) */
    uint64_t *draw; /* (ROWS) */
    uint32_t *row;  /* (ROWS) */
    float *given;   /* (ROWS, columns) */
    float *cells;   /* (ROWS, columns): drawn all at once */
};

static void set_up(struct draws *d)
{
    d->columns = d->m.plan.columns;
    struct arena *arena = &d->m.arena;
    uint64_t *scratch = nd_arena_alloc(arena, d->columns, sizeof *scratch);
    d->order = nd_arena_alloc(arena, ROWS * d->columns, sizeof *d->order);
    d->draw = nd_arena_alloc(arena, ROWS, sizeof *d->draw);
    d->row = nd_arena_alloc(arena, ROWS, sizeof *d->row);
    d->given = nd_arena_alloc(arena, ROWS * d->columns, sizeof *d->given);
    d->cells = nd_arena_alloc(arena, ROWS * d->columns, sizeof *d->cells);
    assert_true(scratch && d->order && d->draw && d->row && d->given && d->cells);
    support_random_cells(&d->m.plan, ROWS, 4, 0.7, d->given);
    for (size_t i = 0; i < ROWS; i++) {
        d->draw[i] = ((uint64_t)1 << 32) + 7 * i;
        d->row[i] = (uint32_t)(i % 5);
        nd_draw_order(3, PURPOSE_SAMPLE_ORDER, i, 0, d->columns, scratch, d->order + i * d->columns);
    }
}

/* Draws rows first…first+rows-1 of d into cells (rows, columns). */
static void sample(struct draws *d, const struct backend_entries *entries, struct backend *backend, size_t first,
                   size_t rows, float *cells)
{
    struct sample_query query = {d->order + first * d->columns, d->draw + first, d->row + first, 17, SIZE_MAX, 0, 0};
    memcpy(cells, d->given + first * d->columns, rows * d->columns * sizeof *cells);
    support_assert_ok(d->m.context, entries->sample_block(d->m.context, backend, &query, rows, cells));
}

static struct backend *open_with(struct draws *d, const struct backend_entries *entries, unsigned threads)
{
    struct backend *backend = NULL;
    d->m.context->threads = threads;
    support_assert_ok(d->m.context, entries->open(d->m.context, &d->m.plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(d->m.context, entries->set_block(d->m.context, backend, BLOCK_PARAMETERS, d->m.parameters));
    return backend;
}

static void check_places(struct draws *d, struct backend *backend)
{
    float *part = nd_arena_alloc(&d->m.arena, ROWS * d->columns, sizeof *part);
    for (size_t first = 0; first < ROWS; first += 1 + first / 3) {
        size_t rows = first % 3 == 0 ? 1 : ROWS - first;
        sample(d, &nd_cpu_entries, backend, first, rows, part);
        assert_memory_equal(part, d->cells + first * d->columns, rows * d->columns * sizeof *part);
    }
}

/* Given cells come back as they were, every hole is filled. */
static void check_filled(const struct draws *d)
{
    size_t holes = 0;
    for (size_t i = 0; i < ROWS * d->columns; i++) {
        assert_true(isfinite(d->cells[i]) != 0);
        if (isnan(d->given[i]))
            holes++;
        else
            assert_memory_equal(&d->cells[i], &d->given[i], sizeof(float));
    }
    assert_true(holes > ROWS);
}

static void check_reference(struct draws *d)
{
    struct backend *backend = open_with(d, &nd_reference_double, 1);
    float *expected = nd_arena_alloc(&d->m.arena, ROWS * d->columns, sizeof *expected);
    size_t others = 0;
    sample(d, &nd_reference_double, backend, 0, ROWS, expected);
    for (size_t i = 0; i < ROWS * d->columns; i++)
        if (fabsf(d->cells[i] - expected[i]) > 1e-4f * (1 + fabsf(expected[i]))) others++;
    /* A uniform number may fall between two roundings of one probability, and what follows it then differs too. */
    if (others * 1000 > ROWS * d->columns) {
        print_error("%zu of %zu cells differ from the reference\n", others, ROWS * d->columns);
        fail();
    }
    nd_reference_double.close(backend);
}

static void check(struct draws d)
{
    set_up(&d);
    struct backend *backend = open_with(&d, &nd_cpu_entries, 1);
    sample(&d, &nd_cpu_entries, backend, 0, ROWS, d.cells);
    check_filled(&d);
    check_places(&d, backend);
    nd_cpu_entries.close(backend);
    float *again = nd_arena_alloc(&d.m.arena, ROWS * d.columns, sizeof *again);
    for (unsigned threads = 2; threads <= 4; threads++) {
        backend = open_with(&d, &nd_cpu_entries, threads);
        sample(&d, &nd_cpu_entries, backend, 0, ROWS, again);
        assert_memory_equal(again, d.cells, ROWS * d.columns * sizeof *again);
        nd_cpu_entries.close(backend);
    }
    check_reference(&d);
    support_free(&d.m);
}

static void check_plain(const char *kinds, const size_t *hidden, size_t layers)
{
    struct draws d;
    support_build(&d.m, kinds, hidden, layers, 3, NADE_RELU, true);
    check(d);
}

static void test_every_place_and_thread(void **state)
{
    /* Widths that are and are not multiples of what the products unroll by. */
    const size_t one[] = {50}, two[] = {50, 37}, three[] = {64, 130, 33};
    (void)state;
    check_plain("bbbbbbbbb", one, 1);
    check_plain("brcbr5", two, 2);
    check_plain("rrrbb", three, 3);
}

static void test_residual_networks(void **state)
{
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        struct draws d;
        support_build_residual(&d.m, "brcgr5", 2, 37, direct, 3, true);
        check(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_place_and_thread),
                                       cmocka_unit_test(test_residual_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
