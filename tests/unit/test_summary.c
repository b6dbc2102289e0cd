/* Every figure that score and train report, recomputed: on a table with units, missing cells and several orderings. */
#include <math.h>

#include "base/philox.h"
#include "model/head.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 300, COLUMNS = 3, ORDERS = 3 };

/* A real column around 1000 with deviation 50, one that depends on it, a binary one; some cells missing. */
static void fill(uint32_t seed, double *values)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        double u = (double)nd_random_uniform(nd_random_word(seed, PURPOSE_SPLIT, row, 0, 0));
        double v = (double)nd_random_uniform(nd_random_word(seed, PURPOSE_SPLIT, row, 0, 1));
        double cells[] = {1000 + 170 * u, 0.001 * u + 0.0004 * v, u > 0.5};
        for (size_t c = 0; c < COLUMNS; c++) values[row * COLUMNS + c] = row % 7 == 2 * c + 1 ? NAN : cells[c];
    }
}

struct fixture {
    nade_context *context;
    nade_table *train, *valid;
    nade_model *model;
};

static int setup(void **state)
{
    static const size_t hidden[] = {16};
    static struct fixture f;
    double values[ROWS * COLUMNS];
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 1;
    o.components = 3;
    o.maps = 0; /* the figures here are computed from mean and deviation */
    o.iterations = 30;
    o.updates = 50;
    o.batch = 50;
    o.learning_rate = 0.005;
    *state = &f;
    if (nade_context_create(NULL, &f.context) != NADE_OK) return 1;
    fill(1, values);
    nade_status status = nade_table_from_array(f.context, values, ROWS, COLUMNS, NULL, &f.train);
    fill(2, values);
    if (status == NADE_OK) status = nade_table_from_array(f.context, values, ROWS, COLUMNS, NULL, &f.valid);
    if (status == NADE_OK) status = nade_table_set_type(f.context, f.train, "2", NADE_BINARY);
    if (status == NADE_OK) status = nade_train(f.context, f.train, f.valid, &o, &f.model);
    return status != NADE_OK;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    nade_model_free(f->model);
    nade_table_free(f->train);
    nade_table_free(f->valid);
    nade_context_free(f->context);
    return 0;
}

static const size_t orders[ORDERS * COLUMNS] = {0, 1, 2, 2, 1, 0, 1, 2, 0};

/* Log densities under each ordering by itself. */
static void score_each(struct fixture *f, double single[ORDERS][ROWS])
{
    for (size_t k = 0; k < ORDERS; k++) {
        nade_score_options s;
        nade_score_options_init(&s, sizeof s);
        s.orderings = 1;
        s.order = orders + k * COLUMNS;
        s.device = NADE_DEVICE_REFERENCE;
        support_assert_ok(f->context, nade_score(f->context, f->model, f->valid, &s, single[k], NULL, NULL));
    }
}

/* Sum over a row's present cells of the log density that the column alone gives, in data units. */
static double marginal_of(const nade_model *model, const double *row)
{
    double sum = 0;
    for (size_t c = 0; c < COLUMNS; c++) {
        const struct column_spec *spec = &model->schema.column[c];
        const struct plan_column *column = &model->plan.column[c];
        if (isnan(row[c])) continue;
        double cell = spec->type == NADE_REAL ? (row[c] - spec->mean) / spec->sd : row[c];
        sum += column->head->log_density(column, spec->marginal, cell);
        if (spec->type == NADE_REAL) sum -= log(spec->sd);
    }
    return sum;
}

static void test_every_figure_of_score(void **state)
{
    struct fixture *f = *state;
    static double single[ORDERS][ROWS];
    double values[ROWS * COLUMNS], log_density[ROWS], spread[ROWS], independent[ROWS];
    double mean = 0, ordering = 0, marginal = 0, squares = 0, spreads = 0;
    size_t present = 0;
    nade_score_summary summary = {.size = sizeof summary};
    nade_score_options s;
    nade_score_options_init(&s, sizeof s);
    s.orderings = ORDERS;
    s.order = orders;
    fill(2, values);
    score_each(f, single);
    s.independent = independent;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->valid, &s, log_density, spread, &summary));
    for (size_t row = 0; row < ROWS; row++) {
        double density = 0, average = 0, variance = 0;
        for (size_t k = 0; k < ORDERS; k++) {
            density += exp(single[k][row]) / ORDERS;
            average += single[k][row] / ORDERS;
        }
        for (size_t k = 0; k < ORDERS; k++) variance += pow(single[k][row] - average, 2) / (ORDERS - 1);
        support_assert_close("ensemble", log_density[row], log(density), 0, 1e-4);
        support_assert_close("spread", spread[row], sqrt(variance), 1e-3, 1e-4);
        mean += log(density) / ROWS;
        ordering += average / ROWS;
        spreads += sqrt(variance) / ROWS;
        double alone = marginal_of(f->model, values + row * COLUMNS);
        support_assert_close("independent columns", independent[row], alone, 0, 1e-4);
        marginal += alone / ROWS;
        for (size_t c = 0; c < COLUMNS; c++) present += isnan(values[row * COLUMNS + c]) ? 0 : 1;
    }
    for (size_t row = 0; row < ROWS; row++) squares += pow(log_density[row] - mean, 2);
    support_assert_close("mean", summary.mean, mean, 0, 1e-4);
    support_assert_close("mean of one ordering", summary.mean_ordering, ordering, 0, 1e-4);
    support_assert_close("mean spread", summary.mean_spread, spreads, 1e-3, 1e-4);
    support_assert_close("standard error", summary.standard_error, sqrt(squares / (ROWS - 1) / ROWS), 1e-3, 0);
    support_assert_close("gain", summary.gain, mean - marginal, 0, 1e-4);
    assert_true(isnan(summary.bits_per_cell) && summary.rows == ROWS && summary.cells == present);
    assert_true(summary.gain > 0.3);
}

/* Rows without a cell have the log density 0 and are in no mean. */
static void test_rows_without_cells(void **state)
{
    struct fixture *f = *state;
    double values[(ROWS + 2) * COLUMNS], log_density[ROWS + 2];
    nade_score_summary whole = {.size = sizeof whole}, more = {.size = sizeof more};
    nade_table *table = NULL;
    fill(2, values);
    for (size_t i = ROWS * COLUMNS; i < (ROWS + 2) * COLUMNS; i++) values[i] = NAN;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS + 2, COLUMNS, NULL, &table));
    support_assert_ok(f->context, nade_score(f->context, f->model, f->valid, NULL, log_density, NULL, &whole));
    support_assert_ok(f->context, nade_score(f->context, f->model, table, NULL, log_density, NULL, &more));
    assert_true(log_density[ROWS] == 0 && log_density[ROWS + 1] == 0);
    assert_true(more.rows == ROWS + 2 && more.empty_rows == 2 && whole.empty_rows == 0 && more.cells == whole.cells);
    support_assert_close("mean", more.mean, whole.mean, 1e-12, 0);
    support_assert_close("standard error", more.standard_error, whole.standard_error, 1e-12, 0);
    support_assert_close("mean of one ordering", more.mean_ordering, whole.mean_ordering, 1e-12, 0);
    support_assert_close("mean spread", more.mean_spread, whole.mean_spread, 1e-12, 0);
    support_assert_close("gain", more.gain, whole.gain, 1e-12, 0);
    nade_table_free(table);
}

/* Every row under every ordering: their mean density is the ensemble's, their mean log density the summary's. */
static void check_each(struct fixture *f, const nade_model *model, nade_score_options *s, size_t orderings)
{
    static double each[ROWS * ORDERS + 1];
    double log_density[ROWS], without[ROWS], sum = 0;
    nade_score_summary summary = {.size = sizeof summary};
    support_assert_ok(f->context, nade_score(f->context, model, f->valid, s, without, NULL, NULL));
    each[ROWS * orderings] = 17;
    s->each = each;
    support_assert_ok(f->context, nade_score(f->context, model, f->valid, s, log_density, NULL, &summary));
    s->each = NULL;
    assert_true(each[ROWS * orderings] == 17);
    assert_memory_equal(log_density, without, sizeof without);
    for (size_t row = 0; row < ROWS; row++) {
        double density = 0;
        for (size_t k = 0; k < orderings; k++) {
            density += exp(each[row * orderings + k]) / (double)orderings;
            sum += each[row * orderings + k];
        }
        support_assert_close("mean density", log_density[row], log(density), 0, 1e-9);
    }
    support_assert_close("mean of one ordering", summary.mean_ordering, sum / ROWS / (double)orderings, 0, 1e-9);
    /* Each ordering by itself gives its column. */
    nade_score_options one = *s;
    one.orderings = 1;
    for (size_t k = 0; k < orderings; k++) {
        if (s->order) one.order = s->order + k * COLUMNS;
        support_assert_ok(f->context, nade_score(f->context, model, f->valid, &one, log_density, NULL, NULL));
        for (size_t row = 0; row < ROWS; row++)
            support_assert_close("one ordering", each[row * orderings + k], log_density[row], 0, 1e-9);
    }
}

static void test_each_ordering(void **state)
{
    const nade_device devices[] = {NADE_DEVICE_CPU, NADE_DEVICE_REFERENCE};
    struct fixture *f = *state;
    for (size_t d = 0; d < 2; d++)
        for (int cells = 0; cells < 2; cells++) {
            nade_score_options s;
            nade_score_options_init(&s, sizeof s);
            s.orderings = ORDERS;
            s.order = orders;
            s.device = devices[d];
            s.cells = cells;
            check_each(f, f->model, &s, ORDERS);
        }
}

/* A model of one ordering has one number a row, however many are asked for; a caller that does not know of the option
 * gets none. */
static void test_each_of_one_ordering(void **state)
{
    struct fixture *f = *state;
    nade_model *model = NULL;
    nade_train_options o;
    nade_score_options s;
    double log_density[ROWS];
    nade_train_options_init(&o, sizeof o);
    o.order = NADE_ORDER_FIXED;
    o.hidden = (const size_t[]){8};
    o.layers = 1;
    o.iterations = 2;
    o.updates = 20;
    support_assert_ok(f->context, nade_train(f->context, f->train, f->valid, &o, &model));
    nade_score_options_init(&s, sizeof s);
    s.orderings = ORDERS;
    check_each(f, model, &s, 1);
    s.each = (double *)1; /* beyond what the size says is there */
    s.size = offsetof(nade_score_options, each);
    support_assert_ok(f->context, nade_score(f->context, model, f->valid, &s, log_density, NULL, NULL));
    nade_model_free(model);
}

/* Training's losses are in data units: they estimate minus the mean log density of the rows under one ordering. */
static void test_losses_are_in_data_units(void **state)
{
    struct fixture *f = *state;
    const struct training_record *r = &f->model->record;
    nade_score_options s;
    nade_score_summary summary = {.size = sizeof summary};
    double log_density[ROWS];
    nade_score_options_init(&s, sizeof s);
    s.orderings = 30;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->valid, &s, log_density, NULL, &summary));
    support_assert_close("validation loss", r->history[r->best_iteration - 1].valid_loss, -summary.mean_ordering, 0,
                         0.1);
    support_assert_ok(f->context, nade_score(f->context, f->model, f->train, &s, log_density, NULL, &summary));
    support_assert_close("training loss", r->history[r->iterations_done - 1].train_loss, -summary.mean_ordering, 0,
                         0.3);
}

/* A cell far away has a finite log density, and the farther the lower. */
static void test_outliers_are_finite(void **state)
{
    struct fixture *f = *state;
    double previous = 0;
    for (double far = 1e3; far < 3e14; far *= 10) {
        const double row[] = {1000 + 50 * far, NAN, 1};
        double log_density;
        nade_table *table = NULL;
        support_assert_ok(f->context, nade_table_from_array(f->context, row, 1, COLUMNS, NULL, &table));
        support_assert_ok(f->context, nade_score(f->context, f->model, table, NULL, &log_density, NULL, NULL));
        assert_true(isfinite(log_density) && log_density < previous);
        previous = log_density;
        nade_table_free(table);
    }
}

/* The ensemble's density of a real and a binary column together, the third marginalised: sums and integrates to one. */
static void test_ensemble_integrates_to_one(void **state)
{
    enum { POINTS = 3001 };
    struct fixture *f = *state;
    static double grid[2 * POINTS * COLUMNS], log_density[2 * POINTS];
    const double step = 0.5;
    double sum = 0;
    nade_table *table = NULL;
    nade_score_options s;
    nade_score_options_init(&s, sizeof s);
    s.orderings = ORDERS;
    s.order = orders;
    for (size_t i = 0; i < 2 * POINTS; i++) {
        grid[i * COLUMNS] = 1085 + ((double)(i / 2) - POINTS / 2) * step;
        grid[i * COLUMNS + 1] = NAN;
        grid[i * COLUMNS + 2] = (double)(i % 2);
    }
    support_assert_ok(f->context, nade_table_from_array(f->context, grid, 2 * POINTS, COLUMNS, NULL, &table));
    support_assert_ok(f->context, nade_score(f->context, f->model, table, &s, log_density, NULL, NULL));
    for (size_t i = 0; i < 2 * POINTS; i++) sum += exp(log_density[i]) * step;
    support_assert_close("integral", sum, 1, 0, 1e-4);
    nade_table_free(table);
}

static void test_unset_sizes_are_refused(void **state)
{
    struct fixture *f = *state;
    nade_score_options none = {0};
    nade_score_summary summary = {0};
    double log_density[ROWS];
    assert_int_equal(nade_score(f->context, f->model, f->valid, &none, log_density, NULL, NULL), NADE_BAD_CALL);
    assert_int_equal(nade_score(f->context, f->model, f->valid, NULL, log_density, NULL, &summary), NADE_BAD_CALL);
    struct {
        nade_score_options options;
        int unknown;
    } newer;
    nade_score_options_init(&newer.options, sizeof newer);
    support_assert_ok(f->context, nade_score(f->context, f->model, f->valid, &newer.options, log_density, NULL, NULL));
    newer.unknown = 1;
    assert_int_equal(nade_score(f->context, f->model, f->valid, &newer.options, log_density, NULL, NULL),
                     NADE_BAD_CALL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_figure_of_score),
        cmocka_unit_test(test_rows_without_cells),
        cmocka_unit_test(test_each_ordering),
        cmocka_unit_test(test_each_of_one_ordering),
        cmocka_unit_test(test_losses_are_in_data_units),
        cmocka_unit_test(test_outliers_are_finite),
        cmocka_unit_test(test_ensemble_integrates_to_one),
        cmocka_unit_test(test_unset_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
