#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "column.h"
#include "column_choice.h"
#include "contest.h"
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

/* Of a fit's folds, each is a part of the work. */
static int tell_of_fold(void *user, double done)
{
    struct contest *contest = user;
    (void)done;
    step_on(contest);
    return 0;
}

/* The cells of --train; free them. */
static double *read_train(struct contest *contest, int *failed)
{
    nade_context *context = contest->lead->input.silent;
    nade_table *table = NULL;
    nade_status status = nade_table_read(context, contest->train, &contest->read, &table);
    if (status != NADE_OK) {
        *failed = report_failure(contest->common, context, status);
        return NULL;
    }
    contest->trained = nade_table_rows(table);
    double *values = contest_values(contest, contest->lead, table, failed);
    nade_table_free(table);
    return values;
}

/* The rows that are kept, or the places of their scores: from the contest's arrays to one without gaps, or back. */
static void copy_kept(const struct contest *contest, double *all, double *kept, size_t width, bool back)
{
    for (size_t row = 0, at = 0; row < contest->rows; row++) {
        if (!contest->kept[row]) continue;
        double *a = all + row * width, *b = kept + at++ * width;
        memcpy(back ? a : b, back ? b : a, width * sizeof *a);
    }
}

/* Asks the library, and puts its scores of the rows that are kept where they belong. */
static int score_kept(struct contest *contest, struct contender *side, const nade_baseline_options *options,
                      size_t count)
{
    size_t columns = contest->columns;
    nade_context *context = contest->lead->input.silent;
    double *values = calloc(count + 1, (columns + 1) * sizeof *values), *row = calloc(count + 1, sizeof *row);
    double *cell = calloc(side->cell ? count + 1 : 1, (columns + 1) * sizeof *cell);
    int status = values && row && cell ? EXIT_DONE : report_no_memory(contest->common);
    if (!status) {
        copy_kept(contest, contest->lead->values, values, columns, false);
        nade_status scored = nade_score_baseline(context, contest->lead->input.model, options, count, values, row,
                                                 side->cell ? cell : NULL, &side->components);
        if (scored != NADE_OK) status = report_failure(contest->common, context, scored);
    }
    if (!status) copy_kept(contest, side->row, row, 1, true);
    if (!status && side->cell) copy_kept(contest, side->cell, cell, columns, true);
    free(values);
    free(row);
    free(cell);
    return status;
}

static int score_fitted(struct contest *contest, struct contender *side)
{
    size_t count = 0;
    int failed = EXIT_DONE;
    for (size_t i = 0; i < contest->rows; i++) count += contest->kept[i];
    if (!contest->train && count == 1)
        return report_error(contest->common, NADE_BAD_INPUT,
                            "%s: found 1 row to fit and to compare %s on, expected several, or --train with rows to "
                            "fit to",
                            contest->data, side->word);
    double *train = contest->train ? read_train(contest, &failed) : NULL;
    const nade_baseline_options options = {
        .size = sizeof options,
        .kind = side->kind == CONTENDER_GAUSSIAN ? NADE_BASELINE_GAUSSIAN : NADE_BASELINE_MIXTURE,
        .seed = contest->options.seed,
        .cells = contest->options.cells,
        .columns = contest->lead->at,
        .column_count = contest->columns,
        .train = train,
        .train_rows = contest->trained,
        .progress = tell_of_fold,
        .progress_user = contest,
    };
    if (!failed) failed = score_kept(contest, side, &options, count);
    free(train);
    return failed;
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
