#include "infer/impute.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "infer/cellwise.h"
#include "infer/sampling.h"
#include "infer/values.h"
#include "model/head.h"
#include "model/rare_labels.h"

struct imputing {
    const nade_model *model;
    const nade_impute_options *options;
    struct arena arena;
    nade_session *session;
    size_t rows, count; /* count = rows · columns */
    float *cells;       /* (rows, columns of the network) */
    bool *missing;      /* (rows, columns) */
    double *value;      /* (rows, columns), NaN where nothing is filled; unused with draws */
    double *low, *high; /* (rows, columns) */
};

static nade_status check_options(nade_context *context, const nade_impute_options *o, const double *low,
                                 const double *high)
{
    if ((unsigned)o->method > NADE_IMPUTE_MODE)
        return nd_fail(context, NADE_BAD_CALL, "the method is %d, expected draw, mean, median or mode", (int)o->method);
    if (!(o->interval >= 0 && o->interval < 1))
        return nd_fail(context, NADE_BAD_CALL, "the interval is %g, expected a probability below 1, or 0 for none",
                       o->interval);
    if (o->interval > 0 && (!low || !high))
        return nd_fail(context, NADE_BAD_CALL, "an interval is asked for, expected places for its ends");
    if (o->draws == 0) return nd_fail(context, NADE_BAD_CALL, "the number of draws is 0, expected at least 1");
    return NADE_OK;
}

static nade_status prepare(nade_context *context, struct imputing *s, const double *values)
{
    if (!nd_multiply(s->rows, s->model->schema.count, &s->count)) return nd_no_memory(context, "the rows");
    s->cells = nd_arena_alloc(&s->arena, s->rows, s->model->plan.columns * sizeof *s->cells);
    s->missing = nd_arena_alloc(&s->arena, s->count, sizeof *s->missing);
    s->value = nd_arena_alloc(&s->arena, s->count, sizeof *s->value);
    s->low = nd_arena_alloc(&s->arena, s->count, sizeof *s->low);
    s->high = nd_arena_alloc(&s->arena, s->count, sizeof *s->high);
    if (!s->cells || !s->missing || !s->value || !s->low || !s->high) return nd_no_memory(context, "the rows");
    for (size_t at = 0; at < s->count; at++) {
        s->missing[at] = isnan(values[at]);
        s->value[at] = s->low[at] = s->high[at] = NAN;
    }
    const struct row_names names = {s->options->first, s->options->draws};
    return nd_encode_values(context, s->model, names, s->rows, values, s->cells);
}

/* One ordering knows the next cell's distribution, not those of cells further on, which depend on it. */
static nade_status check_single(nade_context *context, const struct imputing *s)
{
    size_t columns = s->model->schema.count;
    for (size_t row = 0; row < s->rows && s->model->plan.ordering; row++) {
        size_t holes = 0;
        for (size_t c = 0; c < columns; c++) holes += s->missing[row * columns + c];
        if (holes > 1)
            return nd_fail(context, NADE_BAD_CALL,
                           "row %zu has %zu missing cells, and the model was trained for one fixed ordering: expected "
                           "at most one, or the method draw without an interval",
                           (size_t)s->options->first + row / s->options->draws, holes);
    }
    return NADE_OK;
}

/* The value that stands for a cell, in data units. */
static double point_of(const struct imputing *s, const struct column_spec *spec, const struct plan_column *column,
                       const double *outputs)
{
    const struct head *head = column->head;
    nade_impute_method method = s->options->method;
    if (method == NADE_IMPUTE_MEAN && head->mean && !ND_FAULT(FAULT_MEAN_IS_MODE)) {
        double mean = head->mean(column, outputs);
        return s->options->exact ? mean : head->nearest(spec, mean);
    }
    if (method == NADE_IMPUTE_MEDIAN && head->quantile)
        return nd_quantile_value(spec, column, outputs, 0.5, s->options->exact);
    return nd_decode_value(spec, head->mode(column, outputs), s->options->exact);
}

/* What is asked of one missing cell. */
static void answer(void *user, size_t row, size_t c, const struct plan_column *column, const double *outputs)
{
    const struct imputing *s = user;
    const struct column_spec *spec = &s->model->schema.column[c];
    size_t at = row * s->model->schema.count + c;
    double outside = (1 - s->options->interval) / (ND_FAULT(FAULT_INTERVAL_ONE_SIDED) ? 1 : 2);
    if (s->options->method != NADE_IMPUTE_DRAW && spec->rare_count > 0)
        s->value[at] = (double)nd_likeliest_label(spec, outputs);
    else if (s->options->method != NADE_IMPUTE_DRAW)
        s->value[at] = point_of(s, spec, column, outputs);
    if (s->options->interval == 0 || !column->head->quantile) return;
    s->low[at] = nd_quantile_value(spec, column, outputs, outside, s->options->exact);
    double upto = fmin(1 - outside, nextafter(1, 0)); /* rounded to 1 where nearly all is asked for */
    s->high[at] = nd_quantile_value(spec, column, outputs, upto, s->options->exact);
}

static struct row_place place_of(const void *user, size_t row)
{
    const struct imputing *s = user;
    return (struct row_place){NULL, "row", (size_t)s->options->first + row / s->options->draws};
}

/* Of finite outputs: in the data's units they may still be too large. */
static nade_status check_finite(nade_context *context, const struct imputing *s)
{
    size_t columns = s->model->schema.count;
    for (size_t at = 0; at < s->count; at++) {
        bool real = s->model->plan.column[at % columns].head->quantile != NULL;
        bool good = s->options->method == NADE_IMPUTE_DRAW || isfinite(s->value[at]);
        if (s->options->interval > 0 && real) good = good && isfinite(s->low[at]) && isfinite(s->high[at]);
        if (s->missing[at] && !good)
            return nd_fail(context, NADE_NOT_FINITE,
                           "row %zu, column '%s' can't be filled: its value is too large for a double",
                           (size_t)s->options->first + at / columns / s->options->draws,
                           s->model->schema.column[at % columns].name);
    }
    return NADE_OK;
}

static nade_status answer_all(nade_context *context, struct imputing *s)
{
    const struct encoded_rows cells = {s->rows, s->model->plan.columns, ENCODED_FLOATS, s->cells};
    const struct cellwise cellwise = {
        .session = s->session,
        .cells = &cells,
        .wanted = s->missing,
        .answer = answer,
        .place = place_of,
        .user = s,
    };
    nade_status status = check_single(context, s);
    if (status == NADE_OK) status = nd_each_cell(context, &cellwise);
    return status == NADE_OK ? check_finite(context, s) : status;
}

static nade_status draw_all(nade_context *context, const struct imputing *s, double *values)
{
    const nade_impute_options *o = s->options;
    const nade_sample_options sampling = {
        .size = sizeof sampling, .seed = o->seed, .first = o->first, .exact = o->exact, .session = s->session};
    const struct sample_numbers numbers = {o->draws, o->first_draw, o->by_member != 0};
    return nd_sample(context, s->model, &sampling, numbers, s->rows, values);
}

nade_status nd_impute(nade_context *context, const nade_model *model, const nade_impute_options *options, size_t rows,
                      double *values, double *low, double *high)
{
    struct imputing s = {.model = model, .options = options, .arena = {context->allocator, NULL}, .rows = rows};
    bool draws = options->method == NADE_IMPUTE_DRAW, ends = options->interval > 0;
    nade_status status = check_options(context, options, low, high);
    if (status == NADE_OK && rows > 0) status = prepare(context, &s, values);
    if (status == NADE_OK)
        status = nd_session_begin(context, model, options->session, options->device, options->precision, &s.session);
    if (status == NADE_OK && (!draws || ends)) status = answer_all(context, &s);
    if (status == NADE_OK && draws) status = draw_all(context, &s, values);
    for (size_t at = 0; status == NADE_OK && at < s.count; at++) {
        if (!draws && s.missing[at]) values[at] = s.value[at];
        if (!ends) continue;
        low[at] = s.low[at];
        high[at] = s.high[at];
    }
    nd_session_end(s.session, options->session);
    nd_arena_free(&s.arena);
    return status;
}
