#include "check/baseline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/philox.h"
#include "check/baseline_parts.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static const double ROOT_HALF = 0.70710678118654752440, LOG_ROOT_TWO_PI = 0.91893853320467274178;

/* Of 0 < a < b: from the upper tails, which far out are those of their asymptotic series. */
static double log_upper_mass(double a, double b)
{
    if (a < 30) return log((erfc(a * ROOT_HALF) - (b < INFINITY ? erfc(b * ROOT_HALF) : 0)) / 2);
    double further = b < INFINITY ? exp((a - b) * (a + b) / 2) * a / b : 0;
    return -a * a / 2 - LOG_ROOT_TWO_PI - log(a) + log1p(-1 / (a * a)) + log1p(-further);
}

double nd_baseline_log_mass(double a, double b)
{
    double middle = a + (b - a) / 2;
    if (b - a < 1e-3 && (b - a) * fabs(middle) < 1e-3) return log(b - a) - middle * middle / 2 - LOG_ROOT_TWO_PI;
    if (a > 0) return log_upper_mass(a, b);
    if (b < 0) return log_upper_mass(-b, -a);
    return log1p(-(erfc(-a * ROOT_HALF) + erfc(b * ROOT_HALF)) / 2);
}

/* Where the values lie that are recorded as this one. */
static void find_bin(const struct baseline_column *column, double value, double *low, double *high)
{
    double half = column->step / 2;
    const double *values = column->values;
    *low = value - half;
    *high = value + half;
    if (values) {
        size_t above = 0;
        while (above < column->value_count && values[above] <= value) above++;
        size_t at = above > 0 ? above - 1 : 0;
        *low = at > 0 ? (values[at - 1] + values[at]) / 2 : -INFINITY;
        *high = at + 1 < column->value_count ? (values[at] + values[at + 1]) / 2 : INFINITY;
    }
    if (value <= column->least) *low = -INFINITY;
    if (value >= column->most) *high = INFINITY;
}

double nd_baseline_log_normal(const struct baseline_column *column, const struct baseline_scale *scale, double mean,
                              double sd, double value)
{
    double low, high, centre = scale->mean + mean * scale->sd, width = sd * scale->sd;
    if (!column->binned) {
        double z = (value - centre) / width;
        return -z * z / 2 - LOG_ROOT_TWO_PI - (ND_FAULT(FAULT_BASELINE_UNITS) ? log(sd) : log(width));
    }
    find_bin(column, value, &low, &high);
    return nd_baseline_log_mass((low - centre) / width, (high - centre) / width) - log(column->unit);
}

/* The floor is that of the model's heads: the deviation of what rounding takes away, and a thousandth of the column's.
 */
static struct baseline_scale scale_of(const struct baseline_rows *rows, size_t c)
{
    double sum = 0, squares = 0, count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double x = rows->values[rows->row[i] * rows->columns + c];
        if (isnan(x)) continue;
        count++;
        double before = x - sum;
        sum += before / count;
        squares += before * (x - sum);
    }
    double sd = count > 0 ? sqrt(squares / count) : 0;
    if (!(sd > 1e-12 * fabs(sum))) sd = rows->column[c].step > 0 ? rows->column[c].step : 1;
    return (struct baseline_scale){sum, sd, fmax(rows->column[c].step / sqrt(12) / sd, 1e-3)};
}

void nd_baseline_scales(const struct baseline_rows *rows, struct baseline_scale *scale)
{
    for (size_t c = 0; c < rows->columns; c++)
        scale[c] = rows->column[c].labels ? (struct baseline_scale){0, 0, 0} : scale_of(rows, c);
}

/* ---- a Gaussian -------------------------------------------------------------------------------------------------- */

/* Most rounds of a fit, and the gain of a row below which it ends; most cells that are fitted to: of more rows evenly
 * spaced ones are taken. */
enum { ROUNDS = 100, CELLS_MOST = 1 << 20, ROWS_LEAST = 200 };
static const double ENOUGH = 1e-4;

static void settle_gaussian(struct gaussian_fit *fit, const struct baseline_rows *rows)
{
    double before = -INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double now = nd_baseline_gaussian_round(fit, rows);
        if (now - before < ENOUGH * (double)rows->count) return;
        before = now;
    }
}

struct keyed_row {
    uint32_t key;
    size_t at;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed_row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Which cells a row has, as a number that differs for most others (FNV). */
static uint32_t pattern_key(const struct baseline_rows *rows, size_t row)
{
    uint32_t key = 2166136261u;
    for (size_t c = 0; c < rows->columns; c++)
        key = (key ^ (isnan(rows->values[row * rows->columns + c]) ? 1u : 0u)) * 16777619u;
    return key;
}

/* Few enough rows, evenly spaced, those with the same cells next to each other; *row is to be freed.  False: no
 * memory. */
static bool take_fewer(const struct baseline_rows *rows, struct baseline_rows *fewer, size_t **row)
{
    size_t most = CELLS_MOST / (rows->columns ? rows->columns : 1);
    if (most < ROWS_LEAST) most = ROWS_LEAST;
    if (rows->count < most) most = rows->count;
    struct keyed_row *keyed = nd_alloc(rows->allocator, most + 1, sizeof *keyed);
    *row = nd_alloc(rows->allocator, most + 1, sizeof **row);
    if (keyed && *row) {
        for (size_t i = 0; i < most; i++) {
            size_t at = rows->row[i * (rows->count / most) + i * (rows->count % most) / most];
            keyed[i] = (struct keyed_row){pattern_key(rows, at), at};
        }
        qsort(keyed, most, sizeof *keyed, by_key);
        for (size_t i = 0; i < most; i++) (*row)[i] = keyed[i].at;
    }
    *fewer = *rows;
    fewer->row = *row;
    fewer->count = most;
    bool done = keyed && *row;
    nd_free(rows->allocator, keyed);
    return done;
}

static nade_status score_gaussian(const struct baseline_rows *fitted, const struct baseline_rows *scored, double *score,
                                  double *cell)
{
    struct baseline_rows fewer;
    size_t *row = NULL, columns = scored->columns;
    struct gaussian_fit *fit = take_fewer(fitted, &fewer, &row) ? nd_baseline_gaussian_create(&fewer) : NULL;
    if (fit) settle_gaussian(fit, &fewer);
    for (size_t i = 0; fit && i < scored->count; i++)
        score[i] = nd_baseline_gaussian_score(fit, scored->values + scored->row[i] * columns,
                                              cell ? cell + i * columns : NULL);
    nade_status status = fit ? NADE_OK : NADE_NO_MEMORY;
    nd_baseline_gaussian_free(fit);
    nd_free(fitted->allocator, row);
    return status;
}

nade_status nd_baseline_score(const struct baseline_method *method, const struct baseline_rows *fitted,
                              const struct baseline_rows *scored, double *score, double *cell, size_t *components)
{
    *components = 1;
    return method->kind == NADE_BASELINE_GAUSSIAN
               ? score_gaussian(fitted, scored, score, cell)
               : nd_baseline_mixture_score(method, fitted, scored, score, cell, components);
}

/* ---- cross-fitting ----------------------------------------------------------------------------------------------- */

/* The fold of each row: rows sorted by random keys are dealt out in turn. */
static bool deal_folds(const struct baseline_rows *rows, uint32_t seed, unsigned char *fold)
{
    size_t count = rows->count;
    struct keyed_row *keyed = nd_alloc(rows->allocator, count + 1, sizeof *keyed);
    if (!keyed) return false;
    for (size_t i = 0; i < count; i++) keyed[i] = (struct keyed_row){nd_random_word(seed, PURPOSE_FOLD, i, 0, 0), i};
    qsort(keyed, count, sizeof *keyed, by_key);
    for (size_t i = 0; i < count; i++) fold[keyed[i].at] = (unsigned char)(i % BASELINE_FOLDS);
    nd_free(rows->allocator, keyed);
    return true;
}

/* Room for the rows of a fold, all others, and the scores of the former. */
struct fold_room {
    size_t *own, *others;
    double *score, *cell; /* cell NULL: not wanted */
};

static nade_status score_fold(const struct baseline_method *method, const struct baseline_rows *rows,
                              const unsigned char *fold, int number, const struct fold_room *room, double *row_score,
                              double *cell_score, size_t *components)
{
    struct baseline_rows others = *rows, own = *rows;
    size_t columns = rows->columns;
    others.row = room->others;
    own.row = room->own;
    others.count = own.count = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (fold[i] == number) room->own[own.count++] = rows->row[i];
        if (fold[i] != number || ND_FAULT(FAULT_FOLD_NOT_LEFT_OUT)) room->others[others.count++] = rows->row[i];
    }
    if (own.count == 0) return NADE_OK;
    nade_status status = nd_baseline_score(method, &others, &own, room->score, room->cell, components);
    for (size_t i = 0, at = 0; i < rows->count && status == NADE_OK; i++) {
        if (fold[i] != number) continue;
        row_score[i] = room->score[at];
        if (cell_score) memcpy(cell_score + i * columns, room->cell + at * columns, columns * sizeof *cell_score);
        at++;
    }
    return status;
}

nade_status nd_baseline_cross_fit(const struct baseline_method *method, const struct baseline_rows *rows,
                                  double *row_score, double *cell_score, size_t *most,
                                  int (*progress)(void *user, double done), void *user)
{
    const nade_allocator *allocator = rows->allocator;
    size_t count = rows->count + 1;
    unsigned char *fold = nd_alloc(allocator, count, 1);
    const struct fold_room room = {
        nd_alloc(allocator, count, sizeof *room.own), nd_alloc(allocator, count, sizeof *room.others),
        nd_alloc(allocator, count, sizeof *room.score),
        cell_score ? nd_alloc(allocator, count, (rows->columns + 1) * sizeof *room.cell) : NULL};
    bool good = fold && room.own && room.others && room.score && (!cell_score || room.cell);
    nade_status status = good && deal_folds(rows, method->seed, fold) ? NADE_OK : NADE_NO_MEMORY;
    *most = 0;
    for (int number = 0; status == NADE_OK && number < BASELINE_FOLDS; number++) {
        size_t components = 0;
        status = score_fold(method, rows, fold, number, &room, row_score, cell_score, &components);
        if (components > *most) *most = components;
        if (status == NADE_OK && progress && progress(user, (number + 1.0) / BASELINE_FOLDS)) status = NADE_INTERRUPTED;
    }
    nd_free(allocator, fold);
    nd_free(allocator, room.own);
    nd_free(allocator, room.others);
    nd_free(allocator, room.score);
    nd_free(allocator, room.cell);
    return status;
}
