#include "check/baseline.h"

#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/philox.h"
#include "check/baseline_parts.h"

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static const double ROOT_HALF = 0.70710678118654752440, LOG_ROOT_TWO_PI = 0.91893853320467274178;

double nd_baseline_log_sum(const double *values, size_t count)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, values[i]);
    if (!isfinite(most)) return most;
    for (size_t i = 0; i < count; i++) sum += exp(values[i] - most);
    return most + log(sum);
}

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

/* ---- fits -------------------------------------------------------------------------------------------------------- */

struct baseline {
    struct gaussian_fit *gaussian;
    struct mixture_fit *mixture;
    const nade_allocator *allocator;
};

/* Most rounds of a fit, and the gain of a row below which it ends; most cells that are fitted to: of more rows evenly
 * spaced ones are taken. */
enum { ROUNDS = 100, STARTS = 3, COMPONENTS_MOST = 32, COMPONENT_ROWS = 10 };
enum { GAUSSIAN_CELLS = 1 << 20, MIXTURE_CELLS = 1 << 17, ROWS_LEAST = 200 };
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

static double settle_mixture(struct mixture_fit *fit, const struct baseline_rows *rows)
{
    double before = -INFINITY, now = before;
    for (int round = 0; round < ROUNDS; round++) {
        now = nd_baseline_mixture_round(fit, rows);
        if (now - before < ENOUGH * (double)rows->count) break;
        before = now;
    }
    return now;
}

/* The best of several starts; NULL: no memory. */
static struct mixture_fit *best_mixture(const struct baseline_rows *rows, size_t components, uint32_t seed)
{
    struct mixture_fit *best = NULL;
    double best_value = -INFINITY;
    for (uint32_t start = 0; start < (components > 1 ? STARTS : 1); start++) {
        struct mixture_fit *fit = nd_baseline_mixture_create(rows, components, seed, start);
        if (!fit) {
            nd_baseline_mixture_free(best);
            return NULL;
        }
        double value = settle_mixture(fit, rows);
        bool better = !best || value > best_value;
        nd_baseline_mixture_free(better ? best : fit);
        if (better) best = fit, best_value = value;
    }
    return best;
}

static double mean_score(struct mixture_fit *fit, const struct baseline_rows *rows)
{
    double sum = 0;
    for (size_t i = 0; i < rows->count; i++)
        sum += nd_baseline_mixture_score(fit, rows->values + rows->row[i] * rows->columns, NULL);
    return sum / (double)rows->count;
}

/* Doubles the components as long as rows that were not fitted to gain by it.  0: no memory. */
static size_t choose_components(const struct baseline_rows *part, const struct baseline_rows *rest, uint32_t seed)
{
    double best = -INFINITY;
    size_t chosen = 1;
    for (size_t k = 1; k <= COMPONENTS_MOST && k * COMPONENT_ROWS <= part->count; k *= 2) {
        struct mixture_fit *fit = best_mixture(part, k, seed);
        if (!fit) return 0;
        double value = mean_score(fit, rest);
        nd_baseline_mixture_free(fit);
        if (k > 1 && !(value > best)) break;
        best = value;
        chosen = k;
    }
    return chosen;
}

/* Every fifth row decides how many components there are; then all are fitted to. */
static struct mixture_fit *fit_mixture(const struct baseline_rows *rows, uint32_t seed)
{
    size_t *row = nd_alloc(rows->allocator, rows->count + 1, sizeof *row), rest_count = 0;
    if (!row) return NULL;
    for (size_t i = 0; i < rows->count; i++)
        if (i % BASELINE_FOLDS == 0) row[rest_count++] = rows->row[i];
    for (size_t i = 0, at = rest_count; i < rows->count; i++)
        if (i % BASELINE_FOLDS != 0) row[at++] = rows->row[i];
    struct baseline_rows rest = *rows, part = *rows;
    rest.row = row;
    rest.count = rest_count;
    part.row = row + rest_count;
    part.count = rows->count - rest_count;
    size_t components = part.count > 0 ? choose_components(&part, &rest, seed) : 1;
    nd_free(rows->allocator, row);
    return components ? best_mixture(rows, components, seed) : NULL;
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
static bool take_fewer(const struct baseline_rows *rows, size_t cells, struct baseline_rows *fewer, size_t **row)
{
    size_t most = cells / (rows->columns ? rows->columns : 1);
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

struct baseline *nd_baseline_fit(nade_baseline kind, const struct baseline_rows *rows, uint32_t seed)
{
    struct baseline *baseline = nd_alloc(rows->allocator, 1, sizeof *baseline);
    struct baseline_rows fewer;
    size_t *row = NULL, cells = kind == NADE_BASELINE_GAUSSIAN ? GAUSSIAN_CELLS : MIXTURE_CELLS;
    if (baseline && take_fewer(rows, cells, &fewer, &row)) {
        if (kind == NADE_BASELINE_MIXTURE)
            baseline->mixture = fit_mixture(&fewer, seed);
        else if ((baseline->gaussian = nd_baseline_gaussian_create(&fewer)))
            settle_gaussian(baseline->gaussian, &fewer);
    }
    nd_free(rows->allocator, row);
    if (baseline) baseline->allocator = rows->allocator;
    if (baseline && (baseline->gaussian || baseline->mixture)) return baseline;
    nd_free(rows->allocator, baseline);
    return NULL;
}

void nd_baseline_free(struct baseline *baseline)
{
    if (!baseline) return;
    nd_baseline_gaussian_free(baseline->gaussian);
    nd_baseline_mixture_free(baseline->mixture);
    nd_free(baseline->allocator, baseline);
}

double nd_baseline_score(struct baseline *baseline, const double *row, double *cell)
{
    return baseline->gaussian ? nd_baseline_gaussian_score(baseline->gaussian, row, cell)
                              : nd_baseline_mixture_score(baseline->mixture, row, cell);
}

size_t nd_baseline_components(const struct baseline *baseline)
{
    return baseline->mixture ? nd_baseline_mixture_components(baseline->mixture) : 1;
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

static bool score_fold(nade_baseline kind, const struct baseline_rows *rows, const unsigned char *fold, int number,
                       size_t *row, uint32_t seed, double *row_score, double *cell_score, size_t *most)
{
    struct baseline_rows others = *rows;
    others.row = row;
    others.count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (fold[i] != number || ND_FAULT(FAULT_FOLD_NOT_LEFT_OUT)) row[others.count++] = rows->row[i];
    struct baseline *fit = nd_baseline_fit(kind, &others, seed);
    if (!fit) return false;
    if (most && nd_baseline_components(fit) > *most) *most = nd_baseline_components(fit);
    for (size_t i = 0; i < rows->count; i++)
        if (fold[i] == number)
            row_score[i] = nd_baseline_score(fit, rows->values + rows->row[i] * rows->columns,
                                             cell_score ? cell_score + i * rows->columns : NULL);
    nd_baseline_free(fit);
    return true;
}

nade_status nd_baseline_cross_fit(nade_baseline kind, const struct baseline_rows *rows, uint32_t seed,
                                  double *row_score, double *cell_score, size_t *most,
                                  int (*progress)(void *user, double done), void *user)
{
    unsigned char *fold = nd_alloc(rows->allocator, rows->count + 1, 1);
    size_t *row = nd_alloc(rows->allocator, rows->count + 1, sizeof *row);
    nade_status status = fold && row && deal_folds(rows, seed, fold) ? NADE_OK : NADE_NO_MEMORY;
    if (most) *most = 0;
    for (int number = 0; status == NADE_OK && number < BASELINE_FOLDS; number++) {
        if (!score_fold(kind, rows, fold, number, row, seed, row_score, cell_score, most))
            status = NADE_NO_MEMORY;
        else if (progress && progress(user, (number + 1.0) / BASELINE_FOLDS))
            status = NADE_INTERRUPTED;
    }
    nd_free(rows->allocator, fold);
    nd_free(rows->allocator, row);
    return status;
}
