#include "data/recording_step.h"

#include <float.h>
#include <math.h>

enum { MOST_DECIMALS = 12 };

/* True when x is a multiple of 10^-decimals, up to the precision it was stored with. */
static bool is_multiple(double x, double power, double precision)
{
    return fabs(nearbyint(x * power) / power - x) <= precision * fabs(x);
}

static double largest_magnitude(const struct table_column *column, const size_t *rows, size_t row_count)
{
    double most = 0;
    for (size_t i = 0; i < row_count; i++) {
        double x = fabs(nd_table_number(column, rows[i]));
        if (x > most) most = x;
    }
    return most;
}

/* True when all are integers that the numbers' own precision holds exactly. */
static bool are_exact_integers(const struct table_column *column, const size_t *rows, size_t row_count, bool single)
{
    double most = ldexp(1, single ? FLT_MANT_DIG : DBL_MANT_DIG);
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (!isnan(x) && (x != floor(x) || fabs(x) > most)) return false;
    }
    return true;
}

double nd_recording_step(const struct table_column *column, const size_t *rows, size_t row_count, bool single)
{
    double precision = single ? (double)FLT_EPSILON : 4 * DBL_EPSILON;
    double most = largest_magnitude(column, rows, row_count);
    double power = 1;
    size_t i = 0;
    if (are_exact_integers(column, rows, row_count, single)) return 1;
    /* A row that fails at few decimals may pass at more; rows before it passed already and keep passing. */
    for (int decimals = 0; decimals <= MOST_DECIMALS; decimals++, power *= 10) {
        /* Below this the numbers' own precision looks like a step. */
        if (most * power > 0.01 / precision) return 0;
        while (i < row_count) {
            double x = nd_table_number(column, rows[i]);
            if (!isnan(x) && !is_multiple(x, power, precision)) break;
            i++;
        }
        if (i == row_count) return 1 / power;
    }
    return 0;
}
