/* Draws on the CPU.
 *
 * ND_TILE rows walk their orders in step, each with its own running sum of the first layer, kept in double.  At a step
 * every row that still has something to draw puts its first layer into its line of the tile; the tile passes the upper
 * layers as one product of constant shape; each row draws its next column and observes it.  A row thus draws the same
 * cells wherever it stands and whatever stands beside it. */
#include <math.h>

#include "backend/cpu/cpu_chain.h"
#include "base/philox.h"
#include "model/head.h"

struct sample_job {
    struct cpu_backend *backend;
    const struct sample_query *query;
    size_t rows;
    float *cells; /* (rows, columns) */
};

/* The rows of one tile on their way. */
struct walk {
    const struct sample_job *job;
    struct worker_scratch *scratch;
    size_t first, rows;
    size_t next[ND_TILE]; /* place in each row's order: what lies before it is observed, or the row is given up */
};

static const size_t *order_of(const struct walk *walk, size_t i)
{
    return walk->job->query->order + (walk->first + i) * walk->job->backend->plan->columns;
}

static float *cells_of(const struct walk *walk, size_t i)
{
    return walk->job->cells + (walk->first + i) * walk->job->backend->plan->columns;
}

static double *sum_of(const struct walk *walk, size_t i)
{
    return walk->scratch->sums + i * walk->job->backend->chain_width;
}

/* Moves on to the row's next missing cell; false when there is none. */
static bool find_missing(struct walk *walk, size_t i)
{
    const size_t *order = order_of(walk, i);
    const float *cells = cells_of(walk, i);
    size_t columns = walk->job->backend->plan->columns;
    while (walk->next[i] < columns && !isnan(cells[order[walk->next[i]]])) walk->next[i]++;
    return walk->next[i] < columns;
}

/* Conditions on the cells that are there, in the row's order. */
static void begin_row(struct walk *walk, size_t i)
{
    const struct cpu_backend *backend = walk->job->backend;
    const size_t *order = order_of(walk, i);
    const float *cells = cells_of(walk, i);
    double *sum = sum_of(walk, i);
    nd_cpu_begin_sum(backend, sum);
    for (size_t t = 0; t < backend->plan->columns; t++)
        if (!isnan(cells[order[t]])) nd_cpu_observe(backend, order[t], cells[order[t]], sum);
    walk->next[i] = 0;
}

/* Draws the cell that the row stands at from the tile's last hidden layer. */
static void draw_cell(struct walk *walk, size_t i, const float *hidden)
{
    const struct cpu_backend *backend = walk->job->backend;
    const struct sample_query *query = walk->job->query;
    size_t c = order_of(walk, i)[walk->next[i]++], row = walk->first + i;
    const struct plan_column *column = &backend->plan->column[c];
    struct philox_block words = nd_philox(query->seed, PURPOSE_SAMPLE, query->draw[row], query->row[row], (uint32_t)c);
    nd_cpu_line_outputs(backend, walk->scratch, i, column, hidden, walk->scratch->block);
    float x = nd_draw_cell(query, column, c, walk->scratch->block, words.word);
    cells_of(walk, i)[c] = x;
    if (isnan(x))
        walk->next[i] = backend->plan->columns;
    else
        nd_cpu_observe(backend, c, x, sum_of(walk, i));
}

/* One step of every row; false when none had anything left to draw. */
static bool step(struct walk *walk)
{
    const struct cpu_backend *backend = walk->job->backend;
    bool draws[ND_TILE], any = false;
    for (size_t i = 0; i < walk->rows; i++) {
        draws[i] = find_missing(walk, i);
        any = any || draws[i];
        if (draws[i]) nd_cpu_begin_line(backend, walk->scratch, i, order_of(walk, i)[walk->next[i]], sum_of(walk, i));
    }
    if (!any) return false;
    const float *hidden = nd_cpu_pass_hidden(backend, walk->scratch, walk->rows);
    for (size_t i = 0; i < walk->rows; i++)
        if (draws[i]) draw_cell(walk, i, hidden);
    return true;
}

static void sample_tile(void *argument, size_t task, unsigned worker)
{
    const struct sample_job *job = argument;
    size_t first = task * ND_TILE, left = job->rows - first;
    struct walk walk = {.job = job, .scratch = &job->backend->scratch[worker], .first = first};
    walk.rows = left < ND_TILE ? left : ND_TILE;
    for (size_t i = 0; i < walk.rows; i++) begin_row(&walk, i);
    while (step(&walk)) continue;
}

static bool reserve_sums(struct cpu_backend *backend)
{
    for (unsigned t = 0; t < nd_pool_threads(backend->pool); t++) {
        struct worker_scratch *scratch = &backend->scratch[t];
        if (!scratch->sums)
            scratch->sums = nd_arena_alloc(&backend->arena, backend->chain_width, ND_TILE * sizeof(double));
        if (!scratch->sums) return false;
    }
    return true;
}

nade_status nd_cpu_sample_block(nade_context *context, struct backend *opaque, const struct sample_query *query,
                                size_t rows, float *cells)
{
    struct cpu_backend *backend = (void *)opaque;
    struct sample_job job = {backend, query, rows, cells};
    nade_status status = nd_cpu_prepare_chain(context, backend);
    if (status != NADE_OK) return status;
    if (!reserve_sums(backend)) return nd_no_memory(context, "sampling");
    nd_parallel_for(backend->pool, (rows + ND_TILE - 1) / ND_TILE, sample_tile, &job);
    return NADE_OK;
}
