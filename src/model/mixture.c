#include "model/mixture.h"

#include "base/fault.h"

static const double sqrt_half = 0.70710678118654752440;
static const double half_log_two_pi = 0.91893853320467274178;

struct mixture {
    size_t count;
    const double *mean;                    /* (count) */
    double weight[ND_COMPONENTS_MOST];     /* (count), they sum to one */
    double scale[ND_COMPONENTS_MOST];      /* (count) */
    double log_height[ND_COMPONENTS_MOST]; /* (count): log of weight times the component's density at its mean */
    double least, most;                    /* of the means: what lies outside slopes down to zero */
};

static void read_mixture(const struct plan_column *column, const double *outputs, struct mixture *m)
{
    double largest = outputs[0], total = 0;
    m->count = column->components;
    m->mean = outputs + m->count;
    m->least = m->most = m->mean[0];
    for (size_t c = 1; c < m->count; c++) largest = fmax(largest, outputs[c]);
    for (size_t c = 0; c < m->count; c++) total += exp(outputs[c] - largest);
    for (size_t c = 0; c < m->count; c++) {
        double log_weight = outputs[c] - largest - log(total);
        m->weight[c] = exp(log_weight);
        m->scale[c] = nd_component_spread(outputs, m->count, c) + column->floor;
        m->log_height[c] = log_weight - log(m->scale[c]) - half_log_two_pi;
        m->least = fmin(m->least, m->mean[c]);
        m->most = fmax(m->most, m->mean[c]);
    }
}

/* log p(x); *slope, which may be NULL, has the sign of its derivative. */
static double log_density_at(const struct mixture *m, double x, double *slope)
{
    double term[ND_COMPONENTS_MOST], largest = -HUGE_VAL, sum = 0, pull = 0;
    for (size_t c = 0; c < m->count; c++) {
        double z = (x - m->mean[c]) / m->scale[c];
        term[c] = m->log_height[c] - 0.5 * z * z;
        largest = fmax(largest, term[c]);
    }
    if (slope) *slope = m->least - x;
    if (largest == -HUGE_VAL) return largest; /* too far from all for a double */
    for (size_t c = 0; c < m->count; c++) {
        double share = exp(term[c] - largest);
        sum += share;
        pull += share * ((m->mean[c] - x) / m->scale[c]) / m->scale[c];
    }
    if (slope) *slope = pull;
    return largest + log(sum);
}

/* P(X < x) and P(X > x), each accurate where it is small. */
static double mass_below(const struct mixture *m, double x)
{
    double sum = 0;
    for (size_t c = 0; c < m->count; c++) sum += m->weight[c] * 0.5 * erfc((m->mean[c] - x) / m->scale[c] * sqrt_half);
    return sum;
}

static double mass_above(const struct mixture *m, double x)
{
    double sum = 0;
    for (size_t c = 0; c < m->count; c++) sum += m->weight[c] * 0.5 * erfc((x - m->mean[c]) / m->scale[c] * sqrt_half);
    return sum;
}

/* P(a < X < b).  Each component is measured from the side on which its tails are small. */
static double mass_between(const struct mixture *m, double a, double b)
{
    double sum = 0;
    for (size_t c = 0; c < m->count; c++) {
        double low = (a - m->mean[c]) / m->scale[c] * sqrt_half, high = (b - m->mean[c]) / m->scale[c] * sqrt_half;
        sum += m->weight[c] * 0.5 * (low > 0 ? erfc(low) - erfc(high) : erfc(-high) - erfc(-low));
    }
    return sum;
}

double nd_mixture_mean(const struct plan_column *column, const double *outputs)
{
    struct mixture m;
    double sum = 0;
    read_mixture(column, outputs, &m);
    for (size_t c = 0; c < m.count; c++) sum += m.weight[c] * m.mean[c];
    return sum;
}

/* ---- quantiles --------------------------------------------------------------------------------------------------- */

enum { STEPS_MOST = 200 };

/* An interval that holds the quantile: so many deviations around every mean that even the least p lies inside. */
static void bracket(const struct mixture *m, double *low, double *high)
{
    const double deviations = 40;
    *low = m->least;
    *high = m->most;
    for (size_t c = 0; c < m->count; c++) {
        *low = fmin(*low, m->mean[c] - deviations * m->scale[c]);
        *high = fmax(*high, m->mean[c] + deviations * m->scale[c]);
    }
}

/* Newton's step where it stays inside the bracket, else its middle.  The smaller of the two tails is compared, so that
 * p close to one is as exact as p close to zero. */
double nd_mixture_quantile(const struct plan_column *column, const double *outputs, double p)
{
    struct mixture m;
    double low, high;
    read_mixture(column, outputs, &m);
    bracket(&m, &low, &high);
    double x = fmin(fmax(nd_mixture_mean(column, outputs), low), high);
    for (int step = 0; step < STEPS_MOST; step++) {
        double excess = p < 0.5 ? mass_below(&m, x) - p : (1 - p) - mass_above(&m, x);
        if (excess == 0) return x;
        if (excess < 0)
            low = x;
        else
            high = x;
        double next = x - excess / exp(log_density_at(&m, x, NULL));
        if (!(next > low && next < high)) next = low + (high - low) / 2;
        if (next == x || next == low || next == high) return next;
        x = next;
    }
    return x;
}

/* ---- critical points --------------------------------------------------------------------------------------------- */

/* Beyond so many scales a component is no longer felt; within them a quarter of a scale is a small step. */
static const double reach = 8, fraction = 0.25;

/* The next place to look at, right of x: near a component a fraction of its scale, else the nearest one's edge.  All
 * extremes of a mixture's density lie between its means. */
static double next_place(const struct mixture *m, double x)
{
    double step = m->most - x;
    for (size_t c = 0; c < m->count; c++) {
        double edge = m->mean[c] - reach * m->scale[c];
        if (x > m->mean[c] + reach * m->scale[c]) continue;
        step = fmin(step, fmax(fraction * m->scale[c], edge - x));
    }
    return fmax(x + step, nextafter(x, HUGE_VAL));
}

/* The extreme between a and b, where the slope has the sign of `slope` at a and another at b. */
static double find_extreme(const struct mixture *m, double a, double b, double slope)
{
    for (int step = 0; step < STEPS_MOST; step++) {
        double middle = a + (b - a) / 2, here;
        if (middle <= a || middle >= b) break;
        log_density_at(m, middle, &here);
        if ((here > 0) == (slope > 0))
            a = middle;
        else
            b = middle;
    }
    return a;
}

/* A walk over the density from the least mean to the largest, in pieces on which it rises or falls throughout. */
struct walk {
    const struct mixture *m;
    double x, slope;         /* where the last piece ended */
    double ahead, log_ahead; /* an end of a piece that is known already, behind an extreme */
    double slope_ahead;
    bool split;
};

/* The next piece's end, and log p there; false behind the last. */
static bool next_piece(struct walk *walk, double *end, double *log_density)
{
    const struct mixture *m = walk->m;
    if (walk->split) {
        walk->split = false;
        walk->x = *end = walk->ahead;
        walk->slope = walk->slope_ahead;
        *log_density = walk->log_ahead;
        return true;
    }
    if (!(walk->x < m->most)) return false;
    double next = fmin(next_place(m, walk->x), m->most), slope;
    double there = log_density_at(m, next, &slope);
    if ((slope > 0) == (walk->slope > 0)) {
        walk->x = *end = next;
        walk->slope = slope;
        *log_density = there;
        return true;
    }
    walk->split = true;
    walk->ahead = next;
    walk->log_ahead = there;
    walk->slope_ahead = slope;
    *end = find_extreme(m, walk->x, next, walk->slope);
    *log_density = log_density_at(m, *end, NULL);
    return true;
}

static struct walk begin_walk(const struct mixture *m)
{
    struct walk walk = {.m = m, .x = m->least};
    log_density_at(m, m->least, &walk.slope);
    return walk;
}

double nd_mixture_mode(const struct plan_column *column, const double *outputs)
{
    struct mixture m;
    read_mixture(column, outputs, &m);
    struct walk walk = begin_walk(&m);
    double best = m.least, highest = log_density_at(&m, best, NULL), x, here;
    while (next_piece(&walk, &x, &here)) {
        if (here <= highest) continue;
        best = x;
        highest = here;
    }
    return best;
}

/* ---- tail probabilities ------------------------------------------------------------------------------------------ */

/* Where log p crosses level between a, where it is at most that, and b, where it is more. */
static double find_crossing(const struct mixture *m, double a, double b, double level)
{
    for (int step = 0; step < STEPS_MOST; step++) {
        double middle = a + (b - a) / 2;
        if (middle == a || middle == b) break;
        if (log_density_at(m, middle, NULL) <= level)
            a = middle;
        else
            b = middle;
    }
    return a;
}

/* The crossing outside the means, on the side of `from` that `direction` (-1 or 1) points to. */
static double find_outer(const struct mixture *m, double from, double direction, double level)
{
    double distance = 1e-3;
    if (log_density_at(m, from, NULL) <= level) return from;
    while (log_density_at(m, from + direction * distance, NULL) > level) distance *= 2;
    return find_crossing(m, from + direction * distance, from, level);
}

/* The probability of those parts between the means where log p is at most level. */
static double inner_mass(const struct mixture *m, double level)
{
    struct walk walk = begin_walk(m);
    double x = m->least, start = x, sum = 0, next, there;
    bool below = log_density_at(m, x, NULL) <= level;
    while (next_piece(&walk, &next, &there)) {
        bool falls = there <= level;
        if (below && !falls) sum += mass_between(m, start, find_crossing(m, x, next, level));
        if (!below && falls) start = find_crossing(m, next, x, level);
        below = falls;
        x = next;
    }
    return below ? sum + mass_between(m, start, x) : sum;
}

double nd_mixture_tail(const struct plan_column *column, const double *outputs, double x)
{
    struct mixture m;
    read_mixture(column, outputs, &m);
    double level = log_density_at(&m, x, NULL);
    if (!isfinite(level)) return level < 0 ? 0 : NAN;
    double sum = mass_below(&m, find_outer(&m, m.least, -1, level)) + inner_mass(&m, level);
    if (!ND_FAULT(FAULT_TAIL_ONE_SIDE)) sum += mass_above(&m, find_outer(&m, m.most, 1, level));
    return fmin(sum, 1);
}
