#include "infer/predict.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "infer/cellwise.h"
#include "infer/values.h"
#include "model/head.h"
#include "model/rare_labels.h"

/* The cells on one side of a point, between two in the plan's units. */
struct reach {
    enum { NOTHING, SOME, EVERYTHING } what;
    double low, high;
};

enum side { BELOW, UPTO, ABOVE, ONWARD, SIDES };

struct point {
    bool asked, possible; /* possible: the column can hold it */
    float cell;
    struct reach side[SIDES];
    double
        within[SIDES]; /* values of the point's own cell that belong to the side besides; 0 where a cell is a value */
};

struct predicting {
    const nade_model *model;
    const nade_prediction *asked;
    const struct column_spec *spec; /* of the column */
    struct arena arena;
    nade_session *session;
    size_t rows;
    float *cells;         /* (rows, columns of the network) */
    bool *wanted;         /* (rows, columns) */
    struct point *points; /* (rows, point_count) */
    /* Answers, handed over when there are all. */
    double *probability, *mean, *quantile, *log_density, *side[SIDES];
};

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

static nade_status check(nade_context *context, const struct predicting *s)
{
    const nade_prediction *p = s->asked;
    const struct head *head = nd_head_for(s->spec->type);
    bool sides = p->below || p->upto || p->above || p->onward;
    if (head->labels && (p->mean || p->quantile || sides))
        return nd_fail(context, NADE_BAD_CALL,
                       "column '%s' is %s, expected a column of numbers for a mean, quantiles and cumulative "
                       "probabilities",
                       s->spec->name, nade_type_name(s->spec->type));
    if (!head->labels && p->probability)
        return nd_fail(context, NADE_BAD_CALL,
                       "column '%s' is %s, expected one of labels for the probabilities of its labels", s->spec->name,
                       nade_type_name(s->spec->type));
    if ((p->quantile && !p->levels) || ((p->log_density || sides) && !p->points))
        return nd_fail(context, NADE_BAD_CALL, "nade_predict needs %s for what it is asked",
                       p->quantile && !p->levels ? "levels" : "points");
    for (size_t i = 0; p->quantile && i < p->level_count; i++)
        if (!(p->levels[i] > 0 && p->levels[i] < 1))
            return nd_fail(context, NADE_BAD_CALL, "a level is %g, expected a probability above 0 and below 1",
                           p->levels[i]);
    return NADE_OK;
}

/* A range that holds no value is refused by a sentence; here it is an answer, so a context of its own takes it. */
static struct reach find_reach(const struct predicting *s, double least, double most)
{
    const struct head *head = nd_head_for(s->spec->type);
    struct nade_context unheard = {.allocator = s->arena.allocator};
    struct range range = {.least = least, .most = most};
    bool upwards = most == HUGE_VAL;
    double end = upwards ? least : most;
    if (isinf(end)) return (struct reach){.what = (end > 0) == upwards ? NOTHING : EVERYTHING};
    if (head->range(&unheard, s->spec, s->asked->exact != 0, &range) != NADE_OK) {
        bool far_beyond = head->continuous && (upwards ? end < s->spec->mean : end > s->spec->mean);
        return (struct reach){.what = far_beyond ? EVERYTHING : NOTHING};
    }
    /* What lies beyond the outermost cells belongs to the values at the ends. */
    if (head->continuous && upwards) range.high = HUGE_VAL;
    if (head->continuous && !upwards) range.low = -HUGE_VAL;
    if (range.low == -HUGE_VAL && range.high == HUGE_VAL) return (struct reach){.what = EVERYTHING};
    return (struct reach){SOME, range.low, range.high};
}

static void find_sides(const struct predicting *s, double value, struct point *point)
{
    point->side[BELOW] = find_reach(s, -HUGE_VAL, nextafter(value, -HUGE_VAL));
    point->side[UPTO] = find_reach(s, -HUGE_VAL, value);
    point->side[ABOVE] = find_reach(s, nextafter(value, HUGE_VAL), HUGE_VAL);
    point->side[ONWARD] = find_reach(s, value, HUGE_VAL);
}

/* The cells before and behind the point's own, and some of its values.  False: the column has no such cell. */
static bool find_sides_of_part(const struct predicting *s, double value, struct point *point)
{
    const struct column_spec *spec = s->spec;
    double parts = round(spec->cell / spec->step);
    double start = spec->mean + spec->cell * floor((value - spec->mean) / spec->cell + 1e-8);
    double number = fmin(floor((value - start) / spec->step + 1e-4), parts - 1); /* of the last value up to the point */
    bool on_it = fabs(start + number * spec->step - value) < 1e-4 * spec->step;
    if (!nd_head_for(spec->type)->encode(spec, start, &point->cell)) return false;
    point->side[BELOW] = point->side[UPTO] = find_reach(s, -HUGE_VAL, start - spec->step / 2);
    point->side[ABOVE] = point->side[ONWARD] = find_reach(s, start + spec->cell - spec->step / 2, HUGE_VAL);
    point->within[UPTO] = number + 1;
    point->within[BELOW] = number + 1 - on_it;
    point->within[ABOVE] = parts - point->within[UPTO];
    point->within[ONWARD] = parts - point->within[BELOW];
    return true;
}

static void look_at_point(const struct predicting *s, double value, struct point *point)
{
    const struct head *head = nd_head_for(s->spec->type);
    point->asked = !isnan(value);
    if (!point->asked) return;
    float cell = 0;
    point->possible = isfinite(value) && head->encode(s->spec, value, &cell);
    point->cell = cell;
    if (head->labels) return;
    if (!nd_has_parts(s->spec) || !isfinite(value) || !find_sides_of_part(s, value, point)) find_sides(s, value, point);
}

/* One ordering knows the next cell's distribution alone. */
static nade_status check_ordering(nade_context *context, const struct predicting *s)
{
    const struct plan *plan = &s->model->plan;
    for (size_t row = 0; plan->ordering && row < s->rows; row++) {
        size_t t = 0;
        while (t < plan->columns && !isnan(s->cells[row * plan->columns + plan->ordering[t]])) t++;
        if (plan->ordering[t] != s->asked->column)
            return nd_fail(context, NADE_BAD_CALL,
                           "row %zu, column '%s' is asked for, but the model was trained for one fixed ordering and "
                           "the next column in it is '%s': expected all columns before the one asked for and none "
                           "behind it",
                           row, s->spec->name, s->model->schema.column[plan->ordering[t]].name);
    }
    return NADE_OK;
}

/* The column's own cells are not read. */
static nade_status encode_rows(nade_context *context, struct predicting *s, const double *values)
{
    size_t columns = s->model->schema.count, count;
    if (!nd_multiply(s->rows, columns, &count)) return nd_no_memory(context, "the rows");
    double *others = nd_arena_alloc(&s->arena, count, sizeof *others);
    s->cells = nd_arena_alloc(&s->arena, s->rows, s->model->plan.columns * sizeof *s->cells);
    s->wanted = nd_arena_alloc(&s->arena, count, sizeof *s->wanted);
    if (!others || !s->cells || !s->wanted) return nd_no_memory(context, "the rows");
    memcpy(others, values, count * sizeof *others);
    for (size_t row = 0; row < s->rows; row++) {
        size_t at = row * columns + s->asked->column;
        if (!ND_FAULT(FAULT_PREDICT_SEES_ITSELF)) others[at] = NAN;
        s->wanted[at] = true;
    }
    const struct row_names names = {0, 1};
    nade_status status = nd_encode_values(context, s->model, names, s->rows, others, s->cells);
    return status == NADE_OK ? check_ordering(context, s) : status;
}

/* A place of our own for each of the caller's, so that theirs are untouched until all is known. */
static bool make_place(struct predicting *s, const double *wanted, size_t width, double **place)
{
    size_t count;
    if (!wanted || width == 0) return true;
    *place = nd_multiply(s->rows, width, &count) ? nd_arena_alloc(&s->arena, count, sizeof **place) : NULL;
    return *place != NULL;
}

static size_t label_count(const struct column_spec *spec)
{
    return spec->label_count > 0 ? spec->label_count : 2; /* binary columns of the numbers 0 and 1 have no texts */
}

static nade_status prepare(nade_context *context, struct predicting *s, const double *values)
{
    const nade_prediction *p = s->asked;
    size_t points = 0;
    bool made = make_place(s, p->probability, label_count(s->spec), &s->probability) &&
                make_place(s, p->mean, 1, &s->mean) && make_place(s, p->quantile, p->level_count, &s->quantile) &&
                make_place(s, p->log_density, p->point_count, &s->log_density) &&
                make_place(s, p->below, p->point_count, &s->side[BELOW]) &&
                make_place(s, p->upto, p->point_count, &s->side[UPTO]) &&
                make_place(s, p->above, p->point_count, &s->side[ABOVE]) &&
                make_place(s, p->onward, p->point_count, &s->side[ONWARD]);
    if (made && p->points) {
        made = nd_multiply(s->rows, p->point_count, &points);
        s->points = made ? nd_arena_alloc(&s->arena, points, sizeof *s->points) : NULL;
        made = s->points || points == 0;
    }
    if (!made) return nd_no_memory(context, "the answers");
    for (size_t i = 0; i < points; i++) look_at_point(s, p->points[i], &s->points[i]);
    return encode_rows(context, s, values);
}

/* ---- the answers ------------------------------------------------------------------------------------------------- */

static void answer_labels(const struct predicting *s, const struct plan_column *column, const double *outputs,
                          double *probability)
{
    size_t count = label_count(s->spec), shared = count - s->spec->rare_count;
    double log_p = 0; /* of the label's value, which rare labels share */
    for (size_t i = 0; i < count; i++) {
        if (i <= shared) log_p = column->head->log_density(column, outputs, (double)i);
        probability[i] = exp(i < shared ? log_p : log_p + nd_log_share(s->spec, i));
    }
}

static double log_density_at(const struct predicting *s, const struct plan_column *column, const double *outputs,
                             size_t i)
{
    const struct point *point = &s->points[i];
    if (!point->possible) return -HUGE_VAL;
    if (s->spec->rare_count == 0) {
        double x = (double)point->cell, log_p = column->head->log_density(column, outputs, x);
        return column->head->continuous ? log_p - nd_log_unit(s->spec, x) : log_p;
    }
    size_t label = (size_t)s->asked->points[i];
    return column->head->log_density(column, outputs, (double)nd_value_of_label(s->spec, label)) +
           nd_log_share(s->spec, label);
}

static double probability_of(const struct plan_column *column, const double *outputs, const struct point *point,
                             enum side side)
{
    const struct reach *reach = &point->side[side];
    double probability = reach->what == EVERYTHING;
    if (reach->what == SOME) probability = exp(column->head->log_between(column, outputs, reach->low, reach->high));
    if (point->within[side] > 0)
        probability += point->within[side] * exp(column->head->log_density(column, outputs, (double)point->cell));
    return fmin(probability, 1);
}

static void answer_points(const struct predicting *s, size_t row, const struct plan_column *column,
                          const double *outputs)
{
    for (size_t k = 0; k < s->asked->point_count; k++) {
        size_t i = row * s->asked->point_count + k;
        const struct point *point = &s->points[i];
        if (s->log_density) s->log_density[i] = point->asked ? log_density_at(s, column, outputs, i) : NAN;
        for (enum side side = BELOW; side < SIDES; side++)
            if (s->side[side]) s->side[side][i] = point->asked ? probability_of(column, outputs, point, side) : NAN;
    }
}

static void answer(void *user, size_t row, size_t c, const struct plan_column *column, const double *outputs)
{
    const struct predicting *s = user;
    const nade_prediction *p = s->asked;
    (void)c;
    if (s->probability) answer_labels(s, column, outputs, s->probability + row * label_count(s->spec));
    if (s->mean) s->mean[row] = column->head->mean(column, outputs);
    for (size_t i = 0; s->quantile && i < p->level_count; i++)
        s->quantile[row * p->level_count + i] = nd_quantile_value(s->spec, column, outputs, p->levels[i], p->exact);
    if (s->points) answer_points(s, row, column, outputs);
}

static struct row_place place_of(const void *user, size_t row)
{
    (void)user;
    return (struct row_place){NULL, "row", row};
}

/* Of finite outputs: in the data's units they may still be too large. */
static nade_status check_finite(nade_context *context, const struct predicting *s)
{
    for (size_t row = 0; row < s->rows; row++) {
        bool good = !s->mean || isfinite(s->mean[row]);
        for (size_t i = 0; s->quantile && i < s->asked->level_count; i++)
            good = good && isfinite(s->quantile[row * s->asked->level_count + i]);
        if (!good)
            return nd_fail(context, NADE_NOT_FINITE,
                           "row %zu, column '%s' can't be predicted: its value is too large for a double", row,
                           s->spec->name);
    }
    return NADE_OK;
}

static void hand_over(const double *place, size_t rows, size_t width, double *to)
{
    if (place) memcpy(to, place, rows * width * sizeof *to);
}

nade_status nd_predict(nade_context *context, const nade_model *model, const nade_prediction *p, size_t rows,
                       const double *values)
{
    if (p->column >= model->schema.count)
        return nd_fail(context, NADE_BAD_CALL, "column %zu is asked for, expected one below %zu", p->column,
                       model->schema.count);
    struct predicting s = {.model = model,
                           .asked = p,
                           .spec = &model->schema.column[p->column],
                           .arena = {context->allocator, NULL},
                           .rows = rows};
    nade_status status = check(context, &s);
    if (status == NADE_OK && rows > 0) status = prepare(context, &s, values);
    if (status == NADE_OK) status = nd_session_begin(context, model, p->session, p->device, p->precision, &s.session);
    const struct encoded_rows cells = {rows, model->plan.columns, ENCODED_FLOATS, s.cells};
    const struct cellwise cellwise = {
        .session = s.session, .cells = &cells, .wanted = s.wanted, .answer = answer, .place = place_of, .user = &s};
    if (status == NADE_OK && rows > 0) status = nd_each_cell(context, &cellwise);
    if (status == NADE_OK) status = check_finite(context, &s);
    if (status == NADE_OK) {
        hand_over(s.probability, rows, label_count(s.spec), p->probability);
        hand_over(s.mean, rows, 1, p->mean);
        hand_over(s.quantile, rows, p->level_count, p->quantile);
        hand_over(s.log_density, rows, p->point_count, p->log_density);
        hand_over(s.side[BELOW], rows, p->point_count, p->below);
        hand_over(s.side[UPTO], rows, p->point_count, p->upto);
        hand_over(s.side[ABOVE], rows, p->point_count, p->above);
        hand_over(s.side[ONWARD], rows, p->point_count, p->onward);
    }
    nd_session_end(s.session, p->session);
    nd_arena_free(&s.arena);
    return status;
}
