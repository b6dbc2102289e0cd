/* Where the microseconds of an update go on a CUDA device: times each of its pieces alone, as one of many in a graph,
 * and prints them as a line of JSON with the number of times an update has each.
 *
 *   parts COLUMNS UNITS LAYERS COMPONENTS BATCH PRECISION [BLOCKS]
 *
 * COMPONENTS 0: binary columns; PRECISION fp32, tf32, bf16; BLOCKS above 0: a residual network with the linear path,
 * LAYERS is not read.  The pieces go one after the other here and side by side in an update, so their sum need not be
 * the update's time.  "products" are all matrix products of an update, one after the other. */
#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_rows.h"
#include "backend/cuda/train/cuda_draws.h"
#include "backend/cuda/train/cuda_residual_pass.h"
#include "backend/cuda/train/cuda_step_jobs.h"
#include "base/context.h"
#include "base/philox.h"
#include "model/initial.h"

enum { PER_GRAPH = 20, TURNS = 4, ROWS = 20000 };

struct bench {
    nade_context *context;
    struct arena arena;
    struct schema schema;
    struct plan plan;
    struct cuda_backend *backend;
    struct cuda_pass pass;
    struct cuda_work work;
    struct device_progress *progress;
    struct device_rates *rates;
    void *workspace;
    cudaStream_t stream;
    size_t batch;
    bool printed;
};

static void demand(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "parts: %s failed\n", what);
    exit(1);
}

/* ---- the pieces -------------------------------------------------------------------------------------------------- */

typedef void piece(struct bench *bench, size_t layer);

static void put_draw(struct bench *b, size_t layer)
{
    const struct drawn_rows *drawn = &b->pass.drawn[0];
    struct draw_job job = {
        .plan = b->backend->device,
        .cells = b->backend->data[DATA_TRAIN].view,
        .source = DRAW_TRAIN,
        .seed = 1,
        .progress = b->progress,
        .input = drawn->input,
        .input_stride = b->backend->layer[0].stride,
        .target = drawn->target,
        .weight = drawn->weight,
        .bf16 = b->backend->bf16,
    };
    (void)layer;
    nd_work_note(&b->work, nd_cuda_draw(&job, b->batch, b->stream), "drawing rows");
}

static void put_forward(struct bench *b, size_t layer)
{
    nd_pass_forward(&b->work, &b->pass, layer, 0, b->workspace, b->stream);
}

static void put_activation(struct bench *b, size_t layer)
{
    nd_pass_activate(&b->work, &b->pass, layer, b->stream);
}

/* Of a chain of layers the two are one piece. */
static void put_layer(struct bench *b, size_t layer)
{
    put_forward(b, layer);
    put_activation(b, layer);
}

static void put_head(struct bench *b, size_t layer)
{
    (void)layer;
    nd_pass_head(&b->work, &b->pass, b->batch, 0, b->pass.loss, NULL, 0, b->stream);
}

static void put_backward(struct bench *b, size_t layer)
{
    nd_pass_backward(&b->work, &b->pass, layer, b->workspace, b->stream);
}

static void put_slope(struct bench *b, size_t layer)
{
    nd_pass_slope(&b->work, &b->pass, layer, b->stream);
}

static void put_layer_back(struct bench *b, size_t layer)
{
    put_backward(b, layer);
    put_slope(b, layer);
}

static void put_gradient(struct bench *b, size_t layer)
{
    nd_pass_gradient(&b->work, &b->pass, layer, 0, b->workspace, b->stream);
}

static void put_direct(struct bench *b, size_t layer)
{
    (void)layer;
    nd_pass_direct(&b->work, &b->pass, 0, b->workspace, b->stream);
}

static void put_direct_gradient(struct bench *b, size_t layer)
{
    (void)layer;
    nd_pass_direct_gradient(&b->work, &b->pass, 0, b->workspace, b->stream);
}

static void put_vector_gradients(struct bench *b, size_t layer)
{
    (void)layer;
    nd_pass_vector_gradients(&b->work, &b->pass, b->stream);
}

static void put_output_bias(struct bench *b, size_t layer)
{
    (void)layer;
    nd_pass_output_bias(&b->work, &b->pass, b->stream);
}

static void put_products(struct bench *b, size_t layer)
{
    size_t layers = b->plan.layers;
    (void)layer;
    if (b->plan.direct) put_direct(b, 0);
    for (size_t l = 0; l <= layers; l++) put_forward(b, l);
    for (size_t l = layers; l > 0; l--) put_backward(b, l);
    for (size_t l = 0; l <= layers; l++) put_gradient(b, l);
    if (b->plan.direct) put_direct_gradient(b, 0);
}

static void put_step(struct bench *b, size_t number)
{
    const struct step_way way = {NADE_NAG, false, 0};
    struct step_job job = nd_cuda_step_job(b->backend, &way, number);
    job.rates = b->rates;
    job.progress = b->progress;
    nd_work_note(&b->work, nd_cuda_step(&job, b->stream), "a step");
}

/* ---- timing ------------------------------------------------------------------------------------------------------ */

static double time_graph(struct bench *b, cudaGraphExec_t graph)
{
    cudaEvent_t begin, end;
    float best = -1;
    demand(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess, "making events");
    for (int turn = 0; turn < TURNS; turn++) { /* the first one warms up */
        float time = 0;
        cudaEventRecord(begin, b->stream);
        cudaGraphLaunch(graph, b->stream);
        cudaEventRecord(end, b->stream);
        demand(cudaStreamSynchronize(b->stream) == cudaSuccess, "a launch");
        cudaEventElapsedTime(&time, begin, end);
        if (turn > 0 && (best < 0 || time < best)) best = time;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return 1000.0 * (double)best / PER_GRAPH;
}

/* Times a piece of a layer and prints it; a backward piece is its product and the activation's slope. */
static void report(struct bench *b, const char *name, piece *put, size_t layer, size_t times)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t ready = NULL;
    put(b, layer); /* so that all buffers hold what they hold in an update */
    demand(cudaStreamBeginCapture(b->stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "recording");
    for (int i = 0; i < PER_GRAPH; i++) put(b, layer);
    demand(cudaStreamEndCapture(b->stream, &graph) == cudaSuccess && b->work.status == NADE_OK, name);
    demand(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess, "preparing a graph");
    printf("%s{\"piece\": \"%s %zu\", \"us\": %.2f, \"times\": %zu}", b->printed ? ", " : "", name, layer,
           time_graph(b, ready), times);
    b->printed = true;
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
}

/* Hidden layers from the second on are alike: one stands for all. */
static void report_chain(struct bench *b)
{
    size_t layers = b->plan.layers, alike = layers > 1 ? layers - 1 : 0;
    report(b, "forward", put_layer, 0, 1);
    if (alike) report(b, "forward", put_layer, 1, alike);
    report(b, "forward", put_layer, layers, 1);
    report(b, "head", put_head, layers, 1);
    report(b, "backward", put_layer_back, layers, 1);
    if (alike) report(b, "backward", put_layer_back, 1, alike);
    report(b, "gradient", put_gradient, layers, 1);
    if (alike) report(b, "gradient", put_gradient, 1, alike);
    report(b, "gradient", put_gradient, 0, 1);
    report(b, "step", put_step, layers, 1);
    if (alike) report(b, "step", put_step, 1, alike);
    report(b, "step", put_step, 0, 1);
}

/* Blocks are alike too, and layer 1 is the first one's `up`, layer 2 its `down`. */
static void report_blocks(struct bench *b)
{
    size_t layers = b->plan.layers, blocks = b->plan.blocks;
    report(b, "direct", put_direct, 0, 1);
    report(b, "forward", put_forward, 0, 1);
    report(b, "norm", put_activation, 0, blocks);
    report(b, "forward", put_forward, 1, blocks);
    report(b, "gelu", put_activation, 1, blocks);
    report(b, "forward", put_forward, 2, blocks);
    report(b, "norm", put_activation, layers - 1, 1);
    report(b, "forward", put_forward, layers, 1);
    report(b, "head", put_head, layers, 1);
    report(b, "backward", put_backward, layers, 1);
    report(b, "norm_back", put_slope, layers, 1);
    report(b, "backward", put_backward, 2, blocks);
    report(b, "gelu_back", put_slope, 2, blocks);
    report(b, "backward", put_backward, 1, blocks);
    report(b, "norm_back", put_slope, 1, blocks);
    report(b, "vector_gradients", put_vector_gradients, 0, 1);
    report(b, "output_bias", put_output_bias, 0, 1);
    report(b, "gradient", put_gradient, 0, 1);
    report(b, "gradient", put_gradient, 1, 2 * blocks);
    report(b, "gradient", put_gradient, layers, 1);
    report(b, "direct_gradient", put_direct_gradient, 0, 1);
    report(b, "step", put_step, 0, 1);
    report(b, "step", put_step, 1, 2 * blocks);
    report(b, "step", put_step, layers, 1);
    report(b, "step", put_step, nd_cuda_vector_job(b->backend), 1);
    report(b, "step", put_step, nd_cuda_direct_job(b->backend), 1);
}

static void report_all(struct bench *b)
{
    report(b, "draw", put_draw, 0, 1);
    if (b->plan.blocks)
        report_blocks(b);
    else
        report_chain(b);
    report(b, "products", put_products, 0, 1);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void build_plan(struct bench *b, size_t columns, size_t units, size_t layers, size_t components, size_t blocks)
{
    size_t *hidden = nd_arena_alloc(&b->arena, layers, sizeof *hidden);
    b->schema.count = columns;
    b->schema.column = nd_arena_alloc(&b->arena, columns, sizeof *b->schema.column);
    demand(hidden && b->schema.column, "allocating");
    for (size_t l = 0; l < layers; l++) hidden[l] = units;
    for (size_t c = 0; c < columns; c++)
        b->schema.column[c] = (struct column_spec){
            .name = "x", .type = components ? NADE_REAL : NADE_BINARY, .sd = 1, .floor = components ? 1e-3 : 0};
    struct architecture architecture = {.hidden = hidden,
                                        .layers = layers,
                                        .blocks = blocks,
                                        .width = units,
                                        .direct = blocks > 0,
                                        .components = components ? components : 1,
                                        .activation = NADE_RELU,
                                        .masks = true};
    demand(nd_plan_build(b->context, &b->arena, &b->schema, &architecture, &b->plan) == NADE_OK, "planning");
}

static void fill_data(struct bench *b, bool real)
{
    size_t count = ROWS * b->plan.columns;
    uint8_t *bytes = nd_arena_alloc(&b->arena, count, 1);
    float *floats = nd_arena_alloc(&b->arena, real ? count : 1, sizeof *floats);
    demand(bytes && floats, "allocating");
    for (size_t i = 0; i < count; i++) {
        uint32_t word = nd_random_word(1, 0, i / 1024, 0, (uint32_t)(i % 1024));
        bytes[i] = word < 0x4CCCCCCC;
        if (real) floats[i] = 3.0f * nd_random_uniform(word) - 1.5f;
    }
    struct encoded_rows cells = {ROWS, b->plan.columns, real ? ENCODED_FLOATS : ENCODED_BYTES,
                                 real ? (void *)floats : bytes};
    demand(nd_cuda_set_data(b->context, b->backend, DATA_TRAIN, &cells) == NADE_OK, "copying rows");
}

static void open_bench(struct bench *b, nade_precision precision)
{
    float *parameters = nd_arena_alloc(&b->arena, b->plan.parameters, sizeof *parameters);
    demand(parameters && nd_cuda_open(b->context, &b->plan, precision, &b->backend) == NADE_OK, "opening the device");
    b->work = (struct cuda_work){b->context, b->backend, NADE_OK};
    nd_initial_parameters(&b->plan, &b->schema, 1, 1, false, parameters);
    demand(nd_cuda_set_block(b->context, b->backend, BLOCK_PARAMETERS, parameters) == NADE_OK &&
               nd_cuda_need_all_blocks(b->context, b->backend) == NADE_OK &&
               nd_pass_build(b->context, b->backend, b->batch, true, &b->pass) == NADE_OK,
           "preparing a batch");
    struct device_progress progress = {.failed = INT32_MAX};
    void *memory[3] = {NULL};
    demand(nd_cuda_alloc(b->context, &memory[0], 1, sizeof progress, "progress") == NADE_OK &&
               nd_cuda_alloc(b->context, &memory[1], 1, sizeof *b->rates, "rates") == NADE_OK &&
               nd_cuda_alloc(b->context, &memory[2], ND_PRODUCT_WORKSPACE, 1, "products") == NADE_OK,
           "allocating");
    b->progress = memory[0];
    b->rates = memory[1];
    b->workspace = memory[2];
    demand(cudaMemcpy(b->progress, &progress, sizeof progress, cudaMemcpyHostToDevice) == cudaSuccess &&
               cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking) == cudaSuccess,
           "preparing the device");
}

static nade_precision precision_of(const char *name)
{
    return strcmp(name, "bf16") == 0   ? NADE_PRECISION_BF16
           : strcmp(name, "fp32") == 0 ? NADE_PRECISION_FP32
                                       : NADE_PRECISION_TF32;
}

int main(int count, char **arguments)
{
    struct bench b = {0};
    size_t number[5];
    if (count != 7 && count != 8) {
        fprintf(stderr, "usage: parts COLUMNS UNITS LAYERS COMPONENTS BATCH PRECISION [BLOCKS]\n");
        return 2;
    }
    for (int i = 0; i < 5; i++) number[i] = strtoul(arguments[i + 1], NULL, 10);
    demand(nade_context_create(NULL, &b.context) == NADE_OK, "making a context");
    b.arena.allocator = b.context->allocator;
    b.batch = number[4];
    build_plan(&b, number[0], number[1], number[2], number[3], count == 8 ? strtoul(arguments[7], NULL, 10) : 0);
    open_bench(&b, precision_of(arguments[6]));
    fill_data(&b, number[3] > 0);
    printf("[");
    report_all(&b);
    printf("]\n");
    return 0;
}
