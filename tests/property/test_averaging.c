/* The running average of the parameters: what it is after each update, that it changes nothing else, that it can take
 * the parameters' place, and that the CPU agrees with the reference; for all kinds of networks. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/optimizer.h"
#include "backend/reference/reference.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 60, COLUMNS = 5, UPDATES = 60, KINDS = 5 };

/* Of the first two, all orderings, hidden layers and a residual network; of the others, one, without and with factors,
 * and without hidden layers. */
static void build(struct support_model *m, int kind)
{
    static const size_t hidden[] = {30, 20}, ordering[] = {3, 0, 4, 1, 2};
    if (kind == 0)
        support_build(m, "brc4b", hidden, 2, 3, NADE_GELU, true);
    else if (kind == 1)
        support_build_residual(m, "brc4b", 2, 20, true, 3, true);
    else
        (kind == 3 ? support_build_rescaled : support_build_fixed)(m, "brc4b", kind == 4 ? 0 : 40, 3, NADE_SILU,
                                                                   ordering);
}

static struct update_rule rule_of(double average, double clip)
{
    return (struct update_rule){.optimizer = NADE_ADAM,
                                .learning_rate = 0.02,
                                .momentum = 0.9,
                                .weight_decay = 0.01,
                                .clip = clip,
                                .average = average,
                                .total_updates = 2 * UPDATES,
                                .batch = 40,
                                .seed = 3};
}

/* A model on an open backend with rows to train and validate on. */
struct rig {
    const struct backend_entries *entries;
    struct support_model *m;
    struct backend *backend;
    float values[ROWS * COLUMNS];
    struct encoded_rows cells;
};

static void open_rig(struct rig *rig, const struct backend_entries *entries, struct support_model *m)
{
    *rig = (struct rig){.entries = entries, .m = m, .cells = {ROWS, COLUMNS, ENCODED_FLOATS, rig->values}};
    support_random_cells(&m->plan, ROWS, 5, 0.1, rig->values);
    support_assert_ok(m->context, entries->open(m->context, &m->plan, NADE_PRECISION_AUTO, &rig->backend));
    support_assert_ok(m->context, entries->set_block(m->context, rig->backend, BLOCK_PARAMETERS, m->parameters));
    support_assert_ok(m->context, entries->set_block(m->context, rig->backend, BLOCK_AVERAGE, m->parameters));
    support_assert_ok(m->context, entries->set_data(m->context, rig->backend, DATA_TRAIN, &rig->cells));
    support_assert_ok(m->context, entries->set_data(m->context, rig->backend, DATA_VALID, &rig->cells));
}

static void run(struct rig *rig, const struct update_rule *rule, uint64_t first, uint64_t count)
{
    double loss;
    uint64_t failed;
    support_assert_ok(rig->m->context,
                      rig->entries->train_updates(rig->m->context, rig->backend, rule, first, count, &loss, &failed));
}

static float *block_of(struct rig *rig, enum block block)
{
    float *values = nd_arena_alloc(&rig->m->arena, rig->m->plan.parameters, sizeof *values);
    assert_non_null(values);
    support_assert_ok(rig->m->context, rig->entries->get_block(rig->m->context, rig->backend, block, values));
    return values;
}

static double validate(struct rig *rig)
{
    double loss;
    support_assert_ok(rig->m->context, rig->entries->validate(rig->m->context, rig->backend, 9, 3, &loss));
    return loss;
}

/* The average by hand, from the parameters after each update. */
static void check_average(const struct backend_entries *entries, int kind, double decay, double clip)
{
    struct support_model m;
    struct rig rig;
    struct update_rule rule = rule_of(decay, clip);
    build(&m, kind);
    open_rig(&rig, entries, &m);
    double *expected = nd_arena_alloc(&m.arena, m.plan.parameters, sizeof *expected);
    for (size_t i = 0; i < m.plan.parameters; i++) expected[i] = (double)m.parameters[i];
    for (uint64_t u = 0; u < UPDATES; u++) {
        double kept = fmin(decay, (1 + (double)u) / (10 + (double)u));
        run(&rig, &rule, u, 1);
        const float *parameters = block_of(&rig, BLOCK_PARAMETERS), *average = block_of(&rig, BLOCK_AVERAGE);
        for (size_t i = 0; i < m.plan.parameters; i++) {
            expected[i] = kept * expected[i] + (1 - kept) * (double)parameters[i];
            support_assert_close("average", (double)average[i], expected[i], 1e-6, 1e-6);
        }
    }
    entries->close(rig.backend);
    support_free(&m);
}

static void test_what_it_is(void **state)
{
    static const struct backend_entries *const all[] = {&nd_reference_double, &nd_cpu_entries};
    (void)state;
    for (size_t b = 0; b < 2; b++)
        for (int kind = 0; kind < KINDS; kind++) {
            check_average(all[b], kind, 0.8, 0);
            check_average(all[b], kind, 0.999, 0.125);
        }
}

/* Parameters and moments are those of a run without; a rule without leaves the average alone. */
static void check_the_rest(const struct backend_entries *entries, int kind)
{
    static const enum block blocks[] = {BLOCK_PARAMETERS, BLOCK_MOMENT1, BLOCK_MOMENT2};
    struct support_model m;
    struct rig with, without;
    struct update_rule averaged = rule_of(0.9, 0), plain = rule_of(0, 0);
    build(&m, kind);
    size_t bytes = m.plan.parameters * sizeof(float);
    open_rig(&with, entries, &m);
    open_rig(&without, entries, &m);
    run(&with, &averaged, 0, UPDATES);
    run(&without, &plain, 0, UPDATES);
    for (size_t b = 0; b < 3; b++)
        assert_memory_equal(block_of(&with, blocks[b]), block_of(&without, blocks[b]), bytes);
    assert_memory_equal(block_of(&without, BLOCK_AVERAGE), m.parameters, bytes);
    assert_memory_not_equal(block_of(&with, BLOCK_AVERAGE), block_of(&with, BLOCK_PARAMETERS), bytes);
    entries->close(with.backend);
    entries->close(without.backend);
    support_free(&m);
}

static void test_the_rest_stays(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        check_the_rest(&nd_reference_double, kind);
        check_the_rest(&nd_cpu_entries, kind);
    }
}

/* What is validated between two exchanges is the average; training goes on as if there had been none. */
static void check_exchange(const struct backend_entries *entries, int kind)
{
    struct support_model m;
    struct rig rig, plain, other;
    struct update_rule rule = rule_of(0.9, 0);
    build(&m, kind);
    size_t bytes = m.plan.parameters * sizeof(float);
    open_rig(&rig, entries, &m);
    open_rig(&plain, entries, &m);
    open_rig(&other, entries, &m);
    run(&rig, &rule, 0, 20);
    run(&plain, &rule, 0, 20);
    double before = validate(&rig);
    support_assert_ok(m.context, entries->exchange(m.context, rig.backend));
    double of_average = validate(&rig);
    assert_memory_equal(block_of(&rig, BLOCK_PARAMETERS), block_of(&plain, BLOCK_AVERAGE), bytes);
    support_assert_ok(m.context, entries->exchange(m.context, rig.backend));
    support_assert_ok(m.context,
                      entries->set_block(m.context, other.backend, BLOCK_PARAMETERS, block_of(&rig, BLOCK_AVERAGE)));
    assert_true(of_average != before && validate(&rig) == before);
    support_assert_close("validated", validate(&other), of_average, entries == &nd_cpu_entries ? 0 : 1e-6, 0);
    run(&rig, &rule, 20, 20);
    run(&plain, &rule, 20, 20);
    assert_memory_equal(block_of(&rig, BLOCK_PARAMETERS), block_of(&plain, BLOCK_PARAMETERS), bytes);
    assert_memory_equal(block_of(&rig, BLOCK_AVERAGE), block_of(&plain, BLOCK_AVERAGE), bytes);
    entries->close(rig.backend);
    entries->close(plain.backend);
    entries->close(other.backend);
    support_free(&m);
}

static void test_exchange(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        check_exchange(&nd_reference_double, kind);
        check_exchange(&nd_cpu_entries, kind);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_it_is), cmocka_unit_test(test_the_rest_stays),
                                       cmocka_unit_test(test_exchange)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
