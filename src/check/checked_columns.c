/* Cells: where each lies in the distribution that the model gives it from the rest of its row. */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
#include "check/checked.h"

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

static nade_status place_part(struct column_work *work, size_t first, size_t rows)
{
    struct checked *checked = work->checked;
    const double *values = checked->values + first * checked->columns;
    size_t labels = work->column->labels;
    nade_prediction asked = {.size = sizeof asked,
                             .column = work->c,
                             .session = checked->options.session,
                             .points = work->points,
                             .point_count = 1};
    for (size_t i = 0; i < rows; i++) work->points[i] = values[i * checked->columns + work->c];
    asked.probability = labels ? work->probability : NULL;
    asked.below = labels ? NULL : work->below;
    asked.upto = labels ? NULL : work->upto;
    nade_status status = nade_predict(checked->context, checked->model, &asked, rows, values);
    if (status != NADE_OK) return status;
    for (size_t i = 0; i < rows; i++) {
        if (isnan(work->points[i])) continue;
        if (labels)
            place_label(work, first + i, work->probability + i * labels, (size_t)work->points[i]);
        else
            place_cell(work, first + i, work->below[i], work->upto[i]);
    }
    return NADE_OK;
}

/* How often labels are seen beside how often they were said to be. */
static void judge_labels(struct column_work *work)
{
    struct checked_column *column = work->column;
    double cells = (double)work->count, least = 1, most = -1;
    for (size_t v = 0; v < column->labels && cells > 0; v++) {
        double apart = work->seen[v] - work->said[v];
        least = fmin(least, nd_error_bound(apart, work->spread[v]));
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
        column->off = fmax(column->off, fabs(column->places.inside[l] - nd_calibration_level[l]));
}

static bool make_room(struct column_work *work, struct arena *arena)
{
    size_t labels = work->column->labels + 1;
    work->part = PART_PROBABILITIES / labels < PART_ROWS ? PART_PROBABILITIES / labels : PART_ROWS;
    if (work->part == 0) work->part = 1;
    work->places = nd_arena_alloc(arena, work->checked->rows + 1, sizeof(double));
    work->points = nd_arena_alloc(arena, work->part, sizeof(double));
    work->below = nd_arena_alloc(arena, work->part, sizeof(double));
    work->upto = nd_arena_alloc(arena, work->part, sizeof(double));
    work->probability = nd_arena_alloc(arena, work->part, labels * sizeof(double));
    work->said = nd_arena_alloc(arena, labels, sizeof(double));
    work->seen = nd_arena_alloc(arena, labels, sizeof(double));
    work->spread = nd_arena_alloc(arena, labels, sizeof(double));
    return work->places && work->points && work->below && work->upto && work->probability && work->said && work->seen &&
           work->spread;
}

static nade_status place_column(struct checked *checked, struct arena *arena, size_t c)
{
    struct column_work work = {.checked = checked, .column = &checked->column[c], .c = c};
    if (!make_room(&work, arena)) return nd_no_memory(checked->context, "the places of cells");
    for (size_t first = 0; first < checked->rows; first += work.part) {
        size_t left = checked->rows - first;
        nade_status status = place_part(&work, first, left < work.part ? left : work.part);
        if (status != NADE_OK) return status;
    }
    work.column->places = nd_calibrate(work.places, work.count);
    if (work.column->labels)
        judge_labels(&work);
    else
        judge_numbers(work.column);
    return NADE_OK;
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

/* A COLS list of column c alone, or of all others. */
static char *list_columns(const struct checked *checked, struct arena *arena, size_t c, bool others)
{
    size_t size = 1;
    for (size_t i = 0; i < checked->columns; i++) size += 2 * strlen(checked->column[i].known.name) + 3;
    char *list = nd_arena_alloc(arena, size, 1), *at = list;
    for (size_t i = 0; list && i < checked->columns; i++) {
        if ((i != c) != others) continue;
        if (at > list) *at++ = ',';
        *at++ = '\'';
        for (const char *name = checked->column[i].known.name; *name; name++) {
            if (*name == '\'') *at++ = '\'';
            *at++ = *name;
        }
        *at++ = '\'';
    }
    return list;
}

/* The column given all others, beside what it is without them. */
static nade_status find_gain(struct checked *checked, struct arena *arena, size_t c)
{
    char *of = list_columns(checked, arena, c, false), *given = list_columns(checked, arena, c, true);
    double *score = nd_arena_alloc(arena, checked->rows + 1, sizeof *score);
    double *independent = nd_arena_alloc(arena, checked->rows + 1, sizeof *independent);
    if (!of || !given || !score || !independent) return nd_no_memory(checked->context, "the cells' log densities");
    nade_status status = nd_check_score(checked, of, *given ? given : NULL, score, independent, NULL);
    if (status == NADE_OK) take_gain(checked, c, score, independent);
    return status;
}

nade_status nd_check_columns(struct checked *checked)
{
    nade_status status = NADE_OK;
    for (size_t c = 0; c < checked->columns; c++) {
        struct checked_column *column = &checked->column[c];
        column->known.size = sizeof column->known;
        nade_model_column(checked->model, c, &column->known);
        if (!column->known.numeric) column->labels = column->known.label_count ? column->known.label_count : 2;
    }
    for (size_t c = 0; c < checked->columns && status == NADE_OK; c++) {
        struct arena arena = {checked->context->allocator, NULL};
        status = place_column(checked, &arena, c);
        if (status == NADE_OK) status = find_gain(checked, &arena, c);
        nd_arena_free(&arena);
    }
    return status;
}
