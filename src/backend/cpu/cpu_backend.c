#include "backend/cpu/cpu_backend.h"

#include <stdlib.h>
#include <string.h>

#include "backend/activation.h"
#include "base/fault.h"

enum { BLOCK_ROWS = 64 };

/* Rows begin at cache lines, and those of a tile not all at the same place of the cache. */
static size_t stride_for(size_t count)
{
    size_t stride = (count + 15) / 16 * 16;
    return stride % 256 == 0 ? stride + 16 : stride;
}

size_t nd_cpu_part_rows(size_t batch)
{
    enum { PARTS = 16, FEWEST = 32, MOST = 128 };
    size_t rows = (batch + PARTS - 1) / PARTS;
    rows = rows < FEWEST ? FEWEST : rows > MOST ? MOST : rows;
    size_t parts = (batch + rows - 1) / rows;
    return (batch + parts - 1) / parts;
}

size_t nd_cpu_chunk_rows(const struct cpu_backend *backend, size_t batch)
{
    enum { MOST = 256 };
    const size_t turns = 2;
    size_t part = nd_cpu_part_rows(batch), most = (backend->plan->blocks ? ND_TILE : MOST) / part;
    size_t parts = (batch + part - 1) / part / (turns * nd_pool_threads(backend->pool));
    return part * (parts < 1 || most < 1 ? 1 : parts < most ? parts : most);
}

static void close_cpu(struct backend *opaque)
{
    struct cpu_backend *backend = (void *)opaque;
    if (!backend) return;
    nd_pool_free(backend->pool);
    nd_arena_free(&backend->batch.arena);
    struct arena arena = backend->arena;
    nd_arena_free(&arena);
}

static size_t blocks_for(size_t rows)
{
    return (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

static void add_blocks(struct cpu_backend *backend, enum weight_kind kind, size_t layer, size_t rows)
{
    for (size_t first = 0; first < rows; first += BLOCK_ROWS) {
        size_t left = rows - first;
        backend->blocks[backend->block_count++] =
            (struct weight_block){kind, layer, first, left < BLOCK_ROWS ? left : BLOCK_ROWS, 0};
    }
}

static size_t weights_of(const struct plan *plan, const struct weight_block *block)
{
    if (block->kind == WEIGHT_NORM) return block->count;
    return block->count * (block->kind == WEIGHT_DIRECT ? plan->inputs : nd_layer_inputs(plan, block->layer));
}

static int compare_blocks(const void *one, const void *other)
{
    const struct weight_block *a = *(const struct weight_block *const *)one;
    const struct weight_block *b = *(const struct weight_block *const *)other;
    if (a->weights != b->weights) return a->weights < b->weights ? 1 : -1;
    return a < b ? -1 : a > b;
}

/* Large blocks first: what is handed out last should not keep one thread busy when the others are done. */
static void order_blocks(struct cpu_backend *backend)
{
    for (size_t i = 0; i < backend->block_count; i++) {
        backend->blocks[i].weights = weights_of(backend->plan, &backend->blocks[i]);
        backend->large_first[i] = &backend->blocks[i];
    }
    qsort(backend->large_first, backend->block_count, sizeof *backend->large_first, compare_blocks);
}

static bool list_blocks(struct cpu_backend *backend, struct arena *arena)
{
    const struct plan *plan = backend->plan;
    size_t norms = plan->blocks ? plan->blocks + 1 : 0, direct = plan->direct ? plan->outputs : 0;
    size_t count = (norms ? norms * blocks_for(plan->hidden[0]) : 0) + blocks_for(direct);
    for (size_t l = 0; l <= plan->layers; l++) count += blocks_for(nd_layer_outputs(plan, l));
    backend->blocks = nd_arena_alloc(arena, count, sizeof *backend->blocks);
    backend->large_first = nd_arena_alloc(arena, count, sizeof *backend->large_first);
    if (!backend->blocks || !backend->large_first) return false;
    for (size_t l = 0; l <= plan->layers; l++) add_blocks(backend, WEIGHT_LAYER, l, nd_layer_outputs(plan, l));
    add_blocks(backend, WEIGHT_DIRECT, plan->layers, direct);
    for (size_t n = 0; n < norms; n++) add_blocks(backend, WEIGHT_NORM, n, plan->hidden[0]);
    order_blocks(backend);
    return true;
}

static bool allocate_scratch(struct cpu_backend *backend, struct arena *arena, unsigned threads)
{
    const struct plan *plan = backend->plan;
    size_t widest_block = backend->widest_block, widest_hidden = 1;
    for (size_t l = 0; l < plan->layers; l++)
        if (backend->stride[l] > widest_hidden) widest_hidden = backend->stride[l];
    backend->scratch = nd_arena_alloc(arena, threads, sizeof *backend->scratch);
    if (!backend->scratch) return false;
    for (unsigned t = 0; t < threads; t++) {
        struct worker_scratch *s = &backend->scratch[t];
        s->present = nd_arena_alloc(arena, plan->columns, 1);
        s->observed = nd_arena_alloc(arena, plan->columns, 1);
        s->keys = nd_arena_alloc(arena, nd_key_space(plan->columns), sizeof *s->keys);
        s->block = nd_arena_alloc(arena, widest_block, sizeof *s->block);
        s->block_delta = nd_arena_alloc(arena, widest_block, sizeof *s->block_delta);
        s->sum = nd_arena_alloc(arena, backend->chain_width, sizeof *s->sum);
        s->direct =
            nd_arena_alloc(arena, plan->direct || nd_is_linear(plan) ? ND_TILE : 0, widest_block * sizeof *s->direct);
        for (size_t i = 0; i < 3; i++)
            s->tile[i] = nd_arena_alloc(arena, i < 2 || plan->blocks ? ND_TILE : 0, widest_hidden * sizeof(float));
        s->space = nd_arena_alloc(arena, 1, sizeof *s->space);
        if (!s->present || !s->observed || !s->keys || !s->block || !s->block_delta || !s->sum || !s->direct ||
            !s->tile[0] || !s->tile[1] || !s->tile[2] || !s->space)
            return false;
    }
    return true;
}

static float *allocate_block(const struct plan *plan, struct arena *arena)
{
    return nd_arena_alloc(arena, plan->parameters, sizeof(float));
}

static bool allocate_all(struct cpu_backend *backend, struct arena *arena, unsigned threads)
{
    const struct plan *plan = backend->plan;
    backend->stride = nd_arena_alloc(arena, plan->layers + 1, sizeof *backend->stride);
    backend->forward = nd_arena_alloc(arena, plan->layers + 1, sizeof *backend->forward);
    backend->backward = nd_arena_alloc(arena, plan->layers + 1, sizeof *backend->backward);
    if (!backend->stride || !backend->forward || !backend->backward) return false;
    backend->widest_block = nd_widest_block(plan);
    backend->input_stride = stride_for(plan->inputs);
    backend->chain_width = nd_layer_outputs(plan, 0) + (plan->direct ? plan->outputs : 0);
    for (size_t l = 0; l <= plan->layers; l++) backend->stride[l] = stride_for(nd_layer_outputs(plan, l));
    backend->block[BLOCK_PARAMETERS] = allocate_block(plan, arena);
    if (!backend->block[BLOCK_PARAMETERS]) return false;
    return list_blocks(backend, arena) && allocate_scratch(backend, arena, threads);
}

static nade_status open_cpu(nade_context *context, const struct plan *plan, nade_precision precision,
                            struct backend **opened)
{
    struct arena arena = {context->allocator, NULL};
    struct cpu_backend *backend = nd_arena_alloc(&arena, 1, sizeof *backend);
    if (!backend) return nd_no_memory(context, "the network");
    backend->plan = plan;
    backend->kernels = nd_cpu_kernels();
    bool bf16 = precision == NADE_PRECISION_BF16 && !ND_FAULT(FAULT_BF16_IGNORED);
    backend->products = bf16 ? nd_cpu_products_bf16() : nd_cpu_products();
    backend->batch.arena.allocator = context->allocator;
    backend->pool = nd_pool_create(&context->allocator, context->threads);
    bool good = backend->pool && allocate_all(backend, &arena, context->threads);
    backend->arena = arena;
    if (!good) {
        close_cpu((struct backend *)backend);
        return nd_no_memory(context, "the network");
    }
    *opened = (struct backend *)backend;
    return NADE_OK;
}

static bool allocate_batch(struct cpu_backend *backend, size_t rows)
{
    const struct plan *plan = backend->plan;
    struct batch_buffers *batch = &backend->batch;
    struct arena *arena = &batch->arena;
    size_t layer_rows = nd_cpu_walks(plan) ? 0 : rows; /* a walk keeps no layers */
    batch->input = nd_arena_alloc(arena, layer_rows, backend->input_stride * sizeof(float));
    batch->hidden = nd_arena_alloc(arena, plan->layers, sizeof *batch->hidden);
    batch->sums = nd_arena_alloc(arena, plan->layers, sizeof *batch->sums);
    batch->delta = nd_arena_alloc(arena, plan->layers + 1, sizeof *batch->delta);
    batch->packed = nd_arena_alloc(arena, plan->layers + 1, sizeof *batch->packed);
    if (!batch->input || !batch->hidden || !batch->sums || !batch->delta || !batch->packed) return false;
    for (size_t l = 0; l <= plan->layers; l++) {
        size_t bytes = backend->stride[l] * sizeof(float);
        batch->delta[l] = nd_arena_alloc(arena, l < plan->layers ? layer_rows : rows, bytes);
        batch->packed[l] = nd_packed_alloc(arena, layer_rows, nd_layer_inputs(plan, l));
        if (!batch->delta[l] || !batch->packed[l]) return false;
        if (l == plan->layers || plan->blocks) continue;
        batch->hidden[l] = nd_arena_alloc(arena, layer_rows, bytes);
        if (!batch->hidden[l]) return false;
        if (!nd_slope_reads_sum(plan->activation)) continue;
        batch->sums[l] = nd_arena_alloc(arena, layer_rows, bytes);
        if (!batch->sums[l]) return false;
    }
    if (nd_cpu_walks(plan) && !nd_cpu_fixed_reserve(backend, arena)) return false;
    if (plan->blocks && !nd_cpu_residual_reserve(backend, arena, rows)) return false;
    batch->x = nd_arena_alloc(arena, rows, plan->columns * sizeof(float));
    batch->target = nd_arena_alloc(arena, rows, plan->columns);
    batch->factor = nd_arena_alloc(arena, rows, sizeof *batch->factor);
    batch->weight = nd_arena_alloc(arena, rows, sizeof *batch->weight);
    batch->loss = nd_arena_alloc(arena, rows, sizeof *batch->loss);
    return batch->x && batch->target && batch->factor && batch->weight && batch->loss;
}

nade_status nd_cpu_need_block(nade_context *context, struct cpu_backend *backend, enum block block)
{
    if (!backend->block[block]) backend->block[block] = allocate_block(backend->plan, &backend->arena);
    return backend->block[block] ? NADE_OK : nd_no_memory(context, "the network's training");
}

nade_status nd_cpu_reserve(nade_context *context, struct cpu_backend *backend, size_t rows)
{
    struct batch_buffers *batch = &backend->batch;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        if (block == BLOCK_AVERAGE) continue; /* few have one */
        nade_status status = nd_cpu_need_block(context, backend, (enum block)block);
        if (status != NADE_OK) return status;
    }
    if (rows <= batch->capacity) return NADE_OK;
    nd_arena_free(&batch->arena);
    batch->capacity = 0;
    batch->sent = NULL;
    if (!allocate_batch(backend, rows)) return nd_no_memory(context, "a batch of rows");
    batch->capacity = rows;
    return NADE_OK;
}

static nade_status set_block_cpu(nade_context *context, struct backend *opaque, enum block block, const float *values)
{
    struct cpu_backend *backend = (void *)opaque;
    nade_status status = nd_cpu_need_block(context, backend, block);
    if (status != NADE_OK) return status;
    size_t bytes = backend->plan->parameters * sizeof(float);
    if (values)
        memcpy(backend->block[block], values, bytes);
    else
        memset(backend->block[block], 0, bytes);
    if (block == BLOCK_PARAMETERS) backend->first_transposed_current = backend->packed_current = false;
    return NADE_OK;
}

static nade_status get_block_cpu(nade_context *context, struct backend *opaque, enum block block, float *values)
{
    struct cpu_backend *backend = (void *)opaque;
    nade_status status = nd_cpu_need_block(context, backend, block);
    if (status != NADE_OK) return status;
    memcpy(values, backend->block[block], backend->plan->parameters * sizeof(float));
    return NADE_OK;
}

static nade_status exchange_cpu(nade_context *context, struct backend *opaque)
{
    struct cpu_backend *backend = (void *)opaque;
    nade_status status = nd_cpu_need_block(context, backend, BLOCK_AVERAGE);
    if (status != NADE_OK) return status;
    float *parameters = backend->block[BLOCK_PARAMETERS];
    backend->block[BLOCK_PARAMETERS] = backend->block[BLOCK_AVERAGE];
    backend->block[BLOCK_AVERAGE] = parameters;
    backend->first_transposed_current = backend->packed_current = false;
    return NADE_OK;
}

static void alone_cpu(struct backend *opaque, bool alone)
{
    struct cpu_backend *backend = (void *)opaque;
    nd_pool_alone(backend->pool, alone);
}

static nade_status set_data_cpu(nade_context *context, struct backend *opaque, enum data_role role,
                                const struct encoded_rows *cells)
{
    struct cpu_backend *backend = (void *)opaque;
    (void)context;
    backend->data[role] = *cells;
    if (role == DATA_TRAIN) backend->shared = NULL;
    return NADE_OK;
}

static nade_status set_shared_rows_cpu(nade_context *context, struct backend *opaque, const struct shared_rows *rows)
{
    struct cpu_backend *backend = (void *)opaque;
    (void)context;
    backend->data[DATA_TRAIN] = rows->all;
    backend->shared = rows;
    return NADE_OK;
}

const struct backend_entries nd_cpu_entries = {
    .name = "cpu",
    .usual = NADE_PRECISION_FP32,
    .slice = ND_HOST_SLICE,
    .residual = true,
    .linear = true,
    .shares = true,
    .open = open_cpu,
    .close = close_cpu,
    .set_block = set_block_cpu,
    .get_block = get_block_cpu,
    .set_data = set_data_cpu,
    .set_shared_rows = set_shared_rows_cpu,
    .set_rows = nd_host_set_rows,
    .train_updates = nd_cpu_train_updates,
    .alone = alone_cpu,
    .exchange = exchange_cpu,
    .validate = nd_cpu_validate,
    .loss_and_gradients = nd_cpu_loss_and_gradients,
    .score_block = nd_cpu_score_block,
    .conditional_block = nd_cpu_conditional_block,
    .sample_block = nd_cpu_sample_block,
};
