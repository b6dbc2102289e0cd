#include "data/recording_step.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/fault.h"

/* Different multiples of a divisor that make it a step, and the part of the cells, one in OFF_SHARE, that a coarser
 * power of ten must miss: the wines are recorded in hundredths but for a few halves of one, and those are not their
 * step. */
enum { MOST_DECIMALS = 12, DISTINCT_LEAST = 10, DIFFERENT_MOST = 24, OFF_SHARE = 5 };

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

/* How a grid, first + k step, is used. */
struct grid {
    int64_t first, step;          /* units of the last decimal */
    int64_t seen[DIFFERENT_MOST]; /* the first that differ */
    size_t distinct;              /* of them */
    size_t cells, off;            /* cells, and those that are not on the grid of the next power of ten */
};

static void note_number(struct grid *grid, int64_t number, int64_t next_power)
{
    size_t at = 0;
    grid->cells++;
    grid->off += (number - grid->first) % next_power != 0;
    while (at < grid->distinct && grid->seen[at] != number) at++;
    if (at == grid->distinct && at < DIFFERENT_MOST) grid->seen[grid->distinct++] = number;
}

/* So many different numbers on a grid that is `coarser` times the one with zero on it are no chance: fewer than one
 * column in a million has them. */
static size_t enough(int64_t coarser)
{
    double needed = coarser > 1 ? 1 + ceil(20 / log2((double)coarser)) : 0;
    return needed > DISTINCT_LEAST ? (size_t)needed : DISTINCT_LEAST;
}

/* True when the numbers use a grid as if they were recorded on it: many points of it, and others than those of the next
 * power of ten. */
static bool is_used(const struct table_column *column, const size_t *rows, size_t row_count, double power,
                    int64_t coarser, struct grid *grid)
{
    int64_t next_power = 10;
    while (grid->step % next_power == 0) next_power *= 10;
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (!isnan(x)) note_number(grid, (int64_t)nearbyint(x * power), next_power);
    }
    return grid->distinct >= enough(coarser) && OFF_SHARE * grid->off >= grid->cells;
}

/* The divisors of all numbers, and of their differences from the first; 0: there are none. */
static void find_divisors(const struct table_column *column, const size_t *rows, size_t row_count, double power,
                          int64_t *of_all, int64_t *of_differences, int64_t *first)
{
    bool any = false;
    *of_all = *of_differences = *first = 0;
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (isnan(x)) continue;
        int64_t number = (int64_t)nearbyint(x * power);
        if (!any) *first = number;
        any = true;
        *of_all = common_divisor(*of_all, number);
        *of_differences = common_divisor(*of_differences, number - *first);
    }
}

/* The coarsest grid that all numbers, in units of 1/power, lie on, where that is no chance and no matter of few cells;
 * else all integers. */
static struct grid find_grid(const struct table_column *column, const size_t *rows, size_t row_count, double power)
{
    int64_t of_all, of_differences, first;
    find_divisors(column, rows, row_count, power, &of_all, &of_differences, &first);
    if (of_all > 0 && of_differences > of_all && !ND_FAULT(FAULT_OFFSET_FORGOTTEN)) {
        struct grid grid = {.first = (first % of_differences + of_differences) % of_differences,
                            .step = of_differences};
        if (is_used(column, rows, row_count, power, of_differences / of_all, &grid)) return grid;
    }
    struct grid grid = {.step = of_all};
    return of_all > 1 && is_used(column, rows, row_count, power, 1, &grid) ? grid : (struct grid){.step = 1};
}

struct recording nd_recording_step(const struct table_column *column, const size_t *rows, size_t row_count, bool single)
{
    double power = find_power(column, rows, row_count, single);
    if (!(power > 0)) return (struct recording){0, 0};
    if (ND_FAULT(FAULT_STEP_OF_DECIMALS)) return (struct recording){1 / power, 0};
    struct grid grid = find_grid(column, rows, row_count, power);
    return (struct recording){(double)grid.step / power, (double)grid.first / power};
}
