/* A smooth increasing map between a column's values and the model's units, which has the shape of a normal
 * distribution: skew, long tails and bounds are the map's, so that the mixture sees a bell.
 *
 * Between its knots it is a rational quadratic spline (Gregory and Delbourgo 1982), whose slope is continuous and which
 * is inverted in closed form.  Beyond the outermost knots it goes on straight, or, where there is a bound, approaches
 * that exponentially: no value lies at or beyond it. */
#ifndef ND_MODEL_MONOTONE_MAP_H
#define ND_MODEL_MONOTONE_MAP_H

#include <stddef.h>

enum { ND_KNOTS_LEAST = 2, ND_KNOTS_MOST = 32 };

/* Towards a bound cells are cut off so far beyond the outermost knot: the bound's own would lie at infinity.  A bound
 * that is far, in units of the slope at the knot, has its cells so many times as far. */
#define ND_MAP_BEYOND 5.0

struct monotone_map {
    size_t knots;
    const double *x;     /* (knots) values, ascending */
    const double *z;     /* (knots) the same in the model's units, ascending */
    const double *slope; /* (knots) dx/dz there, above 0 */
    double low, high;    /* bounds, below the first and above the last knot; infinite: none */
};

/* Where cells are cut off towards the bounds; infinite: nowhere. */
double nd_map_least(const struct monotone_map *map);
double nd_map_most(const struct monotone_map *map);

double nd_map_value(const struct monotone_map *map, double z);     /* x at z */
double nd_map_cell(const struct monotone_map *map, double x);      /* z at x */
double nd_map_log_slope(const struct monotone_map *map, double z); /* log dx/dz at z */

/* Places knots for `count` values, ascending, all between the bounds, recorded in steps of `step` (0: in none); x, z
 * and slope have room for ND_KNOTS_MOST. straight: two knots, the map between the bounds' tails is a straight line.
 * Returns how many knots; 0 where the values are too much alike for a map. */
size_t nd_map_fit(const double *values, size_t count, double step, double low, double high, int straight, double *x,
                  double *z, double *slope);

#endif
