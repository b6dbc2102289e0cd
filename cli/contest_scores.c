#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "column.h"
#include "column_choice.h"
#include "contest.h"
#include "measures.h"
#include "report.h"

static void step_on(struct contest *contest)
{
    contest->done++;
    progress_share(&contest->progress, "comparing", (double)contest->done / (double)contest->work);
}

/* One call of nade_score: of and given are the model's lists. */
static int score_once(struct contest *contest, struct contender *side, const char *of, const char *given, double *row,
                      double *independent)
{
    nade_score_options options = side->options;
    nade_context *context = side->input.parts++ == 0 ? side->input.context : side->input.silent;
    options.of = of;
    options.given = given;
    options.independent = independent;
    options.session = side->input.session;
    nade_status status = nade_score(context, side->input.model, contest->table, &options, row, NULL, NULL);
    step_on(contest);
    return status == NADE_OK ? EXIT_DONE : report_failure(contest->common, context, status);
}

/* Cells of a column given the others: a query of one column, which counts as rows do. */
static int score_column(struct contest *contest, struct contender *side, struct contender *independent, size_t j,
                        double *scratch)
{
    size_t columns = nade_model_columns(side->input.model);
    bool *chosen = calloc(columns, 2 * sizeof *chosen), *others = chosen ? chosen + columns : NULL;
    for (size_t c = 0; chosen && c < columns; c++) {
        chosen[c] = c == side->at[j];
        others[c] = side->wanted[c] && !chosen[c];
    }
    char *of = chosen ? list_columns(side->input.model, chosen) : NULL;
    char *given = chosen ? list_columns(side->input.model, others) : NULL;
    double *alone = scratch + contest->rows;
    int status = of && given ? EXIT_DONE : report_no_memory(contest->common);
    if (!status) status = score_once(contest, side, of, *given ? given : NULL, scratch, alone);
    for (size_t row = 0; !status && row < contest->rows; row++) {
        side->cell[row * contest->columns + j] = scratch[row];
        if (independent) independent->cell[row * contest->columns + j] = alone[row];
    }
    free(chosen);
    free(of);
    free(given);
    return status;
}

/* A model's rows and cells, and those of its independent columns where the other side is these. */
static int score_model(struct contest *contest, struct contender *side)
{
    struct contender *other = side == &contest->side[0] ? &contest->side[1] : &contest->side[0];
    struct contender *independent = other->kind == CONTENDER_INDEPENDENT ? other : NULL;
    nade_status opened = nade_session_open(side->input.context, side->input.model, side->options.device,
                                           side->options.precision, &side->input.session);
    if (opened != NADE_OK) return report_failure(contest->common, side->input.context, opened);
    double *scratch = calloc(2 * contest->rows + 1, sizeof *scratch);
    int status = scratch ? EXIT_DONE : report_no_memory(contest->common);
    if (!status)
        status = score_once(contest, side, contest->of, NULL, side->row, independent ? independent->row : NULL);
    for (size_t j = 0; !status && contest->per_column && j < contest->columns; j++)
        status = score_column(contest, side, independent, j, scratch);
    free(scratch);
    return status;
}

/* Adds the log of the recording step where the other model gives the column's values probabilities. */
static void even_units(struct contest *contest)
{
    struct contender *a = &contest->side[0], *b = &contest->side[1];
    if (a->kind != CONTENDER_MODEL || b->kind != CONTENDER_MODEL || ND_FAULT(FAULT_UNITS_APART)) return;
    for (size_t j = 0; j < contest->columns; j++) {
        nade_column of_a = column_of_model(a->input.model, a->at[j]), of_b = column_of_model(b->input.model, b->at[j]);
        if (counts_by_probability(&of_a) == counts_by_probability(&of_b)) continue;
        struct contender *side = counts_by_probability(&of_a) ? b : a;
        double unit = log(counts_by_probability(&of_a) ? of_b.step : of_a.step);
        for (size_t row = 0; row < contest->rows; row++) {
            size_t at = row * contest->columns + j;
            if (isnan(side->values[at])) continue;
            side->row[row] += unit;
            if (side->cell) side->cell[at] += unit;
        }
    }
}

static void tell_of_fold(void *user, double done)
{
    struct contest *contest = user;
    (void)done;
    step_on(contest);
}

/* Fits to the rows of --train and scores all that are kept. */
static int score_by_train(struct contest *contest, struct contender *side, enum baseline_kind kind,
                          struct baseline_rows *rows)
{
    nade_context *context = contest->lead->input.silent;
    nade_table *table = NULL;
    int failed = EXIT_DONE;
    nade_status status = nade_table_read(context, contest->train, &contest->read, &table);
    if (status != NADE_OK) return report_failure(contest->common, context, status);
    contest->trained = nade_table_rows(table);
    double *values = contest_values(contest, contest->lead, table, &failed);
    size_t *row = calloc(contest->trained + 1, sizeof *row);
    for (size_t i = 0; values && i < contest->trained * contest->columns; i++)
        if (isinf(values[i])) values[i] = NAN;
    for (size_t i = 0; row && i < contest->trained; i++) row[i] = i;
    const struct baseline_rows fitted = {rows->column, rows->columns, values, row, contest->trained};
    struct baseline *fit = values && row ? baseline_fit(kind, &fitted, contest->options.seed) : NULL;
    for (size_t i = 0; fit && i < rows->count; i++)
        side->row[rows->row[i]] = baseline_score(fit, rows->values + rows->row[i] * rows->columns,
                                                 side->cell ? side->cell + rows->row[i] * rows->columns : NULL);
    if (!failed && !fit) failed = report_no_memory(contest->common);
    if (fit) side->components = baseline_components(fit);
    for (int fold = 0; fold < BASELINE_FOLDS; fold++) step_on(contest);
    baseline_free(fit);
    free(values);
    free(row);
    nade_table_free(table);
    return failed;
}

/* Scores each row by what was fitted to the other folds. */
static int score_by_folds(struct contest *contest, struct contender *side, enum baseline_kind kind,
                          const struct baseline_rows *rows)
{
    size_t columns = contest->columns;
    double *row = calloc(rows->count + 1, sizeof *row);
    double *cell = side->cell ? calloc(rows->count + 1, (columns + 1) * sizeof *cell) : NULL;
    bool done =
        row && (!side->cell || cell) &&
        baseline_cross_fit(kind, rows, contest->options.seed, row, cell, &side->components, tell_of_fold, contest);
    for (size_t i = 0; done && i < rows->count; i++) {
        side->row[rows->row[i]] = row[i];
        if (cell) memcpy(side->cell + rows->row[i] * columns, cell + i * columns, columns * sizeof *cell);
    }
    free(row);
    free(cell);
    return done ? EXIT_DONE : report_no_memory(contest->common);
}

static int score_fitted(struct contest *contest, struct contender *side)
{
    struct measures measures = {0};
    struct baseline_column *column = calloc(contest->columns + 1, sizeof *column);
    size_t *row = calloc(contest->rows + 1, sizeof *row), count = 0;
    bool made = measures_create(&measures, contest->lead->input.model, contest->options.cells) && column && row;
    int status = made ? EXIT_DONE : report_no_memory(contest->common);
    for (size_t j = 0; made && j < contest->columns; j++) column[j] = measures.column[contest->lead->at[j]];
    for (size_t i = 0; made && i < contest->rows; i++)
        if (contest->kept[i]) row[count++] = i;
    struct baseline_rows rows = {column, contest->columns, contest->lead->values, row, count};
    enum baseline_kind kind = side->kind == CONTENDER_GAUSSIAN ? BASELINE_GAUSSIAN : BASELINE_MIXTURE;
    if (!status && !contest->train && count == 1)
        status = report_error(contest->common, NADE_BAD_INPUT,
                              "%s: found 1 row to fit and to compare %s on, expected several, or --train with rows to "
                              "fit to",
                              contest->data, side->word);
    if (!status)
        status =
            contest->train ? score_by_train(contest, side, kind, &rows) : score_by_folds(contest, side, kind, &rows);
    measures_free(&measures);
    free(column);
    free(row);
    return status;
}

int contest_score_models(struct contest *contest)
{
    int status = EXIT_DONE;
    progress_start(&contest->progress, contest->common, 0);
    for (int i = 0; i < 2 && !status; i++)
        if (contest->side[i].kind == CONTENDER_MODEL) status = score_model(contest, &contest->side[i]);
    if (!status) even_units(contest);
    return status;
}

int contest_score_fitted(struct contest *contest)
{
    int status = EXIT_DONE;
    for (int i = 0; i < 2 && !status; i++)
        if (contender_is_fitted(&contest->side[i])) status = score_fitted(contest, &contest->side[i]);
    return status;
}
