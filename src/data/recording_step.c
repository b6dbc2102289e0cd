#include "data/recording_step.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/fault.h"

/* Different multiples of a divisor that make it a step, and the part of the cells, one in OFF_SHARE, that a coarser
 * power of ten must miss: the wines are recorded in hundredths but for a few halves of one, and those are not their
 * step. */
enum { MOST_DECIMALS = 12, DISTINCT_LEAST = 10, OFF_SHARE = 5 };

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

/* 10^d for the fewest decimals d that all numbers are written with; 0: more than can be told from rounding. */
static double find_power(const struct table_column *column, const size_t *rows, size_t row_count, bool single)
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
        if (i == row_count) return power;
    }
    return 0;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* How the multiples of a divisor are used. */
struct grid {
    int64_t seen[DISTINCT_LEAST]; /* the first that differ */
    size_t distinct;              /* of them */
    size_t cells, off;            /* cells, and those that are no multiple of the next power of ten */
};

static void note_multiple(struct grid *grid, int64_t number, int64_t next_power)
{
    size_t at = 0;
    grid->cells++;
    grid->off += number % next_power != 0;
    while (at < grid->distinct && grid->seen[at] != number) at++;
    if (at == grid->distinct && at < DISTINCT_LEAST) grid->seen[grid->distinct++] = number;
}

/* The largest integer that all numbers times power are multiples of, where that is no chance and no matter of few
 * cells; else 1. */
static int64_t find_divisor(const struct table_column *column, const size_t *rows, size_t row_count, double power)
{
    int64_t divisor = 0, next_power = 10;
    struct grid grid = {.cells = 0};
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (!isnan(x)) divisor = common_divisor(divisor, (int64_t)nearbyint(x * power));
    }
    if (divisor <= 1) return 1;
    while (divisor % next_power == 0) next_power *= 10;
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (!isnan(x)) note_multiple(&grid, (int64_t)nearbyint(x * power), next_power);
    }
    return grid.distinct == DISTINCT_LEAST && OFF_SHARE * grid.off >= grid.cells ? divisor : 1;
}

double nd_recording_step(const struct table_column *column, const size_t *rows, size_t row_count, bool single)
{
    double power = find_power(column, rows, row_count, single);
    if (power > 0 && ND_FAULT(FAULT_STEP_OF_DECIMALS)) return 1 / power;
    return power > 0 ? (double)find_divisor(column, rows, row_count, power) / power : 0;
}
