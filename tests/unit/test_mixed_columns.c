/* The mean of several networks' distributions of a cell, for every kind of column: its density, mean, quantiles, mode
 * and tail against those of the networks themselves. */
#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "data/date_text.h"
#include "model/head.h"
#include "model/mixed_column.h"
#include "model/mixture.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { MEMBERS = 3, WIDEST = 256, DRAWS = 10000, CASES = 3 };

struct mixed {
    const struct plan_column *own; /* of a network */
    struct plan_column column;     /* of the mean */
    double outputs[MEMBERS][WIDEST], all[MEMBERS * WIDEST];
    double level[DRAWS]; /* log densities of draws from the mean */
};

static void fill(struct mixed *m, const struct plan_column *own, uint32_t seed)
{
    m->own = own;
    m->column = nd_mixed_column(own, MEMBERS);
    assert_true(own->output_width <= WIDEST && m->column.output_width <= MEMBERS * WIDEST);
    for (uint32_t j = 0; j < MEMBERS; j++) {
        for (uint32_t i = 0; i < own->output_width; i++)
            m->outputs[j][i] = 3 * (double)nd_random_uniform(nd_random_word(seed, 100, j, 0, i)) - 1.5;
        const struct mix_share share = nd_equal_share(MEMBERS, j);
        own->head->mix(own, &share, m->outputs[j], m->all);
    }
}

static double log_density(const struct mixed *m, double x)
{
    return m->column.head->log_density(&m->column, m->all, x);
}

/* A draw from the mean: a network's, by turns. */
static double draw(const struct mixed *m, uint32_t i)
{
    struct philox_block block = nd_philox(5, 101, i, 0, 0);
    double x = m->own->head->sample(m->own, m->outputs[i % MEMBERS], block.word);
    return (double)(float)x;
}

static void check_density(const struct mixed *m)
{
    for (uint32_t i = 0; i < 200; i++) {
        double x = draw(m, i), sum = 0;
        for (size_t j = 0; j < MEMBERS; j++) sum += exp(m->own->head->log_density(m->own, m->outputs[j], x));
        support_assert_close("log density", log_density(m, x), log(sum / MEMBERS), 1e-12, 1e-12);
    }
}

static void check_mean(const struct mixed *m)
{
    double sum = 0;
    if (!m->own->head->mean) return;
    for (size_t j = 0; j < MEMBERS; j++) sum += m->own->head->mean(m->own, m->outputs[j]);
    support_assert_close("mean", m->column.head->mean(&m->column, m->all), sum / MEMBERS, 1e-9, 1e-9);
}

/* P(X <= x). */
static double below(const struct mixed *m, double x)
{
    double sum = 0;
    for (size_t j = 0; j < MEMBERS; j++)
        sum += exp(m->own->head->log_between(m->own, m->outputs[j], -HUGE_VAL, x)) / MEMBERS;
    return sum;
}

static void check_quantiles(const struct mixed *m, double cell)
{
    static const double ps[] = {0.003, 0.2, 0.5, 0.77, 0.98};
    if (!m->own->head->quantile) return;
    for (size_t i = 0; i < sizeof ps / sizeof *ps; i++) {
        double x = m->column.head->quantile(&m->column, m->all, ps[i]), place = nd_cell_place(m->own, (double)(float)x);
        assert_true(below(m, place + 0.3 * cell) >= ps[i] - 1e-6);
        double before = below(m, place - 0.3 * cell);
        assert_true(before <= ps[i] + 1e-6 || before == below(m, -1e9)); /* below the first count lies that count */
    }
}

/* No draw is likelier than the mode; and it is a draw's neighbour. */
static void check_mode(const struct mixed *m)
{
    double highest = log_density(m, m->column.head->mode(&m->column, m->all)), found = -HUGE_VAL;
    for (uint32_t i = 0; i < DRAWS; i++) found = fmax(found, m->level[i]);
    assert_true(found <= highest + 1e-9);
    support_assert_close("mode", highest, found, 0, 1e-3);
}

static void check_tails(const struct mixed *m)
{
    for (uint32_t i = 0; i < 12; i++) {
        double x = draw(m, 7 * i), level = log_density(m, x), share = 0;
        double tail = m->column.head->tail(&m->column, m->all, x);
        for (uint32_t k = 0; k < DRAWS; k++) share += m->level[k] <= level + 1e-9;
        support_assert_close("tail", share / DRAWS, tail, 0, 4.5 * sqrt(tail * (1 - tail) / DRAWS) + 1e-4);
    }
}

/* cell: how far cells are apart at least, which have probabilities; else a small step. */
static void check_column(const struct plan_column *own, double cell)
{
    static struct mixed m;
    for (uint32_t seed = 0; seed < CASES; seed++) {
        fill(&m, own, seed);
        for (uint32_t i = 0; i < DRAWS; i++) m.level[i] = log_density(&m, draw(&m, i));
        check_density(&m);
        check_mean(&m);
        check_quantiles(&m, cell);
        check_mode(&m);
        check_tails(&m);
    }
}

static void check_kind(const char *kind, double cell)
{
    const size_t hidden[] = {3};
    struct support_model m;
    support_build(&m, kind, hidden, 1, 4, NADE_TANH, true);
    check_column(&m.plan.column[0], cell);
    support_free(&m);
}

static void test_labels(void **state)
{
    (void)state;
    check_kind("b", 1);
    check_kind("7", 1);
    check_kind("o", 1);
}

static void test_reals(void **state)
{
    (void)state;
    check_kind("r", 1e-6);
    check_kind("a", 1e-6);
    check_kind("g", 1e-6);
    check_kind("m", 1e-6);
}

static void test_counts(void **state)
{
    (void)state;
    check_kind("n", 1e-3);
}

static void check_dates(double cell, double sd)
{
    const struct column_spec spec = {.name = "d",
                                     .type = NADE_DATE,
                                     .form = "YYYY-MM-DD hh:mm",
                                     .mean = 1578268800.0,
                                     .sd = sd,
                                     .step = cell,
                                     .cell = cell};
    struct arena arena = {nd_default_allocator(), NULL};
    struct plan_column column = {.head = nd_head_for(NADE_DATE)};
    nade_context *context = NULL;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    support_assert_ok(context, column.head->plan(context, &arena, &spec, 3, &column));
    check_column(&column, cell / sd);
    nd_arena_free(&arena);
    nade_context_free(context);
}

static void test_dates(void **state)
{
    (void)state;
    check_dates(ND_DAY, 32 * ND_DAY);
    check_dates(3600, 1024 * 3600.0);
}

/* One network's column stays what it is; components of many are counted. */
static void test_how_many(void **state)
{
    const size_t hidden[] = {3};
    struct support_model m;
    (void)state;
    support_build(&m, "rn", hidden, 1, 100, NADE_TANH, true);
    assert_int_equal(nd_mixed_column(&m.plan.column[0], 1).output_width, m.plan.column[0].output_width);
    support_assert_ok(m.context, nd_check_members(m.context, &m.schema, &m.plan, 40));
    assert_int_equal(nd_check_members(m.context, &m.schema, &m.plan, 41), NADE_BAD_CALL);
    assert_string_equal(nade_last_error(m.context),
                        "column 'A' has 4100 components in 41 members together, expected at most 4000: fewer "
                        "`members`, or fewer `components`");
    assert_int_equal(nd_widest_mixed(&m.plan, 40), 3 * 4000);
    support_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_labels), cmocka_unit_test(test_reals),
                                       cmocka_unit_test(test_counts), cmocka_unit_test(test_dates),
                                       cmocka_unit_test(test_how_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
