#include "model/component_fit.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "model/date_weeks.h"
#include "model/head.h"

struct weighted_cells {
    const struct plan_column *column;
    const float *values;
    const double *weights;
    size_t count;
};

static double log_likelihood(const struct weighted_cells *cells, const double *outputs)
{
    enum { PART = 256 };
    const struct plan_column *column = cells->column;
    const struct head *head = column->head;
    double sum = 0, found[PART];
    for (size_t first = 0; first < cells->count; first += PART) {
        size_t count = cells->count - first < PART ? cells->count - first : PART;
        const float *values = cells->values + first;
        if (head->log_densities) head->log_densities(column, outputs, values, count, 1, found);
        for (size_t i = 0; i < count; i++) {
            double weight = cells->weights[first + i];
            if (!(weight > 0)) continue;
            sum += weight * (head->log_densities ? found[i] : head->log_density(column, outputs, (double)values[i]));
        }
    }
    return sum;
}

static bool take_if_better(const struct weighted_cells *cells, const double *tried, double *outputs, double *best)
{
    double found = log_likelihood(cells, tried);
    if (!(found > *best) && !ND_FAULT(FAULT_FIT_WORSE)) return false;
    *best = found;
    memcpy(outputs, tried, cells->column->output_width * sizeof *outputs);
    return true;
}

/* ---- counts: a negative binomial --------------------------------------------------------------------------------- */

enum { LOGIT, LOG_MEAN, LOG_DISPERSION, COUNT_OUTPUTS };

/* What the moments say; false: nothing has weight. */
static bool fit_moments(const struct weighted_cells *cells, double *tried)
{
    const struct plan_column *column = cells->column;
    double weight = 0, sum = 0, squares = 0;
    for (size_t i = 0; i < cells->count; i++) {
        double k = column->head->decode(column->own, (double)cells->values[i], false);
        weight += cells->weights[i];
        sum += cells->weights[i] * k;
        squares += cells->weights[i] * k * k;
    }
    if (!(weight > 0)) return false;
    double mean = fmax(sum / weight, 1e-6), variance = fmax(squares / weight - mean * mean, 0);
    tried[LOG_MEAN] = log(mean);
    tried[LOG_DISPERSION] = log(fmin(fmax((variance - mean) / (mean * mean), 1e-4), 1e3));
    return true;
}

/* The likeliest mean is the cells' whatever the dispersion, which is looked for by steps from where it was. */
void nd_fit_counts(const struct plan_column *column, const float *values, const double *weights, size_t count,
                   double *outputs)
{
    static const double steps[] = {0.5, -0.5, 0.1, -0.1};
    const struct weighted_cells cells = {column, values, weights, count};
    double tried[COUNT_OUTPUTS] = {outputs[LOGIT], 0, 0}, best = log_likelihood(&cells, outputs);
    if (!fit_moments(&cells, tried)) return;
    take_if_better(&cells, tried, outputs, &best);
    tried[LOG_DISPERSION] = outputs[LOG_DISPERSION];
    take_if_better(&cells, tried, outputs, &best);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        memcpy(tried, outputs, sizeof tried);
        tried[LOG_DISPERSION] += steps[i];
        take_if_better(&cells, tried, outputs, &best);
    }
}

/* ---- dates: a Gaussian's weeks, weekdays, hours ------------------------------------------------------------------ */

struct date_sums {
    double weight, sum, squares; /* of the weeks' middles, in weeks */
    double day[ND_WEEKDAYS], hour[ND_HOURS];
};

static struct date_sums sum_dates(const struct weighted_cells *cells)
{
    const struct calendar *c = cells->column->own;
    struct date_sums s = {0};
    for (size_t i = 0; i < cells->count; i++) {
        struct moment m = nd_moment(c, round((double)cells->values[i] * c->scale));
        double weight = cells->weights[i], middle = m.week + 0.5;
        s.weight += weight;
        s.sum += weight * middle;
        s.squares += weight * middle * middle;
        s.day[m.weekday] += weight;
        if (c->a_day > 1) s.hour[nd_hour(c, m.of_day)] += weight;
    }
    return s;
}

/* Weekdays and hours have closed forms; for the weeks' Gaussian there are the moments, less what a week spreads. */
void nd_fit_dates(const struct plan_column *column, const float *values, const double *weights, size_t count,
                  double *outputs)
{
    const struct calendar *c = column->own;
    const struct weighted_cells cells = {column, values, weights, count};
    struct date_sums s = sum_dates(&cells);
    double tried[3 + ND_WEEKDAYS + ND_HOURS];
    if (!(s.weight > 0)) return;
    for (size_t d = 0; d < ND_WEEKDAYS; d++) outputs[3 + d] = log(fmax(s.day[d] / s.weight, 1e-12));
    for (size_t h = 0; h < ND_HOURS && c->a_day > 1; h++)
        outputs[3 + ND_WEEKDAYS + h] = log(fmax(s.hour[h] / s.weight, 1e-12));
    double best = log_likelihood(&cells, outputs), unit = c->week / c->scale, mean = s.sum / s.weight;
    double deviation = unit * sqrt(fmax(s.squares / s.weight - mean * mean - 1.0 / 12, 0));
    memcpy(tried, outputs, column->output_width * sizeof *tried);
    tried[1] = unit * mean;
    take_if_better(&cells, tried, outputs, &best);
    tried[2] = log(fmax(deviation - c->floor, 0.1 * c->floor));
    take_if_better(&cells, tried, outputs, &best);
}
