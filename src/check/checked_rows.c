/* Rows as wholes, and samples beside them. */
#include <math.h>
#include <string.h>

#include "base/philox.h"
#include "check/checked.h"

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

nade_status nd_check_rows(struct checked *checked)
{
    double *independent = nd_arena_alloc(&checked->arena, checked->rows + 1, sizeof *independent);
    nade_score_summary summary = {.size = sizeof summary};
    if (!independent) return nd_no_memory(checked->context, "the rows' log densities");
    nade_status status = nd_check_score(checked, NULL, NULL, checked->log_density, independent, &summary);
    if (status != NADE_OK) return status;
    checked->unseen = summary.unseen;
    memcpy(checked->first_unseen, summary.first_unseen, sizeof checked->first_unseen);
    checked->scored = summary.rows - summary.empty_rows;
    checked->spread = summary.mean_spread;
    checked->mean = mean_of(checked, checked->log_density, NULL, &checked->standard_error);
    checked->gain = mean_of(checked, checked->log_density, independent, &checked->gain_error);
    return NADE_OK;
}

/* Puts a row among the lowest, which are in order. */
static void add_worst(struct checked *checked, size_t row)
{
    size_t at = checked->worst_count;
    while (at > 0 && checked->log_density[row] < checked->worst[at - 1].log_density) at--;
    if (at == NADE_CHECK_WORST) return;
    if (checked->worst_count < NADE_CHECK_WORST) checked->worst_count++;
    for (size_t i = checked->worst_count - 1; i > at; i--) checked->worst[i] = checked->worst[i - 1];
    checked->worst[at] = (nade_worst_row){row, checked->log_density[row], SIZE_MAX, INFINITY};
}

/* The cells to blame are those with the smallest tails, as nade outliers has them. */
static nade_status blame_worst(struct checked *checked)
{
    size_t columns = checked->columns, cells = checked->worst_count * columns;
    double *values = nd_arena_alloc(&checked->arena, 2 * cells + 1, sizeof *values);
    if (!values) return nd_no_memory(checked->context, "the rows of the lowest density");
    double *tail = values + cells;
    for (size_t at = 0; at < cells; at++)
        values[at] = checked->values[checked->worst[at / columns].row * columns + at % columns];
    nade_score_options options = checked->options;
    options.values = values;
    options.value_rows = checked->worst_count;
    options.progress = NULL;
    nade_status status = nade_score_cells(checked->context, checked->model, NULL, &options, NULL, tail, NULL);
    for (size_t at = 0; at < cells && status == NADE_OK; at++) {
        nade_worst_row *worst = &checked->worst[at / columns];
        if (!(tail[at] < worst->tail)) continue;
        worst->tail = tail[at];
        worst->column = at % columns;
    }
    return status;
}

nade_status nd_check_worst(struct checked *checked)
{
    for (size_t row = 0; row < checked->rows; row++)
        if (has_cell(checked, row)) add_worst(checked, row);
    return checked->by_column && checked->worst_count > 0 ? blame_worst(checked) : NADE_OK;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static nade_status draw_samples(struct checked *checked, double *values, size_t rows)
{
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.seed = checked->options.seed;
    options.session = checked->options.session;
    for (size_t i = 0; i < rows * checked->columns; i++) values[i] = NAN;
    return nade_sample(checked->context, checked->model, &options, rows, values);
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
static nade_status compare_samples(struct checked *checked, double *both, const size_t *at, const int *labels,
                                   size_t rows)
{
    const nade_allocator *allocator = &checked->context->allocator;
    size_t columns = checked->columns, cells = rows * columns;
    uint32_t seed = checked->options.seed;
    for (size_t i = 0; i < cells; i++) both[i] = checked->values[at[i / columns] * columns + i % columns];
    memcpy(both + cells, both, cells * sizeof *both);
    shuffle_columns(checked, both + cells, rows);
    if (!nd_energy_test(allocator, both, labels, rows, columns, seed, 0, &checked->shuffled))
        return nd_no_memory(checked->context, "the distances of rows");
    nade_status status = draw_samples(checked, both + cells, rows);
    if (status != NADE_OK) return status;
    for (size_t i = 0; i < cells; i++)
        if (isnan(both[i])) both[cells + i] = NAN;
    if (!nd_energy_test(allocator, both, labels, rows, columns, seed, ENERGY_PERMUTATIONS, &checked->energy))
        return nd_no_memory(checked->context, "the distances of rows");
    return NADE_OK;
}

nade_status nd_check_samples(struct checked *checked)
{
    size_t *at = nd_arena_alloc(&checked->arena, checked->rows + 1, sizeof *at);
    size_t rows = at ? choose_rows(checked, at) : 0;
    double *both = nd_arena_alloc(&checked->arena, 2 * rows + 1, checked->columns * sizeof *both);
    int *labels = nd_arena_alloc(&checked->arena, checked->columns, sizeof *labels);
    if (!at || !both || !labels) return nd_no_memory(checked->context, "samples beside rows");
    for (size_t c = 0; c < checked->columns; c++) {
        nade_column column = {.size = sizeof column};
        nade_model_column(checked->model, c, &column);
        labels[c] = !column.numeric;
    }
    checked->energy = checked->shuffled = (struct energy){NAN, NAN};
    if (rows < 10) return NADE_OK;
    checked->energy_rows = rows;
    return compare_samples(checked, both, at, labels, rows);
}
