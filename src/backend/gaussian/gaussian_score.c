/* Densities: of a set of columns given another the ratio of two marginals, whatever the order; the mean density over
 * bins is no such ratio, and goes along the order. */
#include "backend/gaussian/gaussian_backend.h"
#include "base/context.h"
#include "base/fault.h"
#include "model/head.h"

struct score_job {
    struct gaussian_backend *backend;
    const struct encoded_rows *cells;
    const struct score_query *query;
    struct row_patterns patterns;
    const bool *listed, *given; /* (D) */
    const size_t *order;        /* (length) of the one that is scored */
    double *log_density;        /* (rows) */
};

/* ---- without bins ------------------------------------------------------------------------------------------------ */

/* total (rows) of the run's columns in `used`; 0 where there are none. */
static void run_totals(const struct score_job *job, const struct row_run *run, const bool *used,
                       struct gaussian_scratch *s)
{
    const struct gaussians *g = &job->backend->g;
    nd_take_run(job->cells, &job->patterns, run, used, s);
    if (s->n == 0) {
        for (size_t r = 0; r < run->count; r++) s->total[r] = 0;
        return;
    }
    bool whole = s->n == g->columns;
    for (size_t k = 0; k < g->components; k++) {
        double log_root;
        const double *inverse = nd_inverse_for(g, k, s, &log_root);
        if (whole)
            s->top[k] = nd_term_at_mean(g, k, s->n, log_root, 0);
        else
            nd_run_terms(g, job->backend->kernels, k, run->count, inverse, log_root, 0, s);
    }
    if (whole) nd_whole_run_terms(g, job->backend->kernels, run->count, s);
    nd_run_totals(g, run->count, s);
}

static void score_run(void *argument, size_t task, unsigned worker)
{
    const struct score_job *job = argument;
    const struct row_run *run = &job->patterns.run[task];
    const size_t *row = job->patterns.row + run->first;
    struct gaussian_scratch *s = &job->backend->worker[worker].run;
    run_totals(job, run, job->listed, s);
    for (size_t r = 0; r < run->count; r++) job->log_density[row[r]] = s->total[r];
    if (job->query->given == 0 || ND_FAULT(FAULT_GAUSSIAN_GIVEN)) return;
    run_totals(job, run, job->given, s);
    for (size_t r = 0; r < run->count; r++) job->log_density[row[r]] -= s->total[r];
}

/* ---- by bins ----------------------------------------------------------------------------------------------------- */

/* The order's columns that the run's rows have. */
static void list_order(const struct score_job *job, size_t row, struct gaussian_path *path, size_t *given)
{
    path->n = *given = 0;
    for (size_t t = 0; t < job->query->length; t++) {
        if (isnan(nd_cell(job->cells, row, job->order[t]))) continue;
        path->list[path->n++] = job->order[t];
        if (t < job->query->given) ++*given;
    }
    nd_path_prepare(path);
}

static double score_row(const struct score_job *job, size_t row, size_t given, struct gaussian_worker *worker)
{
    struct gaussian_path *path = &worker->path;
    double sum = 0;
    nd_path_begin(path);
    for (size_t t = 0; t < path->n; t++) {
        size_t c = path->list[t];
        double x = (double)nd_cell(job->cells, row, c);
        const struct plan_column *column = &job->backend->plan->column[c];
        if (t >= given) {
            nd_path_outputs(path, column, worker->outputs);
            sum += nd_log_bin_or_density(column, worker->outputs, x,
                                         ND_FAULT(FAULT_GAUSSIAN_BINS) ? 0 : job->query->half_step[c]);
        }
        nd_path_step(path, x);
    }
    return sum;
}

static void score_run_by_bins(void *argument, size_t task, unsigned worker)
{
    const struct score_job *job = argument;
    const struct row_run *run = &job->patterns.run[task];
    const size_t *row = job->patterns.row + run->first;
    struct gaussian_worker *own = &job->backend->worker[worker];
    size_t given;
    list_order(job, row[0], &own->path, &given);
    for (size_t r = 0; r < run->count; r++) job->log_density[row[r]] = score_row(job, row[r], given, own);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static bool has_bins(const struct score_query *query)
{
    for (size_t t = query->given; query->half_step && t < query->length; t++)
        if (query->half_step[query->order[t]] > 0) return true;
    return false;
}

/* Each order has the same columns, and those given are the same. */
static void mark(const struct score_query *query, bool *listed, bool *given)
{
    for (size_t t = 0; t < query->length; t++) {
        listed[query->order[t]] = true;
        given[query->order[t]] = t < query->given;
    }
}

nade_status nd_gaussian_score(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                              const struct score_query *query, double *log_density)
{
    struct gaussian_backend *backend = (void *)opaque;
    struct arena arena = {context->allocator, NULL};
    bool *listed = nd_arena_alloc(&arena, cells->columns, sizeof *listed), bins = has_bins(query);
    bool *given = nd_arena_alloc(&arena, cells->columns, sizeof *given);
    struct score_job job = {.backend = backend, .cells = cells, .query = query, .listed = listed, .given = given};
    if (listed && given) mark(query, listed, given);
    bool good = listed && given && nd_find_patterns(&arena, cells, listed, NULL, &job.patterns);
    for (size_t k = 0; good && k < query->orders; k++) {
        job.order = query->order + k * query->length;
        job.log_density = log_density + k * cells->rows;
        if (bins || k == 0)
            nd_parallel_for(backend->pool, job.patterns.runs, bins ? score_run_by_bins : score_run, &job);
        else
            for (size_t r = 0; r < cells->rows; r++) job.log_density[r] = log_density[r];
    }
    nd_arena_free(&arena);
    return good ? NADE_OK : nd_no_memory(context, "the rows' patterns");
}
