#include "model/real_column.h"

#include <float.h>
#include <math.h>

#include "base/ascending.h"
#include "base/fault.h"
#include "data/number_form.h"
#include "data/recording_step.h"
#include "model/head.h"
#include "model/mixture.h"
#include "model/monotone_map.h"

/* ---- learning ---------------------------------------------------------------------------------------------------- */

/* What the present cells of a real column are like. */
struct extent {
    double mean;
    double farthest; /* distance of any cell from the mean */
    size_t count;
};

/* The mean is found as a first guess and the mean distance from it: exact where the cells differ in their last digits
 * only. */
static struct extent find_extent(const struct table_column *column, const size_t *rows, size_t row_count)
{
    struct extent extent = {.mean = 0};
    double sum = 0, rest = 0;
    for (size_t i = 0; i < row_count; i++) {
        double x = nd_table_number(column, rows[i]);
        if (isnan(x)) continue;
        sum += x;
        extent.count++;
    }
    if (extent.count == 0) return extent;
    extent.mean = sum / (double)extent.count;
    for (size_t i = 0; i < row_count; i++) {
        double distance = nd_table_number(column, rows[i]) - extent.mean;
        if (!isnan(distance)) rest += distance;
    }
    extent.mean += rest / (double)extent.count;
    for (size_t i = 0; i < row_count; i++) {
        double distance = fabs(nd_table_number(column, rows[i]) - extent.mean);
        if (distance > extent.farthest) extent.farthest = distance;
    }
    return extent;
}

/* True when the cells differ by no more than rounding, or underflow, can make equal numbers differ: they have no
 * deviation. */
static bool is_flat(const struct extent *extent)
{
    return extent->farthest <= fmax(4 * DBL_EPSILON * fabs(extent->mean), ND_DIFFERENCE_LEAST);
}

/* Mean and standard deviation (divided by the count) over the chosen rows' present cells.  False: rounding may be all
 * that tells them apart, and the deviation counts as 1, or as what rounding makes of a huge number. */
static bool learn_units(const struct table_column *column, const size_t *rows, size_t row_count,
                        struct column_spec *spec)
{
    struct extent extent = find_extent(column, rows, row_count);
    double squares = 0;
    int exponent;
    spec->mean = extent.mean;
    spec->sd = fmax(1, extent.farthest);
    if (is_flat(&extent)) return false;
    frexp(extent.farthest, &exponent); /* distances below 1 have squares that neither overflow nor all vanish */
    for (size_t i = 0; i < row_count; i++) {
        double distance = ldexp(nd_table_number(column, rows[i]) - extent.mean, -exponent);
        if (!isnan(distance)) squares += distance * distance;
    }
    spec->sd = ldexp(sqrt(squares / (double)extent.count), exponent);
    return true;
}

static void learn_floor(struct column_spec *spec)
{
    double width = spec->step / (spec->sd * sqrt(12.0));
    spec->floor = width > ND_SCALE_FLOOR ? width : ND_SCALE_FLOOR;
}

static size_t find_beyond(const struct table_column *column, const size_t *rows, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++)
        if (fabs(nd_table_number(column, rows[i])) > ND_NUMBER_MOST) return rows[i];
    return SIZE_MAX;
}

/* Where no seconds are written, minutes are what is recorded, however few the cells are. */
static void record_minutes(const struct table_column *column, const size_t *rows, size_t row_count,
                           struct column_spec *spec)
{
    enum duration_form form = nd_written_duration(spec->written);
    double step = form ? nd_duration_step(form) : 0;
    if (step <= 1 || spec->offset > 0 || fmod(spec->step, step) == 0 || ND_FAULT(FAULT_MINUTES_UNSTEPPED)) return;
    for (size_t i = 0; i < row_count; i++)
        if (fmod(nd_table_number(column, rows[i]), step) != 0 && !isnan(nd_table_number(column, rows[i]))) return;
    spec->step = step;
}

void nd_measure_real(const nade_table *table, size_t number, const size_t *rows, size_t row_count,
                     struct column_spec *spec, struct measured *measured)
{
    const struct table_column *column = &table->column[number];
    measured->beyond = find_beyond(column, rows, row_count);
    if (measured->beyond != SIZE_MAX) return;
    measured->flat = !learn_units(column, rows, row_count, spec);
    struct recording recording = nd_recording_step(column, rows, row_count, table->single);
    spec->step = recording.step;
    spec->offset = recording.offset;
    record_minutes(column, rows, row_count, spec);
    learn_floor(spec);
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

nade_status nd_plan_real(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                         struct plan_column *column)
{
    size_t among = spec->gaussians ? 0 : spec->atoms; /* the components */
    if (among > 0 && among >= components)             /* one stays a Gaussian */
        return nd_fail(context, NADE_BAD_CALL, "column '%s' has %zu atoms, expected fewer than its %zu components",
                       spec->name, spec->atoms, components);
    column->stride = spec->gaussians ? spec->gaussians : components;
    column->components = spec->gaussians ? spec->gaussians + spec->atoms : components;
    if (column->components > ND_COMPONENTS_MOST)
        return nd_fail(context, NADE_BAD_CALL, "column '%s' has %zu atoms and Gaussians, expected at most %d",
                       spec->name, column->components, ND_COMPONENTS_MOST);
    column->atom_inputs = spec->gaussians > 0;
    column->input_width = 1 + (column->atom_inputs ? spec->atoms : 0);
    column->output_width = column->components + 2 * column->stride;
    column->floor = spec->floor;
    column->atoms = spec->atoms;
    column->ascending = spec->ascending;
    column->atom = spec->atom_cell;
    column->atom_place = spec->atom_place;
    return nd_keep_spec(arena, spec, column) ? NADE_OK : nd_no_memory(context, "the network");
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* Which of the column's atoms a cell is; spec->atoms: none. */
static size_t find_atom(const struct column_spec *spec, double cell)
{
    const struct plan_column atoms = {.atoms = spec->atoms, .atom = spec->atom_cell, .ascending = spec->ascending};
    return nd_find_atom(&atoms, (double)(float)cell);
}

float nd_cell_of(const struct column_spec *spec, double value)
{
    return (float)(spec->map ? nd_map_cell(spec->map, value) : (value - spec->mean) / spec->sd);
}

/* Which of the atoms, ascending, a value is; spec->atoms: none. */
static size_t find_value(const struct column_spec *spec, double value)
{
    size_t a = nd_first_from(spec->atom, spec->atoms, value);
    return a < spec->atoms && spec->atom[a] == value ? a : spec->atoms;
}

/* How far beyond the outermost knot an atom's cell may lie, and how far apart those lie that are moved there. */
#define ATOMS_BEYOND 1.0
#define MOVED_APART 0.1

/* Where an atom lies in the model's units: at a bound beyond all Gaussians, which reach the bound nowhere. */
static double place_of(const struct column_spec *spec, size_t a)
{
    const struct monotone_map *map = spec->map;
    if (spec->atom[a] <= map->low && !ND_FAULT(FAULT_BOUND_WITHIN)) return -HUGE_VAL;
    if (spec->atom[a] >= map->high && !ND_FAULT(FAULT_BOUND_WITHIN)) return HUGE_VAL;
    return nd_map_cell(map, spec->atom[a]);
}

/* Atoms far beyond the knots, as at a bound, which lies at infinity, are moved closer: cells are what the network sees.
 * In ascending order, so that they stay in order. */
static bool move_atoms(const struct column_spec *spec, float *cell, double *place)
{
    const struct monotone_map *map = spec->map;
    double least = map->z[0] - ATOMS_BEYOND, most = map->z[map->knots - 1] + ATOMS_BEYOND;
    size_t below = 0, above = 0, apart = 0;
    for (size_t a = 0; a < spec->atoms; a++) {
        double own = nd_map_cell(map, spec->atom[a]);
        double apart_from = a > 0 ? place[a - 1] + 1e-5 : -HUGE_VAL;
        place[a] = fmax(place_of(spec, a), apart_from); /* two may be cut off at one place */
        cell[a] = (float)fmax(own, apart_from);
        apart += place[a] != own;
        below += place[a] < least;
        above += place[a] > most;
    }
    for (size_t a = 0; a < below; a++)
        cell[a] = (float)(least - fmin(MOVED_APART, 2.0 / (double)below) * (double)(below - a));
    for (size_t a = 0; a < above; a++)
        cell[spec->atoms - above + a] = (float)(most + fmin(MOVED_APART, 2.0 / (double)above) * (double)(a + 1));
    return below + above + apart > 0;
}

void nd_place_atoms(struct column_spec *spec, float *cell, double *place)
{
    bool moved = false;
    spec->ascending = true;
    for (size_t a = 1; a < spec->atoms; a++) spec->ascending = spec->ascending && spec->atom[a] > spec->atom[a - 1];
    if (spec->map && spec->ascending)
        moved = move_atoms(spec, cell, place);
    else
        for (size_t a = 0; a < spec->atoms; a++) cell[a] = nd_cell_of(spec, spec->atom[a]);
    spec->atom_cell = cell;
    spec->atom_place = moved ? place : NULL;
}

bool nd_encode_real(const struct column_spec *spec, double value, float *cell)
{
    size_t atom = spec->atom_place ? find_value(spec, value) : spec->atoms;
    *cell = atom < spec->atoms ? spec->atom_cell[atom] : nd_cell_of(spec, value);
    if (spec->atom_place && atom == spec->atoms && find_atom(spec, (double)*cell) < spec->atoms)
        *cell = nextafterf(*cell, HUGE_VALF); /* a value that is no atom has no atom's cell */
    bool outside = spec->bounded && !(value >= spec->low && value <= spec->high);
    if (outside && !ND_FAULT(FAULT_BOUND_FORGOTTEN)) return false;
    return fabsf(*cell) <= (float)ND_FARTHEST;
}

static bool is_whole(double x)
{
    return fabs(nearbyint(x) - x) <= 1e-9 * fabs(x);
}

/* Step and offset are integers of units of 10^-k: dividing by 10^k rather than multiplying by 10^-k gives the double
 * that prints with k decimals. */
double nd_round_to_step(double x, double step, double offset)
{
    double power = 1;
    while (power < 1e12 && !(is_whole(step * power) && is_whole(offset * power))) power *= 10;
    double units = fmax(nearbyint(step * power), 1), first = nearbyint(offset * power);
    double number = nearbyint((x * power - first) / units - (ND_FAULT(FAULT_STEP_ROUNDED_DOWN) ? 0.5 : 0));
    double rounded = (number * units + first) / power;
    return isfinite(rounded) ? rounded + 0.0 : x; /* + 0.0 makes -0 a 0 */
}

double nd_first_recorded(const struct column_spec *spec, double x)
{
    double nearest = nd_round_to_step(x, spec->step, spec->offset);
    return nearest < x ? nd_round_to_step(nearest + spec->step, spec->step, spec->offset) : nearest;
}

double nd_last_recorded(const struct column_spec *spec, double x)
{
    double nearest = nd_round_to_step(x, spec->step, spec->offset);
    return nearest > x ? nd_round_to_step(nearest - spec->step, spec->step, spec->offset) : nearest;
}

double nd_nearest_real(const struct column_spec *spec, double value)
{
    if (spec->bounded) value = fmin(fmax(value, spec->low), spec->high);
    if (spec->step <= 0) return value;
    value = nd_round_to_step(value, spec->step, spec->offset);
    if (!spec->bounded) return value;
    if (value < spec->low) value = nd_first_recorded(spec, spec->low);
    if (value > spec->high) value = nd_last_recorded(spec, spec->high);
    return fmin(fmax(value, spec->low), spec->high); /* bounds that no recorded number lies between */
}

double nd_decode_real(const struct column_spec *spec, double cell, bool exact)
{
    size_t atom = find_atom(spec, cell);
    if (atom < spec->atoms) return spec->atom[atom];
    double x = spec->map ? nd_map_value(spec->map, cell) : spec->mean + spec->sd * cell;
    if (!exact) return nd_nearest_real(spec, x);
    return spec->bounded ? fmin(fmax(x, spec->low), spec->high) : x;
}

double nd_mean_real(const struct plan_column *column, const double *outputs)
{
    const struct column_spec *spec = column->own;
    double mean = nd_mixture_mean(column, outputs);
    if (!spec) return mean;
    if (!spec->map) mean = spec->mean + spec->sd * mean;
    return spec->bounded ? fmin(fmax(mean, spec->low), spec->high) : mean;
}

/* An atom's density counts its probability as spread over the recording step, or what stands for it. */
double nd_log_unit_real(const struct column_spec *spec, double cell)
{
    if (!spec->map) return log(spec->sd);
    if (ND_FAULT(FAULT_NO_MAP_SLOPE)) return log(spec->sd);
    if (ND_FAULT(FAULT_ATOM_UNIT) || find_atom(spec, cell) == spec->atoms) return nd_map_log_slope(spec->map, cell);
    double width = spec->step > 0 ? spec->step : sqrt(12.0) * ND_SCALE_FLOOR * spec->sd;
    return log(width) - log(sqrt(12.0) * spec->floor);
}

struct bin nd_bin_of(const struct column_spec *spec, double x, double half)
{
    struct bin bin = {.x = x, .half = half, .mapped = spec && spec->map};
    if (!bin.mapped) {
        bin.log_width = log(2 * half);
        return bin;
    }
    double width = 2 * half * spec->sd, value = nd_decode_real(spec, x, false);
    bin.least = value - width / 2;
    bin.end = value + width / 2;
    double low = nd_map_cell(spec->map, bin.least), high = nd_map_cell(spec->map, bin.end);
    bin.x = low + (high - low) / 2;
    bin.half = fmax((high - low) / 2, 1e-9); /* at a bound both ends may be cut off at one place */
    bin.log_width = log(width) - nd_log_unit_real(spec, x);
    return bin;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Where values are rounded, the bounds move inwards to values that can be returned, and the cells to be drawn are those
 * that round to these. */
static void round_bounds(struct range *r, const struct column_spec *spec)
{
    if (isfinite(r->least)) r->least = nd_first_recorded(spec, r->least);
    if (isfinite(r->most)) r->most = nd_last_recorded(spec, r->most);
    r->low = r->least - spec->step / 2;
    r->high = r->most + spec->step / 2;
}

/* The next place towards an end; where the atom lies beyond all cells, the farthest of them. */
static double beyond(double place, double towards)
{
    return isinf(place) ? -towards : (double)nextafterf((float)place, (float)towards);
}

/* A bound and an atom beside it may be one in the model's units: the cells' bounds move so that exactly those atoms lie
 * within whose values do.  Returns how many. */
static size_t bound_atoms(const struct column_spec *spec, struct range *r)
{
    size_t within = 0;
    for (size_t a = 0; a < spec->atoms; a++) {
        double place = spec->atom_place ? spec->atom_place[a] : (double)spec->atom_cell[a];
        if (spec->atom[a] < r->least) {
            r->low = fmax(r->low, beyond(place, ND_FARTHEST));
        } else if (spec->atom[a] > r->most) {
            r->high = fmin(r->high, beyond(place, -ND_FARTHEST));
        } else {
            r->low = fmin(r->low, place);
            r->high = fmax(r->high, place);
            within++;
        }
    }
    return within;
}

/* Ends at infinity are those of ranges without an end, and atoms that lie there. */
static bool is_far_end(double end)
{
    return isfinite(end) && fabs(end) > ND_FARTHEST;
}

/* A range's end in the model's units; where cells are cut off it has no end. */
static double map_end(const struct monotone_map *map, double x)
{
    double z = nd_map_cell(map, x);
    if (z <= nd_map_least(map)) return -HUGE_VAL;
    return z >= nd_map_most(map) ? HUGE_VAL : z;
}

nade_status nd_range_real(nade_context *context, const struct column_spec *spec, bool exact, struct range *range)
{
    double least = range->least, most = range->most;
    if (spec->bounded) {
        range->least = fmax(least, spec->low);
        range->most = fmin(most, spec->high);
        if (range->least > range->most) return nd_refuse_empty_range(context, spec, least, most);
    }
    range->low = range->least;
    range->high = range->most;
    if (spec->step > 0 && !exact) round_bounds(range, spec);
    range->low = spec->map ? map_end(spec->map, range->low) : (range->low - spec->mean) / spec->sd;
    range->high = spec->map ? map_end(spec->map, range->high) : (range->high - spec->mean) / spec->sd;
    if (range->least > range->most || (bound_atoms(spec, range) == 0 && !(range->low < range->high)))
        return nd_refuse_empty_range(context, spec, least, most);
    if (is_far_end(range->low) || is_far_end(range->high))
        return nd_fail(context, NADE_BAD_CALL,
                       "the range of column '%s' ends beyond 1e15 standard deviations from the training mean, expected "
                       "nearer ends",
                       spec->name);
    return NADE_OK;
}
