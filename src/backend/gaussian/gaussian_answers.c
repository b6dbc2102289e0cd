/* One column given a row's other cells, and draws. */
#include "backend/gaussian/gaussian_backend.h"
#include "base/context.h"
#include "base/fault.h"
#include "base/philox.h"

/* ---- conditionals ------------------------------------------------------------------------------------------------ */

struct conditional_job {
    struct gaussian_backend *backend;
    const struct encoded_rows *cells;
    const size_t *target;
    struct row_patterns patterns;
    size_t widest;
    double *outputs;
};

/* The cells that are there but the target's, then the target. */
static void answer_run(void *argument, size_t task, unsigned worker)
{
    const struct conditional_job *job = argument;
    const struct row_run *run = &job->patterns.run[task];
    const size_t *row = job->patterns.row + run->first;
    struct gaussian_path *path = &job->backend->worker[worker].path;
    size_t target = job->target[row[0]];
    path->n = 0;
    for (size_t c = 0; c < job->cells->columns; c++)
        if (c != target && !isnan(nd_cell(job->cells, row[0], c))) path->list[path->n++] = c;
    path->list[path->n++] = target;
    nd_path_prepare(path);
    for (size_t r = 0; r < run->count; r++) {
        nd_path_begin(path);
        while (path->at + 1 < path->n) nd_path_step(path, (double)nd_cell(job->cells, row[r], path->list[path->at]));
        nd_path_outputs(path, &job->backend->plan->column[target], job->outputs + row[r] * job->widest);
    }
}

nade_status nd_gaussian_conditional(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                                    const size_t *target, double *outputs)
{
    struct gaussian_backend *backend = (void *)opaque;
    struct arena arena = {context->allocator, NULL};
    struct conditional_job job = {backend, cells, target, .widest = nd_widest_block(backend->plan), .outputs = outputs};
    bool good = nd_find_patterns(&arena, cells, NULL, target, &job.patterns);
    if (good) nd_parallel_for(backend->pool, job.patterns.runs, answer_run, &job);
    nd_arena_free(&arena);
    return good ? NADE_OK : nd_no_memory(context, "the rows' patterns");
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

struct draw_job {
    struct gaussian_backend *backend;
    const struct sample_query *query;
    struct row_patterns patterns;
    float *cells; /* (rows, columns) */
};

/* What is there, then the bounded column, then all others: the order in which these are drawn makes no difference to
 * their distribution, and rows with the same cells share the factors of one. */
static size_t list_draws(const struct draw_job *job, const float *cells, struct gaussian_path *path)
{
    size_t columns = job->backend->plan->columns, bounded = job->query->bounded, there;
    path->n = 0;
    for (size_t c = 0; c < columns; c++)
        if (!isnan(cells[c])) path->list[path->n++] = c;
    there = path->n;
    bool draws_bounded = bounded < columns && isnan(cells[bounded]) && !ND_FAULT(FAULT_BOUNDED_LATE);
    if (draws_bounded) path->list[path->n++] = bounded;
    for (size_t c = 0; c < columns; c++)
        if (isnan(cells[c]) && !(draws_bounded && c == bounded)) path->list[path->n++] = c;
    nd_path_prepare(path);
    return there;
}

static void draw_row(const struct draw_job *job, size_t row, size_t there, struct gaussian_worker *worker)
{
    const struct sample_query *query = job->query;
    float *cells = job->cells + row * job->backend->plan->columns;
    struct gaussian_path *path = &worker->path;
    nd_path_begin(path);
    while (path->at < path->n) {
        size_t c = path->list[path->at];
        if (path->at >= there) {
            const struct plan_column *column = &job->backend->plan->column[c];
            struct philox_block words =
                nd_philox(query->seed, PURPOSE_SAMPLE, query->draw[row], query->row[row], (uint32_t)c);
            nd_path_outputs(path, column, worker->outputs);
            cells[c] = nd_draw_cell(query, column, c, worker->outputs, words.word);
            if (isnan(cells[c])) return;
        }
        nd_path_step(path, (double)cells[c]);
    }
}

static void draw_run(void *argument, size_t task, unsigned worker)
{
    const struct draw_job *job = argument;
    const struct row_run *run = &job->patterns.run[task];
    const size_t *row = job->patterns.row + run->first;
    struct gaussian_worker *own = &job->backend->worker[worker];
    size_t there = list_draws(job, job->cells + row[0] * job->backend->plan->columns, &own->path);
    for (size_t r = 0; r < run->count; r++) draw_row(job, row[r], there, own);
}

nade_status nd_gaussian_sample(nade_context *context, struct backend *opaque, const struct sample_query *query,
                               size_t rows, float *cells)
{
    struct gaussian_backend *backend = (void *)opaque;
    struct arena arena = {context->allocator, NULL};
    struct encoded_rows encoded = {rows, backend->plan->columns, ENCODED_FLOATS, cells};
    struct draw_job job = {backend, query, .cells = cells};
    bool good = nd_find_patterns(&arena, &encoded, NULL, NULL, &job.patterns);
    if (good) nd_parallel_for(backend->pool, job.patterns.runs, draw_run, &job);
    nd_arena_free(&arena);
    return good ? NADE_OK : nd_no_memory(context, "the rows' patterns");
}
