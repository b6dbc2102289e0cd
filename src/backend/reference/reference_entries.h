/* The entries of the reference backend; part of reference_impl.h. */

struct REF(backend) {
    struct arena arena;
    const struct plan *plan;
    struct REF(work) work;
    real *block[BLOCK_COUNT]; /* each (parameters) */
    struct encoded_rows data[DATA_ROLES];
};

static void REF(close)(struct backend *opaque)
{
    struct REF(backend) *backend = (void *)opaque;
    if (!backend) return;
    nd_arena_free(&backend->work.arena);
    struct arena arena = backend->arena;
    nd_arena_free(&arena);
}

static nade_status REF(open)(nade_context *context, const struct plan *plan, nade_precision precision,
                             struct backend **opened)
{
    (void)precision;
    struct arena arena = {context->allocator, NULL};
    struct REF(backend) *backend = nd_arena_alloc(&arena, 1, sizeof *backend);
    if (!backend) return nd_no_memory(context, "the network");
    bool good = REF(work_open)(&context->allocator, plan, &backend->work);
    for (int b = 0; b < BLOCK_COUNT; b++) {
        backend->block[b] = nd_arena_alloc(&arena, plan->parameters, sizeof(real));
        good = good && backend->block[b];
    }
    backend->plan = plan;
    backend->arena = arena;
    if (!good) {
        REF(close)((struct backend *)backend);
        return nd_no_memory(context, "the network");
    }
    *opened = (struct backend *)backend;
    return NADE_OK;
}

static nade_status REF(set_block)(nade_context *context, struct backend *opaque, enum block block, const float *values)
{
    struct REF(backend) *backend = (void *)opaque;
    (void)context;
    for (size_t i = 0; i < backend->plan->parameters; i++) backend->block[block][i] = values ? (real)values[i] : 0;
    return NADE_OK;
}

static nade_status REF(get_block)(nade_context *context, struct backend *opaque, enum block block, float *values)
{
    struct REF(backend) *backend = (void *)opaque;
    (void)context;
    for (size_t i = 0; i < backend->plan->parameters; i++) values[i] = (float)backend->block[block][i];
    return NADE_OK;
}

static nade_status REF(exchange)(nade_context *context, struct backend *opaque)
{
    struct REF(backend) *backend = (void *)opaque;
    real *parameters = backend->block[BLOCK_PARAMETERS];
    (void)context;
    backend->block[BLOCK_PARAMETERS] = backend->block[BLOCK_AVERAGE];
    backend->block[BLOCK_AVERAGE] = parameters;
    return NADE_OK;
}

static nade_status REF(set_data)(nade_context *context, struct backend *opaque, enum data_role role,
                                 const struct encoded_rows *cells)
{
    struct REF(backend) *backend = (void *)opaque;
    (void)context;
    backend->data[role] = *cells;
    return NADE_OK;
}

static uint32_t REF(find_present)(const struct encoded_rows *cells, size_t row, uint8_t *present)
{
    uint32_t count = 0;
    for (size_t c = 0; c < cells->columns; c++) {
        bool there = !isnan(nd_cell(cells, row, c));
        present[c] = there;
        count += present[c];
    }
    return count;
}

/* Fills BLOCK_GRADIENT with the gradient of an update's loss, which it returns. */
static double REF(batch)(struct REF(backend) * backend, const struct update_rule *rule, uint64_t update)
{
    const struct plan *plan = backend->plan;
    const struct encoded_rows *cells = &backend->data[DATA_TRAIN];
    struct REF(work) *work = &backend->work;
    double sum = 0;
    memset(backend->block[BLOCK_GRADIENT], 0, plan->parameters * sizeof(real));
    const struct dropout dropout = {rule->dropout, rule->seed, update};
    work->scaled_means = rule->scaled_means;
    for (size_t slot = 0; slot < rule->batch; slot++) {
        uint32_t at = (uint32_t)slot;
        REF(drop_units)(plan, &dropout, slot, work);
        size_t row = nd_draw_train_row(rule->seed, update, at, (uint32_t)cells->rows);
        if (!plan->ordering) {
            uint32_t present = REF(find_present)(cells, row, work->present);
            uint32_t count = nd_draw_train_observed(rule->seed, update, at, nd_strata(rule), present);
            struct key_source keys = nd_train_keys(rule->seed, update, at, rule->focus);
            nd_select_observed(keys.seed, (enum purpose)keys.purpose, keys.draw, keys.row, plan->columns, work->present,
                               count, work->keys, work->observed);
        }
        sum += REF(row)(plan, backend->block[BLOCK_PARAMETERS], cells, row, work->observed, 1 / (double)rule->batch,
                        work, backend->block[BLOCK_GRADIENT]);
    }
    work->scaled_means = false;
    REF(drop_units)(plan, NULL, 0, work);
    return sum / (double)rule->batch;
}

#include "backend/reference/reference_step.h"

static nade_status REF(train_updates)(nade_context *context, struct backend *opaque, const struct update_rule *rule,
                                      uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    struct REF(backend) *backend = (void *)opaque;
    double sum = 0;
    for (uint64_t update = first; update < first + count; update++) {
        double one = REF(batch)(backend, rule, rule->first_draw + update);
        if (!isfinite(one)) {
            *failed = update;
            return nd_fail(context, NADE_NOT_FINITE, "the loss is not finite");
        }
        sum += one;
        if (nd_is_between(rule)) REF(clip)(backend, rule);
        REF(step)(backend, rule, update);
    }
    *loss = sum / (double)count;
    return NADE_OK;
}

static nade_status REF(validate)(nade_context *context, struct backend *opaque, uint32_t seed, size_t repeats,
                                 double *loss)
{
    struct REF(backend) *backend = (void *)opaque;
    const struct encoded_rows *cells = &backend->data[DATA_VALID];
    struct REF(work) *work = &backend->work;
    double sum = 0;
    (void)context;
    if (backend->plan->ordering) {
        *loss = REF(rows)(backend->plan, backend->block[BLOCK_PARAMETERS], cells, NULL, NULL, work, NULL);
        return NADE_OK;
    }
    for (uint32_t row = 0; row < cells->rows; row++) {
        uint32_t present = REF(find_present)(cells, row, work->present);
        for (uint32_t repeat = 0; repeat < repeats; repeat++) {
            uint32_t count = nd_draw_valid_observed(seed, row, repeat, (uint32_t)repeats, present);
            nd_select_observed(seed, PURPOSE_VALID_KEYS, repeat, row, cells->columns, work->present, count, work->keys,
                               work->observed);
            sum += REF(row)(backend->plan, backend->block[BLOCK_PARAMETERS], cells, row, work->observed, 1, work, NULL);
        }
    }
    *loss = sum / (double)cells->rows / (double)repeats;
    return NADE_OK;
}

static nade_status REF(loss_and_gradients)(nade_context *context, struct backend *opaque,
                                           const struct encoded_rows *cells, const uint8_t *observed, double *loss)
{
    struct REF(backend) *backend = (void *)opaque;
    real *gradient = backend->block[BLOCK_GRADIENT];
    (void)context;
    memset(gradient, 0, backend->plan->parameters * sizeof(real));
    *loss = REF(rows)(backend->plan, backend->block[BLOCK_PARAMETERS], cells, observed, NULL, &backend->work, gradient);
    return NADE_OK;
}

static nade_status REF(score_block)(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                                    const struct score_query *query, double *log_density)
{
    struct REF(backend) *backend = (void *)opaque;
    (void)context;
    for (size_t k = 0; k < query->orders; k++)
        for (size_t row = 0; row < cells->rows; row++)
            log_density[k * cells->rows + row] = REF(row_log_density)(backend->plan, backend->block[BLOCK_PARAMETERS],
                                                                      cells, row, query, k, &backend->work);
    return NADE_OK;
}

static nade_status REF(conditional_block)(nade_context *context, struct backend *opaque,
                                          const struct encoded_rows *cells, const size_t *target, double *outputs)
{
    struct REF(backend) *backend = (void *)opaque;
    struct REF(work) *work = &backend->work;
    size_t widest = nd_widest_block(backend->plan);
    (void)context;
    for (size_t row = 0; row < cells->rows; row++) {
        const struct plan_column *column = &backend->plan->column[target[row]];
        REF(find_present)(cells, row, work->observed);
        if (!ND_FAULT(FAULT_TARGET_OBSERVED)) work->observed[target[row]] = 0;
        REF(fill_input)(backend->plan, cells, row, work->observed, work->input);
        const real *parameters = backend->block[BLOCK_PARAMETERS];
        REF(forward)(backend->plan, parameters, REF(scale_of)(backend->plan, parameters, target[row]), work);
        for (size_t i = 0; i < column->output_width; i++)
            outputs[row * widest + i] = (double)work->output[column->output + i];
    }
    return NADE_OK;
}

#include "backend/reference/reference_sample.h"
