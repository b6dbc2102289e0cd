/* The baselines of nade compare: held to NumPy's numbers, to sums over all that there can be, and to what expectation-
 * maximisation promises. */
#include <math.h>

#include "base/memory.h"
#include "base/philox.h"
#include "check/baseline.h"
#include "check/baseline_parts.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { MOST = 400 };

static size_t all_rows[MOST];
static nade_allocator allocator;

static struct baseline_rows rows_of(const struct baseline_column *column, size_t columns, const double *values,
                                    size_t count)
{
    for (size_t i = 0; i < MOST; i++) all_rows[i] = i;
    allocator = nd_default_allocator();
    return (struct baseline_rows){column, columns, values, all_rows, count, &allocator};
}

static const struct baseline_column plain[] = {
    {.unit = 1, .step = 0.5, .least = -INFINITY, .most = INFINITY},
    {.unit = 1, .least = -INFINITY, .most = INFINITY},
    {.unit = 1, .step = 0.01, .least = -INFINITY, .most = INFINITY},
};

/* Twelve rows of three numbers. */
static void fill_waves(double *values)
{
    for (size_t i = 0; i < 12; i++) {
        double x = (double)i;
        values[3 * i] = 10 + 3 * sin(x) + x / 4;
        values[3 * i + 1] = 100 * cos(x * 0.7) + 20 * sin(x);
        values[3 * i + 2] = 0.5 * x + sin(3 * x);
    }
}

/* Normal densities by NumPy, of the covariance with the squares of the floors added. */
static void test_gaussian(void **state)
{
    double values[36], cell[3];
    fill_waves(values);
    struct baseline_rows rows = rows_of(plain, 3, values, 12);
    struct baseline *fit = nd_baseline_fit(NADE_BASELINE_GAUSSIAN, &rows, 0);
    (void)state;
    support_assert_close("row 3", nd_baseline_score(fit, values + 9, cell), -8.77817550907445, 1e-12, 0);
    support_assert_close("cell 0", cell[0], -1.4933204259650283, 1e-11, 0);
    support_assert_close("cell 1", cell[1], -5.4657949151427, 1e-11, 0);
    support_assert_close("cell 2", cell[2], -1.6887105897048862, 1e-11, 0);
    support_assert_close("row 7", nd_baseline_score(fit, values + 21, NULL), -9.312897408865583, 1e-12, 0);
    values[10] = NAN;
    support_assert_close("a hole", nd_baseline_score(fit, values + 9, cell), -3.3123805939317488, 1e-12, 0);
    assert_true(isnan(cell[1]) && isfinite(cell[0]) && isfinite(cell[2]));
    assert_int_equal(nd_baseline_components(fit), 1);
    nd_baseline_free(fit);
}

/* The same by rounds, where cells are missing: no round makes the likelihood smaller, and they end where NumPy's do. */
static void test_gaussian_holes(void **state)
{
    double values[36], whole[36], before = -INFINITY;
    fill_waves(values);
    fill_waves(whole);
    values[3] = values[14] = values[16] = values[17] = values[27] = NAN;
    struct baseline_rows rows = rows_of(plain, 3, values, 12);
    struct gaussian_fit *fit = nd_baseline_gaussian_create(&rows);
    (void)state;
    for (int round = 0; round < 3000; round++) {
        double now = nd_baseline_gaussian_round(fit, &rows);
        assert_true(now >= before - 1e-10 * fabs(before));
        before = now;
    }
    support_assert_close("row 0", nd_baseline_gaussian_score(fit, whole, NULL), -10.939391040320809, 1e-9, 0);
    support_assert_close("row 4", nd_baseline_gaussian_score(fit, values + 12, NULL), -8.392875818559858, 1e-9, 0);
    nd_baseline_gaussian_free(fit);
}

static void test_masses(void **state)
{
    static const double cases[][3] = {
        {-1, 2, -0.20016629432446258},        {3, 4, -6.6314677865382251},         {8, 8.5, -35.028792508579748},
        {35, 36, -616.97510126192251},        {-41, -40, -804.60844201375379},     {1, 1.0001, -10.629328906430924},
        {-INFINITY, -5, -15.064998393988726}, {39, INFINITY, -765.08315656437754}, {-INFINITY, INFINITY, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        support_assert_close("mass", nd_baseline_log_mass(cases[i][0], cases[i][1]), cases[i][2], 1e-8, 1e-12);
}

static const double kinds[] = {1, 2, 5, 10};
static const struct baseline_column discrete[] = {
    {.labels = 3, .unit = 1, .least = -INFINITY, .most = INFINITY},
    {.binned = true, .unit = 1, .step = 1, .least = 0, .most = 9},
    {.binned = true, .unit = 1, .values = kinds, .value_count = 4, .least = -INFINITY, .most = INFINITY},
};

/* A label, a count that grows with it, one of four values that grows with the count; some cells missing. */
static void fill_discrete(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t word = nd_random_word(1, PURPOSE_SPLIT, i, 0, 0);
        double label = (double)(word % 3), number = label * 3 + (double)(word / 64 % 4);
        double row[] = {label, number > 9 ? 9 : number, kinds[(size_t)(number / 3) % 4]};
        for (size_t c = 0; c < 3; c++) values[3 * i + c] = word / 1024 % 11 == c ? NAN : row[c];
    }
}

/* Probabilities of all rows that there can be sum to one, and a cell's given the others to one as well. */
static void check_sums(struct baseline *fit)
{
    double sum = 0, cell[3], given = 0;
    for (int label = 0; label < 3; label++)
        for (int number = 0; number < 10; number++)
            for (int kind = 0; kind < 4; kind++) {
                double row[] = {label, number, kinds[kind]};
                sum += exp(nd_baseline_score(fit, row, cell));
                if (label == 1 && kind == 2) given += exp(cell[1]);
            }
    support_assert_close("all rows", sum, 1, 1e-9, 0);
    support_assert_close("a cell given the others", given, 1, 1e-9, 0);
}

static void test_sums(void **state)
{
    double values[3 * MOST];
    fill_discrete(values, MOST);
    struct baseline_rows rows = rows_of(discrete, 3, values, MOST);
    (void)state;
    for (int kind = NADE_BASELINE_GAUSSIAN; kind <= NADE_BASELINE_MIXTURE; kind++) {
        struct baseline *fit = nd_baseline_fit((nade_baseline)kind, &rows, 1);
        check_sums(fit);
        nd_baseline_free(fit);
    }
    struct baseline *fit = nd_baseline_fit(NADE_BASELINE_MIXTURE, &rows, 1);
    assert_true(nd_baseline_components(fit) > 1); /* the columns depend on each other */
    nd_baseline_free(fit);
}

/* No round of any start makes the likelihood smaller, whatever the columns and holes; and a value that repeats earns
 * no more than its floor allows. */
static void test_mixture_rounds(void **state)
{
    struct baseline_column mixed[] = {discrete[0], plain[0], plain[2]};
    double values[3 * MOST], row[3];
    fill_discrete(values, MOST);
    for (size_t i = 0; i < MOST; i++)
        if (i % 3 == 0) values[3 * i + 2] = 7;
    struct baseline_rows rows = rows_of(mixed, 3, values, MOST);
    (void)state;
    for (uint32_t start = 0; start < 4; start++) {
        struct mixture_fit *fit = nd_baseline_mixture_create(&rows, 2 + start, 5, start);
        double before = -INFINITY;
        for (int round = 0; round < 150; round++) {
            double now = nd_baseline_mixture_round(fit, &rows);
            assert_true(now >= before - 1e-9 * fabs(before));
            before = now;
        }
        row[0] = row[1] = NAN;
        row[2] = 7;
        assert_true(nd_baseline_mixture_score(fit, row, NULL) <= log(sqrt(12) / 0.01) - 0.9);
        nd_baseline_mixture_free(fit);
    }
}

/* One component is each column by itself. */
static void test_one_component(void **state)
{
    double values[36], squares = 0, mean = 0, cell[3];
    fill_waves(values);
    struct baseline_rows rows = rows_of(plain, 3, values, 12);
    struct mixture_fit *fit = nd_baseline_mixture_create(&rows, 1, 0, 0);
    (void)state;
    nd_baseline_mixture_round(fit, &rows);
    for (size_t i = 0; i < 12; i++) mean += values[3 * i] / 12;
    for (size_t i = 0; i < 12; i++) squares += pow(values[3 * i] - mean, 2) / 12;
    double all = nd_baseline_mixture_score(fit, values, cell);
    support_assert_close("cell", cell[0], -pow(values[0] - mean, 2) / squares / 2 - log(2 * acos(-1) * squares) / 2,
                         1e-10, 0);
    support_assert_close("row", all, cell[0] + cell[1] + cell[2], 1e-12, 0);
    nd_baseline_mixture_free(fit);
}

/* A row is scored by what was fitted to others: one apart from all of them gets no credit for itself. */
static void test_cross_fit(void **state)
{
    double values[3 * 60], row_score[60], cell_score[180], alone[60];
    size_t most = 99;
    for (size_t i = 0; i < 60; i++)
        for (size_t c = 0; c < 3; c++)
            values[3 * i + c] = (double)nd_random_uniform(nd_random_word(2, PURPOSE_SPLIT, i, (uint32_t)c, 0));
    values[30] = 1000;
    struct baseline_rows rows = rows_of(plain, 3, values, 60);
    (void)state;
    for (int kind = NADE_BASELINE_GAUSSIAN; kind <= NADE_BASELINE_MIXTURE; kind++) {
        assert_int_equal(nd_baseline_cross_fit((nade_baseline)kind, &rows, 3, row_score, cell_score, &most, NULL, NULL),
                         NADE_OK);
        assert_true(most >= 1 && most <= 32);
        assert_true(row_score[10] < -1e4 && cell_score[30] < -1e4 && isfinite(row_score[10]));
        assert_int_equal(nd_baseline_cross_fit((nade_baseline)kind, &rows, 3, alone, NULL, NULL, NULL, NULL), NADE_OK);
        assert_memory_equal(row_score, alone, sizeof alone);
    }
    rows.count = 1;
    assert_int_equal(nd_baseline_cross_fit(NADE_BASELINE_GAUSSIAN, &rows, 3, row_score, cell_score, NULL, NULL, NULL),
                     NADE_OK);
    assert_true(isfinite(row_score[0]));
    rows.count = 0;
    assert_int_equal(nd_baseline_cross_fit(NADE_BASELINE_MIXTURE, &rows, 3, row_score, cell_score, NULL, NULL, NULL),
                     NADE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),  cmocka_unit_test(test_gaussian_holes), cmocka_unit_test(test_masses),
        cmocka_unit_test(test_sums),      cmocka_unit_test(test_mixture_rounds), cmocka_unit_test(test_one_component),
        cmocka_unit_test(test_cross_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
