#include "backend/cuda/train/cuda_graphs.h"

#include <limits.h>
#include <string.h>

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/cuda_matrix.h"
#include "backend/cuda/cuda_rows.h"
#include "backend/cuda/train/cuda_draws.h"
#include "backend/cuda/train/cuda_update.h"
#include "base/context.h"
#include "model/draws.h"

enum { GRAPH_UPDATES = 20, VALID_ROWS_MOST = 4096, VALID_ROWS_LEAST = 64, VALID_OUTPUT_BYTES = 256 << 20 };

/* What the graphs were captured for; other values need other graphs. */
struct captured {
    size_t batch;
    struct step_way steps;
    uint32_t seed, strata, focus;
    double dropout;
    cudaGraphExec_t many, one; /* GRAPH_UPDATES updates, and a single one */
};

struct cuda_graphs {
    struct cuda_pass train, valid;
    struct update_streams streams;
    struct captured captured;
    double *row_loss;   /* (GRAPH_UPDATES, batch) */
    double *valid_loss; /* (valid_losses + 1): of validation rows, and their sum */
    size_t valid_losses;
};

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

void nd_graphs_forget(struct cuda_backend *backend)
{
    if (!backend->graphs) return;
    struct captured *captured = &backend->graphs->captured;
    if (captured->many) cudaGraphExecDestroy(captured->many);
    if (captured->one) cudaGraphExecDestroy(captured->one);
    memset(captured, 0, sizeof *captured);
}

void nd_graphs_free(struct cuda_backend *backend)
{
    struct cuda_graphs *graphs = backend->graphs;
    if (!graphs) return;
    cudaStreamSynchronize(backend->stream);
    nd_graphs_forget(backend);
    nd_pass_free(&graphs->train);
    nd_pass_free(&graphs->valid);
    nd_streams_close(&graphs->streams, backend->plan->layers + 1);
    nd_cuda_free(graphs->row_loss);
    nd_cuda_free(graphs->valid_loss);
    backend->graphs = NULL;
}

/* Makes backend->graphs, unless it is there. */
static void need_graphs(struct cuda_work *work)
{
    struct cuda_backend *backend = work->backend;
    size_t most = nd_cuda_draw_columns(&backend->device);
    if (work->status != NADE_OK || backend->graphs) return;
    if (backend->plan->columns > most) {
        work->status = nd_fail(work->context, NADE_BAD_CALL,
                               "the table has %zu columns, this CUDA device can train on at most %zu",
                               backend->plan->columns, most);
        return;
    }
    backend->graphs = nd_arena_alloc(&backend->arena, 1, sizeof *backend->graphs);
    if (!backend->graphs) {
        work->status = nd_no_memory(work->context, "training");
        return;
    }
    nd_streams_open(work, &backend->graphs->streams, &backend->arena);
    if (work->status != NADE_OK) nd_graphs_free(backend);
}

/* ---- one update -------------------------------------------------------------------------------------------------- */

static struct draw_job draw_of(const struct cuda_backend *backend, uint32_t seed, uint32_t strata, uint32_t focus,
                               uint32_t offset, int which)
{
    const struct drawn_rows *drawn = &backend->graphs->train.drawn[which];
    return (struct draw_job){
        .plan = backend->device,
        .cells = backend->data[DATA_TRAIN].view,
        .source = DRAW_TRAIN,
        .seed = seed,
        .strata = strata,
        .focus = focus,
        .progress = backend->training->progress,
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
    struct update_streams *streams = &work->backend->graphs->streams;
    int which = (int)(offset % ND_DRAWN);
    struct draw_job job = draw_of(work->backend, how->seed, how->strata, how->focus, offset, which);
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_draw(&job, how->batch, streams->draws), "drawing rows");
    nd_update_record(work, streams->drawn[which], streams->draws);
}

/* What update next + offset drops. */
static struct device_dropout dropout_of(const struct cuda_backend *backend, uint32_t seed, double share,
                                        uint32_t offset)
{
    uint32_t threshold = nd_dropout_threshold(share);
    return (struct device_dropout){
        .threshold = threshold,
        .scale = (float)nd_dropout_scale(threshold),
        .seed = seed,
        .progress = backend->training->progress,
        .offset = offset,
    };
}

/* ---- graphs ------------------------------------------------------------------------------------------------------ */

static void put_update(struct cuda_work *work, const struct captured *how, uint32_t u)
{
    struct cuda_graphs *graphs = work->backend->graphs;
    struct update_streams *streams = &graphs->streams;
    int which = (int)(u % ND_DRAWN);
    graphs->train.residual.dropout = dropout_of(work->backend, how->seed, how->dropout, u);
    nd_update_forward(work, streams, &graphs->train, which, u > 0);
    nd_pass_head(work, &graphs->train, how->batch, which, graphs->row_loss + u * how->batch,
                 work->backend->training->progress, u, streams->main);
    nd_update_backward(work, streams, &graphs->train, which, &how->steps, u);
}

static void put_updates(struct cuda_work *work, const struct captured *how, uint32_t updates)
{
    struct cuda_graphs *graphs = work->backend->graphs;
    const struct cuda_training *training = work->backend->training;
    struct update_streams *streams = &graphs->streams;
    nd_update_record(work, streams->delta, streams->main); /* the stream of draws forks off */
    nd_update_wait(work, streams->draws, streams->delta);
    put_draw(work, how, 0);
    for (uint32_t u = 0; u < updates; u++) {
        if (u + 1 < updates) {
            if (u > 0) nd_update_wait(work, streams->draws, streams->freed[(u + 1) % ND_DRAWN]);
            put_draw(work, how, u + 1);
        }
        put_update(work, how, u);
    }
    nd_update_join(work, streams, true);
    if (work->status == NADE_OK)
        nd_work_note(work,
                     nd_cuda_finish_updates(graphs->row_loss, updates, how->batch, training->progress, training->loss,
                                            streams->main),
                     "the losses");
}

static void capture(struct cuda_work *work, const struct captured *how, uint32_t updates, cudaGraphExec_t *graph)
{
    struct update_streams *streams = &work->backend->graphs->streams;
    cudaGraph_t recorded = NULL;
    if (work->status != NADE_OK) return;
    nd_work_note(work, cudaStreamBeginCapture(streams->main, cudaStreamCaptureModeRelaxed), "recording an update");
    if (work->status != NADE_OK) return;
    put_updates(work, how, updates);
    cudaError_t error = cudaStreamEndCapture(streams->main, &recorded);
    nd_work_note(work, error, "recording an update");
    if (work->status == NADE_OK)
        nd_work_note(work, cudaGraphInstantiate(graph, recorded, 0), "preparing the recorded updates");
    if (recorded) cudaGraphDestroy(recorded);
}

static bool is_captured(const struct captured *captured, const struct update_rule *rule)
{
    struct step_way steps = nd_cuda_step_way(rule);
    return captured->many && captured->batch == rule->batch && captured->steps.optimizer == steps.optimizer &&
           captured->steps.averaged == steps.averaged && captured->steps.clip == steps.clip &&
           captured->seed == rule->seed && captured->strata == nd_strata(rule) && captured->focus == rule->focus &&
           (captured->dropout == rule->dropout || ND_CUDA_FAULT(FAULT_CUDA_DROPOUT_KEPT));
}

static void build_pass(struct cuda_work *work, size_t rows, bool gradients, struct cuda_pass *pass)
{
    if (work->status == NADE_OK) work->status = nd_pass_build(work->context, work->backend, rows, gradients, pass);
}

/* Buffers and graphs for updates of the rule. */
static void prepare(struct cuda_work *work, const struct update_rule *rule)
{
    struct cuda_backend *backend = work->backend;
    if (work->status == NADE_OK) work->status = nd_cuda_need_all_blocks(work->context, backend);
    need_graphs(work);
    if (work->status != NADE_OK) return;
    struct cuda_graphs *graphs = backend->graphs;
    struct captured *captured = &graphs->captured;
    if (is_captured(captured, rule)) return;
    nd_graphs_forget(backend);
    void *row_loss = NULL;
    nd_cuda_free(graphs->row_loss);
    work->status =
        nd_cuda_alloc(work->context, &row_loss, rule->batch, GRAPH_UPDATES * sizeof(double), "a batch of rows");
    graphs->row_loss = row_loss;
    nd_streams_need_workspaces(work, &graphs->streams);
    if (graphs->train.rows != rule->batch) build_pass(work, rule->batch, true, &graphs->train);
    *captured = (struct captured){.batch = rule->batch,
                                  .steps = nd_cuda_step_way(rule),
                                  .seed = rule->seed,
                                  .strata = nd_strata(rule),
                                  .focus = rule->focus,
                                  .dropout = rule->dropout};
    nd_cuda_need_steps(work, &captured->steps);
    capture(work, captured, GRAPH_UPDATES, &captured->many);
    capture(work, captured, 1, &captured->one);
    if (work->status != NADE_OK) nd_graphs_forget(backend);
}

static void launch(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t count)
{
    const struct captured *captured = &work->backend->graphs->captured;
    (void)rule;
    (void)first;
    for (uint64_t done = 0; done < count && work->status == NADE_OK;) {
        bool many = count - done >= GRAPH_UPDATES;
        nd_work_note(work, cudaGraphLaunch(many ? captured->many : captured->one, work->backend->stream),
                     "the updates");
        done += many ? GRAPH_UPDATES : 1;
    }
}

/* ---- gradients without a step ------------------------------------------------------------------------------------ */

/* The gradient of rows drawn by the job, with so much dropout; *loss: their mean loss. */
static void gradient_alone(struct cuda_work *work, const struct draw_job *job, size_t rows, double dropout,
                           double *loss)
{
    struct cuda_graphs *graphs = work->backend->graphs;
    struct update_streams *streams = &graphs->streams;
    double *device_sum = work->backend->training->loss, sum = 0;
    if (work->status != NADE_OK) return;
    nd_work_note(work, nd_cuda_draw(job, rows, streams->draws), "drawing rows");
    nd_update_record(work, streams->drawn[0], streams->draws);
    graphs->train.residual.dropout = dropout_of(work->backend, job->seed, dropout, 0);
    nd_update_forward(work, streams, &graphs->train, 0, false);
    nd_pass_head(work, &graphs->train, rows, 0, graphs->train.loss, NULL, 0, streams->main);
    nd_update_backward(work, streams, &graphs->train, 0, NULL, 0);
    nd_update_join(work, streams, false);
    if (work->status == NADE_OK)
        nd_work_note(work, nd_cuda_sum(graphs->train.loss, rows, device_sum, streams->main), "the losses");
    if (work->status == NADE_OK)
        nd_work_note(work, cudaMemcpyAsync(&sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost, streams->main),
                     "the losses");
    nd_work_note(work, cudaStreamSynchronize(streams->main), "the losses");
    *loss = sum / (double)rows;
}

void nd_graphs_gradient_of(struct cuda_work *work, const struct update_rule *rule, uint64_t update)
{
    prepare(work, rule);
    nd_training_start(work, rule->first_draw + update);
    if (work->status != NADE_OK) return;
    struct draw_job job = draw_of(work->backend, rule->seed, nd_strata(rule), rule->focus, 0, 0);
    double loss;
    gradient_alone(work, &job, rule->batch, rule->dropout, &loss);
}

/* With the rows and the observed sets on the device. */
static void put_given(struct cuda_work *work, const struct encoded_rows *cells, const struct cuda_data *data,
                      const uint8_t *observed, void *seen, double *loss)
{
    nd_work_note(work, nd_cuda_copy(seen, observed, cells->rows * cells->columns, cudaMemcpyHostToDevice),
                 "the observed sets");
    struct draw_job job = draw_of(work->backend, 0, 0, 0, 0, 0);
    job.cells = data->view;
    job.source = DRAW_GIVEN;
    job.observed = seen;
    gradient_alone(work, &job, cells->rows, 0, loss);
}

static void gradients(struct cuda_work *work, const struct encoded_rows *cells, const uint8_t *observed, double *loss)
{
    struct cuda_data data = {0};
    void *seen = NULL;
    work->status = nd_cuda_need_all_blocks(work->context, work->backend);
    nd_training_need(work, 1);
    need_graphs(work);
    nd_graphs_forget(work->backend);
    if (work->status != NADE_OK) return;
    struct cuda_graphs *graphs = work->backend->graphs;
    nd_streams_need_workspaces(work, &graphs->streams);
    build_pass(work, cells->rows, true, &graphs->train);
    if (work->status == NADE_OK) work->status = nd_cuda_copy_rows(work->context, cells, &data);
    if (work->status == NADE_OK)
        work->status = nd_cuda_alloc(work->context, &seen, cells->rows, cells->columns, "the observed sets");
    if (work->status == NADE_OK) put_given(work, cells, &data, observed, seen, loss);
    nd_cuda_free(seen);
    nd_cuda_free(data.cells);
}

/* ---- validation -------------------------------------------------------------------------------------------------- */

/* The losses of validation rows first…, each under its draw, into loss. */
static void put_valid(struct cuda_work *work, const struct cuda_validation *validation, size_t first, size_t rows,
                      double *loss)
{
    struct cuda_backend *backend = work->backend;
    struct cuda_pass *pass = &backend->graphs->valid;
    struct update_streams *streams = &backend->graphs->streams;
    struct draw_job job = {
        .plan = backend->device,
        .cells = backend->data[DATA_VALID].view,
        .source = DRAW_VALID,
        .seed = validation->seed,
        .offset = (uint32_t)first,
        .repeats = (uint32_t)validation->repeats,
        .input = pass->drawn[0].input,
        .input_stride = backend->layer[0].stride,
        .target = pass->drawn[0].target,
        .weight = pass->drawn[0].weight,
        .bf16 = backend->bf16,
    };
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_draw(&job, rows, streams->main), "drawing rows");
    nd_update_outputs(work, streams, pass);
    nd_pass_head(work, pass, rows, 0, loss, NULL, 0, streams->main);
}

/* Rows that are validated at a time: fewer where their outputs are wide. */
static size_t valid_rows(const struct cuda_backend *backend)
{
    size_t rows = VALID_OUTPUT_BYTES / (backend->layer[backend->plan->layers].padded_rows * sizeof(float));
    if (rows < VALID_ROWS_LEAST) return VALID_ROWS_LEAST;
    return rows < VALID_ROWS_MOST ? rows : VALID_ROWS_MOST;
}

/* Kept from call to call: to free device memory is to wait for all that runs on the device, other trainings too. */
static void need_valid_losses(struct cuda_work *work, size_t count)
{
    struct cuda_graphs *graphs = work->backend->graphs;
    if (work->status != NADE_OK || (graphs->valid_loss && graphs->valid_losses == count)) return;
    void *losses;
    nd_cuda_free(graphs->valid_loss);
    work->status = nd_cuda_alloc(work->context, &losses, count + 1, sizeof(double), "the validation rows");
    graphs->valid_loss = losses;
    graphs->valid_losses = count;
}

/* The losses of all validation rows under all their draws, and behind them their sum. */
static void put_validation(struct cuda_work *work, struct cuda_validation *validation)
{
    struct cuda_backend *backend = work->backend;
    need_graphs(work);
    if (work->status != NADE_OK) return;
    struct cuda_graphs *graphs = backend->graphs;
    size_t all = backend->data[DATA_VALID].view.rows * validation->repeats;
    nd_streams_need_workspaces(work, &graphs->streams);
    if (graphs->valid.rows == 0) build_pass(work, valid_rows(backend), false, &graphs->valid);
    need_valid_losses(work, all);
    double *each = graphs->valid_loss;
    size_t most = graphs->valid.rows;
    for (size_t first = 0; first < all && work->status == NADE_OK; first += most)
        put_valid(work, validation, first, all - first < most ? all - first : most, each + first);
    if (work->status == NADE_OK)
        nd_work_note(
            work, nd_cuda_sum(each, all - (ND_CUDA_FAULT(FAULT_CUDA_LAST_LOSS) ? 1 : 0), each + all, backend->stream),
            "the losses");
    validation->sum = each + all;
    validation->count = all;
}

/* ---- the way ----------------------------------------------------------------------------------------------------- */

static bool suits(const struct cuda_backend *backend, const struct update_rule *rule)
{
    (void)backend;
    (void)rule;
    return true;
}

const struct training_way nd_graph_way = {
    .name = "graphs",
    .suits = suits,
    .prepare = prepare,
    .launch = launch,
    .gradient_of = nd_graphs_gradient_of,
    .put_validation = put_validation,
    .gradients = gradients,
};

nade_status nd_graphs_test_draws(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule,
                                 uint64_t update, uint32_t *row, uint8_t *observed)
{
    size_t cells = rule->batch * backend->plan->columns;
    void *rows = NULL, *seen = NULL;
    struct cuda_work work = {context, backend, NADE_OK};
    nd_training_need(&work, 1);
    prepare(&work, rule);
    nd_training_start(&work, rule->first_draw + update);
    if (work.status == NADE_OK)
        work.status = nd_cuda_alloc(context, &rows, rule->batch, sizeof *row, "a batch of rows");
    if (work.status == NADE_OK) work.status = nd_cuda_alloc(context, &seen, cells, 1, "a batch of rows");
    if (work.status == NADE_OK) {
        struct draw_job job = draw_of(backend, rule->seed, nd_strata(rule), rule->focus, 0, 0);
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
