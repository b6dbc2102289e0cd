#include "model/date_weeks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "data/date_text.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/normal.h"

/* What outputs beyond count as; the least scale, in days. */
#define MEAN_MOST 1e3
#define LOG_SCALE_LEAST (-20.0)
#define LOG_SCALE_MOST 8.0
#define FLOOR_DAYS 2.0

struct calendar nd_calendar(const struct column_spec *spec)
{
    struct calendar c = {.spec = *spec, .scale = spec->sd / spec->cell, .a_day = ND_DAY / spec->cell};
    c.week = 7 * c.a_day;
    c.first = fmax(ceil((ND_DATE_LEAST - spec->mean) / ND_WEEK), ceil(-ND_CELLS_MOST / c.week));
    c.last = fmin(floor((ND_DATE_END - spec->mean) / ND_WEEK), floor(ND_CELLS_MOST / c.week)) - 1;
    c.floor = FLOOR_DAYS * c.a_day / c.scale;
    c.log_parts = log(spec->cell / spec->step);
    c.log_hour = log(c.a_day / ND_HOURS);
    return c;
}

struct moment nd_moment(const struct calendar *c, double n)
{
    double week = floor(n / c->week), of_week = n - week * c->week;
    size_t weekday = (size_t)(of_week / c->a_day);
    return (struct moment){n, week, weekday, (size_t)(of_week - (double)weekday * c->a_day)};
}

size_t nd_hour(const struct calendar *c, size_t of_day)
{
    return of_day * ND_HOURS / (size_t)c->a_day;
}

const char *nd_date_unit(const struct column_spec *spec)
{
    if (spec->step == ND_DAY) return "day";
    if (spec->step == 3600) return "hour";
    if (spec->step == 60) return "minute";
    return spec->step == 1 ? "second" : "fraction of a second";
}

void nd_date_expected(const struct column_spec *spec, char *text, size_t size)
{
    const struct calendar c = nd_calendar(spec);
    char first[ND_DATE_SIZE], last[ND_DATE_SIZE];
    nd_date_write("YYYY-MM-DD", spec->mean + c.first * ND_WEEK, first);
    nd_date_write("YYYY-MM-DD", spec->mean + (c.last + 1) * ND_WEEK - ND_DAY, last);
    snprintf(text, size, "a date like %s to the %s, from %s to %s", spec->form, nd_date_unit(spec), first, last);
}

/* ---- weeks ------------------------------------------------------------------------------------------------------- */

static double clamp(double x, double least, double most) /* NaN stays */
{
    if (x < least) return least;
    return x > most ? most : x;
}

struct gaussian nd_date_gaussian(const struct plan_column *column, const double *outputs, size_t i)
{
    const struct calendar *c = column->own;
    double spread = exp(clamp(outputs[2 * column->components + i], LOG_SCALE_LEAST, LOG_SCALE_MOST));
    return (struct gaussian){clamp(outputs[column->components + i], -MEAN_MOST, MEAN_MOST), spread, spread + c->floor};
}

/* Where a week begins, in the plan's units; the first has all before it. */
static double begin_of(const struct calendar *c, double week)
{
    if (week <= c->first) return -HUGE_VAL;
    return week > c->last ? HUGE_VAL : week * c->week / c->scale;
}

/* log of a component's probability of the weeks first…last. */
static double log_component(const struct calendar *c, const struct gaussian *g, double first, double last)
{
    double low = begin_of(c, first), high = begin_of(c, last + 1);
    return nd_normal_log_between((low - g->mean) / g->scale, (high - g->mean) / g->scale);
}

double nd_date_log_weeks(const struct plan_column *column, const double *outputs, double first, double last)
{
    struct log_sum joint = {-HUGE_VAL, 0};
    if (first > last) return -HUGE_VAL;
    for (size_t i = 0; i < column->components; i++) {
        struct gaussian g = nd_date_gaussian(column, outputs, i);
        nd_add_term(&joint, outputs[i] + log_component(column->own, &g, first, last));
    }
    return joint.most == -HUGE_VAL ? -HUGE_VAL : nd_log_total(&joint) - nd_log_sum(outputs, column->components);
}

/* ---- within a week ----------------------------------------------------------------------------------------------- */

static void soften(const double *logits, size_t count, double *shares)
{
    double total = nd_log_sum(logits, count);
    for (size_t i = 0; i < count; i++) shares[i] = exp(logits[i] - total);
}

struct shares nd_date_shares(const struct plan_column *column, const double *outputs)
{
    const struct calendar *c = column->own;
    struct shares s = {.per_hour = c->a_day / ND_HOURS};
    soften(outputs + 3 * column->components, ND_WEEKDAYS, s.day);
    if (c->a_day > 1) soften(outputs + 3 * column->components + ND_WEEKDAYS, ND_HOURS, s.hour);
    return s;
}

/* The cells first…last of a walk over a week: adds up shares until they reach a sum, and stops at that cell. */
struct walk {
    const struct calendar *c;
    const struct shares *s;
    double first, last; /* cells of the week */
    double sum;         /* so far */
};

/* The cells a…b of one hour, or one day without hours, of a share each; true: the sum is reached, *cell is where. */
static bool pass(struct walk *walk, double share, double a, double b, double goal, double *cell)
{
    double cells = b - a + 1;
    if (walk->sum + share * cells < goal) {
        walk->sum += share * cells;
        *cell = b;
        return false;
    }
    *cell = share > 0 ? clamp(a + ceil((goal - walk->sum) / share) - 1, a, b) : a;
    return true;
}

/* The first cell at which the sum reaches the goal, else the last; walk.sum is that of the cells before. */
static double walk_to(struct walk *walk, double goal)
{
    double piece = walk->c->a_day > 1 ? walk->s->per_hour : 1, cell = walk->first;
    walk->sum = 0;
    for (double at = walk->first; at <= walk->last;) {
        size_t number = (size_t)(at / piece), day = (size_t)(at / walk->c->a_day);
        double end = fmin(((double)number + 1) * piece - 1, walk->last), share = walk->s->day[day];
        if (walk->c->a_day > 1) share *= walk->s->hour[number % ND_HOURS] / piece;
        if (pass(walk, share, at, end, goal, &cell)) return cell;
        at = end + 1;
    }
    return cell;
}

/* P(cell of the week within first…last). */
static double share_of_week(const struct calendar *c, const struct shares *s, double first, double last)
{
    struct walk walk = {c, s, first, last, 0};
    walk_to(&walk, HUGE_VAL);
    return walk.sum;
}

/* ---- the density ------------------------------------------------------------------------------------------------- */

/* Logs of what the weekdays' and the hours' exponentials sum to. */
struct log_totals {
    double day, hour;
};

static struct log_totals log_totals_of(const struct plan_column *column, const double *outputs)
{
    const struct calendar *c = column->own;
    const double *day = outputs + 3 * column->components;
    return (struct log_totals){nd_log_sum(day, ND_WEEKDAYS),
                               c->a_day == 1 ? 0 : nd_log_sum(day + ND_WEEKDAYS, ND_HOURS)};
}

/* log p of a cell, whose week's probability is log_week. */
static double log_density_with(const struct plan_column *column, const double *outputs, const struct log_totals *total,
                               const struct moment *m, double log_week)
{
    const struct calendar *c = column->own;
    const double *day = outputs + 3 * column->components, *hour = day + ND_WEEKDAYS;
    double sum = log_week + day[m->weekday] - total->day - c->log_parts;
    if (c->a_day == 1) return sum;
    return sum + hour[nd_hour(c, m->of_day)] - total->hour - c->log_hour;
}

double nd_date_log_density(const struct plan_column *column, const double *outputs, double x)
{
    const struct calendar *c = column->own;
    struct log_totals total = log_totals_of(column, outputs);
    struct moment m = nd_moment(c, round(x * c->scale));
    return log_density_with(column, outputs, &total, &m, nd_date_log_weeks(column, outputs, m.week, m.week));
}

/* What takes the time is the week, which is computed once for cells of one week that follow each other. */
void nd_date_log_densities(const struct plan_column *column, const double *outputs, const float *values, size_t count,
                           size_t stride, double *log_density)
{
    const struct calendar *c = column->own;
    struct log_totals total = log_totals_of(column, outputs);
    double week = NAN, log_week = NAN;
    for (size_t i = 0; i < count; i++) {
        struct moment m = nd_moment(c, round((double)values[i] * c->scale));
        if (isnan(week) || (m.week != week && !ND_FAULT(FAULT_FIRST_WEEK_KEPT)))
            log_week = nd_date_log_weeks(column, outputs, m.week, m.week);
        week = m.week;
        log_density[i * stride] = log_density_with(column, outputs, &total, &m, log_week);
    }
}

/* Adds the loss of a softmax to another; its gradient. */
static double softmax_loss(const double *logits, size_t count, size_t chosen, double *gradient)
{
    double total = nd_log_sum(logits, count);
    for (size_t i = 0; i < count; i++) gradient[i] = exp(logits[i] - total) - (i == chosen);
    return total - logits[chosen];
}

/* φ(z) / P, where log P is known. */
static double relative_height(double z, double log_p)
{
    return isinf(z) ? 0 : exp(-0.5 * z * z - 0.91893853320467274178 - log_p);
}

/* The loss of a week, and its gradient with respect to the mixture. */
static double week_loss(const struct plan_column *column, const double *outputs, double week, double *gradient)
{
    const struct calendar *c = column->own;
    size_t count = column->components;
    for (size_t i = 0; i < count; i++) {
        struct gaussian g = nd_date_gaussian(column, outputs, i);
        double low = (begin_of(c, week) - g.mean) / g.scale, high = (begin_of(c, week + 1) - g.mean) / g.scale;
        double log_p = nd_normal_log_between(low, high), mean = outputs[count + i], spread = outputs[2 * count + i];
        double at_low = relative_height(low, log_p), at_high = relative_height(high, log_p);
        double stretch = (isinf(low) ? 0 : low * at_low) - (isinf(high) ? 0 : high * at_high);
        gradient[i] = outputs[i] + log_p;
        gradient[count + i] = fabs(mean) > MEAN_MOST ? 0 : -(at_low - at_high) / g.scale;
        gradient[2 * count + i] =
            spread < LOG_SCALE_LEAST || spread > LOG_SCALE_MOST ? 0 : -stretch * g.spread / g.scale;
    }
    return nd_mixture_loss(outputs, count, gradient);
}

double nd_date_loss_gradient(const struct plan_column *column, const double *outputs, double x, double *gradient)
{
    const struct calendar *c = column->own;
    size_t days = 3 * column->components, hours = days + ND_WEEKDAYS;
    struct moment m = nd_moment(c, round(x * c->scale));
    double loss = week_loss(column, outputs, m.week, gradient) + c->log_parts;
    loss += softmax_loss(outputs + days, ND_WEEKDAYS, m.weekday, gradient + days);
    if (c->a_day == 1) return loss;
    loss += softmax_loss(outputs + hours, ND_HOURS, nd_hour(c, m.of_day), gradient + hours);
    return loss + c->log_hour;
}

/* ---- ranges and draws -------------------------------------------------------------------------------------------- */

/* A range of cells: what of it lies in its first week, in the whole ones, in its last. */
struct pieces {
    struct moment low, high;
    double log_mass[3];
    double first[3], last[3]; /* cells of the week */
};

/* False: no cell lies between the two, as range made them. */
static bool cut(const struct plan_column *column, const double *outputs, const struct shares *s, double low,
                double high, struct pieces *p)
{
    const struct calendar *c = column->own;
    double least = fmax(ceil(low * c->scale), c->first * c->week), end = c->week - 1;
    double most = fmin(floor(high * c->scale), (c->last + 1) * c->week - 1);
    if (!(least <= most)) return false;
    p->low = nd_moment(c, least);
    p->high = nd_moment(c, most);
    bool same = p->low.week == p->high.week;
    double first = least - p->low.week * c->week, last = most - p->high.week * c->week;
    const double from[] = {first, 0, 0}, to[] = {same ? last : end, end, last};
    memcpy(p->first, from, sizeof from);
    memcpy(p->last, to, sizeof to);
    p->log_mass[0] =
        nd_date_log_weeks(column, outputs, p->low.week, p->low.week) + log(share_of_week(c, s, first, to[0]));
    p->log_mass[1] = nd_date_log_weeks(column, outputs, p->low.week + 1, p->high.week - 1);
    p->log_mass[2] = nd_date_log_weeks(column, outputs, p->high.week, p->high.week) + log(share_of_week(c, s, 0, last));
    if (same) p->log_mass[2] = -HUGE_VAL;
    return true;
}

double nd_date_log_between(const struct plan_column *column, const double *outputs, double low, double high)
{
    struct shares s = nd_date_shares(column, outputs);
    struct pieces p;
    if (!cut(column, outputs, &s, low, high, &p)) return -HUGE_VAL;
    double total = nd_log_sum(p.log_mass, 3);
    return isnan(total) ? -HUGE_VAL : fmin(total, 0);
}

static double uniform(uint32_t word)
{
    return ((double)word + 0.5) * 0x1p-32;
}

/* One of the weeks first…last, of words 1 and 2: a component, and its quantile. */
static double draw_week(const struct plan_column *column, const double *outputs, double first, double last,
                        const uint32_t words[4])
{
    const struct calendar *c = column->own;
    double term[ND_COMPONENTS_MOST];
    for (size_t i = 0; i < column->components; i++) {
        struct gaussian g = nd_date_gaussian(column, outputs, i);
        term[i] = outputs[i] + log_component(c, &g, first, last);
    }
    struct gaussian g =
        nd_date_gaussian(column, outputs, nd_pick_from_logits(term, column->components, uniform(words[1])));
    double low = (begin_of(c, first) - g.mean) / g.scale, high = (begin_of(c, last + 1) - g.mean) / g.scale;
    double x = g.mean + g.scale * nd_normal_quantile_between(low, high, uniform(words[2]));
    return clamp(floor(x * c->scale / c->week), first, last);
}

/* Word 0 tells the piece of the range, word 3 the cell of the week. */
double nd_date_sample_between(const struct plan_column *column, const double *outputs, double low, double high,
                              const uint32_t words[4])
{
    const struct calendar *c = column->own;
    struct shares s = nd_date_shares(column, outputs);
    struct pieces p;
    if (!cut(column, outputs, &s, low, high, &p)) return NAN;
    size_t piece = nd_pick_from_logits(p.log_mass, 3, uniform(words[0]));
    double week = piece == 0 ? p.low.week : p.high.week;
    if (piece == 1) week = draw_week(column, outputs, p.low.week + 1, p.high.week - 1, words);
    double total = share_of_week(c, &s, p.first[piece], p.last[piece]);
    struct walk walk = {c, &s, p.first[piece], p.last[piece], 0};
    return (week * c->week + walk_to(&walk, uniform(words[3]) * total)) / c->scale;
}

double nd_date_sample(const struct plan_column *column, const double *outputs, const uint32_t words[4])
{
    return nd_date_sample_between(column, outputs, -HUGE_VAL, HUGE_VAL, words);
}

/* ---- what stands for the distribution ---------------------------------------------------------------------------- */

/* The mean of a component's week: by steps over the weeks where it is narrow; where it is wide, the mean of whole parts
 * is that of the numbers less a half. */
static double mean_week(const struct calendar *c, const struct gaussian *g)
{
    double centre = g->mean * c->scale / c->week, spread = g->scale * c->scale / c->week, sum = 0, mass = 0;
    centre = clamp(centre, c->first, c->last + 1);
    if (spread > 3) return clamp(centre - 0.5, c->first, c->last);
    double first = fmax(floor(centre - 9 * spread), c->first), last = fmin(floor(centre + 9 * spread), c->last);
    size_t weeks = last >= first ? (size_t)(last - first) + 1 : 0; /* some 60 at most */
    for (size_t w = 0; w < weeks; w++) {
        double week = first + (double)w, p = exp(log_component(c, g, week, week));
        sum += p * week;
        mass += p;
    }
    return mass > 0 ? sum / mass : clamp(floor(centre), c->first, c->last);
}

double nd_date_mean(const struct plan_column *column, const double *outputs)
{
    const struct calendar *c = column->own;
    struct shares s = nd_date_shares(column, outputs);
    double weights = nd_log_sum(outputs, column->components), week = 0, of_week = 0;
    for (size_t i = 0; i < column->components; i++) {
        struct gaussian g = nd_date_gaussian(column, outputs, i);
        week += exp(outputs[i] - weights) * mean_week(c, &g);
    }
    for (size_t d = 0; d < ND_WEEKDAYS; d++) of_week += (double)d * c->a_day * s.day[d];
    for (size_t h = 0; h < ND_HOURS && c->a_day > 1; h++) of_week += s.hour[h] * (((double)h + 0.5) * s.per_hour - 0.5);
    double parts = c->spec.cell - c->spec.step; /* the last value of a cell less the first */
    return c->spec.mean + c->spec.cell * (week * c->week + of_week) + 0.5 * parts;
}

/* P(week <= last). */
static double weeks_up_to(const struct plan_column *column, const double *outputs, double last)
{
    const struct calendar *c = column->own;
    return last < c->first ? 0 : exp(nd_date_log_weeks(column, outputs, c->first, last));
}

double nd_date_quantile(const struct plan_column *column, const double *outputs, double p)
{
    const struct calendar *c = column->own;
    struct shares s = nd_date_shares(column, outputs);
    double low = c->first, high = c->last;
    while (low < high) { /* the first week whose end has p before it */
        double middle = floor((low + high) / 2);
        if (weeks_up_to(column, outputs, middle) >= p)
            high = middle;
        else
            low = middle + 1;
    }
    double before = weeks_up_to(column, outputs, low - 1), mass = exp(nd_date_log_weeks(column, outputs, low, low));
    struct walk walk = {c, &s, 0, c->week - 1, 0};
    return (low * c->week + walk_to(&walk, mass > 0 ? (p - before) / mass : 0)) / c->scale;
}

/* The likeliest week that is uphill from a component's mean, by steps that become smaller. */
static double climb(const struct plan_column *column, const double *outputs, const struct gaussian *g, double *height)
{
    const struct calendar *c = column->own;
    double week = clamp(floor(g->mean * c->scale / c->week), c->first, c->last);
    double step = fmax(1, floor(g->scale * c->scale / c->week / 2));
    *height = nd_date_log_weeks(column, outputs, week, week);
    while (step >= 1) {
        double sides[] = {clamp(week - step, c->first, c->last), clamp(week + step, c->first, c->last)};
        bool higher = false;
        for (size_t i = 0; i < 2 && !higher; i++) {
            double there = nd_date_log_weeks(column, outputs, sides[i], sides[i]);
            higher = there > *height;
            if (!higher) continue;
            week = sides[i];
            *height = there;
        }
        if (!higher) step = step > 1 ? floor(step / 2) : 0;
    }
    return week;
}

static size_t largest_of(const double *shares, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (shares[i] > shares[best]) best = i;
    return best;
}

double nd_date_mode(const struct plan_column *column, const double *outputs)
{
    const struct calendar *c = column->own;
    struct shares s = nd_date_shares(column, outputs);
    double best = 0, highest = -HUGE_VAL, height;
    for (size_t i = 0; i < column->components; i++) {
        struct gaussian g = nd_date_gaussian(column, outputs, i);
        double week = climb(column, outputs, &g, &height);
        if (height > highest) best = week;
        highest = fmax(highest, height);
    }
    double cell = best * c->week + (double)largest_of(s.day, ND_WEEKDAYS) * c->a_day;
    if (c->a_day > 1) cell += (double)largest_of(s.hour, ND_HOURS) * s.per_hour;
    return cell / c->scale;
}

/* ---- how unusual ------------------------------------------------------------------------------------------------- */

/* P(share of the cell of a week <= limit). */
static double unlikely_share(const struct calendar *c, const struct shares *s, double limit)
{
    double sum = 0;
    for (size_t d = 0; d < ND_WEEKDAYS; d++) {
        if (c->a_day == 1 && s->day[d] <= limit) sum += s->day[d];
        for (size_t h = 0; h < ND_HOURS && c->a_day > 1; h++)
            if (s->day[d] * s->hour[h] / s->per_hour <= limit) sum += s->day[d] * s->hour[h];
    }
    return sum;
}

void nd_date_reach(const struct plan_column *column, const double *outputs, double *first, double *last)
{
    const struct calendar *c = column->own;
    for (size_t i = 0; i < column->components; i++) {
        struct gaussian g = nd_date_gaussian(column, outputs, i);
        *first = fmin(*first, floor((g.mean - 8 * g.scale) * c->scale / c->week));
        *last = fmax(*last, floor((g.mean + 8 * g.scale) * c->scale / c->week));
    }
    *first = clamp(*first, c->first, c->last);
    *last = clamp(*last, c->first, c->last);
}

/* Week by week, or by a few at a time where they are many: those are about equally likely.  Equal ones count, however
 * rounding tells them apart. */
double nd_date_tail(const struct plan_column *column, const double *outputs, double x)
{
    enum { STEPS_MOST = 4000 };
    const struct calendar *c = column->own;
    struct shares s = nd_date_shares(column, outputs);
    struct moment m = nd_moment(c, round(x * c->scale));
    double log_p = nd_date_log_density(column, outputs, x) + c->log_parts, sum = exp(log_p);
    double first = m.week, last = m.week;
    nd_date_reach(column, outputs, &first, &last);
    double step = ceil((last - first + 1) / STEPS_MOST), total = 0;
    size_t steps = last >= first ? (size_t)((last - first) / step) + 1 : 0;
    for (size_t w = 0; w < steps; w++) {
        double week = first + (double)w * step;
        double end = fmin(week + step - 1, last), log_mass = nd_date_log_weeks(column, outputs, week, end);
        if (log_mass == -HUGE_VAL) continue;
        total += exp(log_mass) * unlikely_share(c, &s, exp(log_p - log_mass + log(end - week + 1)) * (1 + 1e-9));
    }
    /* What lies beyond counts where x is farther out, or likelier than all there. */
    if (nd_date_log_weeks(column, outputs, first, first) <= nd_date_log_weeks(column, outputs, m.week, m.week))
        total += exp(nd_date_log_weeks(column, outputs, c->first, first - 1));
    if (nd_date_log_weeks(column, outputs, last, last) <= nd_date_log_weeks(column, outputs, m.week, m.week))
        total += exp(nd_date_log_weeks(column, outputs, last + 1, c->last));
    return fmin(fmax(total, sum), 1);
}
