/* The number of threads changes no byte: training, validation and scoring with 1, 2, 3 and 8. */
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 300, BATCH = 170, UPDATES = 12, ORDERS = 3 };

struct outcome {
    float *parameters; /* (plan->parameters) */
    double loss, valid, scores[ORDERS * ROWS];
};

/* The networks: of all orderings, of one, of one with factors for its positions, residual. */
enum kind { PLAIN, FIXED, RESCALED, RESIDUAL };

static void run_with(struct support_model *m, unsigned threads, nade_optimizer optimizer, double clip,
                     const struct encoded_rows *cells, const size_t *order, struct outcome *outcome)
{
    const struct backend_entries *entries = &nd_cpu_entries;
    struct update_rule rule = {.optimizer = optimizer,
                               .learning_rate = 0.01,
                               .momentum = 0.9,
                               .weight_decay = 0.001,
                               .direct_decay = 0.01,
                               .dropout = m->plan.blocks ? 0.2 : 0,
                               .clip = clip,
                               .total_updates = UPDATES,
                               .batch = BATCH,
                               .seed = 7};
    struct score_query query = {order, ORDERS, m->plan.columns, 0, NULL};
    struct backend *backend = NULL;
    uint64_t failed;
    m->context->threads = threads;
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    support_assert_ok(m->context, entries->set_data(m->context, backend, DATA_TRAIN, cells));
    support_assert_ok(m->context, entries->set_data(m->context, backend, DATA_VALID, cells));
    support_assert_ok(m->context,
                      entries->train_updates(m->context, backend, &rule, 0, UPDATES, &outcome->loss, &failed));
    support_assert_ok(m->context, entries->validate(m->context, backend, 7, 3, &outcome->valid));
    support_assert_ok(m->context, entries->score_block(m->context, backend, cells, &query, outcome->scores));
    support_assert_ok(m->context, entries->get_block(m->context, backend, BLOCK_PARAMETERS, outcome->parameters));
    entries->close(backend);
}

/* Layers have more than one block of weight rows each. */
static void build(struct support_model *m, enum kind kind)
{
    static const size_t hidden[] = {70, 130}, ordering[] = {7, 2, 0, 9, 4, 1, 8, 3, 6, 5};
    const char *kinds = "brcbrbcbbr";
    switch (kind) {
    case PLAIN: support_build(m, kinds, hidden, 2, 3, NADE_RELU, true); break;
    case FIXED: support_build_fixed(m, kinds, 200, 3, NADE_TANH, ordering); break;
    case RESCALED: support_build_rescaled(m, kinds, 200, 3, NADE_TANH, ordering); break;
    case RESIDUAL: support_build_residual(m, kinds, 2, 70, true, 3, true); break;
    }
}

static void check(nade_optimizer optimizer, double clip, enum kind kind)
{
    const unsigned counts[] = {2, 3, 8};
    struct support_model m;
    build(&m, kind);
    size_t columns = m.plan.columns, part = nd_cpu_part_rows(BATCH);
    assert_true((BATCH + part - 1) / part >= 5);
    float *values = nd_arena_alloc(&m.arena, ROWS * columns, sizeof *values);
    size_t *order = nd_arena_alloc(&m.arena, ORDERS * columns, sizeof *order);
    struct outcome *first = nd_arena_alloc(&m.arena, 1, sizeof *first);
    struct outcome *other = nd_arena_alloc(&m.arena, 1, sizeof *other);
    first->parameters = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof(float));
    other->parameters = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof(float));
    support_random_cells(&m.plan, ROWS, 9, 0.1, values);
    for (size_t i = 0; i < ORDERS * columns; i++) order[i] = (i * 3 + i / columns) % columns;
    struct encoded_rows cells = {ROWS, columns, ENCODED_FLOATS, values};
    run_with(&m, 1, optimizer, clip, &cells, order, first);
    assert_memory_not_equal(first->parameters, m.parameters, m.plan.parameters * sizeof(float));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        run_with(&m, counts[i], optimizer, clip, &cells, order, other);
        assert_memory_equal(other->parameters, first->parameters, m.plan.parameters * sizeof(float));
        assert_memory_equal(other->scores, first->scores, sizeof first->scores);
        assert_true(other->loss == first->loss && other->valid == first->valid);
    }
    support_free(&m);
}

static void test_nag(void **state)
{
    (void)state;
    check(NADE_NAG, 0, PLAIN);
}

static void test_adam(void **state)
{
    (void)state;
    check(NADE_ADAM, 0, PLAIN);
}

static void test_fixed_order(void **state)
{
    (void)state;
    check(NADE_NAG, 0, FIXED);
    check(NADE_ADAM, 0, FIXED);
    check(NADE_NAG, 0, RESCALED);
    check(NADE_ADAM, 0, RESCALED);
}

/* With dropout; norms' gradients are added up from the chunks' parts. */
static void test_residual(void **state)
{
    (void)state;
    check(NADE_NAG, 0, RESIDUAL);
    check(NADE_ADAM, 0, RESIDUAL);
}

/* Sections of gradients and of steps apart, and a norm summed in pieces. */
static void test_clipping(void **state)
{
    (void)state;
    check(NADE_ADAM, 0.01, PLAIN);
    check(NADE_LION, 0.01, RESCALED);
    check(NADE_ADAM, 0.01, RESIDUAL);
}

/* Large batches feed 16 cores, small ones keep their products large. */
static void test_chunk_sizes(void **state)
{
    (void)state;
    assert_int_equal(nd_cpu_part_rows(1), 1);
    assert_int_equal(nd_cpu_part_rows(100), 25);
    assert_int_equal(nd_cpu_part_rows(1000), 63);
    assert_int_equal(nd_cpu_part_rows(100000), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nag),      cmocka_unit_test(test_adam),     cmocka_unit_test(test_fixed_order),
        cmocka_unit_test(test_residual), cmocka_unit_test(test_clipping), cmocka_unit_test(test_chunk_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
