#include "infer/cellwise.h"

#include "base/parallel.h"

/* Cells that go to the backend at a time; of these, a task of the heads. */
enum { BLOCK_CELLS = 1024, TASK_CELLS = 32 };

struct cell_block {
    const struct cellwise *asked;
    struct arena arena;
    struct network network;
    struct pool *pool; /* for the heads */
    size_t columns, widest;
    size_t used;
    float *cells;         /* (BLOCK_CELLS, columns): the row of each cell */
    size_t *row, *target; /* (BLOCK_CELLS) */
    double *outputs;      /* (BLOCK_CELLS, widest) */
};

static nade_status prepare(nade_context *context, struct cell_block *b)
{
    const struct plan *plan = &b->asked->model->plan;
    b->columns = plan->columns;
    b->widest = nd_widest_block(plan);
    b->cells = nd_arena_alloc(&b->arena, plan->columns, BLOCK_CELLS * sizeof *b->cells);
    b->row = nd_arena_alloc(&b->arena, BLOCK_CELLS, sizeof *b->row);
    b->target = nd_arena_alloc(&b->arena, BLOCK_CELLS, sizeof *b->target);
    b->outputs = nd_arena_alloc(&b->arena, b->widest, BLOCK_CELLS * sizeof *b->outputs);
    b->pool = nd_pool_create(&context->allocator, context->threads);
    if (!b->cells || !b->row || !b->target || !b->outputs || !b->pool) return nd_no_memory(context, "the cells");
    return nd_network_open(context, b->asked->model, b->asked->device, b->asked->precision, &b->network);
}

static void answer_some(void *argument, size_t task, unsigned worker)
{
    const struct cell_block *b = argument;
    size_t first = task * TASK_CELLS, last = first + TASK_CELLS < b->used ? first + TASK_CELLS : b->used;
    (void)worker;
    for (size_t i = first; i < last; i++)
        b->asked->answer(b->asked->user, b->row[i], b->target[i], b->outputs + i * b->widest);
}

static nade_status finish_block(nade_context *context, struct cell_block *b)
{
    const struct cells cells = {b->used, b->columns, CELLS_FLOATS, b->cells};
    if (b->used == 0) return NADE_OK;
    nade_status status = nd_network_outputs(&b->network, &cells, b->target, b->outputs);
    if (status == NADE_NOT_FINITE)
        status = nd_refuse_outputs(&b->network, b->asked->place(b->asked->user, b->row[b->network.row]));
    if (status != NADE_OK) return status;
    nd_parallel_for(b->pool, (b->used + TASK_CELLS - 1) / TASK_CELLS, answer_some, b);
    double done = (double)(b->row[b->used - 1] + 1) / (double)b->asked->cells->rows;
    b->used = 0;
    if (b->asked->progress && b->asked->progress(b->asked->progress_user, done))
        return nd_fail(context, NADE_INTERRUPTED, "the work was interrupted");
    return NADE_OK;
}

static void add_cell(struct cell_block *b, size_t row, size_t column)
{
    for (size_t c = 0; c < b->columns; c++) b->cells[b->used * b->columns + c] = nd_cell(b->asked->cells, row, c);
    b->row[b->used] = row;
    b->target[b->used++] = column;
}

nade_status nd_each_cell(nade_context *context, const struct cellwise *cellwise)
{
    struct cell_block b = {.asked = cellwise, .arena = {context->allocator, NULL}};
    nade_status status = prepare(context, &b);
    for (size_t row = 0; status == NADE_OK && row < cellwise->cells->rows; row++)
        for (size_t c = 0; status == NADE_OK && c < b.columns; c++) {
            if (!cellwise->wanted[row * b.columns + c]) continue;
            add_cell(&b, row, c);
            if (b.used == BLOCK_CELLS) status = finish_block(context, &b);
        }
    if (status == NADE_OK) status = finish_block(context, &b);
    nd_network_close(&b.network);
    nd_pool_free(b.pool);
    nd_arena_free(&b.arena);
    return status;
}
