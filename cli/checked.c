#include "checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "column.h"
#include "max_memory.h"
#include "report.h"

static bool has_cell(const struct checked *checked, size_t row)
{
    for (size_t c = 0; c < checked->columns; c++)
        if (!isnan(checked->values[row * checked->columns + c])) return true;
    return false;
}

/* ---- rows as wholes ---------------------------------------------------------------------------------------------- */

/* The mean over rows that have cells, and its standard error. */
static double mean_of(const struct checked *checked, const double *a, const double *b, double *error)
{
    double sum = 0, squares = 0, count = 0;
    for (size_t row = 0; row < checked->rows; row++)
        if (has_cell(checked, row)) sum += a[row] - (b ? b[row] : 0), count++;
    for (size_t row = 0; row < checked->rows; row++)
        if (has_cell(checked, row)) squares += pow(a[row] - (b ? b[row] : 0) - sum / count, 2);
    *error = count > 1 ? sqrt(squares / (count - 1) / count) : NAN;
    return sum / count;
}

int check_rows(struct checked *checked)
{
    double *independent = calloc(checked->rows + 1, sizeof *independent);
    nade_score_summary summary = {.size = sizeof summary};
    nade_score_options options = checked->options;
    if (!independent) return report_no_memory(checked->common);
    options.independent = independent;
    options.session = checked->input.session;
    nade_status status = nade_score(checked->input.context, checked->input.model, checked->table, &options,
                                    checked->log_density, NULL, &summary);
    if (status == NADE_OK) {
        warn_of_unseen(checked->common, summary.unseen, summary.first_unseen);
        checked->scored = summary.rows - summary.empty_rows;
        checked->spread = summary.mean_spread;
        checked->mean = mean_of(checked, checked->log_density, NULL, &checked->standard_error);
        checked->gain = mean_of(checked, checked->log_density, independent, &checked->gain_error);
    }
    free(independent);
    return status == NADE_OK ? EXIT_DONE : report_failure(checked->common, checked->input.context, status);
}

/* Puts a row among the lowest, which are in order. */
static void add_worst(struct checked *checked, size_t row)
{
    size_t at = checked->worst_count;
    while (at > 0 && checked->log_density[row] < checked->worst[at - 1].log_density) at--;
    if (at == WORST_ROWS) return;
    if (checked->worst_count < WORST_ROWS) checked->worst_count++;
    for (size_t i = checked->worst_count - 1; i > at; i--) checked->worst[i] = checked->worst[i - 1];
    checked->worst[at] = (struct worst_row){row, checked->log_density[row], SIZE_MAX, INFINITY};
}

/* The cells to blame are those that nade outliers blames. */
static int blame_worst(struct checked *checked)
{
    size_t columns = checked->columns, cells = checked->worst_count * columns;
    double *values = calloc(2 * cells + 1, sizeof *values), *tail = values + cells;
    if (!values) return report_no_memory(checked->common);
    for (size_t at = 0; at < cells; at++)
        values[at] = checked->values[checked->worst[at / columns].row * columns + at % columns];
    nade_score_options options = checked->options;
    options.session = checked->input.session;
    options.values = values;
    options.value_rows = checked->worst_count;
    nade_status status =
        nade_score_cells(checked->input.silent, checked->input.model, NULL, &options, NULL, tail, NULL);
    for (size_t at = 0; at < cells && status == NADE_OK; at++) {
        struct worst_row *worst = &checked->worst[at / columns];
        if (!(tail[at] < worst->tail)) continue;
        worst->tail = tail[at];
        worst->column = at % columns;
    }
    free(values);
    return status == NADE_OK ? EXIT_DONE : report_failure(checked->common, checked->input.silent, status);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static int draw_samples(struct checked *checked, double *values, size_t rows)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.seed = checked->options.seed;
    options.device = checked->options.device;
    options.precision = checked->options.precision;
    options.session = checked->input.session;
    for (size_t i = 0; i < rows * checked->columns; i++) values[i] = NAN;
    nade_status status = nade_sample(checked->input.silent, checked->input.model, &options, rows, values);
    return status == NADE_OK ? EXIT_DONE : report_failure(checked->common, checked->input.silent, status);
}

/* Takes evenly spaced rows that have cells; `at` (rows) gets which.  Returns how many. */
static size_t choose_rows(const struct checked *checked, size_t *at)
{
    size_t count = 0;
    for (size_t row = 0; row < checked->rows; row++)
        if (has_cell(checked, row)) at[count++] = row;
    size_t most = count < ENERGY_ROWS ? count : ENERGY_ROWS;
    for (size_t i = 0; i < most; i++) at[i] = at[i * (count / most) + i * (count % most) / most];
    return most;
}

/* Rows of the table whose columns come from different rows: what independent columns look like. */
static void shuffle_columns(const struct checked *checked, double *values, size_t rows)
{
    size_t columns = checked->columns;
    for (size_t c = 0; c < columns; c++)
        for (size_t i = rows; i-- > 1;) {
            uint32_t word = nd_random_word(checked->options.seed, PURPOSE_PERMUTATION, UINT32_MAX - c, 0, (uint32_t)i);
            size_t j = nd_random_below(word, (uint32_t)i + 1);
            double taken = values[i * columns + c];
            values[i * columns + c] = values[j * columns + c];
            values[j * columns + c] = taken;
        }
}

/* Samples have the holes of the rows that they stand beside. */
static int compare_samples(struct checked *checked, double *both, const size_t *at, const int *labels, size_t rows)
{
    size_t columns = checked->columns, cells = rows * columns;
    for (size_t i = 0; i < cells; i++) both[i] = checked->values[at[i / columns] * columns + i % columns];
    memcpy(both + cells, both, cells * sizeof *both);
    shuffle_columns(checked, both + cells, rows);
    bool done = energy_test(both, labels, rows, columns, checked->options.seed, 0, &checked->shuffled);
    int status = done ? draw_samples(checked, both + cells, rows) : report_no_memory(checked->common);
    if (status) return status;
    for (size_t i = 0; i < cells; i++)
        if (isnan(both[i])) both[cells + i] = NAN;
    done = energy_test(both, labels, rows, columns, checked->options.seed, ENERGY_PERMUTATIONS, &checked->energy);
    return done ? EXIT_DONE : report_no_memory(checked->common);
}

int check_samples(struct checked *checked)
{
    size_t *at = calloc(checked->rows + 1, sizeof *at), rows = at ? choose_rows(checked, at) : 0;
    double *both = calloc(2 * rows + 1, checked->columns * sizeof *both);
    int *labels = calloc(checked->columns, sizeof *labels), status = EXIT_DONE;
    for (size_t c = 0; labels && c < checked->columns; c++)
        labels[c] = !column_of_model(checked->input.model, c).numeric;
    if (!at || !both || !labels) status = report_no_memory(checked->common);
    checked->energy = checked->shuffled = (struct energy){NAN, NAN};
    if (!status && rows >= 10) {
        checked->energy_rows = rows;
        status = compare_samples(checked, both, at, labels, rows);
    }
    free(at);
    free(both);
    free(labels);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* A model of one fixed ordering can't say what a cell is given the rest of its row. */
static bool answers_by_column(const nade_model *model)
{
    json_t *root = json_loads(nade_model_description(model), 0, NULL);
    const json_t *architecture = json_object_get(root, "architecture");
    bool fixed = json_object_get(architecture, "ordering") && !json_is_null(json_object_get(architecture, "ordering"));
    json_decref(root);
    return !fixed;
}

static int read_values(struct checked *checked)
{
    const struct common *common = checked->common;
    size_t cells = checked->rows * checked->columns, unseen = 0;
    int refused = check_memory(common, checked->rows, checked->columns * sizeof(double), "the table's cells");
    if (refused) return refused;
    checked->values = calloc(checked->rows + 1, checked->columns * sizeof(double));
    checked->log_density = calloc(checked->rows + 1, sizeof(double));
    checked->column = calloc(checked->columns, sizeof *checked->column);
    if (!checked->values || !checked->log_density || !checked->column) return report_no_memory(common);
    nade_status status =
        nade_table_values(checked->input.silent, checked->input.model, checked->table, NULL, checked->values, NULL,
                          checked->options.unseen_missing ? &unseen : NULL, NULL);
    if (status != NADE_OK) return report_failure(common, checked->input.silent, status);
    for (size_t i = 0; i < cells; i++)
        if (isinf(checked->values[i])) checked->values[i] = NAN;
    return EXIT_DONE;
}

int check_table(struct checked *checked)
{
    checked->columns = nade_model_columns(checked->input.model);
    checked->rows = nade_table_rows(checked->table);
    checked->by_column = answers_by_column(checked->input.model);
    progress_start(&checked->progress, checked->common, 0);
    int status = read_values(checked);
    if (!status) status = check_rows(checked);
    if (!status && checked->by_column) status = check_columns(checked);
    if (!status) status = check_samples(checked);
    for (size_t row = 0; row < checked->rows && !status; row++)
        if (has_cell(checked, row)) add_worst(checked, row);
    return status || !checked->by_column ? status : blame_worst(checked);
}

void free_checked(struct checked *checked)
{
    free(checked->values);
    free(checked->log_density);
    free(checked->column);
    nade_table_free(checked->table);
    free_model_input(&checked->input);
}
