#include "model/mixture.h"

#include <float.h>

#include "base/fault.h"
#include "model/monotone_map.h"

static const double sqrt_half = 0.70710678118654752440;
static const double half_log_two_pi = 0.91893853320467274178;

struct mixture {
    size_t count;                     /* Gaussians */
    const double *mean;               /* (count) */
    double weight[ND_MIXED_MOST];     /* (count); with those of the atoms they sum to one */
    double scale[ND_MIXED_MOST];      /* (count) */
    double log_height[ND_MIXED_MOST]; /* (count): log of weight times the component's density at its mean */
    double least, most;               /* of the means: what lies outside slopes down to zero */
    size_t atoms;
    double atom[ND_MIXED_MOST];         /* (atoms): where they lie */
    double atom_weight[ND_MIXED_MOST];  /* (atoms) */
    double atom_density[ND_MIXED_MOST]; /* (atoms): log p there */
};

static void read_mixture(const struct plan_column *column, const double *outputs, struct mixture *m)
{
    size_t components = column->components;
    double largest = outputs[0], total = 0;
    m->atoms = column->atoms;
    m->count = components - m->atoms;
    m->mean = outputs + column->stride + m->atoms;
    m->least = m->most = m->mean[0];
    for (size_t c = 1; c < components; c++) largest = fmax(largest, outputs[c]);
    for (size_t c = 0; c < components; c++) total += exp(outputs[c] - largest);
    for (size_t a = 0; a < m->atoms; a++) {
        double log_weight = outputs[a] - largest - log(total);
        m->atom[a] = nd_atom_place(column, a);
        m->atom_weight[a] = exp(log_weight);
        m->atom_density[a] = log_weight - log(nd_atom_width(column));
    }
    for (size_t c = 0; c < m->count; c++) {
        double log_weight = outputs[m->atoms + c] - largest - log(total);
        m->weight[c] = exp(log_weight);
        m->scale[c] = nd_component_spread(column, outputs, m->atoms + c) + column->floor;
        m->log_height[c] = log_weight - log(m->scale[c]) - half_log_two_pi;
        m->least = fmin(m->least, m->mean[c]);
        m->most = fmax(m->most, m->mean[c]);
    }
}

/* log p(x) where x is no atom; *slope, which may be NULL, has the sign of its derivative. */
static double log_density_at(const struct mixture *m, double x, double *slope)
{
    double term[ND_MIXED_MOST], largest = -HUGE_VAL, sum = 0, pull = 0;
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

/* The Gaussians' share of P(X < x) and P(X > x), each accurate where it is small. */
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

/* Their share of P(a < X < b).  Each component is measured from the side on which its tails are small. */
static double mass_between(const struct mixture *m, double a, double b)
{
    double sum = 0;
    for (size_t c = 0; c < m->count; c++) {
        double low = (a - m->mean[c]) / m->scale[c] * sqrt_half, high = (b - m->mean[c]) / m->scale[c] * sqrt_half;
        sum += m->weight[c] * 0.5 * (low > 0 ? erfc(low) - erfc(high) : erfc(-high) - erfc(-low));
    }
    return sum;
}

/* ---- means ------------------------------------------------------------------------------------------------------- */

/* In the model's units. */
static double mean_cell(const struct mixture *m)
{
    double sum = 0;
    for (size_t c = 0; c < m->count; c++) sum += m->weight[c] * m->mean[c];
    for (size_t a = 0; a < m->atoms; a++) sum += m->atom_weight[a] * m->atom[a];
    return sum;
}

/* ∫ value(z) φ(z; mean, scale) dz from a to b by Gauss and Legendre's rule with five points. */
static double integrate(const struct monotone_map *map, double mean, double scale, double a, double b)
{
    static const double node[] = {0, 0.53846931010568309104, 0.90617984593866399280};
    static const double weight[] = {0.56888888888888888889, 0.47862867049936646804, 0.23692688505618908751};
    double middle = 0.5 * (a + b), half = 0.5 * (b - a), sum = 0;
    for (int i = -2; i <= 2; i++) {
        double z = middle + half * (i < 0 ? -node[-i] : node[i]), t = (z - mean) / scale;
        sum += weight[i < 0 ? -i : i] * nd_map_value(map, z) * exp(-0.5 * t * t - half_log_two_pi);
    }
    return sum * half / scale;
}

/* A Gaussian's mean value: pieces that end at the map's knots and at quarters of the scale are smooth. */
static double mapped_mean(const struct monotone_map *map, double mean, double scale)
{
    const double reach = 8, piece = 0.25 * scale, end = mean + reach * scale;
    double sum = 0, a = mean - reach * scale;
    size_t knot = 0;
    do {
        while (knot < map->knots && map->z[knot] <= a) knot++;
        double b = fmin(a + piece, end);
        if (knot < map->knots) b = fmin(b, map->z[knot]);
        if (!(b > a)) return nd_map_value(map, mean); /* the last digit of a mean far away is wider than the piece */
        sum += integrate(map, mean, scale, a, b);
        a = b;
    } while (a < end);
    return sum;
}

double nd_mixture_mean(const struct plan_column *column, const double *outputs)
{
    struct mixture m;
    const struct column_spec *spec = column->own;
    double sum = 0;
    read_mixture(column, outputs, &m);
    if (!spec || !spec->map) return mean_cell(&m);
    if (ND_FAULT(FAULT_MEAN_OF_CELL)) return nd_map_value(spec->map, mean_cell(&m));
    for (size_t c = 0; c < m.count; c++)
        if (m.weight[c] > 0) sum += m.weight[c] * mapped_mean(spec->map, m.mean[c], m.scale[c]);
    for (size_t a = 0; a < m.atoms; a++) sum += m.atom_weight[a] * spec->atom[a];
    return sum;
}

/* ---- quantiles --------------------------------------------------------------------------------------------------- */

/* Newton's method takes some ten steps.  Where it does not, as between scales that differ by 1e60, every other step
 * halves the bracket, which closes on a double after at most 2100 halvings. */
enum { NEWTON_STEPS = 100, QUANTILE_STEPS = 4400 };

/* An interval that holds a quantile, and the probability of the atoms on its two sides. */
struct bracket {
    double low, high;
    double atoms_below, atoms_above;
};

/* So many deviations around every mean that even the least p lies inside. */
static struct bracket widest_bracket(const struct mixture *m)
{
    const double deviations = 40;
    struct bracket bracket = {.low = m->least, .high = m->most};
    for (size_t c = 0; c < m->count; c++) {
        bracket.low = fmin(bracket.low, m->mean[c] - deviations * m->scale[c]);
        bracket.high = fmax(bracket.high, m->mean[c] + deviations * m->scale[c]);
    }
    return bracket;
}

/* P(X < x) - p plus so much probability of atoms below, or the same from above: the smaller of the two tails is
 * compared, so that p close to one is as exact as p close to zero. */
static double excess_at(const struct mixture *m, double x, double p, double atoms_below, double atoms_above)
{
    return p < 0.5 ? mass_below(m, x) + atoms_below - p : (1 - p) - (mass_above(m, x) + atoms_above);
}

/* Where the distribution function reaches p by its jump at an atom, that atom's number.  Else m->atoms, and the bracket
 * ends at the atoms next to the quantile. */
static size_t find_jump(const struct mixture *m, double p, struct bracket *bracket)
{
    for (size_t a = 0; a < m->atoms; a++) {
        double x = m->atom[a], below = 0, above = 0;
        for (size_t b = 0; b < m->atoms; b++) {
            if (m->atom[b] < m->atom[a]) below += m->atom_weight[b];
            if (m->atom[b] > m->atom[a]) above += m->atom_weight[b];
        }
        if (excess_at(m, x, p, below, above + m->atom_weight[a]) >= 0) {
            bracket->high = fmin(bracket->high, x);
            bracket->atoms_above += m->atom_weight[a];
        } else if (excess_at(m, x, p, below + m->atom_weight[a], above) >= 0) {
            return a;
        } else {
            bracket->low = fmax(bracket->low, x);
            bracket->atoms_below += m->atom_weight[a];
        }
    }
    return m->atoms;
}

/* Newton's step where it stays inside the bracket, else its middle. */
double nd_mixture_quantile(const struct plan_column *column, const double *outputs, double p)
{
    struct mixture m;
    read_mixture(column, outputs, &m);
    struct bracket bracket = widest_bracket(&m);
    size_t atom = find_jump(&m, p, &bracket);
    if (atom < m.atoms) return (double)column->atom[atom];
    double low = bracket.low, high = bracket.high;
    double x = fmin(fmax(mean_cell(&m), low), high);
    for (int step = 0; step < QUANTILE_STEPS && low < high; step++) {
        bool halve = step >= NEWTON_STEPS && step % 2 == 0;
        double excess = excess_at(&m, x, p, bracket.atoms_below, bracket.atoms_above);
        if (excess == 0) return x;
        if (excess < 0)
            low = x;
        else
            high = x;
        double next = x - excess / exp(log_density_at(&m, x, NULL));
        if (halve || !(next > low && next < high)) next = low + (high - low) / 2;
        if (next == x || next == low || next == high) return next;
        x = next;
    }
    return x;
}

/* ---- extremes ---------------------------------------------------------------------------------------------------- */

enum { STEPS_MOST = 200 };

/* A place on the density: log p there and the sign of its slope. */
struct place {
    double x, log_density, slope;
};

static struct place look(const struct mixture *m, double x)
{
    struct place place = {.x = x};
    place.log_density = log_density_at(m, x, &place.slope);
    return place;
}

/* Beyond so many scales a component is no longer felt; within them half a scale is a small step. */
static const double reach = 8, fraction = 0.5;

/* Places that are enough to go from the least mean to the largest.  Each step crosses `fraction` of the scale of some
 * component that is near, or a gap up to one: 2·reach/fraction steps and one a component.  Where the scale is lost in
 * the mean's last digit a step is a digit, at least 2/3 of what was asked for. */
static size_t places_most(const struct mixture *m)
{
    return m->count * (size_t)(2 * (2 * reach / fraction + 1));
}

/* The next place to look at, right of x: near a component a fraction of its scale, else the nearest one's edge, itself:
 * a sum that is rounded may lie beyond a narrow component.  All extremes of a mixture's density lie between its means.
 */
static struct place next_place(const struct mixture *m, double x)
{
    double next = m->most;
    for (size_t c = 0; c < m->count; c++) {
        double edge = m->mean[c] - reach * m->scale[c];
        if (x > m->mean[c] + reach * m->scale[c]) continue;
        next = fmin(next, fmax(x + fraction * m->scale[c], edge));
    }
    return look(m, fmin(fmax(next, nextafter(x, HUGE_VAL)), m->most));
}

/* The root of slope (level NULL) or of log p - *level between a and b, where its signs differ: the Illinois method,
 * with a bisection whenever that is slow to close the bracket. */
static double find_root(const struct mixture *m, double a, double at_a, double b, double at_b, const double *level)
{
    double enough = level ? 1e-14 * (1 + fabs(*level)) : 0;
    for (int step = 0; step < STEPS_MOST; step++) {
        double x = step % 4 == 3 ? a + (b - a) / 2 : b - at_b * (b - a) / (at_b - at_a), here;
        if (!(x > fmin(a, b) && x < fmax(a, b))) x = a + (b - a) / 2;
        if (x == a || x == b || fabs(b - a) <= 1e-13 * fabs(b)) return x;
        double log_density = log_density_at(m, x, &here);
        if (level) here = log_density - *level;
        if (fabs(here) <= enough) return x;
        if ((here > 0) == (at_b > 0)) {
            at_a *= 0.5;
        } else {
            a = b;
            at_a = at_b;
        }
        b = x;
        at_b = here;
    }
    return b;
}

static double find_extreme(const struct mixture *m, const struct place *a, const struct place *b)
{
    return find_root(m, a->x, a->slope, b->x, b->slope, NULL);
}

static double find_crossing(const struct mixture *m, const struct place *a, const struct place *b, double level)
{
    return find_root(m, a->x, a->log_density - level, b->x, b->log_density - level, &level);
}

double nd_mixture_mode(const struct plan_column *column, const double *outputs)
{
    struct mixture m;
    read_mixture(column, outputs, &m);
    struct place a = look(&m, m.least), best = a;
    for (size_t left = places_most(&m); left > 0 && a.x < m.most; left--) {
        struct place b = next_place(&m, a.x), top = b;
        if (a.slope > 0 && b.slope <= 0) top = look(&m, find_extreme(&m, &a, &b));
        if (top.log_density < b.log_density) top = b; /* the last digits of x are coarser than the peak is wide */
        if (top.log_density > best.log_density) best = top;
        a = b;
    }
    for (size_t i = 0; i < m.atoms; i++)
        if (m.atom_density[i] > best.log_density)
            best = (struct place){.x = (double)column->atom[i], .log_density = m.atom_density[i]};
    return best.x;
}

/* ---- tail probabilities ------------------------------------------------------------------------------------------ */

/* The crossing outside the means, on the side of `from` that `direction` (-1 or 1) points to; `from` if there is none.
 * The density is below every level before the distance, doubled a thousand times, leaves the doubles. */
static double find_outer(const struct mixture *m, double from, double direction, double level)
{
    struct place near = look(m, from), far = near;
    for (double distance = 1e-3; far.log_density > level; distance *= 2) {
        near = far;
        far = look(m, from + direction * distance);
    }
    if (near.x == far.x) return from;
    if (far.log_density == -HUGE_VAL) far.log_density = -DBL_MAX;
    return find_crossing(m, &near, &far, level);
}

/* Adds to *sum what of the stretch from a to b has log p of at most level. */
static void add_stretch(const struct mixture *m, const struct place *a, const struct place *b, double level,
                        double *sum)
{
    bool a_below = a->log_density <= level, b_below = b->log_density <= level;
    if (a_below && b_below) {
        *sum += mass_between(m, a->x, b->x);
    } else if (a_below || b_below) {
        double x = find_crossing(m, a, b, level);
        *sum += a_below ? mass_between(m, a->x, x) : mass_between(m, x, b->x);
    }
}

/* True when an extreme between a and b may lie on the other side of level than both. */
static bool may_cross(const struct place *a, const struct place *b, double level)
{
    if (a->log_density <= level) return b->log_density <= level && a->slope > 0 && b->slope <= 0;
    return b->log_density > level && a->slope <= 0 && b->slope > 0;
}

/* The same for a stretch that may have an extreme inside. */
static void add_arch(const struct mixture *m, const struct place *a, const struct place *b, double level, double *sum)
{
    struct place middle = *a;
    if (may_cross(a, b, level)) {
        middle = look(m, find_extreme(m, a, b));
        add_stretch(m, a, &middle, level, sum);
    }
    add_stretch(m, &middle, b, level, sum);
}

/* Two extremes so close together that a step passes over both make a shallow ripple: it matters only to a level close
 * to it, and then is looked at closely. */
static const double ripple = 0.1;
enum { CLOSE_LOOKS = 32 };

/* The probability of those parts between the means where log p is at most level. */
static double inner_mass(const struct mixture *m, double level)
{
    double sum = 0;
    struct place a = look(m, m->least);
    for (size_t left = places_most(m); left > 0 && a.x < m->most; left--) {
        struct place b = next_place(m, a.x);
        double from = a.x, distance = fmin(fabs(a.log_density - level), fabs(b.log_density - level));
        for (int i = 1; distance < ripple && i < CLOSE_LOOKS; i++) {
            struct place c = look(m, from + (b.x - from) * i / CLOSE_LOOKS);
            add_arch(m, &a, &c, level, &sum);
            a = c;
        }
        add_arch(m, &a, &b, level, &sum);
        a = b;
    }
    return sum;
}

double nd_mixture_tail(const struct plan_column *column, const double *outputs, double x)
{
    struct mixture m;
    size_t atom = nd_find_atom(column, x);
    read_mixture(column, outputs, &m);
    double level = atom < m.atoms ? m.atom_density[atom] : log_density_at(&m, x, NULL);
    if (!isfinite(level)) return level < 0 ? 0 : NAN;
    double sum = mass_below(&m, find_outer(&m, m.least, -1, level)) + inner_mass(&m, level);
    if (!ND_FAULT(FAULT_TAIL_ONE_SIDE)) sum += mass_above(&m, find_outer(&m, m.most, 1, level));
    for (size_t a = 0; a < m.atoms; a++)
        if (m.atom_density[a] <= level) sum += m.atom_weight[a];
    return fmin(sum, 1);
}
