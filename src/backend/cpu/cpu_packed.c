/* Matrices packed for the products: memory for them, and a network's weights.
 *
 * Weights are packed when they change, not when they are used: in training each task of the second section packs the
 * rows that it has just stepped, while they are in its cache; chunks of rows, and tiles when scoring, find them ready.
 */
#include "backend/cpu/cpu_backend.h"

float *nd_packed_alloc(struct arena *arena, size_t depth, size_t columns)
{
    size_t panels = columns / ND_PANEL_MOST + (columns % ND_PANEL_MOST != 0), count;
    if (!nd_multiply(panels, ND_PANEL_MOST * sizeof(float), &count)) return NULL;
    return nd_arena_alloc(arena, depth, count);
}

static void pack_direct(const struct cpu_backend *backend, const struct weight_block *block)
{
    const struct plan *plan = backend->plan;
    const float *weight = backend->block[BLOCK_PARAMETERS] + plan->tensor[nd_direct_index(plan)].offset;
    if (backend->forward_direct)
        backend->products->pack_transpose(plan->inputs, plan->outputs, block->first, block->count, weight,
                                          backend->forward_direct);
}

void nd_cpu_pack_block(const struct cpu_backend *backend, const struct weight_block *block)
{
    size_t l = block->layer;
    if (block->kind == WEIGHT_DIRECT) pack_direct(backend, block);
    if (block->kind != WEIGHT_LAYER) return;
    size_t inputs = nd_layer_inputs(backend->plan, l), outputs = nd_layer_outputs(backend->plan, l);
    const float *weight = backend->block[BLOCK_PARAMETERS] + backend->plan->tensor[nd_weight_index(l)].offset;
    if (backend->forward[l])
        backend->products->pack_transpose(inputs, outputs, block->first, block->count, weight, backend->forward[l]);
    if (backend->backward[l])
        backend->products->pack(outputs, inputs, block->first, block->count, weight + block->first * inputs, inputs,
                                backend->backward[l]);
}

static void pack_task(void *argument, size_t task, unsigned worker)
{
    const struct cpu_backend *backend = argument;
    (void)worker;
    nd_cpu_pack_block(backend, &backend->blocks[task]);
}

/* Memory for one layer in one direction, unless it is there. */
static bool need(struct cpu_backend *backend, float **packed, size_t depth, size_t columns)
{
    if (*packed) return true;
    *packed = nd_packed_alloc(&backend->arena, depth, columns);
    backend->packed_current = false;
    return *packed != NULL;
}

nade_status nd_cpu_pack_weights(nade_context *context, struct cpu_backend *backend, bool training)
{
    const struct plan *plan = backend->plan;
    for (size_t l = 0; l <= plan->layers; l++) {
        size_t inputs = nd_layer_inputs(plan, l), outputs = nd_layer_outputs(plan, l);
        bool hidden = l > 0 && l < plan->layers;
        if ((training || hidden) && !need(backend, &backend->forward[l], inputs, outputs))
            return nd_no_memory(context, "the packed weights");
        if (training && l > 0 && !need(backend, &backend->backward[l], outputs, inputs))
            return nd_no_memory(context, "the packed weights");
    }
    if (training && plan->direct && !need(backend, &backend->forward_direct, plan->inputs, plan->outputs))
        return nd_no_memory(context, "the packed weights");
    if (backend->packed_current) return NADE_OK;
    nd_parallel_for(backend->pool, backend->block_count, pack_task, backend);
    backend->packed_current = true;
    return NADE_OK;
}
