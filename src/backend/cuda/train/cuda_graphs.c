/* Updates on the device: captured once as graphs of many, replayed without the host.
 *
 * Four lanes run beside each other within an update.  On `main` the rows go forward, the losses and what they send down
 * the layers go back; on `gradients` each layer's weight gradient is computed as soon as its delta is there, and on
 * `steps` the layer's parameters move as soon as its gradient is there and nobody needs the old ones any more; on
 * `draws` the next update's rows and masks are drawn meanwhile.  The next update's layer l waits for layer l's step
 * alone. */
#include "backend/cuda/train/cuda_training.h"

/* ---- one update -------------------------------------------------------------------------------------------------- */

static void wait_for(struct cuda_work *work, cudaStream_t stream, cudaEvent_t event)
{
    if (work->status == NADE_OK) nd_work_note(work, cudaStreamWaitEvent(stream, event, 0), "ordering the work");
}

static void record(struct cuda_work *work, cudaEvent_t event, cudaStream_t stream)
{
    if (work->status == NADE_OK) nd_work_note(work, cudaEventRecord(event, stream), "ordering the work");
}

struct draw_job nd_train_draw(const struct cuda_backend *backend, uint32_t seed, uint32_t offset, int which)
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
    struct draw_job job = nd_train_draw(work->backend, how->seed, offset, which);
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

static bool is_captured(const struct captured *captured, const struct update_rule *rule)
{
    return captured->many && captured->batch == rule->batch && captured->optimizer == rule->optimizer &&
           captured->seed == rule->seed;
}

nade_status nd_graphs_prepare(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule)
{
    struct cuda_training *training = backend->training;
    if (is_captured(&training->captured, rule)) return NADE_OK;
    nd_cuda_training_forget(backend);
    void *row_loss = NULL;
    nd_cuda_free(training->row_loss);
    nade_status status =
        nd_cuda_alloc(context, &row_loss, rule->batch, ND_GRAPH_UPDATES * sizeof(double), "a batch of rows");
    training->row_loss = row_loss;
    struct cuda_work work = {context, backend, status};
    nd_lanes_need_workspaces(&work, &training->lanes);
    if (work.status == NADE_OK && training->train.rows != rule->batch)
        work.status = nd_pass_build(context, backend, rule->batch, true, &training->train);
    struct captured *captured = &training->captured;
    captured->batch = rule->batch;
    captured->optimizer = rule->optimizer;
    captured->seed = rule->seed;
    capture(&work, captured, ND_GRAPH_UPDATES, &captured->many);
    capture(&work, captured, 1, &captured->one);
    if (work.status != NADE_OK) nd_cuda_training_forget(backend);
    return work.status;
}

void nd_graphs_launch(struct cuda_work *work, uint64_t updates)
{
    const struct cuda_training *training = work->backend->training;
    for (uint64_t done = 0; done < updates && work->status == NADE_OK;) {
        bool many = updates - done >= ND_GRAPH_UPDATES;
        nd_work_note(work,
                     cudaGraphLaunch(many ? training->captured.many : training->captured.one, training->lanes.main),
                     "the updates");
        done += many ? ND_GRAPH_UPDATES : 1;
    }
}

nade_status nd_gradient_alone(struct cuda_work *work, const struct draw_job *job, size_t rows, double *loss)
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
