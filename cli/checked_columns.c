/* nade check, cells: where each lies in the distribution that the model gives it from the rest of its row. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
#include "checked.h"
#include "column.h"
#include "column_choice.h"
#include "report.h"

/* Cells of a column that are asked about at a time. */
enum { PART_ROWS = 4096, PART_PROBABILITIES = 1 << 20 };

struct column_work {
    struct checked *checked;
    struct checked_column *column;
    size_t c;
    double *places;               /* (rows) of the cells that are there */
    size_t count;                 /* of them */
    size_t part;                  /* rows at a time */
    double *points;               /* (part) */
    double *below, *upto;         /* (part) */
    double *probability;          /* (part, labels) */
    double *said, *seen, *spread; /* (labels) sums over cells of the probability, of 1 where it is the label, and of the
                                     variance of that */
    double said_of_likeliest, hits;
};

/* A uniform number of the cell's own, for where in its jump it lies. */
static double chance(const struct checked *checked, size_t row, size_t c)
{
    uint32_t high = nd_random_word(checked->options.seed, PURPOSE_PIT, row, (uint32_t)c, 0);
    uint32_t low = nd_random_word(checked->options.seed, PURPOSE_PIT, row, (uint32_t)c, 1);
    return nd_random_fine(high, low);
}

static void place_cell(struct column_work *work, size_t row, double below, double upto)
{
    double u = ND_FAULT(FAULT_PIT_NOT_RANDOM) ? upto : below + (upto - below) * chance(work->checked, row, work->c);
    work->places[work->count++] = fmin(fmax(u, 0), 1);
}

/* Labels have no order of their own: they are taken from the likeliest on, so that places are high where the model is
 * too sure of itself. */
static void place_label(struct column_work *work, size_t row, const double *probability, size_t label)
{
    size_t labels = work->column->labels, likeliest = 0;
    double own = probability[label], before = 0;
    for (size_t v = 0; v < labels; v++) {
        double p = probability[v];
        if (p > probability[likeliest]) likeliest = v;
        if (p > own || (p == own && v < label)) before += p;
        work->said[v] += p;
        work->spread[v] += p * (1 - p);
    }
    work->seen[label]++;
    work->hits += label == likeliest;
    work->said_of_likeliest += probability[likeliest];
    place_cell(work, row, before, before + own);
}

static int place_part(struct column_work *work, size_t first, size_t rows)
{
    struct checked *checked = work->checked;
    const double *values = checked->values + first * checked->columns;
    size_t labels = work->column->labels;
    nade_prediction asked = {.size = sizeof asked,
                             .column = work->c,
                             .session = checked->input.session,
                             .points = work->points,
                             .point_count = 1};
    for (size_t i = 0; i < rows; i++) work->points[i] = values[i * checked->columns + work->c];
    asked.probability = labels ? work->probability : NULL;
    asked.below = labels ? NULL : work->below;
    asked.upto = labels ? NULL : work->upto;
    nade_status status = nade_predict(checked->input.silent, checked->input.model, &asked, rows, values);
    if (status != NADE_OK) return report_failure(checked->common, checked->input.silent, status);
    for (size_t i = 0; i < rows; i++) {
        if (isnan(work->points[i])) continue;
        if (labels)
            place_label(work, first + i, work->probability + i * labels, (size_t)work->points[i]);
        else
            place_cell(work, first + i, work->below[i], work->upto[i]);
    }
    return EXIT_DONE;
}

/* How often labels are seen beside how often they were said to be. */
static void judge_labels(struct column_work *work)
{
    struct checked_column *column = work->column;
    double cells = (double)work->count, least = 1, most = -1;
    for (size_t v = 0; v < column->labels && cells > 0; v++) {
        double apart = work->seen[v] - work->said[v];
        least = fmin(least, error_bound(apart, work->spread[v]));
        if (fabs(apart) / cells <= most) continue;
        most = fabs(apart) / cells;
        column->worst_label = v;
        column->frequency = work->seen[v] / cells;
        column->said = work->said[v] / cells;
    }
    column->hits = work->hits / cells;
    column->expected_hits = work->said_of_likeliest / cells;
    double tests = column->labels > 2 ? (double)column->labels : 1;
    column->p_value = fmin(1, 2 * fmin(column->places.p_value, tests * least));
    column->off = fmax(fabs(column->hits - column->expected_hits), most);
}

static void judge_numbers(struct checked_column *column)
{
    column->p_value = column->places.p_value;
    column->off = column->places.distance;
    for (size_t l = 0; l < CALIBRATION_LEVELS && column->places.cells > 0; l++)
        column->off = fmax(column->off, fabs(column->places.inside[l] - calibration_level[l]));
}

static bool make_room(struct column_work *work)
{
    size_t labels = work->column->labels + 1;
    work->part = PART_PROBABILITIES / labels < PART_ROWS ? PART_PROBABILITIES / labels : PART_ROWS;
    if (work->part == 0) work->part = 1;
    work->places = calloc(work->checked->rows + 1, sizeof(double));
    work->points = calloc(work->part, sizeof(double));
    work->below = calloc(work->part, sizeof(double));
    work->upto = calloc(work->part, sizeof(double));
    work->probability = calloc(work->part, labels * sizeof(double));
    work->said = calloc(labels, sizeof(double));
    work->seen = calloc(labels, sizeof(double));
    work->spread = calloc(labels, sizeof(double));
    return work->places && work->points && work->below && work->upto && work->probability && work->said && work->seen &&
           work->spread;
}

static void free_work(struct column_work *work)
{
    double *const blocks[] = {work->places,      work->points, work->below, work->upto,
                              work->probability, work->said,   work->seen,  work->spread};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
}

static int place_column(struct checked *checked, size_t c)
{
    struct column_work work = {.checked = checked, .column = &checked->column[c], .c = c};
    int status = make_room(&work) ? EXIT_DONE : report_no_memory(checked->common);
    for (size_t first = 0; first < checked->rows && !status; first += work.part) {
        size_t left = checked->rows - first;
        status = place_part(&work, first, left < work.part ? left : work.part);
    }
    if (!status) {
        work.column->places = calibrate(work.places, work.count);
        if (work.column->labels)
            judge_labels(&work);
        else
            judge_numbers(work.column);
    }
    free_work(&work);
    return status;
}

/* ---- gain -------------------------------------------------------------------------------------------------------- */

static void take_gain(struct checked *checked, size_t c, const double *score, const double *independent)
{
    double sum = 0, squares = 0, count = 0;
    const double *cell = checked->values + c;
    for (size_t row = 0; row < checked->rows; row++)
        if (!isnan(cell[row * checked->columns])) sum += score[row] - independent[row], count++;
    for (size_t row = 0; row < checked->rows; row++)
        if (!isnan(cell[row * checked->columns])) squares += pow(score[row] - independent[row] - sum / count, 2);
    checked->column[c].gain = sum / count;
    checked->column[c].standard_error = count > 1 ? sqrt(squares / (count - 1) / count) : NAN;
}

/* The column given all others, beside what it is without them. */
static int find_gain(struct checked *checked, size_t c, double *score)
{
    const nade_model *model = checked->input.model;
    bool *chosen = calloc(checked->columns, 2 * sizeof *chosen), *others = chosen ? chosen + checked->columns : NULL;
    for (size_t i = 0; chosen && i < checked->columns; i++) {
        chosen[i] = i == c;
        others[i] = i != c;
    }
    char *of = chosen ? list_columns(model, chosen) : NULL, *given = chosen ? list_columns(model, others) : NULL;
    nade_score_options options = checked->options;
    options.of = of;
    options.given = given && *given ? given : NULL;
    options.independent = score + checked->rows;
    options.session = checked->input.session;
    int status = of && given ? EXIT_DONE : report_no_memory(checked->common);
    if (!status) {
        nade_context *context = checked->input.silent;
        nade_status scored = nade_score(context, model, checked->table, &options, score, NULL, NULL);
        if (scored != NADE_OK) status = report_failure(checked->common, context, scored);
    }
    if (!status) take_gain(checked, c, score, score + checked->rows);
    free(chosen);
    free(of);
    free(given);
    return status;
}

int check_columns(struct checked *checked)
{
    double *score = calloc(2 * checked->rows + 1, sizeof *score);
    int status = score ? EXIT_DONE : report_no_memory(checked->common);
    for (size_t c = 0; c < checked->columns && !status; c++) {
        struct checked_column *column = &checked->column[c];
        column->known = column_of_model(checked->input.model, c);
        if (!column->known.numeric) column->labels = column->known.label_count ? column->known.label_count : 2;
        status = place_column(checked, c);
        if (!status) status = find_gain(checked, c, score);
        progress_share(&checked->progress, "checking", (double)(c + 1) / (double)checked->columns);
    }
    free(score);
    return status;
}
