/* One Gaussian with a full covariance over the columns of numbers, labels independent of all else.
 *
 * Rows with missing cells are fitted to by expectation-maximisation.  What is maximised is the expected log likelihood
 * of rows blurred by their rounding: each present cell by independent noise whose deviation is the column's floor f, so
 * that Σ exceeds diag(f²) whatever the rows.  Of complete rows the covariance is theirs (divided by N) plus diag(f²).
 * Everything is in units of the columns' scales. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "check/baseline_parts.h"

/* The rows of one set of present cells, k of n numbers. */
struct pattern {
    bool *present;   /* (n) */
    bool known;      /* what follows is that of present */
    size_t *at, k;   /* (k) the present ones */
    double *factor;  /* (k, k) lower: factor factorᵀ = Σ of these */
    double *precise; /* (k, k) Σ of these, inverted */
    double log_root; /* of the determinant, its half */
    double *apart;   /* (n) scratch */
};

struct gaussian_fit {
    const nade_allocator *allocator;
    const struct baseline_column *column;
    size_t columns, n;
    size_t *number;                   /* (n) columns of numbers; those that count by bins come last */
    struct baseline_scale *scale;     /* (columns) */
    double *mean, *covariance;        /* (n), (n, n) */
    double **label_log;               /* (columns) log share of each label; NULL: a number */
    double *sum, *moment;             /* (n), (n, n): of a round */
    double *part_sum, *part, *spread; /* (n), (n, n) twice: of a pattern's rows */
    struct pattern pattern;
};

/* ---- linear algebra ---------------------------------------------------------------------------------------------- */

/* The lower triangle's factor in place; Σ exceeds a diagonal above 0, so that pivots are above 0 but for rounding. */
static void factorise(double *a, size_t k)
{
    for (size_t j = 0; j < k; j++) {
        for (size_t i = j; i < k; i++) {
            double sum = a[i * k + j];
            for (size_t t = 0; t < j; t++) sum -= a[i * k + t] * a[j * k + t];
            a[i * k + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / a[j * k + j];
        }
    }
}

/* factor y = b in place. */
static void solve_lower(const double *factor, size_t k, double *b)
{
    for (size_t i = 0; i < k; i++) {
        for (size_t t = 0; t < i; t++) b[i] -= factor[i * k + t] * b[t];
        b[i] /= factor[i * k + i];
    }
}

static void solve_upper(const double *factor, size_t k, double *b)
{
    for (size_t i = k; i-- > 0;) {
        for (size_t t = i + 1; t < k; t++) b[i] -= factor[t * k + i] * b[t];
        b[i] /= factor[i * k + i];
    }
}

/* Makes fit->pattern that of the row, anew only where it differs from the last one. */
static void use_pattern(struct gaussian_fit *fit, const double *row)
{
    struct pattern *p = &fit->pattern;
    bool same = p->known;
    for (size_t i = 0; i < fit->n; i++) {
        bool present = !isnan(row[fit->number[i]]);
        same = same && p->present[i] == present;
        p->present[i] = present;
    }
    if (same) return;
    p->k = 0;
    for (size_t i = 0; i < fit->n; i++)
        if (p->present[i]) p->at[p->k++] = i;
    size_t k = p->k;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) p->factor[i * k + j] = fit->covariance[p->at[i] * fit->n + p->at[j]];
    factorise(p->factor, k);
    p->log_root = 0;
    for (size_t i = 0; i < k; i++) p->log_root += log(p->factor[i * k + i]);
    for (size_t i = 0; i < k; i++) {
        double *line = p->precise + i * k;
        memset(line, 0, k * sizeof *line);
        line[i] = 1;
        solve_lower(p->factor, k, line);
        solve_upper(p->factor, k, line);
    }
    p->known = true;
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

static double standard(const struct gaussian_fit *fit, const double *row, size_t i)
{
    const struct baseline_scale *scale = &fit->scale[fit->number[i]];
    return (row[fit->number[i]] - scale->mean) / scale->sd;
}

/* Adds a row of the pattern: its distance from the mean, and its square, blurred. */
static void add_row(struct gaussian_fit *fit, const double *row)
{
    const struct pattern *p = &fit->pattern;
    size_t k = p->k;
    for (size_t i = 0; i < k; i++) p->apart[i] = standard(fit, row, p->at[i]) - fit->mean[p->at[i]];
    for (size_t i = 0; i < k; i++) {
        double floor = fit->scale[fit->number[p->at[i]]].floor;
        fit->part_sum[i] += p->apart[i];
        for (size_t j = 0; j < k; j++) fit->part[i * k + j] += p->apart[i] * p->apart[j];
        fit->part[i * k + i] += floor * floor;
    }
}

/* What a number that is missing is expected to be: a multiple of each present one's distance from the mean. */
static void expect_missing(const struct gaussian_fit *fit, size_t missing, double *line)
{
    const struct pattern *p = &fit->pattern;
    for (size_t j = 0; j < p->k; j++) {
        line[j] = 0;
        for (size_t t = 0; t < p->k; t++)
            line[j] += fit->covariance[missing * fit->n + p->at[t]] * p->precise[t * p->k + j];
    }
}

/* spread (n, k): each number as a multiple of the present ones. */
static void spread_present(struct gaussian_fit *fit)
{
    const struct pattern *p = &fit->pattern;
    memset(fit->spread, 0, fit->n * p->k * sizeof *fit->spread);
    for (size_t i = 0; i < p->k; i++) fit->spread[p->at[i] * p->k + i] = 1;
    for (size_t i = 0; i < fit->n; i++)
        if (!p->present[i]) expect_missing(fit, i, fit->spread + i * p->k);
}

/* What Σ leaves of two missing numbers when the present ones are known. */
static double left_over(const struct gaussian_fit *fit, size_t i, size_t j)
{
    const struct pattern *p = &fit->pattern;
    if (p->present[i] || p->present[j]) return 0;
    double left = fit->covariance[i * fit->n + j];
    for (size_t t = 0; t < p->k; t++) left -= fit->spread[i * p->k + t] * fit->covariance[j * fit->n + p->at[t]];
    return left;
}

/* Adds `count` rows of the pattern to the round's moments; returns their log likelihood. */
static double add_pattern(struct gaussian_fit *fit, double count)
{
    const struct pattern *p = &fit->pattern;
    size_t n = fit->n, k = p->k;
    double squares = 0;
    for (size_t i = 0; i < k * k; i++) squares += p->precise[i] * fit->part[i];
    spread_present(fit);
    for (size_t i = 0; i < n; i++) {
        const double *line = fit->spread + i * k;
        for (size_t t = 0; t < k; t++) fit->sum[i] += line[t] * fit->part_sum[t];
        for (size_t t = 0; t < k; t++) { /* line · part */
            p->apart[t] = 0;
            for (size_t u = 0; u < k; u++) p->apart[t] += line[u] * fit->part[u * k + t];
        }
        for (size_t j = 0; j < n; j++) {
            double sum = count * left_over(fit, i, j);
            for (size_t t = 0; t < k; t++) sum += p->apart[t] * fit->spread[j * k + t];
            fit->moment[i * n + j] += sum;
        }
    }
    memset(fit->part_sum, 0, n * sizeof *fit->part_sum);
    memset(fit->part, 0, n * n * sizeof *fit->part);
    return -count * p->log_root - count * (double)k * 0.91893853320467274178 - squares / 2;
}

double nd_baseline_gaussian_round(struct gaussian_fit *fit, const struct baseline_rows *rows)
{
    size_t n = fit->n;
    double likelihood = 0, count = 0, total = (double)rows->count;
    memset(fit->sum, 0, n * sizeof *fit->sum);
    memset(fit->moment, 0, n * n * sizeof *fit->moment);
    fit->pattern.known = false;
    for (size_t i = 0; i < rows->count; i++) {
        const double *row = rows->values + rows->row[i] * rows->columns;
        bool changes = count == 0;
        for (size_t j = 0; j < n && !changes; j++) changes = isnan(row[fit->number[j]]) == fit->pattern.present[j];
        if (changes && count > 0) likelihood += add_pattern(fit, count);
        if (changes) count = 0;
        use_pattern(fit, row);
        add_row(fit, row);
        count++;
    }
    if (count > 0) likelihood += add_pattern(fit, count);
    for (size_t i = 0; i < n && total > 0; i++)
        for (size_t j = 0; j < n; j++)
            fit->covariance[i * n + j] = fit->moment[i * n + j] / total - fit->sum[i] * fit->sum[j] / (total * total);
    for (size_t i = 0; i < n && total > 0; i++) fit->mean[i] += fit->sum[i] / total;
    fit->pattern.known = false;
    return likelihood;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool fit_labels(struct gaussian_fit *fit, const struct baseline_rows *rows)
{
    for (size_t c = 0; c < fit->columns; c++) {
        size_t labels = fit->column[c].labels;
        double count = 0, *share;
        if (!labels) continue;
        share = fit->label_log[c] = nd_alloc(fit->allocator, labels, sizeof *share);
        if (!share) return false;
        for (size_t i = 0; i < rows->count; i++) {
            double x = rows->values[rows->row[i] * rows->columns + c];
            if (isnan(x)) continue;
            share[(size_t)x]++;
            count++;
        }
        for (size_t v = 0; v < labels; v++) share[v] = log((share[v] + 0.5) / (count + 0.5 * (double)labels));
    }
    return true;
}

static void list_numbers(struct gaussian_fit *fit)
{
    for (int binned = 0; binned < 2; binned++)
        for (size_t c = 0; c < fit->columns; c++)
            if (!fit->column[c].labels && fit->column[c].binned == binned) fit->number[fit->n++] = c;
}

static bool make_room(struct gaussian_fit *fit)
{
    size_t n = fit->n + 1;
    struct pattern *p = &fit->pattern;
    fit->mean = nd_alloc(fit->allocator, n, sizeof(double));
    fit->covariance = nd_alloc(fit->allocator, n * n, sizeof(double));
    fit->sum = nd_alloc(fit->allocator, n, sizeof(double));
    fit->moment = nd_alloc(fit->allocator, n * n, sizeof(double));
    fit->part_sum = nd_alloc(fit->allocator, n, sizeof(double));
    fit->part = nd_alloc(fit->allocator, n * n, sizeof(double));
    fit->spread = nd_alloc(fit->allocator, n * n, sizeof(double));
    p->present = nd_alloc(fit->allocator, n, sizeof *p->present);
    p->at = nd_alloc(fit->allocator, n, sizeof *p->at);
    p->factor = nd_alloc(fit->allocator, n * n, sizeof(double));
    p->precise = nd_alloc(fit->allocator, n * n, sizeof(double));
    p->apart = nd_alloc(fit->allocator, n, sizeof(double));
    return fit->mean && fit->covariance && fit->sum && fit->moment && fit->part_sum && fit->part && fit->spread &&
           p->present && p->at && p->factor && p->precise && p->apart;
}

struct gaussian_fit *nd_baseline_gaussian_create(const struct baseline_rows *rows)
{
    struct gaussian_fit *fit = nd_alloc(rows->allocator, 1, sizeof *fit);
    if (!fit) return NULL;
    fit->allocator = rows->allocator;
    fit->column = rows->column;
    fit->columns = rows->columns;
    fit->number = nd_alloc(fit->allocator, rows->columns + 1, sizeof *fit->number);
    fit->scale = nd_alloc(fit->allocator, rows->columns + 1, sizeof *fit->scale);
    fit->label_log = nd_alloc(fit->allocator, rows->columns + 1, sizeof *fit->label_log);
    if (fit->number) list_numbers(fit);
    if (!fit->number || !fit->scale || !fit->label_log || !make_room(fit) || !fit_labels(fit, rows)) {
        nd_baseline_gaussian_free(fit);
        return NULL;
    }
    nd_baseline_scales(rows, fit->scale);
    for (size_t i = 0; i < fit->n; i++) fit->covariance[i * fit->n + i] = 1;
    return fit;
}

void nd_baseline_gaussian_free(struct gaussian_fit *fit)
{
    if (!fit) return;
    for (size_t c = 0; fit->label_log && c < fit->columns; c++) nd_free(fit->allocator, fit->label_log[c]);
    double *const blocks[] = {fit->mean,         fit->covariance,     fit->sum,
                              fit->moment,       fit->part_sum,       fit->part,
                              fit->spread,       fit->pattern.factor, fit->pattern.precise,
                              fit->pattern.apart};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) nd_free(fit->allocator, blocks[i]);
    nd_free(fit->allocator, fit->pattern.present);
    nd_free(fit->allocator, fit->pattern.at);
    nd_free(fit->allocator, fit->label_log);
    nd_free(fit->allocator, fit->number);
    nd_free(fit->allocator, fit->scale);
    nd_free(fit->allocator, fit);
}

/* The numbers one after the other, each given those before it: y_i = (x_i - its mean given them) / its deviation. */
static double score_numbers(struct gaussian_fit *fit, const double *row)
{
    struct pattern *p = &fit->pattern;
    double sum = 0;
    for (size_t i = 0; i < p->k; i++) p->apart[i] = standard(fit, row, p->at[i]) - fit->mean[p->at[i]];
    solve_lower(p->factor, p->k, p->apart);
    for (size_t i = 0; i < p->k; i++) {
        size_t c = fit->number[p->at[i]];
        double sd = p->factor[i * p->k + i];
        sum += nd_baseline_log_normal(&fit->column[c], &fit->scale[c], standard(fit, row, p->at[i]) - sd * p->apart[i],
                                      sd, row[c]);
    }
    return sum;
}

/* Each given all others: with P = Σ⁻¹ and d = x - μ its mean is x_i - (P d)_i / P_ii, its variance 1 / P_ii. */
static void score_cells(struct gaussian_fit *fit, const double *row, double *cell)
{
    struct pattern *p = &fit->pattern;
    for (size_t i = 0; i < p->k; i++) p->apart[i] = standard(fit, row, p->at[i]) - fit->mean[p->at[i]];
    for (size_t i = 0; i < p->k; i++) {
        size_t c = fit->number[p->at[i]];
        double pull = 0, own = p->precise[i * p->k + i];
        for (size_t t = 0; t < p->k; t++) pull += p->precise[i * p->k + t] * p->apart[t];
        cell[c] = nd_baseline_log_normal(&fit->column[c], &fit->scale[c], standard(fit, row, p->at[i]) - pull / own,
                                         1 / sqrt(own), row[c]);
    }
}

double nd_baseline_gaussian_score(struct gaussian_fit *fit, const double *row, double *cell)
{
    use_pattern(fit, row);
    double sum = score_numbers(fit, row);
    for (size_t c = 0; cell && c < fit->columns; c++) cell[c] = NAN;
    if (cell) score_cells(fit, row, cell);
    for (size_t c = 0; c < fit->columns; c++) {
        if (!fit->label_log[c] || isnan(row[c])) continue;
        double own = fit->label_log[c][(size_t)row[c]];
        sum += own;
        if (cell) cell[c] = own;
    }
    return sum;
}
