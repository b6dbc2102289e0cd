/* A batch's gradient by several ranks (base/shared_work.h).
 *
 * The fast way: each rank takes its share of the batch's rows through both sections, as if these were the whole batch,
 * and the gradients are added up over ranks.  A part of the parameters whose gradient is made is on its way to the
 * other ranks while the next one is being made.
 *
 * The exact way has the bytes of one process.  Ranks share the chunks of the first section and then give each other
 * all that the second one reads of their rows; of the second they share the tasks, each of which is about all rows in
 * their order, and give each other the gradients. */
#include <string.h>

#include "backend/cpu/cpu_train.h"
#include "base/fault.h"
#include "base/shared_work.h"

/* ---- the fast way ------------------------------------------------------------------------------------------------ */

/* Numbers of a gradient that are worth a message of their own. */
enum { MESSAGE_LEAST = 1 << 17 };

/* Where the tensors behind a layer begin. */
static size_t end_of_layer(const struct plan *plan, size_t layer)
{
    size_t next = nd_weight_index(layer + 1);
    return next < plan->tensors ? plan->tensor[next].offset : plan->parameters;
}

/* Gradients of the layers' tasks, from the first layer on, are sent a few layers at a time, those of all other tensors
 * after them. */
static nade_status sum_while_making(nade_context *context, struct batch_job *job)
{
    const struct cpu_backend *backend = job->backend;
    const struct weight_block *blocks = backend->blocks;
    float *gradient = backend->block[BLOCK_GRADIENT];
    size_t begun = 0, first = 0, count = backend->block_count;
    nade_status status = NADE_OK;
    for (size_t i = 0; i < count && status == NADE_OK; i++) {
        bool last = i + 1 == count,
             layers_end = !last && blocks[i].kind == WEIGHT_LAYER &&
                          (blocks[i + 1].kind != WEIGHT_LAYER || blocks[i + 1].layer != blocks[i].layer);
        size_t end = last ? backend->plan->parameters : layers_end ? end_of_layer(backend->plan, blocks[i].layer) : 0;
        if (!last && (!layers_end || end - begun < MESSAGE_LEAST)) continue;
        nd_cpu_run_tasks(job, first, i + 1 - first);
        status = nd_begin_sum(context, gradient + begun, end - begun);
        begun = end;
        first = i + 1;
    }
    return status;
}

static nade_status add_gradients_up(nade_context *context, struct batch_job *job, double *loss)
{
    struct share own = nd_own_share(context, job->rows);
    const struct cpu_backend *backend = job->backend;
    job->first += own.first;
    job->rows = own.count;
    if (ND_FAULT(FAULT_RANKS_SAME_ROWS)) job->first -= own.first;
    *loss = nd_cpu_run_rows(job);
    job->makes_gradients = true;
    job->takes_steps = false;
    nade_status status = nd_begin_sum_of_doubles(context, loss, 1);
    if (status == NADE_OK && !nd_cpu_walks(backend->plan)) {
        status = sum_while_making(context, job);
    } else if (status == NADE_OK) {
        nd_cpu_run_section(job, true, false);
        status = nd_begin_sum(context, backend->block[BLOCK_GRADIENT], backend->plan->parameters);
    }
    return status == NADE_OK ? nd_finish_sums(context) : status;
}

/* ---- the exact way ----------------------------------------------------------------------------------------------- */

/* Bytes on their way between the batch's buffers and those that are sent. */
struct mover {
    char *sent; /* NULL: they are only counted */
    size_t bytes;
    bool back; /* to the buffers */
};

static void move(struct mover *m, void *at, size_t bytes)
{
    char *sent = m->sent ? m->sent + m->bytes : NULL;
    if (sent && bytes) memcpy(m->back ? at : sent, m->back ? sent : at, bytes);
    m->bytes += bytes;
}

static void move_layer(const struct batch_job *job, size_t layer, size_t first, size_t rows, struct mover *m)
{
    const struct cpu_backend *backend = job->backend;
    size_t stride = backend->stride[layer], panel = backend->products->panel;
    move(m, backend->batch.delta[layer] + first * stride, rows * stride * sizeof(float));
    if (nd_cpu_walks(backend->plan)) return;
    for (size_t c = 0; c < nd_layer_inputs(backend->plan, layer); c += panel)
        move(m, backend->batch.packed[layer] + c * job->rows + first * panel, rows * panel * sizeof(float));
}

/* All that the second section reads of some chunks' rows. */
static void move_chunks(const struct batch_job *job, struct share chunks, struct mover *m)
{
    const struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    const struct batch_buffers *batch = &backend->batch;
    size_t first = chunks.first * job->chunk, end = first + chunks.count * job->chunk, columns = plan->columns;
    if (chunks.count == 0) return;
    size_t rows = (end < job->rows ? end : job->rows) - first;
    move(m, batch->loss + first, rows * sizeof *batch->loss);
    if (nd_cpu_walks(plan)) {
        move(m, batch->x + first * columns, rows * columns * sizeof *batch->x);
        move(m, batch->target + first * columns, rows * columns);
    }
    for (size_t l = nd_cpu_walks(plan) ? plan->layers : 0; l <= plan->layers; l++) move_layer(job, l, first, rows, m);
    if (!plan->blocks) return;
    size_t parts = (plan->blocks + 1) * 2 * backend->stride[0];
    move(m, batch->residual.parts + chunks.first * parts, chunks.count * parts * sizeof(float));
}

static struct share chunks_of(const nade_context *context, const struct batch_job *job, unsigned rank)
{
    return nd_share(rank, nd_ranks(context), (job->rows + job->chunk - 1) / job->chunk);
}

/* Where the parts of ranks end in what is sent. */
static void find_ends(const nade_context *context, const struct batch_job *job, size_t *end)
{
    struct mover count = {0};
    for (unsigned r = 0; r < nd_ranks(context); r++) {
        move_chunks(job, chunks_of(context, job, r), &count);
        end[r] = count.bytes;
    }
}

nade_status nd_cpu_agree_on_sums(nade_context *context, const struct cpu_backend *backend)
{
    const struct agreed panel = {"the instruction set of the processor, which sums in a fixed order need,",
                                 backend->products->panel};
    if (nd_ranks(context) == 1 || !nd_exact_sums(context)) return NADE_OK;
    nade_status status = nd_agree(context, &panel, 1);
    if (status != NADE_OK || backend->products->panel > 0) return status;
    return nd_fail(context, NADE_BAD_CALL, "ranks have no sums in a fixed order at precision bf16, expected fp32");
}

/* Memory for what is sent, unless it is there.  That differs between ranks: validation has larger batches, and one may
 * have validated alone. */
static nade_status need_sent(nade_context *context, const struct batch_job *job)
{
    struct batch_buffers *batch = &job->backend->batch;
    unsigned ranks = nd_ranks(context);
    if (batch->sent) return NADE_OK;
    batch->sent_end = nd_arena_alloc(&batch->arena, ranks, sizeof *batch->sent_end);
    if (batch->sent_end) {
        find_ends(context, job, batch->sent_end);
        batch->sent = nd_arena_alloc(&batch->arena, batch->sent_end[ranks - 1], 1);
    }
    return batch->sent ? NADE_OK : nd_no_memory(context, "what ranks send each other");
}

static nade_status share_rows(nade_context *context, struct batch_job *job)
{
    struct batch_buffers *batch = &job->backend->batch;
    unsigned own = nd_rank(context);
    job->chunk =
        nd_cpu_part_rows(job->rows); /* whose size does not depend on threads, of which ranks may differ in number */
    struct share chunks = chunks_of(context, job, own);
    nade_status status = need_sent(context, job);
    if (status != NADE_OK) return status;
    nd_cpu_run_chunks(job, chunks.first, chunks.count);
    struct mover out = {.sent = batch->sent, .bytes = own ? batch->sent_end[own - 1] : 0};
    move_chunks(job, chunks, &out);
    status = nd_gather(context, batch->sent, batch->sent_end);
    struct mover back = {.sent = batch->sent, .back = true};
    for (unsigned r = 0; r < nd_ranks(context) && status == NADE_OK; r++)
        move_chunks(job, chunks_of(context, job, r), &back);
    return status;
}

/* The parts that blocks of hidden units leave of the factors' gradient are added up by every rank. */
static nade_status share_scales(nade_context *context, struct batch_job *job)
{
    const struct cpu_backend *backend = job->backend;
    if (!backend->plan->rescale) return NADE_OK;
    size_t numbers = (nd_cpu_count_tasks(backend) - 1) * backend->plan->columns;
    nade_status status = nd_unite(context, backend->batch.scale_gradient, numbers * sizeof(double));
    nd_cpu_fixed_scales(job);
    return status;
}

static nade_status share_weights(nade_context *context, struct batch_job *job)
{
    const struct cpu_backend *backend = job->backend;
    size_t parameters = backend->plan->parameters, tasks = nd_cpu_count_tasks(backend);
    struct share own = nd_own_share(context, tasks);
    memset(backend->block[BLOCK_GRADIENT], 0, parameters * sizeof(float));
    if (backend->plan->rescale)
        memset(backend->batch.scale_gradient, 0, (tasks - 1) * backend->plan->columns * sizeof(double));
    job->makes_gradients = true;
    job->takes_steps = false;
    nd_cpu_run_tasks(job, own.first, own.count);
    nade_status status = share_scales(context, job);
    return status == NADE_OK ? nd_unite(context, backend->block[BLOCK_GRADIENT], parameters * sizeof(float)) : status;
}

nade_status nd_cpu_shared_gradient(nade_context *context, struct batch_job *job, double *loss)
{
    if (!nd_exact_sums(context) || ND_FAULT(FAULT_SUMS_NOT_EXACT)) return add_gradients_up(context, job, loss);
    nade_status status = share_rows(context, job);
    if (status != NADE_OK) return status;
    *loss = nd_cpu_batch_loss(job);
    return share_weights(context, job);
}
