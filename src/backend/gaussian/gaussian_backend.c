#include "backend/gaussian/gaussian_backend.h"

#include <string.h>

#include "base/context.h"
#include "model/head.h"

static void close_gaussian(struct backend *opaque)
{
    struct gaussian_backend *backend = (void *)opaque;
    if (!backend) return;
    nd_pool_free(backend->pool);
    nd_arena_free(&backend->fit_arena);
    struct arena arena = backend->arena; /* the backend lies in its own arena */
    nd_arena_free(&arena);
}

static bool open_worker(struct arena *arena, struct gaussian_backend *backend, struct gaussian_worker *worker)
{
    worker->outputs = nd_arena_alloc(arena, nd_widest_block(backend->plan), sizeof *worker->outputs);
    return worker->outputs && nd_gaussian_scratch(arena, &backend->g, &worker->run) &&
           nd_path_alloc(arena, &backend->g, &worker->path);
}

/* The floors are those of the columns: what the plan has of a column alone. */
static bool open_all(struct arena *arena, struct gaussian_backend *backend)
{
    const struct plan *plan = backend->plan;
    unsigned threads = backend->pool ? nd_pool_threads(backend->pool) : 0;
    backend->floor = nd_arena_alloc(arena, plan->columns, sizeof *backend->floor);
    backend->worker = nd_arena_alloc(arena, threads, sizeof *backend->worker);
    bool good = backend->pool && backend->floor && backend->worker &&
                nd_gaussians_alloc(arena, plan->components, plan->columns, plan->factors, &backend->g);
    for (size_t c = 0; good && c < plan->columns; c++) backend->floor[c] = plan->alone[c].floor;
    for (unsigned t = 0; good && t < threads; t++) good = open_worker(arena, backend, &backend->worker[t]);
    return good;
}

static nade_status open_gaussian(nade_context *context, const struct plan *plan, nade_precision precision,
                                 struct backend **opened)
{
    struct arena arena = {context->allocator, NULL};
    struct gaussian_backend *backend = nd_arena_alloc(&arena, 1, sizeof *backend);
    (void)precision;
    if (!backend) return nd_no_memory(context, "the mixture");
    backend->plan = plan;
    backend->kernels = nd_gaussian_kernels();
    backend->fit_arena = (struct arena){context->allocator, NULL};
    backend->pool = nd_pool_create(&context->allocator, context->threads);
    bool good = open_all(&arena, backend);
    backend->arena = arena;
    if (!good) {
        close_gaussian((struct backend *)backend);
        return nd_no_memory(context, "the mixture");
    }
    *opened = (struct backend *)backend;
    return NADE_OK;
}

/* Parameters alone: there are no moments and no gradient. */
static nade_status set_block(nade_context *context, struct backend *opaque, enum block block, const float *values)
{
    struct gaussian_backend *backend = (void *)opaque;
    (void)context;
    if (block == BLOCK_PARAMETERS) nd_gaussians_load(&backend->g, backend->plan, values, backend->worker[0].run.factor);
    return NADE_OK;
}

static nade_status get_block(nade_context *context, struct backend *opaque, enum block block, float *values)
{
    struct gaussian_backend *backend = (void *)opaque;
    (void)context;
    memset(values, 0, backend->plan->parameters * sizeof *values);
    if (block == BLOCK_PARAMETERS)
        nd_gaussians_store(&backend->g, backend->plan, backend->worker[0].run.factor, values);
    return NADE_OK;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static nade_status set_data(nade_context *context, struct backend *opaque, enum data_role role,
                            const struct encoded_rows *cells)
{
    struct gaussian_backend *backend = (void *)opaque;
    backend->data[role] = *cells;
    if (role != DATA_TRAIN) return NADE_OK;
    nd_arena_free(&backend->fit_arena);
    backend->fit_arena = (struct arena){context->allocator, NULL};
    bool good =
        nd_gaussian_em_open(&backend->fit_arena, backend->pool, cells, backend->floor, &backend->g, &backend->em);
    return good ? NADE_OK : nd_no_memory(context, "the rows' sums");
}

/* Update 0 is the beginning, the first_draw-th of several; every update is a round, and the loss what the first of them
 * makes no larger. */
static nade_status train_updates(nade_context *context, struct backend *opaque, const struct update_rule *rule,
                                 uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    struct gaussian_backend *backend = (void *)opaque;
    (void)failed;
    backend->em.prior = backend->g.components > 1 ? rule->prior : 0;
    if (first == 0 && !nd_gaussian_em_start(&backend->em, rule->seed, (uint32_t)rule->first_draw))
        return nd_no_memory(context, "the clusters");
    for (uint64_t i = 0; i < count; i++) {
        double objective = nd_gaussian_em_round(&backend->em);
        if (i == 0) *loss = -objective / (double)backend->em.cells.rows;
    }
    return NADE_OK;
}

/* The exact mean of -log p. */
static nade_status validate(nade_context *context, struct backend *opaque, uint32_t seed, size_t repeats, double *loss)
{
    struct gaussian_backend *backend = (void *)opaque;
    const struct encoded_rows *cells = &backend->data[DATA_VALID];
    struct arena arena = {context->allocator, NULL};
    size_t *order = nd_arena_alloc(&arena, cells->columns, sizeof *order);
    double *log_density = nd_arena_alloc(&arena, cells->rows, sizeof *log_density), sum = 0;
    (void)seed;
    (void)repeats;
    nade_status status = order && log_density ? NADE_OK : nd_no_memory(context, "the densities");
    for (size_t c = 0; order && c < cells->columns; c++) order[c] = c;
    const struct score_query query = {.order = order, .orders = 1, .length = cells->columns};
    if (status == NADE_OK) status = nd_gaussian_score(context, opaque, cells, &query, log_density);
    for (size_t r = 0; status == NADE_OK && r < cells->rows; r++) sum -= log_density[r];
    *loss = sum / (double)cells->rows;
    nd_arena_free(&arena);
    return status;
}

const struct backend_entries nd_gaussian_entries = {
    .name = "gaussian",
    .usual = NADE_PRECISION_AUTO,
    .slice = 1,
    .open = open_gaussian,
    .close = close_gaussian,
    .set_block = set_block,
    .get_block = get_block,
    .set_data = set_data,
    .set_rows = nd_host_set_rows,
    .train_updates = train_updates,
    .validate = validate,
    .score_block = nd_gaussian_score,
    .conditional_block = nd_gaussian_conditional,
    .sample_block = nd_gaussian_sample,
};
