/* Clipping by the norm of the gradient: what a step then is, that a large bound changes nothing, and that the CPU
 * agrees with the reference; for all kinds of networks. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 60, UPDATES = 5, KINDS = 3 };

/* More than one piece of the gradient; of the first, all orderings; of the others, one, without and with factors. */
static void build(struct support_model *m, int kind)
{
    static const size_t hidden[] = {150, 150}, ordering[] = {3, 0, 4, 1, 2};
    if (kind == 0)
        support_build(m, "brc4b", hidden, 2, 3, NADE_GELU, true);
    else
        (kind == 1 ? support_build_fixed : support_build_rescaled)(m, "brc4b", 900, 3, NADE_SILU, ordering);
    assert_true(m->plan.parameters > 16384);
}

static struct update_rule plain_rule(double clip)
{
    return (struct update_rule){.optimizer = NADE_NAG,
                                .learning_rate = 0.02,
                                .clip = clip,
                                .total_updates = 1000000000,
                                .batch = 40,
                                .seed = 3};
}

/* Parameters (parameters) after some updates. */
static void train(const struct backend_entries *entries, struct support_model *m, const struct update_rule *rule,
                  uint64_t updates, float *parameters)
{
    float values[ROWS * 5];
    struct encoded_rows cells = {ROWS, 5, ENCODED_FLOATS, values};
    struct backend *backend = NULL;
    double loss;
    uint64_t failed;
    support_random_cells(&m->plan, ROWS, 5, 0.1, values);
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(m->context, entries->set_block(m->context, backend, BLOCK_PARAMETERS, m->parameters));
    support_assert_ok(m->context, entries->set_data(m->context, backend, DATA_TRAIN, &cells));
    support_assert_ok(m->context, entries->train_updates(m->context, backend, rule, 0, updates, &loss, &failed));
    support_assert_ok(m->context, entries->get_block(m->context, backend, BLOCK_PARAMETERS, parameters));
    entries->close(backend);
}

/* The length of the way from the model's parameters to others. */
static double distance(const struct support_model *m, const float *parameters)
{
    double sum = 0;
    for (size_t i = 0; i < m->plan.parameters; i++) {
        double difference = (double)parameters[i] - (double)m->parameters[i];
        sum += difference * difference;
    }
    return sqrt(sum);
}

static void check(const struct backend_entries *entries, int kind, double tolerance)
{
    struct support_model m;
    build(&m, kind);
    struct update_rule free = plain_rule(0), large = plain_rule(1e6), small = plain_rule(0.125);
    float *free_way = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof(float));
    float *clipped = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof(float));
    /* With neither momentum nor decay one step is the gradient times the rate. */
    train(entries, &m, &free, 1, free_way);
    double norm = distance(&m, free_way) / 0.02;
    assert_true(norm > 0.25);
    train(entries, &m, &small, 1, clipped);
    support_assert_close("length of the step", distance(&m, clipped), 0.02 * 0.125, tolerance, 0);
    double along = 0;
    for (size_t i = 0; i < m.plan.parameters; i++)
        along += ((double)clipped[i] - (double)m.parameters[i]) * ((double)free_way[i] - (double)m.parameters[i]);
    support_assert_close("direction", along, 0.02 * 0.125 * 0.02 * norm, tolerance, 0);
    /* A bound that is not reached. */
    large.optimizer = free.optimizer = NADE_ADAM;
    large.weight_decay = free.weight_decay = 0.01;
    train(entries, &m, &free, UPDATES, free_way);
    train(entries, &m, &large, UPDATES, clipped);
    assert_memory_equal(clipped, free_way, m.plan.parameters * sizeof(float));
    support_free(&m);
}

static void test_reference(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) check(&nd_reference_double, kind, 2e-4);
}

static void test_cpu(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) check(&nd_cpu_entries, kind, 2e-4);
}

static void test_backends_agree(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        struct support_model m;
        struct update_rule rule = plain_rule(0.125);
        rule.momentum = 0.9;
        rule.weight_decay = 0.01;
        build(&m, kind);
        float *exact = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof(float));
        float *found = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof(float));
        train(&nd_reference_double, &m, &rule, UPDATES, exact);
        train(&nd_cpu_entries, &m, &rule, UPDATES, found);
        for (size_t i = 0; i < m.plan.parameters; i++)
            support_assert_close("parameter", (double)found[i], (double)exact[i], 1e-5, 1e-6);
        support_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_cpu),
                                       cmocka_unit_test(test_backends_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
