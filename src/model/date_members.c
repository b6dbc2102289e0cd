#include "model/date_members.h"

#include <math.h>
#include <string.h>

#include "model/date_weeks.h"
#include "model/log_sum.h"

/* ---- the members ------------------------------------------------------------------------------------------------- */

static size_t width_of_one(const struct plan_column *column)
{
    const struct calendar *c = column->own;
    return 3 * column->components + ND_WEEKDAYS + (c->a_day > 1 ? ND_HOURS : 0);
}

static size_t members_of(const struct plan_column *column)
{
    return column->output_width / width_of_one(column);
}

static const double *member_at(const struct plan_column *column, const double *outputs, size_t member)
{
    return outputs + member * width_of_one(column);
}

/* A member's logits, of which only differences count, are moved so that they tell its weight too. */
void nd_mix_dates(const struct plan_column *column, const struct mix_share *share, const double *outputs, double *mixed)
{
    double *own = mixed + share->number * column->output_width;
    double shift = share->log_weight - nd_log_sum(outputs, column->components);
    memcpy(own, outputs, column->output_width * sizeof *own);
    for (size_t i = 0; i < column->components; i++) own[i] += shift;
}

static double log_weight_of(const struct plan_column *column, const double *own)
{
    return nd_log_sum(own, column->components);
}

static double weight_of(const struct plan_column *column, const double *own)
{
    return exp(log_weight_of(column, own));
}

double nd_mixed_date_log_density(const struct plan_column *column, const double *outputs, double x)
{
    struct log_sum sum = {-HUGE_VAL, 0};
    for (size_t j = 0; j < members_of(column); j++) {
        const double *own = member_at(column, outputs, j);
        nd_add_term(&sum, log_weight_of(column, own) + nd_date_log_density(column, own, x));
    }
    return nd_log_total(&sum);
}

double nd_mixed_date_log_between(const struct plan_column *column, const double *outputs, double low, double high)
{
    struct log_sum sum = {-HUGE_VAL, 0};
    for (size_t j = 0; j < members_of(column); j++) {
        const double *own = member_at(column, outputs, j);
        nd_add_term(&sum, log_weight_of(column, own) + nd_date_log_between(column, own, low, high));
    }
    return sum.sum > 0 ? fmin(nd_log_total(&sum), 0) : -HUGE_VAL;
}

double nd_mixed_date_mean(const struct plan_column *column, const double *outputs)
{
    double sum = 0, weights = 0;
    for (size_t j = 0; j < members_of(column); j++) {
        const double *own = member_at(column, outputs, j);
        sum += weight_of(column, own) * nd_date_mean(column, own);
        weights += weight_of(column, own);
    }
    return sum / weights;
}

/* ---- weeks ------------------------------------------------------------------------------------------------------- */

/* What of all probability lies in the pieces of some weeks: their hours, or days where the column has no hours. */
struct weeks {
    size_t pieces;
    double cells;                         /* of a piece of one week */
    double share[ND_WEEKDAYS * ND_HOURS]; /* (pieces) */
};

static struct weeks look_at(const struct plan_column *column, const double *outputs, double first, double last)
{
    const struct calendar *c = column->own;
    size_t members = members_of(column), hours = c->a_day > 1 ? ND_HOURS : 1;
    struct weeks w = {.pieces = ND_WEEKDAYS * hours, .cells = c->a_day / (double)hours};
    for (size_t j = 0; j < members; j++) {
        const double *own = member_at(column, outputs, j);
        struct shares s = nd_date_shares(column, own);
        double mass = weight_of(column, own) * exp(nd_date_log_weeks(column, own, first, last));
        for (size_t i = 0; i < w.pieces; i++)
            w.share[i] += mass * s.day[i / hours] * (hours > 1 ? s.hour[i % hours] : 1);
    }
    return w;
}

/* P(first <= week <= last). */
static double mass_of(const struct plan_column *column, const double *outputs, double first, double last)
{
    double sum = 0;
    if (first > last) return 0;
    for (size_t j = 0; j < members_of(column); j++) {
        const double *own = member_at(column, outputs, j);
        sum += weight_of(column, own) * exp(nd_date_log_weeks(column, own, first, last));
    }
    return sum;
}

static size_t likeliest(const struct weeks *w)
{
    size_t best = 0;
    for (size_t i = 1; i < w->pieces; i++)
        if (w->share[i] > w->share[best]) best = i;
    return best;
}

static double clamp(double x, double least, double most)
{
    return fmin(fmax(x, least), most);
}

/* ---- what stands for the distribution ---------------------------------------------------------------------------- */

/* The first cell of a week at which the sum of its shares reaches the goal, else the last. */
static double walk_to(const struct weeks *w, double goal)
{
    double sum = 0;
    for (size_t i = 0; i < w->pieces; sum += w->share[i++]) {
        if (sum + w->share[i] < goal) continue;
        double cell = w->share[i] > 0 ? ceil((goal - sum) / w->share[i] * w->cells) - 1 : 0;
        return (double)i * w->cells + clamp(cell, 0, w->cells - 1);
    }
    return (double)w->pieces * w->cells - 1;
}

double nd_mixed_date_quantile(const struct plan_column *column, const double *outputs, double p)
{
    const struct calendar *c = column->own;
    double low = c->first, high = c->last;
    while (low < high) { /* the first week whose end has p before it */
        double middle = floor((low + high) / 2);
        if (mass_of(column, outputs, c->first, middle) >= p)
            high = middle;
        else
            low = middle + 1;
    }
    struct weeks week = look_at(column, outputs, low, low);
    double before = mass_of(column, outputs, c->first, low - 1);
    return (low * c->week + walk_to(&week, p - before)) / c->scale;
}

/* The highest share of a piece that a week has. */
static double height_of(const struct plan_column *column, const double *outputs, double week)
{
    struct weeks w = look_at(column, outputs, week, week);
    return w.share[likeliest(&w)];
}

/* Uphill from a week, by steps that become smaller. */
static double climb(const struct plan_column *column, const double *outputs, double week, double *height)
{
    const struct calendar *c = column->own;
    double step = 64;
    *height = height_of(column, outputs, week);
    while (step >= 1) {
        double sides[] = {clamp(week - step, c->first, c->last), clamp(week + step, c->first, c->last)};
        bool higher = false;
        for (size_t i = 0; i < 2 && !higher; i++) {
            double there = height_of(column, outputs, sides[i]);
            higher = there > *height;
            if (!higher) continue;
            week = sides[i];
            *height = there;
        }
        if (!higher) step /= 2;
    }
    return week;
}

/* From the mode of each member. */
double nd_mixed_date_mode(const struct plan_column *column, const double *outputs)
{
    const struct calendar *c = column->own;
    double best = 0, highest = -HUGE_VAL, height;
    for (size_t j = 0; j < members_of(column); j++) {
        double cell = nd_date_mode(column, member_at(column, outputs, j)) * c->scale;
        double week = climb(column, outputs, floor(cell / c->week), &height);
        if (height > highest) best = week;
        highest = fmax(highest, height);
    }
    struct weeks w = look_at(column, outputs, best, best);
    return (best * c->week + (double)likeliest(&w) * w.cells) / c->scale;
}

/* ---- how unusual ------------------------------------------------------------------------------------------------- */

/* What of the weeks first…last lies in cells of at most probability p each. */
static double unlikely_part(const struct plan_column *column, const double *outputs, double first, double last,
                            double p)
{
    struct weeks w = look_at(column, outputs, first, last);
    double cells = w.cells * (last - first + 1), sum = 0;
    for (size_t i = 0; i < w.pieces; i++)
        if (w.share[i] <= p * cells) sum += w.share[i];
    return sum;
}

/* As of one network (date_weeks.c). */
double nd_mixed_date_tail(const struct plan_column *column, const double *outputs, double x)
{
    enum { STEPS_MOST = 4000 };
    const struct calendar *c = column->own;
    double week = floor(round(x * c->scale) / c->week), first = week, last = week, total = 0;
    double p = exp(nd_mixed_date_log_density(column, outputs, x) + c->log_parts);
    for (size_t j = 0; j < members_of(column); j++) nd_date_reach(column, member_at(column, outputs, j), &first, &last);
    double step = ceil((last - first + 1) / STEPS_MOST), here = mass_of(column, outputs, week, week);
    size_t steps = last >= first ? (size_t)((last - first) / step) + 1 : 0;
    for (size_t w = 0; w < steps; w++) {
        double begin = first + (double)w * step;
        total += unlikely_part(column, outputs, begin, fmin(begin + step - 1, last), p * (1 + 1e-9));
    }
    if (mass_of(column, outputs, first, first) <= here) total += mass_of(column, outputs, c->first, first - 1);
    if (mass_of(column, outputs, last, last) <= here) total += mass_of(column, outputs, last + 1, c->last);
    return fmin(fmax(total, p), 1);
}
