#include "backend/cuda/cuda_backend.h"

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/score/cuda_score.h"
#include "backend/cuda/train/cuda_training.h"
#include "base/context.h"

/* Places the weights of a layer and, where they are not a residual network's, its bias. */
static void place_layer(struct cuda_backend *backend, size_t l, struct cuda_layer *layer)
{
    const struct plan *plan = backend->plan;
    bool last = l == plan->layers, plain = plan->blocks > 0;
    layer->rows = nd_layer_outputs(plan, l);
    layer->columns = nd_layer_inputs(plan, l);
    layer->padded_rows = last || plain ? nd_cuda_round_up(layer->rows) : nd_cuda_operand_stride(layer->rows);
    layer->stride = plain ? nd_cuda_round_up(layer->columns) : nd_cuda_operand_stride(layer->columns);
    layer->offset = backend->block_size;
    backend->block_size += layer->padded_rows * layer->stride;
    if (plain) return;
    layer->bias_offset = last ? backend->block_size : layer->offset + layer->columns;
    layer->bias_stride = last ? 1 : layer->stride;
    if (last) backend->block_size += layer->padded_rows;
}

static void place_vectors(struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    size_t width = nd_cuda_width(backend), first = backend->block_size;
    backend->vector_offset = first;
    for (size_t l = 0; l <= plan->layers; l++) {
        size_t row = l == plan->layers ? nd_cuda_vector_rows(backend) : l / 2 * 4 + 2 + l % 2;
        backend->layer[l].bias_offset = first + row * width;
        backend->layer[l].bias_stride = 1;
    }
    backend->vector_size = nd_cuda_vector_rows(backend) * width + backend->layer[plan->layers].padded_rows;
    backend->block_size += backend->vector_size;
}

static void place_direct(struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    backend->direct = (struct cuda_layer){
        .rows = plan->outputs,
        .columns = plan->inputs,
        .padded_rows = nd_cuda_round_up(plan->outputs),
        .stride = backend->layer[0].stride,
        .offset = backend->block_size,
    };
    backend->block_size += backend->direct.padded_rows * backend->direct.stride;
}

/* Lays the layers out in a block; see the header. */
static bool lay_out(struct cuda_backend *backend)
{
    const struct plan *plan = backend->plan;
    backend->layer = nd_arena_alloc(&backend->arena, plan->layers + 1, sizeof *backend->layer);
    if (!backend->layer) return false;
    for (size_t l = 0; l <= plan->layers; l++) place_layer(backend, l, &backend->layer[l]);
    backend->scale_offset = backend->block_size;
    if (plan->rescale) backend->block_size += nd_cuda_round_up(plan->columns * ND_SCALE_STRIDE);
    if (plan->blocks) place_vectors(backend);
    if (plan->direct) place_direct(backend);
    return true;
}

static nade_status open_all(nade_context *context, struct cuda_backend *backend)
{
    int least = 0, greatest = 0; /* what follows in an update waits for this stream: it goes first */
    nade_status status = nd_cuda_plan_copy(context, &backend->arena, backend->plan, &backend->device);
    if (status == NADE_OK) status = nd_cuda_need_block(context, backend, BLOCK_PARAMETERS);
    if (status == NADE_OK && backend->bf16)
        status = nd_cuda_alloc(context, &backend->shadow, backend->block_size, 2, "the network");
    if (status == NADE_OK)
        status = nd_cuda_check(context, cudaDeviceGetStreamPriorityRange(&least, &greatest), "opening a stream");
    if (status == NADE_OK)
        status = nd_cuda_check(context, cudaStreamCreateWithPriority(&backend->stream, cudaStreamNonBlocking, greatest),
                               "opening a stream");
    if (status == NADE_OK) status = nd_product_open(context, backend->precision, &backend->library);
    return status;
}

nade_status nd_cuda_open(nade_context *context, const struct plan *plan, nade_precision precision,
                         struct cuda_backend **opened)
{
    struct arena arena = {context->allocator, NULL};
    struct cuda_backend *backend = nd_arena_alloc(&arena, 1, sizeof *backend);
    if (!backend) return nd_no_memory(context, "the network");
    backend->arena = arena;
    backend->plan = plan;
    backend->precision = precision == NADE_PRECISION_AUTO ? NADE_PRECISION_TF32 : precision;
    backend->bf16 = precision == NADE_PRECISION_BF16;
    nade_status status = lay_out(backend) ? open_all(context, backend) : nd_no_memory(context, "the network");
    if (status == NADE_OK)
        *opened = backend;
    else
        nd_cuda_close(backend);
    return status;
}

void nd_cuda_close(struct cuda_backend *backend)
{
    if (!backend) return;
    if (backend->stream) cudaStreamSynchronize(backend->stream);
    nd_training_free(backend);
    nd_score_free(backend);
    nd_product_close(&backend->library);
    for (int block = 0; block < BLOCK_COUNT; block++) nd_cuda_free(backend->block[block]);
    for (int role = 0; role < DATA_ROLES; role++) nd_cuda_free(backend->data[role].cells);
    nd_cuda_free(backend->shadow);
    nd_cuda_free(backend->packed);
    nd_cuda_plan_free(&backend->device);
    if (backend->stream) cudaStreamDestroy(backend->stream);
    struct arena arena = backend->arena;
    nd_arena_free(&arena);
}
