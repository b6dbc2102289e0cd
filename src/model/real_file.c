/* Real columns in model files. */
#include <math.h>
#include <stdlib.h>

#include "base/fault.h"
#include "model/model_json.h"
#include "model/model_reader.h"
#include "model/monotone_map.h"
#include "model/real_column.h"

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The bound, or null. */
static void write_bound(struct model_writer *w, const char *key, double bound)
{
    if (isfinite(bound))
        nd_write_number(w, key, bound);
    else
        nd_write_null(w, key);
}

static void write_bounds(struct model_writer *w, const struct column_spec *spec)
{
    write_bound(w, "low", spec->low);
    write_bound(w, "high", spec->high);
}

static void write_map(struct model_writer *w, const struct monotone_map *map)
{
    nd_write_numbers(w, "map_values", map->x, map->knots);
    nd_write_numbers(w, "map_cells", map->z, map->knots);
    nd_write_numbers(w, "map_slopes", map->slope, map->knots);
    write_bound(w, "map_low", map->low);
    write_bound(w, "map_high", map->high);
}

const char *const nd_real_keys[] = {"offset",    "gaussians",  "low",     "high",     "map_values",
                                    "map_cells", "map_slopes", "map_low", "map_high", NULL};

void nd_write_real(struct model_writer *w, const struct column_spec *spec)
{
    nd_write_number(w, "mean", spec->mean);
    nd_write_number(w, "sd", spec->sd);
    nd_write_number(w, "step", spec->step);
    if (spec->offset > 0) nd_write_number(w, "offset", spec->offset);
    nd_write_number(w, "floor", spec->floor);
    if (spec->atoms) nd_write_numbers(w, "atoms", spec->atom, spec->atoms);
    if (spec->gaussians) nd_write_count(w, "gaussians", spec->gaussians);
    if (spec->bounded) write_bounds(w, spec);
    if (spec->map) write_map(w, spec->map);
    nd_write_null(w, "labels");
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

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
    for (size_t a = 0; a < spec->atoms; a++) numbers[a] = (struct placed_number){spec->atom_cell[a], a};
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
    double *atom = nd_take(r, list->is.count, sizeof *atom);
    float *cell = nd_take(r, list->is.count, sizeof *cell);
    double *place = nd_take(r, list->is.count, sizeof *place);
    for (size_t a = 0; a < list->is.count && r->status == NADE_OK; a++, value = nd_json_after(value)) {
        atom[a] = nd_json_number(value);
        if (!nd_json_is_number(value) || !(fabsf(nd_cell_of(spec, atom[a])) <= (float)ND_FARTHEST))
            nd_wrong(r, "atoms", value, "a list of numbers within 1e15 standard deviations of the mean");
        if (spec->map && a > 0 && !(atom[a] > atom[a - 1])) nd_wrong(r, "atoms", value, "ascending numbers");
    }
    if (r->status != NADE_OK) return;
    spec->atoms = list->is.count;
    spec->atom = atom;
    nd_place_atoms(spec, cell, place);
    check_atoms_differ(r, list, spec);
}

/* A bound, or `none` where it is null. */
static double read_bound(struct model_reader *r, const struct json_value *object, const char *key, double none)
{
    if (nd_json_is(nd_json_get(object, key), ND_NULL)) return none;
    return nd_read_number(r, object, key, -ND_MEAN_MOST, ND_MEAN_MOST, "a number or null");
}

static void read_bounds(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    spec->bounded = nd_json_get(object, "low") || nd_json_get(object, "high");
    if (!spec->bounded) return;
    spec->low = read_bound(r, object, "low", -HUGE_VAL);
    spec->high = read_bound(r, object, "high", HUGE_VAL);
    if (!(spec->low < spec->high)) nd_wrong(r, "high", nd_json_get(object, "high"), "a number above low");
}

/* Numbers of a map: `count` of them; above 0, or ascending. */
static const double *read_knots(struct model_reader *r, const struct json_value *object, const char *key, size_t count,
                                bool ascending)
{
    const struct json_value *list = nd_read_list(r, object, key, count, count);
    double *knot = nd_take(r, count, sizeof *knot);
    if (!list || !knot) return NULL;
    const struct json_value *value = nd_json_first(list);
    for (size_t k = 0; k < count && r->status == NADE_OK; k++, value = nd_json_after(value)) {
        double least = !ascending ? 0 : k > 0 ? knot[k - 1] : -ND_NUMBER_MOST;
        knot[k] = nd_json_number(value);
        if (!nd_json_is_number(value) || !(knot[k] > least && knot[k] < ND_NUMBER_MOST))
            nd_wrong(r, key, value, ascending ? "ascending numbers" : "numbers above 0");
    }
    return r->status == NADE_OK ? knot : NULL;
}

/* Knots are ascending already. */
static bool is_sound(const struct monotone_map *map)
{
    size_t last = map->knots - 1;
    const double farthest = 40, rate = 1e3; /* of cells, and of approach to a bound: more than any that is learnt */
    return map->low < map->x[0] && map->high > map->x[last] && fabs(map->z[0]) <= farthest &&
           fabs(map->z[last]) <= farthest && map->slope[0] <= rate * (map->x[0] - map->low) &&
           map->slope[last] <= rate * (map->high - map->x[last]);
}

/* Absent where cells are standardised by mean and deviation. */
static void read_map(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    if (!nd_json_get(object, "map_values")) {
        static const char *const parts[] = {"map_cells", "map_slopes", "map_low", "map_high"};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) nd_read_none(r, object, parts[i]);
        return;
    }
    const struct json_value *list = nd_read_list(r, object, "map_values", ND_KNOTS_LEAST, ND_KNOTS_MOST);
    struct monotone_map *map = nd_take(r, 1, sizeof *map);
    if (!list || !map) return;
    map->knots = list->is.count;
    map->x = read_knots(r, object, "map_values", map->knots, true);
    map->z = read_knots(r, object, "map_cells", map->knots, true);
    map->slope = read_knots(r, object, "map_slopes", map->knots, false);
    map->low = read_bound(r, object, "map_low", -HUGE_VAL);
    map->high = read_bound(r, object, "map_high", HUGE_VAL);
    if (r->status != NADE_OK) return;
    if (!is_sound(map)) nd_wrong(r, "map_values", list, "values between map_low and map_high, cells within 40 of 0");
    spec->map = map;
}

/* Nothing but a map keeps Gaussians within bounds, and atoms are values too. */
static void check_within_bounds(struct model_reader *r, const struct json_value *object, const struct column_spec *spec)
{
    if (r->status != NADE_OK || !spec->bounded) return;
    bool kept = spec->map && isfinite(spec->low) == isfinite(spec->map->low) &&
                isfinite(spec->high) == isfinite(spec->map->high);
    if (!kept) nd_wrong(r, "low", nd_json_get(object, "low"), "bounds that the map has too");
    for (size_t a = 0; a < spec->atoms && r->status == NADE_OK; a++)
        if (!(spec->atom[a] >= spec->low && spec->atom[a] <= spec->high))
            nd_wrong(r, "atoms", nd_json_get(object, "atoms"), "numbers within the column's bounds");
}

void nd_read_real(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    spec->mean = nd_read_number(r, object, "mean", -ND_MEAN_MOST, ND_MEAN_MOST, "a number");
    spec->sd = nd_read_number(r, object, "sd", ND_SD_LEAST, ND_SD_MOST, "a number above 0");
    spec->step = nd_read_number(r, object, ND_FAULT(FAULT_STEP_NOT_READ) ? "floor" : "step", 0, ND_STEP_MOST,
                                "0 or a number above it");
    if (nd_json_get(object, "offset"))
        spec->offset = nd_read_number(r, object, "offset", 0, ND_STEP_MOST, "a number below the step");
    if (spec->offset > 0 && !(spec->offset < spec->step))
        nd_wrong(r, "offset", nd_json_get(object, "offset"), "a number below the step");
    spec->floor = nd_read_number(r, object, "floor", ND_FLOOR_LEAST, ND_FLOOR_MOST, "a float32 number above 0");
    if (nd_json_get(object, "gaussians"))
        spec->gaussians =
            (size_t)nd_count_from(r, "gaussians", nd_json_get(object, "gaussians"), 1, ND_COMPONENTS_MOST);
    read_bounds(r, object, spec);
    read_map(r, object, spec);
    read_atoms(r, object, spec);
    check_within_bounds(r, object, spec);
    nd_read_null(r, object, "labels");
}
