#include "check/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

const double nd_calibration_level[CALIBRATION_LEVELS] = {0.5, 0.8, 0.9, 0.95};

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Legendre's polynomials on 0…1, scaled so that of a uniform number each has mean 0, variance 1, and no correlation
 * with the others. */
static void add_moments(double u, double moment[CALIBRATION_MOMENTS])
{
    double t = 2 * u - 1, squared = t * t;
    moment[0] += sqrt(3) * t;
    moment[1] += sqrt(5) * (3 * squared - 1) / 2;
    moment[2] += sqrt(7) * (5 * squared - 3) * t / 2;
    moment[3] += 3 * (35 * squared * squared - 30 * squared + 3) / 8;
}

/* Four times the F distribution of 4 and cells + 4 degrees.  Of many cells that is chi-square of four degrees, whose
 * tails are too light for few: there one cell at the end of its distribution is a large part of the sum. */
static double smooth_p_value(const double moment[CALIBRATION_MOMENTS], double cells)
{
    double sum = 0, half = (cells + 4) / 2;
    for (size_t i = 0; i < CALIBRATION_MOMENTS; i++) sum += moment[i] * moment[i];
    if (ND_FAULT(FAULT_FEW_AS_MANY)) half = 1e6;
    double left = 2 * half / (2 * half + sum);
    return pow(left, half) * (1 + half * (1 - left));
}

static double distance_of(const double *sorted, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double before = (double)i / (double)count, after = ((double)i + 1) / (double)count;
        most = fmax(most, fmax(after - sorted[i], sorted[i] - before));
    }
    return most;
}

struct calibration nd_calibrate(double *places, size_t count)
{
    struct calibration c = {.cells = count, .p_value = NAN};
    double cells = (double)count;
    qsort(places, count, sizeof *places, by_size);
    for (size_t i = 0; i < count; i++) {
        double u = places[i];
        size_t bin = u < 1 ? (size_t)(u * CALIBRATION_BINS) : CALIBRATION_BINS - 1;
        c.histogram[bin]++;
        add_moments(u, c.moment);
        for (size_t l = 0; l < CALIBRATION_LEVELS; l++)
            c.inside[l] += fabs(u - 0.5) <= (ND_FAULT(FAULT_COVERAGE_HALF) ? 0.25 : 0.5) * nd_calibration_level[l];
        c.above += u > 0.5;
    }
    if (count == 0) return c;
    for (size_t i = 0; i < CALIBRATION_MOMENTS; i++) c.moment[i] /= sqrt(cells);
    for (size_t l = 0; l < CALIBRATION_LEVELS; l++) c.inside[l] /= cells;
    c.above /= cells;
    c.p_value = smooth_p_value(c.moment, cells);
    c.distance = distance_of(places, count);
    return c;
}

double nd_error_bound(double sum, double variance)
{
    double size = fabs(sum);
    return size > 0 ? fmin(1, 2 * exp(-size * size / 2 / (variance + size / 3))) : 1;
}
