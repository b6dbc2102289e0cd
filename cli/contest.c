#include "contest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/slips.h"
#include "column.h"
#include "column_choice.h"
#include "device.h"
#include "max_memory.h"
#include "report.h"

/* Fits of a baseline: one for each fifth of the rows. */
enum { FITS = 5 };

/* ---- sides ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum contender_kind kind;
} words[] = {
    {"independent", CONTENDER_INDEPENDENT},
    {"gaussian", CONTENDER_GAUSSIAN},
    {"mixture", CONTENDER_MIXTURE},
};

static void name_side(struct contest *contest, int number, const char *word)
{
    struct contender *side = &contest->side[number];
    side->word = word;
    side->options = contest->options;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0) side->kind = words[i].kind;
    if (side->kind == CONTENDER_MODEL && !contest->lead) contest->lead = side;
}

bool contender_is_fitted(const struct contender *side)
{
    return side->kind == CONTENDER_GAUSSIAN || side->kind == CONTENDER_MIXTURE;
}

/* A word that is no file may be meant for one of those that are fitted. */
static int check_word(const struct contest *contest, const char *word)
{
    const char *meant = NULL;
    size_t fewest = ND_SLIPS_MOST + 1;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (nd_is_nearer(word, words[i].word, &fewest)) meant = words[i].word;
    if (fewest == 0 || !meant || access(word, F_OK) == 0) return EXIT_DONE;
    return report_error(contest->common, NADE_BAD_CALL, "there is no model file '%s'; did you mean %s?", word, meant);
}

static int check_sides(const struct contest *contest)
{
    for (int i = 0; i < 2; i++) {
        int status = check_word(contest, contest->side[i].word);
        if (status) return status;
    }
    if (!contest->lead)
        return report_error(contest->common, NADE_BAD_CALL,
                            "'%s' and '%s': found no model file, expected one of the two to be a model, whose columns "
                            "and types count",
                            contest->side[0].word, contest->side[1].word);
    if (contest->train && !contender_is_fitted(&contest->side[0]) && !contender_is_fitted(&contest->side[1]))
        return report_error(contest->common, NADE_BAD_CALL,
                            "--train: nothing is fitted to %s, expected gaussian or mixture in the place of a model",
                            contest->train);
    return EXIT_DONE;
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static int find_wanted(const struct contest *contest, struct contender *side, nade_read_options *read)
{
    size_t columns = nade_model_columns(side->input.model);
    side->wanted = calloc(columns, sizeof *side->wanted);
    side->at = calloc(columns, sizeof *side->at);
    if (!side->wanted || !side->at || !expect_names(&side->input, read)) return report_no_memory(contest->common);
    side->options.of = contest->of;
    if (contest->of)
        return choose_model_columns(contest->common, side->input.context, side->input.model, "`of`", contest->of,
                                    side->wanted);
    for (size_t c = 0; c < columns; c++) side->wanted[c] = true;
    return EXIT_DONE;
}

/* The model's wanted column of that name, or at that place where either model has no names; SIZE_MAX: none. */
static size_t match_column(const struct contender *side, const nade_column *wanted, size_t place)
{
    size_t columns = nade_model_columns(side->input.model);
    if (!wanted->named || !column_of_model(side->input.model, 0).named)
        return place < columns && side->wanted[place] ? place : SIZE_MAX;
    for (size_t c = 0; c < columns; c++)
        if (side->wanted[c] && strcmp(column_of_model(side->input.model, c).name, wanted->name) == 0) return c;
    return SIZE_MAX;
}

static int refuse_column(const struct contest *contest, const struct contender *with, size_t column,
                         const struct contender *without)
{
    return report_error(contest->common, NADE_BAD_CALL,
                        "%s has the column '%s', which %s has not; expected models of the same columns, or --of with "
                        "names of those that they share",
                        with->word, column_of_model(with->input.model, column).name, without->word);
}

/* Every column of one that the other lacks is an error: densities of different things can't be subtracted. */
static int match_columns(struct contest *contest, struct contender *from, struct contender *to)
{
    for (size_t c = 0, j = 0; c < nade_model_columns(from->input.model); c++) {
        nade_column column = column_of_model(from->input.model, c);
        if (!from->wanted[c]) continue;
        size_t at = match_column(to, &column, c);
        if (at == SIZE_MAX) return refuse_column(contest, from, c, to);
        if (from == contest->lead) {
            from->at[j] = c;
            to->at[j++] = at;
            contest->columns = j;
        }
    }
    return EXIT_DONE;
}

bool counts_by_probability(const nade_column *column)
{
    return column->type != NADE_REAL;
}

/* Where one model gives a column's values probabilities and the other a density, they differ by the recording step. */
static int check_measures(const struct contest *contest)
{
    for (size_t j = 0; j < contest->columns; j++) {
        nade_column a = column_of_model(contest->side[0].input.model, contest->side[0].at[j]);
        nade_column b = column_of_model(contest->side[1].input.model, contest->side[1].at[j]);
        if (counts_by_probability(&a) == counts_by_probability(&b)) continue;
        double step = counts_by_probability(&a) ? b.step : a.step;
        if (!contest->options.cells || !(step > 0))
            return report_error(contest->common, NADE_BAD_CALL,
                                "column '%s' is %s in %s and %s in %s: a density and probabilities can't be compared, "
                                "expected --cells and a column with a recording step, or --of without the column",
                                a.name, nade_type_name(a.type), contest->side[0].word, nade_type_name(b.type),
                                contest->side[1].word);
    }
    return EXIT_DONE;
}

static int settle_columns(struct contest *contest)
{
    struct contender *a = &contest->side[0], *b = &contest->side[1], *lead = contest->lead;
    bool two = a->kind == CONTENDER_MODEL && b->kind == CONTENDER_MODEL;
    int status = find_wanted(contest, lead, &contest->read);
    if (!status && !two) return match_columns(contest, lead, lead);
    nade_read_options unused = contest->read;
    if (!status) status = find_wanted(contest, b, &unused);
    if (!status) status = match_columns(contest, a, b);
    if (!status) status = match_columns(contest, b, a);
    return status ? status : check_measures(contest);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

double *contest_values(const struct contest *contest, const struct contender *side, const nade_table *table,
                       int *failed)
{
    const nade_model *model = side->input.model;
    size_t rows = nade_table_rows(table), columns = nade_model_columns(model), unseen = 0, others = 0;
    bool *unwanted = calloc(columns, sizeof *unwanted);
    for (size_t c = 0; unwanted && c < columns; c++) others += unwanted[c] = !side->wanted[c];
    char *lack = unwanted && others ? list_columns(model, unwanted) : NULL;
    *failed = check_memory(contest->common, rows, 2 * columns * sizeof(double), "the table's cells");
    double *all = *failed ? NULL : calloc(rows + 1, columns * sizeof *all);
    double *values = *failed ? NULL : calloc(rows + 1, (contest->columns + 1) * sizeof *values);
    if (!*failed && (!all || !values || !unwanted || (others && !lack))) *failed = report_no_memory(contest->common);
    if (!*failed) {
        nade_context *context = side->input.silent;
        nade_status status = nade_table_values(context, model, table, lack, all, NULL, &unseen, NULL);
        if (status != NADE_OK) *failed = report_failure(contest->common, context, status);
    }
    for (size_t i = 0; !*failed && i < rows * contest->columns; i++)
        values[i] = all[i / contest->columns * columns + side->at[i % contest->columns]];
    free(unwanted);
    free(lack);
    free(all);
    if (!*failed) return values;
    free(values);
    return NULL;
}

enum row_state { ROW_KEPT, ROW_EMPTY, ROW_UNSEEN, ROW_UNLIKE };

static enum row_state row_state(const struct contest *contest, size_t row)
{
    const double *a = contest->lead->values + row * contest->columns;
    const struct contender *other = &contest->side[1];
    const double *b = other->kind == CONTENDER_MODEL ? other->values + row * contest->columns : a;
    bool present = false, unlike = false;
    for (size_t j = 0; j < contest->columns; j++) {
        if (isinf(a[j]) || isinf(b[j])) return ROW_UNSEEN;
        present = present || !isnan(a[j]);
        unlike = unlike || isnan(a[j]) != isnan(b[j]);
    }
    if (unlike && !ND_FAULT(FAULT_UNLIKE_ROWS)) return ROW_UNLIKE;
    return present ? ROW_KEPT : ROW_EMPTY;
}

static void choose_rows(struct contest *contest)
{
    for (size_t row = 0; row < contest->rows; row++) {
        enum row_state state = row_state(contest, row);
        contest->kept[row] = state == ROW_KEPT;
        contest->empty += state == ROW_EMPTY;
        contest->unseen += state == ROW_UNSEEN;
        contest->unlike += state == ROW_UNLIKE;
    }
}

static int read_table(struct contest *contest)
{
    nade_context *context = contest->lead->input.context;
    nade_status status = nade_table_read(context, contest->data, &contest->read, &contest->table);
    if (status != NADE_OK) return report_failure(contest->common, context, status);
    contest->rows = nade_table_rows(contest->table);
    contest->kept = calloc(contest->rows + 1, sizeof *contest->kept);
    return contest->kept ? EXIT_DONE : report_no_memory(contest->common);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int load_models(struct contest *contest)
{
    int status = EXIT_DONE;
    for (int i = 0; i < 2 && !status; i++) {
        struct contender *side = &contest->side[i];
        if (side->kind != CONTENDER_MODEL) continue;
        status = load_input_model(&side->input, contest->common, contest->threads, &side->options.device,
                                  &side->options.precision, side->word);
    }
    return status;
}

static bool make_scores(const struct contest *contest, struct contender *side)
{
    side->row = calloc(contest->rows + 1, sizeof *side->row);
    if (contest->per_column) side->cell = calloc(contest->rows + 1, (contest->columns + 1) * sizeof *side->cell);
    return side->row && (!contest->per_column || side->cell);
}

static int read_sides(struct contest *contest)
{
    int status = read_table(contest);
    for (int i = 0; i < 2 && !status; i++) {
        struct contender *side = &contest->side[i];
        if (!make_scores(contest, side)) status = report_no_memory(contest->common);
        if (!status && side->kind == CONTENDER_MODEL)
            side->values = contest_values(contest, side, contest->table, &status);
        if (side->kind == CONTENDER_MODEL) contest->work += 1 + (contest->per_column ? contest->columns : 0);
        if (contender_is_fitted(side)) contest->work += contest->train ? 1 : FITS;
    }
    return status;
}

int contest_run(struct contest *contest, const char *a, const char *b)
{
    name_side(contest, 0, a);
    name_side(contest, 1, b);
    int status = check_sides(contest);
    if (!status) status = load_models(contest);
    if (!status) status = settle_columns(contest);
    if (!status) status = read_sides(contest);
    if (!status) status = contest_score_models(contest);
    if (status) return status;
    choose_rows(contest);
    return contest_score_fitted(contest);
}

void contest_free(struct contest *contest)
{
    for (int i = 0; i < 2; i++) {
        struct contender *side = &contest->side[i];
        free(side->wanted);
        free(side->at);
        free(side->values);
        free(side->row);
        free(side->cell);
        free_model_input(&side->input);
    }
    nade_table_free(contest->table);
    free(contest->kept);
}

const char *contest_column(const struct contest *contest, size_t column)
{
    return column_of_model(contest->lead->input.model, contest->lead->at[column]).name;
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

/* Whether the item counts: a row that is kept, which has the cell. */
static bool counts(const struct contest *contest, size_t row, size_t column)
{
    return contest->kept[row] && (column == SIZE_MAX || !isnan(contest->lead->values[row * contest->columns + column]));
}

/* column SIZE_MAX: rows. */
static double score_of(const struct contest *contest, int side, size_t row, size_t column)
{
    const struct contender *contender = &contest->side[side];
    return column == SIZE_MAX ? contender->row[row] : contender->cell[row * contest->columns + column];
}

static struct difference difference_of(const struct contest *contest, size_t column)
{
    struct difference d = {0};
    double squares = 0;
    for (size_t row = 0; row < contest->rows; row++) {
        if (!counts(contest, row, column)) continue;
        double a = score_of(contest, 0, row, column), b = score_of(contest, 1, row, column);
        d.count++;
        d.mean[0] += a;
        d.mean[1] += b;
        d.difference += a - b;
        d.better[0] += a > b;
        d.better[1] += b > a;
    }
    double count = (double)d.count;
    d.mean[0] /= count;
    d.mean[1] /= count;
    d.difference /= count;
    for (size_t row = 0; row < contest->rows; row++) {
        if (!counts(contest, row, column)) continue;
        double apart = score_of(contest, 0, row, column) - score_of(contest, 1, row, column) - d.difference;
        if (ND_FAULT(FAULT_NOT_PAIRED)) apart = score_of(contest, 0, row, column) - d.mean[0];
        squares += apart * apart;
    }
    d.standard_error = d.count > 1 ? sqrt(squares / (count - 1) / count) : NAN;
    return d;
}

struct difference contest_rows(const struct contest *contest)
{
    return difference_of(contest, SIZE_MAX);
}

struct difference contest_cells(const struct contest *contest, size_t column)
{
    return difference_of(contest, column);
}
