/* The shape of a real column: which values become atoms, bounds, maps. */
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
    double values[ROWS_MOST]; /* of one column, in rows */
    size_t rows;
    struct schema schema;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.rows = 0};
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
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

/* Learns the shape of the column from the first `count` rows; the table is freed, f->rows starts anew. */
static const struct column_spec *learn_first(struct fixture *f, const struct shape_options *options, size_t count)
{
    nade_table *table;
    static size_t rows[ROWS_MOST];
    for (size_t i = 0; i < count; i++) rows[i] = i;
    support_assert_ok(f->context, nade_table_from_array(f->context, f->values, f->rows, 1, NULL, &table));
    table->column[0].type = NADE_REAL;
    support_assert_ok(f->context, nd_schema_learn(f->context, &f->arena, table, rows, count, &f->schema));
    support_assert_ok(f->context, nd_learn_shapes(f->context, &f->arena, table, rows, count, options, &f->schema));
    nade_table_free(table);
    f->rows = 0;
    return &f->schema.column[0];
}

static const struct column_spec *learn(struct fixture *f, const struct shape_options *options)
{
    return learn_first(f, options, f->rows);
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
        add(f, step > 0 ? nd_round_to_step(x, step, 0) : x, 1);
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

/* On a grid that all values share the middle ones are frequent: that is a bell, not atoms. */
static void test_grids(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    add_quantiles(&f, 500, normal, 0.5);
    expect_atoms(&f, NULL, 0);
    add_quantiles(&f, 500, normal, 0.5);
    add(&f, 22, 60); /* but what is more than its neighbours is one */
    expect_atoms(&f, (const double[]){22}, 1);
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
    assert_int_equal(learn(&f, &usual)->gaussians, 3);
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

/* Rows that are held out may take a bound away, for they could not be validated beyond it. */
static void test_held_out_rows_cross_bounds(void **state)
{
    struct fixture f;
    const struct column_spec *spec;
    (void)state;
    open_fixture(&f);
    add_quantiles(&f, 500, share, 0);
    add(&f, 1.25, 1);
    spec = learn_first(&f, &usual, 500);
    assert_true(spec->bounded && spec->low == 0 && isinf(spec->high));
    add_quantiles(&f, 500, share, 0);
    add(&f, -0.25, 1);
    assert_false(learn_first(&f, &usual, 500)->bounded);
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

/* The probabilities of all bins from the bound on. */
static void check_bins(nade_context *context, struct arena *arena, const struct column_spec *spec)
{
    struct plan_column column = {.head = nd_head_for(NADE_REAL)};
    double outputs[9] = {0, 0.5, -1, -2, 0, 1, 0, -1, 0.5}, half = 0.5 * spec->step / spec->sd, sum = 0, bins[2000];
    float cell;
    support_assert_ok(context, column.head->plan(context, arena, spec, 3, &column));
    for (size_t k = 0; k < 2000; k++) {
        assert_true(nd_encode_real(spec, (double)k + spec->offset, &cell));
        bins[k] = exp(column.head->log_bin(&column, outputs, (double)cell, half) - nd_log_unit(spec, (double)cell));
        sum += bins[k];
    }
    support_assert_close("all bins", sum, 1, 1e-6, 0);
    assert_true(bins[0] > 1e-4 && bins[0] < bins[1]);
    assert_true(nd_encode_real(spec, spec->offset, &cell) && (double)cell > nd_map_least(spec->map) + 0.5);
}

/* Zero, which no training row holds, can be in others: its bin has room, it lies within cells, and all bins together
 * have the probability 1.  So can 0.99 where all values end so, and nothing that does not end so is returned. */
static void test_bound_that_does_not_occur(void **state)
{
    struct fixture f;
    (void)state;
    open_fixture(&f);
    for (int ninety_nine = 0; ninety_nine < 2; ninety_nine++) {
        double offset = ninety_nine ? 0.99 : 0;
        for (size_t i = 0; i < 500; i++) add(&f, nd_round_to_step(from_two(((double)i + 0.5) / 500), 1, offset), 1);
        const struct column_spec *spec = learn(&f, &usual);
        assert_true(spec->bounded && spec->low == 0 && spec->step == 1 && spec->offset == offset && spec->atoms == 0);
        check_bins(f.context, &f.arena, spec);
        assert_true(nd_nearest_real(spec, -3) == offset && nd_nearest_real(spec, 0.3) == offset);
        assert_true(nd_nearest_real(spec, 7.4) == (ninety_nine ? 6.99 : 7));
        struct range range = {.least = 1.5, .most = 9.5};
        support_assert_ok(f.context, nd_range_real(f.context, spec, false, &range));
        assert_true(range.least == (ninety_nine ? 1.99 : 2) && range.most == (ninety_nine ? 8.99 : 9));
    }
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
    assert_true(spec->atom[0] == 0 && spec->atom_place[0] == -HUGE_VAL);
    assert_true(nd_encode_real(spec, 0, &cell) && nd_encode_real(spec, 1e-6, &next));
    assert_true(cell > -6 && cell != next);
    assert_true(nd_decode_real(spec, (double)cell, true) == 0);
    assert_false(nd_encode_real(spec, -1e-9, &cell));
    close_fixture(&f);
}

/* No Gaussian reaches the bound, however far it goes: quantiles ascend, ranges with and without the bound add up. */
static void test_nothing_beyond_a_bound(void **state)
{
    static const double x[] = {10, 30}, z[] = {-1, 1}, slope[] = {10, 10}, atom[] = {0, 50};
    const struct monotone_map map = {2, x, z, slope, 0, 50};
    struct column_spec spec = {.name = "x",
                               .type = NADE_REAL,
                               .sd = 1,
                               .floor = 1e-3,
                               .low = 0,
                               .high = 50,
                               .bounded = true,
                               .map = &map,
                               .atom = atom,
                               .atoms = 2};
    float cell[2];
    double place[2], last = -HUGE_VAL;
    (void)state;
    nd_place_atoms(&spec, cell, place);
    const struct head *head = nd_head_for(NADE_REAL);
    const struct plan_column column = {.head = head,
                                       .components = 3,
                                       .stride = 1,
                                       .atoms = 2,
                                       .ascending = true,
                                       .atom = cell,
                                       .atom_place = place,
                                       .floor = spec.floor,
                                       .own = &spec};
    const double outputs[] = {0, 0, 0, 0, log(20)}; /* weights alike; a Gaussian of deviation 20 */
    for (double p = 0.001; p < 0.9995; p += 0.001) {
        double value = nd_decode_real(&spec, head->quantile(&column, outputs, p), true);
        if (value < last) fail_msg("quantile %g is %g, below %g", p, value, last);
        assert_true((value == 0) == (p < 1.0 / 3 - 1e-9) && (value == 50) == (p > 2.0 / 3 + 1e-9));
        last = value;
    }
    struct range bound = {.least = 0, .most = 0}, rest = {.least = 1e-9, .most = 50 - 1e-9};
    assert_int_equal(nd_range_real(NULL, &spec, true, &bound), NADE_OK);
    assert_int_equal(nd_range_real(NULL, &spec, true, &rest), NADE_OK);
    support_assert_close("at the bound", exp(head->log_between(&column, outputs, bound.low, bound.high)), 1.0 / 3,
                         1e-12, 0);
    support_assert_close("within", exp(head->log_between(&column, outputs, rest.low, rest.high)), 1.0 / 3, 1e-12, 0);
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
    support_assert_close("share", exp(column.head->log_density(&column, outputs, -1)) * width, 0.5 / 1.001, 1e-5, 0);
    support_assert_close("share", exp(column.head->log_density(&column, outputs, 2)) * width, 0.2 / 1.001, 1e-5, 0);
    support_assert_close("rest", exp(column.head->log_between(&column, outputs, 5.4, 6.3)), 0.3, 0.05, 0);
    column.head->fit_marginal(&column, values, 700, outputs);
    support_assert_close("share", exp(column.head->log_density(&column, outputs, -1)) * width, 500.0 / 701, 1e-5, 0);
    assert_true(column.head->log_density(&column, outputs, 1) < -7);
}

/* Some values that lie close together, and one that lies elsewhere: it is about as likely as a row in so many. */
static void test_marginal_of_few(void **state)
{
    const struct plan_column column = {
        .head = nd_head_for(NADE_REAL), .components = 3, .stride = 3, .output_width = 9, .floor = 0.01};
    double outputs[9];
    float values[50];
    (void)state;
    for (size_t i = 0; i < 50; i++) values[i] = 1;
    column.head->fit_marginal(&column, values, 50, outputs);
    assert_true(column.head->log_density(&column, outputs, 1) > 2);
    assert_true(column.head->log_density(&column, outputs, -3) > -9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_atoms),
        cmocka_unit_test(test_grids),
        cmocka_unit_test(test_gaussians),
        cmocka_unit_test(test_atoms_differ_as_cells),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_held_out_rows_cross_bounds),
        cmocka_unit_test(test_one_cell_makes_no_upper_bound),
        cmocka_unit_test(test_bound_that_does_not_occur),
        cmocka_unit_test(test_zeros_and_ones_as_numbers),
        cmocka_unit_test(test_atoms_are_pushed_apart),
        cmocka_unit_test(test_maps),
        cmocka_unit_test(test_bound_is_an_atom),
        cmocka_unit_test(test_nothing_beyond_a_bound),
        cmocka_unit_test(test_marginal),
        cmocka_unit_test(test_marginal_of_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
