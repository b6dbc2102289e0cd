#include "infer/surprise.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "infer/cellwise.h"
#include "infer/query.h"
#include "infer/scored_rows.h"
#include "model/head.h"
#include "model/rare_labels.h"

struct surprise_run {
    const nade_model *model;
    struct arena arena;
    struct column_query query;
    struct scored_rows rows;
    struct encoded_rows given; /* the cells that others are scored given */
    size_t count;              /* cells: rows · columns */
    bool *wanted;              /* (rows, columns): there and asked for */
    double *surprise, *tail;   /* (rows, columns), NaN where not wanted */
};

/* Where `given` says what cells are given, others that are scored are not: a copy without them.  False: no memory. */
static bool hide_scored(struct surprise_run *s)
{
    struct encoded_rows *given = &s->given;
    size_t count;
    if (!nd_multiply(given->rows, given->columns, &count)) return false;
    float *copy = nd_arena_alloc(&s->arena, count, sizeof *copy);
    if (!copy) return false;
    for (size_t at = 0; at < count; at++) {
        size_t c = at % given->columns;
        bool hidden = c < s->model->schema.count && s->query.of[c] && !ND_FAULT(FAULT_SCORED_GIVEN);
        copy[at] = hidden ? NAN : nd_cell(given, at / given->columns, c);
    }
    given->kind = ENCODED_FLOATS;
    given->data = copy;
    return true;
}

static nade_status prepare(nade_context *context, struct surprise_run *s, const nade_table *table,
                           const nade_score_options *options)
{
    size_t columns = s->model->schema.count;
    if (s->model->plan.ordering)
        return nd_fail(context, NADE_BAD_CALL,
                       "the model was trained for one fixed ordering and can't give a cell's density given the rest of "
                       "its row, expected a model of all orderings");
    nade_status status = nd_read_query(context, &s->arena, s->model, options->of, options->given, &s->query);
    bool rest = status == NADE_OK && !options->given && !ND_FAULT(FAULT_REST_NOT_GIVEN);
    if (rest) memset(s->query.needed, true, columns * sizeof *s->query.needed);
    if (status == NADE_OK)
        status =
            nd_take_scored_rows(context, &s->arena, s->model, table, options, s->query.needed, s->query.of, &s->rows);
    s->given = s->rows.cells;
    if (status == NADE_OK && options->given && !hide_scored(s)) status = nd_no_memory(context, "the rows");
    if (status != NADE_OK) return status;
    if (nd_multiply(s->rows.cells.rows, columns, &s->count)) {
        s->wanted = nd_arena_alloc(&s->arena, s->count, sizeof *s->wanted);
        s->surprise = nd_arena_alloc(&s->arena, s->count, sizeof *s->surprise);
        s->tail = nd_arena_alloc(&s->arena, s->count, sizeof *s->tail);
    }
    if (!s->wanted || !s->surprise || !s->tail) return nd_no_memory(context, "the cells");
    for (size_t at = 0; at < s->count; at++) {
        s->wanted[at] = s->query.of[at % columns] && !isnan(nd_cell(&s->rows.cells, at / columns, at % columns));
        s->surprise[at] = s->tail[at] = NAN;
    }
    return NADE_OK;
}

static void answer(void *user, size_t row, size_t c, const struct plan_column *column, const double *outputs)
{
    const struct surprise_run *s = user;
    const struct column_spec *spec = &s->model->schema.column[c];
    double x = (double)nd_cell(&s->rows.cells, row, c);
    size_t at = row * s->model->schema.count + c;
    s->surprise[at] = -column->head->log_density(column, outputs, x);
    if (column->head->continuous && !ND_FAULT(FAULT_NO_LOG_SD)) s->surprise[at] += nd_log_unit(spec, x);
    if (spec->rare_count == 0) {
        s->tail[at] = column->head->tail(column, outputs, x);
    } else {
        s->surprise[at] -= nd_log_share(spec, (size_t)s->rows.labels[at]);
        s->tail[at] = nd_label_tail(spec, outputs, (size_t)s->rows.labels[at]);
    }
}

static struct row_place place_of(const void *user, size_t row)
{
    const struct surprise_run *s = user;
    return nd_scored_place(&s->rows, row);
}

static nade_status check_finite(nade_context *context, const struct surprise_run *s)
{
    size_t columns = s->model->schema.count;
    for (size_t at = 0; at < s->count; at++)
        if (s->wanted[at] && !(isfinite(s->surprise[at]) && isfinite(s->tail[at]))) {
            struct row_place place = nd_scored_place(&s->rows, at / columns);
            return nd_fail(
                context, NADE_NOT_FINITE,
                "%s, %s %zu, column '%s' has a log density that is not finite: the row's values lie too far from the "
                "training rows",
                nd_scored_source(&s->rows), place.unit, place.number, s->model->schema.column[at % columns].name);
        }
    return NADE_OK;
}

nade_status nd_surprise(nade_context *context, const nade_model *model, const nade_table *table,
                        const nade_score_options *options, double *surprise, double *tail, int *scored)
{
    struct surprise_run s = {.model = model, .arena = {context->allocator, NULL}};
    nade_status status = prepare(context, &s, table, options);
    nade_session *session = NULL;
    if (status == NADE_OK)
        status = nd_session_begin(context, model, options->session, options->device, options->precision, &session);
    const struct cellwise cellwise = {
        .session = session,
        .cells = &s.given,
        .wanted = s.wanted,
        .answer = answer,
        .place = place_of,
        .user = &s,
        .progress = options->progress,
        .progress_user = options->progress_user,
    };
    if (status == NADE_OK) status = nd_each_cell(context, &cellwise);
    if (status == NADE_OK) status = check_finite(context, &s);
    if (status == NADE_OK) {
        if (surprise) memcpy(surprise, s.surprise, s.count * sizeof *surprise);
        if (tail) memcpy(tail, s.tail, s.count * sizeof *tail);
        for (size_t c = 0; scored && c < model->schema.count; c++) scored[c] = s.query.of[c];
        if (s.rows.unseen.count)
            nd_warn(context, "values that training has not seen count as missing in %zu cell%s; the first: %s",
                    s.rows.unseen.count, s.rows.unseen.count == 1 ? "" : "s", s.rows.unseen.first);
    }
    nd_session_end(session, options->session);
    nd_arena_free(&s.arena);
    return status;
}
