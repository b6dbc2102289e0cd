/* Updates on the device: captured once as graphs of many, replayed without the host.
 *
 * Four lanes run beside each other within an update.  On `main` the rows go forward, the losses and what they send down
 * the layers go back; on `gradients` each layer's weight gradient is computed as soon as its delta is there, and on
 * `steps` the layer's parameters move as soon as its gradient is there and nobody needs the old ones any more; on
 * `draws` the next update's rows and masks are drawn meanwhile.  The next update's layer l waits for layer l's step
 * alone. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "backend/cuda/cuda_lanes.h"

enum { GRAPH_UPDATES = 20, VALID_ROWS_MOST = 4096, VALID_ROWS_LEAST = 64, VALID_OUTPUT_BYTES = 256 << 20 };

/* What the graphs were captured for; other values need other graphs. */
struct captured {
    size_t batch;
    nade_optimizer optimizer;
    uint32_t seed;
    cudaGraphExec_t many, one; /* GRAPH_UPDATES updates, and a single one */
};

struct cuda_training {
    struct cuda_pass train, valid;
    struct lanes lanes;
    struct captured captured;
    struct device_progress *progress;
    double *row_loss; /* (GRAPH_UPDATES, batch) */
    size_t updates;   /* room in the arrays below */
    struct device_rates *rates;
    double *loss;
    struct device_rates *host_rates; /* (updates) */
    double *host_loss;               /* (updates) */
    double *valid_loss;              /* (valid_losses + 1): of validation rows, and their sum */
    size_t valid_losses;
    struct arena arena; /* what has the backend's life */
    struct arena room;  /* host_rates, host_loss */
};

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

/* Room for `updates` losses and rates. */
static nade_status need_room(nade_context *context, struct cuda_training *training, size_t updates)
{
    if (updates <= training->updates) return NADE_OK;
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

/* ---- one update -------------------------------------------------------------------------------------------------- */

static void wait_for(struct cuda_work *work, cudaStream_t stream, cudaEvent_t event)
{
    if (work->status == NADE_OK) nd_work_note(work, cudaStreamWaitEvent(stream, event, 0), "ordering the work");
}

static void record(struct cuda_work *work, cudaEvent_t event, cudaStream_t stream)
{
    if (work->status == NADE_OK) nd_work_note(work, cudaEventRecord(event, stream), "ordering the work");
}

static struct draw_job train_draw(const struct cuda_backend *backend, uint32_t seed, uint32_t offset, int which)
{
    const struct cuda_training *training = backend->training;
    const struct drawn_rows *drawn = &training->train.drawn[which];
    return (struct draw_job){
        .plan = backend->device,
        .cells = backend->data[DATA_TRAIN].view,
        .source = DRAW_TRAIN,
        .seed = seed,
        .progress = training->progress,
        .offset = offset,
        .input = drawn->input,
        .input_stride = backend->layer[0].stride,
        .target = drawn->target,
        .weight = drawn->weight,
        .bf16 = backend->bf16,
    };
}

/* Draws the rows of an update into its half of the buffers. */
static void put_draw(struct cuda_work *work, const struct captured *how, uint32_t offset)
{
    struct lanes *lanes = &work->backend->training->lanes;
    int which = (int)(offset % ND_DRAWN);
    struct draw_job job = train_draw(work->backend, how->seed, offset, which);
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_draw(&job, how->batch, lanes->draws), "drawing rows");
    record(work, lanes->drawn[which], lanes->draws);
}

static void put_step(struct cuda_work *work, const struct captured *how, size_t l, uint32_t offset, cudaStream_t stream)
{
    struct step_job job = nd_cuda_step_job(work->backend, how->optimizer, l);
    job.rates = work->backend->training->rates;
    job.progress = work->backend->training->progress;
    job.offset = offset;
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_step(&job, stream), "a step");
}

/* Forward through all layers; in a graph's later updates each layer waits for its own step of the update before. */
static void put_forward(struct cuda_work *work, int which, bool after_another)
{
    struct cuda_training *training = work->backend->training;
    struct lanes *lanes = &training->lanes;
    wait_for(work, lanes->main, lanes->drawn[which]);
    if (after_another) wait_for(work, lanes->main, lanes->gradients_done);
    for (size_t l = 0; l <= work->backend->plan->layers; l++) {
        if (after_another && l > 0) wait_for(work, lanes->main, lanes->step[l]);
        nd_pass_forward(work, &training->train, l, which, lanes->workspace[0], lanes->main);
    }
}

/* Back through the layers, top first; how == NULL: gradients alone, no steps. */
static void put_backward(struct cuda_work *work, const struct captured *how, uint32_t offset, int which)
{
    struct cuda_training *training = work->backend->training;
    struct lanes *lanes = &training->lanes;
    for (size_t l = work->backend->plan->layers; l > 0; l--) {
        record(work, lanes->delta, lanes->main);
        wait_for(work, lanes->gradients, lanes->delta);
        nd_pass_gradient(work, &training->train, l, which, lanes->workspace[1], lanes->gradients);
        record(work, lanes->gradient[l], lanes->gradients);
        nd_pass_backward(work, &training->train, l, lanes->workspace[0], lanes->main);
        if (!how) continue;
        record(work, lanes->below, lanes->main);
        wait_for(work, lanes->steps, lanes->gradient[l]);
        wait_for(work, lanes->steps, lanes->below);
        put_step(work, how, l, offset, lanes->steps);
        record(work, lanes->step[l], lanes->steps);
    }
    record(work, lanes->gradients_done, lanes->gradients);
    nd_pass_gradient(work, &training->train, 0, which, lanes->workspace[0], lanes->main);
    record(work, lanes->freed[which], lanes->main);
    if (how) put_step(work, how, 0, offset, lanes->main);
}

/* Joins the lanes into main. */
static void join(struct cuda_work *work, bool steps)
{
    struct lanes *lanes = &work->backend->training->lanes;
    wait_for(work, lanes->main, lanes->gradients_done);
    for (size_t l = 1; steps && l <= work->backend->plan->layers; l++) wait_for(work, lanes->main, lanes->step[l]);
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

static void put_updates(struct cuda_work *work, const struct captured *how, uint32_t updates)
{
    struct cuda_training *training = work->backend->training;
    struct lanes *lanes = &training->lanes;
    record(work, lanes->delta, lanes->main); /* the draws' lane forks off */
    wait_for(work, lanes->draws, lanes->delta);
    put_draw(work, how, 0);
    for (uint32_t u = 0; u < updates; u++) {
        int which = (int)(u % ND_DRAWN);
        if (u + 1 < updates) {
            if (u > 0) wait_for(work, lanes->draws, lanes->freed[1 - which]);
            put_draw(work, how, u + 1);
        }
        put_forward(work, which, u > 0);
        nd_pass_head(work, &training->train, how->batch, which, training->row_loss + u * how->batch, training->progress,
                     u, lanes->main);
        put_backward(work, how, u, which);
    }
    join(work, true);
    if (work->status == NADE_OK)
        nd_work_note(work,
                     nd_cuda_finish_updates(training->row_loss, updates, how->batch, training->progress, training->loss,
                                            lanes->main),
                     "the losses");
}

static void capture(struct cuda_work *work, const struct captured *how, uint32_t updates, cudaGraphExec_t *graph)
{
    struct lanes *lanes = &work->backend->training->lanes;
    cudaGraph_t recorded = NULL;
    if (work->status != NADE_OK) return;
    nd_work_note(work, cudaStreamBeginCapture(lanes->main, cudaStreamCaptureModeRelaxed), "recording an update");
    if (work->status != NADE_OK) return;
    put_updates(work, how, updates);
    cudaError_t error = cudaStreamEndCapture(lanes->main, &recorded);
    nd_work_note(work, error, "recording an update");
    if (work->status == NADE_OK)
        nd_work_note(work, cudaGraphInstantiate(graph, recorded, 0), "preparing the recorded updates");
    if (recorded) cudaGraphDestroy(recorded);
}

static bool is_captured(const struct captured *captured, const struct recipe *recipe)
{
    return captured->many && captured->batch == recipe->batch && captured->optimizer == recipe->optimizer &&
           captured->seed == recipe->seed;
}

/* Buffers, graphs and room for `count` updates of the recipe. */
static nade_status prepare_updates(nade_context *context, struct cuda_backend *backend, const struct recipe *recipe,
                                   size_t count)
{
    struct cuda_training *training = backend->training;
    size_t had_room = training->updates;
    nade_status status = need_room(context, training, count);
    if (status != NADE_OK) return status;
    if (training->updates == had_room && is_captured(&training->captured, recipe)) return NADE_OK;
    nd_cuda_training_forget(backend);
    void *row_loss = NULL;
    nd_cuda_free(training->row_loss);
    status = nd_cuda_alloc(context, &row_loss, recipe->batch, GRAPH_UPDATES * sizeof(double), "a batch of rows");
    training->row_loss = row_loss;
    if (status == NADE_OK && training->train.rows != recipe->batch)
        status = nd_pass_build(context, backend, recipe->batch, true, &training->train);
    struct captured *captured = &training->captured;
    captured->batch = recipe->batch;
    captured->optimizer = recipe->optimizer;
    captured->seed = recipe->seed;
    struct cuda_work work = {context, backend, status};
    capture(&work, captured, GRAPH_UPDATES, &captured->many);
    capture(&work, captured, 1, &captured->one);
    if (work.status != NADE_OK) nd_cuda_training_forget(backend);
    return work.status;
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

/* Draws the batch of one update again, as the graphs did, and leaves its gradient; no step. */
static nade_status put_gradient_alone(struct cuda_work *work, const struct draw_job *job, size_t rows, double *loss)
{
    struct cuda_training *training = work->backend->training;
    struct lanes *lanes = &training->lanes;
    double sum = 0;
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_draw(job, rows, lanes->draws), "drawing rows");
    record(work, lanes->drawn[0], lanes->draws);
    put_forward(work, 0, false);
    nd_pass_head(work, &training->train, rows, 0, training->train.loss, NULL, 0, lanes->main);
    put_backward(work, NULL, 0, 0);
    join(work, false);
    if (work->status == NADE_OK)
        nd_work_note(work, nd_cuda_sum(training->train.loss, rows, training->loss, lanes->main), "the losses");
    if (work->status == NADE_OK)
        nd_work_note(work, cudaMemcpyAsync(&sum, training->loss, sizeof sum, cudaMemcpyDeviceToHost, lanes->main),
                     "the losses");
    nd_work_note(work, cudaStreamSynchronize(lanes->main), "the losses");
    *loss = sum / (double)rows;
    return work->status;
}

static nade_status report_failed(nade_context *context, struct cuda_backend *backend, const struct recipe *recipe,
                                 uint64_t update)
{
    struct cuda_training *training = backend->training;
    struct cuda_work work = {context, backend, start_progress(context, training, recipe->first_draw + update)};
    struct draw_job job = train_draw(backend, recipe->seed, 0, 0);
    double loss;
    nade_status status = put_gradient_alone(&work, &job, recipe->batch, &loss);
    return status == NADE_OK ? nd_fail(context, NADE_NOT_FINITE, "the loss is not finite") : status;
}

static nade_status run_updates(nade_context *context, struct cuda_backend *backend, const struct recipe *recipe,
                               uint64_t first, uint64_t count, struct device_progress *progress)
{
    struct cuda_training *training = backend->training;
    cudaStream_t stream = training->lanes.main;
    nade_status status = start_progress(context, training, recipe->first_draw + first);
    struct cuda_work work = {context, backend, status};
    for (uint64_t u = 0; u < count; u++) training->host_rates[u] = nd_cuda_rates(recipe, first + u);
    nd_work_note(&work,
                 cudaMemcpyAsync(training->rates, training->host_rates, count * sizeof *training->rates,
                                 cudaMemcpyHostToDevice, stream),
                 "starting the updates");
    for (uint64_t done = 0; done < count && work.status == NADE_OK;) {
        bool many = count - done >= GRAPH_UPDATES;
        nd_work_note(&work, cudaGraphLaunch(many ? training->captured.many : training->captured.one, stream),
                     "the updates");
        done += many ? GRAPH_UPDATES : 1;
    }
    nd_work_note(
        &work,
        cudaMemcpyAsync(training->host_loss, training->loss, count * sizeof(double), cudaMemcpyDeviceToHost, stream),
        "the updates");
    nd_work_note(&work, cudaMemcpyAsync(progress, training->progress, sizeof *progress, cudaMemcpyDeviceToHost, stream),
                 "the updates");
    nd_work_note(&work, cudaStreamSynchronize(stream), "the updates");
    return work.status;
}

nade_status nd_cuda_train_updates(nade_context *context, struct backend *opaque, const struct recipe *recipe,
                                  uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    struct cuda_backend *backend = (void *)opaque;
    if (backend->plan->ordering)
        return nd_cuda_fixed_train_updates(context, backend, recipe, first, count, loss, failed);
    nade_status status = nd_cuda_need_all_blocks(context, backend);
    if (status == NADE_OK) status = need_training(context, backend);
    if (status == NADE_OK) status = prepare_updates(context, backend, recipe, (size_t)count);
    if (status != NADE_OK) return status;
    if (backend->not_finite) {
        *failed = first;
        return report_failed(context, backend, recipe, first);
    }
    struct device_progress progress;
    nd_cuda_unlock(); /* other trainings of the process go on beside this one */
    status = run_updates(context, backend, recipe, first, count, &progress);
    nd_cuda_lock();
    if (status != NADE_OK) return status;
    backend->not_finite = progress.failed == (int32_t)count;
    if (progress.failed < (int32_t)count) {
        *failed = first + (uint64_t)progress.failed;
        return report_failed(context, backend, recipe, *failed);
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

nade_status nd_cuda_validate(nade_context *context, struct backend *opaque, uint32_t seed, size_t repeats, double *loss)
{
    struct cuda_backend *backend = (void *)opaque;
    if (backend->plan->ordering) return nd_cuda_fixed_validate(context, backend, loss);
    nade_status status = need_training(context, backend);
    if (status != NADE_OK) return status;
    struct cuda_training *training = backend->training;
    size_t all = backend->data[DATA_VALID].view.rows * repeats;
    if (training->valid.rows == 0)
        status = nd_pass_build(context, backend, valid_rows(backend), false, &training->valid);
    if (status == NADE_OK) status = need_valid_losses(context, training, all);
    struct cuda_work work = {context, backend, status};
    double *each = training->valid_loss, sum = 0;
    size_t most = training->valid.rows;
    for (size_t first = 0; first < all && work.status == NADE_OK; first += most)
        put_valid(&work, seed, repeats, first, all - first < most ? all - first : most, each + first);
    cudaStream_t stream = training->lanes.main;
    if (work.status == NADE_OK) nd_work_note(&work, nd_cuda_sum(each, all, each + all, stream), "the losses");
    nd_cuda_unlock(); /* all is on its way: others need not wait for it */
    cudaError_t error = cudaSuccess;
    if (work.status == NADE_OK) error = cudaMemcpyAsync(&sum, each + all, sizeof sum, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
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
    if (status == NADE_OK) status = need_room(context, backend->training, 1);
    nd_cuda_training_forget(backend);
    if (status == NADE_OK) status = nd_pass_build(context, backend, cells->rows, true, &backend->training->train);
    if (status == NADE_OK) status = nd_cuda_copy_cells(context, cells, &data);
    if (status == NADE_OK) status = nd_cuda_alloc(context, &seen, cells->rows, cells->columns, "the observed sets");
    struct cuda_work work = {context, backend, status};
    if (status == NADE_OK) {
        nd_work_note(&work, nd_cuda_copy(seen, observed, cells->rows * cells->columns, cudaMemcpyHostToDevice),
                     "the observed sets");
        struct draw_job job = train_draw(backend, 0, 0, 0);
        job.cells = data.view;
        job.source = DRAW_GIVEN;
        job.observed = seen;
        status = put_gradient_alone(&work, &job, cells->rows, loss);
    }
    nd_cuda_free(seen);
    nd_cuda_free(data.cells);
    return status;
}

nade_status nd_cuda_test_draws(nade_context *context, struct backend *opaque, const struct recipe *recipe,
                               uint64_t update, uint32_t *row, uint8_t *observed)
{
    struct cuda_backend *backend = (void *)opaque;
    size_t cells = recipe->batch * backend->plan->columns;
    void *rows = NULL, *seen = NULL;
    nade_status status = nd_cuda_need_all_blocks(context, backend);
    if (status == NADE_OK) status = need_training(context, backend);
    if (status == NADE_OK) status = prepare_updates(context, backend, recipe, 1);
    if (status == NADE_OK) status = start_progress(context, backend->training, recipe->first_draw + update);
    if (status == NADE_OK) status = nd_cuda_alloc(context, &rows, recipe->batch, sizeof *row, "a batch of rows");
    if (status == NADE_OK) status = nd_cuda_alloc(context, &seen, cells, 1, "a batch of rows");
    struct cuda_work work = {context, backend, status};
    if (status == NADE_OK) {
        struct draw_job job = train_draw(backend, recipe->seed, 0, 0);
        job.drawn_row = rows;
        job.drawn_observed = seen;
        nd_work_note(&work, nd_cuda_draw(&job, recipe->batch, backend->stream), "drawing rows");
        nd_work_note(&work, cudaStreamSynchronize(backend->stream), "drawing rows");
        nd_work_note(&work, nd_cuda_copy(row, rows, recipe->batch * sizeof *row, cudaMemcpyDeviceToHost), "a batch");
        nd_work_note(&work, nd_cuda_copy(observed, seen, cells, cudaMemcpyDeviceToHost), "a batch");
    }
    nd_cuda_free(rows);
    nd_cuda_free(seen);
    return work.status;
}
