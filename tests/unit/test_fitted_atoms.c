/* Values with probabilities of their own in a trained model: draws, ranges and fillings are exactly these. */
#include "column_fixture.h"

#include <math.h>

#include "support/support.h"

enum { ROWS = 400, DRAWS = 4000 };

/* A flag, and an amount that is 0.1 without the flag and mostly not with it. */
static void fill_table(double *values)
{
    for (size_t i = 0; i < ROWS; i++) {
        bool flag = i % 4 == 0;
        values[2 * i] = flag;
        values[2 * i + 1] = flag && i % 12 ? 50 + 1.37 * (double)(i * 7919 % 1009) / 50 : 0.1;
    }
}

static nade_model *fit(nade_context *context, nade_table *table, int atoms, nade_order order)
{
    static const size_t hidden[] = {12};
    nade_train_options o;
    nade_model *model = NULL;
    nade_train_options_init(&o, sizeof o);
    assert_int_equal(o.atoms, 1);
    o.hidden = hidden;
    o.layers = 1;
    o.components = 3;
    o.iterations = 10;
    o.updates = 60;
    o.learning_rate = 0.01;
    o.atoms = atoms;
    o.order = order;
    support_assert_ok(context, nade_train(context, table, NULL, &o, &model));
    return model;
}

static void check_draws(nade_context *context, const nade_model *model)
{
    static double drawn[2 * DRAWS];
    nade_sample_options o;
    size_t count[2] = {0, 0}, atoms[2] = {0, 0};
    nade_sample_options_init(&o, sizeof o);
    o.exact = 1;
    for (size_t i = 0; i < 2 * DRAWS; i++) drawn[i] = NAN;
    support_assert_ok(context, nade_sample(context, model, &o, DRAWS, drawn));
    for (size_t i = 0; i < DRAWS; i++) {
        size_t flag = drawn[2 * i] == 1;
        count[flag]++;
        atoms[flag] += drawn[2 * i + 1] == 0.1;
        assert_true(drawn[2 * i + 1] == 0.1 || drawn[2 * i + 1] > 20); /* nothing scatters around the atom */
    }
    support_assert_close("atoms without the flag", (double)atoms[0] / (double)count[0], 1, 0, 0.05);
    support_assert_close("atoms with the flag", (double)atoms[1] / (double)count[1], 1.0 / 3, 0, 0.1);
}

static void check_ranges(nade_context *context, const nade_model *model)
{
    static double drawn[2 * DRAWS];
    const double ends[][2] = {{0.1, HUGE_VAL}, {nextafter(0.1, 1), HUGE_VAL}, {-HUGE_VAL, 0.1}, {0.1, 0.1}};
    for (size_t r = 0; r < 4; r++) {
        nade_sample_options o;
        const double low[] = {-HUGE_VAL, ends[r][0]}, high[] = {HUGE_VAL, ends[r][1]};
        size_t atoms = 0;
        nade_sample_options_init(&o, sizeof o);
        o.exact = 1;
        o.low = low;
        o.high = high;
        for (size_t i = 0; i < 2 * DRAWS; i++) drawn[i] = NAN;
        support_assert_ok(context, nade_sample(context, model, &o, DRAWS, drawn));
        for (size_t i = 0; i < DRAWS; i++) atoms += drawn[2 * i + 1] == 0.1;
        if (r == 0) assert_in_range(atoms, DRAWS / 2, DRAWS - 1);
        if (r == 1) assert_int_equal(atoms, 0);
        if (r > 1) assert_true(atoms > DRAWS - 10);
    }
}

static void check_filling(nade_context *context, const nade_model *model)
{
    const nade_impute_method methods[] = {NADE_IMPUTE_MEDIAN, NADE_IMPUTE_MODE};
    for (size_t i = 0; i < 2; i++) {
        nade_impute_options o;
        double row[] = {0, NAN}, low[2], high[2];
        nade_impute_options_init(&o, sizeof o);
        o.method = methods[i];
        o.interval = 0.8;
        o.exact = 1;
        support_assert_ok(context, nade_impute(context, model, &o, 1, row, low, high));
        assert_true(row[1] == 0.1 && low[1] == 0.1 && high[1] == 0.1);
    }
}

static void test_a_fitted_table(void **state)
{
    static double values[2 * ROWS];
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    nade_table *table;
    (void)state;
    fill_table(values);
    support_assert_ok(context, nade_table_from_array(context, values, ROWS, 2, NULL, &table));
    support_assert_ok(context, nade_table_set_type(context, table, "0", NADE_BINARY));
    nade_model *model = fit(context, table, 1, NADE_ORDER_AGNOSTIC);
    assert_int_equal(warnings.count, 0);
    assert_int_equal(model->plan.column[1].atoms, 1);
    check_draws(context, model);
    check_ranges(context, model);
    check_filling(context, model);
    nade_model_free(model);
    model = fit(context, table, 1, NADE_ORDER_FIXED);
    check_draws(context, model);
    nade_model_free(model);
    model = fit(context, table, 0, NADE_ORDER_AGNOSTIC);
    assert_int_equal(warnings.count, 0);
    assert_int_equal(model->plan.column[1].atoms, 0);
    assert_null(strstr(nade_model_description(model), "atoms"));
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_fitted_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
