#include "infer/session.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "base/fault.h"
#include "infer/shared_blocks.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/mixed_column.h"

nade_status nd_session_open(nade_context *context, const nade_model *model, nade_device device,
                            nade_precision precision, nade_session **session)
{
    struct arena arena = {context->allocator, NULL};
    nade_session *opened = nd_arena_alloc(&arena, 1, sizeof *opened);
    if (!opened) return nd_no_memory(context, "the session");
    opened->arena = arena;
    opened->model = model;
    opened->threads = context->threads;
    nade_status status = nd_backend_open(context, &model->plan, device, precision, &opened->entries, &opened->backend);
    if (status == NADE_OK) status = nd_agree_on_model(context, model, opened->entries, precision);
    if (status == NADE_OK)
        status = opened->entries->set_block(context, opened->backend, BLOCK_PARAMETERS, model->parameters);
    if (status != NADE_OK) {
        nd_session_free(opened);
        return status;
    }
    *session = opened;
    return NADE_OK;
}

void nd_session_free(nade_session *session)
{
    if (!session) return;
    if (session->backend) session->entries->close(session->backend);
    nd_pool_free(session->single.pool);
    struct arena arena = session->arena; /* the session lies in its own arena */
    nd_arena_free(&arena);
}

nade_status nd_session_begin(nade_context *context, const nade_model *model, nade_session *given, nade_device device,
                             nade_precision precision, nade_session **session)
{
    if (!given) return nd_session_open(context, model, device, precision, session);
    if (given->model != model)
        return nd_fail(context, NADE_BAD_CALL, "the session was opened for another model, expected one of this model");
    *session = given;
    return NADE_OK;
}

void nd_session_end(nade_session *session, const nade_session *given)
{
    if (session != given) nd_session_free(session);
}

static struct opened opened_of(const nade_session *session)
{
    return (struct opened){session->entries, session->backend};
}

/* Gives the backend the parameters of a member. */
static nade_status turn_to(nade_context *context, nade_session *session, size_t member)
{
    if (session->member == member || ND_FAULT(FAULT_MEMBERS_ALIKE)) return NADE_OK;
    nade_status status = session->entries->set_block(context, session->backend, BLOCK_PARAMETERS,
                                                     nd_member_parameters(session->model, member));
    if (status == NADE_OK) session->member = member;
    return status;
}

/* The columns of what several members give together. */
static bool need_mixed(nade_session *session)
{
    const struct plan *plan = &session->model->plan;
    struct cell_scratch *s = &session->single;
    size_t members = session->model->members;
    s->widest = nd_widest_mixed(plan, members);
    if (members == 1) {
        s->column = plan->column;
        return true;
    }
    if (!s->column) s->column = nd_arena_alloc(&session->arena, plan->columns, sizeof *s->column);
    for (size_t c = 0; s->column && c < plan->columns; c++) s->column[c] = nd_mixed_column(&plan->column[c], members);
    if (!s->of_member)
        s->of_member = nd_arena_alloc(&session->arena, nd_widest_block(plan), ND_BLOCK_CELLS * sizeof *s->of_member);
    return s->column && s->of_member;
}

nade_status nd_session_need_single(nade_context *context, nade_session *session)
{
    const struct plan *plan = &session->model->plan;
    struct cell_scratch *s = &session->single;
    if (s->pool) return NADE_OK;
    bool mixed = need_mixed(session);
    /* What an earlier call got before it failed is kept. */
    if (!s->cells) s->cells = nd_arena_alloc(&session->arena, plan->columns, ND_BLOCK_CELLS * sizeof *s->cells);
    if (!s->row) s->row = nd_arena_alloc(&session->arena, ND_BLOCK_CELLS, sizeof *s->row);
    if (!s->target) s->target = nd_arena_alloc(&session->arena, ND_BLOCK_CELLS, sizeof *s->target);
    if (!s->outputs) s->outputs = nd_arena_alloc(&session->arena, s->widest, ND_BLOCK_CELLS * sizeof *s->outputs);
    if (s->cells && s->row && s->target && s->outputs && mixed)
        s->pool = nd_pool_create(&session->arena.allocator, session->threads);
    return s->pool ? NADE_OK : nd_no_memory(context, "the cells");
}

static nade_status found_at(nade_session *session, size_t row, size_t column)
{
    session->row = row;
    session->column = column;
    return NADE_NOT_FINITE;
}

nade_status nd_member_outputs(nade_context *context, nade_session *session, size_t member,
                              const struct encoded_rows *cells, const size_t *target, double *outputs)
{
    const struct plan *plan = &session->model->plan;
    size_t widest = nd_widest_block(plan);
    nade_status status = turn_to(context, session, member);
    if (status == NADE_OK) status = nd_shared_outputs(context, opened_of(session), cells, target, widest, outputs);
    for (size_t row = 0; row < cells->rows && status == NADE_OK; row++)
        if (!nd_outputs_are_finite(&plan->column[target[row]], outputs + row * widest))
            status = found_at(session, row, target[row]);
    return status;
}

nade_status nd_session_outputs(nade_context *context, nade_session *session, const struct encoded_rows *cells,
                               const size_t *target, double *outputs)
{
    const struct plan *plan = &session->model->plan;
    const struct cell_scratch *s = &session->single;
    size_t members = session->model->members, widest = nd_widest_block(plan);
    nade_status status = NADE_OK;
    if (members == 1) return nd_member_outputs(context, session, 0, cells, target, outputs);
    for (size_t j = 0; j < members && status == NADE_OK; j++) {
        status = nd_member_outputs(context, session, j, cells, target, s->of_member);
        const struct mix_share share = nd_equal_share(members, j);
        for (size_t row = 0; row < cells->rows && status == NADE_OK; row++) {
            const struct plan_column *column = &plan->column[target[row]];
            column->head->mix(column, &share, s->of_member + row * widest, outputs + row * s->widest);
        }
    }
    return status;
}

/* Walks along an order again, a column at a time, to the first whose outputs are not finite.  The backend has the
 * member's parameters.  scratch: (columns). */
static nade_status find_column(nade_context *context, nade_session *session, const struct encoded_rows *cells,
                               size_t row, const struct score_query *query, size_t k, float *scratch, double *outputs)
{
    const size_t *order = query->order + k * query->length;
    const struct encoded_rows one = {1, cells->columns, ENCODED_FLOATS, scratch};
    for (size_t c = 0; c < cells->columns; c++) scratch[c] = NAN;
    for (size_t t = 0; t < query->length; t++) {
        float x = nd_cell(cells, row, order[t]);
        if (isnan(x)) continue;
        nade_status status =
            t < query->given ? NADE_OK : nd_member_outputs(context, session, session->member, &one, &order[t], outputs);
        if (status == NADE_NOT_FINITE) return found_at(session, row, order[t]);
        if (status != NADE_OK) return status;
        scratch[order[t]] = x;
    }
    return found_at(session, row, SIZE_MAX);
}

static nade_status name_column_not_finite(nade_context *context, nade_session *session,
                                          const struct encoded_rows *cells, size_t row, const struct score_query *query,
                                          size_t k)
{
    struct arena arena = {context->allocator, NULL};
    float *scratch = nd_arena_alloc(&arena, cells->columns, sizeof *scratch);
    double *outputs = nd_arena_alloc(&arena, nd_widest_block(&session->model->plan), sizeof *outputs);
    nade_status status = scratch && outputs ? find_column(context, session, cells, row, query, k, scratch, outputs)
                                            : nd_no_memory(context, "the rows");
    nd_arena_free(&arena);
    return status;
}

/* score_block of a member.
 *
 * With finite outputs every log density is: cells lie within 1e15 deviations, and squares of what floats can hold are
 * far from a double's end. */
static nade_status member_scores(nade_context *context, nade_session *session, size_t member,
                                 const struct encoded_rows *cells, const struct score_query *query, double *log_density)
{
    nade_status status = turn_to(context, session, member);
    if (status == NADE_OK) status = nd_shared_scores(context, opened_of(session), cells, query, log_density);
    for (size_t row = 0; row < cells->rows && status == NADE_OK; row++)
        for (size_t k = 0; k < query->orders && status == NADE_OK; k++)
            if (!isfinite(log_density[k * cells->rows + row]))
                status = name_column_not_finite(context, session, cells, row, query, k);
    return status;
}

nade_status nd_session_scores(nade_context *context, nade_session *session, const struct encoded_rows *cells,
                              const struct score_query *query, double *log_density)
{
    size_t members = session->model->members - ND_FAULT(FAULT_MEMBER_LEFT_OUT), count = query->orders * cells->rows;
    nade_status status = member_scores(context, session, 0, cells, query, log_density);
    if (members == 1 || status != NADE_OK) return status;
    double *one = nd_alloc(&context->allocator, count, sizeof *one);
    if (!one) return nd_no_memory(context, "the orderings");
    for (size_t j = 1; j < members && status == NADE_OK; j++) {
        status = member_scores(context, session, j, cells, query, one);
        for (size_t i = 0; i < count && status == NADE_OK; i++)
            log_density[i] = nd_log_mean_with(log_density[i], j, one[i]);
    }
    nd_free(&context->allocator, one);
    return status;
}

nade_status nd_member_draws(nade_context *context, nade_session *session, size_t member,
                            const struct sample_query *query, size_t rows, float *cells)
{
    size_t columns = session->model->plan.columns;
    nade_status status = turn_to(context, session, member);
    if (status == NADE_OK) status = nd_shared_draws(context, opened_of(session), query, rows, columns, cells);
    for (size_t at = 0; at < rows * columns && status == NADE_OK; at++) {
        size_t row = at / columns, c = query->order[at];
        if (isnan(cells[row * columns + c])) status = found_at(session, row, c);
    }
    return status;
}

struct row_place nd_table_place(const nade_table *table, size_t row)
{
    return (struct row_place){table->source, nd_row_word(table), nd_table_position(table, row)};
}

nade_status nd_refuse_outputs(nade_context *context, const nade_session *session, struct row_place place)
{
    char number[48] = "";
    const char *source = place.source ? place.source : "", *comma = place.source && place.unit ? ", " : "";
    if (place.unit) snprintf(number, sizeof number, "%s %zu: ", place.unit, place.number);
    if (session->column == SIZE_MAX)
        return nd_fail(context, NADE_NOT_FINITE,
                       "%s%s%sthe log density is not finite, the row's values lie too far from the training rows",
                       source, comma, number);
    return nd_fail(context, NADE_NOT_FINITE,
                   "%s%s%sthe model's weights give no finite output for column '%s', they are too large or the row's "
                   "other values lie too far from the training rows",
                   source, comma, number,
                   session->model->schema.column[nd_data_column(&session->model->schema, session->column)].name);
}
