/* A row's score does not depend on the rows beside it: alone, in bulk, and at every place of a block, bit for bit. */
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { PLACES = 2 * ND_TILE + 3 };

static void score(const struct support_model *m, struct backend *backend, const float *values, size_t rows,
                  const size_t *order, double *log_density)
{
    struct encoded_rows cells = {rows, m->plan.columns, ENCODED_FLOATS, values};
    struct score_query query = {order, 1, m->plan.columns, 0, NULL};
    support_assert_ok(m->context, nd_cpu_entries.score_block(m->context, backend, &cells, &query, log_density));
}

/* The row of interest at `place` among others; its score must be the one it has alone. */
static void check(struct support_model m)
{
    struct backend *backend = NULL;
    size_t columns = m.plan.columns;
    float *others = nd_arena_alloc(&m.arena, PLACES * columns, sizeof *others);
    float *mixed = nd_arena_alloc(&m.arena, PLACES * columns, sizeof *mixed);
    double *log_density = nd_arena_alloc(&m.arena, PLACES, sizeof *log_density);
    double *bulk = nd_arena_alloc(&m.arena, PLACES, sizeof *bulk);
    size_t *order = nd_arena_alloc(&m.arena, columns, sizeof *order);
    for (size_t c = 0; c < columns; c++) order[c] = columns - 1 - c;
    support_assert_ok(m.context, nd_cpu_entries.open(m.context, &m.plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m.context, nd_cpu_entries.set_block(m.context, backend, BLOCK_PARAMETERS, m.parameters));
    support_random_cells(&m.plan, PLACES, 21, 0.15, others);
    score(&m, backend, others, PLACES, order, bulk);
    double alone;
    score(&m, backend, others + 3 * columns, 1, order, &alone);
    assert_memory_equal(&alone, &bulk[3], sizeof alone);
    for (size_t place = 0; place < PLACES; place++) {
        memcpy(mixed, others, PLACES * columns * sizeof *mixed);
        memcpy(mixed + place * columns, others + 3 * columns, columns * sizeof *mixed);
        score(&m, backend, mixed, PLACES, order, log_density);
        assert_memory_equal(&log_density[place], &alone, sizeof alone);
    }
    nd_cpu_entries.close(backend);
    support_free(&m);
}

static void check_plain(const char *kinds, const size_t *hidden, size_t layers, nade_activation activation)
{
    struct support_model m;
    support_build(&m, kinds, hidden, layers, 3, activation, true);
    check(m);
}

static void test_every_place(void **state)
{
    /* Widths that are and are not multiples of what the products unroll by. */
    const size_t one[] = {50}, two[] = {50, 37}, three[] = {64, 500, 33};
    (void)state;
    check_plain("bbbbbbb", one, 1, NADE_RELU);
    check_plain("brcbr", two, 2, NADE_SIGMOID);
    check_plain("rrrbb", three, 3, NADE_RELU);
}

static void test_every_place_of_residual_networks(void **state)
{
    (void)state;
    for (int direct = 0; direct < 2; direct++) {
        struct support_model m;
        support_build_residual(&m, "brcbr", 2, 50, direct, 3, true);
        check(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_place),
                                       cmocka_unit_test(test_every_place_of_residual_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
