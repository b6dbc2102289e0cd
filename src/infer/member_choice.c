#include "infer/member_choice.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"

bool nd_choice_prepare(struct arena *arena, const nade_model *model, size_t lines, struct member_choice *choice)
{
    size_t columns = model->plan.columns, count;
    *choice = (struct member_choice){.members = model->members};
    choice->member = nd_arena_alloc(arena, lines, sizeof *choice->member);
    if (model->members == 1) return choice->member != NULL;
    if (nd_multiply(lines, columns, &count)) {
        choice->order = nd_arena_alloc(arena, count, sizeof *choice->order);
        choice->cells = nd_arena_alloc(arena, count, sizeof *choice->cells);
    }
    choice->draw = nd_arena_alloc(arena, lines, sizeof *choice->draw);
    choice->row = nd_arena_alloc(arena, lines, sizeof *choice->row);
    choice->line = nd_arena_alloc(arena, lines, sizeof *choice->line);
    return choice->member && choice->order && choice->cells && choice->draw && choice->row && choice->line;
}

/* ---- unlikely ranges --------------------------------------------------------------------------------------------- */

enum { BLOCK_ROWS = 1024 };

static bool all_rows_same(size_t rows, size_t columns, const float *cells)
{
    for (size_t row = 1; row < rows; row++)
        if (memcmp(cells, cells + row * columns, columns * sizeof *cells) != 0) return false;
    return true;
}

/* What is drawn so far out that no double can say how unlikely it is would tell of the floats, not of the data. */
static nade_status check_likely(nade_context *context, const nade_model *model, size_t c, const double *log_mass)
{
    double mass = 0;
    for (size_t j = 0; j < model->members; j++) mass = nd_log_mean_with(mass, j, log_mass[j]);
    if (mass >= log(DBL_MIN)) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL,
                   "the range of column '%s' is too unlikely: the model gives it a probability %s%.3g, expected at "
                   "least %.2g",
                   model->schema.column[c].name, isinf(mass) ? "of " : "of e^", isinf(mass) ? 0 : mass, DBL_MIN);
}

/* What one member gives the range in each of some rows; a row that is given a cell there has nothing to choose by. */
static nade_status weigh_block(nade_context *context, nade_session *session, const struct ranges *ranges,
                               const struct encoded_rows *cells, size_t member, const size_t *target, double *outputs,
                               double *log_mass)
{
    const nade_model *model = session->model;
    size_t c = ranges->bounded, widest = nd_widest_block(&model->plan);
    const struct plan_column *column = &model->plan.column[c];
    nade_status status = nd_member_outputs(context, session, member, cells, target, outputs);
    for (size_t row = 0; row < cells->rows && status == NADE_OK; row++)
        if (isnan(nd_cell(cells, row, c)))
            log_mass[row * model->members + member] =
                column->head->log_between(column, outputs + row * widest, ranges->low[c], ranges->high[c]);
    return status;
}

nade_status nd_choice_weigh(nade_context *context, struct arena *arena, nade_session *session,
                            const struct ranges *ranges, size_t rows, const float *cells, struct member_choice *choice)
{
    const nade_model *model = session->model;
    size_t columns = model->plan.columns, count;
    double *outputs = NULL;
    nade_status status = NADE_OK;
    if (ranges->bounded == SIZE_MAX) return NADE_OK;
    choice->rows = rows > 0 && all_rows_same(rows, columns, cells) ? 1 : rows;
    size_t *target = nd_arena_alloc(arena, BLOCK_ROWS, sizeof *target);
    if (nd_multiply(choice->rows, model->members, &count))
        choice->log_mass = nd_arena_alloc(arena, count, sizeof *choice->log_mass);
    if (nd_multiply(BLOCK_ROWS, nd_widest_block(&model->plan), &count))
        outputs = nd_arena_alloc(arena, count, sizeof *outputs);
    if (!target || !outputs || !choice->log_mass) return nd_no_memory(context, "the ranges");
    for (size_t i = 0; i < BLOCK_ROWS; i++) target[i] = ranges->bounded;
    for (size_t i = 0; i < choice->rows * model->members && status == NADE_OK; i += BLOCK_ROWS * model->members) {
        size_t first = i / model->members, left = choice->rows - first;
        const struct encoded_rows part = {left < BLOCK_ROWS ? left : BLOCK_ROWS, columns, ENCODED_FLOATS,
                                          cells + first * columns};
        for (size_t j = 0; j < model->members && status == NADE_OK; j++)
            status = weigh_block(context, session, ranges, &part, j, target, outputs, choice->log_mass + i);
        if (status == NADE_NOT_FINITE) session->row += first;
        for (size_t row = 0; row < part.rows && status == NADE_OK; row++)
            status = check_likely(context, model, ranges->bounded, choice->log_mass + i + row * model->members);
    }
    return status;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

size_t nd_choose_member(const struct member_choice *choice, size_t at, uint32_t seed, uint64_t draw, uint32_t row)
{
    if (choice->members == 1) return 0;
    uint32_t word = nd_random_word(seed, PURPOSE_SAMPLE_MEMBER, draw, row, 0);
    if (!choice->log_mass || ND_FAULT(FAULT_MEMBER_BY_LOT)) return nd_random_below(word, (uint32_t)choice->members);
    size_t weighed = choice->rows == 1 ? 0 : at;
    return nd_pick_from_logits(choice->log_mass + weighed * choice->members, choice->members,
                               (double)nd_random_uniform(word));
}

/* Puts the lines of a member together; how many they are. */
static size_t gather(const struct member_choice *choice, size_t member, const struct sample_query *query, size_t lines,
                     size_t columns, const float *cells)
{
    size_t count = 0;
    for (size_t i = 0; i < lines; i++) {
        if (choice->member[i] != member) continue;
        memcpy(choice->order + count * columns, query->order + i * columns, columns * sizeof *choice->order);
        memcpy(choice->cells + count * columns, cells + i * columns, columns * sizeof *cells);
        choice->draw[count] = query->draw[i];
        choice->row[count] = query->row[i];
        choice->line[count++] = i;
    }
    return count;
}

nade_status nd_draw_by_member(nade_context *context, nade_session *session, const struct member_choice *choice,
                              const struct sample_query *query, size_t lines, float *cells)
{
    size_t columns = session->model->plan.columns;
    nade_status status = NADE_OK;
    if (choice->members == 1) return nd_member_draws(context, session, 0, query, lines, cells);
    struct sample_query own = *query;
    own.order = choice->order;
    own.draw = choice->draw;
    own.row = choice->row;
    for (size_t j = 0; j < choice->members && status == NADE_OK; j++) {
        size_t count = gather(choice, j, query, lines, columns, cells);
        if (count == 0) continue;
        status = nd_member_draws(context, session, j, &own, count, choice->cells);
        if (status == NADE_NOT_FINITE) session->row = choice->line[session->row];
        for (size_t i = 0; i < count && status == NADE_OK; i++)
            memcpy(cells + choice->line[i] * columns, choice->cells + i * columns, columns * sizeof *cells);
    }
    return status;
}
