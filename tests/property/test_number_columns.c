/* Columns of numbers with bounds, maps, values of their own and few values, as training makes them, through the public
 * header: densities integrate to one in data units, draws follow them, means and quantiles are those of draws, ranges
 * cut off what they say, and nothing lies outside of bounds.  NADE_TEST_DRAWS=1000000 draws so many. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/philox.h"
#include "model/model.h"
#include "model/monotone_map.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 3000, GRID = 6000, DRAWS = 20000, CONTEXTS = 3, LEVELS = 25 };

/* ---- the table --------------------------------------------------------------------------------------------------- */

enum { SHARE, AMOUNT, HEAVY, PERCENT, LEVEL, GIVEN, PLAIN, KIND, COLUMNS };

static const char *const names[COLUMNS] = {"share", "amount", "heavy", "percent", "level", "given", "plain", "kind"};

static double uniform(size_t row, uint32_t purpose)
{
    return ((double)nd_random_word(5, 0, (uint32_t)row, purpose, 0) + 0.5) / 4294967296.0;
}

static double normal(size_t row, uint32_t purpose)
{
    return sqrt(-2 * log(uniform(row, purpose))) * cos(6.283185307179586 * uniform(row, purpose + 1));
}

/* Shares with zeros and ones; amounts in cents, often round; a heavy tail on both sides; whole percentages; 25
 * uneven values; numbers from -2 to 3 that only --bounds can know of; a bell. */
static void make_row(size_t row, double *x)
{
    static const double round_sums[] = {0, 9.99, 50, 100, 1000};
    double kind = uniform(row, 0) < 0.4, shift = kind + 0.3 * normal(row, 2);
    x[KIND] = kind;
    x[SHARE] = 1 / (1 + exp(-1.5 * (shift + normal(row, 4))));
    if (uniform(row, 6) < 0.15) x[SHARE] = uniform(row, 7) < 0.7 ? 0 : 1;
    x[AMOUNT] = floor(100 * exp(3 + shift + 1.2 * normal(row, 8))) / 100;
    if (uniform(row, 10) < 0.4) x[AMOUNT] = round_sums[(size_t)(5 * uniform(row, 11))];
    x[HEAVY] = 40 + 10 * shift + normal(row, 12) / fmax(fabs(normal(row, 14)), 0.02);
    x[PERCENT] = nearbyint(100 * pow(uniform(row, 16), 0.4 + kind));
    x[LEVEL] = 2.5 * pow(floor(LEVELS * pow(uniform(row, 18), 1 + kind)), 2);
    x[GIVEN] = -2 + 5 * pow(uniform(row, 20), 0.5 + 1.5 * kind);
    x[PLAIN] = 1000 + 3 * (shift + normal(row, 22));
}

static void write_rows(const char *path, const double *values, size_t rows)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t c = 0; c < COLUMNS; c++) fprintf(file, "%s%s", c ? "," : "", names[c]);
    for (size_t i = 0; i < rows * COLUMNS; i++) {
        const char *before = i % COLUMNS ? "," : "\n";
        if (isnan(values[i]))
            fprintf(file, "%s", before);
        else
            fprintf(file, "%s%.17g", before, values[i]);
    }
    fprintf(file, "\n");
    assert_int_equal(fclose(file), 0);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

struct world {
    nade_context *context;
    char *folder, path[256];
    nade_model *model;
    double low[COLUMNS], high[COLUMNS]; /* what no number may be beyond */
    double rows[CONTEXTS][COLUMNS];     /* given cells to look at columns in */
    size_t draws;
};

static struct world world;

static nade_table *read_rows(const double *values, size_t rows)
{
    nade_table *table;
    write_rows(world.path, values, rows);
    support_assert_ok(world.context, nade_table_read(world.context, world.path, NULL, &table));
    return table;
}

static int build(void **state)
{
    static double values[ROWS * COLUMNS];
    static const size_t hidden[] = {24, 24};
    double low[COLUMNS], high[COLUMNS];
    nade_train_options o;
    const char *draws = getenv("NADE_TEST_DRAWS");
    (void)state;
    world.draws = draws ? (size_t)atol(draws) : DRAWS;
    assert_int_equal(nade_context_create(NULL, &world.context), NADE_OK);
    world.folder = model_support_folder();
    snprintf(world.path, sizeof world.path, "%s/rows.csv", world.folder);
    for (size_t row = 0; row < ROWS; row++) make_row(row, values + row * COLUMNS);
    nade_table *table = read_rows(values, ROWS);
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 2;
    o.components = 5;
    o.iterations = 4;
    o.updates = 200;
    for (size_t c = 0; c < COLUMNS; c++) low[c] = high[c] = NAN;
    low[GIVEN] = -2;
    high[GIVEN] = 3;
    o.low = low;
    o.high = high;
    support_assert_ok(world.context, nade_train(world.context, table, NULL, &o, &world.model));
    nade_table_free(table);
    for (size_t c = 0; c < COLUMNS; c++) {
        world.low[c] = -HUGE_VAL;
        world.high[c] = HUGE_VAL;
    }
    world.low[SHARE] = world.low[AMOUNT] = world.low[PERCENT] = world.low[LEVEL] = 0;
    world.high[SHARE] = 1;
    world.high[PERCENT] = 100;
    world.high[LEVEL] = 1440;
    world.low[GIVEN] = -2;
    world.high[GIVEN] = 3;
    for (size_t i = 0; i < CONTEXTS; i++) memcpy(world.rows[i], values + 97 * i * COLUMNS, sizeof world.rows[i]);
    world.rows[1][SHARE] = world.rows[1][AMOUNT] = 0; /* conditions at bounds */
    world.rows[1][PERCENT] = 100;
    return 0;
}

static int take_down(void **state)
{
    (void)state;
    nade_model_free(world.model);
    model_support_remove_folder(world.folder);
    nade_context_free(world.context);
    return 0;
}

static const struct column_spec *spec_of(size_t c)
{
    return &world.model->schema.column[c];
}

static bool is_real(size_t c)
{
    return spec_of(c)->type == NADE_REAL;
}

/* The columns are what this test is about. */
static void test_shapes_are_found(void **state)
{
    static const struct {
        size_t column;
        const char *words;
    } expected[] = {{SHARE, "from 0 to 1, 2 values of their own (0, 1)"},
                    {AMOUNT, "from 0, 5 values of their own, mapped"},
                    {HEAVY, "real, mapped"},
                    {PERCENT, "from 0 to 100"},
                    {LEVEL, "ordered, 25 values from 0 to 1440"},
                    {GIVEN, "from -2 to 3, mapped"},
                    {PLAIN, "real"}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *words = column_of_model(world.model, expected[i].column).kind;
        if (!strstr(words, expected[i].words))
            fail_msg("%s is '%s', expected '%s'", names[expected[i].column], words, expected[i].words);
    }
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

/* A grid of values of a real column, fine where its cells are dense, and its atoms behind them. */
struct grid {
    size_t points, atoms;
    double x[GRID + 256], density[GRID + 256];
};

static double value_at(const struct column_spec *spec, double z)
{
    return spec->map ? nd_map_value(spec->map, z) : spec->mean + spec->sd * z;
}

static void place_grid(size_t c, struct grid *g)
{
    const struct column_spec *spec = spec_of(c);
    g->points = g->atoms = 0;
    for (size_t i = 0; i < GRID; i++) {
        double x = value_at(spec, -15 + 30 * ((double)i + 0.37) / GRID);
        if (g->points == 0 || x > g->x[g->points - 1]) g->x[g->points++] = x;
    }
    for (size_t a = 0; a < spec->atoms; a++) g->x[g->points + g->atoms++] = spec->atom[a];
}

/* given: a COLS list. */
static void score_grid(size_t c, const double *row, const char *given, struct grid *g)
{
    static double values[(GRID + 256) * COLUMNS];
    nade_score_options o;
    size_t rows = g->points + g->atoms;
    for (size_t i = 0; i < rows; i++) {
        memcpy(values + i * COLUMNS, row, COLUMNS * sizeof *row);
        values[i * COLUMNS + c] = g->x[i];
    }
    nade_table *table = read_rows(values, rows);
    nade_score_options_init(&o, sizeof o);
    o.orderings = 1;
    o.of = names[c];
    o.given = given;
    support_assert_ok(world.context, nade_score(world.context, world.model, table, &o, g->density, NULL, NULL));
    for (size_t i = 0; i < rows; i++) g->density[i] = exp(g->density[i]);
    nade_table_free(table);
}

/* The width that an atom's density counts its probability as spread over, data units. */
static double atom_width(const struct column_spec *spec)
{
    if (spec->step > 0) return spec->step;
    return sqrt(12.0) * 1e-3 * spec->sd;
}

/* P(X < x), or P(X <= x). */
static double mass_up_to(const struct grid *g, const struct column_spec *spec, double x, bool included)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < g->points && g->x[i] < x; i++) {
        double end = fmin(g->x[i + 1], x), share = (end - g->x[i]) / (g->x[i + 1] - g->x[i]);
        double last = g->density[i] + share * (g->density[i + 1] - g->density[i]);
        sum += 0.5 * (g->density[i] + last) * (end - g->x[i]);
    }
    for (size_t a = 0; a < g->atoms; a++)
        if (g->x[g->points + a] < x || (included && g->x[g->points + a] == x))
            sum += g->density[g->points + a] * atom_width(spec);
    return sum;
}

static const char *all_but(size_t c, char list[200])
{
    list[0] = '\0';
    for (size_t i = 0; i < COLUMNS; i++)
        if (i != c) snprintf(list + strlen(list), 200 - strlen(list), "%s%s", list[0] ? "," : "", names[i]);
    return list;
}

static void test_densities_integrate_to_one(void **state)
{
    static struct grid g;
    char all[200];
    (void)state;
    for (size_t c = 0; c < COLUMNS; c++) {
        if (!is_real(c)) continue;
        const char *given[] = {NULL, c == AMOUNT ? "share" : "amount", all_but(c, all)};
        place_grid(c, &g);
        for (size_t i = 0; i < 3 * CONTEXTS; i++) {
            score_grid(c, world.rows[i / 3], given[i % 3], &g);
            support_assert_close(names[c], mass_up_to(&g, spec_of(c), HUGE_VAL, true), 1, 1e-3, 0);
        }
    }
}

/* The cell score's bins, those at the bounds included. */
static void test_bins_sum_to_one(void **state)
{
    static double values[101 * COLUMNS], score[101];
    nade_score_options o;
    (void)state;
    nade_score_options_init(&o, sizeof o);
    o.cells = 1;
    o.of = names[PERCENT];
    o.given = "kind,amount,share";
    for (size_t i = 0; i < CONTEXTS; i++) {
        double sum = 0;
        for (size_t percent = 0; percent <= 100; percent++) {
            memcpy(values + percent * COLUMNS, world.rows[i], sizeof world.rows[i]);
            values[percent * COLUMNS + PERCENT] = (double)percent;
        }
        nade_table *table = read_rows(values, 101);
        support_assert_ok(world.context, nade_score(world.context, world.model, table, &o, score, NULL, NULL));
        nade_table_free(table);
        for (size_t percent = 0; percent <= 100; percent++) sum += exp(score[percent]);
        support_assert_close("percent", sum, 1, 1e-6, 0);
    }
}

static void test_ordered_values_sum_to_one(void **state)
{
    static struct grid g;
    (void)state;
    g.points = spec_of(LEVEL)->atoms;
    g.atoms = 0;
    for (size_t i = 0; i < CONTEXTS; i++) {
        double sum = 0;
        memcpy(g.x, spec_of(LEVEL)->atom, g.points * sizeof *g.x);
        score_grid(LEVEL, world.rows[i], "amount,share", &g);
        for (size_t v = 0; v < g.points; v++) sum += g.density[v];
        support_assert_close("level", sum, 1, 1e-6, 0);
    }
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

/* Draws of column c given the others of a row, between two values; ascending. */
static double *draw(size_t c, const double *row, double low, double high, int exact, size_t count)
{
    double *values = malloc(count * COLUMNS * sizeof *values), lows[COLUMNS], highs[COLUMNS];
    nade_sample_options o;
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        memcpy(values + i * COLUMNS, row, COLUMNS * sizeof *row);
        values[i * COLUMNS + c] = NAN;
    }
    nade_sample_options_init(&o, sizeof o);
    o.exact = exact;
    if (low > -HUGE_VAL || high < HUGE_VAL) {
        for (size_t i = 0; i < COLUMNS; i++) {
            lows[i] = i == c ? low : -HUGE_VAL;
            highs[i] = i == c ? high : HUGE_VAL;
        }
        o.low = lows;
        o.high = highs;
    }
    support_assert_ok(world.context, nade_sample(world.context, world.model, &o, count, values));
    for (size_t i = 0; i < count; i++) values[i] = values[i * COLUMNS + c];
    return values;
}

/* The share of values, ascending, below x, or up to it. */
static double share_up_to(const double *values, size_t count, double x, bool included)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (values[middle] < x || (included && values[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return (double)low / (double)count;
}

static double tolerance(size_t draws)
{
    return 5 * 0.5 / sqrt((double)draws) + 1e-3;
}

static void test_draws_follow_densities(void **state)
{
    static struct grid g;
    char all[200];
    (void)state;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < CONTEXTS && is_real(c); i++) {
            double *x = draw(c, world.rows[i], -HUGE_VAL, HUGE_VAL, 1, DRAWS);
            qsort(x, DRAWS, sizeof *x, nd_compare_numbers);
            place_grid(c, &g);
            score_grid(c, world.rows[i], all_but(c, all), &g);
            for (size_t q = 1; q < 20; q++) {
                double at = x[q * DRAWS / 20];
                support_assert_close(names[c], share_up_to(x, DRAWS, at, false), mass_up_to(&g, spec_of(c), at, false),
                                     0, tolerance(DRAWS));
                support_assert_close(names[c], share_up_to(x, DRAWS, at, true), mass_up_to(&g, spec_of(c), at, true), 0,
                                     tolerance(DRAWS));
            }
            free(x);
        }
}

/* Draws between two values are the draws that lie there. */
static void test_ranges_cut_off(void **state)
{
    (void)state;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < 2 * CONTEXTS && c != KIND; i++) {
            const double *row = world.rows[i / 2];
            double *all = draw(c, row, -HUGE_VAL, HUGE_VAL, i % 2, DRAWS), between = 0;
            qsort(all, DRAWS, sizeof *all, nd_compare_numbers);
            double low = all[DRAWS / 5], high = all[DRAWS * 7 / 10];
            if (low == high) high = all[DRAWS - 1];
            double *some = draw(c, row, low, high, i % 2, DRAWS);
            qsort(some, DRAWS, sizeof *some, nd_compare_numbers);
            assert_true(some[0] >= low && some[DRAWS - 1] <= high);
            double below = share_up_to(all, DRAWS, low, false);
            between = share_up_to(all, DRAWS, high, true) - below;
            for (size_t q = 0; q <= 10; q++) {
                double at = all[(size_t)((double)DRAWS * (below + between * (double)q / 10.5))];
                support_assert_close(names[c], share_up_to(some, DRAWS, at, true),
                                     (share_up_to(all, DRAWS, at, true) - below) / between, 0,
                                     2 * tolerance(DRAWS) / sqrt(between));
            }
            free(all);
            free(some);
        }
}

/* ---- points and intervals ---------------------------------------------------------------------------------------- */

static void impute(nade_impute_method method, int exact, size_t c, const double *row, double found[3])
{
    double values[COLUMNS], low[COLUMNS], high[COLUMNS];
    nade_impute_options o;
    nade_impute_options_init(&o, sizeof o);
    o.method = method;
    o.interval = 0.8;
    o.exact = exact;
    memcpy(values, row, sizeof values);
    values[c] = NAN;
    support_assert_ok(world.context, nade_impute(world.context, world.model, &o, 1, values, low, high));
    found[0] = values[c];
    found[1] = low[c];
    found[2] = high[c];
}

static void check_quantile(size_t c, const double *x, double p, double found)
{
    double below = share_up_to(x, DRAWS, found, false), up_to = share_up_to(x, DRAWS, found, true);
    if (!(below <= p + tolerance(DRAWS) && up_to >= p - tolerance(DRAWS)))
        fail_msg("%s: %.0f %% quantile %.17g has %g below and %g up to it", names[c], 100 * p, found, below, up_to);
}

static void check_points(size_t c, const double *row, const double *x)
{
    double found[3], mean = 0, squares = 0;
    for (size_t i = 0; i < DRAWS; i++) mean += x[i] / DRAWS;
    for (size_t i = 0; i < DRAWS; i++) squares += (x[i] - mean) * (x[i] - mean) / DRAWS;
    impute(NADE_IMPUTE_MEAN, 1, c, row, found);
    support_assert_close(names[c], found[0], mean, 1e-3, 5 * sqrt(squares / DRAWS));
    impute(NADE_IMPUTE_MEDIAN, 1, c, row, found);
    check_quantile(c, x, 0.5, found[0]);
    check_quantile(c, x, 0.1, found[1]);
    check_quantile(c, x, 0.9, found[2]);
}

static void test_points_are_those_of_draws(void **state)
{
    (void)state;
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < CONTEXTS && c != KIND; i++) {
            double *x = draw(c, world.rows[i], -HUGE_VAL, HUGE_VAL, 1, DRAWS);
            qsort(x, DRAWS, sizeof *x, nd_compare_numbers);
            check_points(c, world.rows[i], x);
            free(x);
        }
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static void check_within(const char *what, const double *values, size_t rows)
{
    for (size_t i = 0; i < rows * COLUMNS; i++) {
        size_t c = i % COLUMNS;
        if (isnan(values[i])) continue;
        if (!(values[i] >= world.low[c] && values[i] <= world.high[c]))
            fail_msg("%s, row %zu: %s is %.17g", what, i / COLUMNS, names[c], values[i]);
    }
}

static void test_nothing_lies_outside(void **state)
{
    double *values = malloc(world.draws * COLUMNS * sizeof *values);
    nade_sample_options o;
    (void)state;
    assert_non_null(values);
    nade_sample_options_init(&o, sizeof o);
    for (o.exact = 0; o.exact < 2; o.exact++) {
        for (size_t i = 0; i < world.draws * COLUMNS; i++) values[i] = NAN;
        support_assert_ok(world.context, nade_sample(world.context, world.model, &o, world.draws, values));
        check_within("sample", values, world.draws);
    }
    free(values);
}

static void test_no_fill_lies_outside(void **state)
{
    size_t rows = world.draws / 20;
    double *values = malloc(3 * rows * COLUMNS * sizeof *values), *low, *high;
    (void)state;
    assert_non_null(values);
    low = values + rows * COLUMNS;
    high = low + rows * COLUMNS;
    for (int method = 0; method < 8; method++) {
        nade_impute_options o;
        nade_impute_options_init(&o, sizeof o);
        o.method = (nade_impute_method)(method % 4);
        o.exact = method / 4;
        o.interval = method % 2 ? 0.999999 : 0.5;
        for (size_t i = 0; i < rows; i++) make_row(ROWS + i, values + i * COLUMNS);
        for (size_t i = 0; i < rows * COLUMNS; i++)
            if (i % COLUMNS == LEVEL || uniform(i, 40) < 0.4) values[i] = NAN;
        support_assert_ok(world.context, nade_impute(world.context, world.model, &o, rows, values, low, high));
        check_within("impute", values, rows);
        check_within("low end", low, rows);
        check_within("high end", high, rows);
    }
    free(values);
}

/* Rounded draws are values that data hold. */
static void test_rounded_draws_are_recorded_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONTEXTS; i++) {
        double *percent = draw(PERCENT, world.rows[i], -HUGE_VAL, HUGE_VAL, 0, DRAWS);
        double *level = draw(LEVEL, world.rows[i], -HUGE_VAL, HUGE_VAL, 0, DRAWS);
        for (size_t j = 0; j < DRAWS; j++) {
            assert_true(percent[j] == floor(percent[j]));
            double root = sqrt(level[j] / 2.5);
            assert_true(root == floor(root) && root < LEVELS);
        }
        free(percent);
        free(level);
    }
}

static void test_numbers_outside_are_refused(void **state)
{
    double row[COLUMNS], density;
    nade_score_options o;
    (void)state;
    nade_score_options_init(&o, sizeof o);
    for (size_t c = 0; c < COLUMNS; c++)
        for (int side = 0; side < 2; side++) {
            double bound = side ? world.high[c] : world.low[c];
            if (isinf(bound)) continue;
            memcpy(row, world.rows[0], sizeof row);
            row[c] = bound + (side ? 0.25 : -0.25);
            nade_table *table = read_rows(row, 1);
            o.unseen_missing = 0;
            assert_int_equal(nade_score(world.context, world.model, table, &o, &density, NULL, NULL), NADE_BAD_INPUT);
            nade_score_summary summary = {.size = sizeof summary};
            o.unseen_missing = 1;
            support_assert_ok(world.context,
                              nade_score(world.context, world.model, table, &o, &density, NULL, &summary));
            assert_int_equal(summary.unseen, 1);
            assert_int_equal(summary.cells, COLUMNS - 1);
            nade_table_free(table);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes_are_found),
        cmocka_unit_test(test_densities_integrate_to_one),
        cmocka_unit_test(test_bins_sum_to_one),
        cmocka_unit_test(test_ordered_values_sum_to_one),
        cmocka_unit_test(test_draws_follow_densities),
        cmocka_unit_test(test_ranges_cut_off),
        cmocka_unit_test(test_points_are_those_of_draws),
        cmocka_unit_test(test_nothing_lies_outside),
        cmocka_unit_test(test_no_fill_lies_outside),
        cmocka_unit_test(test_rounded_draws_are_recorded_values),
        cmocka_unit_test(test_numbers_outside_are_refused),
    };
    return cmocka_run_group_tests(tests, build, take_down);
}
