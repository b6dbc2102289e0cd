/* Whatever finite outputs a network gives for a real column, every question about its distribution is answered, soon
 * and with a number that can be. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/philox.h"
#include "model/head.h"
#include "model/monotone_map.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { CASES = 500, COMPONENTS = 12 };

#define FARTHEST 3.4028234663852886e38 /* FLT_MAX */

static const double means[] = {0,    1,     -1,    FARTHEST, -FARTHEST, 1e38,  1e38 * (1 + 1e-7), -1e38, 1e30,
                               1e15, -1e15, 1e-38, 1e-3,     3e7,       5e-324};
static const double log_scales[] = {0, -1, 1, -7, 60, 59, FARTHEST, -FARTHEST, -87, -50, 30, 52.5, -745};
static const double logits[] = {0, 1, -1, 1, 30, -30, FARTHEST, -FARTHEST, 1e30, -700};
static const double floors[] = {1e-3, (double)FLT_MIN, 1e-30, 0.3, 1e10, FARTHEST};
static const double places[] = {0, 1, -1, 1e15, -1e15, (double)0.3f, 1e-20, 1e7};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct chance {
    uint32_t number, next;
};

static uint32_t below(struct chance *chance, size_t count)
{
    return (uint32_t)nd_random_below(nd_random_word(9, 0, chance->number, chance->next++, 0), (uint32_t)count);
}

/* Half of the outputs are from the list, the others beside one of them. */
static double choose(struct chance *chance, const double *list, size_t count)
{
    double x = list[below(chance, count)];
    if (below(chance, 2) == 0) return x;
    double other = x * (1 + ((double)below(chance, 1000) - 500) * 1e-4);
    return fabs(other) <= FARTHEST ? other : x;
}

struct example {
    struct plan_column column;
    float atom[2];
    double outputs[3 * COMPONENTS];
};

static void make_example(uint32_t number, struct example *e)
{
    struct chance chance = {number, 0};
    size_t count = 3 + below(&chance, COMPONENTS - 2);
    *e = (struct example){.atom = {0.7f, 0.3f}};
    e->column = (struct plan_column){.head = nd_head_for(NADE_REAL),
                                     .components = count,
                                     .stride = count,
                                     .output_width = 3 * count,
                                     .floor = floors[below(&chance, LENGTH(floors))],
                                     .atoms = below(&chance, 3),
                                     .atom = e->atom};
    for (size_t c = 0; c < count; c++) {
        e->outputs[c] = choose(&chance, logits, LENGTH(logits));
        e->outputs[count + c] = choose(&chance, means, LENGTH(means));
        e->outputs[2 * count + c] = choose(&chance, log_scales, LENGTH(log_scales));
    }
    assert_true(nd_outputs_are_finite(&e->column, e->outputs));
}

/* The density, an atom's included, at the mode is at least that at every mean and atom. */
static void check_mode(const struct example *e)
{
    const struct head *head = e->column.head;
    double mode = head->mode(&e->column, e->outputs);
    double highest = head->log_density(&e->column, e->outputs, mode);
    assert_true(isfinite(mode) && isfinite(highest));
    for (size_t c = e->column.atoms; c < e->column.components; c++) {
        double there = head->log_density(&e->column, e->outputs, e->outputs[e->column.components + c]);
        if (!(highest >= there - 1e-9 * fabs(there))) fail_msg("mode %g: %g, at a mean %g", mode, highest, there);
    }
}

static void check_quantiles(const struct example *e)
{
    static const double shares[] = {1e-12, 0.025, 0.5, 0.975, 1 - 1e-12};
    double before = -HUGE_VAL;
    for (size_t i = 0; i < LENGTH(shares); i++) {
        double x = e->column.head->quantile(&e->column, e->outputs, shares[i]);
        assert_true(isfinite(x) && x >= before - 1e-6 * fabs(before));
        before = x;
    }
    assert_true(isfinite(e->column.head->mean(&e->column, e->outputs)));
}

static void check_place(const struct example *e, double x)
{
    const struct head *head = e->column.head;
    const struct plan_column *column = &e->column;
    double tail = head->tail(column, e->outputs, x);
    assert_true(tail >= 0 && tail <= 1);
    assert_true(isfinite(head->log_density(column, e->outputs, x)));
    assert_true(isfinite(head->log_bin(column, e->outputs, x, 0.05)));
    assert_true(head->log_between(column, e->outputs, x, x + 1 + fabs(x)) <= 1e-9);
}

static void check_draws(const struct example *e, uint32_t number)
{
    struct philox_block words = nd_philox(4, 0, number, 0, 0);
    const struct head *head = e->column.head;
    assert_true(isfinite(head->sample(&e->column, e->outputs, words.word)));
    double x = head->sample_between(&e->column, e->outputs, -1, 1, words.word);
    assert_true(x >= -1 && x <= 1);
}

static void test_every_question_is_answered(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CASES; i++) {
        struct example e;
        make_example(i, &e);
        check_mode(&e);
        check_quantiles(&e);
        for (size_t p = 0; p < LENGTH(places); p++) check_place(&e, places[p]);
        check_draws(&e, i);
    }
}

/* As many components as there may be, narrow ones far apart: the search from mean to mean has its longest way. */
static void test_many_narrow_components(void **state)
{
    static double outputs[3 * ND_COMPONENTS_MOST];
    const double steps[] = {1e35, 2e-9};
    const struct plan_column column = {.head = nd_head_for(NADE_REAL),
                                       .components = ND_COMPONENTS_MOST,
                                       .stride = ND_COMPONENTS_MOST,
                                       .output_width = 3 * (size_t)ND_COMPONENTS_MOST,
                                       .floor = 1e-30};
    (void)state;
    for (size_t i = 0; i < LENGTH(steps); i++) {
        for (size_t c = 0; c < ND_COMPONENTS_MOST; c++) {
            outputs[ND_COMPONENTS_MOST + c] = steps[i] * (double)c;
            outputs[2 * ND_COMPONENTS_MOST + c] = -20;
        }
        outputs[700] = 1;
        double mode = column.head->mode(&column, outputs);
        support_assert_close("the mode", mode, steps[i] * 700, 1e-12, 3e-9);
        outputs[700] = 0;
    }
}

/* A Gaussian so far out that a double can't divide it into pieces has its mean where the map has it. */
static void test_mean_of_a_far_gaussian(void **state)
{
    static const double x[] = {0, 10}, z[] = {-1, 1}, slope[] = {5, 5};
    const struct monotone_map map = {2, x, z, slope, -HUGE_VAL, HUGE_VAL}, bounded = {2, x, z, slope, -2, HUGE_VAL};
    const struct {
        const struct monotone_map *map;
        double mean, expected;
    } cases[] = {{&map, 1e18, 5e18}, {&map, -1e18, -5e18}, {&bounded, -1e18, -2}, {&bounded, 1e18, 5e18}, {&map, 0, 5}};
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct column_spec spec = {.type = NADE_REAL, .sd = 1, .map = cases[i].map};
        const struct plan_column column = {.head = nd_head_for(NADE_REAL),
                                           .components = 1,
                                           .stride = 1,
                                           .output_width = 3,
                                           .floor = 1e-3,
                                           .own = &spec};
        const double outputs[] = {0, cases[i].mean, -3};
        support_assert_close("mean", column.head->mean(&column, outputs), cases[i].expected, 1e-9, 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_question_is_answered),
        cmocka_unit_test(test_many_narrow_components),
        cmocka_unit_test(test_mean_of_a_far_gaussian),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
