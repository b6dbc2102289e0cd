/* Log densities on the CPU.
 *
 * Along an order the first layer is a running sum (paper, eqs. 4-5), kept in double since 784 additions in float drift.
 * Each scored position of each row is a line of a tile; full tiles pass the upper layers as one product of constant
 * shape, and of the outputs only the block of the position's own column is computed.  A scored row thus costs
 * D·(2H + H²(L-1)) multiply-adds for binary columns. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/cpu_blas.h"
#include "base/fault.h"
#include "model/head.h"

enum { GROUP_POSITIONS = 2048 }; /* a task is about so many positions: then padding the last tile costs little */

struct score_job {
    struct cpu_backend *backend;
    const struct cells *cells;
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

static const float *tensor_of(const struct cpu_backend *backend, size_t index)
{
    return backend->block[BLOCK_PARAMETERS] + backend->plan->tensor[index].offset;
}

/* The upper layers for a whole tile; returns which of the two buffers holds the last layer's values. */
static const float *pass_hidden_layers(const struct cpu_backend *backend, struct worker_scratch *scratch)
{
    const struct plan *plan = backend->plan;
    int now = 0;
    for (size_t l = 1; l < plan->layers; l++) {
        size_t width = plan->hidden[l], stride = backend->stride[l], index = nd_weight_index(l);
        float *out = scratch->tile[1 - now];
        nd_blas_forward(ND_TILE, plan->hidden[l - 1], width, scratch->tile[now], backend->stride[l - 1],
                        tensor_of(backend, index), out, stride);
        backend->kernels->add_bias_activate(plan->activation, ND_TILE, width, stride, tensor_of(backend, index + 1),
                                            out);
        now = 1 - now;
    }
    return scratch->tile[now];
}

static double line_log_density(const struct cpu_backend *backend, const struct tile_line *line, const float *hidden,
                               double *outputs)
{
    const struct plan *plan = backend->plan;
    const struct plan_column *column = &plan->column[line->column];
    size_t width = plan->hidden[plan->layers - 1], index = nd_weight_index(plan->layers);
    const float *weight = tensor_of(backend, index) + column->output * width;
    const float *bias = tensor_of(backend, index + 1) + column->output;
    for (size_t i = 0; i < column->output_width; i++)
        outputs[i] = backend->kernels->dot(width, weight + i * width, hidden) + (double)bias[i];
    return column->head->log_density(column, outputs, (double)line->x);
}

static void finish_tile(const struct score_job *job, struct worker_scratch *scratch, struct tile *tile,
                        double *log_density)
{
    struct cpu_backend *backend = job->backend;
    if (tile->used == 0) return;
    const float *hidden = pass_hidden_layers(backend, scratch);
    size_t stride = backend->stride[backend->plan->layers - 1];
    for (size_t i = 0; i < tile->used; i++)
        log_density[tile->line[i].row] +=
            line_log_density(backend, &tile->line[i], hidden + i * stride, scratch->block);
    tile->used = 0;
}

/* Adds a cell that is now observed to the first layer's running sum. */
static void observe(const struct cpu_backend *backend, size_t column, float x, double *sum)
{
    const struct plan *plan = backend->plan;
    const struct plan_column *c = &plan->column[column];
    size_t width = plan->hidden[0];
    size_t input = c->input + (c->head->one_hot ? (size_t)x : 0);
    const float *value = backend->first_transposed + input * width;
    const float *mask = plan->masks ? backend->first_transposed + (plan->values_width + column) * width : NULL;
    backend->kernels->accumulate(width, c->head->one_hot ? 1 : (double)x, value, mask, sum);
}

static void score_row(const struct score_job *job, size_t order, size_t row, struct worker_scratch *scratch,
                      struct tile *tile)
{
    struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    const size_t *columns = job->query->order + order * job->query->length;
    double *log_density = job->log_density + order * job->cells->rows;
    const float *bias = tensor_of(backend, nd_weight_index(0) + 1);
    log_density[row] = 0;
    for (size_t i = 0; i < plan->hidden[0]; i++) scratch->sum[i] = (double)bias[i];
    for (size_t t = 0; t < job->query->length; t++) {
        float x = nd_cell(job->cells, row, columns[t]);
        if (ND_FAULT(FAULT_MISSING_IS_ZERO) && isnan(x)) x = 0;
        if (isnan(x)) continue;
        if (t >= job->query->given) {
            backend->kernels->activate_sum(plan->activation, plan->hidden[0], scratch->sum,
                                           scratch->tile[0] + tile->used * backend->stride[0]);
            tile->line[tile->used++] = (struct tile_line){row, columns[t], x};
            if (tile->used == ND_TILE) finish_tile(job, scratch, tile, log_density);
        }
        if (t + 1 < job->query->length) observe(backend, columns[t], x, scratch->sum);
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

/* (hidden[0], inputs) becomes (inputs, hidden[0]), so that an input's weights lie together. */
static nade_status transpose_first(nade_context *context, struct cpu_backend *backend)
{
    const struct plan *plan = backend->plan;
    size_t width = plan->hidden[0];
    if (backend->first_transposed_current) return NADE_OK;
    if (!backend->first_transposed)
        backend->first_transposed = nd_arena_alloc(&backend->arena, plan->inputs, width * sizeof(float));
    if (!backend->first_transposed) return nd_no_memory(context, "scoring");
    const float *weight = tensor_of(backend, nd_weight_index(0));
    for (size_t i = 0; i < plan->inputs; i++)
        for (size_t h = 0; h < width; h++) backend->first_transposed[i * width + h] = weight[h * plan->inputs + i];
    backend->first_transposed_current = true;
    return NADE_OK;
}

nade_status nd_cpu_score_block(nade_context *context, struct backend *opaque, const struct cells *cells,
                               const struct score_query *query, double *log_density)
{
    struct cpu_backend *backend = (void *)opaque;
    nade_status status = transpose_first(context, backend);
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
