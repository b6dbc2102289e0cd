/* Draws under ranges: one range against the cut-off conditional, several against rejection from plain samples. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "model/head.h"
#include "model/normal.h"
#include "support/cmocka_all.h"
#include "support/sampling_support.h"

enum { COLUMNS = 4, ROWS = 4000, PLAIN = 40000 }; /* binary, real, categorical, real */

struct fixture {
    struct support_model m;
    struct nade_model model;
    nade_sample_options options;
    double low[COLUMNS], high[COLUMNS];
    double marginal[9];
};

static void set_up(struct fixture *f, nade_device device)
{
    const size_t hidden[] = {6, 5};
    support_build(&f->m, "brcr", hidden, 2, 3, NADE_TANH, true);
    memset(f->marginal, 0, sizeof f->marginal);
    f->m.schema.column[1].marginal = f->m.schema.column[3].marginal = f->marginal;
    f->model = sampling_model(&f->m);
    nade_sample_options_init(&f->options, sizeof f->options);
    f->options.seed = 11;
    f->options.exact = 1;
    f->options.device = device;
    for (size_t c = 0; c < COLUMNS; c++) {
        f->low[c] = -HUGE_VAL;
        f->high[c] = HUGE_VAL;
    }
    f->options.low = f->low;
    f->options.high = f->high;
}

static void draw(struct fixture *f, size_t rows, const double *given, double *values)
{
    for (size_t row = 0; row < rows; row++) memcpy(values + row * COLUMNS, given, COLUMNS * sizeof *values);
    support_assert_ok(f->m.context, nade_sample(f->m.context, &f->model, &f->options, rows, values));
}

/* KS of the bounded column's cut-off conditional, and of the next real column given all that was drawn before: with the
 * ordering 3, 0, 2, 1 the bounded column comes first and column 1 last. */
static void check_one(nade_device device, double low, double high)
{
    static const double given[COLUMNS] = {1, NAN, NAN, NAN};
    static const size_t order[COLUMNS] = {0, 2, 1, 3};
    static double values[ROWS * COLUMNS], first[ROWS], last[ROWS];
    const uint8_t before[COLUMNS] = {1, 0, 0, 0}, all[COLUMNS] = {1, 0, 1, 1};
    struct fixture f;
    double outputs[16];
    set_up(&f, device);
    f.low[3] = low;
    f.high[3] = high;
    f.options.orderings = 1;
    f.options.order = order;
    draw(&f, ROWS, given, values);
    for (size_t row = 0; row < ROWS; row++) {
        const struct column_spec *one = &f.m.schema.column[1], *three = &f.m.schema.column[3];
        const struct plan_column *column = &f.m.plan.column[3];
        double *v = values + row * COLUMNS;
        float cells[COLUMNS] = {1, 0, (float)v[2], (float)((v[3] - three->mean) / three->sd)};
        assert_true(v[0] == 1 && v[3] >= low && v[3] <= high);
        sampling_outputs(&f.m.plan, f.m.parameters, cells, before, 3, outputs);
        double from = sampling_mixture_cdf(column, outputs, (low - three->mean) / three->sd);
        double to = sampling_mixture_cdf(column, outputs, (high - three->mean) / three->sd);
        first[row] = (sampling_mixture_cdf(column, outputs, (double)cells[3]) - from) / (to - from);
        sampling_outputs(&f.m.plan, f.m.parameters, cells, all, 1, outputs);
        last[row] = sampling_mixture_cdf(&f.m.plan.column[1], outputs, (v[1] - one->mean) / one->sd);
    }
    sampling_check_uniform("bounded column", first, ROWS);
    sampling_check_uniform("column after it", last, ROWS);
    support_free(&f.m);
}

static void test_one_range(void **state)
{
    (void)state;
    check_one(NADE_DEVICE_CPU, -0.5, 0.6);
    check_one(NADE_DEVICE_CPU, 1, HUGE_VAL);
    check_one(NADE_DEVICE_REFERENCE, -HUGE_VAL, -0.8);
}

/* Far beyond all components the draws stay within the bounds, and beyond what a double can say there are none. */
static void test_far_tail(void **state)
{
    static const double given[COLUMNS] = {NAN, NAN, NAN, NAN};
    static double values[100 * COLUMNS];
    struct fixture f;
    (void)state;
    set_up(&f, NADE_DEVICE_CPU);
    f.low[1] = 30;
    draw(&f, 100, given, values);
    for (size_t row = 0; row < 100; row++)
        assert_true(values[row * COLUMNS + 1] >= 30 && values[row * COLUMNS + 1] < 32);
    f.low[1] = 1000;
    assert_int_equal(nade_sample(f.m.context, &f.model, &f.options, 1, memcpy(values, given, sizeof given)),
                     NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f.m.context), "the range of column 'B' is too unlikely"));
    support_free(&f.m);
}

static size_t state_of(const double *v)
{
    return (size_t)v[0] + 2 * (size_t)v[2] + (v[1] > 1.3 ? 6u : 0) + (v[3] > 0.7 ? 12u : 0);
}

/* Two ranges under one ordering that begins with the column that is cut off: shares of each label and side as in the
 * plain samples that happen to lie within. */
static void test_two_ranges(void **state)
{
    static const double given[COLUMNS] = {NAN, NAN, NAN, NAN};
    static const size_t order[COLUMNS] = {1, 0, 2, 3};
    static double plain[PLAIN * COLUMNS], values[ROWS * COLUMNS];
    double expected[24] = {0}, kept = 0;
    size_t count[24] = {0};
    struct fixture f;
    (void)state;
    set_up(&f, NADE_DEVICE_CPU);
    f.options.orderings = 1;
    f.options.order = order;
    draw(&f, PLAIN, given, plain);
    f.low[1] = 0.9;
    f.low[3] = 0.2;
    f.options.seed = 12;
    draw(&f, ROWS, given, values);
    for (size_t row = 0; row < PLAIN; row++) {
        const double *v = plain + row * COLUMNS;
        if (v[1] < 0.9 || v[3] < 0.2) continue;
        kept++;
        expected[state_of(v)]++;
    }
    assert_true(kept > 1500);
    for (size_t row = 0; row < ROWS; row++) {
        const double *v = values + row * COLUMNS;
        assert_true(v[1] >= 0.9 && v[3] >= 0.2);
        count[state_of(v)]++;
    }
    double sum = 0;
    for (size_t i = 0; i < 24; i++) {
        double n = (double)count[i] + expected[i];
        if (n < 10) continue;
        double difference = (double)count[i] * sqrt(kept / ROWS) - expected[i] * sqrt(ROWS / kept);
        sum += difference * difference / n;
    }
    if (sum > 57) fail_msg("chi-square %g between two samples over 24 states, expected less than 57", sum);
    support_free(&f.m);
}

static void test_quantiles(void **state)
{
    static const double ends[][2] = {{-1, 2}, {-HUGE_VAL, HUGE_VAL}, {3, HUGE_VAL}, {-HUGE_VAL, -30}, {50, 50.1},
                                     {-6, 40}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        for (double share = 0.001; share < 1; share += 0.037) {
            double z = nd_normal_quantile_between(ends[i][0], ends[i][1], share);
            double part = nd_normal_log_between(ends[i][0], z) - nd_normal_log_between(ends[i][0], ends[i][1]);
            assert_true(z >= ends[i][0] && z <= ends[i][1]);
            support_assert_close("share", exp(part), share, 1e-10, 0);
        }
}

/* An end far away counts as none, and the near end keeps its digits. */
static void test_far_ends(void **state)
{
    (void)state;
    for (double far = 1e2; far <= 1e15; far *= 10) {
        support_assert_close("above", nd_normal_log_between(1.25, far), nd_normal_log_between(1.25, HUGE_VAL), 1e-14,
                             0);
        support_assert_close("below", nd_normal_log_between(-far, -1.25), nd_normal_log_between(1.25, HUGE_VAL), 1e-14,
                             0);
        support_assert_close("both", nd_normal_log_between(-far, far), 0, 0, 1e-15);
    }
}

static void refuse(struct fixture *f, const char *words)
{
    double values[COLUMNS] = {NAN, NAN, NAN, NAN};
    assert_int_equal(nade_sample(f->m.context, &f->model, &f->options, 1, values), NADE_BAD_CALL);
    if (!strstr(nade_last_error(f->m.context), words)) fail_msg("%s", nade_last_error(f->m.context));
}

static void test_refusals(void **state)
{
    struct fixture f;
    (void)state;
    set_up(&f, NADE_DEVICE_CPU);
    f.low[0] = 0;
    refuse(&f, "expected a range on a column of numbers");
    f.low[0] = -HUGE_VAL;
    f.low[1] = 2;
    f.high[1] = 1;
    refuse(&f, "no value of column");
    f.high[1] = HUGE_VAL;
    f.low[1] = f.low[3] = 30;
    refuse(&f, "too unlikely together: 0 of");
    support_free(&f.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_ends),   cmocka_unit_test(test_one_range), cmocka_unit_test(test_far_tail),
        cmocka_unit_test(test_two_ranges), cmocka_unit_test(test_quantiles), cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
