#include "backend/mixture/mixture_backend.h"

#include <math.h>
#include <string.h>

#include "backend/mixture/mixture_fit.h"
#include "base/context.h"
#include "base/fault.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/product_mixture.h"

enum { TASK_ROWS = 32 };

/* Weights of components below this count as this: float32, in which outputs must be finite, would not hold all. */
#define LOG_WEIGHT_LEAST (-1e9)

struct mixture_backend {
    struct arena arena; /* everything, itself included, but what is the fit's own */
    const struct plan *plan;
    struct pool *pool;
    float *parameters; /* (plan->parameters) */
    struct product_mixture mixture;
    double *terms;             /* (threads, components) */
    uint8_t *role, *next_role; /* (columns) of the order that is scored */
    struct mixture_fit fit;
};

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static void mixture_close(struct backend *opaque)
{
    struct mixture_backend *backend = (void *)opaque;
    if (!backend) return;
    nd_mixture_fit_close(&backend->fit);
    nd_pool_free(backend->pool);
    struct arena arena = backend->arena; /* the backend lies in its own arena */
    nd_arena_free(&arena);
}

static nade_status mixture_open(nade_context *context, const struct plan *plan, nade_precision precision,
                                struct backend **opened)
{
    struct arena arena = {context->allocator, NULL};
    struct mixture_backend *backend = nd_arena_alloc(&arena, 1, sizeof *backend);
    size_t terms;
    (void)precision;
    if (!backend) return nd_no_memory(context, "the mixture");
    backend->plan = plan;
    backend->pool = nd_pool_create(&context->allocator, context->threads);
    backend->parameters = nd_arena_alloc(&arena, plan->parameters, sizeof *backend->parameters);
    if (backend->pool && nd_multiply(nd_pool_threads(backend->pool), plan->components, &terms))
        backend->terms = nd_arena_alloc(&arena, terms, sizeof *backend->terms);
    backend->role = nd_arena_alloc(&arena, plan->columns, 1);
    backend->next_role = nd_arena_alloc(&arena, plan->columns, 1);
    bool good = backend->parameters && backend->terms && backend->role && backend->next_role &&
                nd_product_prepare(&arena, plan, &backend->mixture);
    backend->arena = arena;
    if (!good) {
        mixture_close((struct backend *)backend);
        return nd_no_memory(context, "the mixture");
    }
    *opened = (struct backend *)backend;
    return NADE_OK;
}

static nade_status mixture_set_block(nade_context *context, struct backend *opaque, enum block block,
                                     const float *values)
{
    struct mixture_backend *backend = (void *)opaque;
    (void)context;
    if (block != BLOCK_PARAMETERS) return NADE_OK;
    memcpy(backend->parameters, values, backend->plan->parameters * sizeof *values);
    if (backend->fit.open) nd_em_load(&backend->fit.em, values);
    nd_product_load(&backend->mixture, values);
    nd_product_refresh(&backend->mixture, backend->pool);
    return NADE_OK;
}

static nade_status mixture_get_block(nade_context *context, struct backend *opaque, enum block block, float *values)
{
    struct mixture_backend *backend = (void *)opaque;
    (void)context;
    if (block != BLOCK_PARAMETERS)
        memset(values, 0, backend->plan->parameters * sizeof *values);
    else if (backend->fit.open)
        nd_product_store(&backend->fit.em.mixture, values);
    else
        memcpy(values, backend->parameters, backend->plan->parameters * sizeof *values);
    return NADE_OK;
}

/* ---- training ---------------------------------------------------------------------------------------------------- */

static nade_status mixture_set_data(nade_context *context, struct backend *opaque, enum data_role role,
                                    const struct encoded_rows *cells)
{
    struct mixture_backend *backend = (void *)opaque;
    if (role != DATA_TRAIN) {
        nd_mixture_fit_valid(&backend->fit, cells);
        return NADE_OK;
    }
    if (backend->fit.open) nd_product_store(&backend->fit.em.mixture, backend->parameters);
    return nd_mixture_fit_train(context, &backend->fit, backend->plan, backend->pool, cells, backend->parameters);
}

static nade_status mixture_train(nade_context *context, struct backend *opaque, const struct update_rule *rule,
                                 uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    struct mixture_backend *backend = (void *)opaque;
    (void)context;
    (void)failed;
    nd_mixture_fit_rounds(&backend->fit, rule, first, count, loss);
    return NADE_OK;
}

static nade_status mixture_validate(nade_context *context, struct backend *opaque, uint32_t seed, size_t repeats,
                                    double *loss)
{
    struct mixture_backend *backend = (void *)opaque;
    (void)seed;
    (void)repeats;
    return nd_mixture_fit_validate(context, &backend->fit, loss);
}

/* The log weights of the components before anything is known of a row. */
static double *begin_terms(const struct mixture_backend *backend, unsigned worker)
{
    size_t count = backend->plan->components;
    double *terms = backend->terms + worker * count;
    memcpy(terms, backend->mixture.log_weight, count * sizeof *terms);
    return terms;
}

/* ---- densities --------------------------------------------------------------------------------------------------- */

/* What a question has columns for. */
enum role { UNREAD, GIVEN, SCORED };

struct score_job {
    const struct mixture_backend *backend;
    const struct encoded_rows *cells;
    const double *half_step; /* of the query */
    double *log_density;     /* (rows) */
};

static void read_roles(const struct score_query *query, size_t k, size_t columns, uint8_t *role)
{
    memset(role, UNREAD, columns);
    for (size_t t = 0; t < query->length; t++)
        role[query->order[k * query->length + t]] = t < query->given ? GIVEN : SCORED;
}

/* The columns are taken as they stand, whatever the order, so that every order gives the same bytes. */
static void add_columns(const struct score_job *job, size_t row, enum role role, double *terms)
{
    const struct mixture_backend *backend = job->backend;
    for (size_t c = 0; c < backend->plan->columns; c++) {
        float x = backend->role[c] == role ? nd_cell(job->cells, row, c) : NAN;
        double half = role == SCORED && job->half_step ? job->half_step[c] : 0;
        if (!isnan(x)) nd_product_add_bin(&backend->mixture, c, x, half, terms);
    }
}

/* log of the sum over components, of what is given and then also of what is scored: their difference. */
static void score_rows(void *argument, size_t task, unsigned worker)
{
    const struct score_job *job = argument;
    size_t rows = job->cells->rows, first = task * TASK_ROWS, count = job->backend->plan->components;
    for (size_t row = first; row < first + TASK_ROWS && row < rows; row++) {
        double *terms = begin_terms(job->backend, worker);
        add_columns(job, row, GIVEN, terms);
        double given = ND_FAULT(FAULT_MIXTURE_GIVEN) ? 0 : nd_log_sum(terms, count);
        add_columns(job, row, SCORED, terms);
        job->log_density[row] = nd_log_sum(terms, count) - given;
    }
}

/* The density is the same along every order: one is computed, for as long as the next ask the same. */
static nade_status mixture_score(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                                 const struct score_query *query, double *log_density)
{
    struct mixture_backend *backend = (void *)opaque;
    size_t rows = cells->rows, columns = backend->plan->columns;
    (void)context;
    for (size_t k = 0; k < query->orders; k++) {
        double *own = log_density + k * rows;
        read_roles(query, k, columns, backend->next_role);
        if (k > 0 && memcmp(backend->role, backend->next_role, columns) == 0) {
            memcpy(own, own - rows, rows * sizeof *own);
            continue;
        }
        memcpy(backend->role, backend->next_role, columns);
        struct score_job job = {backend, cells, query->half_step, own};
        nd_parallel_for(backend->pool, (rows + TASK_ROWS - 1) / TASK_ROWS, score_rows, &job);
    }
    return NADE_OK;
}

/* ---- distributions of single cells ------------------------------------------------------------------------------- */

struct cell_job {
    const struct mixture_backend *backend;
    const struct encoded_rows *cells;
    const size_t *target;
    double *outputs;
    size_t widest;
};

/* The mean of the components' distributions, weighed by how likely each is given the row's other cells. */
static void mix_components(const struct product_mixture *m, size_t column, double *terms, double *outputs)
{
    const struct plan_column *one = &m->plan->one[column];
    double total = nd_log_sum(terms, m->components), before = -HUGE_VAL;
    for (size_t k = 0; k < m->components; k++) {
        double log_weight = fmax(terms[k] - total, LOG_WEIGHT_LEAST);
        const struct mix_share share = {m->components, k, log_weight, before};
        one->head->mix(one, &share, nd_product_outputs(m, k, column), outputs);
        before = nd_log_sum((const double[]){before, log_weight}, 2);
    }
}

static void find_outputs(void *argument, size_t task, unsigned worker)
{
    const struct cell_job *job = argument;
    const struct product_mixture *m = &job->backend->mixture;
    size_t first = task * TASK_ROWS;
    for (size_t row = first; row < first + TASK_ROWS && row < job->cells->rows; row++) {
        double *terms = begin_terms(job->backend, worker);
        for (size_t c = 0; c < job->cells->columns; c++) {
            float x = nd_cell(job->cells, row, c);
            if (!isnan(x) && (c != job->target[row] || ND_FAULT(FAULT_MIXTURE_TARGET))) nd_product_add(m, c, x, terms);
        }
        mix_components(m, job->target[row], terms, job->outputs + row * job->widest);
    }
}

static nade_status mixture_conditional(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                                       const size_t *target, double *outputs)
{
    const struct mixture_backend *backend = (void *)opaque;
    struct cell_job job = {backend, cells, target, outputs, nd_widest_block(backend->plan)};
    (void)context;
    nd_parallel_for(backend->pool, (cells->rows + TASK_ROWS - 1) / TASK_ROWS, find_outputs, &job);
    return NADE_OK;
}

/* ---- draws ------------------------------------------------------------------------------------------------------- */

struct sample_job {
    const struct mixture_backend *backend;
    const struct sample_query *query;
    size_t rows;
    float *cells;
};

/* Where a column is to lie within bounds, components count by the probability that they give these. */
static void weigh_bounds(const struct product_mixture *m, const struct sample_query *query, double *terms)
{
    const struct plan_column *one = &m->plan->one[query->bounded];
    for (size_t k = 0; k < m->components && !ND_FAULT(FAULT_MIXTURE_BOUNDS); k++)
        terms[k] += one->head->log_between(one, nd_product_outputs(m, k, query->bounded), query->low, query->high);
}

/* The component that draws a row, given the cells that are there.  A row of which more is known when it is drawn again
 * has other random numbers. */
static size_t choose_component(const struct sample_job *job, size_t row, unsigned worker)
{
    const struct product_mixture *m = &job->backend->mixture;
    const struct sample_query *query = job->query;
    const float *cells = job->cells + row * m->plan->columns;
    double *terms = begin_terms(job->backend, worker);
    uint32_t present = 0;
    for (size_t c = 0; c < m->plan->columns; c++) {
        if (isnan(cells[c])) continue;
        present++;
        nd_product_add(m, c, cells[c], terms);
    }
    if (ND_FAULT(FAULT_COMPONENT_AGAIN)) present = 0;
    if (query->bounded != SIZE_MAX && isnan(cells[query->bounded])) weigh_bounds(m, query, terms);
    struct philox_block block = nd_philox(query->seed, PURPOSE_COMPONENT, query->draw[row], query->row[row], present);
    return nd_pick_from_logits(terms, m->components, nd_random_fine(block.word[0], block.word[1]));
}

static void sample_rows(void *argument, size_t task, unsigned worker)
{
    const struct sample_job *job = argument;
    const struct product_mixture *m = &job->backend->mixture;
    const struct sample_query *query = job->query;
    size_t columns = m->plan->columns, first = task * TASK_ROWS;
    for (size_t row = first; row < first + TASK_ROWS && row < job->rows; row++) {
        float *cells = job->cells + row * columns;
        size_t k = choose_component(job, row, worker);
        for (size_t t = 0; t < columns; t++) {
            size_t c = query->order[row * columns + t];
            if (!isnan(cells[c])) continue;
            struct philox_block block =
                nd_philox(query->seed, PURPOSE_SAMPLE, query->draw[row], query->row[row], (uint32_t)c);
            cells[c] = nd_draw_cell(query, &m->plan->one[c], c, nd_product_outputs(m, k, c), block.word);
            if (isnan(cells[c])) break;
        }
    }
}

static nade_status mixture_sample(nade_context *context, struct backend *opaque, const struct sample_query *query,
                                  size_t rows, float *cells)
{
    const struct mixture_backend *backend = (void *)opaque;
    struct sample_job job = {backend, query, rows, cells};
    (void)context;
    nd_parallel_for(backend->pool, (rows + TASK_ROWS - 1) / TASK_ROWS, sample_rows, &job);
    return NADE_OK;
}

const struct backend_entries nd_mixture_entries = {
    .name = "mixture",
    .usual = NADE_PRECISION_AUTO,
    .slice = ND_HOST_SLICE,
    .open = mixture_open,
    .close = mixture_close,
    .set_block = mixture_set_block,
    .get_block = mixture_get_block,
    .set_data = mixture_set_data,
    .set_rows = nd_host_set_rows,
    .train_updates = mixture_train,
    .validate = mixture_validate,
    .score_block = mixture_score,
    .conditional_block = mixture_conditional,
    .sample_block = mixture_sample,
};
