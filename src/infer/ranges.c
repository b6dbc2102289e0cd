#include "infer/ranges.h"

#include <math.h>
#include <stdint.h>

#include "base/fault.h"
#include "infer/values.h"
#include "model/head.h"

/* Where values are rounded, the bounds move inwards to values that can be returned, and the cells to be drawn are those
 * that round to these. */
static void round_bounds(const struct ranges *r, size_t c, double step)
{
    double least = nd_round_to_step(r->least[c], step), most = nd_round_to_step(r->most[c], step);
    if (isfinite(least)) r->least[c] = least < r->least[c] ? nd_round_to_step(least + step, step) : least;
    if (isfinite(most)) r->most[c] = most > r->most[c] ? nd_round_to_step(most - step, step) : most;
    r->low[c] = r->least[c] - step / 2;
    r->high[c] = r->most[c] + step / 2;
}

/* A bound and an atom beside it may be one in the model's units: the cells' bounds move so that exactly those atoms lie
 * within whose values do.  Returns how many. */
static size_t bound_atoms(const struct ranges *r, size_t c, const struct column_spec *spec)
{
    size_t within = 0;
    for (size_t a = 0; a < spec->atoms; a++) {
        float cell = nd_standardise(spec, spec->atom[a]);
        if (spec->atom[a] < r->least[c]) {
            r->low[c] = fmax(r->low[c], (double)nextafterf(cell, HUGE_VALF));
        } else if (spec->atom[a] > r->most[c]) {
            r->high[c] = fmin(r->high[c], (double)nextafterf(cell, -HUGE_VALF));
        } else {
            r->low[c] = fmin(r->low[c], (double)cell);
            r->high[c] = fmax(r->high[c], (double)cell);
            within++;
        }
    }
    return within;
}

static nade_status read_range(nade_context *context, const struct column_spec *spec, bool exact, size_t c,
                              struct ranges *r)
{
    double least = r->least[c], most = r->most[c];
    if (spec->type != NADE_REAL)
        return nd_fail(context, NADE_BAD_CALL, "column '%s' is %s, expected a range on a real column", spec->name,
                       nade_type_name(spec->type));
    r->low[c] = least;
    r->high[c] = most;
    if (spec->step > 0 && !exact) round_bounds(r, c, spec->step);
    r->low[c] = (r->low[c] - spec->mean) / spec->sd;
    r->high[c] = (r->high[c] - spec->mean) / spec->sd;
    if (r->least[c] > r->most[c] || (bound_atoms(r, c, spec) == 0 && !(r->low[c] < r->high[c])))
        return nd_fail(context, NADE_BAD_CALL,
                       "no value of column '%s' lies between %.15g and %.15g, expected a range that holds some",
                       spec->name, least, most);
    bool far = r->low[c] > ND_FARTHEST || r->high[c] < -ND_FARTHEST ||
               (isfinite(r->low[c]) && r->low[c] < -ND_FARTHEST) || (isfinite(r->high[c]) && r->high[c] > ND_FARTHEST);
    if (far)
        return nd_fail(context, NADE_BAD_CALL,
                       "the range of column '%s' ends beyond 1e15 standard deviations from the training mean, expected "
                       "nearer ends",
                       spec->name);
    return NADE_OK;
}

static bool is_bounded(const struct ranges *r, size_t c)
{
    return isfinite(r->least[c]) || isfinite(r->most[c]);
}

static bool is_given(const float *cells, size_t rows, size_t columns, size_t c)
{
    for (size_t row = 0; row < rows; row++)
        if (isnan(cells[row * columns + c])) return false;
    return true;
}

void nd_choose_bounded(const nade_model *model, size_t rows, const float *given, struct ranges *r)
{
    double least_likely = HUGE_VAL;
    for (size_t c = 0; c < model->schema.count; c++) {
        const struct plan_column *column = &model->plan.column[c];
        if (!r->low || !is_bounded(r, c) || is_given(given, rows, model->schema.count, c)) continue;
        double mass = column->head->log_between(column, model->schema.column[c].marginal, r->low[c], r->high[c]);
        if (mass >= least_likely) continue;
        least_likely = mass;
        r->bounded = c;
    }
}

nade_status nd_read_ranges(nade_context *context, struct arena *arena, const nade_model *model,
                           const nade_sample_options *options, struct ranges *ranges)
{
    size_t columns = model->schema.count;
    ranges->bounded = SIZE_MAX;
    if (!options->low && !options->high) return NADE_OK;
    double *bounds[4];
    for (size_t i = 0; i < 4; i++)
        if (!(bounds[i] = nd_arena_alloc(arena, columns, sizeof **bounds))) return nd_no_memory(context, "the ranges");
    *ranges = (struct ranges){bounds[0], bounds[1], bounds[2], bounds[3], SIZE_MAX};
    for (size_t c = 0; c < columns; c++) {
        ranges->low[c] = ranges->least[c] = options->low ? options->low[c] : -HUGE_VAL;
        ranges->high[c] = ranges->most[c] = options->high ? options->high[c] : HUGE_VAL;
        if (isnan(ranges->low[c]) || isnan(ranges->high[c]))
            return nd_fail(context, NADE_BAD_CALL, "a bound of column '%s' is not a number",
                           model->schema.column[c].name);
        if (ranges->low[c] == -HUGE_VAL && ranges->high[c] == HUGE_VAL) continue;
        nade_status status = read_range(context, &model->schema.column[c], options->exact, c, ranges);
        if (status != NADE_OK) return status;
    }
    return NADE_OK;
}

bool nd_within_ranges(const struct ranges *ranges, size_t columns, const float *given, const float *cells)
{
    if (!ranges->low || ND_FAULT(FAULT_RANGE_LATER)) return true;
    for (size_t c = 0; c < columns; c++) {
        if (c == ranges->bounded || !isnan(given[c])) continue;
        if ((double)cells[c] < ranges->low[c] || (double)cells[c] > ranges->high[c]) return false;
    }
    return true;
}
