/* Training a network of one ordering on the CPU: the running sum of the paper's eqs. (4) and (5), O(DH) a row.
 *
 * First section, chunks of rows: along the ordering, hidden units and the outputs of the one column that is due; then
 * the heads, which leave the outputs' gradients.  Second section, blocks of ND_UNITS hidden units: each walks all rows
 * again, in order, and back.  Everything below the outputs' gradients is separate for each hidden unit, so blocks share
 * nothing that they write, and no thread needs gradients of its own.
 *
 * The sum changes only where a cell that is not zero enters; the hidden units of the positions in between, a stretch,
 * are the same and are computed once.  Where positions have factors of their own each is a stretch by itself.  A
 * factor's gradient is a sum over all hidden units: each block leaves its part, and these are added up after the
 * join. */
#include <string.h>

#include "backend/activation.h"
#include "backend/cpu/cpu_chain.h"
#include "backend/cpu/cpu_train.h"
#include "base/fault.h"
#include "model/head.h"

/* What observing a cell adds to the sum: value times the weights of an input.  A value of 0 adds nothing. */
struct entry {
    size_t input;
    float value;
};

static struct entry entry_of(const struct plan_column *column, float x)
{
    if (column->head->one_hot) return (struct entry){column->input + (size_t)x, 1};
    return (struct entry){column->input, x};
}

/* ---- first section: rows --------------------------------------------------------------------------------------- */

static void forward_row(const struct batch_job *job, size_t slot, struct worker_scratch *scratch)
{
    const struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    const float *x = backend->batch.x + slot * plan->columns;
    const uint8_t *target = backend->batch.target + slot * plan->columns;
    float *outputs = backend->batch.delta[1] + slot * backend->stride[1], *hidden = scratch->tile[0];
    bool changed = true;
    nd_cpu_begin_sum(backend, scratch->sum);
    for (size_t t = 0; t < plan->columns; t++) {
        size_t c = plan->ordering[t];
        const struct plan_column *column = &plan->column[c];
        if (!target[c]) continue;
        if (changed || plan->rescale) nd_cpu_activate_for(backend, c, scratch->sum, hidden);
        nd_cpu_column_outputs(backend, column, hidden, scratch->block);
        for (size_t i = 0; i < column->output_width; i++) outputs[column->output + i] = (float)scratch->block[i];
        changed = entry_of(column, x[c]).value != 0;
        if (changed) nd_cpu_observe(backend, c, x[c], scratch->sum);
    }
}

void nd_cpu_fixed_chunk(void *argument, size_t task, unsigned worker)
{
    const struct batch_job *job = argument;
    struct worker_scratch *scratch = &job->backend->scratch[worker];
    task += job->first_task;
    size_t first = task * job->chunk, last = first + job->chunk < job->rows ? first + job->chunk : job->rows;
    for (size_t slot = first; slot < last; slot++) {
        nd_cpu_prepare_slot(job, slot, scratch);
        forward_row(job, slot, scratch);
        nd_cpu_row_loss(job, slot, scratch);
    }
}

/* ---- second section: blocks of hidden units ---------------------------------------------------------------------- */

/* One block at work.  Units past `units` are padding: their output weights are zero. */
struct unit_block {
    const struct batch_job *job;
    struct fixed_scratch *scratch;
    size_t first, units;
};

/* The factors of the ordering's positions. */
static const float *scales_of(const struct cpu_backend *backend)
{
    return backend->block[BLOCK_PARAMETERS] + backend->plan->tensor[nd_scale_index(backend->plan)].offset;
}

/* The block's hidden units at position t, line `line` of scratch->path, from their sums. */
static void activate_units(const struct unit_block *b, size_t t, const double *sum, size_t line)
{
    const struct cpu_backend *backend = b->job->backend;
    nade_activation activation = backend->plan->activation;
    float *h = b->scratch->path + line * ND_UNITS;
    if (backend->plan->rescale)
        backend->kernels->activate_scaled(activation, ND_UNITS, (double)scales_of(backend)[t], sum, h);
    else
        backend->kernels->activate_sum(activation, ND_UNITS, sum, h);
    if (b->scratch->sums)
        for (size_t j = 0; j < ND_UNITS; j++) b->scratch->sums[line * ND_UNITS + j] = (float)sum[j];
}

/* Fills scratch->path with the block's hidden units of each stretch, and scratch->stretch with where each position's
 * are. */
static void walk_forward(const struct unit_block *b, const float *x, const uint8_t *target)
{
    const struct cpu_backend *backend = b->job->backend;
    const struct plan *plan = backend->plan;
    const float *bias = backend->block[BLOCK_PARAMETERS] + plan->tensor[nd_weight_index(0) + 1].offset + b->first;
    double sum[ND_UNITS] = {0};
    size_t stretches = 0;
    bool changed = true;
    for (size_t j = 0; j < b->units; j++) sum[j] = (double)bias[j];
    for (size_t t = 0; t < plan->columns; t++) {
        size_t c = plan->ordering[t];
        if (!target[c]) continue;
        if (changed || plan->rescale) activate_units(b, t, sum, stretches++);
        b->scratch->stretch[t] = stretches - 1;
        if (ND_FAULT(FAULT_FIXED_STRETCH)) b->scratch->stretch[t] = 0;
        struct entry entry = entry_of(&plan->column[c], x[c]);
        changed = entry.value != 0;
        if (changed)
            backend->kernels->accumulate(b->units, (double)entry.value,
                                         backend->first_transposed + entry.input * plan->hidden[0] + b->first, NULL,
                                         sum);
    }
}

/* What arrived at the hidden units of the stretch that position t belongs to goes on to their sums. */
static void absorb_stretch(const struct unit_block *b, size_t t, float *below, float *later)
{
    const struct cpu_backend *backend = b->job->backend;
    const struct plan *plan = backend->plan;
    size_t line = b->scratch->stretch[t] * ND_UNITS;
    const float *h = b->scratch->path + line, *a = b->scratch->sums ? b->scratch->sums + line : NULL;
    if (!plan->rescale) {
        backend->kernels->absorb(plan->activation, a, h, below, later);
        return;
    }
    double *gradient = backend->batch.scale_gradient + b->first / ND_UNITS * plan->columns;
    double arrived = backend->kernels->absorb_scaled(plan->activation, scales_of(backend)[t], a, h, below, later);
    if (!ND_FAULT(FAULT_NO_SCALE_GRADIENT)) gradient[t] += arrived;
}

/* From the last position to the first.  later (ND_UNITS) collects dloss/da over the positions behind the present one:
 * its cell entered the sum of all these and no other. */
static void walk_back(const struct unit_block *b, const float *x, const uint8_t *target, const float *delta)
{
    const struct cpu_backend *backend = b->job->backend;
    const struct plan *plan = backend->plan;
    struct fixed_scratch *s = b->scratch;
    float below[ND_UNITS] = {0}, later[ND_UNITS] = {0};
    size_t behind = plan->columns; /* the position visited last; columns: none yet */
    for (size_t t = plan->columns; t-- > 0;) {
        size_t c = plan->ordering[t];
        const struct plan_column *column = &plan->column[c];
        if (!target[c]) continue;
        if (behind < plan->columns && s->stretch[t] != s->stretch[behind]) absorb_stretch(b, behind, below, later);
        behind = t;
        struct entry entry = entry_of(column, x[c]);
        if (entry.value != 0)
            backend->kernels->add_scaled(entry.value, later, s->input_gradient + entry.input * ND_UNITS);
        backend->kernels->couple(column->output_width, delta + column->output, s->path + s->stretch[t] * ND_UNITS,
                                 s->output_weight + column->output * ND_UNITS,
                                 s->output_gradient + column->output * ND_UNITS, below);
    }
    if (behind < plan->columns) absorb_stretch(b, behind, below, later);
    backend->kernels->add_scaled(1, later, s->bias_gradient);
}

/* The block's columns of the output weights, and gradients of zero. */
static void begin_block(const struct unit_block *b)
{
    const struct plan *plan = b->job->backend->plan;
    const struct tensor_view *output = &plan->tensor[nd_weight_index(1)];
    const float *weight = b->job->backend->block[BLOCK_PARAMETERS] + output->offset + b->first;
    struct fixed_scratch *s = b->scratch;
    memset(s->output_weight, 0, plan->outputs * ND_UNITS * sizeof(float));
    memset(s->output_gradient, 0, plan->outputs * ND_UNITS * sizeof(float));
    memset(s->input_gradient, 0, plan->inputs * ND_UNITS * sizeof(float));
    memset(s->bias_gradient, 0, ND_UNITS * sizeof(float));
    if (plan->rescale)
        memset(b->job->backend->batch.scale_gradient + b->first / ND_UNITS * plan->columns, 0,
               plan->columns * sizeof(double));
    for (size_t k = 0; k < plan->outputs; k++)
        memcpy(s->output_weight + k * ND_UNITS, weight + k * output->columns, b->units * sizeof(float));
}

/* Puts the block's gradients where the model's layout wants them. */
static void store_gradients(const struct unit_block *b)
{
    const struct plan *plan = b->job->backend->plan;
    const struct tensor_view *input = &plan->tensor[nd_weight_index(0)], *output = &plan->tensor[nd_weight_index(1)];
    float *gradient = b->job->backend->block[BLOCK_GRADIENT];
    const struct fixed_scratch *s = b->scratch;
    for (size_t k = 0; k < plan->outputs; k++)
        memcpy(gradient + output->offset + k * output->columns + b->first, s->output_gradient + k * ND_UNITS,
               b->units * sizeof(float));
    for (size_t j = 0; j < b->units; j++) {
        float *row = gradient + input->offset + (b->first + j) * input->columns;
        for (size_t i = 0; i < plan->inputs; i++) row[i] = s->input_gradient[i * ND_UNITS + j];
    }
    memcpy(gradient + input[1].offset + b->first, s->bias_gradient, b->units * sizeof(float));
}

/* The block's optimiser step; the transposed input weights stay current. */
static void step_block(const struct unit_block *b)
{
    struct cpu_backend *backend = b->job->backend;
    const struct plan *plan = backend->plan;
    size_t input = nd_weight_index(0), output = nd_weight_index(1), width = plan->hidden[0];
    size_t begin = b->first * plan->inputs;
    for (size_t k = 0; k < plan->outputs; k++) nd_cpu_take_step(b->job, output, k * width + b->first, b->units);
    nd_cpu_take_step(b->job, input, begin, b->units * plan->inputs);
    nd_cpu_take_step(b->job, input + 1, b->first, b->units);
    const float *weight = backend->block[BLOCK_PARAMETERS] + plan->tensor[input].offset + begin;
    for (size_t i = 0; i < plan->inputs; i++)
        for (size_t j = 0; j < b->units; j++)
            backend->first_transposed[i * width + b->first + j] = weight[j * plan->inputs + i];
}

static void make_gradients(const struct unit_block *b)
{
    const struct cpu_backend *backend = b->job->backend;
    const struct plan *plan = backend->plan;
    const struct batch_buffers *batch = &backend->batch;
    begin_block(b);
    for (size_t slot = 0; slot < b->job->rows; slot++) {
        const float *x = batch->x + slot * plan->columns;
        const uint8_t *target = batch->target + slot * plan->columns;
        walk_forward(b, x, target);
        walk_back(b, x, target, batch->delta[1] + slot * backend->stride[1]);
    }
    store_gradients(b);
}

static void run_units(const struct unit_block *b)
{
    if (b->job->makes_gradients) make_gradients(b);
    if (b->job->takes_steps) step_block(b);
}

static void run_output_bias(const struct batch_job *job)
{
    const struct cpu_backend *backend = job->backend;
    const struct tensor_view *bias = &backend->plan->tensor[nd_weight_index(1) + 1];
    if (job->makes_gradients)
        backend->kernels->sum_rows(job->rows, bias->rows, backend->stride[1], backend->batch.delta[1],
                                   backend->block[BLOCK_GRADIENT] + bias->offset);
    if (job->takes_steps) nd_cpu_take_step(job, nd_weight_index(1) + 1, 0, bias->rows);
}

/* The last task is the output bias, which belongs to no hidden unit. */
void nd_cpu_fixed_block(void *argument, size_t task, unsigned worker)
{
    const struct batch_job *job = argument;
    task += job->first_task;
    size_t first = task * ND_UNITS, all = job->backend->plan->hidden[0];
    struct unit_block b = {job, &job->backend->batch.fixed[worker], first,
                           all - first < ND_UNITS ? all - first : ND_UNITS};
    if (first < all)
        run_units(&b);
    else
        run_output_bias(job);
}

static size_t blocks_of(const struct plan *plan)
{
    return (plan->hidden[0] + ND_UNITS - 1) / ND_UNITS;
}

/* Adds the blocks' parts up, in their order. */
void nd_cpu_fixed_scales(const struct batch_job *job)
{
    const struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    const struct tensor_view *scale = &plan->tensor[nd_scale_index(plan)];
    for (size_t t = 0; t < plan->columns && job->makes_gradients; t++) {
        double sum = 0;
        for (size_t b = 0; b < blocks_of(plan); b++) sum += backend->batch.scale_gradient[b * plan->columns + t];
        backend->block[BLOCK_GRADIENT][scale->offset + t] = (float)sum;
    }
    if (job->takes_steps) nd_cpu_take_step(job, nd_scale_index(plan), 0, scale->rows);
}

size_t nd_cpu_fixed_tasks(const struct plan *plan)
{
    return blocks_of(plan) + 1;
}

bool nd_cpu_fixed_reserve(struct cpu_backend *backend, struct arena *arena)
{
    const struct plan *plan = backend->plan;
    unsigned threads = nd_pool_threads(backend->pool);
    struct fixed_scratch *all = nd_arena_alloc(arena, threads, sizeof *all);
    if (!all) return false;
    for (unsigned t = 0; t < threads; t++) {
        struct fixed_scratch *s = &all[t];
        s->stretch = nd_arena_alloc(arena, plan->columns, sizeof *s->stretch);
        s->path = nd_arena_alloc(arena, plan->columns, ND_UNITS * sizeof(float));
        s->output_weight = nd_arena_alloc(arena, plan->outputs, ND_UNITS * sizeof(float));
        s->output_gradient = nd_arena_alloc(arena, plan->outputs, ND_UNITS * sizeof(float));
        s->input_gradient = nd_arena_alloc(arena, plan->inputs, ND_UNITS * sizeof(float));
        s->bias_gradient = nd_arena_alloc(arena, ND_UNITS, sizeof(float));
        if (!s->stretch || !s->path || !s->output_weight || !s->output_gradient || !s->input_gradient ||
            !s->bias_gradient)
            return false;
        if (!plan->rescale && !nd_slope_reads_sum(plan->activation)) continue;
        s->sums = nd_arena_alloc(arena, plan->columns, ND_UNITS * sizeof(float));
        if (!s->sums) return false;
    }
    backend->batch.fixed = all;
    if (!plan->rescale) return true;
    backend->batch.scale_gradient = nd_arena_alloc(arena, blocks_of(plan), plan->columns * sizeof(double));
    return backend->batch.scale_gradient != NULL;
}
