#include "infer/cellwise.h"

/* Of the cells that go to the backend at a time, a task of the heads. */
enum { TASK_CELLS = 32 };

struct cell_block {
    const struct cellwise *asked;
    nade_session *session;
    struct cell_scratch *scratch; /* the session's */
    size_t columns, widest;       /* of the network */
    size_t used;
};

static void answer_some(void *argument, size_t task, unsigned worker)
{
    const struct cell_block *b = argument;
    const struct cell_scratch *s = b->scratch;
    size_t first = task * TASK_CELLS, last = first + TASK_CELLS < b->used ? first + TASK_CELLS : b->used;
    (void)worker;
    for (size_t i = first; i < last; i++)
        b->asked->answer(b->asked->user, s->row[i], s->target[i], &s->column[s->target[i]], s->outputs + i * b->widest);
}

static nade_status finish_block(nade_context *context, struct cell_block *b)
{
    const struct cell_scratch *s = b->scratch;
    const struct encoded_rows cells = {b->used, b->columns, ENCODED_FLOATS, s->cells};
    if (b->used == 0) return NADE_OK;
    nade_status status = nd_session_outputs(context, b->session, &cells, s->target, s->outputs);
    if (status == NADE_NOT_FINITE)
        status = nd_refuse_outputs(context, b->session, b->asked->place(b->asked->user, s->row[b->session->row]));
    if (status != NADE_OK) return status;
    nd_parallel_for(s->pool, (b->used + TASK_CELLS - 1) / TASK_CELLS, answer_some, b);
    double done = (double)(s->row[b->used - 1] + 1) / (double)b->asked->cells->rows;
    b->used = 0;
    if (b->asked->progress && b->asked->progress(b->asked->progress_user, done))
        return nd_fail(context, NADE_INTERRUPTED, "the work was interrupted");
    return NADE_OK;
}

static void add_cell(struct cell_block *b, size_t row, size_t column)
{
    struct cell_scratch *s = b->scratch;
    for (size_t c = 0; c < b->columns; c++) s->cells[b->used * b->columns + c] = nd_cell(b->asked->cells, row, c);
    s->row[b->used] = row;
    s->target[b->used++] = column;
}

nade_status nd_each_cell(nade_context *context, const struct cellwise *cellwise)
{
    const struct plan *plan = &cellwise->session->model->plan;
    nade_status status = nd_session_need_single(context, cellwise->session);
    struct cell_scratch *scratch = &cellwise->session->single;
    struct cell_block b = {cellwise, cellwise->session, scratch, plan->columns, scratch->widest, 0};
    size_t columns = cellwise->session->model->schema.count;
    for (size_t row = 0; status == NADE_OK && row < cellwise->cells->rows; row++)
        for (size_t c = 0; status == NADE_OK && c < columns; c++) {
            if (!cellwise->wanted[row * columns + c]) continue;
            add_cell(&b, row, c);
            if (b.used == ND_BLOCK_CELLS) status = finish_block(context, &b);
        }
    return status == NADE_OK ? finish_block(context, &b) : status;
}
