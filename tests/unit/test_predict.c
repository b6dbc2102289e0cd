/* nade_predict: the distribution of one cell given the rest of its row, of every kind of column, held to nade_score,
 * nade_impute and to itself. */
#include "column_fixture.h"

#include <math.h>

#include "base/philox.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 600, ASKED = 40, COLUMNS = 7, DRAWS = 4000 };
enum { KIND, FLAG, AMOUNT, VISITS, HOURS, DAY, TIME };

static double uniform(uint32_t row, uint32_t word)
{
    return (double)nd_random_uniform(nd_random_word(5, 3, row, 0, word));
}

/* A label, a binary, a skewed amount to the cent that is often 0, a count, ordered hours, a date, a
 * time to the second; most depend on the first. */
static nade_table *make_table(nade_context *context)
{
    static const char *const kinds[] = {"red", "green", "blue"};
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "kind,flag,amount,visits,hours,day,time\n");
    for (uint32_t row = 0; row < ROWS; row++) {
        int kind = (int)(3 * uniform(row, 0));
        double amount = uniform(row, 2) < 0.2 ? 0 : exp(kind + 1.5 * uniform(row, 3) + uniform(row, 4));
        add_text(&csv, "%s,%d,%.2f,%d,%g,2021-0%d-%02d,2022-05-%02d %02d:%02d:%02d\n", kinds[kind],
                 uniform(row, 1) < 0.3 * kind, amount, (int)(uniform(row, 5) * uniform(row, 6) * 9 * (kind + 1)),
                 20 + 2.5 * (int)(8 * uniform(row, 7)), 1 + (int)(9 * uniform(row, 8)), 1 + (int)(28 * uniform(row, 9)),
                 1 + (int)(28 * uniform(row, 10)), (int)(24 * uniform(row, 11) * uniform(row, 12)),
                 (int)(60 * uniform(row, 13)), (int)(60 * uniform(row, 14)));
    }
    nade_table *table = read_made(context, &csv);
    support_assert_ok(context, nade_table_set_type(context, table, "visits", NADE_COUNT));
    support_assert_ok(context, nade_table_set_type(context, table, "hours", NADE_ORDERED));
    return table;
}

struct world {
    nade_context *context;
    nade_model *model;
    nade_table *table; /* the training rows, of which the first ASKED are asked about */
    double values[ROWS * COLUMNS];
};

static void open_world(struct world *w, size_t members)
{
    static const size_t hidden[] = {8};
    nade_train_options options;
    assert_int_equal(nade_context_create(NULL, &w->context), NADE_OK);
    w->table = make_table(w->context);
    support_small_training(&options, hidden, 1, 50, 2, 40);
    options.learning_rate = 0.01;
    options.members = members;
    support_assert_ok(w->context, nade_train(w->context, w->table, NULL, &options, &w->model));
    support_assert_ok(w->context, nade_table_values(w->context, w->model, w->table, NULL, w->values, NULL, NULL, NULL));
    static const nade_type types[] = {NADE_CATEGORICAL, NADE_BINARY, NADE_REAL, NADE_COUNT,
                                      NADE_ORDERED,     NADE_DATE,   NADE_DATE};
    static const double steps[] = {0, 0, 0.01, 1, 0, 86400, 1};
    for (size_t c = 0; c < COLUMNS; c++) assert_int_equal(column_of_model(w->model, c).type, types[c]);
    for (size_t c = 0; c < COLUMNS; c++) assert_true(column_of_model(w->model, c).step == steps[c]);
}

static void close_world(struct world *w)
{
    nade_table_free(w->table);
    nade_model_free(w->model);
    nade_context_free(w->context);
}

static void predict(struct world *w, const nade_prediction *asked)
{
    support_assert_ok(w->context, nade_predict(w->context, w->model, asked, ASKED, w->values));
}

/* The log density, or the cell score, of a column's cells given all others of their rows. */
static void score_column(struct world *w, size_t column, int cells, double *log_p)
{
    nade_score_options options;
    char given[160] = "";
    for (size_t c = 0, used = 0; c < COLUMNS; c++)
        if (c != column)
            used += (size_t)snprintf(given + used, sizeof given - used, "%s%s", used ? "," : "",
                                     column_of_model(w->model, c).name);
    nade_score_options_init(&options, sizeof options);
    options.cells = cells;
    options.of = column_of_model(w->model, column).name;
    options.given = given;
    support_assert_ok(w->context, nade_score(w->context, w->model, w->table, &options, log_p, NULL, NULL));
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

static void check_labels(struct world *w, size_t column, size_t labels)
{
    double log_p[ROWS], probability[ASKED * 3], points[ASKED], log_density[ASKED];
    for (size_t row = 0; row < ASKED; row++) points[row] = w->values[row * COLUMNS + column];
    const nade_prediction asked = {.size = sizeof asked,
                                   .column = column,
                                   .points = points,
                                   .point_count = 1,
                                   .probability = probability,
                                   .log_density = log_density};
    predict(w, &asked);
    score_column(w, column, 0, log_p);
    for (size_t row = 0; row < ASKED; row++) {
        double sum = 0;
        for (size_t i = 0; i < labels; i++) sum += probability[row * labels + i];
        support_assert_close("sum", sum, 1, 0, 1e-12);
        support_assert_close("log p", log_density[row], log_p[row], 1e-6, 1e-6);
        support_assert_close("p", probability[row * labels + (size_t)points[row]], exp(log_p[row]), 1e-6, 1e-6);
    }
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Probabilities up to points from far below to far above, the cell itself among them. */
static void check_numbers(struct world *w, size_t column)
{
    enum { POINTS = 9, LEVELS = 3 };
    static const double levels[LEVELS] = {0.05, 0.5, 0.95};
    double points[ASKED * POINTS], below[ASKED * POINTS], upto[ASKED * POINTS], log_density[ASKED * POINTS];
    double above[ASKED * POINTS], onward[ASKED * POINTS];
    double quantile[ASKED * LEVELS], at[ASKED * LEVELS], under[ASKED * LEVELS], log_p[ROWS], bins[ROWS];
    nade_column known = column_of_model(w->model, column);
    for (size_t row = 0; row < ASKED; row++) {
        double x = w->values[row * COLUMNS + column], unit = known.step > 0 ? known.step : 2.5;
        const double of_row[POINTS] = {-INFINITY, -1e300,       x - 3 * unit, x - 0.25 * unit, x,
                                       x + unit,  x + 4 * unit, 1e300,        INFINITY};
        memcpy(points + row * POINTS, of_row, sizeof of_row);
    }
    nade_prediction asked = {.size = sizeof asked,
                             .column = column,
                             .points = points,
                             .point_count = POINTS,
                             .levels = levels,
                             .level_count = LEVELS,
                             .quantile = quantile,
                             .below = below,
                             .upto = upto,
                             .above = above,
                             .onward = onward,
                             .log_density = log_density};
    predict(w, &asked);
    score_column(w, column, 0, log_p);
    score_column(w, column, 1, bins);
    for (size_t row = 0; row < ASKED; row++) {
        const double *b = below + row * POINTS, *u = upto + row * POINTS;
        for (size_t i = 0; i < POINTS; i++) {
            assert_true(b[i] <= u[i] + 1e-12 && b[i] >= 0 && u[i] <= 1);
            if (i > 0) assert_true(b[i] >= u[i - 1] - 1e-9);
            support_assert_close("above", above[row * POINTS + i], 1 - u[i], 0, 1e-9);
            support_assert_close("onward", onward[row * POINTS + i], 1 - b[i], 0, 1e-9);
        }
        assert_true(u[0] == 0 && u[1] == 0 && b[7] > 1 - 1e-9 && u[8] == 1);
        support_assert_close("log density", log_density[row * POINTS + 4], log_p[row], 1e-6, 1e-6);
        double bin = column == AMOUNT ? exp(bins[row]) * known.step : exp(log_p[row]);
        support_assert_close("the value's probability", u[4] - b[4], bin, 1e-4, 1e-7);
        support_assert_close("nothing between values", u[3], b[4], 0, 1e-9);
    }
    /* A quantile is the first recorded value up to which there is so much. */
    asked = (nade_prediction){
        .size = sizeof asked, .column = column, .points = quantile, .point_count = LEVELS, .below = under, .upto = at};
    predict(w, &asked);
    for (size_t i = 0; i < ASKED * LEVELS; i++) {
        assert_true(at[i] >= levels[i % LEVELS] - 1e-7);
        assert_true(under[i] <= levels[i % LEVELS] + 1e-7);
    }
}

/* Mean, median and ends of intervals are those of impute, and draws of impute fall below a point as often as is said.
 */
static void check_against_fills(struct world *w, size_t column)
{
    enum { LEVELS = 3 };
    double mean[ASKED], median[ASKED], upto[ASKED], rows[ASKED * COLUMNS];
    double quantile[ASKED * LEVELS], low[ASKED * COLUMNS], high[ASKED * COLUMNS];
    static const double levels[LEVELS] = {0.5, 0.125, 0.875};
    static double drawn[DRAWS * COLUMNS];
    nade_impute_options options;
    nade_prediction asked = {.size = sizeof asked,
                             .column = column,
                             .levels = levels,
                             .level_count = LEVELS,
                             .mean = mean,
                             .quantile = quantile,
                             .exact = 1};
    predict(w, &asked);
    for (int method = 0; method < 2; method++) {
        nade_impute_options_init(&options, sizeof options);
        options.method = method ? NADE_IMPUTE_MEDIAN : NADE_IMPUTE_MEAN;
        options.exact = 1;
        options.interval = 0.75;
        memcpy(rows, w->values, sizeof rows);
        for (size_t row = 0; row < ASKED; row++) rows[row * COLUMNS + column] = NAN;
        support_assert_ok(w->context, nade_impute(w->context, w->model, &options, ASKED, rows, low, high));
        for (size_t row = 0; row < ASKED; row++) {
            const double *found = quantile + row * LEVELS;
            size_t at = row * COLUMNS + column;
            assert_true(rows[at] == (method ? found[0] : mean[row]) && low[at] == found[1] && high[at] == found[2]);
        }
    }
    for (size_t row = 0; row < ASKED; row++) median[row] = quantile[row * LEVELS];
    asked = (nade_prediction){
        .size = sizeof asked, .column = column, .points = median, .point_count = 1, .upto = upto, .exact = 0};
    predict(w, &asked);
    nade_impute_options_init(&options, sizeof options);
    options.draws = DRAWS;
    for (size_t i = 0; i < DRAWS; i++) {
        memcpy(drawn + i * COLUMNS, w->values, COLUMNS * sizeof *drawn);
        drawn[i * COLUMNS + column] = NAN;
    }
    support_assert_ok(w->context, nade_impute(w->context, w->model, &options, DRAWS, drawn, NULL, NULL));
    double share = 0;
    for (size_t i = 0; i < DRAWS; i++) share += drawn[i * COLUMNS + column] <= median[0];
    support_assert_close("share of draws", share / DRAWS, upto[0], 0, 5 * sqrt(0.25 / DRAWS));
}

static void check_world(size_t members)
{
    struct world w;
    open_world(&w, members);
    check_labels(&w, KIND, 3);
    check_labels(&w, FLAG, 2);
    for (size_t c = AMOUNT; c < COLUMNS; c++) {
        check_numbers(&w, c);
        check_against_fills(&w, c);
    }
    close_world(&w);
}

static void test_one_network(void **state)
{
    (void)state;
    check_world(1);
}

static void test_members(void **state)
{
    (void)state;
    check_world(2);
}

/* The cell that is asked about may hold anything, and holes are marginalised as by impute. */
static void test_own_cell_is_not_read(void **state)
{
    struct world w;
    double first[ASKED], second[ASKED];
    (void)state;
    open_world(&w, 1);
    for (size_t row = 0; row < ASKED; row += 2) w.values[row * COLUMNS + KIND] = NAN;
    nade_prediction asked = {.size = sizeof asked, .column = AMOUNT, .mean = first};
    predict(&w, &asked);
    for (size_t row = 0; row < ASKED; row++) w.values[row * COLUMNS + AMOUNT] = row % 3 ? NAN : -1;
    asked.mean = second;
    predict(&w, &asked);
    assert_memory_equal(first, second, sizeof first);
    close_world(&w);
}

static void test_session_and_no_rows(void **state)
{
    struct world w;
    nade_session *session;
    double first[ASKED], second[ASKED];
    (void)state;
    open_world(&w, 1);
    nade_prediction asked = {.size = sizeof asked, .column = VISITS, .mean = first};
    predict(&w, &asked);
    support_assert_ok(w.context, nade_session_open(w.context, w.model, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &session));
    asked.session = session;
    asked.mean = second;
    predict(&w, &asked);
    assert_memory_equal(first, second, sizeof first);
    support_assert_ok(w.context, nade_predict(w.context, w.model, &asked, 0, NULL));
    nade_session_free(session);
    close_world(&w);
}

static void expect_refused(struct world *w, const nade_prediction *asked, size_t rows, const char *sentence)
{
    assert_int_equal(nade_predict(w->context, w->model, asked, rows, w->values), NADE_BAD_CALL);
    assert_string_equal(nade_last_error(w->context), sentence);
}

static void test_refusals(void **state)
{
    struct world w;
    double places[4] = {7, 7, 7, 7}, levels[] = {0.5, 1};
    (void)state;
    open_world(&w, 1);
    nade_prediction asked = {.size = sizeof asked, .column = COLUMNS, .mean = places};
    expect_refused(&w, &asked, 1, "column 7 is asked for, expected one below 7");
    asked.column = KIND;
    expect_refused(&w, &asked, 1,
                   "column 'kind' is categorical, expected a column of numbers for a mean, quantiles and cumulative "
                   "probabilities");
    asked = (nade_prediction){.size = sizeof asked, .column = HOURS, .probability = places};
    expect_refused(&w, &asked, 1,
                   "column 'hours' is ordered, expected one of labels for the probabilities of its labels");
    asked = (nade_prediction){.size = sizeof asked, .column = HOURS, .quantile = places};
    expect_refused(&w, &asked, 1, "nade_predict needs levels for what it is asked");
    asked.levels = levels;
    asked.level_count = 2;
    expect_refused(&w, &asked, 1, "a level is 1, expected a probability above 0 and below 1");
    asked = (nade_prediction){.size = sizeof asked, .column = HOURS, .below = places};
    expect_refused(&w, &asked, 1, "nade_predict needs points for what it is asked");
    w.values[FLAG] = 3;
    asked = (nade_prediction){.size = sizeof asked, .column = HOURS, .mean = places};
    expect_refused(&w, &asked, 2, "row 0, column 'flag': found 3, expected a whole number from 0 to 1");
    asked.size = 0;
    expect_refused(&w, &asked, 1,
                   "the size of the prediction is not set, expected its sizeof, or it is of a newer version");
    for (size_t i = 0; i < 4; i++) assert_true(places[i] == 7);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_network),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_own_cell_is_not_read),
        cmocka_unit_test(test_session_and_no_rows),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
