/* The entries that train: what a training keeps on the device, updates, validation, gradients. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "backend/cuda/train/cuda_training.h"

enum { VALID_ROWS_MOST = 4096, VALID_ROWS_LEAST = 64, VALID_OUTPUT_BYTES = 256 << 20 };

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

void nd_cuda_training_forget(struct cuda_backend *backend)
{
    if (!backend->training) return;
    struct captured *captured = &backend->training->captured;
    if (captured->many) cudaGraphExecDestroy(captured->many);
    if (captured->one) cudaGraphExecDestroy(captured->one);
    memset(captured, 0, sizeof *captured);
}

void nd_cuda_training_free(struct cuda_backend *backend)
{
    struct cuda_training *training = backend->training;
    if (!training) return;
    if (training->lanes.main) cudaStreamSynchronize(training->lanes.main);
    nd_cuda_training_forget(backend);
    nd_pass_free(&training->train);
    nd_pass_free(&training->valid);
    nd_lanes_close(&training->lanes, backend->plan->layers + 1);
    nd_cuda_free(training->progress);
    nd_cuda_free(training->row_loss);
    nd_cuda_free(training->rates);
    nd_cuda_free(training->loss);
    nd_cuda_free(training->valid_loss);
    nd_small_free(training);
    nd_arena_free(&training->room);
    struct arena arena = training->arena;
    nd_arena_free(&arena);
    backend->training = NULL;
}

static nade_status need_training(nade_context *context, struct cuda_backend *backend)
{
    size_t most = nd_cuda_draw_columns(&backend->device);
    if (backend->training) return NADE_OK;
    if (backend->plan->columns > most)
        return nd_fail(context, NADE_BAD_CALL, "the table has %zu columns, this CUDA device can train on at most %zu",
                       backend->plan->columns, most);
    struct arena arena = {context->allocator, NULL};
    struct cuda_training *training = nd_arena_alloc(&arena, 1, sizeof *training);
    if (!training) return nd_no_memory(context, "training");
    training->room.allocator = context->allocator;
    backend->training = training;
    struct cuda_work work = {context, backend, NADE_OK};
    void *progress = NULL;
    nd_lanes_open(&work, &training->lanes, &arena);
    training->arena = arena;
    if (work.status == NADE_OK)
        work.status = nd_cuda_alloc(context, &progress, 1, sizeof(struct device_progress), "training");
    training->progress = progress;
    if (work.status != NADE_OK) nd_cuda_training_free(backend);
    return work.status;
}

/* Room for `updates` losses and rates; graphs know where it lies. */
static nade_status need_room(nade_context *context, struct cuda_backend *backend, size_t updates)
{
    struct cuda_training *training = backend->training;
    if (updates <= training->updates) return NADE_OK;
    nd_cuda_training_forget(backend);
    void *rates = NULL, *loss = NULL;
    nade_status status = nd_cuda_alloc(context, &rates, updates, sizeof *training->rates, "training");
    if (status == NADE_OK) status = nd_cuda_alloc(context, &loss, updates, sizeof *training->loss, "training");
    nd_cuda_free(training->rates);
    nd_cuda_free(training->loss);
    training->rates = rates;
    training->loss = loss;
    nd_arena_free(&training->room);
    training->host_rates = nd_arena_alloc(&training->room, updates, sizeof *training->host_rates);
    training->host_loss = nd_arena_alloc(&training->room, updates, sizeof *training->host_loss);
    if (status == NADE_OK && (!training->host_rates || !training->host_loss))
        status = nd_no_memory(context, "training");
    training->updates = status == NADE_OK ? updates : 0;
    return status;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static nade_status start_progress(nade_context *context, struct cuda_training *training, uint64_t first_draw)
{
    struct device_progress progress = {.failed = INT32_MAX, .first_draw = first_draw};
    cudaStream_t stream = training->lanes.main;
    cudaError_t error = cudaMemcpyAsync(training->progress, &progress, sizeof progress, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream); /* progress lives on this stack */
    return nd_cuda_check(context, error, "starting the updates");
}

/* Leaves the gradient of an update whose loss is not finite, drawing its rows again as the update did. */
static nade_status report_failed(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule,
                                 uint64_t update)
{
    struct cuda_training *training = backend->training;
    nade_status status = nd_graphs_prepare(context, backend, rule);
    if (status == NADE_OK) status = start_progress(context, training, rule->first_draw + update);
    struct cuda_work work = {context, backend, status};
    struct draw_job job = nd_train_draw(backend, rule->seed, 0, 0);
    double loss;
    status = nd_gradient_alone(&work, &job, rule->batch, &loss);
    return status == NADE_OK ? nd_fail(context, NADE_NOT_FINITE, "the loss is not finite") : status;
}

/* Runs the updates without the lock, so that other trainings of the process go on beside this one. */
static nade_status run_updates(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule,
                               uint64_t first, uint64_t count, struct device_progress *progress)
{
    struct cuda_training *training = backend->training;
    cudaStream_t stream = training->lanes.main;
    nd_cuda_unlock();
    nade_status status = start_progress(context, training, rule->first_draw + first);
    struct cuda_work work = {context, backend, status};
    for (uint64_t u = 0; u < count; u++) training->host_rates[u] = nd_cuda_rates(rule, first + u);
    nd_work_note(&work,
                 cudaMemcpyAsync(training->rates, training->host_rates, count * sizeof *training->rates,
                                 cudaMemcpyHostToDevice, stream),
                 "starting the updates");
    if (nd_small_is_meant(backend, rule))
        nd_small_run(&work, rule, first, count);
    else
        nd_graphs_launch(&work, count);
    nd_work_note(&work, nd_cuda_wait(stream), "the updates");
    nd_work_note(
        &work,
        cudaMemcpyAsync(training->host_loss, training->loss, count * sizeof(double), cudaMemcpyDeviceToHost, stream),
        "the updates");
    nd_work_note(&work, cudaMemcpyAsync(progress, training->progress, sizeof *progress, cudaMemcpyDeviceToHost, stream),
                 "the updates");
    nd_work_note(&work, cudaStreamSynchronize(stream), "the updates");
    nd_cuda_lock();
    return work.status;
}

/* Memory and graphs for `count` updates of the rule. */
static nade_status prepare_updates(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule,
                                   size_t count)
{
    nade_status status = nd_cuda_need_all_blocks(context, backend);
    if (status == NADE_OK) status = need_training(context, backend);
    if (status == NADE_OK) status = need_room(context, backend, count);
    if (status != NADE_OK) return status;
    if (nd_small_is_meant(backend, rule)) return nd_small_prepare(context, backend, rule);
    nd_small_leave(backend->training);
    return nd_graphs_prepare(context, backend, rule);
}

nade_status nd_cuda_train_updates(nade_context *context, struct backend *opaque, const struct update_rule *rule,
                                  uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    struct cuda_backend *backend = (void *)opaque;
    if (backend->plan->ordering) return nd_cuda_fixed_train_updates(context, backend, rule, first, count, loss, failed);
    nade_status status = prepare_updates(context, backend, rule, (size_t)count);
    if (status != NADE_OK) return status;
    backend->training->rule = *rule;
    if (backend->not_finite) {
        *failed = first;
        return report_failed(context, backend, rule, first);
    }
    struct device_progress progress;
    status = run_updates(context, backend, rule, first, count, &progress);
    if (status != NADE_OK) return status;
    backend->not_finite = progress.failed == (int32_t)count;
    if (progress.failed < (int32_t)count) {
        struct cuda_work work = {context, backend, NADE_OK};
        *failed = first + (uint64_t)progress.failed;
        if (nd_small_is_meant(backend, rule)) nd_small_repeat(&work, rule, first, (uint64_t)progress.failed);
        return work.status == NADE_OK ? report_failed(context, backend, rule, *failed) : work.status;
    }
    *loss = 0;
    for (uint64_t u = 0; u < count; u++) *loss += backend->training->host_loss[u] / (double)count;
    return NADE_OK;
}

/* The losses of validation rows first…, each under its draw, into loss. */
static void put_valid(struct cuda_work *work, uint32_t seed, size_t repeats, size_t first, size_t rows, double *loss)
{
    struct cuda_backend *backend = work->backend;
    struct cuda_pass *pass = &backend->training->valid;
    struct lanes *lanes = &backend->training->lanes;
    struct draw_job job = {
        .plan = backend->device,
        .cells = backend->data[DATA_VALID].view,
        .source = DRAW_VALID,
        .seed = seed,
        .offset = (uint32_t)first,
        .repeats = (uint32_t)repeats,
        .input = pass->drawn[0].input,
        .input_stride = backend->layer[0].stride,
        .target = pass->drawn[0].target,
        .weight = pass->drawn[0].weight,
        .bf16 = backend->bf16,
    };
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_draw(&job, rows, lanes->main), "drawing rows");
    for (size_t l = 0; l <= backend->plan->layers; l++)
        nd_pass_forward(work, pass, l, 0, lanes->workspace[0], lanes->main);
    nd_pass_head(work, pass, rows, 0, loss, NULL, 0, lanes->main);
}

/* Rows that are validated at a time: fewer where their outputs are wide. */
static size_t valid_rows(const struct cuda_backend *backend)
{
    size_t rows = VALID_OUTPUT_BYTES / (backend->layer[backend->plan->layers].padded_rows * sizeof(float));
    if (rows < VALID_ROWS_LEAST) return VALID_ROWS_LEAST;
    return rows < VALID_ROWS_MOST ? rows : VALID_ROWS_MOST;
}

/* Kept from call to call: to free device memory is to wait for all that runs on the device, other trainings too. */
static nade_status need_valid_losses(nade_context *context, struct cuda_training *training, size_t count)
{
    if (training->valid_loss && training->valid_losses == count) return NADE_OK;
    void *losses;
    nd_cuda_free(training->valid_loss);
    nade_status status = nd_cuda_alloc(context, &losses, count + 1, sizeof(double), "the validation rows");
    training->valid_loss = losses;
    training->valid_losses = count;
    return status;
}

/* The losses of all validation rows under all their draws, and behind them their sum. */
static void put_validation(struct cuda_work *work, uint32_t seed, size_t repeats, size_t all)
{
    struct cuda_backend *backend = work->backend;
    struct cuda_training *training = backend->training;
    nd_lanes_need_workspaces(work, &training->lanes);
    if (work->status == NADE_OK && training->valid.rows == 0)
        work->status = nd_pass_build(work->context, backend, valid_rows(backend), false, &training->valid);
    if (work->status == NADE_OK) work->status = need_valid_losses(work->context, training, all);
    double *each = training->valid_loss;
    size_t most = training->valid.rows;
    for (size_t first = 0; first < all && work->status == NADE_OK; first += most)
        put_valid(work, seed, repeats, first, all - first < most ? all - first : most, each + first);
    if (work->status == NADE_OK)
        nd_work_note(work, nd_cuda_sum(each, all, each + all, training->lanes.main), "the losses");
}

/* The sum alone, by one block. */
static void put_small_validation(struct cuda_work *work, uint32_t seed, size_t repeats)
{
    struct cuda_training *training = work->backend->training;
    work->status = need_valid_losses(work->context, training, 0);
    nd_small_validate(work, seed, repeats, training->valid_loss);
}

nade_status nd_cuda_validate(nade_context *context, struct backend *opaque, uint32_t seed, size_t repeats, double *loss)
{
    struct cuda_backend *backend = (void *)opaque;
    if (backend->plan->ordering) return nd_cuda_fixed_validate(context, backend, loss);
    nade_status status = need_training(context, backend);
    if (status != NADE_OK) return status;
    struct cuda_training *training = backend->training;
    struct cuda_work work = {context, backend, NADE_OK};
    size_t all = backend->data[DATA_VALID].view.rows * repeats;
    if (training->rule.batch > 0 && nd_small_is_meant(backend, &training->rule))
        put_small_validation(&work, seed, repeats);
    else
        put_validation(&work, seed, repeats, all);
    nd_cuda_unlock(); /* all is on its way: others need not wait for it */
    double sum = 0;
    cudaError_t error = nd_cuda_wait(training->lanes.main);
    if (work.status == NADE_OK && error == cudaSuccess)
        error = nd_cuda_copy(&sum, training->valid_loss + training->valid_losses, sizeof sum, cudaMemcpyDeviceToHost);
    nd_cuda_lock();
    nd_work_note(&work, error, "the losses");
    *loss = sum / (double)all;
    return work.status;
}

nade_status nd_cuda_loss_and_gradients(nade_context *context, struct backend *opaque, const struct cells *cells,
                                       const uint8_t *observed, double *loss)
{
    struct cuda_backend *backend = (void *)opaque;
    if (backend->plan->ordering) return nd_cuda_fixed_loss_and_gradients(context, backend, cells, loss);
    struct cuda_data data = {0};
    void *seen = NULL;
    nade_status status = nd_cuda_need_all_blocks(context, backend);
    if (status == NADE_OK) status = need_training(context, backend);
    if (status == NADE_OK) status = need_room(context, backend, 1);
    nd_cuda_training_forget(backend);
    struct cuda_work work = {context, backend, status};
    if (status == NADE_OK) nd_lanes_need_workspaces(&work, &backend->training->lanes);
    status = work.status;
    if (status == NADE_OK) status = nd_pass_build(context, backend, cells->rows, true, &backend->training->train);
    if (status == NADE_OK) status = nd_cuda_copy_cells(context, cells, &data);
    if (status == NADE_OK) status = nd_cuda_alloc(context, &seen, cells->rows, cells->columns, "the observed sets");
    work.status = status;
    if (status == NADE_OK) {
        nd_work_note(&work, nd_cuda_copy(seen, observed, cells->rows * cells->columns, cudaMemcpyHostToDevice),
                     "the observed sets");
        struct draw_job job = nd_train_draw(backend, 0, 0, 0);
        job.cells = data.view;
        job.source = DRAW_GIVEN;
        job.observed = seen;
        status = nd_gradient_alone(&work, &job, cells->rows, loss);
    }
    nd_cuda_free(seen);
    nd_cuda_free(data.cells);
    return status;
}

nade_status nd_cuda_test_draws(nade_context *context, struct backend *opaque, const struct update_rule *rule,
                               uint64_t update, uint32_t *row, uint8_t *observed)
{
    struct cuda_backend *backend = (void *)opaque;
    size_t cells = rule->batch * backend->plan->columns;
    void *rows = NULL, *seen = NULL;
    struct update_rule graphs = *rule;
    graphs.share_device = false;
    nade_status status = prepare_updates(context, backend, &graphs, 1);
    if (status == NADE_OK) status = start_progress(context, backend->training, rule->first_draw + update);
    if (status == NADE_OK) status = nd_cuda_alloc(context, &rows, rule->batch, sizeof *row, "a batch of rows");
    if (status == NADE_OK) status = nd_cuda_alloc(context, &seen, cells, 1, "a batch of rows");
    struct cuda_work work = {context, backend, status};
    if (status == NADE_OK) {
        struct draw_job job = nd_train_draw(backend, rule->seed, 0, 0);
        job.drawn_row = rows;
        job.drawn_observed = seen;
        nd_work_note(&work, nd_cuda_draw(&job, rule->batch, backend->stream), "drawing rows");
        nd_work_note(&work, cudaStreamSynchronize(backend->stream), "drawing rows");
        nd_work_note(&work, nd_cuda_copy(row, rows, rule->batch * sizeof *row, cudaMemcpyDeviceToHost), "a batch");
        nd_work_note(&work, nd_cuda_copy(observed, seen, cells, cudaMemcpyDeviceToHost), "a batch");
    }
    nd_cuda_free(rows);
    nd_cuda_free(seen);
    return work.status;
}
