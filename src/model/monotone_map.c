#include "model/monotone_map.h"

#include <math.h>
#include <stdbool.h>

#include "base/fault.h"
#include "model/normal.h"

/* ---- the map ----------------------------------------------------------------------------------------------------- */

/* The interval between knots k and k+1.  Slopes are in parts of its mean slope, so that nothing overflows for values of
 * any size. */
struct stretch {
    double x, z;        /* where it begins */
    double high, wide;  /* its extent in x and in z */
    double first, last; /* slopes at its ends */
    double bend;        /* their sum less 2: 0 where the map is straight */
};

static struct stretch stretch_of(const struct monotone_map *map, size_t k)
{
    struct stretch s = {.x = map->x[k], .z = map->z[k]};
    s.high = map->x[k + 1] - s.x;
    s.wide = map->z[k + 1] - s.z;
    s.first = map->slope[k] / s.high * s.wide;
    s.last = map->slope[k + 1] / s.high * s.wide;
    s.bend = s.first + s.last - 2;
    return s;
}

/* The last knot at or below `at`, which lies between the first and the last, the last itself aside. */
static size_t find_stretch(const double *knot, size_t knots, double at)
{
    size_t low = 0, high = knots - 1;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (at < knot[middle])
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* Beyond an outermost knot, `distance` outwards, towards a bound that is `room` away: the value's distance from the
 * bound, which keeps its digits however near it is. */
static double distance_left(double distance, double slope, double room)
{
    return room * exp(-(slope / room) * distance);
}

static double distance_to(double left, double slope, double room)
{
    return left > 0 ? room / slope * log(room / left) : HUGE_VAL;
}

double nd_map_value(const struct monotone_map *map, double z)
{
    size_t last = map->knots - 1;
    if (z < map->z[0]) {
        double distance = map->z[0] - z, room = map->x[0] - map->low;
        if (isinf(room) || ND_FAULT(FAULT_STRAIGHT_TAIL)) return map->x[0] - map->slope[0] * distance;
        return map->low + distance_left(distance, map->slope[0], room);
    }
    if (z >= map->z[last]) {
        double distance = z - map->z[last], room = map->high - map->x[last];
        if (isinf(room) || ND_FAULT(FAULT_STRAIGHT_TAIL)) return map->x[last] + map->slope[last] * distance;
        return map->high - distance_left(distance, map->slope[last], room);
    }
    struct stretch s = stretch_of(map, find_stretch(map->z, map->knots, z));
    double t = (z - s.z) / s.wide, arch = t * (1 - t);
    return s.x + s.high * ((t * t + s.first * arch) / (1 + s.bend * arch));
}

/* All that is cut off lies in the last e^-ND_MAP_BEYOND of the room or less. */
static double cut_off(double slope, double room)
{
    return ND_MAP_BEYOND * (ND_FAULT(FAULT_MAP_CUT_NEAR) ? 1 : fmax(1, room / slope));
}

double nd_map_least(const struct monotone_map *map)
{
    return isfinite(map->low) ? map->z[0] - cut_off(map->slope[0], map->x[0] - map->low) : -HUGE_VAL;
}

double nd_map_most(const struct monotone_map *map)
{
    size_t last = map->knots - 1;
    return isfinite(map->high) ? map->z[last] + cut_off(map->slope[last], map->high - map->x[last]) : HUGE_VAL;
}

double nd_map_cell(const struct monotone_map *map, double x)
{
    size_t last = map->knots - 1;
    double z;
    if (x < map->x[0]) {
        double room = map->x[0] - map->low, slope = map->slope[0];
        z = map->z[0] - (isinf(room) ? (map->x[0] - x) / slope : distance_to(x - map->low, slope, room));
    } else if (x >= map->x[last]) {
        double room = map->high - map->x[last], slope = map->slope[last];
        z = map->z[last] + (isinf(room) ? (x - map->x[last]) / slope : distance_to(map->high - x, slope, room));
    } else {
        struct stretch s = stretch_of(map, find_stretch(map->x, map->knots, x));
        double y = (x - s.x) / s.high, a = 1 - s.first + y * s.bend, b = s.first - y * s.bend;
        double root = sqrt(fmax(b * b + 4 * a * y, 0));
        z = s.z + s.wide * fmin(2 * y / (b + root), 1);
    }
    return fmin(fmax(z, nd_map_least(map)), nd_map_most(map));
}

/* log of the slope `distance` beyond a knot. */
static double tail_log_slope(double distance, double slope, double room)
{
    return log(slope) - (isinf(room) ? 0 : slope / room * distance);
}

double nd_map_log_slope(const struct monotone_map *map, double z)
{
    size_t last = map->knots - 1;
    if (z < map->z[0]) return tail_log_slope(map->z[0] - z, map->slope[0], map->x[0] - map->low);
    if (z >= map->z[last]) return tail_log_slope(z - map->z[last], map->slope[last], map->high - map->x[last]);
    struct stretch s = stretch_of(map, find_stretch(map->z, map->knots, z));
    double t = (z - s.z) / s.wide, arch = t * (1 - t);
    return log(s.high) - log(s.wide) + log(s.last * t * t + 2 * arch + s.first * (1 - t) * (1 - t)) -
           2 * log(1 + s.bend * arch);
}

/* ---- fitting ----------------------------------------------------------------------------------------------------- */

/* Values for each knot at least, and those beyond either of the outermost: of few values a fifth at most. */
enum { VALUES_A_KNOT = 40, VALUES_BEYOND = 5, BENT_KNOTS = 4 };

static double normal_quantile(double p)
{
    return nd_normal_quantile_between(-HUGE_VAL, HUGE_VAL, p);
}

/* The mean of the values whose share below lies between two: a quantile without the noise of a single value. */
static double mean_between(const double *values, size_t count, double from, double to)
{
    size_t first = (size_t)(from * (double)count), end = (size_t)ceil(to * (double)count);
    double sum = 0;
    if (end > count) end = count;
    if (first >= end) first = end - 1;
    for (size_t i = first; i < end; i++) sum += (values[i] - values[first]) / (double)(end - first);
    return values[first] + sum;
}

/* Knots at equal distances in the model's units; one that would not be clearly above the one before is left out. */
static size_t place_knots(const double *values, size_t count, size_t wanted, double *x, double *z)
{
    double reach = wanted == 2 ? 1 : normal_quantile(1 - fmin(VALUES_BEYOND / (double)count, 0.2));
    double gap = 2 * reach / (double)(wanted - 1);
    size_t knots = 0;
    for (size_t k = 0; k < wanted; k++) {
        double at = -reach + gap * (double)k;
        double value = mean_between(values, count, nd_normal_share(at - fmin(0.25 * gap, 0.25)),
                                    nd_normal_share(at + fmin(0.25 * gap, 0.25)));
        if (knots > 0 && !(value - x[knots - 1] > 1e-9 * fmax(fabs(value), fabs(x[knots - 1])))) continue;
        x[knots] = value;
        z[knots++] = at;
    }
    return knots;
}

static void leave_out(size_t k, size_t *knots, double *x, double *z)
{
    for (--*knots; k < *knots; k++) {
        x[k] = x[k + 1];
        z[k] = z[k + 1];
    }
}

/* A tail goes on as the outermost stretch ends.  One within a recording step is no slope of the column's, but the
 * chance of a few equal cells: it would put a value ten steps farther out beyond all others' reach. */
static size_t widen_ends(double step, size_t knots, double *x, double *z)
{
    if (ND_FAULT(FAULT_TAIL_WITHIN_STEP)) return knots;
    while (knots > ND_KNOTS_LEAST && x[1] - x[0] <= step) leave_out(1, &knots, x, z);
    while (knots > ND_KNOTS_LEAST && x[knots - 1] - x[knots - 2] <= step) leave_out(knots - 2, &knots, x, z);
    return knots;
}

/* A tail is as steep as it takes to bring the outermost value to the place that a normal distribution gives it, but
 * not so steep that the map bends sharply inside its first knot, nor that values run into the bound. */
static double tail_slope(double inner, double distance, double place, double room)
{
    const double times = 3, rate = 4;
    double slope = inner;
    if (distance > 0 && place > 0) {
        double outer = isinf(room) ? distance / place : -room / place * log1p(-fmin(distance / room, 0.999));
        slope = fmin(fmax(inner, outer), times * inner);
    }
    return isinf(room) ? slope : fmin(slope, rate * room);
}

static void set_slopes(const double *values, size_t count, size_t knots, double low, double high, const double *x,
                       const double *z, double *slope)
{
    double outermost = normal_quantile(1 - 0.5 / (double)count);
    size_t last = knots - 1;
    for (size_t k = 0; k + 1 < knots; k++) {
        double right = (x[k + 1] - x[k]) / (z[k + 1] - z[k]);
        double left = k == 0 ? right : (x[k] - x[k - 1]) / (z[k] - z[k - 1]);
        slope[k] = sqrt(left) * sqrt(right);
    }
    slope[last] = (x[last] - x[last - 1]) / (z[last] - z[last - 1]);
    bool straight = knots == 2;
    slope[0] = tail_slope(slope[0], straight ? 0 : x[0] - values[0], z[0] + outermost, x[0] - low);
    slope[last] =
        tail_slope(slope[last], straight ? 0 : values[count - 1] - x[last], outermost - z[last], high - x[last]);
}

size_t nd_map_fit(const double *values, size_t count, double step, double low, double high, int straight, double *x,
                  double *z, double *slope)
{
    size_t wanted = straight ? 2 : count / VALUES_A_KNOT;
    if (count == 0 || !(values[count - 1] > values[0])) return 0;
    if (wanted < BENT_KNOTS && !straight) wanted = BENT_KNOTS;
    if (wanted > ND_KNOTS_MOST) wanted = ND_KNOTS_MOST;
    size_t knots = place_knots(values, count, wanted, x, z);
    if (knots < ND_KNOTS_LEAST) return 0;
    knots = widen_ends(step, knots, x, z);
    set_slopes(values, count, knots, low, high, x, z, slope);
    return knots;
}
