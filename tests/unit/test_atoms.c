/* Which values of a real column become atoms, what is said about it, and what training and the public functions make of
 * them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/atoms.h"
#include "model/head.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS_MOST = 1000 };

struct fixture {
    nade_context *context;
    struct arena arena;
    size_t warnings;
    char warning[1024];
    double values[ROWS_MOST]; /* of one column, in rows */
    size_t rows;
    struct schema schema;
};

static void keep_warning(void *user, const char *warning)
{
    struct fixture *f = user;
    f->warnings++;
    snprintf(f->warning, sizeof f->warning, "%s", warning);
}

static void open_fixture(struct fixture *f)
{
    nade_context_options options;
    nade_context_options_init(&options, sizeof options);
    options.warn = keep_warning;
    options.warn_user = f;
    *f = (struct fixture){.rows = 0};
    assert_int_equal(nade_context_create(&options, &f->context), NADE_OK);
    f->arena.allocator = f->context->allocator;
}

static void close_fixture(struct fixture *f)
{
    nd_arena_free(&f->arena);
    nade_context_free(f->context);
}

static void add(struct fixture *f, double value, size_t count)
{
    while (count-- > 0) f->values[f->rows++] = value;
}

/* Values that are all different. */
static void add_others(struct fixture *f, size_t count)
{
    for (size_t i = 0; i < count; i++) add(f, 1000 + 1.37 * (double)(f->rows * 7919 % 1009), 1);
}

/* Learns from the first `used` rows and checks the atoms. */
static void expect_atoms(struct fixture *f, size_t used, size_t most, const double *atoms, size_t count)
{
    nade_table *table;
    size_t rows[ROWS_MOST];
    for (size_t i = 0; i < used; i++) rows[i] = i;
    support_assert_ok(f->context, nade_table_from_array(f->context, f->values, f->rows, 1, NULL, &table));
    support_assert_ok(f->context, nd_schema_learn(f->context, &f->arena, table, rows, used, &f->schema));
    f->warnings = 0;
    support_assert_ok(f->context, nd_learn_atoms(f->context, &f->arena, table, rows, used, most, &f->schema));
    const struct column_spec *spec = &f->schema.column[0];
    assert_int_equal(spec->atoms, count);
    for (size_t a = 0; a < count; a++) assert_true(spec->atom[a] == atoms[a]);
    assert_int_equal(f->warnings, count > 0);
    nade_table_free(table);
    f->rows = 0;
}

static void test_heavy_values(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add(&f, -3, 20);
    add_others(&f, 80);
    expect_atoms(&f, 100, 9, (const double[]){-3}, 1);
    assert_non_null(strstr(f.warning, "'0' (-3)"));
    assert_non_null(strstr(f.warning, "without `atoms`"));
    add(&f, -3, 19);
    add_others(&f, 81);
    expect_atoms(&f, 100, 9, NULL, 0);
    add(&f, -3, 19); /* a fifth of the cells, but too few to speak of */
    add_others(&f, 30);
    expect_atoms(&f, 49, 9, NULL, 0);
    add(&f, 5, 30);
    add(&f, NAN, 200);
    add_others(&f, 70);
    add(&f, 4, 30);
    add(&f, 6, 40);
    expect_atoms(&f, 370, 9, (const double[]){6}, 1); /* 30 of 170 present cells are less than a fifth */
    add(&f, 5, 40);
    add_others(&f, 70);
    add(&f, 4, 40);
    add(&f, 6, 41);
    expect_atoms(&f, 191, 9, (const double[]){6, 4, 5}, 3);
    close_fixture(&f);
}

static void test_limits(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add(&f, 5, 40);
    add(&f, 6, 41);
    add(&f, 4, 40);
    add_others(&f, 60);
    expect_atoms(&f, 181, 2, (const double[]){6, 4}, 2);
    add(&f, 5, 100);
    add_others(&f, 9);
    expect_atoms(&f, 109, 0, NULL, 0);
    add_others(&f, 100); /* only the rows to learn from count */
    add(&f, 5, 100);
    expect_atoms(&f, 110, 9, NULL, 0);
    close_fixture(&f);
}

/* A value holds its place however many others come between. */
static void test_crowded_columns(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < 100; i++) {
        add_others(&f, 4);
        add(&f, 0.25, 1);
    }
    expect_atoms(&f, 500, 9, (const double[]){0.25}, 1);
    for (size_t i = 0; i < 500; i++) add(&f, i < 100 ? 0.25 : (double)(i % 100), 1);
    expect_atoms(&f, 500, 9, (const double[]){0.25}, 1);
    close_fixture(&f);
}

static void test_few_values(void **state)
{
    struct fixture f;
    double all[21];
    (void)state;
    open_fixture(&f);
    for (size_t v = 0; v < 20; v++) add(&f, all[v] = 0.5 * (double)v, v == 19 ? 1 : v == 18 ? 41 : 20);
    memmove(all + 1, all, 18 * sizeof *all);
    all[0] = 9;
    expect_atoms(&f, 402, 99, all, 20);
    for (size_t v = 0; v < 20; v++) add(&f, 0.5 * (double)v, 19);
    expect_atoms(&f, 380, 99, NULL, 0); /* 19 cells each */
    for (size_t v = 0; v < 21; v++) add(&f, 0.5 * (double)v, 20);
    expect_atoms(&f, 420, 99, NULL, 0); /* one value too many */
    add(&f, 7.5, 25);
    expect_atoms(&f, 25, 9, (const double[]){7.5}, 1);
    close_fixture(&f);
}

/* Quantiles of a logistic distribution of scale 1, rounded. */
static void add_smooth(struct fixture *f, size_t count, double step)
{
    for (size_t i = 0; i < count; i++) {
        double share = ((double)i + 0.5) / (double)count;
        add(f, step * nearbyint(log(share / (1 - share)) / step), 1);
    }
}

/* Rounding alone makes no spikes, however often the values in the middle repeat. */
static void test_smooth_columns(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add_smooth(&f, 1000, 0.3); /* up to 75 cells a value */
    expect_atoms(&f, 1000, 9, NULL, 0);
    for (size_t v = 0; v < 30; v++) { /* recorded in steps of 1, now and then in steps of 0.5 */
        add(&f, (double)v, v < 10 ? 40 : 15);
        add(&f, (double)v + 0.5, 1);
    }
    expect_atoms(&f, 730, 9, NULL, 0);
    close_fixture(&f);
}

static void test_spikes(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add_smooth(&f, 700, 0.1);
    add(&f, 1.5, 60);
    add(&f, -3, 100);
    add(&f, 2, 30); /* too small a share of the 890 - 160 that are left */
    expect_atoms(&f, 890, 9, (const double[]){-3, 1.5}, 2);
    for (size_t v = 0; v < 8; v++) add(&f, 0.5 * (double)v - 1.5, 60 - v);
    add_smooth(&f, 300, 0.05);
    expect_atoms(&f, 752, 6, (const double[]){-1.5, -1, -0.5, 0, 0.5, 1}, 6);
    assert_non_null(strstr(f.warning, "'0' (-1.5, -1, -0.5 and 3 more);"));
    close_fixture(&f);
}

/* A value of `count` cells between four others on either side, or on one side, that hold 6 cells on average. */
static void add_among(struct fixture *f, size_t count, bool both_sides)
{
    for (size_t v = both_sides ? 6 : 10; v < 15; v++) add(f, (double)v, v == 10 ? count : v == 6 || v == 14 ? 9 : 5);
    add_others(f, 300);
}

static void test_shares_of_spikes(void **state)
{
    const double ten = 10;
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add_among(&f, 30, true); /* 5 times the mean of the values around it */
    expect_atoms(&f, 378, 9, &ten, 1);
    add_among(&f, 29, true);
    expect_atoms(&f, 377, 9, NULL, 0);
    add_among(&f, 30, false);
    expect_atoms(&f, 354, 9, &ten, 1);
    add_among(&f, 29, false);
    expect_atoms(&f, 353, 9, NULL, 0);
    add(&f, 0, 500);
    add(&f, 3000, 20);
    add_others(&f, 380);
    expect_atoms(&f, 900, 9, (const double[]){0, 3000}, 2); /* the 20th part of what 0 leaves */
    add(&f, 0, 500);
    add(&f, 3000, 20);
    add_others(&f, 381);
    expect_atoms(&f, 901, 9, (const double[]){0}, 1);
    add(&f, 1, 19);
    add_others(&f, 100);
    expect_atoms(&f, 119, 9, NULL, 0); /* too few cells to speak of */
    close_fixture(&f);
}

/* Values are counted as the data hold them; one that most of its cells in float32 do not hold is none. */
static void test_values_that_are_one_cell(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add(&f, 1e-12, 20);
    add(&f, -0.0, 30);
    add_others(&f, 50);
    expect_atoms(&f, 100, 9, (const double[]){0}, 1); /* the model takes 1e-12 for 0 */
    add(&f, 1e-12, 30);
    add(&f, -0.0, 30);
    add_others(&f, 50);
    expect_atoms(&f, 110, 9, NULL, 0);
    add_others(&f, 100); /* an outlier stretches the units, and they are all one in float32 */
    add(&f, 1e200, 1);
    expect_atoms(&f, 101, 9, NULL, 0);
    for (size_t i = 0; i < 100; i++) add(&f, 1e-200 * (double)i, 1);
    expect_atoms(&f, 100, 9, NULL, 0);
    close_fixture(&f);
}

/* ---- the marginal ------------------------------------------------------------------------------------------------ */

/* Shares of the atoms, and Gaussians that are fitted to the rest alone; finite when nothing is left for them. */
static void test_marginal(void **state)
{
    const float atom[] = {-1, 2};
    const struct plan_column column = {
        .head = nd_head_for(NADE_REAL), .components = 4, .floor = 0.01, .atoms = 2, .atom = atom};
    const double width = 0.01 * sqrt(12.0);
    double outputs[12];
    float values[1000];
    (void)state;
    for (size_t i = 0; i < 1000; i++) values[i] = i < 500 ? -1 : i < 700 ? 2 : 5 + 0.001f * (float)i;
    column.head->fit_marginal(&column, values, 1000, outputs);
    support_assert_close("share", exp(column.head->log_density(&column, outputs, -1)) * width, 0.5, 1e-5, 0);
    support_assert_close("share", exp(column.head->log_density(&column, outputs, 2)) * width, 0.2, 1e-5, 0);
    support_assert_close("rest", exp(column.head->log_between(&column, outputs, 5.4, 6.3)), 0.3, 0.05, 0);
    column.head->fit_marginal(&column, values, 700, outputs);
    support_assert_close("share", exp(column.head->log_density(&column, outputs, -1)) * width, 5.0 / 7, 1e-5, 0);
    assert_true(isfinite(column.head->log_density(&column, outputs, 1)));
    assert_true(column.head->log_density(&column, outputs, 1) < -8);
}

/* ---- training and the public functions ----------------------------------------------------------------------------
 */

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
    struct fixture f;
    nade_table *table;
    (void)state;
    open_fixture(&f);
    fill_table(values);
    support_assert_ok(f.context, nade_table_from_array(f.context, values, ROWS, 2, NULL, &table));
    support_assert_ok(f.context, nade_table_set_type(f.context, table, "0", NADE_BINARY));
    nade_model *model = fit(f.context, table, 1, NADE_ORDER_AGNOSTIC);
    assert_int_equal(f.warnings, 1);
    assert_int_equal(model->plan.column[1].atoms, 1);
    check_draws(f.context, model);
    check_ranges(f.context, model);
    check_filling(f.context, model);
    nade_model_free(model);
    model = fit(f.context, table, 1, NADE_ORDER_FIXED);
    check_draws(f.context, model);
    nade_model_free(model);
    f.warnings = 0;
    model = fit(f.context, table, 0, NADE_ORDER_AGNOSTIC);
    assert_int_equal(f.warnings, 0);
    assert_int_equal(model->plan.column[1].atoms, 0);
    assert_null(strstr(nade_model_description(model), "atoms"));
    nade_model_free(model);
    nade_table_free(table);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heavy_values),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_crowded_columns),
        cmocka_unit_test(test_few_values),
        cmocka_unit_test(test_smooth_columns),
        cmocka_unit_test(test_spikes),
        cmocka_unit_test(test_shares_of_spikes),
        cmocka_unit_test(test_marginal),
        cmocka_unit_test(test_values_that_are_one_cell),
        cmocka_unit_test(test_a_fitted_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
