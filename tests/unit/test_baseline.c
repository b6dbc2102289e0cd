/* The baselines of nade compare: held to NumPy's numbers, to sums over all that there can be, and to what nade_train
 * fits. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/philox.h"
#include "check/baseline.h"
#include "check/baseline_parts.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { MOST = 400 };

static size_t all_rows[MOST];
static nade_allocator allocator;

/* Fits a Gaussian to some rows and scores others. */
static void score_rows(const struct baseline_rows *fitted, const struct baseline_rows *scored, double *score,
                       double *cell)
{
    const struct baseline_method gaussian = {.kind = NADE_BASELINE_GAUSSIAN};
    size_t components = 0;
    assert_int_equal(nd_baseline_score(&gaussian, fitted, scored, score, cell, &components), NADE_OK);
    assert_int_equal(components, 1);
}

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
    double values[36], scored[9], score[3], cell[9];
    const size_t list[] = {0, 1, 2};
    fill_waves(values);
    memcpy(scored, values + 9, 3 * sizeof *values);
    memcpy(scored + 3, values + 21, 3 * sizeof *values);
    memcpy(scored + 6, values + 9, 3 * sizeof *values);
    scored[7] = NAN;
    struct baseline_rows fitted = rows_of(plain, 3, values, 12), others = fitted;
    others.values = scored;
    others.row = list;
    others.count = 3;
    (void)state;
    score_rows(&fitted, &others, score, cell);
    support_assert_close("row 3", score[0], -8.77817550907445, 1e-12, 0);
    support_assert_close("cell 0", cell[0], -1.4933204259650283, 1e-11, 0);
    support_assert_close("cell 1", cell[1], -5.4657949151427, 1e-11, 0);
    support_assert_close("cell 2", cell[2], -1.6887105897048862, 1e-11, 0);
    support_assert_close("row 7", score[1], -9.312897408865583, 1e-12, 0);
    support_assert_close("a hole", score[2], -3.3123805939317488, 1e-12, 0);
    assert_true(isnan(cell[7]) && isfinite(cell[6]) && isfinite(cell[8]));
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

/* All rows that there can be: their number, labels and counts and values. */
enum { STATES = 3 * 10 * 4 };

static void fill_states(double *values)
{
    for (size_t i = 0; i < STATES; i++) {
        values[3 * i] = (double)(i / 40);
        values[3 * i + 1] = (double)(i / 4 % 10);
        values[3 * i + 2] = kinds[i % 4];
    }
}

/* Their probabilities sum to one, and a cell's given the others to one as well, but for the slack. */
static void check_sums(const double *values, const double *score, const double *cell, double slack)
{
    double sum = 0, given = 0;
    for (size_t i = 0; i < STATES; i++) {
        sum += exp(score[i]);
        if (values[3 * i] == 1 && values[3 * i + 2] == kinds[2]) given += exp(cell[3 * i + 1]);
    }
    support_assert_close("all rows", sum, 1, slack, 0);
    support_assert_close("a cell given the others", given, 1, slack, 0);
}

static void test_sums(void **state)
{
    double values[3 * MOST], states[3 * STATES], score[STATES], cell[3 * STATES];
    fill_discrete(values, MOST);
    fill_states(states);
    struct baseline_rows rows = rows_of(discrete, 3, values, MOST), all = rows;
    all.values = states;
    all.count = STATES;
    (void)state;
    score_rows(&rows, &all, score, cell);
    check_sums(states, score, cell, 1e-9);
}

/* ---- the mixture ------------------------------------------------------------------------------------------------- */

/* A mixture of the rows by nade_train: the model whose columns a baseline has. */
static nade_model *train_mixture(nade_context *context, const double *values, size_t rows, size_t components)
{
    nade_train_options train;
    nade_table *table;
    nade_model *model;
    support_assert_ok(context, nade_table_from_array(context, values, rows, 3, NULL, &table));
    support_assert_ok(context, nade_table_set_type(context, table, "0", NADE_CATEGORICAL));
    support_assert_ok(context, nade_table_set_type(context, table, "1-2", NADE_ORDERED));
    nade_train_options_init(&train, sizeof train);
    train.kind = NADE_KIND_MIXTURE;
    train.effort = NADE_EFFORT_QUICK;
    if (components) train.components = components;
    support_assert_ok(context, nade_train(context, table, NULL, &train, &model));
    nade_table_free(table);
    return model;
}

static double mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum / (double)count;
}

/* It is what nade_train fits to the same rows, but for the choice of rows that validate. */
static void test_mixture(void **state)
{
    double values[3 * MOST], states[3 * STATES], score[MOST], cell[3 * STATES], trained[MOST], alone[MOST];
    nade_context *context;
    nade_score_options options;
    size_t components = 0;
    fill_discrete(values, MOST);
    fill_states(states);
    (void)state;
    support_assert_ok(NULL, nade_context_create(NULL, &context));
    nade_model *lead = train_mixture(context, values, MOST, 1), *model = train_mixture(context, values, MOST, 0);
    nade_baseline_options baseline = {
        .size = sizeof baseline, .kind = NADE_BASELINE_MIXTURE, .train = values, .train_rows = MOST};
    support_assert_ok(context, nade_score_baseline(context, lead, &baseline, STATES, states, score, cell, &components));
    check_sums(states, score, cell, 1e-4); /* the model knows of values beside those that occur */
    assert_true(components > 1);           /* the columns depend on each other */
    support_assert_ok(context, nade_score_baseline(context, lead, &baseline, MOST, values, score, NULL, &components));
    nade_score_options_init(&options, sizeof options);
    options.values = values;
    options.value_rows = MOST;
    support_assert_ok(context, nade_score(context, model, NULL, &options, trained, NULL, NULL));
    support_assert_ok(context, nade_score(context, lead, NULL, &options, alone, NULL, NULL));
    assert_true(fabs(mean(score, MOST) - mean(trained, MOST)) < 0.1);
    assert_true(mean(score, MOST) > mean(alone, MOST) + 0.5);
    nade_model_free(lead);
    nade_model_free(model);
    nade_context_free(context);
}

/* Of nine rows one component is fitted, each column by itself beside a row as they all are, and each label half a cell
 * more in that.  Only the columns that are asked for count, and these rows are no part of the model. */
static void test_few_rows(void **state)
{
    double values[3 * MOST], few[18], score[1], cell[2], scored[] = {1, NAN};
    const size_t columns[] = {0, 2};
    nade_context *context;
    size_t components = 0, ones = 0;
    fill_discrete(values, MOST);
    for (size_t i = 0; i < 9; i++) {
        few[2 * i] = (double)(i % 2);
        few[2 * i + 1] = NAN;
        ones += i % 2;
    }
    (void)state;
    support_assert_ok(NULL, nade_context_create(NULL, &context));
    nade_model *lead = train_mixture(context, values, MOST, 1);
    nade_baseline_options baseline = {.size = sizeof baseline,
                                      .kind = NADE_BASELINE_MIXTURE,
                                      .columns = columns,
                                      .column_count = 2,
                                      .train = few,
                                      .train_rows = 9};
    support_assert_ok(context, nade_score_baseline(context, lead, &baseline, 1, scored, score, cell, &components));
    assert_int_equal(components, 1);
    double whole = ((double)ones + 0.5) / (9 + 1.5);
    support_assert_close("a label", exp(score[0]), ((double)ones + whole) / 10, 1e-6, 0);
    assert_true(cell[0] == score[0] && isnan(cell[1]));
    baseline.train_rows = 0;
    assert_int_equal(nade_score_baseline(context, lead, &baseline, 1, scored, score, cell, &components),
                     NADE_BAD_INPUT);
    nade_model_free(lead);
    nade_context_free(context);
}

/* A row is scored by what was fitted to others: one apart from all of them gets no credit for itself. */
static void test_cross_fit(void **state)
{
    const struct baseline_method gaussian = {.kind = NADE_BASELINE_GAUSSIAN, .seed = 3};
    double values[3 * 60], row_score[60], cell_score[180], alone[60];
    size_t most = 99;
    for (size_t i = 0; i < 60; i++)
        for (size_t c = 0; c < 3; c++)
            values[3 * i + c] = (double)nd_random_uniform(nd_random_word(2, PURPOSE_SPLIT, i, (uint32_t)c, 0));
    values[30] = 1000;
    struct baseline_rows rows = rows_of(plain, 3, values, 60);
    (void)state;
    assert_int_equal(nd_baseline_cross_fit(&gaussian, &rows, row_score, cell_score, &most, NULL, NULL), NADE_OK);
    assert_int_equal(most, 1);
    assert_true(row_score[10] < -1e4 && cell_score[30] < -1e4 && isfinite(row_score[10]));
    assert_int_equal(nd_baseline_cross_fit(&gaussian, &rows, alone, NULL, &most, NULL, NULL), NADE_OK);
    assert_memory_equal(row_score, alone, sizeof alone);
    rows.count = 1;
    assert_int_equal(nd_baseline_cross_fit(&gaussian, &rows, row_score, cell_score, &most, NULL, NULL), NADE_OK);
    assert_true(isfinite(row_score[0]));
    rows.count = 0;
    assert_int_equal(nd_baseline_cross_fit(&gaussian, &rows, row_score, cell_score, &most, NULL, NULL), NADE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gaussian),  cmocka_unit_test(test_gaussian_holes), cmocka_unit_test(test_masses),
        cmocka_unit_test(test_sums),      cmocka_unit_test(test_mixture),        cmocka_unit_test(test_few_rows),
        cmocka_unit_test(test_cross_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
