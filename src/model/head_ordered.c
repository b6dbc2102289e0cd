/* Columns of numbers that take few values: a logit for each, p(v) = softmax, and no probability elsewhere.  Inside the
 * model they are labels, one-hot, so that 40 hours are told from 41; outside they are numbers, with ranges, means and
 * quantiles. */
#include <math.h>
#include <stdlib.h>

#include "base/ascending.h"
#include "base/fault.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/model_json.h"
#include "model/model_reader.h"
#include "model/softmax.h"

enum { VALUES_MOST = 1000 };

/* ---- the column -------------------------------------------------------------------------------------------------- */

/* Evenly spaced numbers: (first + k step) / scale, k = 0, ..., count - 1.  All three are integers, so that each is the
 * double that its decimals are read as. */
struct grid {
    double scale, first, step;
    size_t count;
};

/* The least power of ten whose multiples of the values are integers; 0: none. */
static double find_scale(const double *value, size_t count)
{
    double scale = 1;
    for (int decimals = 0; decimals <= 6; decimals++, scale *= 10) {
        size_t i = 0;
        while (i < count && fabs(value[i] * scale) <= 1e15 && nearbyint(value[i] * scale) / scale == value[i]) i++;
        if (i == count) return scale;
    }
    return 0;
}

/* The grid of ascending values that all lie on one; false: they do not, or it has too many points. */
static bool find_grid(const double *value, size_t count, struct grid *grid)
{
    enum { POINTS_MOST = 300 };
    double scale = find_scale(value, count), first = nearbyint(value[0] * scale), step = HUGE_VAL, before = first;
    if (scale == 0 || count < 2) return false;
    for (size_t i = 1; i < count; i++) {
        double next = nearbyint(value[i] * scale);
        step = fmin(step, next - before);
        before = next;
    }
    for (size_t i = 1; i < count; i++)
        if (fmod(nearbyint(value[i] * scale) - first, step) != 0) return false;
    if ((before - first) / step >= POINTS_MOST) return false;
    *grid = (struct grid){scale, first, step, (size_t)((before - first) / step) + 1};
    return true;
}

/* Other rows hold numbers that these do not, an age of 74 say: where the values lie on a grid, all of its points are
 * values, and of ten or more a few beyond each end, though none below 0 where none was. */
static bool expect_others(struct arena *arena, struct column_spec *spec)
{
    enum { BEYOND = 5, POINTS_EACH = 10 };
    struct grid grid;
    if (!find_grid(spec->atom, spec->atoms, &grid)) return true;
    size_t tenth = grid.count / POINTS_EACH;
    double beyond = fmin(BEYOND, (double)tenth), last = spec->atom[spec->atoms - 1];
    double below = grid.first < 0 ? beyond : fmin(beyond, floor(grid.first / grid.step));
    double above = last == 1 || last == 100 ? 0 : beyond; /* shares and percentages end there */
    size_t count = grid.count + (size_t)below + (size_t)above;
    double *value = nd_arena_alloc(arena, count, sizeof *value);
    for (size_t k = 0; value && k < count; k++) value[k] = (grid.first + ((double)k - below) * grid.step) / grid.scale;
    spec->atom = value;
    spec->atoms = count;
    return value != NULL;
}

/* All values of the table count, as all labels do: that the type allows them, data/column_types.c has seen to. */
static nade_status learn(nade_context *context, struct arena *arena, const nade_table *table, size_t number,
                         const struct chosen_rows *rows, struct column_spec *spec)
{
    const struct table_column *column = &table->column[number];
    double *value = nd_arena_alloc(arena, column->label_count, sizeof *value);
    (void)rows;
    if (!value) return nd_no_memory(context, "the columns");
    size_t numbers = 0;
    for (size_t i = 0; i < column->label_count; i++) value[numbers++] = column->labels[i].number + 0.0;
    qsort(value, numbers, sizeof *value, nd_compare_numbers);
    for (size_t i = 0; i < numbers; i++)
        if (spec->atoms == 0 || value[i] != value[spec->atoms - 1]) value[spec->atoms++] = value[i];
    spec->atom = value;
    return expect_others(arena, spec) ? NADE_OK : nd_no_memory(context, "the columns");
}

static void write_values(struct model_writer *w, const struct column_spec *spec)
{
    static const char *const without[] = {"mean", "sd", "step", "floor"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) nd_write_null(w, without[i]);
    nd_write_numbers(w, "values", spec->atom, spec->atoms);
    nd_write_null(w, "labels");
}

static const char *const keys[] = {"values", NULL};

static void read_values(struct model_reader *r, const struct json_value *object, struct column_spec *spec)
{
    static const char *const without[] = {"mean", "sd", "step", "floor", "labels"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) nd_read_null(r, object, without[i]);
    nd_read_none(r, object, "atoms");
    const struct json_value *list = nd_read_list(r, object, "values", 1, VALUES_MOST);
    if (!list) return;
    const struct json_value *number = nd_json_first(list);
    double *value = nd_take(r, list->is.count, sizeof *value);
    for (size_t i = 0; i < list->is.count && r->status == NADE_OK; i++, number = nd_json_after(number)) {
        value[i] = nd_json_number(number);
        if (!nd_json_is_number(number) || (i > 0 && !(value[i] > value[i - 1])))
            nd_wrong(r, "values", number, "ascending numbers");
    }
    spec->atom = value;
    spec->atoms = list->is.count;
}

static nade_status plan(nade_context *context, struct arena *arena, const struct column_spec *spec, size_t components,
                        struct plan_column *column)
{
    (void)components;
    if (spec->atoms < 1 || spec->atoms > VALUES_MOST)
        return nd_fail(context, NADE_BAD_INPUT, "column '%s' has %zu values, expected 1 to %d of an ordered column",
                       spec->name, spec->atoms, VALUES_MOST);
    column->input_width = column->output_width = column->values = spec->atoms;
    return nd_keep_spec(arena, spec, column) ? NADE_OK : nd_no_memory(context, "the network");
}

/* The first value that is at least x; spec->atoms: none. */
static size_t first_from(const struct column_spec *spec, double x)
{
    return nd_first_from(spec->atom, spec->atoms, x);
}

static bool encode(const struct column_spec *spec, double value, float *cell)
{
    size_t at = first_from(spec, value);
    *cell = (float)at;
    return at < spec->atoms && spec->atom[at] == value;
}

static double decode(const struct column_spec *spec, double cell, bool exact)
{
    (void)exact;
    if (ND_FAULT(FAULT_ORDERED_NEXT)) cell += 1;
    return spec->atom[(size_t)fmin(fmax(nearbyint(cell), 0), (double)(spec->atoms - 1))];
}

static double nearest(const struct column_spec *spec, double value)
{
    size_t at = first_from(spec, value);
    if (at == spec->atoms || (at > 0 && value - spec->atom[at - 1] < spec->atom[at] - value)) at--;
    return spec->atom[at];
}

static nade_status range(nade_context *context, const struct column_spec *spec, bool exact, struct range *range)
{
    size_t first = first_from(spec, range->least), end = first_from(spec, range->most);
    (void)exact;
    if (end < spec->atoms && spec->atom[end] == range->most) end++;
    if (first >= end) return nd_refuse_empty_range(context, spec, range->least, range->most);
    *range = (struct range){spec->atom[first], spec->atom[end - 1], (double)first - 0.5, (double)end - 0.5};
    return NADE_OK;
}

/* ---- its distribution -------------------------------------------------------------------------------------------- */

/* The values between two cells: the first, and how many. */
static size_t values_between(const struct plan_column *column, double low, double high, size_t *count)
{
    double first = fmax(ceil(low), 0), last = fmin(floor(high), (double)(column->values - 1));
    *count = first <= last ? (size_t)(last - first) + 1 : 0;
    return (size_t)first;
}

static double sample_between(const struct plan_column *column, const double *outputs, double low, double high,
                             const uint32_t words[4])
{
    size_t count, first = values_between(column, low, high, &count);
    return (double)(first + nd_pick_from_logits(outputs + first, count, (double)nd_random_uniform(words[0])));
}

static double log_between(const struct plan_column *column, const double *outputs, double low, double high)
{
    size_t count, first = values_between(column, low, high, &count);
    return count ? fmin(nd_log_sum(outputs + first, count) - nd_log_sum(outputs, column->values), 0) : -HUGE_VAL;
}

static double mean(const struct plan_column *column, const double *outputs)
{
    const struct column_spec *spec = column->own;
    double total = nd_log_sum(outputs, column->values), sum = 0;
    for (size_t v = 0; v < column->values; v++) sum += exp(outputs[v] - total) * spec->atom[v];
    return sum;
}

static double quantile(const struct plan_column *column, const double *outputs, double p)
{
    double total = nd_log_sum(outputs, column->values), sum = 0;
    for (size_t v = 0; v + 1 < column->values; v++)
        if ((sum += exp(outputs[v] - total)) >= p) return (double)v;
    return (double)(column->values - 1);
}

const struct head nd_head_ordered = {
    .type = NADE_ORDERED,
    .one_hot = true,
    .learn = learn,
    .write = write_values,
    .read = read_values,
    .keys = keys,
    .plan = plan,
    .encode = encode,
    .expected = "one of the column's values",
    .decode = decode,
    .nearest = nearest,
    .range = range,
    .log_density = nd_softmax_log_density,
    .loss_gradient = nd_softmax_loss_gradient,
    .fit_marginal = nd_softmax_fit_marginal,
    .fit_weighted = nd_softmax_fit_weighted,
    .sample = nd_softmax_sample,
    .sample_between = sample_between,
    .log_between = log_between,
    .mean = mean,
    .quantile = quantile,
    .mode = nd_softmax_mode,
    .tail = nd_softmax_tail,
    .mix = nd_softmax_mix,
    .initial_weight_scale = 0.2f,
};
