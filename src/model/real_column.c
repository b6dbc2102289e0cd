#include "model/real_column.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "data/recording_step.h"
#include "model/head.h"
#include "model/model_json.h"
#include "model/model_reader.h"

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

void nd_measure_real(const nade_table *table, size_t number, const size_t *rows, size_t row_count,
                     struct column_spec *spec, struct measured *measured)
{
    const struct table_column *column = &table->column[number];
    measured->beyond = find_beyond(column, rows, row_count);
    if (measured->beyond != SIZE_MAX) return;
    measured->flat = !learn_units(column, rows, row_count, spec);
    spec->step = nd_recording_step(column, rows, row_count, table->single);
    learn_floor(spec);
}

/* ---- the model file ---------------------------------------------------------------------------------------------- */

void nd_write_real(struct model_writer *w, const struct column_spec *spec)
{
    nd_write_number(w, "mean", spec->mean);
    nd_write_number(w, "sd", spec->sd);
    nd_write_number(w, "step", spec->step);
    nd_write_number(w, "floor", spec->floor);
    if (spec->atoms) nd_write_numbers(w, "atoms", spec->atom, spec->atoms);
    nd_write_null(w, "labels");
}

/* A number in the model's units and its place. */
struct placed_number {
    float number;
    size_t place;
};

static int by_number(const void *first, const void *second)
{
    const struct placed_number *a = first, *b = second;
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static void check_atoms_differ(struct model_reader *r, const struct json_value *list, const struct column_spec *spec)
{
    struct placed_number numbers[ND_COMPONENTS_MOST];
    size_t repeated = spec->atoms;
    if (r->status != NADE_OK) return;
    for (size_t a = 0; a < spec->atoms; a++)
        numbers[a] = (struct placed_number){nd_standardise(spec, spec->atom[a]), a};
    qsort(numbers, spec->atoms, sizeof *numbers, by_number);
    for (size_t a = 1; a < spec->atoms; a++)
        if (numbers[a].number == numbers[a - 1].number && numbers[a].place < repeated) repeated = numbers[a].place;
    if (repeated < spec->atoms)
        nd_wrong(r, "atoms", list + 1 + repeated, "numbers that differ from each other in float32");
}

/* Absent where there are none.  Two that are one cell in the model's units could not be told apart. */
static void read_atoms(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    const struct json_value *list = nd_json_get(object, "atoms");
    if (!list || r->status != NADE_OK) return;
    list = nd_read_list(r, object, "atoms", 0, ND_COMPONENTS_MOST - 1);
    if (!list) return;
    const struct json_value *value = nd_json_first(list);
    spec->atoms = list->is.count;
    double *atom = nd_take(r, spec->atoms, sizeof *atom);
    for (size_t a = 0; a < spec->atoms && r->status == NADE_OK; a++, value = nd_json_after(value)) {
        atom[a] = nd_json_number(value);
        if (!nd_json_is_number(value) || !(fabsf(nd_standardise(spec, atom[a])) <= (float)ND_FARTHEST))
            nd_wrong(r, "atoms", value, "a list of numbers within 1e15 standard deviations of the mean");
    }
    spec->atom = atom;
    check_atoms_differ(r, list, spec);
}

void nd_read_real(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    spec->mean = nd_read_number(r, object, "mean", -ND_MEAN_MOST, ND_MEAN_MOST, "a number");
    spec->sd = nd_read_number(r, object, "sd", ND_SD_LEAST, ND_SD_MOST, "a number above 0");
    spec->step = nd_read_number(r, object, ND_FAULT(FAULT_STEP_NOT_READ) ? "floor" : "step", 0, ND_STEP_MOST,
                                "0 or a number above it");
    spec->floor = nd_read_number(r, object, "floor", ND_FLOOR_LEAST, ND_FLOOR_MOST, "a float32 number above 0");
    read_atoms(r, object, spec);
    nd_read_null(r, object, "labels");
}

/* ---- the plan ---------------------------------------------------------------------------------------------------- */

nade_status nd_plan_real(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                         struct plan_column *column)
{
    column->input_width = 1;
    column->output_width = 3 * components;
    column->components = components;
    column->floor = spec->floor;
    column->atoms = spec->atoms;
    if (spec->atoms == 0) return NADE_OK;
    if (spec->atoms >= components) /* one stays a Gaussian */
        return nd_fail(context, NADE_BAD_CALL, "column '%s' has %zu atoms, expected fewer than its %zu components",
                       spec->name, spec->atoms, components);
    float *atom = nd_arena_alloc(arena, spec->atoms, sizeof *atom);
    if (!atom) return nd_no_memory(context, "the network");
    for (size_t a = 0; a < spec->atoms; a++) atom[a] = nd_standardise(spec, spec->atom[a]);
    column->atom = atom;
    return NADE_OK;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

bool nd_encode_real(const struct column_spec *spec, double value, float *cell)
{
    *cell = nd_standardise(spec, value);
    return fabsf(*cell) <= (float)ND_FARTHEST;
}

/* To a multiple of the step, which is an integer of units of 10^-k: dividing by 10^k rather than multiplying by 10^-k
 * gives the double that prints with k decimals. */
double nd_round_to_step(double x, double step)
{
    double power = 1;
    while (power < 1e12 && fabs(nearbyint(step * power) - step * power) > 1e-9 * step * power) power *= 10;
    double units = fmax(nearbyint(step * power), 1);
    double rounded = nearbyint(x * power / units - (ND_FAULT(FAULT_STEP_ROUNDED_DOWN) ? 0.5 : 0)) * units / power;
    return isfinite(rounded) ? rounded + 0.0 : x; /* + 0.0 makes -0 a 0 */
}

double nd_decode_real(const struct column_spec *spec, double cell, bool exact)
{
    for (size_t a = 0; a < spec->atoms; a++)
        if ((float)cell == nd_standardise(spec, spec->atom[a])) return spec->atom[a];
    double x = spec->mean + spec->sd * cell;
    return spec->step > 0 && !exact ? nd_round_to_step(x, spec->step) : x;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Where values are rounded, the bounds move inwards to values that can be returned, and the cells to be drawn are those
 * that round to these. */
static void round_bounds(struct range *r, double step)
{
    double least = nd_round_to_step(r->least, step), most = nd_round_to_step(r->most, step);
    if (isfinite(least)) r->least = least < r->least ? nd_round_to_step(least + step, step) : least;
    if (isfinite(most)) r->most = most > r->most ? nd_round_to_step(most - step, step) : most;
    r->low = r->least - step / 2;
    r->high = r->most + step / 2;
}

/* A bound and an atom beside it may be one in the model's units: the cells' bounds move so that exactly those atoms lie
 * within whose values do.  Returns how many. */
static size_t bound_atoms(const struct column_spec *spec, struct range *r)
{
    size_t within = 0;
    for (size_t a = 0; a < spec->atoms; a++) {
        float cell = nd_standardise(spec, spec->atom[a]);
        if (spec->atom[a] < r->least) {
            r->low = fmax(r->low, (double)nextafterf(cell, HUGE_VALF));
        } else if (spec->atom[a] > r->most) {
            r->high = fmin(r->high, (double)nextafterf(cell, -HUGE_VALF));
        } else {
            r->low = fmin(r->low, (double)cell);
            r->high = fmax(r->high, (double)cell);
            within++;
        }
    }
    return within;
}

static bool ends_far(const struct range *r)
{
    return r->low > ND_FARTHEST || r->high < -ND_FARTHEST || (isfinite(r->low) && r->low < -ND_FARTHEST) ||
           (isfinite(r->high) && r->high > ND_FARTHEST);
}

nade_status nd_range_real(nade_context *context, const struct column_spec *spec, bool exact, struct range *range)
{
    double least = range->least, most = range->most;
    range->low = least;
    range->high = most;
    if (spec->step > 0 && !exact) round_bounds(range, spec->step);
    range->low = (range->low - spec->mean) / spec->sd;
    range->high = (range->high - spec->mean) / spec->sd;
    if (range->least > range->most || (bound_atoms(spec, range) == 0 && !(range->low < range->high)))
        return nd_refuse_empty_range(context, spec, least, most);
    if (ends_far(range))
        return nd_fail(context, NADE_BAD_CALL,
                       "the range of column '%s' ends beyond 1e15 standard deviations from the training mean, expected "
                       "nearer ends",
                       spec->name);
    return NADE_OK;
}
