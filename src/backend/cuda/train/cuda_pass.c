#include "backend/cuda/train/cuda_pass.h"

#include <string.h>

#include "backend/activation.h"
#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/cuda_matrix.h"
#include "backend/cuda/train/cuda_losses.h"
#include "base/context.h"

/* ---- building ---------------------------------------------------------------------------------------------------- */

static bool is_relu(const struct cuda_backend *backend)
{
    return backend->plan->activation == NADE_RELU;
}

/* Else an activation takes place where its sums were. */
static bool keeps_sums(const struct cuda_backend *backend, const struct cuda_pass *pass)
{
    return pass->gradients && nd_slope_reads_sum(backend->plan->activation);
}

static struct product_shape shape_of(const struct cuda_backend *backend, const struct cuda_pass *pass,
                                     enum product_kind kind, size_t l)
{
    const struct cuda_layer *layer = &backend->layer[l];
    struct product_shape shape = {
        .kind = kind,
        .rows = pass->rows,
        .units = layer->padded_rows,
        .inputs = layer->stride,
        .in_stride = layer->stride,
        .out_stride = layer->padded_rows,
        .weight_stride = layer->stride,
        .float_result = kind == PRODUCT_GRADIENT || (kind == PRODUCT_FORWARD && l == backend->plan->layers),
    };
    if (is_relu(backend) && kind == PRODUCT_FORWARD && l < backend->plan->layers) shape.epilogue = EPILOGUE_RELU;
    return shape;
}

static void plan_product(struct cuda_work *work, const struct cuda_pass *pass, enum product_kind kind, size_t l,
                         struct product *product)
{
    if (work->status != NADE_OK) return;
    struct product_shape shape = shape_of(work->backend, pass, kind, l);
    work->status = nd_product_plan(work->context, &work->backend->library, &shape, product);
}

static void plan_products(struct cuda_work *work, struct cuda_pass *pass)
{
    for (size_t l = 0; l <= work->backend->plan->layers; l++) {
        plan_product(work, pass, PRODUCT_FORWARD, l, &pass->forward[l]);
        if (!pass->gradients) continue;
        plan_product(work, pass, PRODUCT_GRADIENT, l, &pass->gradient[l]);
        if (l > 0) plan_product(work, pass, PRODUCT_BACKWARD, l, &pass->backward[l]);
    }
}

static void *reserve(struct cuda_work *work, size_t rows, size_t size)
{
    void *memory = NULL;
    if (work->status == NADE_OK) work->status = nd_cuda_alloc(work->context, &memory, rows, size, "a batch of rows");
    return memory;
}

static void reserve_drawn(struct cuda_work *work, const struct cuda_pass *pass, struct drawn_rows *drawn)
{
    const struct cuda_backend *backend = work->backend;
    size_t stride = backend->layer[0].stride, element = nd_cuda_element(backend);
    drawn->input = reserve(work, pass->rows, stride * element);
    drawn->target = reserve(work, pass->rows, backend->plan->columns * sizeof(float));
    drawn->weight = reserve(work, pass->rows, sizeof(double));
    if (work->status == NADE_OK)
        nd_work_note(
            work, nd_cuda_ones(drawn->input, backend->bf16, pass->rows, stride, backend->plan->inputs, backend->stream),
            "preparing a batch of rows");
}

static void reserve_buffers(struct cuda_work *work, struct cuda_pass *pass)
{
    const struct cuda_backend *backend = work->backend;
    size_t layers = backend->plan->layers, element = nd_cuda_element(backend);
    for (int which = 0; which < (pass->gradients ? ND_DRAWN : 1); which++)
        reserve_drawn(work, pass, &pass->drawn[which]);
    for (size_t l = 0; l < layers; l++) {
        size_t width = backend->layer[l].padded_rows;
        pass->hidden[l] = reserve(work, pass->rows, width * element);
        pass->sum[l] = keeps_sums(backend, pass) ? reserve(work, pass->rows, width * element) : pass->hidden[l];
        if (pass->gradients) pass->delta[l] = reserve(work, pass->rows, width * element);
    }
    size_t width = backend->layer[layers].padded_rows;
    pass->outputs = reserve(work, pass->rows, width * sizeof(float));
    if (pass->gradients)
        pass->delta[layers] = backend->bf16 ? reserve(work, pass->rows, width * element) : pass->outputs;
    pass->loss = reserve(work, pass->rows, sizeof(double));
}

nade_status nd_pass_build(nade_context *context, struct cuda_backend *backend, size_t rows, bool gradients,
                          struct cuda_pass *pass)
{
    size_t layers = backend->plan->layers;
    nd_pass_free(pass);
    pass->arena = (struct arena){context->allocator, NULL};
    pass->rows = rows;
    pass->gradients = gradients;
    pass->hidden = nd_arena_alloc(&pass->arena, layers, sizeof *pass->hidden);
    pass->sum = nd_arena_alloc(&pass->arena, layers, sizeof *pass->sum);
    pass->delta = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->delta);
    pass->forward = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->forward);
    pass->backward = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->backward);
    pass->gradient = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->gradient);
    pass->layers = layers;
    struct cuda_work work = {context, backend, NADE_OK};
    if (!pass->hidden || !pass->sum || !pass->delta || !pass->forward || !pass->backward || !pass->gradient)
        work.status = nd_no_memory(context, "a batch of rows");
    if (work.status == NADE_OK) reserve_buffers(&work, pass);
    plan_products(&work, pass);
    nd_work_note(&work, cudaStreamSynchronize(backend->stream), "preparing a batch of rows");
    if (work.status != NADE_OK) nd_pass_free(pass);
    return work.status;
}

static void free_layers(struct cuda_pass *pass)
{
    for (size_t l = 0; l <= pass->layers; l++) {
        nd_product_free(&pass->forward[l]);
        nd_product_free(&pass->backward[l]);
        nd_product_free(&pass->gradient[l]);
        if (pass->delta[l] != pass->outputs) nd_cuda_free(pass->delta[l]);
        if (l < pass->layers && pass->sum[l] != pass->hidden[l]) nd_cuda_free(pass->sum[l]);
        if (l < pass->layers) nd_cuda_free(pass->hidden[l]);
    }
}

void nd_pass_free(struct cuda_pass *pass)
{
    if (pass->rows == 0) return;
    if (pass->hidden && pass->sum && pass->delta && pass->forward && pass->backward && pass->gradient)
        free_layers(pass);
    for (int which = 0; which < ND_DRAWN; which++) {
        nd_cuda_free(pass->drawn[which].input);
        nd_cuda_free(pass->drawn[which].target);
        nd_cuda_free(pass->drawn[which].weight);
    }
    nd_cuda_free(pass->outputs);
    nd_cuda_free(pass->loss);
    nd_arena_free(&pass->arena);
    memset(pass, 0, sizeof *pass);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run(struct cuda_work *work, const struct product *product, const void *left, const void *right,
                void *result, void *workspace, cudaStream_t stream)
{
    if (work->status == NADE_OK)
        work->status =
            nd_product_run(work->context, &work->backend->library, product, left, right, result, workspace, stream);
}

static const void *input_of(const struct cuda_pass *pass, size_t layer, int which)
{
    return layer == 0 ? pass->drawn[which].input : pass->hidden[layer - 1];
}

void nd_pass_forward(struct cuda_work *work, struct cuda_pass *pass, size_t l, int which, void *workspace,
                     cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    const struct cuda_layer *layer = &backend->layer[l];
    bool last = l == backend->plan->layers;
    void *out = last ? pass->outputs : pass->sum[l];
    run(work, &pass->forward[l], input_of(pass, l, which), nd_cuda_operand_weight(backend, l), out, workspace, stream);
    if (!last && !is_relu(backend) && work->status == NADE_OK)
        nd_work_note(work,
                     nd_cuda_activate((int)backend->plan->activation, out, pass->hidden[l], backend->bf16, pass->rows,
                                      layer->rows, layer->padded_rows, stream),
                     "an activation");
}

void nd_pass_head(struct cuda_work *work, struct cuda_pass *pass, size_t rows, int which, double *loss,
                  struct device_progress *progress, uint32_t offset, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    size_t layers = backend->plan->layers;
    struct head_job job = {
        .plan = backend->device,
        .all_binary = nd_cuda_all_binary(backend->plan),
        .outputs = pass->outputs,
        .output_stride = backend->layer[layers].padded_rows,
        .bias = backend->block[BLOCK_PARAMETERS] + backend->layer[layers].bias_offset,
        .target = pass->drawn[which].target,
        .weight = pass->drawn[which].weight,
        .scale = 1 / (double)rows,
        .delta = pass->gradients ? pass->delta[layers] : NULL,
        .bf16 = backend->bf16,
        .loss = loss,
        .progress = progress,
        .offset = offset,
    };
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_head(&job, rows, stream), "the losses");
}

void nd_pass_backward(struct cuda_work *work, struct cuda_pass *pass, size_t l, void *workspace, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    const struct cuda_layer *below = &backend->layer[l - 1];
    run(work, &pass->backward[l], pass->delta[l], nd_cuda_operand_weight(backend, l), pass->delta[l - 1], workspace,
        stream);
    if (work->status == NADE_OK)
        nd_work_note(work,
                     nd_cuda_slope((int)backend->plan->activation,
                                   ND_CUDA_FAULT(FAULT_CUDA_SLOPE_OF_VALUE) ? pass->hidden[l - 1] : pass->sum[l - 1],
                                   pass->hidden[l - 1], pass->delta[l - 1], backend->bf16,
                                   pass->rows * below->padded_rows, stream),
                     "an activation");
}

void nd_pass_gradient(struct cuda_work *work, struct cuda_pass *pass, size_t l, int which, void *workspace,
                      cudaStream_t stream)
{
    float *gradient = work->backend->block[BLOCK_GRADIENT] + work->backend->layer[l].offset;
    run(work, &pass->gradient[l], input_of(pass, l, which), pass->delta[l], gradient, workspace, stream);
}
