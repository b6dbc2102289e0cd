/* Residual networks on the CPU: the way of rows through the blocks and back, what they have beside layers, and the way
 * of a tile when scoring.
 *
 * A chunk's rows stay in three tiles of its worker: the stream, to which every block adds, and two that a block's
 * values alternate between.  Of the way forward only what the way back needs goes to the batch's buffers: norms' units,
 * the slopes of gelus with dropout's factors in them, and the layers' inputs packed for the weights' gradients.  What
 * comes back to the stream behind block b is delta[2b] of the layers. */
#include <string.h>

#include "backend/cpu/cpu_chain.h"
#include "backend/cpu/cpu_train.h"
#include "base/fault.h"

static const float *tensor_of(const struct cpu_backend *backend, size_t index)
{
    return backend->block[BLOCK_PARAMETERS] + backend->plan->tensor[index].offset;
}

static const float *bias_of(const struct cpu_backend *backend, size_t layer)
{
    return tensor_of(backend, nd_weight_index(layer) + 1);
}

bool nd_cpu_residual_reserve(struct cpu_backend *backend, struct arena *arena, size_t rows)
{
    struct residual_buffers *r = &backend->batch.residual;
    const struct plan *plan = backend->plan;
    size_t norms = plan->blocks + 1, stride = backend->stride[0], part = nd_cpu_part_rows(rows);
    r->unit = nd_arena_alloc(arena, norms, sizeof *r->unit);
    r->slope = nd_arena_alloc(arena, norms, sizeof *r->slope);
    r->inverse = nd_arena_alloc(arena, norms, rows * sizeof(float));
    r->parts = nd_arena_alloc(arena, (rows + part - 1) / part, 2 * norms * stride * sizeof(float));
    r->direct = nd_arena_alloc(arena, plan->direct ? rows : 0, backend->stride[plan->layers] * sizeof(float));
    if (!r->unit || !r->slope || !r->inverse || !r->parts || !r->direct) return false;
    for (size_t n = 0; n < norms; n++) {
        r->unit[n] = nd_arena_alloc(arena, rows, stride * sizeof(float));
        r->slope[n] = nd_arena_alloc(arena, rows, stride * sizeof(float));
        if (!r->unit[n] || !r->slope[n]) return false;
    }
    return true;
}

/* ---- forward ---------------------------------------------------------------------------------------------------- */

/* Rows of a chunk on their way. */
struct way {
    const struct batch_job *job;
    struct cpu_backend *backend;
    size_t first, rows, width, stride; /* width: units, stride: of their rows */
};

static struct way way_of(const struct batch_job *job, size_t first, size_t rows)
{
    struct cpu_backend *backend = job->backend;
    return (struct way){job, backend, first, rows, backend->plan->hidden[0], backend->stride[0]};
}

/* out = the products of a layer, without its bias; in is packed for the weight's gradient. */
static void pass_layer(const struct way *w, size_t layer, const float *in, size_t in_stride, float *out)
{
    const struct cpu_backend *backend = w->backend;
    size_t inputs = nd_layer_inputs(backend->plan, layer);
    backend->products->multiply(w->rows, inputs, nd_layer_outputs(backend->plan, layer), in, in_stride,
                                backend->forward[layer], out, backend->stride[layer]);
    if (w->job->gradients)
        backend->products->pack(w->job->rows, inputs, w->first, w->rows, in, in_stride, backend->batch.packed[layer]);
}

static void pass_norm(const struct way *w, size_t norm, const float *stream, float *out)
{
    struct residual_buffers *r = &w->backend->batch.residual;
    size_t index = nd_norm_index(w->backend->plan, norm);
    bool kept = w->job->gradients;
    w->backend->kernels->norm(w->rows, w->width, w->stride, stream, tensor_of(w->backend, index),
                              tensor_of(w->backend, index + 1), kept ? r->unit[norm] + w->first * w->stride : NULL,
                              kept ? r->inverse + norm * w->backend->batch.capacity + w->first : NULL, out);
}

/* values = drop(gelu(values + bias)) at a place of dropout. */
static void pass_gelu(const struct way *w, size_t place, const float *bias, float *values)
{
    const struct cpu_kernels *kernels = w->backend->kernels;
    const struct dropout_draw *dropout = &w->job->dropout;
    float *slopes = w->job->gradients ? w->backend->batch.residual.slope[place] + w->first * w->stride : NULL;
    kernels->gelu(w->rows, w->width, w->stride, bias, values, slopes);
    for (size_t r = 0; r < w->rows && slopes && dropout->threshold; r++)
        kernels->drop(dropout, (uint32_t)(w->job->first + w->first + r), (uint32_t)(place * w->width), w->width,
                      values + r * w->stride, slopes + r * w->stride);
}

/* The output layer's products and its bias, and the linear path's. */
static void pass_output(const struct way *w, const float *input, const float *last)
{
    struct cpu_backend *backend = w->backend;
    const struct plan *plan = backend->plan;
    size_t layer = plan->layers, stride = backend->stride[layer];
    float *outputs = backend->batch.delta[layer] + w->first * stride;
    pass_layer(w, layer, last, w->stride, outputs);
    if (!plan->direct) {
        backend->kernels->add_bias(w->rows, plan->outputs, stride, bias_of(backend, layer), outputs);
        return;
    }
    float *direct = backend->batch.residual.direct + w->first * stride;
    backend->products->multiply(w->rows, plan->inputs, plan->outputs, input, backend->input_stride,
                                backend->forward_direct, direct, stride);
    backend->kernels->add_rows(w->rows, plan->outputs, stride, bias_of(backend, layer), direct, outputs);
}

void nd_cpu_residual_forward(const struct batch_job *job, size_t first, size_t rows, struct worker_scratch *scratch)
{
    const struct way w = way_of(job, first, rows);
    struct cpu_backend *backend = job->backend;
    size_t blocks = backend->plan->blocks;
    const float *input = backend->batch.input + first * backend->input_stride;
    float *stream = scratch->tile[0], *one = scratch->tile[1], *other = scratch->tile[2];
    pass_layer(&w, 0, input, backend->input_stride, stream);
    backend->kernels->add_bias(rows, w.width, w.stride, bias_of(backend, 0), stream);
    for (size_t b = 0; b < blocks; b++) {
        size_t up = 2 * b + 1, down = 2 * b + 2;
        pass_norm(&w, b, stream, one);
        pass_layer(&w, up, one, w.stride, other);
        pass_gelu(&w, b, bias_of(backend, up), other);
        pass_layer(&w, down, other, w.stride, one);
        backend->kernels->add_rows(rows, w.width, w.stride, bias_of(backend, down), one, stream);
    }
    pass_norm(&w, blocks, stream, one);
    pass_gelu(&w, blocks, NULL, one);
    pass_output(&w, input, one);
}

const float *nd_cpu_pass_blocks(const struct cpu_backend *backend, struct worker_scratch *scratch, size_t lines)
{
    const struct plan *plan = backend->plan;
    const struct cpu_kernels *kernels = backend->kernels;
    size_t width = plan->hidden[0], stride = backend->stride[0];
    float *stream = scratch->tile[0], *one = scratch->tile[1], *other = scratch->tile[2];
    for (size_t b = 0; b <= plan->blocks; b++) {
        size_t index = nd_norm_index(plan, b), up = 2 * b + 1, down = 2 * b + 2;
        kernels->norm(lines, width, stride, stream, tensor_of(backend, index), tensor_of(backend, index + 1), NULL,
                      NULL, one);
        if (b == plan->blocks) break;
        backend->products->multiply(lines, width, width, one, stride, backend->forward[up], other, stride);
        kernels->gelu(lines, width, stride, bias_of(backend, up), other, NULL);
        backend->products->multiply(lines, width, width, other, stride, backend->forward[down], one, stride);
        kernels->add_rows(lines, width, stride, bias_of(backend, down), one, stream);
    }
    kernels->gelu(lines, width, stride, NULL, one, NULL);
    return one;
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

static float *delta_of(const struct way *w, size_t layer)
{
    return w->backend->batch.delta[layer] + w->first * w->backend->stride[layer];
}

/* below = what arrives at a layer's inputs. */
static void back_layer(const struct way *w, size_t layer, float *below)
{
    const struct cpu_backend *backend = w->backend;
    backend->products->multiply(w->rows, nd_layer_outputs(backend->plan, layer), w->width, delta_of(w, layer),
                                backend->stride[layer], backend->backward[layer], below, w->stride);
}

static void back_gelu(const struct way *w, size_t place, float *delta)
{
    const float *slopes = w->backend->batch.residual.slope[place] + w->first * w->stride;
    w->backend->kernels->multiply_rows(w->rows, w->width, w->stride, slopes, delta);
}

/* Where what part number `part` of the batch adds to the gradients of a norm's weight lies; what it adds to its bias's
 * is a stride further. */
static float *part_of(const struct cpu_backend *backend, size_t part, size_t norm)
{
    return backend->batch.residual.parts + (part * (backend->plan->blocks + 1) + norm) * 2 * backend->stride[0];
}

/* delta arrives behind norm number `norm`: what comes to the stream before it is added to above, NULL: nothing. */
static void back_norm(const struct way *w, size_t norm, const float *delta, const float *above)
{
    const struct cpu_backend *backend = w->backend;
    const struct residual_buffers *r = &backend->batch.residual;
    const float *weight = tensor_of(backend, nd_norm_index(backend->plan, norm));
    size_t part = nd_cpu_part_rows(w->job->rows);
    for (size_t at = 0; at < w->rows; at += part) {
        size_t first = w->first + at, rows = w->rows - at < part ? w->rows - at : part, before = at * w->stride;
        float *gradient = part_of(backend, first / part, norm);
        memset(gradient, 0, 2 * w->stride * sizeof *gradient);
        backend->kernels->norm_back(rows, w->width, w->stride, delta + before, weight,
                                    r->unit[norm] + first * w->stride,
                                    r->inverse + norm * backend->batch.capacity + first, above ? above + before : NULL,
                                    delta_of(w, 2 * norm) + before, gradient, gradient + w->stride);
    }
}

void nd_cpu_residual_backward(const struct batch_job *job, size_t first, size_t rows, struct worker_scratch *scratch)
{
    const struct way w = way_of(job, first, rows);
    const struct plan *plan = job->backend->plan;
    float *arrived = scratch->tile[0];
    back_layer(&w, plan->layers, arrived);
    back_gelu(&w, plan->blocks, arrived);
    back_norm(&w, plan->blocks, arrived, NULL);
    for (size_t b = plan->blocks; b-- > 0;) {
        size_t up = 2 * b + 1, down = 2 * b + 2;
        back_layer(&w, down, delta_of(&w, up));
        back_gelu(&w, b, delta_of(&w, up));
        back_layer(&w, up, arrived);
        back_norm(&w, b, arrived, ND_FAULT(FAULT_STREAM_CUT) ? NULL : delta_of(&w, down));
    }
}

/* ---- second section --------------------------------------------------------------------------------------------- */

static void make_direct_gradient(const struct batch_job *job, const struct weight_block *block, unsigned worker)
{
    struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    size_t offset = plan->tensor[nd_direct_index(plan)].offset + block->first * plan->inputs;
    backend->products->multiply_transposed(
        block->count, job->rows, plan->inputs, backend->batch.delta[plan->layers] + block->first,
        backend->stride[plan->layers], backend->batch.packed[0], backend->block[BLOCK_GRADIENT] + offset, plan->inputs,
        backend->scratch[worker].space);
}

/* Adds the parts up, in their order. */
static void make_norm_gradients(const struct batch_job *job, const struct weight_block *block)
{
    struct cpu_backend *backend = job->backend;
    size_t rows = nd_cpu_part_rows(job->rows), parts = ND_FAULT(FAULT_NORM_PART) ? 1 : (job->rows + rows - 1) / rows;
    for (size_t i = 0; i < 2; i++) {
        size_t tensor = nd_norm_index(backend->plan, block->layer) + i;
        float *gradient = backend->block[BLOCK_GRADIENT] + backend->plan->tensor[tensor].offset + block->first;
        backend->kernels->sum_rows(parts, block->count, (backend->plan->blocks + 1) * 2 * backend->stride[0],
                                   part_of(backend, 0, block->layer) + i * backend->stride[0] + block->first, gradient);
    }
}

void nd_cpu_residual_weights(const struct batch_job *job, const struct weight_block *block, unsigned worker)
{
    const struct plan *plan = job->backend->plan;
    bool direct = block->kind == WEIGHT_DIRECT;
    if (job->makes_gradients && direct) make_direct_gradient(job, block, worker);
    if (job->makes_gradients && !direct) make_norm_gradients(job, block);
    if (!job->takes_steps) return;
    if (direct) {
        nd_cpu_take_step(job, nd_direct_index(plan), block->first * plan->inputs, block->count * plan->inputs);
        nd_cpu_pack_block(job->backend, block);
        return;
    }
    nd_cpu_take_step(job, nd_norm_index(plan, block->layer), block->first, block->count);
    nd_cpu_take_step(job, nd_norm_index(plan, block->layer) + 1, block->first, block->count);
}
