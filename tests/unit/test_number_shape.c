/* The shape of a real column: which values become atoms, bounds, maps; and what training and the public functions make
 * of atoms. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/head.h"
#include "model/model.h"
#include "model/monotone_map.h"
#include "model/normal.h"
#include "model/number_shape.h"
#include "model/real_column.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS_MOST = 21000 };

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

/* Learns the shape of the column from all rows; the table is freed, f->rows starts anew. */
static const struct column_spec *learn(struct fixture *f, const struct shape_options *options)
{
    nade_table *table;
    static size_t rows[ROWS_MOST];
    for (size_t i = 0; i < f->rows; i++) rows[i] = i;
    support_assert_ok(f->context, nade_table_from_array(f->context, f->values, f->rows, 1, NULL, &table));
    table->column[0].type = NADE_REAL;
    support_assert_ok(f->context, nd_schema_learn(f->context, &f->arena, table, rows, f->rows, &f->schema));
    support_assert_ok(f->context, nd_learn_shapes(f->context, &f->arena, table, rows, f->rows, options, &f->schema));
    nade_table_free(table);
    f->rows = 0;
    return &f->schema.column[0];
}

static const struct shape_options usual = {.atoms = true, .maps = true, .gaussians = 10};

static void expect_atoms(struct fixture *f, const double *atoms, size_t count)
{
    const struct column_spec *spec = learn(f, &usual);
    assert_int_equal(spec->atoms, count);
    for (size_t a = 0; a < count; a++) assert_true(spec->atom[a] == atoms[a]);
}

/* The quantiles of a distribution, evenly. */
static void add_quantiles(struct fixture *f, size_t count, double (*quantile)(double p), double step)
{
    for (size_t i = 0; i < count; i++) {
        double x = quantile(((double)i + 0.5) / (double)count);
        add(f, step > 0 ? nd_round_to_step(x, step) : x, 1);
    }
}

static double normal(double p)
{
    return 20 + 4 * nd_normal_quantile_between(-HUGE_VAL, HUGE_VAL, p);
}

static double centred(double p)
{
    return normal(p) - 21;
}

static double exponential(double p)
{
    return -30 * log1p(-p);
}

static double share(double p)
{
    return p * p * (3 - 2 * p);
}

/* ---- atoms ------------------------------------------------------------------------------------------------------- */

static void test_atoms(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add(&f, -3, 20); /* a value that repeats among others that do not */
    add_others(&f, 80);
    expect_atoms(&f, (const double[]){-3}, 1);
    add(&f, -3, 9); /* too few to speak of */
    add_others(&f, 191);
    expect_atoms(&f, NULL, 0);
    add(&f, 5, 30);
    add(&f, NAN, 200);
    add_others(&f, 70);
    add(&f, 4, 30);
    expect_atoms(&f, (const double[]){4, 5}, 2);
    add_quantiles(&f, 3000, normal, 0.1); /* a smooth column repeats, but nothing stands out */
    expect_atoms(&f, NULL, 0);
    add_quantiles(&f, 3000, normal, 0.1); /* round numbers are preferred */
    add(&f, 20, 100);
    add(&f, 25, 60);
    expect_atoms(&f, (const double[]){20, 25}, 2);
    close_fixture(&f);
}

/* Atoms are in addition to the Gaussians, of which few cells need few. */
static void test_gaussians(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add(&f, 7, 500);
    add_quantiles(&f, 30, normal, 0);
    assert_int_equal(learn(&f, &usual)->gaussians, 2);
    add(&f, 7, 500);
    add_quantiles(&f, 1000, normal, 0);
    assert_int_equal(learn(&f, &usual)->gaussians, 10);
    add_quantiles(&f, 1000, normal, 0);
    assert_int_equal(learn(&f, &usual)->gaussians, 0);
    add(&f, 7, 500); /* with the atom there are as many as there may be */
    add_quantiles(&f, 20000, normal, 0);
    const struct shape_options most = {.atoms = true, .maps = true, .gaussians = ND_COMPONENTS_MOST};
    assert_int_equal(learn(&f, &most)->gaussians, ND_COMPONENTS_MOST - 1);
    close_fixture(&f);
}

/* Where a far value stretches the units, two atoms that would be one cell are one atom. */
static void test_atoms_differ_as_cells(void **state)
{
    struct fixture f;
    const struct shape_options plain = {.atoms = true, .gaussians = 10};
    (void)state;
    open_fixture(&f);
    add(&f, 1, 50);
    add(&f, 1 + 1e-12, 50);
    add(&f, 1e9, 1);
    add_others(&f, 50);
    const struct column_spec *spec = learn(&f, &plain);
    for (size_t a = 1; a < spec->atoms; a++) assert_true(spec->atom_cell[a] > spec->atom_cell[a - 1]);
    close_fixture(&f);
}

/* ---- bounds and maps --------------------------------------------------------------------------------------------- */

static void test_bounds(void **state)
{
    struct fixture f;
    const double none[] = {-HUGE_VAL}, most[] = {HUGE_VAL}, low[] = {-5}, high[] = {900};
    const struct shape_options unbounded = {.atoms = true, .maps = true, .gaussians = 10, .low = none, .high = most};
    const struct shape_options given = {.atoms = true, .maps = true, .gaussians = 10, .low = low, .high = high};
    const struct column_spec *spec;
    (void)state;
    open_fixture(&f);
    add_quantiles(&f, 500, exponential, 0);
    spec = learn(&f, &usual);
    assert_true(spec->bounded && spec->low == 0 && isinf(spec->high));
    add_quantiles(&f, 500, centred, 0); /* some are negative */
    assert_false(learn(&f, &usual)->bounded);
    add_quantiles(&f, 500, share, 0);
    spec = learn(&f, &usual);
    assert_true(spec->bounded && spec->low == 0 && spec->high == 1);
    add_quantiles(&f, 500, exponential, 0);
    assert_false(learn(&f, &unbounded)->bounded);
    add_quantiles(&f, 500, exponential, 0);
    spec = learn(&f, &given);
    assert_true(spec->bounded && spec->low == -5 && spec->high == 900);
    add(&f, 3, 4); /* bounds are kept where there is hardly anything to learn from */
    spec = learn(&f, &given);
    assert_true(spec->bounded && spec->map && spec->map->low == -5.5 && spec->map->high == 900.5);
    close_fixture(&f);
}

/* A percentage ends at 100 where several cells say so: a single one may be an outlier. */
static void test_one_cell_makes_no_upper_bound(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    for (size_t cells = 1; cells <= 3; cells += 2) {
        add_quantiles(&f, 500, normal, 0);
        add(&f, 100, cells);
        const struct column_spec *spec = learn(&f, &usual);
        assert_true(spec->bounded && spec->low == 0);
        assert_true(spec->high == (cells < 3 ? HUGE_VAL : 100));
    }
    close_fixture(&f);
}

static double from_two(double p)
{
    return 2 - 60 * log1p(-p);
}

/* Zero, which no training row holds, can be in others: its bin has room, it lies within cells, and all bins together
 * have the probability 1. */
static void test_bound_that_does_not_occur(void **state)
{
    struct fixture f;
    struct plan_column column = {.head = nd_head_for(NADE_REAL)};
    double sum = 0;
    float cell;
    (void)state;
    open_fixture(&f);
    add_quantiles(&f, 500, from_two, 1);
    const struct column_spec *spec = learn(&f, &usual);
    assert_true(spec->bounded && spec->low == 0 && spec->step == 1 && spec->atoms == 0);
    support_assert_ok(f.context, column.head->plan(f.context, &f.arena, spec, 3, &column));
    double outputs[9] = {0, 0.5, -1, -2, 0, 1, 0, -1, 0.5}, half = 0.5 * spec->step / spec->sd, bins[2000];
    for (size_t value = 0; value < 2000; value++) {
        assert_true(nd_encode_real(spec, (double)value, &cell));
        bins[value] = exp(column.head->log_bin(&column, outputs, (double)cell, half) - nd_log_unit(spec, (double)cell));
        sum += bins[value];
    }
    support_assert_close("all bins", sum, 1, 1e-6, 0);
    assert_true(bins[0] > 1e-4 && bins[0] < bins[1]);
    assert_true(nd_encode_real(spec, 0, &cell) && (double)cell > nd_map_least(spec->map) + 0.5);
    close_fixture(&f);
}

/* Numbers that are 0 and 1 alone leave nothing between the bins of their bounds: the map is one all the same. */
static void test_zeros_and_ones_as_numbers(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    for (size_t i = 0; i < 100; i++) add(&f, i % 3 == 0, 1);
    const struct column_spec *spec = learn(&f, &usual);
    const struct monotone_map *map = spec->map;
    assert_true(spec->bounded && spec->low == 0 && spec->high == 1 && spec->atoms == 2);
    assert_true(map->low < map->x[0] && map->x[0] < map->x[1] && map->x[1] < map->high && map->slope[0] > 0);
    for (int value = 0; value < 2; value++) {
        float cell;
        assert_true(nd_encode_real(spec, value, &cell));
        assert_true(nd_decode_real(spec, (double)cell, true) == value);
        assert_true(isfinite(nd_log_unit(spec, (double)cell)));
    }
    for (double z = -9; z <= 9; z += 0.5) {
        double x = nd_decode_real(spec, z, true);
        assert_true(x >= 0 && x <= 1);
    }
    close_fixture(&f);
}

/* Two atoms that a map brings as close as float32 can't tell are pushed apart, and each is found again. */
static void test_atoms_are_pushed_apart(void **state)
{
    static const double x[] = {-1e6, 1e6}, z[] = {-1, 1}, slope[] = {1e6, 1e6}, atom[] = {5, 5 + 1e-4, 7};
    const struct monotone_map map = {2, x, z, slope, -HUGE_VAL, HUGE_VAL};
    struct column_spec spec = {
        .name = "x", .type = NADE_REAL, .sd = 1e6, .floor = 1e-3, .map = &map, .atom = atom, .atoms = 3};
    float cell[3];
    double place[3];
    (void)state;
    nd_place_atoms(&spec, cell, place);
    for (size_t a = 0; a < 3; a++) {
        float found;
        assert_true(a == 0 || cell[a] > cell[a - 1]);
        assert_true(nd_encode_real(&spec, atom[a], &found) && found == cell[a]);
        assert_true(nd_decode_real(&spec, (double)found, false) == atom[a]);
    }
}

static void test_maps(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add_quantiles(&f, 500, centred, 0);
    assert_null(learn(&f, &usual)->map); /* a bell stays what it is */
    add_quantiles(&f, 500, exponential, 0);
    assert_true(learn(&f, &usual)->map->knots > 4);
    const struct shape_options plain = {.atoms = true, .gaussians = 10};
    add_quantiles(&f, 500, exponential, 0);
    assert_null(learn(&f, &plain)->map);
    close_fixture(&f);
}

/* A bound that occurs is an atom, however rare; it lies beyond every other value, but its cell, which the network sees,
 * does not lie at infinity. */
static void test_bound_is_an_atom(void **state)
{
    struct fixture f;
    float cell, next;
    (void)state;
    open_fixture(&f);
    add_quantiles(&f, 500, exponential, 0);
    add(&f, 0, 3);
    const struct column_spec *spec = learn(&f, &usual);
    assert_int_equal(spec->atoms, 1);
    assert_true(spec->atom[0] == 0 && spec->atom_place[0] == nd_map_least(spec->map));
    assert_true(nd_encode_real(spec, 0, &cell) && nd_encode_real(spec, 1e-6, &next));
    assert_true(cell > -6 && cell != next);
    assert_true(nd_decode_real(spec, (double)cell, true) == 0);
    assert_false(nd_encode_real(spec, -1e-9, &cell));
    close_fixture(&f);
}

/* ---- one column's marginal --------------------------------------------------------------------------------------- */

static void test_marginal(void **state)
{
    const float atom[] = {-1, 2};
    const struct plan_column column = {.head = nd_head_for(NADE_REAL),
                                       .components = 4,
                                       .stride = 4,
                                       .output_width = 12,
                                       .floor = 0.01,
                                       .atoms = 2,
                                       .atom = atom};
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
    static struct fixture f;
    nade_table *table;
    (void)state;
    open_fixture(&f);
    fill_table(values);
    support_assert_ok(f.context, nade_table_from_array(f.context, values, ROWS, 2, NULL, &table));
    support_assert_ok(f.context, nade_table_set_type(f.context, table, "0", NADE_BINARY));
    nade_model *model = fit(f.context, table, 1, NADE_ORDER_AGNOSTIC);
    assert_int_equal(f.warnings, 0);
    assert_int_equal(model->plan.column[1].atoms, 1);
    check_draws(f.context, model);
    check_ranges(f.context, model);
    check_filling(f.context, model);
    nade_model_free(model);
    model = fit(f.context, table, 1, NADE_ORDER_FIXED);
    check_draws(f.context, model);
    nade_model_free(model);
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
        cmocka_unit_test(test_atoms),
        cmocka_unit_test(test_gaussians),
        cmocka_unit_test(test_atoms_differ_as_cells),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_one_cell_makes_no_upper_bound),
        cmocka_unit_test(test_bound_that_does_not_occur),
        cmocka_unit_test(test_zeros_and_ones_as_numbers),
        cmocka_unit_test(test_atoms_are_pushed_apart),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_bound_is_an_atom),
        cmocka_unit_test(test_marginal),
        cmocka_unit_test(test_a_fitted_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
