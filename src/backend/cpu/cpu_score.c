/* Log densities on the CPU.
 *
 * Along an order the first layer is a running sum (paper, eqs. 4-5), kept in double since 784 additions in float drift.
 * Each scored position of each row is a line of a tile; full tiles pass the upper layers as one product of constant
 * shape, and of the outputs only the block of the position's own column is computed.  A scored row thus costs
 * D·(2H + H²(L-1)) multiply-adds for binary columns.  The linear path of a residual network is part of the running sum.
 */
#include <math.h>

#include "backend/cpu/cpu_chain.h"
#include "base/fault.h"
#include "model/head.h"

enum { GROUP_POSITIONS = 2048 }; /* a task is about so many positions: then padding the last tile costs little */

struct score_job {
    struct cpu_backend *backend;
    const struct encoded_rows *cells;
    const struct score_query *query;
    size_t group_rows, groups;
    double *log_density; /* (orders, rows) */
};

/* One line of a tile: which cell it predicts. */
struct tile_line {
    size_t row, column;
    float x;
};

struct tile {
    size_t used;
    struct tile_line line[ND_TILE];
};

static double line_log_density(const struct score_job *job, const struct tile *tile, size_t i, const float *hidden,
                               struct worker_scratch *scratch)
{
    const struct cpu_backend *backend = job->backend;
    const struct tile_line *line = &tile->line[i];
    double half = job->query->half_step ? job->query->half_step[line->column] : 0;
    const struct plan_column *column = &backend->plan->column[line->column];
    nd_cpu_line_outputs(backend, scratch, i, column, hidden, scratch->block);
    return nd_log_bin_or_density(column, scratch->block, (double)line->x, half);
}

static void finish_tile(const struct score_job *job, struct worker_scratch *scratch, struct tile *tile,
                        double *log_density)
{
    struct cpu_backend *backend = job->backend;
    if (tile->used == 0) return;
    const float *hidden = nd_cpu_pass_hidden(backend, scratch, tile->used);
    for (size_t i = 0; i < tile->used; i++)
        log_density[tile->line[i].row] += line_log_density(job, tile, i, hidden, scratch);
    tile->used = 0;
}

static void score_row(const struct score_job *job, size_t order, size_t row, struct worker_scratch *scratch,
                      struct tile *tile)
{
    struct cpu_backend *backend = job->backend;
    const size_t *columns = job->query->order + order * job->query->length;
    double *log_density = job->log_density + order * job->cells->rows;
    log_density[row] = 0;
    nd_cpu_begin_sum(backend, scratch->sum);
    for (size_t t = 0; t < job->query->length; t++) {
        float x = nd_cell(job->cells, row, columns[t]);
        if (ND_FAULT(FAULT_MISSING_IS_ZERO) && isnan(x)) x = 0;
        if (isnan(x)) continue;
        if (t >= job->query->given) {
            nd_cpu_begin_line(backend, scratch, tile->used, columns[t], scratch->sum);
            tile->line[tile->used++] = (struct tile_line){row, columns[t], x};
            if (tile->used == ND_TILE) finish_tile(job, scratch, tile, log_density);
        }
        if (t + 1 < job->query->length) nd_cpu_observe(backend, columns[t], x, scratch->sum);
    }
}

static void score_group(void *argument, size_t task, unsigned worker)
{
    const struct score_job *job = argument;
    struct worker_scratch *scratch = &job->backend->scratch[worker];
    size_t order = task / job->groups, first = task % job->groups * job->group_rows;
    size_t last = first + job->group_rows < job->cells->rows ? first + job->group_rows : job->cells->rows;
    struct tile tile = {.used = 0};
    for (size_t row = first; row < last; row++) score_row(job, order, row, scratch, &tile);
    finish_tile(job, scratch, &tile, job->log_density + order * job->cells->rows);
}

nade_status nd_cpu_score_block(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                               const struct score_query *query, double *log_density)
{
    struct cpu_backend *backend = (void *)opaque;
    nade_status status = nd_cpu_prepare_chain(context, backend);
    if (status != NADE_OK) return status;
    size_t rows = GROUP_POSITIONS / (query->length ? query->length : 1);
    struct score_job job = {
        .backend = backend,
        .cells = cells,
        .query = query,
        .group_rows = rows ? rows : 1,
        .log_density = log_density,
    };
    job.groups = (cells->rows + job.group_rows - 1) / job.group_rows;
    nd_parallel_for(backend->pool, job.groups * query->orders, score_group, &job);
    return NADE_OK;
}
