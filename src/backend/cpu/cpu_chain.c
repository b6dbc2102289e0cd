#include "backend/cpu/cpu_chain.h"

#include <string.h>

#include "base/fault.h"
#include "model/head.h"
#include "model/mixture.h"

static const float *tensor_of(const struct cpu_backend *backend, size_t index)
{
    return backend->block[BLOCK_PARAMETERS] + backend->plan->tensor[index].offset;
}

/* (rows, inputs) becomes columns first … first+rows-1 of (inputs, chain_width). */
static void transpose(struct cpu_backend *backend, size_t tensor, size_t first)
{
    const struct tensor_view *view = &backend->plan->tensor[tensor];
    const float *weight = tensor_of(backend, tensor);
    float *to = backend->first_transposed + first;
    for (size_t i = 0; i < view->columns; i++, to += backend->chain_width)
        for (size_t h = 0; h < view->rows; h++) to[h] = weight[h * view->columns + i];
}

/* An input's weights lie together. */
static nade_status transpose_first(nade_context *context, struct cpu_backend *backend)
{
    const struct plan *plan = backend->plan;
    if (backend->first_transposed_current) return NADE_OK;
    if (!backend->first_transposed)
        backend->first_transposed = nd_arena_alloc(&backend->arena, plan->inputs, backend->chain_width * sizeof(float));
    if (!backend->first_transposed) return nd_no_memory(context, "the first layer");
    transpose(backend, nd_weight_index(0), 0);
    if (plan->direct) transpose(backend, nd_direct_index(plan), plan->hidden[0]);
    backend->first_transposed_current = true;
    return NADE_OK;
}

nade_status nd_cpu_prepare_chain(nade_context *context, struct cpu_backend *backend)
{
    nade_status status = transpose_first(context, backend);
    return status == NADE_OK ? nd_cpu_pack_weights(context, backend, false) : status;
}

void nd_cpu_begin_sum(const struct cpu_backend *backend, double *sum)
{
    const float *bias = tensor_of(backend, nd_weight_index(0) + 1);
    size_t units = nd_layer_outputs(backend->plan, 0);
    for (size_t i = 0; i < units; i++) sum[i] = (double)bias[i];
    for (size_t i = units; i < backend->chain_width; i++) sum[i] = 0;
}

/* The same for a column whose head makes its inputs; mask as below. */
static void observe_own(const struct cpu_backend *backend, const struct plan_column *c, float x, const float *mask,
                        double *sum)
{
    size_t width = backend->chain_width;
    float inputs[ND_OWN_INPUTS_MOST];
    c->head->inputs(c, (double)x, inputs);
    for (size_t i = 0; i < c->input_width; i++) {
        const float *value = backend->first_transposed + (c->input + i) * width;
        if (i == 0 || inputs[i] != 0)
            backend->kernels->accumulate(width, (double)inputs[i], value, i == 0 ? mask : NULL, sum);
    }
}

void nd_cpu_observe(const struct cpu_backend *backend, size_t column, float x, double *sum)
{
    const struct plan *plan = backend->plan;
    const struct plan_column *c = &plan->column[column];
    size_t width = backend->chain_width;
    size_t input = c->input + (c->head->one_hot ? (size_t)x : 0);
    const float *value = backend->first_transposed + input * width;
    const float *mask = plan->masks ? backend->first_transposed + (plan->values_width + column) * width : NULL;
    if (c->own_inputs) {
        observe_own(backend, c, x, mask, sum);
        return;
    }
    backend->kernels->accumulate(width, c->head->one_hot ? 1 : (double)x, value, mask, sum);
    size_t atom = nd_atom_input(c, (double)x);
    if (atom != SIZE_MAX) backend->kernels->accumulate(width, 1, backend->first_transposed + atom * width, NULL, sum);
}

void nd_cpu_activate_for(const struct cpu_backend *backend, size_t column, const double *sum, float *out)
{
    const struct plan *plan = backend->plan;
    if (plan->blocks) { /* the first layer of a residual network has no activation */
        backend->kernels->narrow(plan->hidden[0], sum, out);
        return;
    }
    if (!plan->rescale) {
        backend->kernels->activate_sum(plan->activation, plan->hidden[0], sum, out);
        return;
    }
    size_t position = ND_FAULT(FAULT_SCALE_PLACE) ? column : plan->position[column];
    double scale = (double)tensor_of(backend, nd_scale_index(plan))[position];
    backend->kernels->activate_scaled(plan->activation, plan->hidden[0], scale, sum, out);
}

void nd_cpu_begin_line(const struct cpu_backend *backend, struct worker_scratch *scratch, size_t line, size_t column,
                       const double *sum)
{
    const struct plan *plan = backend->plan;
    const struct plan_column *c = &plan->column[column];
    bool linear = nd_is_linear(plan);
    if (!linear) nd_cpu_activate_for(backend, column, sum, scratch->tile[0] + line * backend->stride[0]);
    const double *direct = sum + (linear ? 0 : plan->hidden[0]) + (ND_FAULT(FAULT_DIRECT_LINE) ? 0 : c->output);
    if (plan->direct || linear)
        memcpy(scratch->direct + line * backend->widest_block, direct, c->output_width * sizeof *sum);
}

const float *nd_cpu_pass_hidden(const struct cpu_backend *backend, struct worker_scratch *scratch, size_t lines)
{
    const struct plan *plan = backend->plan;
    int now = 0;
    if (plan->blocks) return nd_cpu_pass_blocks(backend, scratch, lines);
    for (size_t l = 1; l < plan->layers; l++) {
        size_t width = plan->hidden[l], stride = backend->stride[l], index = nd_weight_index(l);
        float *out = scratch->tile[1 - now];
        backend->products->multiply(lines, plan->hidden[l - 1], width, scratch->tile[now], backend->stride[l - 1],
                                    backend->forward[l], out, stride);
        backend->kernels->add_bias_activate(plan->activation, lines, width, stride, tensor_of(backend, index + 1), out);
        now = 1 - now;
    }
    return scratch->tile[now];
}

void nd_cpu_column_outputs(const struct cpu_backend *backend, const struct plan_column *column, const float *hidden,
                           double *outputs)
{
    const struct plan *plan = backend->plan;
    size_t width = plan->hidden[plan->layers - 1], index = nd_weight_index(plan->layers);
    const float *weight = tensor_of(backend, index) + column->output * width;
    const float *bias = tensor_of(backend, index + 1) + column->output;
    for (size_t i = 0; i < column->output_width; i++)
        outputs[i] = backend->kernels->dot(width, weight + i * width, hidden) + (double)bias[i];
}

void nd_cpu_line_outputs(const struct cpu_backend *backend, const struct worker_scratch *scratch, size_t line,
                         const struct plan_column *column, const float *hidden, double *outputs)
{
    const struct plan *plan = backend->plan;
    const double *direct = scratch->direct + line * backend->widest_block;
    if (nd_is_linear(plan)) {
        memcpy(outputs, direct, column->output_width * sizeof *outputs);
        return;
    }
    nd_cpu_column_outputs(backend, column, hidden + line * backend->stride[plan->layers - 1], outputs);
    if (!plan->direct) return;
    for (size_t i = 0; i < column->output_width; i++) outputs[i] += direct[i];
}
