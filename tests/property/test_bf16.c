/* Products of bfloat16 on the CPU (--precision bf16): losses, gradients and scores near those of fp32, probabilities
 * that still sum to one, and the same bytes for any number of threads. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 150, UPDATES = 8, ORDERS = 2 };

struct outcome {
    float *gradient, *parameters; /* (plan->parameters) each, the latter after UPDATES */
    double loss, trained, scores[ORDERS * ROWS];
};

static void build(struct support_model *m, bool residual, const char *kinds)
{
    static const size_t hidden[] = {70, 131};
    if (residual)
        support_build_residual(m, kinds, 2, 71, true, 3, true);
    else
        support_build(m, kinds, hidden, 2, 3, NADE_RELU, true);
}

static void run(struct support_model *m, nade_precision precision, unsigned threads, const struct encoded_rows *cells,
                const uint8_t *observed, const struct score_query *query, struct outcome *outcome)
{
    const struct backend_entries *entries = &nd_cpu_entries;
    struct update_rule rule = {.optimizer = NADE_ADAM,
                               .learning_rate = 0.01,
                               .momentum = 0.9,
                               .dropout = m->plan.blocks ? 0.2 : 0,
                               .total_updates = UPDATES,
                               .batch = ROWS,
                               .seed = 3};
    struct backend *backend = NULL;
    uint64_t failed;
    m->context->threads = threads;
    outcome->gradient = nd_arena_alloc(&m->arena, m->plan.parameters, sizeof(float));
    outcome->parameters = nd_arena_alloc(&m->arena, m->plan.parameters, sizeof(float));
    support_assert_ok(m->context, entries->open(m->context, &m->plan, precision, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    support_assert_ok(m->context, entries->set_data(m->context, backend, DATA_TRAIN, cells));
    support_assert_ok(m->context, entries->score_block(m->context, backend, cells, query, outcome->scores));
    support_assert_ok(m->context, entries->loss_and_gradients(m->context, backend, cells, observed, &outcome->loss));
    support_assert_ok(m->context, entries->get_block(m->context, backend, BLOCK_GRADIENT, outcome->gradient));
    support_assert_ok(m->context,
                      entries->train_updates(m->context, backend, &rule, 0, UPDATES, &outcome->trained, &failed));
    support_assert_ok(m->context, entries->get_block(m->context, backend, BLOCK_PARAMETERS, outcome->parameters));
    entries->close(backend);
}

/* The distance of two vectors over the length of the first. */
static double distance(size_t count, const float *a, const float *b)
{
    double apart = 0, length = 0;
    for (size_t i = 0; i < count; i++) {
        apart += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        length += (double)a[i] * (double)a[i];
    }
    return sqrt(apart / length);
}

/* Losses within 0.2 %, gradients within 4 %, scores within 1 %; but not the same. */
static void compare(struct support_model *m, const struct outcome *exact, const struct outcome *rounded)
{
    double apart = distance(m->plan.parameters, exact->gradient, rounded->gradient);
    assert_true(apart > 1e-5 && apart < 0.04);
    assert_true(fabs(rounded->loss / exact->loss - 1) < 0.002 && fabs(rounded->trained / exact->trained - 1) < 0.002);
    for (size_t i = 0; i < ORDERS * ROWS; i++)
        assert_true(fabs(rounded->scores[i] - exact->scores[i]) < 0.01 * (1 + fabs(exact->scores[i])));
    assert_memory_not_equal(rounded->scores, exact->scores, sizeof exact->scores);
}

static void check_network(bool residual)
{
    static struct outcome exact, rounded, other;
    struct support_model m;
    build(&m, residual, "brcbrbcbbr");
    size_t columns = m.plan.columns, order[ORDERS * 10];
    float *values = nd_arena_alloc(&m.arena, ROWS * columns, sizeof *values);
    uint8_t *observed = nd_arena_alloc(&m.arena, ROWS * columns, 1);
    support_random_cells(&m.plan, ROWS, 9, 0.1, values);
    for (size_t i = 0; i < ROWS * columns; i++) observed[i] = i % 7 < 3;
    for (size_t i = 0; i < ORDERS * columns; i++) order[i] = (i * 3 + i / columns) % columns;
    struct encoded_rows cells = {ROWS, columns, ENCODED_FLOATS, values};
    struct score_query query = {order, ORDERS, columns, 0, NULL};
    run(&m, NADE_PRECISION_FP32, 1, &cells, observed, &query, &exact);
    run(&m, NADE_PRECISION_BF16, 1, &cells, observed, &query, &rounded);
    compare(&m, &exact, &rounded);
    for (unsigned threads = 2; threads <= 5; threads++) {
        run(&m, NADE_PRECISION_BF16, threads, &cells, observed, &query, &other);
        assert_memory_equal(other.parameters, rounded.parameters, m.plan.parameters * sizeof(float));
        assert_memory_equal(other.scores, rounded.scores, sizeof rounded.scores);
        assert_true(other.loss == rounded.loss && other.trained == rounded.trained);
    }
    support_free(&m);
}

static void test_plain(void **state)
{
    (void)state;
    if (!nd_cpu_products_bf16()) skip();
    check_network(false);
}

static void test_residual(void **state)
{
    (void)state;
    if (!nd_cpu_products_bf16()) skip();
    check_network(true);
}

/* All rows of bits. */
static void test_sum(void **state)
{
    enum { COLUMNS = 7, ALL = 1 << COLUMNS };
    static const size_t order[COLUMNS] = {3, 0, 6, 1, 5, 2, 4};
    struct score_query query = {order, 1, COLUMNS, 0, NULL};
    float values[ALL * COLUMNS];
    double scores[ALL], sum = 0;
    struct encoded_rows cells = {ALL, COLUMNS, ENCODED_FLOATS, values};
    (void)state;
    if (!nd_cpu_products_bf16()) skip();
    for (size_t i = 0; i < ALL * COLUMNS; i++) values[i] = (float)(i / COLUMNS >> i % COLUMNS & 1);
    for (int residual = 0; residual < 2; residual++, sum = 0) {
        struct support_model m;
        struct backend *backend = NULL;
        build(&m, residual, "bbbbbbb");
        support_assert_ok(m.context, nd_cpu_entries.open(m.context, &m.plan, NADE_PRECISION_BF16, &backend));
        support_assert_ok(m.context, nd_cpu_entries.set_block(m.context, backend, BLOCK_PARAMETERS, m.parameters));
        support_assert_ok(m.context, nd_cpu_entries.score_block(m.context, backend, &cells, &query, scores));
        for (size_t i = 0; i < ALL; i++) sum += exp(scores[i]);
        support_assert_close("sum over all rows", sum, 1, 1e-5, 0);
        nd_cpu_entries.close(backend);
        support_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_residual),
        cmocka_unit_test(test_sum),
    };
    if (!nd_cpu_products_bf16()) printf("skipped: this processor has no AVX512-BF16\n");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
