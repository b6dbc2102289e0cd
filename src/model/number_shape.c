#include "model/number_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/fault.h"
#include "base/parallel.h"
#include "data/number_form.h"
#include "model/head.h"
#include "model/monotone_map.h"
#include "model/normal.h"
#include "model/plan.h"
#include "model/real_column.h"

/* A value of the data and how many cells hold it. */
struct counted {
    double value;
    size_t count;
    bool peak; /* frequent, and more than its neighbours are */
    bool atom;
};

/* One column while its shape is found. */
struct shape {
    const struct shape_options *options;
    struct column_spec *spec;
    struct counted *value; /* (distinct), ascending */
    size_t distinct, cells;
    double *rest; /* (left), ascending: the cells of values that are no atoms */
    size_t left;
    double low, high; /* bounds; infinite: none */
    struct monotone_map map;
    double x[ND_KNOTS_MOST], z[ND_KNOTS_MOST], slope[ND_KNOTS_MOST]; /* the map's */
};

/* False: no memory. */
static bool count_values(struct arena *arena, const struct table_column *column, const size_t *rows, size_t row_count,
                         struct shape *s)
{
    size_t distinct = 0;
    s->rest = nd_arena_alloc(arena, row_count, sizeof *s->rest);
    if (!s->rest) return false;
    for (size_t i = 0; i < row_count; i++) {
        double cell = nd_table_number(column, rows[i]) + 0.0; /* + 0.0 makes -0 a 0 */
        if (!isnan(cell)) s->rest[s->cells++] = cell;
    }
    if (s->cells == 0) return true;
    qsort(s->rest, s->cells, sizeof *s->rest, nd_compare_numbers);
    for (size_t i = 0; i < s->cells; i++) distinct += i == 0 || s->rest[i] != s->rest[i - 1];
    s->value = nd_arena_alloc(arena, distinct, sizeof *s->value);
    if (!s->value) return false;
    for (size_t i = 0; i < s->cells; i++) {
        if (i == 0 || s->rest[i] != s->rest[i - 1]) s->value[s->distinct++].value = s->rest[i];
        s->value[s->distinct - 1].count++;
    }
    return true;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

/* Cells below which nothing is said about bounds; a normal distribution would put so many cells beyond a bound that
 * none lies there by chance no more; beyond so many deviations from the mean a bound changes nothing. */
enum { BOUND_CELLS = 20, MISSING_CELLS = 3, FAR_DEVIATIONS = 5, SKEWED = 2 };

/* True when it is no chance that no cell lies beyond an end, which is `deviations` from the mean. */
static bool is_end(const struct shape *s, double deviations)
{
    return (double)s->cells * nd_normal_share(-deviations) >= MISSING_CELLS;
}

static double middle_value(const struct shape *s)
{
    return s->rest[s->cells / 2];
}

/* Nothing is below zero where zero itself occurs, where a bell would reach below it, or is far above it, and where the
 * values lean against it. */
static bool has_zero_end(const struct shape *s)
{
    double least = s->value[0].value, most = s->value[s->distinct - 1].value, middle = middle_value(s);
    double deviations = s->spec->mean / s->spec->sd;
    if (least < 0 || s->cells < BOUND_CELLS || s->distinct < 2) return false;
    return least == 0 || is_end(s, deviations) || deviations >= FAR_DEVIATIONS ||
           most - middle > SKEWED * (middle - least);
}

/* Shares and percentages end at 1 or at 100, and come near to it. */
#define NEAR_END 0.95

static const double upper_ends[] = {1, 100};

/* The last time of a day. */
static double end_of_day(const struct column_spec *spec)
{
    enum { DAY = 24 * 60 * 60 };
    return spec->step > 0 ? nd_last_recorded(spec, DAY - spec->step / 2) : DAY;
}
enum { UPPER_ENDS = sizeof upper_ends / sizeof *upper_ends };

static bool is_near_end(const struct shape *s, double end)
{
    const struct counted *most = &s->value[s->distinct - 1];
    return most->value <= end && most->value >= NEAR_END * end &&
           ((most->value == end && most->count >= MISSING_CELLS) || is_end(s, (end - s->spec->mean) / s->spec->sd));
}

static double find_upper(const struct shape *s)
{
    enum duration_form duration = nd_written_duration(s->spec->written);
    if (duration && !ND_FAULT(FAULT_DAY_ENDLESS))
        return nd_duration_padded(duration) && is_near_end(s, end_of_day(s->spec)) ? end_of_day(s->spec) : HUGE_VAL;
    for (size_t i = 0; i < UPPER_ENDS; i++)
        if (is_near_end(s, upper_ends[i])) return upper_ends[i];
    return HUGE_VAL;
}

/* Cells pile up at 1 or 100: a part in SHARE_AT_END of them.  Such a column is a share or a percentage and begins at 0,
 * however far above it all cells are. */
enum { SHARE_AT_END = 100 };

static bool piles_up_at_end(const struct shape *s)
{
    const struct counted *most = &s->value[s->distinct - 1];
    bool is_end_of_shares = false;
    for (size_t i = 0; i < UPPER_ENDS; i++) is_end_of_shares = is_end_of_shares || most->value == upper_ends[i];
    return is_end_of_shares && s->value[0].value >= 0 && s->cells >= BOUND_CELLS && s->distinct > 2 &&
           most->count >= MISSING_CELLS && SHARE_AT_END * most->count >= s->cells;
}

/* The least and the largest number of a column, in whatever row. */
struct extent {
    double least, most;
};

static struct extent extent_of(const nade_table *table, size_t number)
{
    struct extent extent = {HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < table->rows; i++) {
        double cell = nd_table_number(&table->column[number], i);
        if (cell < extent.least) extent.least = cell;
        if (cell > extent.most) extent.most = cell;
    }
    return extent;
}

/* A bound that is found, not given, must hold in all rows of the table: those held out are looked at for this alone,
 * and could not be validated if one lay beyond it. */
static void find_bounds(struct shape *s, const nade_table *table, size_t number)
{
    const struct shape_options *o = s->options;
    double low = o->low ? o->low[number] : NAN, high = o->high ? o->high[number] : NAN;
    bool lasts = nd_written_duration(s->spec->written) && s->value[0].value >= 0;
    bool zero = o->maps && (lasts || has_zero_end(s) || piles_up_at_end(s));
    double upper = zero && isnan(high) ? find_upper(s) : HUGE_VAL;
    struct extent all = zero && !ND_FAULT(FAULT_BOUND_CROSSED) ? extent_of(table, number) : (struct extent){0, 0};
    s->low = !isnan(low) ? low : zero && all.least >= 0 ? 0 : -HUGE_VAL;
    s->high = !isnan(high) ? high : all.least >= 0 && all.most <= upper ? upper : HUGE_VAL;
}

/* ---- atoms ------------------------------------------------------------------------------------------------------- */

/* Cells that an atom holds at least.  A value stands out when it holds TIMES what a smooth distribution would give to
 * its bin, and that is no chance.  A smooth distribution bends to what is very frequent, so one part in SHARE of the
 * cells is compared with NEIGHBOURS values on each side instead: on a grid that all values share the frequent ones are
 * the middle of a bell, which atoms would only cut into pieces. */
enum { CELLS_LEAST = 10, SHARE = 50, TIMES = 3, DEVIATIONS = 5, NEIGHBOURS = 4, ATOMS_MOST = 200, ROUNDS = 3 };

#define PEAK_TIMES 1.5

static void collect_rest(struct shape *s)
{
    s->left = 0;
    for (size_t v = 0; v < s->distinct; v++)
        for (size_t i = 0; i < s->value[v].count && !s->value[v].atom; i++) s->rest[s->left++] = s->value[v].value;
}

/* The bound that the map keeps.  Where the bound itself occurs it is an atom, and its bin is not that of the values
 * beside it; where it is none, the bin of what is recorded next to it, or what stands for it, must have room: other
 * rows may hold it. */
static double inner_bound(const struct shape *s, double bound, double direction)
{
    const struct counted *end = direction > 0 ? &s->value[0] : &s->value[s->distinct - 1];
    const struct column_spec *spec = s->spec;
    if (isinf(bound)) return bound;
    if (end->value == bound && end->atom) return bound + direction * spec->step / 2;
    if (spec->step <= 0) return end->value == bound ? bound - direction * ND_SCALE_FLOOR * spec->sd : bound;
    double outermost = direction > 0 ? nd_first_recorded(spec, bound) : nd_last_recorded(spec, bound);
    return outermost - direction * spec->step / 2;
}

static bool fit_map(struct shape *s, bool straight)
{
    s->map = (struct monotone_map){
        .x = s->x, .z = s->z, .slope = s->slope, .low = inner_bound(s, s->low, 1), .high = inner_bound(s, s->high, -1)};
    if (!(s->map.high > s->map.low)) { /* nothing is left between the atoms' bins */
        s->map.low = s->low;
        s->map.high = s->high;
    }
    s->map.knots = nd_map_fit(s->rest, s->left, s->spec->step, s->map.low, s->map.high, straight, s->x, s->z, s->slope);
    return s->map.knots > 0;
}

static double width_of_bin(const struct shape *s)
{
    return s->spec->step > 0 ? s->spec->step : ND_SCALE_FLOOR * s->spec->sd;
}

/* How many cells a smooth distribution of the rest, if it was found, would put into a value's bin. */
static double smooth_count(const struct shape *s, double value, bool smooth)
{
    double width = width_of_bin(s);
    if (!smooth) return 0;
    return (double)s->left * (nd_normal_share(nd_map_cell(&s->map, value + width / 2)) -
                              nd_normal_share(nd_map_cell(&s->map, value - width / 2)));
}

/* How many cells a value's bin would hold if it were like those of the values around it. */
static double count_around(const struct shape *s, size_t v)
{
    size_t first = v > NEIGHBOURS ? v - NEIGHBOURS : 0;
    size_t last = v + NEIGHBOURS < s->distinct ? v + NEIGHBOURS : s->distinct - 1;
    double cells = 0, bins = (s->value[last].value - s->value[first].value) / width_of_bin(s);
    for (size_t i = first; i <= last; i++) cells += i == v ? 0 : (double)s->value[i].count;
    return bins >= 1 ? cells / bins : 0;
}

static void find_peaks(struct shape *s)
{
    for (size_t v = 0; v < s->distinct; v++) {
        double around = count_around(s, v), count = (double)s->value[v].count;
        s->value[v].peak = SHARE * s->value[v].count >= s->cells &&
                           (count > PEAK_TIMES * around + DEVIATIONS * sqrt(around) || ND_FAULT(FAULT_GRID_OF_ATOMS));
    }
}

static bool is_at_bound(const struct shape *s, const struct counted *v)
{
    return v->value == s->low || v->value == s->high;
}

static bool stands_out(const struct shape *s, const struct counted *v, bool smooth)
{
    double expected = smooth_count(s, v->value, smooth);
    if (is_at_bound(s, v)) return true;
    if (v->count < CELLS_LEAST) return false;
    return v->peak || (double)v->count > TIMES * expected + DEVIATIONS * sqrt(expected);
}

/* The least count of the ATOMS_MOST most frequent atoms. */
static size_t least_count(struct arena *scratch, const struct shape *s, bool *no_memory)
{
    double *count = nd_arena_alloc(scratch, s->distinct, sizeof *count);
    size_t atoms = 0;
    *no_memory = !count;
    for (size_t v = 0; count && v < s->distinct; v++)
        if (s->value[v].atom) count[atoms++] = (double)s->value[v].count;
    if (atoms <= ATOMS_MOST) return 0;
    qsort(count, atoms, sizeof *count, nd_compare_numbers);
    return (size_t)count[atoms - ATOMS_MOST];
}

/* Atoms are what stands out of the rest, and the rest is what they leave: a few rounds settle it.  False: no memory. */
static bool find_atoms(struct arena *scratch, struct shape *s)
{
    bool no_memory = false;
    find_peaks(s);
    for (size_t v = 0; v < s->distinct; v++) s->value[v].atom = is_at_bound(s, &s->value[v]) || s->value[v].peak;
    for (int round = 0; round < ROUNDS; round++) {
        collect_rest(s);
        bool smooth = fit_map(s, false);
        for (size_t v = 0; v < s->distinct; v++) s->value[v].atom = stands_out(s, &s->value[v], smooth);
    }
    size_t least = least_count(scratch, s, &no_memory), atoms = 0;
    for (size_t v = 0; v < s->distinct; v++) {
        struct counted *value = &s->value[v];
        value->atom = value->atom && (is_at_bound(s, value) || (value->count >= least && atoms < ATOMS_MOST));
        atoms += value->atom;
    }
    collect_rest(s);
    return !no_memory;
}

/* ---- the map ----------------------------------------------------------------------------------------------------- */

/* Values that a map takes at least, bent or straight; one part in APART of the cells makes the units those of the rest.
 */
enum { BENT_LEAST = 100, STRAIGHT_LEAST = 20, APART = 5 };

/* How many deviations a knot may lie from where a bell would have it before the column is no bell. */
#define BELL 0.25

/* The most that the knots, those far out aside, lie from a straight line through mean and deviation. */
static double distance_from_bell(const struct shape *s)
{
    double mean = 0, squares = 0, most = 0;
    for (size_t i = 0; i < s->left; i++) mean += (s->rest[i] - s->rest[0]) / (double)s->left;
    mean += s->rest[0];
    double extent = s->rest[s->left - 1] - s->rest[0]; /* squares of what is below 1 do not overflow */
    for (size_t i = 0; i < s->left; i++) squares += pow((s->rest[i] - mean) / extent, 2) / (double)s->left;
    for (size_t k = 0; k < s->map.knots; k++)
        if (fabs(s->z[k]) < 2.2) most = fmax(most, fabs((s->x[k] - mean) / extent / sqrt(squares) - s->z[k]));
    return most;
}

/* Two knots that keep the bounds where the values have nothing to say. */
static void place_between(struct shape *s)
{
    double unit = s->spec->sd, low = s->map.low, high = s->map.high;
    if (isfinite(low) && isfinite(high)) unit = (high - low) / 2;
    s->map.knots = 2;
    s->x[0] = isfinite(low) ? low + unit / 2 : high - 1.5 * unit;
    s->x[1] = s->x[0] + unit;
    s->z[0] = -1;
    s->z[1] = 1;
    s->slope[0] = s->slope[1] = unit / 2;
}

static bool is_bounded(const struct shape *s)
{
    return isfinite(s->low) || isfinite(s->high);
}

/* True when the column's cells are mapped. */
static bool choose_map(struct shape *s)
{
    if (s->options->maps && s->left >= BENT_LEAST && fit_map(s, false) && distance_from_bell(s) > BELL) return true;
    bool apart = s->options->maps && APART * (s->cells - s->left) >= s->cells;
    if (!is_bounded(s)) return apart && s->left >= STRAIGHT_LEAST && fit_map(s, true);
    if (!fit_map(s, true)) place_between(s);
    return true;
}

/* Cells without a map may be one in float32 where an outlier stretches them; of those the first stays an atom. */
static size_t keep_apart(struct column_spec *spec, double *atom, size_t atoms)
{
    size_t kept = 0;
    for (size_t a = 0; a < atoms; a++)
        if (kept == 0 || nd_cell_of(spec, atom[a]) > nd_cell_of(spec, atom[kept - 1])) atom[kept++] = atom[a];
    return kept;
}

/* Where the recording step is wider, in the middle of the rest's cells, than the least floor, that makes the floor. */
static void set_floor(const struct shape *s)
{
    struct column_spec *spec = s->spec;
    if (spec->step <= 0 || s->left == 0) return;
    double middle = s->rest[s->left / 2], slope = exp(nd_map_log_slope(spec->map, nd_map_cell(spec->map, middle)));
    spec->floor = fmax(ND_SCALE_FLOOR, spec->step / (slope * sqrt(12.0)));
}

static bool keep_map(struct arena *arena, const struct shape *s)
{
    struct monotone_map *map = nd_arena_alloc(arena, 1, sizeof *map);
    double *knots = nd_arena_alloc(arena, 3 * s->map.knots, sizeof *knots);
    if (!map || !knots) return false;
    size_t bytes = s->map.knots * sizeof *knots;
    *map = s->map;
    map->x = memcpy(knots, s->x, bytes);
    map->z = memcpy(knots + s->map.knots, s->z, bytes);
    map->slope = memcpy(knots + 2 * s->map.knots, s->slope, bytes);
    s->spec->map = map;
    set_floor(s);
    return true;
}

static bool keep_atoms(struct arena *arena, const struct shape *s)
{
    struct column_spec *spec = s->spec;
    size_t atoms = 0, left = s->left;
    for (size_t v = 0; v < s->distinct; v++) atoms += s->value[v].atom;
    if (atoms == 0) return true;
    double *atom = nd_arena_alloc(arena, 2 * atoms, sizeof *atom);
    float *cell = nd_arena_alloc(arena, atoms, sizeof *cell);
    if (!atom || !cell) return false;
    atoms = 0;
    for (size_t v = 0; v < s->distinct; v++)
        if (s->value[v].atom) atom[atoms++] = s->value[v].value;
    spec->atoms = spec->map ? atoms : keep_apart(spec, atom, atoms);
    spec->atom = atom;
    nd_place_atoms(spec, cell, atom + atoms);
    enum { CELLS_A_GAUSSIAN = 20 }; /* and one that is wide, for values that were not seen (head_mixture.c) */
    size_t enough = 2 + left / CELLS_A_GAUSSIAN, room = ND_COMPONENTS_MOST - spec->atoms;
    if (enough > room) enough = room;
    spec->gaussians = enough < s->options->gaussians ? enough : s->options->gaussians;
    return true;
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

struct search {
    const nade_allocator *allocator;
    struct arena *arena; /* (columns) the columns' own, given to the model's at the end */
    const nade_table *table;
    const size_t *rows; /* (row_count) */
    size_t row_count;
    const struct shape_options *options;
    struct schema *schema;
    bool *no_memory; /* (columns) */
    double *outside; /* (columns) a number beyond bounds that were given; NaN: none */
};

/* Columns that are sorted at a time: each takes some 40 bytes a row. */
enum { COLUMNS_ABREAST = 4 };

static bool learn_column(const struct search *search, struct arena *scratch, size_t number)
{
    struct shape s = {.options = search->options, .spec = &search->schema->column[number]};
    if (!count_values(scratch, &search->table->column[number], search->rows, search->row_count, &s)) return false;
    if (s.cells == 0) return true;
    find_bounds(&s, search->table, number);
    double least = s.value[0].value, most = s.value[s.distinct - 1].value;
    search->outside[number] = least < s.low ? least : most > s.high ? most : NAN;
    if (!isnan(search->outside[number])) return true;
    if (s.options->atoms && !find_atoms(scratch, &s)) return false;
    if (!s.options->atoms) collect_rest(&s);
    if (choose_map(&s) && !keep_map(&search->arena[number], &s)) return false;
    s.spec->bounded = is_bounded(&s);
    s.spec->low = s.low;
    s.spec->high = s.high;
    return keep_atoms(&search->arena[number], &s);
}

static void search_column(void *argument, size_t number, unsigned worker)
{
    const struct search *search = argument;
    struct arena scratch = {.allocator = *search->allocator};
    (void)worker;
    if (!nd_head_for(search->schema->column[number].type)->continuous) return;
    search->no_memory[number] = !learn_column(search, &scratch, number);
    nd_arena_free(&scratch);
}

/* Fails for bounds that were given and can't be. */
static nade_status check_bounds(nade_context *context, const nade_table *table, const struct search *search)
{
    const struct shape_options *o = search->options;
    char ends[ND_ENDS_TEXT];
    for (size_t c = 0; o->low && o->high && c < search->schema->count; c++) {
        const struct column_spec *spec = &search->schema->column[c];
        bool given = isfinite(o->low[c]) || isfinite(o->high[c]);
        if (given && spec->type != NADE_REAL)
            return nd_fail(context, NADE_BAD_CALL, "column '%s' is %s, expected bounds on a real column", spec->name,
                           nade_type_name(spec->type));
        double farthest = fmax(isfinite(o->low[c]) ? fabs(o->low[c]) : 0, isfinite(o->high[c]) ? fabs(o->high[c]) : 0);
        if (farthest >= ND_NUMBER_MOST)
            return nd_fail(context, NADE_BAD_CALL, "column '%s' is given the bound %.15g, expected one within %g",
                           spec->name, farthest == fabs(o->low[c]) ? o->low[c] : o->high[c], ND_NUMBER_MOST);
        if (given && !isnan(search->outside[c]))
            return nd_fail(context, NADE_BAD_INPUT,
                           "%s, column '%s' holds %.15g, expected numbers within its bounds, %s", table->source,
                           spec->name, search->outside[c], nd_ends_text(o->low[c], o->high[c], ends));
    }
    return NADE_OK;
}

/* Copies `bytes` into the arena; NULL: there were none, or no memory. */
static const void *copy(struct arena *arena, const void *from, size_t bytes)
{
    void *to = bytes ? nd_arena_alloc(arena, bytes, 1) : NULL;
    return to ? memcpy(to, from, bytes) : NULL;
}

/* Moves what a column has learnt into the model's arena, which threads can't share.  False: no memory. */
static bool adopt(struct arena *arena, struct column_spec *spec)
{
    size_t atoms = spec->atoms * sizeof *spec->atom;
    bool good = true;
    if (!nd_head_for(spec->type)->continuous) return true;
    if (spec->atoms) {
        spec->atom = copy(arena, spec->atom, atoms);
        spec->atom_cell = copy(arena, spec->atom_cell, spec->atoms * sizeof *spec->atom_cell);
        good = spec->atom && spec->atom_cell;
    }
    if (spec->atom_place) good = (spec->atom_place = copy(arena, spec->atom_place, atoms)) && good;
    if (spec->map) {
        struct monotone_map map = *spec->map;
        size_t bytes = map.knots * sizeof *map.x;
        map.x = copy(arena, map.x, bytes);
        map.z = copy(arena, map.z, bytes);
        map.slope = copy(arena, map.slope, bytes);
        spec->map = copy(arena, &map, sizeof map);
        good = good && map.x && map.z && map.slope && spec->map;
    }
    return good;
}

nade_status nd_learn_shapes(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                            size_t row_count, const struct shape_options *options, struct schema *schema)
{
    struct arena scratch = {context->allocator, NULL};
    struct search search = {
        .allocator = &context->allocator,
        .arena = nd_arena_alloc(&scratch, schema->count, sizeof *search.arena),
        .table = table,
        .rows = rows,
        .row_count = row_count,
        .options = options,
        .schema = schema,
        .no_memory = nd_arena_alloc(&scratch, schema->count, sizeof *search.no_memory),
        .outside = nd_arena_alloc(&scratch, schema->count, sizeof *search.outside),
    };
    nade_status status = NADE_OK;
    if (!search.arena || !search.no_memory || !search.outside) status = nd_no_memory(context, "the columns");
    for (size_t c = 0; status == NADE_OK && c < schema->count; c++) {
        search.arena[c].allocator = context->allocator;
        search.outside[c] = NAN;
    }
    if (status == NADE_OK) status = nd_parallel_once(context, COLUMNS_ABREAST, schema->count, search_column, &search);
    if (status == NADE_OK) status = check_bounds(context, table, &search);
    for (size_t c = 0; status == NADE_OK && c < schema->count; c++)
        if (search.no_memory[c] || !adopt(arena, &schema->column[c])) status = nd_no_memory(context, "the columns");
    for (size_t c = 0; search.arena && c < schema->count; c++) nd_arena_free(&search.arena[c]);
    nd_arena_free(&scratch);
    return status;
}
