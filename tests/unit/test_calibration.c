/* What nade check judges by: tests of calibration and of samples, and how they become a verdict. */
#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "check/checked.h"
#include "model/normal.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { CELLS = 400 };

static nade_allocator allocator;

static double uniform(uint32_t seed, size_t i, uint32_t word)
{
    return nd_random_fine(nd_random_word(seed, PURPOSE_PIT, i, 7, 2 * word),
                          nd_random_word(seed, PURPOSE_PIT, i, 7, 2 * word + 1));
}

/* Five places by hand: moments are sums of Legendre polynomials. */
static void test_figures(void **state)
{
    double places[] = {0.9, 0.1, 0.5, 0.3, 1.0};
    struct calibration c = nd_calibrate(places, 5);
    double t[] = {-0.8, -0.4, 0, 0.8, 1}, sums[4] = {0};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        double s = t[i] * t[i];
        sums[0] += sqrt(3) * t[i] / sqrt(5);
        sums[1] += sqrt(5) * (1.5 * s - 0.5) / sqrt(5);
        sums[2] += sqrt(7) * (2.5 * s - 1.5) * t[i] / sqrt(5);
        sums[3] += 3 * (4.375 * s * s - 3.75 * s + 0.375) / sqrt(5);
    }
    double total = 0;
    for (size_t i = 0; i < 4; i++) {
        support_assert_close("moment", c.moment[i], sums[i], 1e-12, 1e-12);
        total += sums[i] * sums[i];
    }
    double left = 9 / (9 + total); /* F of 4 and 5 + 4 degrees */
    support_assert_close("p-value", c.p_value, pow(left, 4.5) * (1 + 4.5 * (1 - left)), 1e-12, 0);
    support_assert_close("distance", c.distance, 0.3, 1e-12, 0); /* before 0.9 three of five */
    support_assert_close("inside 50 %", c.inside[0], 0.4, 1e-12, 0);
    support_assert_close("inside 80 %", c.inside[1], 0.8, 1e-12, 0);
    support_assert_close("inside 95 %", c.inside[3], 0.8, 1e-12, 0);
    support_assert_close("above", c.above, 0.4, 1e-12, 0);
    assert_true(c.cells == 5 && c.histogram[0] == 0 && c.histogram[2] == 1 && c.histogram[19] == 1);
    assert_true(isnan(nd_calibrate(places, 0).p_value));
}

/* Uniform places: p-values are uniform.  Of 1000, at most so many fall below each bound as chance allows (4
 * deviations). */
static void test_null(void **state)
{
    double places[CELLS];
    size_t below[3] = {0};
    static const double bound[3] = {0.01, 0.1, 0.5};
    (void)state;
    for (uint32_t seed = 0; seed < 1000; seed++) {
        for (size_t i = 0; i < CELLS; i++) places[i] = uniform(seed, i, 0);
        double p = nd_calibrate(places, CELLS).p_value;
        for (size_t b = 0; b < 3; b++) below[b] += p < bound[b];
    }
    for (size_t b = 0; b < 3; b++)
        assert_true(fabs((double)below[b] - 1000 * bound[b]) < 4 * sqrt(1000 * bound[b] * (1 - bound[b])));
}

/* Few uniform places: p-values are no smaller than they should be, nor so large that they say nothing. */
static void test_few(void **state)
{
    enum { TIMES = 40000 };
    static const size_t few[] = {2, 5, 20, 60};
    double places[60];
    (void)state;
    for (size_t f = 0; f < sizeof few / sizeof *few; f++) {
        double below[2] = {0}; /* 0.2 and 0.001 */
        for (uint32_t seed = 0; seed < TIMES; seed++) {
            for (size_t i = 0; i < few[f]; i++) places[i] = uniform(seed, i, 3);
            double p = nd_calibrate(places, few[f]).p_value;
            below[0] += p < 0.2;
            below[1] += p < 0.001;
        }
        if (!(below[1] < 0.001 * TIMES + 4 * sqrt(0.001 * TIMES)))
            fail_msg("%zu cells: p < 0.001 in %g of %d sets", few[f], below[1], TIMES);
        if (!(below[0] > 0.04 * TIMES && below[0] < 0.2 * TIMES))
            fail_msg("%zu cells: p < 0.2 in %g of %d sets", few[f], below[0], TIMES);
    }
}

static void test_bound(void **state)
{
    (void)state;
    support_assert_close("bound", nd_error_bound(-30, 100), 2 * exp(-900.0 / 2 / 110), 1e-12, 0);
    assert_true(nd_error_bound(0, 0) == 1 && nd_error_bound(1, 100) == 1);
}

/* Two sets of rows of two numbers and a label.  related: in the second set the numbers depend on each other. */
static void fill(double *values, size_t rows, uint32_t seed, bool related)
{
    for (size_t i = 0; i < 2 * rows; i++) {
        double x = uniform(seed, i, 0), y = uniform(seed, i, 1), z = uniform(seed, i, 2);
        values[3 * i] = x;
        values[3 * i + 1] = related && i >= rows ? x : y;
        values[3 * i + 2] = z < 0.3 ? 0 : z < 0.5 ? 1 : 2;
        if (i % rows % 9 == 0) values[3 * i + i % rows % 3] = NAN;
    }
}

/* Ten numbers, nine tenths of them missing, the same in both rows of a pair: pairs have cells in common, others seldom.
 * P-values are as they should be and the distance is about 0 all the same. */
static void test_energy_of_holes(void **state)
{
    enum { ROWS = 80, COLUMNS = 10, TIMES = 200 };
    static double values[2 * ROWS * COLUMNS];
    const int labels[COLUMNS] = {0};
    double sum = 0, share = 0;
    struct energy energy;
    (void)state;
    for (uint32_t seed = 0; seed < TIMES; seed++) {
        for (size_t i = 0; i < 2 * ROWS; i++)
            for (uint32_t c = 0; c < COLUMNS; c++)
                values[i * COLUMNS + c] = uniform(seed, i % ROWS, 20 + c) < 0.9 ? NAN : uniform(seed, i, c);
        assert_true(nd_energy_test(&allocator, values, labels, ROWS, COLUMNS, seed, 99, &energy));
        sum += energy.p_value;
        share += energy.share;
    }
    if (fabs(sum / TIMES - 0.5) > 4 * 0.29 / sqrt(TIMES)) fail_msg("the mean of p-values is %g", sum / TIMES);
    if (fabs(share / TIMES) > 0.01) fail_msg("the mean distance is %g", share / TIMES);
}

/* The distance of sets that are alike is about 0 and unlikely to be called one; dependence is seen, though each column
 * by itself is the same. */
static void test_energy(void **state)
{
    enum { ROWS = 300, TIMES = 60 };
    static double values[6 * ROWS];
    const int labels[] = {0, 0, 1};
    size_t low = 0;
    struct energy energy;
    (void)state;
    for (uint32_t seed = 0; seed < TIMES; seed++) {
        fill(values, ROWS, seed, false);
        assert_true(nd_energy_test(&allocator, values, labels, ROWS, 3, seed, 99, &energy));
        assert_true(energy.p_value >= 0.01 && energy.p_value <= 1 && fabs(energy.share) < 0.02);
        low += energy.p_value <= 0.2;
    }
    assert_true(low >= 2 && low <= 24); /* 12 expected, deviation 3.1 */
    fill(values, ROWS, 5, true);
    assert_true(nd_energy_test(&allocator, values, labels, ROWS, 3, 1, 199, &energy));
    assert_true(energy.p_value < 0.006 && energy.share > 0.01);
}

/* Three columns of 1000 cells, all right but for what a test says. */
static struct checked_column columns[3];

static struct checked make_checked(void)
{
    static const char *const names[] = {"visits", "kind", "y"}, *const labels[] = {"a", "b", "c"};
    for (size_t c = 0; c < 3; c++) {
        columns[c] = (struct checked_column){.p_value = 0.5, .off = 0.01, .gain = 1, .standard_error = 0.1};
        columns[c].known.name = names[c];
        columns[c].places = (struct calibration){.cells = 1000, .p_value = 0.5, .above = 0.5};
        memcpy(columns[c].places.inside, nd_calibration_level, sizeof nd_calibration_level);
    }
    columns[1].labels = 3;
    columns[1].known.labels = labels;
    return (struct checked){.columns = 3,
                            .column = columns,
                            .by_column = true,
                            .scored = 1000,
                            .gain = 2,
                            .gain_error = 0.1,
                            .energy = {0.001, 0.4},
                            .energy_rows = 500};
}

static void check_words(const struct checked *checked, const char *expected)
{
    char verdict[512];
    nd_check_verdict(checked, verdict, sizeof verdict);
    if (!strstr(verdict, expected)) fail_msg("'%s' is not in '%s'", expected, verdict);
}

static void test_verdict(void **state)
{
    struct checked checked = make_checked();
    char words[256];
    (void)state;
    check_words(
        &checked,
        "no fault found: the columns are calibrated and the energy test finds no difference between samples and "
        "rows; it is better");
    checked.energy.p_value = 1e-9;
    nd_check_verdict(&checked, words, sizeof words);
    assert_ptr_equal(strstr(words, "the columns are calibrated, but samples can be told from the rows"), words);
    checked.energy.p_value = 0.4;
    columns[0].p_value = 0.003; /* low by itself, not among three columns and samples */
    columns[0].off = 0.2;
    assert_int_equal(nd_column_fault(&checked, 0, words, sizeof words), NADE_FAULT_NONE);
    columns[0].p_value = 1e-9;
    columns[0].off = 0.02;
    assert_int_equal(nd_column_fault(&checked, 0, words, sizeof words), NADE_FAULT_HARMLESS);
    check_words(&checked, "no fault found");
    columns[0].off = 0.09;
    columns[0].places.inside[2] = 0.81;
    columns[0].places.moment[1] = 12;
    assert_int_equal(nd_column_fault(&checked, 0, words, sizeof words), NADE_FAULT_FOUND);
    assert_string_equal(words, "intervals are too narrow: 90 % intervals hold 81 % of the cells");
    check_words(&checked, "1 of 3 columns is not calibrated, but the energy test finds no difference");
    columns[0].places.moment[0] = -20;
    columns[0].places.above = 0.3;
    nd_column_fault(&checked, 0, words, sizeof words);
    assert_string_equal(words, "values are lower than expected: 30 % of the cells lie above their median");
    columns[1].p_value = 1e-9;
    columns[1].off = 0.1;
    columns[1].hits = 0.6;
    columns[1].expected_hits = 0.7;
    nd_column_fault(&checked, 1, words, sizeof words);
    assert_non_null(strstr(words, "too sure of itself: its likeliest label is right in 60.0 % of the cells"));
    columns[1].hits = 0.7;
    columns[1].worst_label = 2;
    columns[1].frequency = 0.4;
    columns[1].said = 0.3;
    nd_column_fault(&checked, 1, words, sizeof words);
    assert_string_equal(words, "label c is in 40 % of the cells, expected 30 %");
    checked.energy.p_value = 0.001;
    checked.gain = 0.1;
    check_words(&checked,
                "2 of 3 columns are not calibrated and samples can be told from the rows; it is no better than");
    checked.by_column = false;
    check_words(&checked, "one ordering only; samples can be told");
    checked.scored = 1;
    check_words(&checked, "1 row can't tell");
}

/* Cells of N(shift, sd) where N(0, 1) is said: what is wrong is named by what it is, however much of it there is. */
static void test_named(void **state)
{
    static const struct {
        double shift, sd;
        const char *words;
    } cases[] = {
        {0.3, 1, "values are higher than expected: 62 % of the cells lie above their median"},
        {1, 1, "values are higher than expected: 84 % of the cells lie above their median"},
        {2, 1, "values are higher than expected: 98 % of the cells lie above their median"},
        {-3, 1, "values are lower than expected: 0 % of the cells lie above their median"},
        {9, 1, "values are higher than expected: 100 % of the cells lie above their median"},
        {0, 2, "intervals are too narrow: 80 % intervals hold 48 % of the cells"},
        {0.5, 3, "intervals are too narrow: 90 % intervals hold 41 % of the cells"},
        {0, 0.5, "intervals are too wide: 50 % intervals hold 82 % of the cells"},
        {0.1, 0.5, "intervals are too wide: 50 % intervals hold 82 % of the cells"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct checked checked = make_checked();
        double places[CELLS];
        char words[256];
        for (size_t i = 0; i < CELLS; i++) {
            double z = nd_normal_quantile_between(-HUGE_VAL, HUGE_VAL, ((double)i + 0.5) / CELLS);
            places[i] = nd_normal_share(cases[k].shift + cases[k].sd * z);
        }
        columns[0].places = nd_calibrate(places, CELLS);
        columns[0].p_value = columns[0].places.p_value;
        columns[0].off = 0.2;
        assert_int_equal(nd_column_fault(&checked, 0, words, sizeof words), NADE_FAULT_FOUND);
        assert_string_equal(words, cases[k].words);
    }
}

int main(void)
{
    allocator = nd_default_allocator();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),         cmocka_unit_test(test_null),
        cmocka_unit_test(test_bound),           cmocka_unit_test(test_few),
        cmocka_unit_test(test_energy_of_holes), cmocka_unit_test(test_energy),
        cmocka_unit_test(test_verdict),         cmocka_unit_test(test_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
