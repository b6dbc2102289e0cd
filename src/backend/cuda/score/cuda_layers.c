#include "backend/cuda/score/cuda_layers.h"

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_matrix.h"

/* ---- running sums ------------------------------------------------------------------------------------------------ */

/* A residual network's first layer is its stream, which no activation changes. */
static struct device_first first_of(const struct cuda_backend *backend)
{
    const struct cuda_layer *layer = &backend->layer[0];
    return (struct device_first){
        .transposed = backend->scoring->transposed,
        .bias = backend->block[BLOCK_PARAMETERS] + layer->bias_offset,
        .bias_stride = layer->bias_stride,
        .units = (int32_t)layer->rows,
        .stride = (int32_t)layer->padded_rows,
        .activation = backend->plan->blocks ? ND_NO_ACTIVATION : (int)backend->plan->activation,
        .scale = backend->plan->rescale ? backend->block[BLOCK_PARAMETERS] + backend->scale_offset : NULL,
        .scale_stride = ND_SCALE_STRIDE,
    };
}

static struct device_first direct_of(const struct cuda_backend *backend)
{
    return (struct device_first){
        .transposed = backend->scoring->direct,
        .units = (int32_t)backend->direct.rows,
        .stride = (int32_t)backend->direct.padded_rows,
        .activation = ND_NO_ACTIVATION,
    };
}

/* Where lines of the first layer go. */
static void *first_lines(const struct cuda_backend *backend, const struct scoring_lane *lane)
{
    return backend->plan->blocks ? (void *)lane->h : lane->tile[0];
}

struct sum_job nd_cuda_first_sums(const struct cuda_backend *backend, const struct scoring_lane *lane,
                                  const struct device_chunk *chunk, size_t begin, size_t scored, size_t end)
{
    return (struct sum_job){
        .chunk = *chunk,
        .first = first_of(backend),
        .begin = (int32_t)begin,
        .scored = (int32_t)scored,
        .end = (int32_t)end,
        .sum = lane->sum,
        .operand = first_lines(backend, lane),
        .bf16 = backend->bf16 && !backend->plan->blocks,
    };
}

cudaError_t nd_cuda_put_sums(const struct cuda_backend *backend, const struct scoring_lane *lane,
                             const struct sum_job *first)
{
    cudaError_t error = nd_cuda_running_sum(first, lane->stream);
    if (error != cudaSuccess || !backend->plan->direct) return error;
    struct sum_job direct = *first;
    direct.first = direct_of(backend);
    direct.sum = lane->direct;
    direct.operand = lane->outputs;
    direct.widest = (int32_t)backend->scoring->widest;
    return nd_cuda_running_sum(&direct, lane->stream);
}

/* ---- upper layers ------------------------------------------------------------------------------------------------ */

struct device_lines nd_cuda_lines(const struct cuda_backend *backend, const void *hidden)
{
    const struct cuda_layer *layer = &backend->layer[backend->plan->layers];
    return (struct device_lines){
        .hidden = hidden,
        .bf16 = backend->bf16,
        .weight = backend->block[BLOCK_PARAMETERS] + layer->offset,
        .bias = backend->block[BLOCK_PARAMETERS] + layer->bias_offset,
        .stride = (int32_t)layer->stride,
        .direct = backend->plan->direct,
    };
}

static void run_product(struct cuda_work *work, const struct scoring_lane *lane, const struct product *product,
                        size_t l, const void *in, const void *base, void *out)
{
    const struct cuda_backend *backend = work->backend;
    if (work->status == NADE_OK)
        work->status = nd_product_add(work->context, &backend->library, &product[l - 1], in,
                                      nd_cuda_operand_weight(backend, &backend->layer[l]), base, out, lane->workspace,
                                      lane->stream);
}

/* A chain of layers, from one tile to the other; the tile that holds the last one's units. */
static const void *pass_chain(struct cuda_work *work, const struct scoring_lane *lane, const struct product *product,
                              size_t lines)
{
    const struct cuda_backend *backend = work->backend;
    const struct plan *plan = backend->plan;
    int now = 0;
    for (size_t l = 1; l < plan->layers; l++) {
        void *out = lane->tile[1 - now];
        run_product(work, lane, product, l, lane->tile[now], NULL, out);
        if (work->status == NADE_OK && plan->activation != NADE_RELU)
            nd_work_note(work,
                         nd_cuda_activate((int)plan->activation, out, out, backend->bf16, lines, plan->hidden[l],
                                          backend->layer[l + 1].stride, lane->stream),
                         "activating a layer");
        now = 1 - now;
    }
    return lane->tile[now];
}

/* The norm before block b, or before the output, into tile 0. */
static void put_norm(struct cuda_work *work, const struct scoring_lane *lane, size_t b, size_t lines)
{
    const struct cuda_backend *backend = work->backend;
    struct norm_job job = {
        .stream = nd_cuda_stream(backend, lane->h, b, true),
        .weight = nd_cuda_norm_weight(backend, b),
        .bias = nd_cuda_norm_weight(backend, b) + nd_cuda_width(backend),
        .last = b == backend->plan->blocks,
        .out = lane->tile[0],
        .bf16 = backend->bf16,
    };
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_norm(&job, lines, lane->stream), "a norm");
}

/* GELU of what `up`, layer l, left in tile 1. */
static void put_gelu(struct cuda_work *work, const struct scoring_lane *lane, size_t l, size_t lines)
{
    const struct cuda_backend *backend = work->backend;
    struct gelu_job job = {
        .sum = lane->tile[1],
        .bias = backend->block[BLOCK_PARAMETERS] + backend->layer[l].bias_offset,
        .width = (int32_t)backend->plan->hidden[0],
        .stride = nd_cuda_width(backend),
        .out = lane->tile[1],
        .bf16 = backend->bf16,
    };
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_gelu(&job, lines, lane->stream), "an activation");
}

/* Blocks that add to the stream, which has its sums without the blocks' biases. */
static const void *pass_blocks(struct cuda_work *work, const struct scoring_lane *lane, const struct product *product,
                               size_t lines)
{
    size_t blocks = work->backend->plan->blocks;
    for (size_t b = 0; b < blocks; b++) {
        size_t up = 2 * b + 1, down = 2 * b + 2;
        put_norm(work, lane, b, lines);
        run_product(work, lane, product, up, lane->tile[0], NULL, lane->tile[1]);
        put_gelu(work, lane, up, lines);
        run_product(work, lane, product, down, lane->tile[1], lane->h, lane->h);
    }
    put_norm(work, lane, blocks, lines);
    return lane->tile[0];
}

nade_status nd_cuda_pass_hidden(nade_context *context, struct cuda_backend *backend, struct scoring_lane *lane,
                                const struct product *product, size_t lines, const void **hidden)
{
    struct cuda_work work = {context, backend, NADE_OK};
    *hidden =
        backend->plan->blocks ? pass_blocks(&work, lane, product, lines) : pass_chain(&work, lane, product, lines);
    return work.status;
}

/* ---- rows that go their own ways --------------------------------------------------------------------------------- */

nade_status nd_cuda_walk_observe(nade_context *context, struct cuda_backend *backend, size_t rows)
{
    struct cuda_scoring *scoring = backend->scoring;
    struct scoring_lane *lane = &scoring->lane[0];
    size_t columns = backend->plan->columns;
    struct device_chunk chunk = {
        .plan = backend->device,
        .cells = {.data = lane->cells, .bytes = 0, .rows = (uint32_t)rows},
        .order = lane->order,
        .orders = 1,
        .length = (int32_t)columns,
        .rows = (int32_t)rows,
    };
    struct sum_job job = nd_cuda_first_sums(backend, lane, &chunk, 0, columns, columns);
    for (size_t c = 0; c < columns; c++) lane->columns[c] = (int32_t)c;
    lane->has_cells = false;
    cudaError_t error = cudaMemcpyAsync(lane->order, lane->columns, columns * sizeof *lane->columns,
                                        cudaMemcpyHostToDevice, lane->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(lane->cells, scoring->walk.cells, rows * columns * sizeof(float),
                                cudaMemcpyHostToDevice, lane->stream);
    if (error == cudaSuccess) error = nd_cuda_put_sums(backend, lane, &job);
    return nd_cuda_check(context, error, "conditioning on the rows");
}

/* The first layer of all rows at this step, and the linear path's part of their outputs. */
static cudaError_t begin_step(struct cuda_backend *backend, size_t rows)
{
    struct cuda_scoring *scoring = backend->scoring;
    struct scoring_lane *lane = &scoring->lane[0];
    struct walk_job job = {
        .plan = backend->device,
        .first = first_of(backend),
        .step = scoring->walk.step,
        .sum = lane->sum,
        .operand = first_lines(backend, lane),
        .bf16 = backend->bf16 && !backend->plan->blocks,
    };
    cudaError_t error = cudaMemcpyAsync(scoring->walk.step, scoring->walk.steps, rows * sizeof *scoring->walk.step,
                                        cudaMemcpyHostToDevice, lane->stream);
    if (error == cudaSuccess) error = nd_cuda_walk(&job, rows, lane->stream);
    if (error != cudaSuccess || !backend->plan->direct) return error;
    job.first = direct_of(backend);
    job.sum = lane->direct;
    job.operand = lane->outputs;
    job.widest = (int32_t)scoring->widest;
    return nd_cuda_walk(&job, rows, lane->stream);
}

nade_status nd_cuda_walk_outputs(nade_context *context, struct cuda_backend *backend, size_t rows)
{
    struct cuda_scoring *scoring = backend->scoring;
    struct scoring_lane *lane = &scoring->lane[0];
    const void *hidden = NULL;
    nade_status status = nd_cuda_check(context, begin_step(backend, rows), "taking a step");
    if (status == NADE_OK)
        status = nd_cuda_pass_hidden(context, backend, lane, scoring->walk.product, scoring->walkers, &hidden);
    if (status != NADE_OK) return status;
    struct device_lines lines = nd_cuda_lines(backend, hidden);
    cudaError_t error = nd_cuda_row_outputs(&lines, &backend->device, scoring->walk.step, rows, lane->outputs,
                                            scoring->widest, lane->stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(scoring->walk.outputs, lane->outputs, rows * scoring->widest * sizeof(float),
                                cudaMemcpyDeviceToHost, lane->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(lane->stream);
    return nd_cuda_check(context, error, "computing a step's outputs");
}
