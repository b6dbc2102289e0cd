/* A mixture of K products over columns: Gaussians whose deviations have a floor, and shares of labels.
 *
 * Expectation-maximisation, missing cells left out.  Weights and shares have priors, as if each component had one row
 * more and each of its labels half a cell; variances are bounded below, so that both steps are exact and no round makes
 * the log posterior smaller.  Numbers are fitted by their densities also where they count by bins. */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/philox.h"
#include "check/baseline_parts.h"

/* The log of a component's part of a row that makes no difference. */
static const double SLIGHT = -25;

struct mixture_fit {
    const nade_allocator *allocator;
    const struct baseline_column *column;
    size_t columns, k;
    size_t *place;                /* (columns) where a column's block of `share` begins, for each component */
    size_t width;                 /* of all blocks: labels, 3 for a number */
    struct baseline_scale *scale; /* (columns) */
    double *log_weight;           /* (k) */
    double *share;                /* (k, width) of labels their logs; of a number mean, variance and log deviation */
    double *row_log;              /* (k) scratch: log of weight and density */
    double *cell_log;             /* (k, columns) scratch */
    double *weight, *sums; /* (k), (k, width + columns): of a round; of a number Σ r x and Σ r x², of labels Σ r,
                              then Σ r of each column */
};

static double standard(const struct mixture_fit *fit, size_t c, double x)
{
    return (x - fit->scale[c].mean) / fit->scale[c].sd;
}

/* The log density of the rows' own units, without constants that all components share. */
static double plain_log(const struct mixture_fit *fit, size_t k, size_t c, double x)
{
    const double *share = fit->share + k * fit->width + fit->place[c];
    if (fit->column[c].labels) return share[(size_t)x];
    double z = standard(fit, c, x) - share[0];
    return -z * z / share[1] / 2 - share[2];
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

/* How many rows have each label, the mean and variance of each number: what one component would be. */
static void fill_overall(struct mixture_fit *fit, const struct baseline_rows *rows, double *overall)
{
    for (size_t c = 0; c < fit->columns; c++) {
        double *share = overall + fit->place[c], count = 0;
        size_t labels = fit->column[c].labels;
        if (!labels) share[1] = 1;
        for (size_t i = 0; labels && i < rows->count; i++) {
            double x = rows->values[rows->row[i] * rows->columns + c];
            if (!isnan(x)) share[(size_t)x]++, count++;
        }
        for (size_t v = 0; v < labels; v++) share[v] = (share[v] + 0.5) / (count + 0.5 * (double)labels);
    }
}

/* A component begins around one of the rows, as wide as all of them. */
static void start_at(struct mixture_fit *fit, size_t k, const double *row, const double *overall)
{
    double *share = fit->share + k * fit->width;
    memcpy(share, overall, fit->width * sizeof *share);
    for (size_t c = 0; c < fit->columns; c++) {
        size_t labels = fit->column[c].labels;
        double *own = share + fit->place[c];
        if (!labels) {
            if (row && !isnan(row[c])) own[0] = standard(fit, c, row[c]);
            continue;
        }
        bool told = row && !isnan(row[c]);
        for (size_t v = 0; v < labels; v++) own[v] = log(told ? (own[v] + (v == (size_t)row[c] ? 1 : 0)) / 2 : own[v]);
    }
    fit->log_weight[k] = -log((double)fit->k);
}

static bool make_room(struct mixture_fit *fit)
{
    fit->scale = nd_alloc(fit->allocator, fit->columns + 1, sizeof *fit->scale);
    fit->place = nd_alloc(fit->allocator, fit->columns + 1, sizeof *fit->place);
    if (!fit->scale || !fit->place) return false;
    for (size_t c = 0; c < fit->columns; c++) {
        fit->place[c] = fit->width;
        fit->width += fit->column[c].labels ? fit->column[c].labels : 3;
    }
    fit->log_weight = nd_alloc(fit->allocator, fit->k, sizeof(double));
    fit->weight = nd_alloc(fit->allocator, fit->k, sizeof(double));
    fit->row_log = nd_alloc(fit->allocator, 2 * fit->k, sizeof(double));
    fit->share = nd_alloc(fit->allocator, fit->k, (fit->width + 1) * sizeof(double));
    fit->cell_log = nd_alloc(fit->allocator, fit->k, (fit->columns + 1) * sizeof(double));
    fit->sums = nd_alloc(fit->allocator, fit->k, (fit->width + fit->columns + 1) * sizeof(double));
    return fit->log_weight && fit->weight && fit->row_log && fit->share && fit->cell_log && fit->sums;
}

struct mixture_fit *nd_baseline_mixture_create(const struct baseline_rows *rows, size_t components, uint32_t seed,
                                               uint32_t start)
{
    struct mixture_fit *fit = nd_alloc(rows->allocator, 1, sizeof *fit);
    if (!fit) return NULL;
    fit->allocator = rows->allocator;
    fit->column = rows->column;
    fit->columns = rows->columns;
    fit->k = components;
    double *overall = make_room(fit) ? nd_alloc(fit->allocator, fit->width + 1, sizeof *overall) : NULL;
    if (!overall) {
        nd_baseline_mixture_free(fit);
        return NULL;
    }
    nd_baseline_scales(rows, fit->scale);
    fill_overall(fit, rows, overall);
    for (size_t k = 0; k < components; k++) {
        uint32_t word = nd_random_word(seed, PURPOSE_MIXTURE_START, start, (uint32_t)k, 0);
        size_t at = rows->count ? nd_random_below(word, (uint32_t)rows->count) : 0;
        bool alone = components == 1 || rows->count == 0;
        start_at(fit, k, alone ? NULL : rows->values + rows->row[at] * rows->columns, overall);
    }
    nd_free(fit->allocator, overall);
    return fit;
}

void nd_baseline_mixture_free(struct mixture_fit *fit)
{
    if (!fit) return;
    nd_free(fit->allocator, fit->scale);
    nd_free(fit->allocator, fit->place);
    nd_free(fit->allocator, fit->log_weight);
    nd_free(fit->allocator, fit->weight);
    nd_free(fit->allocator, fit->row_log);
    nd_free(fit->allocator, fit->share);
    nd_free(fit->allocator, fit->cell_log);
    nd_free(fit->allocator, fit->sums);
    nd_free(fit->allocator, fit);
}

size_t nd_baseline_mixture_components(const struct mixture_fit *fit)
{
    return fit->k;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Adds a row, of which the component has this part, to the round's sums. */
static void add_row(struct mixture_fit *fit, size_t k, const double *row, double part)
{
    double *sums = fit->sums + k * (fit->width + fit->columns), *count = sums + fit->width;
    fit->weight[k] += part;
    for (size_t c = 0; c < fit->columns; c++) {
        if (isnan(row[c])) continue;
        count[c] += part;
        if (fit->column[c].labels) {
            sums[fit->place[c] + (size_t)row[c]] += part;
        } else {
            double x = standard(fit, c, row[c]);
            sums[fit->place[c]] += part * x;
            sums[fit->place[c] + 1] += part * x * x;
        }
    }
}

/* What the sums make likeliest. */
static void take_component(struct mixture_fit *fit, size_t k, double total)
{
    const double *sums = fit->sums + k * (fit->width + fit->columns), *count = sums + fit->width;
    fit->log_weight[k] = log((fit->weight[k] + 1) / (total + (double)fit->k));
    for (size_t c = 0; c < fit->columns; c++) {
        double *share = fit->share + k * fit->width + fit->place[c], floor = fit->scale[c].floor;
        const double *sum = sums + fit->place[c];
        size_t labels = fit->column[c].labels;
        for (size_t v = 0; v < labels; v++) share[v] = log((sum[v] + 0.5) / (count[c] + 0.5 * (double)labels));
        if (labels || !(count[c] > 1e-9)) continue;
        share[0] = sum[0] / count[c];
        share[1] = fmax(sum[1] / count[c] - share[0] * share[0], ND_FAULT(FAULT_MIXTURE_FLOOR) ? 1e-30 : floor * floor);
        share[2] = log(share[1]) / 2;
    }
}

/* The log of the priors of weights and shares. */
static double prior(const struct mixture_fit *fit)
{
    double sum = 0;
    for (size_t k = 0; k < fit->k; k++) {
        sum += fit->log_weight[k];
        for (size_t c = 0; c < fit->columns; c++)
            for (size_t v = 0; v < fit->column[c].labels; v++)
                sum += fit->share[k * fit->width + fit->place[c] + v] / 2;
    }
    return sum;
}

double nd_baseline_mixture_round(struct mixture_fit *fit, const struct baseline_rows *rows)
{
    double likelihood = prior(fit);
    memset(fit->weight, 0, fit->k * sizeof *fit->weight);
    memset(fit->sums, 0, fit->k * (fit->width + fit->columns) * sizeof *fit->sums);
    for (size_t i = 0; i < rows->count; i++) {
        const double *row = rows->values + rows->row[i] * rows->columns;
        for (size_t k = 0; k < fit->k; k++) {
            fit->row_log[k] = fit->log_weight[k];
            for (size_t c = 0; c < fit->columns; c++)
                if (!isnan(row[c])) fit->row_log[k] += plain_log(fit, k, c, row[c]);
        }
        double all = nd_baseline_log_sum(fit->row_log, fit->k);
        likelihood += all;
        for (size_t k = 0; k < fit->k; k++)
            if (fit->row_log[k] - all > SLIGHT) add_row(fit, k, row, exp(fit->row_log[k] - all));
    }
    for (size_t k = 0; k < fit->k; k++) take_component(fit, k, (double)rows->count);
    return likelihood;
}

/* ---- scoring ----------------------------------------------------------------------------------------------------- */

static double cell_of(const struct mixture_fit *fit, size_t k, size_t c, double x)
{
    const double *share = fit->share + k * fit->width + fit->place[c];
    if (fit->column[c].labels) return share[(size_t)x];
    return nd_baseline_log_normal(&fit->column[c], &fit->scale[c], share[0], sqrt(share[1]), x);
}

/* The density of the row divided by that of the row without the cell. */
static void score_cells(struct mixture_fit *fit, const double *row, double all, double *cell)
{
    double *rest = fit->row_log + fit->k;
    for (size_t c = 0; c < fit->columns; c++) {
        cell[c] = NAN;
        if (isnan(row[c])) continue;
        for (size_t k = 0; k < fit->k; k++) rest[k] = fit->row_log[k] - fit->cell_log[k * fit->columns + c];
        cell[c] = all - nd_baseline_log_sum(rest, fit->k);
    }
}

double nd_baseline_mixture_score(struct mixture_fit *fit, const double *row, double *cell)
{
    for (size_t k = 0; k < fit->k; k++) {
        fit->row_log[k] = fit->log_weight[k];
        for (size_t c = 0; c < fit->columns; c++) {
            if (isnan(row[c])) continue;
            double own = cell_of(fit, k, c, row[c]);
            fit->cell_log[k * fit->columns + c] = own;
            fit->row_log[k] += own;
        }
    }
    double all = nd_baseline_log_sum(fit->row_log, fit->k);
    if (cell) score_cells(fit, row, all, cell);
    return all;
}
