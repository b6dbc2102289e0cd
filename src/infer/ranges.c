#include "infer/ranges.h"

#include <math.h>
#include <stdint.h>

#include "base/fault.h"
#include "infer/values.h"
#include "model/head.h"
#include "model/mixture.h"

static nade_status read_range(nade_context *context, const struct column_spec *spec, bool exact, size_t c,
                              struct ranges *r)
{
    const struct head *head = nd_head_for(spec->type);
    if (!head->range || (head->labels && !spec->number))
        return nd_fail(context, NADE_BAD_CALL,
                       "column '%s' is %s, expected a range on a column of numbers, or of labels that are", spec->name,
                       nade_type_name(spec->type));
    struct range range = {.least = r->least[c], .most = r->most[c]};
    nade_status status = head->range(context, spec, exact, &range);
    if (status != NADE_OK) return status;
    r->least[c] = range.least;
    r->most[c] = range.most;
    r->low[c] = range.low;
    r->high[c] = range.high;
    return NADE_OK;
}

bool nd_is_ranged(const struct ranges *r, size_t c)
{
    return r->low && (isfinite(r->least[c]) || isfinite(r->most[c]));
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
        const struct plan_column *column = &model->plan.alone[c];
        if (!nd_is_ranged(r, c) || is_given(given, rows, model->plan.columns, c)) continue;
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

bool nd_within_ranges(const struct ranges *ranges, const nade_model *model, const float *given, const float *cells)
{
    if (!ranges->low || ND_FAULT(FAULT_RANGE_LATER)) return true;
    for (size_t c = 0; c < model->schema.count; c++) {
        if (c == ranges->bounded || !isnan(given[c]) || model->plan.column[c].head->labels) continue;
        double place = nd_cell_place(&model->plan.column[c], (double)cells[c]);
        if (place < ranges->low[c] || place > ranges->high[c]) return false;
    }
    return true;
}
