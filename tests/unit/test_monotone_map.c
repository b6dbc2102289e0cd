/* The map between values and cells: it passes both ways, its slope is its derivative, it keeps its bounds. */
#include <math.h>
#include <stdlib.h>

#include "base/ascending.h"
#include "model/monotone_map.h"
#include "model/normal.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { COUNT = 4000 };

/* Kinds of columns: what a uniform u becomes, and the bounds. */
struct kind {
    const char *name;
    double (*value)(double u);
    double low, high;
};

static double exponential(double u)
{
    return -log1p(-u);
}
static double logarithmic(double u)
{
    return exp(3 * sqrt(2) * (u < 0.5 ? -1 : 1) * sqrt(fabs(u - 0.5)));
}
static double share(double u)
{
    return u * u * (3 - 2 * u);
}
static double two_hills(double u)
{
    return u < 0.4 ? u : 5 + 2 * u;
}

static const struct kind kinds[] = {
    {"unbounded", exponential, -HUGE_VAL, HUGE_VAL}, {"from zero", exponential, 0, HUGE_VAL},
    {"amounts", logarithmic, 0, HUGE_VAL},           {"share", share, 0, 1},
    {"two hills", two_hills, -1, HUGE_VAL},          {"up to nine", two_hills, -HUGE_VAL, 9},
};

struct fitted {
    struct monotone_map map;
    double x[ND_KNOTS_MOST], z[ND_KNOTS_MOST], slope[ND_KNOTS_MOST];
    double values[COUNT];
};

static void fit(const struct kind *kind, int straight, struct fitted *f)
{
    for (size_t i = 0; i < COUNT; i++) f->values[i] = kind->value(((double)i + 0.5) / COUNT);
    qsort(f->values, COUNT, sizeof *f->values, nd_compare_numbers);
    f->map = (struct monotone_map){.x = f->x, .z = f->z, .slope = f->slope, .low = kind->low, .high = kind->high};
    f->map.knots = nd_map_fit(f->values, COUNT, 0, kind->low, kind->high, straight, f->x, f->z, f->slope);
    assert_true(f->map.knots >= ND_KNOTS_LEAST && f->map.knots <= ND_KNOTS_MOST);
}

static void each_map(void (*check)(const struct kind *kind, const struct fitted *f))
{
    static struct fitted f;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int straight = 0; straight < 2; straight++) {
            fit(&kinds[k], straight, &f);
            check(&kinds[k], &f);
        }
}

static void check_both_ways(const struct kind *kind, const struct fitted *f)
{
    double before = -HUGE_VAL;
    for (double z = -6; z <= 6; z += 0.01) {
        double x = nd_map_value(&f->map, z);
        assert_true(x >= before && x >= kind->low && x <= kind->high);
        if (z > nd_map_least(&f->map) && z < nd_map_most(&f->map) && x < kind->high - 1e-9)
            support_assert_close(kind->name, nd_map_cell(&f->map, x), z, 1e-6, 1e-6);
        before = x;
    }
}

static void map_passes_both_ways(void **state)
{
    (void)state;
    each_map(check_both_ways);
}

static void check_slope(const struct kind *kind, const struct fitted *f)
{
    const double step = 1e-5;
    for (double z = -5; z <= 5; z += 0.0137) {
        double rise = nd_map_value(&f->map, z + step) - nd_map_value(&f->map, z - step);
        support_assert_close(kind->name, exp(nd_map_log_slope(&f->map, z)), rise / (2 * step), 1e-4, 1e-9);
    }
}

static void slope_is_the_derivative(void **state)
{
    (void)state;
    each_map(check_slope);
}

/* A bent map makes a bell: the cells' quantiles are those of a normal distribution. */
static void cells_are_a_bell(void **state)
{
    static const double place[] = {-2, -1, 0, 1, 2}, below[] = {0.02275, 0.15866, 0.5, 0.84134, 0.97725};
    static struct fitted f;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        fit(&kinds[k], 0, &f);
        for (size_t i = 0; i < sizeof place / sizeof *place; i++) {
            double cell = nd_map_cell(&f.map, f.values[(size_t)(below[i] * COUNT)]);
            support_assert_close(kinds[k].name, cell, place[i], 0, 0.12);
        }
    }
}

/* However far out a cell is, its value stays within the bounds. */
static void bounds_are_kept(void **state)
{
    static const double far[] = {-1e6, -40, -12, 12, 40, 1e6};
    static struct fitted f;
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int straight = 0; straight < 2; straight++) {
            fit(&kinds[k], straight, &f);
            for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
                double x = nd_map_value(&f.map, far[i]);
                assert_true(x >= kinds[k].low && x <= kinds[k].high);
            }
            assert_true(!isfinite(kinds[k].low) || nd_map_cell(&f.map, kinds[k].low) == nd_map_least(&f.map));
            assert_true(!isfinite(kinds[k].high) || nd_map_cell(&f.map, kinds[k].high) == nd_map_most(&f.map));
        }
}

static double steep(double u)
{
    return exp(5 * nd_normal_quantile_between(-HUGE_VAL, HUGE_VAL, u));
}

/* Values over many powers of ten: small ones stay apart from the bound and from each other. */
static void steep_values_stay_off_the_bound(void **state)
{
    static const struct kind kind = {"steep", steep, 0, HUGE_VAL};
    static struct fitted f;
    (void)state;
    fit(&kind, 0, &f);
    assert_true(f.slope[0] <= 4.001 * f.x[0]);
    for (double z = f.z[0]; z > nd_map_least(&f.map) + 0.5; z -= 0.5) {
        double x = nd_map_value(&f.map, z);
        assert_true(x > 0);
        support_assert_close("cell", nd_map_cell(&f.map, x), z, 0, 1e-6);
    }
}

static void no_map_of_one_value(void **state)
{
    double values[100], x[ND_KNOTS_MOST], z[ND_KNOTS_MOST], slope[ND_KNOTS_MOST];
    (void)state;
    for (size_t i = 0; i < 100; i++) values[i] = 7;
    assert_int_equal(nd_map_fit(values, 100, 0, -HUGE_VAL, HUGE_VAL, 0, x, z, slope), 0);
    assert_int_equal(nd_map_fit(values, 3, 0, -HUGE_VAL, HUGE_VAL, 0, x, z, slope), 0);
}

/* Recorded in steps, the lowest values repeat: another one as far below them as the column is wide lies a few units
 * out, not dozens, and the same above the highest. */
static void tails_are_wider_than_a_step(void **state)
{
    enum { ROWS = 400 };
    double values[ROWS], x[ND_KNOTS_MOST], z[ND_KNOTS_MOST], slope[ND_KNOTS_MOST];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        double u = ((double)i + 0.5) / ROWS;
        values[i] = u < 0.06 ? 11 + (u > 0.0175) : u > 0.94 ? 80 - (u < 0.9825) : 20 + 50 * u;
    }
    struct monotone_map map = {.x = x, .z = z, .slope = slope, .low = -0.5, .high = HUGE_VAL};
    map.knots = nd_map_fit(values, ROWS, 1, map.low, map.high, 0, x, z, slope);
    assert_true(map.knots > 4);
    assert_true(nd_map_cell(&map, 1) > -9);
    assert_true(nd_map_cell(&map, 130) < 9);
    assert_true(x[0] < 12 && x[map.knots - 1] > 79); /* the ends stay where they are */
}

/* Between the knots and a bound that is far away values stay apart, and a bell has all of its density. */
static void test_far_bounds(void **state)
{
    static const struct {
        double mean, sd, low, high;
    } cases[] = {{37, 0.5, 0, HUGE_VAL}, {50, 6, 0, 1e9}, {101325, 40, 0, HUGE_VAL}, {-300, 1, -1e6, 0}};
    enum { STEPS = 200000 };
    static struct fitted f;
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double mean = cases[c].mean, sd = cases[c].sd, low = fmax(cases[c].low, mean - 30 * sd);
        double high = fmin(cases[c].high, mean + 30 * sd), sum = 0, before = -HUGE_VAL;
        for (size_t i = 0; i < COUNT; i++)
            f.values[i] = mean + sd * nd_normal_quantile_between(-HUGE_VAL, HUGE_VAL, ((double)i + 0.5) / COUNT);
        size_t first = 0, last = COUNT;
        while (f.values[first] <= cases[c].low) first++;
        while (f.values[last - 1] >= cases[c].high) last--;
        f.map = (struct monotone_map){.x = f.x, .z = f.z, .slope = f.slope, .low = cases[c].low, .high = cases[c].high};
        f.map.knots = nd_map_fit(f.values + first, last - first, 0, f.map.low, f.map.high, 0, f.x, f.z, f.slope);
        for (size_t i = 0; i < STEPS; i++) {
            double x = low + (high - low) * ((double)i + 0.5) / STEPS, z = nd_map_cell(&f.map, x);
            bool cut = x - cases[c].low < 0.01 * (mean - cases[c].low); /* at the bound */
            assert_true(cut ? z >= before : z > before);
            before = z;
            sum +=
                exp(-z * z / 2 - nd_map_log_slope(&f.map, z)) / sqrt(2 * 3.14159265358979323846) * (high - low) / STEPS;
        }
        if (fabs(sum - 1) > 1e-4) fail_msg("case %zu: the density has %g", c, sum);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_bounds),         cmocka_unit_test(map_passes_both_ways),
        cmocka_unit_test(slope_is_the_derivative), cmocka_unit_test(cells_are_a_bell),
        cmocka_unit_test(bounds_are_kept),         cmocka_unit_test(steep_values_stay_off_the_bound),
        cmocka_unit_test(no_map_of_one_value),     cmocka_unit_test(tails_are_wider_than_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
