/* Outputs of single columns given the rest of their rows, on the CPU: each row is a line of a tile (cpu_chain.h). */
#include <math.h>

#include "backend/cpu/cpu_chain.h"
#include "base/fault.h"

struct conditional_job {
    struct cpu_backend *backend;
    const struct encoded_rows *cells;
    const size_t *target; /* (rows) */
    size_t widest;
    double *outputs; /* (rows, widest) */
};

/* A line for a row with all but its target observed. */
static void begin_line(const struct conditional_job *job, size_t row, struct worker_scratch *scratch, size_t line)
{
    const struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    nd_cpu_begin_sum(backend, scratch->sum);
    for (size_t c = 0; c < plan->columns; c++) {
        if (c == job->target[row] && !ND_FAULT(FAULT_TARGET_OBSERVED)) continue;
        float x = nd_cell(job->cells, row, c);
        if (!isnan(x)) nd_cpu_observe(backend, c, x, scratch->sum);
    }
    nd_cpu_begin_line(backend, scratch, line, job->target[row], scratch->sum);
}

static void conditional_tile(void *argument, size_t task, unsigned worker)
{
    const struct conditional_job *job = argument;
    const struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    struct worker_scratch *scratch = &backend->scratch[worker];
    size_t first = task * ND_TILE, left = job->cells->rows - first, rows = left < ND_TILE ? left : ND_TILE;
    for (size_t i = 0; i < rows; i++) begin_line(job, first + i, scratch, i);
    const float *hidden = nd_cpu_pass_hidden(backend, scratch, rows);
    for (size_t i = 0; i < rows; i++)
        nd_cpu_line_outputs(backend, scratch, i, &plan->column[job->target[first + i]], hidden,
                            job->outputs + (first + i) * job->widest);
}

nade_status nd_cpu_conditional_block(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                                     const size_t *target, double *outputs)
{
    struct cpu_backend *backend = (void *)opaque;
    struct conditional_job job = {backend, cells, target, backend->widest_block, outputs};
    nade_status status = nd_cpu_prepare_chain(context, backend);
    if (status != NADE_OK) return status;
    nd_parallel_for(backend->pool, (cells->rows + ND_TILE - 1) / ND_TILE, conditional_tile, &job);
    return NADE_OK;
}
