#include "backend/cuda/train/cuda_pass.h"

#include <string.h>

#include "backend/activation.h"
#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/cuda_matrix.h"
#include "backend/cuda/train/cuda_losses.h"
#include "backend/cuda/train/cuda_residual_pass.h"
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

struct product_shape nd_pass_shape(const struct cuda_pass *pass, enum product_kind kind, const struct cuda_layer *layer,
                                   bool float_result)
{
    return (struct product_shape){
        .kind = kind,
        .rows = pass->rows,
        .units = layer->padded_rows,
        .inputs = layer->stride,
        .in_stride = layer->stride,
        .out_stride = layer->padded_rows,
        .weight_stride = layer->stride,
        .float_result = float_result,
    };
}

/* What the heads and a residual network's stream take is float whatever the operands are. */
static bool has_float_result(const struct cuda_backend *backend, enum product_kind kind, size_t l)
{
    if (kind == PRODUCT_GRADIENT || (kind == PRODUCT_FORWARD && l == backend->plan->layers)) return true;
    return backend->plan->blocks && (l % 2 == 0) == (kind == PRODUCT_FORWARD);
}

static struct product_shape shape_of(const struct cuda_backend *backend, const struct cuda_pass *pass,
                                     enum product_kind kind, size_t l)
{
    struct product_shape shape = nd_pass_shape(pass, kind, &backend->layer[l], has_float_result(backend, kind, l));
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

void *nd_pass_reserve(struct cuda_work *work, struct cuda_pass *pass, size_t rows, size_t size)
{
    void *memory = NULL;
    if (work->status == NADE_OK) work->status = nd_cuda_alloc(work->context, &memory, rows, size, "a batch of rows");
    if (memory) pass->owned[pass->owned_count++] = memory;
    return memory;
}

static void reserve_drawn(struct cuda_work *work, struct cuda_pass *pass, struct drawn_rows *drawn)
{
    const struct cuda_backend *backend = work->backend;
    size_t stride = backend->layer[0].stride, element = nd_cuda_element(backend);
    drawn->input = nd_pass_reserve(work, pass, pass->rows, stride * element);
    drawn->target = nd_pass_reserve(work, pass, pass->rows, backend->plan->columns * sizeof(float));
    drawn->weight = nd_pass_reserve(work, pass, pass->rows, sizeof(double));
    if (work->status == NADE_OK && !backend->plan->blocks)
        nd_work_note(
            work, nd_cuda_ones(drawn->input, backend->bf16, pass->rows, stride, backend->plan->inputs, backend->stream),
            "preparing a batch of rows");
}

static void reserve_layers(struct cuda_work *work, struct cuda_pass *pass)
{
    const struct cuda_backend *backend = work->backend;
    for (size_t l = 0; l < backend->plan->layers; l++) {
        size_t size = backend->layer[l].padded_rows * nd_cuda_element(backend);
        pass->hidden[l] = nd_pass_reserve(work, pass, pass->rows, size);
        pass->sum[l] = keeps_sums(backend, pass) ? nd_pass_reserve(work, pass, pass->rows, size) : pass->hidden[l];
        if (pass->gradients) pass->delta[l] = nd_pass_reserve(work, pass, pass->rows, size);
    }
}

static void reserve_ends(struct cuda_work *work, struct cuda_pass *pass)
{
    const struct cuda_backend *backend = work->backend;
    size_t layers = backend->plan->layers, width = backend->layer[layers].padded_rows;
    for (int which = 0; which < (pass->gradients ? ND_DRAWN : 1); which++)
        reserve_drawn(work, pass, &pass->drawn[which]);
    pass->outputs = nd_pass_reserve(work, pass, pass->rows, width * sizeof(float));
    if (pass->gradients)
        pass->delta[layers] =
            backend->bf16 ? nd_pass_reserve(work, pass, pass->rows, width * sizeof(uint16_t)) : pass->outputs;
    pass->loss = nd_pass_reserve(work, pass, pass->rows, sizeof(double));
}

static bool list_layers(struct cuda_pass *pass, size_t layers)
{
    enum {
        ENDS = 10,
        EACH = 4,
        WAY_BACK = 4
    }; /* the most that is reserved, of all, of a layer, and by residual networks */
    pass->layers = layers;
    pass->owned = nd_arena_alloc(&pass->arena, ENDS + EACH * layers + WAY_BACK, sizeof *pass->owned);
    pass->hidden = nd_arena_alloc(&pass->arena, layers, sizeof *pass->hidden);
    pass->sum = nd_arena_alloc(&pass->arena, layers, sizeof *pass->sum);
    pass->delta = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->delta);
    pass->forward = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->forward);
    pass->backward = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->backward);
    pass->gradient = nd_arena_alloc(&pass->arena, layers + 1, sizeof *pass->gradient);
    return pass->owned && pass->hidden && pass->sum && pass->delta && pass->forward && pass->backward && pass->gradient;
}

nade_status nd_pass_build(nade_context *context, struct cuda_backend *backend, size_t rows, bool gradients,
                          struct cuda_pass *pass)
{
    struct cuda_work work = {context, backend, NADE_OK};
    nd_pass_free(pass);
    pass->arena = (struct arena){context->allocator, NULL};
    pass->rows = rows;
    pass->gradients = gradients;
    if (list_layers(pass, backend->plan->layers)) {
        reserve_ends(&work, pass);
        if (backend->plan->blocks)
            nd_residual_build(&work, pass);
        else
            reserve_layers(&work, pass);
        plan_products(&work, pass);
    } else {
        work.status = nd_no_memory(context, "a batch of rows");
    }
    nd_work_note(&work, cudaStreamSynchronize(backend->stream), "preparing a batch of rows");
    if (work.status != NADE_OK) nd_pass_free(pass);
    return work.status;
}

void nd_pass_free(struct cuda_pass *pass)
{
    if (pass->rows == 0) return;
    for (size_t l = 0; l <= pass->layers && pass->forward && pass->backward && pass->gradient; l++) {
        nd_product_free(&pass->forward[l]);
        nd_product_free(&pass->backward[l]);
        nd_product_free(&pass->gradient[l]);
    }
    nd_residual_free(pass);
    for (size_t i = 0; i < pass->owned_count; i++) nd_cuda_free(pass->owned[i]);
    nd_arena_free(&pass->arena);
    memset(pass, 0, sizeof *pass);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void run(struct cuda_work *work, const struct product *product, const void *left, const void *right,
                const void *base, void *result, void *workspace, cudaStream_t stream)
{
    if (work->status == NADE_OK)
        work->status = nd_product_add(work->context, &work->backend->library, product, left, right, base, result,
                                      workspace, stream);
}

static const void *input_of(const struct cuda_pass *pass, size_t layer, int which)
{
    return layer == 0 ? pass->drawn[which].input : pass->hidden[layer - 1];
}

void nd_pass_forward(struct cuda_work *work, struct cuda_pass *pass, size_t l, int which, void *workspace,
                     cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    bool residual = backend->plan->blocks > 0;
    void *out = residual ? nd_residual_result(pass, l) : l == pass->layers ? (void *)pass->outputs : pass->sum[l];
    run(work, &pass->forward[l], input_of(pass, l, which), nd_cuda_operand_weight(backend, &backend->layer[l]),
        residual ? nd_residual_base(backend, pass, l) : NULL, out, workspace, stream);
}

void nd_pass_activate(struct cuda_work *work, struct cuda_pass *pass, size_t l, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    const struct cuda_layer *layer = &backend->layer[l];
    cudaError_t error = cudaSuccess;
    if (work->status != NADE_OK) return;
    if (backend->plan->blocks)
        error = nd_residual_activate(backend, pass, l, stream);
    else if (l < pass->layers && !is_relu(backend))
        error = nd_cuda_activate((int)backend->plan->activation, pass->sum[l], pass->hidden[l], backend->bf16,
                                 pass->rows, layer->rows, layer->padded_rows, stream);
    nd_work_note(work, error, "an activation");
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
    void *below = backend->plan->blocks && l % 2 ? (void *)pass->residual.arrived : pass->delta[l - 1];
    run(work, &pass->backward[l], pass->delta[l], nd_cuda_operand_weight(backend, &backend->layer[l]), NULL, below,
        workspace, stream);
}

void nd_pass_slope(struct cuda_work *work, struct cuda_pass *pass, size_t l, cudaStream_t stream)
{
    const struct cuda_backend *backend = work->backend;
    const struct cuda_layer *below = &backend->layer[l - 1];
    if (work->status != NADE_OK) return;
    nd_work_note(work,
                 backend->plan->blocks
                     ? nd_residual_slope(backend, pass, l, stream)
                     : nd_cuda_slope((int)backend->plan->activation,
                                     ND_CUDA_FAULT(FAULT_CUDA_SLOPE_OF_VALUE) ? pass->hidden[l - 1] : pass->sum[l - 1],
                                     pass->hidden[l - 1], pass->delta[l - 1], backend->bf16,
                                     pass->rows * below->padded_rows, stream),
                 "an activation");
}

void nd_pass_gradient(struct cuda_work *work, struct cuda_pass *pass, size_t l, int which, void *workspace,
                      cudaStream_t stream)
{
    float *gradient = work->backend->block[BLOCK_GRADIENT] + work->backend->layer[l].offset;
    run(work, &pass->gradient[l], input_of(pass, l, which), pass->delta[l], NULL, gradient, workspace, stream);
}
