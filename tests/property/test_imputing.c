/* nade_impute and nade_score_cells: draws against the conditional, numbering, point values and intervals against the
 * heads on a plain network pass, surprise against nade_score. */
#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/philox.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/sampling_support.h"

enum { MANY = 30000, COLUMNS_MOST = 8, ROWS = 150 };

static const nade_device devices[] = {NADE_DEVICE_REFERENCE, NADE_DEVICE_CPU};
static const double tolerance[] = {1e-9, 1e-4};
static const size_t two_layers[] = {12, 11};

static nade_impute_options options_for(nade_impute_method method, nade_device device)
{
    nade_impute_options options;
    nade_impute_options_init(&options, sizeof options);
    options.method = method;
    options.device = device;
    options.seed = 9;
    options.exact = 1;
    return options;
}

/* p of a row's label in a column given its other cells, those of `hidden` left out. */
static double conditional(const struct support_model *m, const float *cells, size_t column, size_t hidden)
{
    double outputs[16];
    uint8_t observed[COLUMNS_MOST];
    for (size_t c = 0; c < m->plan.columns; c++) observed[c] = c != column && c != hidden;
    sampling_outputs(&m->plan, m->parameters, cells, observed, column, outputs);
    return sampling_label_probability(&m->plan.column[column], outputs, (size_t)cells[column]);
}

/* Two missing cells of four, in one order or the other. */
static void check_joint_draws(nade_device device, uint32_t draws)
{
    static double values[MANY * 4];
    struct support_model m;
    double probability[12];
    size_t count[12] = {0};
    support_build(&m, "bcb4", two_layers, 2, 1, NADE_TANH, true);
    struct nade_model model = sampling_model(&m);
    nade_impute_options options = options_for(NADE_IMPUTE_DRAW, device);
    options.draws = draws;
    for (size_t s = 0; s < 12; s++) {
        const float cells[] = {1, (float)(s % 3), 0, (float)(s / 3)};
        probability[s] = 0.5 * conditional(&m, cells, 1, 3) * conditional(&m, cells, 3, 4) +
                         0.5 * conditional(&m, cells, 3, 1) * conditional(&m, cells, 1, 4);
    }
    for (size_t row = 0; row < MANY; row++)
        memcpy(values + 4 * row, (const double[]){1, NAN, 0, NAN}, 4 * sizeof(double));
    support_assert_ok(m.context, nade_impute(m.context, &model, &options, MANY, values, NULL, NULL));
    for (size_t row = 0; row < MANY; row++) {
        assert_true(values[4 * row] == 1 && values[4 * row + 2] == 0);
        count[(size_t)(values[4 * row + 1] + 3 * values[4 * row + 3])]++;
    }
    sampling_check_counts("imputed pairs", probability, count, 12);
    support_free(&m);
}

/* Rows of the same content are drawn apart, and so are the draws of one row. */
static void test_joint_draws(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        check_joint_draws(devices[i], 1);
        check_joint_draws(devices[i], MANY);
        check_joint_draws(devices[i], 7);
    }
}

static void test_real_draws(void **state)
{
    static double values[MANY * 3], place[MANY];
    const float cells[] = {1, 0, 0.4f};
    const uint8_t observed[] = {1, 0, 1};
    struct support_model m;
    double outputs[16];
    (void)state;
    support_build(&m, "brr", two_layers, 2, 3, NADE_TANH, true);
    struct nade_model model = sampling_model(&m);
    const struct column_spec *spec = m.schema.column;
    nade_impute_options options = options_for(NADE_IMPUTE_DRAW, NADE_DEVICE_CPU);
    sampling_outputs(&m.plan, m.parameters, cells, observed, 1, outputs);
    for (size_t row = 0; row < MANY; row++)
        memcpy(values + 3 * row, (const double[]){1, NAN, spec[2].mean + spec[2].sd * (double)cells[2]},
               3 * sizeof(double));
    support_assert_ok(m.context, nade_impute(m.context, &model, &options, MANY, values, NULL, NULL));
    for (size_t row = 0; row < MANY; row++)
        place[row] =
            sampling_mixture_cdf(&m.plan.column[1], outputs, (values[3 * row + 1] - spec[1].mean) / spec[1].sd);
    sampling_check_uniform("imputed real cells", place, MANY);
    support_free(&m);
}

/* ---- a model with names, units and steps --------------------------------------------------------------------------
 */

struct fixture {
    nade_context *context;
    struct nade_model *model; /* binary, binary with labels, real in steps of 0.1, categorical */
    double values[ROWS * 4];
};

static void set_up(struct fixture *f, unsigned threads)
{
    nade_context_options options;
    nade_context_options_init(&options, sizeof options);
    options.threads = threads;
    assert_int_equal(nade_context_create(&options, &f->context), NADE_OK);
    f->model = model_support_build(f->context);
    for (size_t at = 0; at < (size_t)ROWS * 4; at++) {
        size_t row = at / 4, c = at % 4;
        f->values[at] = c == 2 ? 0.1 * (double)(row % 37) : (double)(row % (c == 3 ? 3 : 2));
        if (nd_random_word(3, 1, 0, 0, (uint32_t)at) % 3 == 0) f->values[at] = NAN;
    }
    for (size_t c = 0; c < 4; c++) f->values[c] = NAN;   /* nothing there */
    for (size_t c = 0; c < 4; c++) f->values[4 + c] = 1; /* nothing missing */
}

static void tear_down(struct fixture *f)
{
    nade_model_free(f->model);
    nade_context_free(f->context);
}

static void test_observed_cells_and_steps(void **state)
{
    (void)state;
    for (int method = NADE_IMPUTE_DRAW; method <= NADE_IMPUTE_MODE; method++) {
        struct fixture f;
        double before[ROWS * 4];
        set_up(&f, 2);
        memcpy(before, f.values, sizeof before);
        nade_impute_options options = options_for((nade_impute_method)method, NADE_DEVICE_AUTO);
        options.exact = 0;
        support_assert_ok(f.context, nade_impute(f.context, f.model, &options, ROWS, f.values, NULL, NULL));
        for (size_t at = 0; at < (size_t)ROWS * 4; at++) {
            double x = f.values[at];
            if (!isnan(before[at]))
                assert_memory_equal(&f.values[at], &before[at], sizeof x);
            else if (at % 4 == 2)
                assert_true(x == nearbyint(x * 10) / 10);
            else
                assert_true(x == 0 || x == 1 || (x == 2 && at % 4 == 3));
        }
        tear_down(&f);
    }
}

/* A row's draws depend on the seed, its number, the draw's number and its own cells alone. */
static void test_numbers(void **state)
{
    struct fixture f, g;
    static double all[ROWS * 3 * 4], other[ROWS * 3 * 4];
    double alone[4];
    (void)state;
    set_up(&f, 1);
    set_up(&g, 3);
    nade_impute_options options = options_for(NADE_IMPUTE_DRAW, NADE_DEVICE_CPU);
    options.draws = 3;
    options.first = ((uint64_t)5 << 32) - 40; /* numbers of 32 bits end among these rows */
    for (size_t row = 0; row < (size_t)ROWS * 3; row++) memcpy(all + 4 * row, f.values + row / 3 * 4, sizeof alone);
    memcpy(other, all, sizeof all);
    support_assert_ok(f.context, nade_impute(f.context, f.model, &options, (size_t)ROWS * 3, all, NULL, NULL));
    support_assert_ok(g.context, nade_impute(g.context, g.model, &options, (size_t)ROWS * 3, other, NULL, NULL));
    assert_memory_equal(all, other, sizeof all);
    nade_impute_options one = options;
    one.draws = 1;
    for (size_t row = 0; row < (size_t)ROWS * 3; row += 11) {
        one.first = options.first + row / 3;
        one.first_draw = (uint32_t)(row % 3);
        memcpy(alone, f.values + row / 3 * 4, sizeof alone);
        support_assert_ok(f.context, nade_impute(f.context, f.model, &one, 1, alone, NULL, NULL));
        assert_memory_equal(alone, all + 4 * row, sizeof alone);
    }
    memcpy(alone, f.values, sizeof alone);
    one.first = options.first;
    one.first_draw = 0;
    one.seed++;
    support_assert_ok(f.context, nade_impute(f.context, f.model, &one, 1, alone, NULL, NULL));
    assert_memory_not_equal(alone, all, sizeof alone);
    tear_down(&f);
    tear_down(&g);
}

/* Values and ends of intervals are what the heads say of an independent network pass. */
static void check_points(size_t device, nade_impute_method method)
{
    static double before[ROWS * 4], low[ROWS * 4], high[ROWS * 4];
    struct fixture f;
    set_up(&f, 2);
    memcpy(before, f.values, sizeof before);
    nade_impute_options options = options_for(method, devices[device]);
    options.interval = 0.8;
    support_assert_ok(f.context, nade_impute(f.context, f.model, &options, ROWS, f.values, low, high));
    const struct column_spec *real = &f.model->schema.column[2];
    for (size_t at = 0; at < (size_t)ROWS * 4; at++) {
        const double *row = before + at / 4 * 4;
        const struct plan_column *column = &f.model->plan.column[at % 4];
        float cells[4];
        uint8_t observed[4];
        double outputs[16];
        assert_int_equal(isnan(low[at]), !isnan(before[at]) || at % 4 != 2);
        assert_int_equal(isnan(high[at]), isnan(low[at]));
        if (!isnan(before[at])) continue;
        for (size_t c = 0; c < 4; c++) {
            observed[c] = (uint8_t)(isnan(row[c]) ? 0 : 1);
            cells[c] = (float)(c == 2 ? (row[c] - real->mean) / real->sd : row[c]);
        }
        sampling_outputs(&f.model->plan, f.model->parameters, cells, observed, at % 4, outputs);
        if (at % 4 != 2) {
            if (method != NADE_IMPUTE_DRAW) assert_true(f.values[at] == column->head->mode(column, outputs));
            continue;
        }
        double cell = method == NADE_IMPUTE_MEDIAN ? column->head->quantile(column, outputs, 0.5)
                                                   : column->head->mode(column, outputs);
        double expected = method == NADE_IMPUTE_MEAN ? column->head->mean(column, outputs) /* in data units */
                                                     : real->mean + real->sd * cell;
        if (method != NADE_IMPUTE_DRAW) support_assert_close("value", f.values[at], expected, 0, tolerance[device]);
        support_assert_close("P below low", sampling_mixture_cdf(column, outputs, (low[at] - real->mean) / real->sd),
                             0.1, 0, tolerance[device]);
        support_assert_close("P below high", sampling_mixture_cdf(column, outputs, (high[at] - real->mean) / real->sd),
                             0.9, 0, tolerance[device]);
    }
    tear_down(&f);
}

static void test_points_and_intervals(void **state)
{
    (void)state;
    for (size_t device = 0; device < 2; device++)
        for (int method = NADE_IMPUTE_DRAW; method <= NADE_IMPUTE_MODE; method++)
            check_points(device, (nade_impute_method)method);
}

/* ---- cells' scores ------------------------------------------------------------------------------------------------
 */

static nade_table *table_of(struct fixture *f)
{
    nade_table *table;
    support_assert_ok(f->context, nade_table_from_array(f->context, f->values, ROWS, 4, NULL, &table));
    return table;
}

/* Labels that are numbers, so that an array can hold them. */
static void number_labels(struct nade_model *model)
{
    static const char *const numbers[] = {"0", "1", "2"};
    model->schema.column[1].labels = model->schema.column[3].labels = numbers;
}

static void test_surprise(void **state)
{
    static double surprise[ROWS * 4], tail[ROWS * 4], expected[ROWS], values[ROWS * 4];
    static const char *const rest[] = {"1,2,3", "0,2,3", "0,1,3", "0,1,2"}, *const of[] = {"0", "1", "2", "3"};
    struct fixture f;
    int scored[4];
    size_t source[4];
    (void)state;
    set_up(&f, 2);
    number_labels(f.model);
    nade_table *table = table_of(&f);
    support_assert_ok(f.context, nade_score_cells(f.context, f.model, table, NULL, surprise, tail, scored));
    for (size_t c = 0; c < 4; c++) {
        nade_score_options options;
        nade_score_options_init(&options, sizeof options);
        options.of = of[c];
        options.given = rest[c];
        support_assert_ok(f.context, nade_score(f.context, f.model, table, &options, expected, NULL, NULL));
        assert_int_equal(scored[c], 1);
        for (size_t row = 0; row < ROWS; row++) {
            bool missing = isnan(f.values[4 * row + c]);
            assert_int_equal(isnan(surprise[4 * row + c]), missing);
            assert_int_equal(isnan(tail[4 * row + c]), missing);
            if (missing) continue;
            support_assert_close("surprise", surprise[4 * row + c], -expected[row], 1e-12, 1e-12);
            assert_true(tail[4 * row + c] > 0 && tail[4 * row + c] <= 1);
        }
    }
    support_assert_ok(f.context, nade_table_values(f.context, f.model, table, NULL, values, source, NULL, NULL));
    for (size_t c = 0; c < 4; c++) assert_int_equal(source[c], c);
    for (size_t at = 0; at < (size_t)ROWS * 4; at++)
        if (!isnan(f.values[at])) assert_memory_equal(&values[at], &f.values[at], sizeof values[at]);
    for (size_t at = 0; at < (size_t)ROWS * 4; at++) assert_int_equal(isnan(values[at]), isnan(f.values[at]));
    nade_table_free(table);
    tear_down(&f);
}

/* Columns that are not asked for get NaN, the others what they get `without`. */
static void check_some(const double *surprise, const double *without, const int *scored, const double *values)
{
    for (size_t at = 0; at < (size_t)ROWS * 4; at++)
        if (scored[at % 4] && !isnan(values[at]))
            assert_true(surprise[at] == without[at]);
        else
            assert_true(isnan(surprise[at]));
}

/* Of some columns: without `given` the rest of the row is given, with it these columns alone, and the others, those
 * that are scored included, are not. */
static void test_surprise_of_some(void **state)
{
    static double surprise[ROWS * 4], all[ROWS * 4], alone[ROWS], without[ROWS * 4];
    struct fixture f;
    int scored[4];
    nade_score_options options;
    (void)state;
    set_up(&f, 2);
    number_labels(f.model);
    nade_score_options_init(&options, sizeof options);
    nade_table *table = table_of(&f);
    support_assert_ok(f.context, nade_score_cells(f.context, f.model, table, NULL, all, NULL, NULL));
    options.of = "size,smoker";
    support_assert_ok(f.context, nade_score_cells(f.context, f.model, table, &options, surprise, NULL, scored));
    assert_true(scored[0] && !scored[1] && scored[2] && !scored[3]);
    check_some(surprise, all, scored, f.values);
    options.given = "sex";
    support_assert_ok(f.context, nade_score_cells(f.context, f.model, table, &options, surprise, NULL, scored));
    for (size_t c = 0; c < 4; c += 2) {
        options.of = c == 0 ? "0" : "2";
        support_assert_ok(f.context, nade_score(f.context, f.model, table, &options, alone, NULL, NULL));
        for (size_t row = 0; row < ROWS; row++) without[4 * row + c] = -alone[row];
    }
    for (size_t at = 0; at < (size_t)ROWS * 4; at++)
        if (!isnan(surprise[at])) support_assert_close("given sex", surprise[at], without[at], 1e-12, 1e-12);
    check_some(surprise, surprise, scored, f.values);
    nade_table_free(table);
    tear_down(&f);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------
 */

static void refuse(struct fixture *f, const nade_impute_options *options, double *low, const char *sentence)
{
    double before[ROWS * 4];
    memcpy(before, f->values, sizeof before);
    assert_int_equal(nade_impute(f->context, f->model, options, ROWS, f->values, low, low), NADE_BAD_CALL);
    if (!strstr(nade_last_error(f->context), sentence)) fail_msg("%s", nade_last_error(f->context));
    assert_memory_equal(before, f->values, sizeof before);
}

static void test_bad_calls(void **state)
{
    static double low[ROWS * 4];
    struct fixture f;
    (void)state;
    set_up(&f, 1);
    nade_impute_options options = options_for(NADE_IMPUTE_MEAN, NADE_DEVICE_AUTO);
    options.interval = 1;
    refuse(&f, &options, low, "the interval is 1");
    options.interval = NAN;
    refuse(&f, &options, low, "the interval is");
    options.interval = 0.5;
    refuse(&f, &options, NULL, "places for its ends");
    options.interval = 0;
    options.draws = 0;
    refuse(&f, &options, NULL, "number of draws is 0");
    options.draws = 2;
    options.method = (nade_impute_method)9;
    refuse(&f, &options, NULL, "the method is 9");
    options.method = NADE_IMPUTE_MODE;
    options.first = 100;
    f.values[4 * 9 + 3] = 3;
    refuse(&f, &options, NULL, "row 104, column 'Stra");
    assert_int_equal(nade_impute(f.context, f.model, &options, 1, NULL, NULL, NULL), NADE_BAD_CALL);
    support_assert_ok(f.context, nade_impute(f.context, f.model, &options, 0, NULL, NULL, NULL));
    assert_int_equal(nade_score_cells(f.context, f.model, NULL, NULL, NULL, NULL, NULL), NADE_BAD_CALL);
    tear_down(&f);
}

/* A model of one ordering fills what comes last in it. */
static void test_fixed_ordering(void **state)
{
    const size_t ordering[] = {2, 0, 1};
    struct support_model m;
    nade_table *table;
    double good[] = {NAN, NAN, 0.5}, single[] = {1, NAN, 0.5}, bad[] = {1, 1, NAN};
    (void)state;
    support_build_fixed(&m, "bbr", 6, 2, NADE_SIGMOID, ordering);
    struct nade_model model = sampling_model(&m);
    nade_impute_options options = options_for(NADE_IMPUTE_DRAW, NADE_DEVICE_CPU);
    support_assert_ok(m.context, nade_impute(m.context, &model, &options, 1, good, NULL, NULL));
    assert_true(!isnan(good[0]) && !isnan(good[1]));
    assert_int_equal(nade_impute(m.context, &model, &options, 1, bad, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(m.context), "fixed ordering"));
    options.method = NADE_IMPUTE_MODE;
    good[0] = good[1] = NAN;
    assert_int_equal(nade_impute(m.context, &model, &options, 1, good, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(m.context), "2 missing cells"));
    support_assert_ok(m.context, nade_impute(m.context, &model, &options, 1, single, NULL, NULL));
    support_assert_ok(m.context, nade_table_from_array(m.context, single, 1, 3, NULL, &table));
    assert_int_equal(nade_score_cells(m.context, &model, table, NULL, NULL, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(m.context), "fixed ordering"));
    nade_table_free(table);
    support_free(&m);
}

static void test_no_memory(void **state)
{
    static double low[ROWS * 4], high[ROWS * 4], values[ROWS * 4];
    struct fixture f;
    (void)state;
    set_up(&f, 1);
    nade_impute_options options = options_for(NADE_IMPUTE_DRAW, NADE_DEVICE_CPU);
    options.interval = 0.5;
    for (size_t fail_at = 1; fail_at < 200; fail_at++) {
        struct counting counting = {0};
        nade_context *context = model_support_counting_context(&counting);
        size_t live = counting.live;
        counting.fail_at = counting.calls + fail_at;
        memcpy(values, f.values, sizeof values);
        nade_status status = nade_impute(context, f.model, &options, ROWS, values, low, high);
        assert_int_equal(counting.live, live);
        nade_context_free(context);
        if (status == NADE_OK) {
            assert_true(fail_at > 10);
            break;
        }
        assert_int_equal(status, NADE_NO_MEMORY);
        assert_true(fail_at < 199);
    }
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joint_draws),
        cmocka_unit_test(test_real_draws),
        cmocka_unit_test(test_observed_cells_and_steps),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_points_and_intervals),
        cmocka_unit_test(test_surprise),
        cmocka_unit_test(test_surprise_of_some),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_fixed_ordering),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
