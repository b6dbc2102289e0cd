/* Training and validation of a network of one ordering on CUDA.
 *
 * The arithmetic is float whatever the precision asked for, as there is no matrix product to gain from another one; the
 * running sum is double.  An update is captured as a graph once a call and launched for each update: what differs from
 * update to update lies in device memory (struct device_progress, the rates). */
#include "backend/cuda/fixed/cuda_fixed.h"

#include "backend/activation.h"
#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_matrix.h"
#include "backend/cuda/fixed/cuda_fixed_walk.h"
#include "backend/cuda/train/cuda_losses.h"
#include "backend/cuda/train/cuda_step_jobs.h"
#include "base/context.h"
#include "model/head.h"

enum { VALID_ROWS = 4096, ROWS_MOST = 1 << 16 };

/* The most that the buffers of a chunk of rows should take. */
static const size_t chunk_bytes = (size_t)1 << 30;

/* Device memory that grows when more is needed. */
struct device_buffer {
    void *memory;
    size_t bytes;
};

enum fixed_buffer {
    BUFFER_X,
    BUFFER_TARGET,
    BUFFER_WEIGHT,
    BUFFER_OUT,
    BUFFER_SLICE,
    BUFFER_PATH,
    BUFFER_SUMS,
    BUFFER_DELTA,
    BUFFER_PARTIAL,
    BUFFER_LOSS,  /* double: of each row of the batch */
    BUFFER_CELLS, /* rows that a call came with */
    BUFFER_STEP,
    BUFFER_INPUT_WEIGHT,
    BUFFER_SUM,
    BUFFERS
};

struct cuda_fixed {
    size_t unit_stride, output_stride, slices;
    struct device_buffer buffer[BUFFERS];
    cudaGraphExec_t update; /* captured for the updates of a call; NULL: none */
};

/* A batch: where its rows come from and what is wanted. */
struct fixed_batch {
    struct device_rows cells;
    const struct update_rule *rule; /* of the update that draws the rows; NULL: all rows of the cells */
    size_t rows, chunk;
    bool gradients;
};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static nade_status need(nade_context *context, struct device_buffer *buffer, size_t count, size_t size)
{
    size_t bytes;
    if (!nd_multiply(count, size, &bytes)) return nd_no_memory(context, "a batch on the device");
    if (bytes <= buffer->bytes) return NADE_OK;
    nd_cuda_free(buffer->memory);
    buffer->memory = NULL;
    buffer->bytes = 0;
    nade_status status = nd_cuda_alloc(context, &buffer->memory, count, size, "a batch on the device");
    if (status == NADE_OK) buffer->bytes = bytes;
    return status;
}

/* What has a gradient of its own for each hidden unit: inputs, the bias, outputs, factors. */
static size_t entries_of(const struct plan *plan)
{
    return plan->inputs + 1 + plan->outputs + (plan->rescale ? plan->columns : 0);
}

/* What entered an activation is needed again on the way back: for the factors, or for its slope. */
static bool keeps_sums(const struct plan *plan)
{
    return plan->rescale || nd_slope_reads_sum(plan->activation);
}

/* Floats that ND_FIXED_ROWS rows need of each buffer.  Widths are at most ND_WIDTH_MOST and ND_UNITS_MOST, so that no
 * product overflows. */
static void floats_of_group(const struct plan *plan, const struct cuda_fixed *fixed, bool gradients,
                            size_t floats[BUFFERS])
{
    for (size_t b = 0; b < BUFFERS; b++) floats[b] = 0;
    floats[BUFFER_X] = floats[BUFFER_TARGET] = ND_FIXED_ROWS * plan->columns;
    floats[BUFFER_WEIGHT] = ND_FIXED_ROWS * sizeof(double) / sizeof(float);
    floats[BUFFER_OUT] = ND_FIXED_ROWS * fixed->output_stride;
    if (fixed->slices > 1) floats[BUFFER_SLICE] = fixed->slices * floats[BUFFER_OUT];
    if (!gradients) return;
    floats[BUFFER_PATH] = ND_FIXED_ROWS * plan->columns * fixed->unit_stride;
    if (keeps_sums(plan)) floats[BUFFER_SUMS] = floats[BUFFER_PATH];
    floats[BUFFER_DELTA] = ND_FIXED_ROWS * plan->outputs;
    floats[BUFFER_PARTIAL] = entries_of(plan) * fixed->unit_stride;
}

static size_t groups_of(size_t rows)
{
    return (rows + ND_FIXED_ROWS - 1) / ND_FIXED_ROWS;
}

/* Chooses the batch's chunk and makes the buffers ready. */
static nade_status reserve(nade_context *context, struct cuda_backend *backend, struct fixed_batch *batch,
                           size_t rows_most)
{
    struct cuda_fixed *fixed = backend->fixed;
    size_t floats[BUFFERS], all = 0;
    floats_of_group(backend->plan, fixed, batch->gradients, floats);
    for (size_t b = 0; b < BUFFERS; b++) all += floats[b];
    size_t groups = chunk_bytes / sizeof(float) / all;
    if (groups > rows_most / ND_FIXED_ROWS) groups = rows_most / ND_FIXED_ROWS;
    if (groups == 0) groups = 1;
    if (groups > groups_of(batch->rows)) groups = groups_of(batch->rows);
    batch->chunk = groups * ND_FIXED_ROWS;
    nade_status status = need(context, &fixed->buffer[BUFFER_LOSS], batch->rows, sizeof(double));
    for (size_t b = 0; b < BUFFERS && status == NADE_OK; b++)
        status = need(context, &fixed->buffer[b], groups, floats[b] * sizeof(float));
    return status;
}

/* Copies to the device in the order of the stream, and waits: the source may go. */
static nade_status upload(nade_context *context, const struct cuda_backend *backend, void *to, const void *from,
                          size_t bytes, const char *what)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, backend->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(backend->stream);
    return nd_cuda_check(context, error, what);
}

static nade_status upload_steps(nade_context *context, const struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    struct fixed_step *step = nd_alloc(&context->allocator, plan->columns, sizeof *step);
    if (!step) return nd_no_memory(context, "the ordering");
    for (size_t t = 0; t < plan->columns; t++) {
        const struct plan_column *column = &plan->column[plan->ordering[t]];
        step[t].column = (int32_t)plan->ordering[t];
        step[t].input = (int32_t)column->input;
        step[t].labels = column->head->one_hot ? (int32_t)column->input_width : 0;
        step[t].output = (int32_t)column->output;
        step[t].width = (int32_t)column->output_width;
    }
    nade_status status = upload(context, backend, backend->fixed->buffer[BUFFER_STEP].memory, step,
                                plan->columns * sizeof *step, "copying the ordering to the device");
    nd_free(&context->allocator, step);
    return status;
}

/* What does not depend on the number of rows. */
static nade_status alloc_state(nade_context *context, struct cuda_backend *backend, struct cuda_fixed *fixed)
{
    struct device_buffer *buffer = fixed->buffer;
    nade_status status = need(context, &buffer[BUFFER_STEP], backend->plan->columns, sizeof(struct fixed_step));
    if (status == NADE_OK)
        status =
            need(context, &buffer[BUFFER_INPUT_WEIGHT], backend->plan->inputs + 1, fixed->unit_stride * sizeof(float));
    if (status == NADE_OK) status = need(context, &buffer[BUFFER_SUM], 1, sizeof(double));
    return status == NADE_OK ? upload_steps(context, backend) : status;
}

/* Makes backend->fixed, unless it is there. */
static nade_status need_state(nade_context *context, struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    if (backend->fixed) return NADE_OK;
    struct cuda_fixed *fixed = nd_arena_alloc(&backend->arena, 1, sizeof *fixed);
    if (!fixed) return nd_no_memory(context, "the state of training");
    fixed->unit_stride = nd_cuda_operand_stride(plan->hidden[0]);
    fixed->output_stride = backend->layer[1].padded_rows;
    fixed->slices = nd_cuda_fixed_slices(plan->hidden[0]);
    backend->fixed = fixed;
    nade_status status = alloc_state(context, backend, fixed);
    if (status != NADE_OK) nd_fixed_free(backend);
    return status;
}

static void forget_update(struct cuda_fixed *fixed)
{
    if (fixed->update) cudaGraphExecDestroy(fixed->update);
    fixed->update = NULL;
}

void nd_fixed_free(struct cuda_backend *backend)
{
    if (!backend->fixed) return;
    forget_update(backend->fixed);
    for (size_t b = 0; b < BUFFERS; b++) nd_cuda_free(backend->fixed->buffer[b].memory);
    backend->fixed = NULL;
}

/* ---- a batch ----------------------------------------------------------------------------------------------------- */

/* What the chunks of a batch have in common. */
static struct fixed_job job_of(const struct cuda_backend *backend, const struct fixed_batch *batch)
{
    const struct cuda_fixed *fixed = backend->fixed;
    const struct plan *plan = backend->plan;
    const struct cuda_layer *hidden = &backend->layer[0], *output = &backend->layer[1];
    const struct device_buffer *buffer = fixed->buffer;
    struct fixed_job job = {
        .step = buffer[BUFFER_STEP].memory,
        .columns = plan->columns,
        .units = plan->hidden[0],
        .inputs = plan->inputs,
        .outputs = plan->outputs,
        .entries = entries_of(plan),
        .activation = (int)plan->activation,
        .cells = batch->cells,
        .progress = batch->rule ? backend->training->progress : NULL,
        .seed = batch->rule ? batch->rule->seed : 0,
        .output_weight = backend->block[BLOCK_PARAMETERS] + output->offset,
        .output_weight_stride = output->stride,
        .scale = plan->rescale ? backend->block[BLOCK_PARAMETERS] + backend->scale_offset : NULL,
        .scale_stride = ND_SCALE_STRIDE,
        .unit_stride = fixed->unit_stride,
        .input_weight = buffer[BUFFER_INPUT_WEIGHT].memory,
        .x = buffer[BUFFER_X].memory,
        .target = buffer[BUFFER_TARGET].memory,
        .weight = buffer[BUFFER_WEIGHT].memory,
        .out = buffer[BUFFER_OUT].memory,
        .output_stride = fixed->output_stride,
        .slice = buffer[fixed->slices > 1 ? BUFFER_SLICE : BUFFER_OUT].memory,
    };
    if (!batch->gradients) return job;
    job.path = buffer[BUFFER_PATH].memory;
    job.sums = keeps_sums(plan) ? buffer[BUFFER_SUMS].memory : NULL;
    job.delta = buffer[BUFFER_DELTA].memory;
    job.partial = buffer[BUFFER_PARTIAL].memory;
    job.input_gradient = backend->block[BLOCK_GRADIENT] + hidden->offset;
    job.output_gradient = backend->block[BLOCK_GRADIENT] + output->offset;
    job.input_gradient_stride = hidden->stride;
    job.scale_gradient = plan->rescale ? backend->block[BLOCK_GRADIENT] + backend->scale_offset : NULL;
    return job;
}

/* Losses and, where wanted, the outputs' gradients in the place of the outputs. */
static cudaError_t run_head(const struct cuda_backend *backend, const struct fixed_batch *batch,
                            const struct fixed_job *job)
{
    struct head_job head = {
        .plan = backend->device,
        .outputs = job->out,
        .output_stride = job->output_stride,
        .bias = backend->block[BLOCK_PARAMETERS] + backend->layer[1].bias_offset,
        .target = job->target,
        .weight = job->weight,
        .scale = 1 / (double)batch->rows,
        .delta = batch->gradients ? job->out : NULL,
        .loss = (double *)backend->fixed->buffer[BUFFER_LOSS].memory + job->first,
        .progress = batch->rule ? backend->training->progress : NULL,
    };
    return nd_cuda_head(&head, job->rows, backend->stream);
}

static cudaError_t run_chunk(const struct cuda_backend *backend, const struct fixed_batch *batch,
                             const struct fixed_job *job)
{
    cudaError_t error = nd_cuda_fixed_gather(job, backend->stream);
    if (error == cudaSuccess) error = nd_cuda_fixed_forward(job, backend->stream);
    if (error == cudaSuccess) error = run_head(backend, batch, job);
    if (error != cudaSuccess || !batch->gradients) return error;
    error = nd_cuda_transpose(job->out, job->rows, job->outputs, job->output_stride, job->delta, job->row_stride,
                              backend->stream);
    return error == cudaSuccess ? nd_cuda_fixed_backward(job, backend->stream) : error;
}

/* Puts a whole batch on the stream: losses of its rows, and BLOCK_GRADIENT where wanted. */
static nade_status run_batch(nade_context *context, const struct cuda_backend *backend, const struct fixed_batch *batch)
{
    const struct cuda_layer *hidden = &backend->layer[0];
    struct fixed_job job = job_of(backend, batch);
    /* The bias is the column behind the weights' and comes along. */
    cudaError_t error = nd_cuda_transpose(backend->block[BLOCK_PARAMETERS] + hidden->offset, job.units, job.inputs + 1,
                                          hidden->stride, job.input_weight, job.unit_stride, backend->stream);
    for (; job.first < batch->rows && error == cudaSuccess; job.first += batch->chunk) {
        size_t left = batch->rows - job.first;
        job.rows = left < batch->chunk ? left : batch->chunk;
        job.row_stride = groups_of(job.rows) * ND_FIXED_ROWS;
        job.add = job.first > 0;
        error = run_chunk(backend, batch, &job);
    }
    return nd_cuda_check(context, error, "running a batch of rows along the ordering");
}

/* Puts the sum of the batch's losses on the stream. */
static nade_status sum_losses(nade_context *context, const struct cuda_backend *backend, size_t rows)
{
    const struct device_buffer *buffer = backend->fixed->buffer;
    return nd_cuda_check(context,
                         nd_cuda_sum(buffer[BUFFER_LOSS].memory, rows, buffer[BUFFER_SUM].memory, backend->stream),
                         "summing the losses");
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Puts update progress->next on the stream. */
static nade_status run_update(nade_context *context, struct cuda_backend *backend, const struct fixed_batch *batch)
{
    const struct cuda_training *training = backend->training;
    struct cuda_work work = {context, backend, run_batch(context, backend, batch)};
    struct step_way steps = nd_cuda_step_way(batch->rule);
    nd_cuda_put_steps(&work, &steps, 0, backend->stream);
    if (work.status == NADE_OK)
        nd_work_note(&work,
                     nd_cuda_finish_updates(backend->fixed->buffer[BUFFER_LOSS].memory, 1, batch->rows,
                                            training->progress, training->loss, backend->stream),
                     "the losses");
    return work.status;
}

static nade_status capture_update(nade_context *context, struct cuda_backend *backend, const struct fixed_batch *batch)
{
    cudaGraph_t graph = NULL;
    nade_status status = nd_cuda_check(context, cudaStreamBeginCapture(backend->stream, cudaStreamCaptureModeRelaxed),
                                       "beginning to capture an update");
    if (status != NADE_OK) return status;
    status = run_update(context, backend, batch);
    cudaError_t error = cudaStreamEndCapture(backend->stream, &graph);
    if (status == NADE_OK && error == cudaSuccess) error = cudaGraphInstantiate(&backend->fixed->update, graph, 0);
    if (status == NADE_OK) status = nd_cuda_check(context, error, "capturing an update");
    if (error != cudaSuccess) cudaGetLastError();
    if (graph) cudaGraphDestroy(graph);
    return status;
}

/* ---- the way ----------------------------------------------------------------------------------------------------- */

static nade_status need_blocks(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule)
{
    nade_status status = nd_cuda_need_block(context, backend, BLOCK_GRADIENT);
    if (status == NADE_OK && rule) status = nd_cuda_need_block(context, backend, BLOCK_MOMENT1);
    if (status == NADE_OK && rule && nd_moments_of(rule->optimizer) > 1)
        status = nd_cuda_need_block(context, backend, BLOCK_MOMENT2);
    return status;
}

static void prepare(struct cuda_work *work, const struct update_rule *rule)
{
    struct cuda_backend *backend = work->backend;
    struct fixed_batch batch = {backend->data[DATA_TRAIN].view, rule, rule->batch, 0, true};
    if (work->status == NADE_OK) work->status = need_state(work->context, backend);
    if (work->status == NADE_OK) work->status = need_blocks(work->context, backend, rule);
    struct step_way steps = nd_cuda_step_way(rule);
    nd_cuda_need_steps(work, &steps);
    if (work->status == NADE_OK) work->status = reserve(work->context, backend, &batch, ROWS_MOST);
    if (work->status != NADE_OK) return;
    forget_update(backend->fixed);
    work->status = capture_update(work->context, backend, &batch);
}

static void launch(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t count)
{
    const struct cuda_backend *backend = work->backend;
    (void)rule;
    (void)first;
    for (uint64_t u = 0; u < count && work->status == NADE_OK; u++)
        nd_work_note(work, cudaGraphLaunch(backend->fixed->update, backend->stream), "the updates");
}

static void put_validation(struct cuda_work *work, struct cuda_validation *validation)
{
    struct cuda_backend *backend = work->backend;
    struct device_rows cells = backend->data[DATA_VALID].view;
    struct fixed_batch batch = {cells, NULL, cells.rows, 0, false};
    work->status = need_state(work->context, backend);
    if (work->status == NADE_OK) work->status = reserve(work->context, backend, &batch, VALID_ROWS);
    if (work->status == NADE_OK) work->status = run_batch(work->context, backend, &batch);
    if (work->status == NADE_OK) work->status = sum_losses(work->context, backend, batch.rows);
    if (work->status != NADE_OK) return;
    validation->sum = backend->fixed->buffer[BUFFER_SUM].memory;
    validation->count = batch.rows;
}

/* The rows on the device, in a buffer of their own. */
static nade_status upload_cells(nade_context *context, struct cuda_backend *backend, const struct encoded_rows *cells,
                                struct device_rows *view)
{
    struct device_buffer *buffer = &backend->fixed->buffer[BUFFER_CELLS];
    size_t size = cells->columns * (cells->kind == ENCODED_BYTES ? sizeof(uint8_t) : sizeof(float));
    nade_status status = need(context, buffer, cells->rows, size);
    if (status != NADE_OK) return status;
    *view = (struct device_rows){
        .data = buffer->memory, .bytes = cells->kind == ENCODED_BYTES, .rows = (uint32_t)cells->rows};
    return upload(context, backend, buffer->memory, cells->data, cells->rows * size, "copying the rows to the device");
}

static void gradients(struct cuda_work *work, const struct encoded_rows *cells, const uint8_t *observed, double *loss)
{
    struct cuda_backend *backend = work->backend;
    struct fixed_batch batch = {.rows = cells->rows, .gradients = true};
    double sum = 0;
    (void)observed;
    work->status = need_state(work->context, backend);
    if (work->status == NADE_OK) work->status = need_blocks(work->context, backend, NULL);
    if (work->status == NADE_OK) work->status = upload_cells(work->context, backend, cells, &batch.cells);
    if (work->status == NADE_OK) work->status = reserve(work->context, backend, &batch, ROWS_MOST);
    if (work->status == NADE_OK) work->status = run_batch(work->context, backend, &batch);
    if (work->status == NADE_OK) work->status = sum_losses(work->context, backend, batch.rows);
    if (work->status == NADE_OK)
        nd_work_note(work,
                     cudaMemcpyAsync(&sum, backend->fixed->buffer[BUFFER_SUM].memory, sizeof sum,
                                     cudaMemcpyDeviceToHost, backend->stream),
                     "summing the losses");
    nd_work_note(work, cudaStreamSynchronize(backend->stream), "summing the losses");
    *loss = sum / (double)batch.rows;
}

static bool suits(const struct cuda_backend *backend, const struct update_rule *rule)
{
    (void)rule;
    return backend->plan->ordering != NULL;
}

const struct training_way nd_fixed_way = {
    .name = "fixed",
    .suits = suits,
    .prepare = prepare,
    .launch = launch,
    .put_validation = put_validation,
    .gradients = gradients,
};
