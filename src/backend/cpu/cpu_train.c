/* Losses, gradients and updates on the CPU. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_chain.h"
#include "backend/cpu/cpu_train.h"
#include "base/shared_work.h"
#include "model/draws.h"
#include "model/head.h"
#include "model/mixture.h"

/* ---- first section: rows --------------------------------------------------------------------------------------- */

/* x (D) = the row's cells, 0 where missing; present (D).  Returns how many are present. */
static uint32_t load_row(const struct batch_job *job, size_t row, float *x, uint8_t *present)
{
    const struct encoded_rows *cells = job->cells;
    const struct cpu_kernels *kernels = job->backend->kernels;
    size_t columns = cells->columns;
    if (cells->kind == ENCODED_BYTES)
        return kernels->load_bytes(columns, (const uint8_t *)cells->data + row * columns, x, present);
    return kernels->load_floats(columns, (const float *)cells->data + row * columns, x, present);
}

/* The row that slot holds. */
static size_t row_of_slot(const struct batch_job *job, size_t slot)
{
    size_t place = job->first + slot;
    if (job->fetched) return place;
    if (job->source == SOURCE_TRAIN)
        return nd_draw_train_row(job->seed, job->update, (uint32_t)place, (uint32_t)job->cells->rows);
    return job->source == SOURCE_VALID ? place / job->repeats : place;
}

/* Draws slot's observed set; with a fixed order none is: each position is a target in its turn. */
static void observe_slot(const struct batch_job *job, size_t slot, uint32_t present, struct worker_scratch *scratch)
{
    const struct cpu_kernels *kernels = job->backend->kernels;
    size_t columns = job->backend->plan->columns, place = job->first + slot;
    uint32_t count;
    if (job->backend->plan->ordering) {
        memset(scratch->observed, 0, columns);
    } else if (job->source == SOURCE_GIVEN) {
        memcpy(scratch->observed, job->observed + place * columns, columns);
    } else if (job->source == SOURCE_TRAIN) {
        count = nd_draw_train_observed(job->seed, job->update, (uint32_t)place, job->strata, present);
        struct key_source keys = nd_train_keys(job->seed, job->update, (uint32_t)place, job->focus);
        kernels->select_observed(keys.seed, (enum purpose)keys.purpose, keys.draw, keys.row, columns, scratch->present,
                                 count, scratch->keys, scratch->observed);
    } else {
        uint32_t row = (uint32_t)(place / job->repeats), repeat = (uint32_t)(place % job->repeats);
        count = nd_draw_valid_observed(job->seed, row, repeat, (uint32_t)job->repeats, present);
        kernels->select_observed(job->seed, PURPOSE_VALID_KEYS, repeat, row, columns, scratch->present, count,
                                 scratch->keys, scratch->observed);
    }
}

/* The inputs of a column that has one for each of its atoms. */
static void fill_with_atoms(const struct plan_column *column, float x, bool seen, float *input)
{
    memset(input + column->input, 0, column->input_width * sizeof *input);
    if (!seen) return;
    size_t atom = nd_atom_input(column, (double)x);
    input[column->input] = x;
    if (atom != SIZE_MAX) input[atom] = 1;
}

/* The inputs of a column whose head makes them. */
static void fill_with_own(const struct plan_column *column, float x, bool seen, float *input)
{
    if (seen)
        column->head->inputs(column, (double)x, input + column->input);
    else
        memset(input + column->input, 0, column->input_width * sizeof *input);
}

/* input = [x where observed, else 0; observed]. */
static void fill_input(const struct cpu_backend *backend, const float *x, const uint8_t *observed, float *input)
{
    const struct plan *plan = backend->plan;
    for (size_t s = 0; s < plan->segments; s++) {
        const struct plan_segment *segment = &plan->segment[s];
        const struct plan_column *column = &plan->column[segment->first];
        const float *from = x + segment->first;
        const uint8_t *seen = observed + segment->first;
        float *to = input + column->input;
        if (column->head->one_hot)
            for (size_t i = 0; i < segment->count; i++) {
                for (size_t v = 0; v < column->input_width; v++) to[i * column->input_width + v] = 0;
                if (seen[i]) to[i * column->input_width + (size_t)from[i]] = 1;
            }
        else if (column->own_inputs)
            for (size_t i = 0; i < segment->count; i++) fill_with_own(&column[i], from[i], seen[i], input);
        else if (column->atom_inputs)
            for (size_t i = 0; i < segment->count; i++) fill_with_atoms(&column[i], from[i], seen[i], input);
        else
            backend->kernels->choose(segment->count, seen, from, to);
    }
    if (!plan->masks) return;
    float *mask = input + plan->values_width;
    backend->kernels->widen(plan->columns, observed, mask);
    for (size_t c = 0; ND_FAULT(FAULT_SHIFTED_MASK) && c < plan->columns; c++)
        mask[(c + 1) % plan->columns] = observed[c];
}

void nd_cpu_prepare_slot(const struct batch_job *job, size_t slot, struct worker_scratch *scratch)
{
    const struct plan *plan = job->backend->plan;
    struct batch_buffers *batch = &job->backend->batch;
    float *x = batch->x + slot * plan->columns;
    uint8_t *target = batch->target + slot * plan->columns;
    uint32_t there = load_row(job, row_of_slot(job, slot), x, scratch->present);
    observe_slot(job, slot, there, scratch);
    uint32_t hidden = job->backend->kernels->hide(plan->columns, scratch->present, scratch->observed, target);
    double weight = ND_FAULT(FAULT_NO_WEIGHT) || hidden == 0 ? 1 : (double)there / (double)hidden;
    batch->weight[slot] = weight;
    batch->factor[slot] = (float)(weight * job->factor);
    float *input = batch->input + slot * job->backend->input_stride;
    if (nd_is_linear(plan) && ND_FAULT(FAULT_LINEAR_HOLES)) memset(scratch->present, 1, plan->columns);
    if (nd_is_linear(plan)) /* each column reads those before it, and its weights for others are zero */
        fill_input(job->backend, x, scratch->present, input);
    else if (!plan->ordering)
        fill_input(job->backend, x, scratch->observed, input);
}

/* The specification's head, for kinds of columns without a kernel here. */
static double plain_cell(const struct plan_column *column, float x, float factor, bool scaled_means,
                         struct worker_scratch *scratch, float *outputs)
{
    for (size_t i = 0; i < column->output_width; i++) scratch->block[i] = (double)outputs[i];
    double loss = column->head->loss_gradient(column, scratch->block, (double)x, scratch->block_delta);
    if (scaled_means && column->head->scale_gradient)
        column->head->scale_gradient(column, scratch->block, scratch->block_delta);
    for (size_t i = 0; i < column->output_width; i++) outputs[i] = (float)scratch->block_delta[i] * factor;
    return loss;
}

/* Loss of the cells of one segment in a slot; their outputs become gradients, those of other cells zero. */
static double segment_loss(const struct batch_job *job, const struct plan_segment *segment, size_t slot,
                           struct worker_scratch *scratch, float *outputs)
{
    const struct cpu_backend *backend = job->backend;
    const struct plan_column *column = &backend->plan->column[segment->first];
    size_t first = slot * backend->plan->columns + segment->first;
    const float *x = backend->batch.x + first, factor = backend->batch.factor[slot];
    const uint8_t *target = backend->batch.target + first;
    outputs += column->output;
    if (column->head->type == NADE_BINARY)
        return backend->kernels->bernoulli(segment->count, x, target, factor, outputs);
    if (column->head->type == NADE_REAL)
        return backend->kernels->mixture(segment->count, column, x, target, factor, job->scaled_means, outputs);
    double loss = 0;
    for (size_t i = 0, width = column->output_width; i < segment->count; i++, outputs += width) {
        if (!target[i])
            memset(outputs, 0, width * sizeof *outputs);
        else
            loss += plain_cell(column + i, x[i], factor, job->scaled_means, scratch, outputs);
    }
    return loss;
}

void nd_cpu_row_loss(const struct batch_job *job, size_t slot, struct worker_scratch *scratch)
{
    const struct plan *plan = job->backend->plan;
    struct batch_buffers *batch = &job->backend->batch;
    float *outputs = batch->delta[plan->layers] + slot * job->backend->stride[plan->layers];
    double loss = 0;
    for (size_t s = 0; s < plan->segments; s++) loss += segment_loss(job, &plan->segment[s], slot, scratch, outputs);
    batch->loss[slot] = loss * batch->weight[slot];
}

static const float *bias_of(const struct cpu_backend *backend, size_t layer)
{
    return backend->block[BLOCK_PARAMETERS] + backend->plan->tensor[nd_weight_index(layer) + 1].offset;
}

/* out holds the layer's products and gets its activations. */
static void activate_rows(const struct cpu_backend *backend, size_t layer, size_t first, size_t rows, float *out)
{
    size_t width = nd_layer_outputs(backend->plan, layer), stride = backend->stride[layer];
    nade_activation activation = backend->plan->activation;
    float *sums = backend->batch.sums[layer];
    if (!sums) {
        backend->kernels->add_bias_activate(activation, rows, width, stride, bias_of(backend, layer), out);
        return;
    }
    sums += first * stride;
    memcpy(sums, out, rows * stride * sizeof *sums);
    backend->kernels->add_bias(rows, width, stride, bias_of(backend, layer), sums);
    backend->kernels->activate(activation, rows, width, stride, sums, out);
}

static void forward_rows(const struct batch_job *job, size_t first, size_t rows)
{
    struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    const float *in = backend->batch.input + first * backend->input_stride;
    size_t in_stride = backend->input_stride;
    for (size_t l = 0; l <= plan->layers; l++) {
        size_t width = nd_layer_outputs(plan, l), stride = backend->stride[l];
        float *out = (l < plan->layers ? backend->batch.hidden[l] : backend->batch.delta[l]) + first * stride;
        backend->products->multiply(rows, nd_layer_inputs(plan, l), width, in, in_stride, backend->forward[l], out,
                                    stride);
        if (job->gradients)
            backend->products->pack(job->rows, nd_layer_inputs(plan, l), first, rows, in, in_stride,
                                    backend->batch.packed[l]);
        if (l < plan->layers)
            activate_rows(backend, l, first, rows, out);
        else
            backend->kernels->add_bias(rows, width, stride, bias_of(backend, l), out);
        in = out;
        in_stride = stride;
    }
}

static void backward_rows(const struct batch_job *job, size_t first, size_t rows)
{
    struct cpu_backend *backend = job->backend;
    const struct plan *plan = backend->plan;
    for (size_t l = plan->layers; l > 0; l--) {
        size_t stride = backend->stride[l - 1], width = plan->hidden[l - 1];
        float *below = backend->batch.delta[l - 1] + first * stride;
        backend->products->multiply(rows, nd_layer_outputs(plan, l), width,
                                    backend->batch.delta[l] + first * backend->stride[l], backend->stride[l],
                                    backend->backward[l], below, stride);
        const float *sums = backend->batch.sums[l - 1];
        backend->kernels->multiply_slope(plan->activation, rows, width, stride, sums ? sums + first * stride : NULL,
                                         backend->batch.hidden[l - 1] + first * stride, below);
    }
}

static void run_chunk(void *argument, size_t task, unsigned worker)
{
    const struct batch_job *job = argument;
    struct worker_scratch *scratch = &job->backend->scratch[worker];
    task += job->first_task;
    size_t first = task * job->chunk, rows = job->rows - first;
    if (rows > job->chunk) rows = job->chunk;
    bool residual = job->backend->plan->blocks > 0;
    for (size_t slot = first; slot < first + rows; slot++) nd_cpu_prepare_slot(job, slot, scratch);
    if (residual)
        nd_cpu_residual_forward(job, first, rows, scratch);
    else
        forward_rows(job, first, rows);
    for (size_t slot = first; slot < first + rows; slot++) nd_cpu_row_loss(job, slot, scratch);
    if (!job->gradients) return;
    if (residual)
        nd_cpu_residual_backward(job, first, rows, scratch);
    else
        backward_rows(job, first, rows);
}

/* ---- second section: weights ------------------------------------------------------------------------------------- */

void nd_cpu_take_step(const struct batch_job *job, size_t tensor, size_t first, size_t count)
{
    struct cpu_backend *backend = job->backend;
    size_t offset = backend->plan->tensor[tensor].offset + first;
    float decay = (float)nd_decay_of(job->rule, backend->plan, tensor);
    float *const *block = backend->block;
    backend->kernels->step(job->rule->optimizer, count, &job->rates, decay, block[BLOCK_GRADIENT] + offset,
                           block[BLOCK_MOMENT1] + offset, block[BLOCK_MOMENT2] + offset,
                           block[BLOCK_PARAMETERS] + offset);
    if (job->rule->average > 0)
        backend->kernels->average(count, &job->rates, block[BLOCK_PARAMETERS] + offset, block[BLOCK_AVERAGE] + offset);
}

/* Without hidden layers, what a block of output.weight's rows would learn of columns that do not come earlier. */
static void drop_later(const struct cpu_backend *backend, const struct weight_block *block, float *gradient)
{
    const struct plan *plan = backend->plan;
    for (size_t c = 0; c < plan->columns; c++) {
        size_t first = plan->column[c].output, last = first + plan->column[c].output_width;
        if (first < block->first) first = block->first;
        if (last > block->first + block->count) last = block->first + block->count;
        for (size_t k = first; k < last; k++) nd_clear_later(plan, c, gradient + k * plan->inputs);
    }
}

static void make_gradients(const struct batch_job *job, const struct weight_block *block, unsigned worker)
{
    struct cpu_backend *backend = job->backend;
    const struct tensor_view *weight = &backend->plan->tensor[nd_weight_index(block->layer)], *bias = weight + 1;
    size_t stride = backend->stride[block->layer];
    const float *delta = backend->batch.delta[block->layer] + block->first;
    float *gradient = backend->block[BLOCK_GRADIENT], *bias_gradient = gradient + bias->offset + block->first;
    backend->products->multiply_transposed(
        block->count, job->rows, weight->columns, delta, stride, backend->batch.packed[block->layer],
        gradient + weight->offset + block->first * weight->columns, weight->columns, backend->scratch[worker].space);
    backend->kernels->sum_rows(job->rows, block->count, stride, delta, bias_gradient);
    if (nd_is_linear(backend->plan)) drop_later(backend, block, gradient + weight->offset);
    if (ND_FAULT(FAULT_NO_BIAS_GRADIENT) && block->layer == 0) memset(bias_gradient, 0, block->count * sizeof(float));
}

static void take_steps(const struct batch_job *job, const struct weight_block *block)
{
    size_t weight = nd_weight_index(block->layer), columns = job->backend->plan->tensor[weight].columns;
    nd_cpu_take_step(job, weight, block->first * columns, block->count * columns);
    nd_cpu_take_step(job, weight + 1, block->first, block->count);
    nd_cpu_pack_block(job->backend, block);
}

static void run_block(void *argument, size_t task, unsigned worker)
{
    const struct batch_job *job = argument;
    const struct cpu_backend *backend = job->backend;
    const struct weight_block *block =
        job->whole ? backend->large_first[task] : &backend->blocks[job->first_task + task];
    if (block->kind != WEIGHT_LAYER) {
        nd_cpu_residual_weights(job, block, worker);
        return;
    }
    if (job->makes_gradients) make_gradients(job, block, worker);
    if (job->takes_steps) take_steps(job, block);
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* Makes ready for batches of `rows`. */
static nade_status prepare(nade_context *context, struct cpu_backend *backend, size_t rows)
{
    nade_status status = nd_cpu_reserve(context, backend, rows);
    if (status != NADE_OK) return status;
    return nd_cpu_walks(backend->plan) ? nd_cpu_prepare_chain(context, backend)
                                       : nd_cpu_pack_weights(context, backend, true);
}

void nd_cpu_run_chunks(struct batch_job *job, size_t first, size_t count)
{
    struct cpu_backend *backend = job->backend;
    job->first_task = first;
    nd_parallel_for(backend->pool, count, nd_cpu_walks(backend->plan) ? nd_cpu_fixed_chunk : run_chunk, job);
}

double nd_cpu_batch_loss(const struct batch_job *job)
{
    double sum = 0;
    for (size_t slot = 0; slot < job->rows; slot++) sum += job->backend->batch.loss[slot];
    return sum;
}

double nd_cpu_run_rows(struct batch_job *job)
{
    job->chunk = nd_cpu_chunk_rows(job->backend, job->rows);
    nd_cpu_run_chunks(job, 0, (job->rows + job->chunk - 1) / job->chunk);
    return nd_cpu_batch_loss(job);
}

size_t nd_cpu_count_tasks(const struct cpu_backend *backend)
{
    return nd_cpu_walks(backend->plan) ? nd_cpu_fixed_tasks(backend->plan) : backend->block_count;
}

void nd_cpu_run_tasks(struct batch_job *job, size_t first, size_t count)
{
    struct cpu_backend *backend = job->backend;
    job->first_task = first;
    job->whole = count == nd_cpu_count_tasks(backend);
    nd_parallel_for(backend->pool, count, nd_cpu_walks(backend->plan) ? nd_cpu_fixed_block : run_block, job);
}

void nd_cpu_run_section(struct batch_job *job, bool makes_gradients, bool takes_steps)
{
    job->makes_gradients = makes_gradients;
    job->takes_steps = takes_steps;
    nd_cpu_run_tasks(job, 0, nd_cpu_count_tasks(job->backend));
    if (job->backend->plan->rescale) nd_cpu_fixed_scales(job);
}

/* What is left of an update when its gradient is made. */
static void finish_update(struct batch_job *job)
{
    if (nd_is_between(job->rule)) nd_cpu_between(job->backend, job->rule);
    nd_cpu_run_section(job, false, true);
}

/* An update, gradients and steps at once where nothing comes between them.  A loss that is not finite leaves it at the
 * gradient. */
static nade_status run_update(nade_context *context, struct batch_job *job, double *loss)
{
    if (nd_ranks(context) > 1) {
        nade_status status = nd_cpu_shared_gradient(context, job, loss);
        if (status == NADE_OK && isfinite(*loss)) finish_update(job);
        return status;
    }
    *loss = nd_cpu_run_rows(job);
    bool at_once = isfinite(*loss) && !nd_is_between(job->rule);
    nd_cpu_run_section(job, true, at_once);
    if (isfinite(*loss) && !at_once) finish_update(job);
    return NADE_OK;
}

/* Update number `update` of a rule on the training rows. */
static struct batch_job job_of(struct cpu_backend *backend, const struct update_rule *rule, uint64_t update)
{
    struct step_rates rates = nd_step_rates(rule, update);
    uint32_t threshold = nd_dropout_threshold(rule->dropout);
    return (struct batch_job){
        .backend = backend,
        .cells = &backend->data[DATA_TRAIN],
        .source = SOURCE_TRAIN,
        .seed = rule->seed,
        .update = rule->first_draw + update,
        .strata = nd_strata(rule),
        .focus = rule->focus,
        .rows = rule->batch,
        .factor = 1 / (double)rule->batch,
        .gradients = true,
        .scaled_means = rule->scaled_means,
        .rule = rule,
        .rates = nd_float_rates(&rates),
        .dropout = {rule->seed, rule->first_draw + update, threshold, (float)nd_dropout_scale(threshold)},
    };
}

/* The rows of an update where they are spread over ranks. */
struct fetched_rows {
    size_t *number; /* (batch) */
    void *data;     /* (batch, bytes of a row) */
    struct encoded_rows cells;
};

static nade_status begin_fetching(nade_context *context, const struct cpu_backend *backend, size_t batch,
                                  struct fetched_rows *f)
{
    if (!backend->shared) return NADE_OK;
    f->number = nd_alloc(&context->allocator, batch, sizeof *f->number);
    f->data = nd_alloc(&context->allocator, batch, nd_row_bytes(&backend->shared->all));
    return f->number && f->data ? NADE_OK : nd_no_memory(context, "a batch of rows");
}

/* Brings the rows of an update together, where that was begun. */
static nade_status fetch(nade_context *context, struct batch_job *job, struct fetched_rows *f)
{
    const struct shared_rows *shared = job->backend->shared;
    if (!f->number) return NADE_OK;
    for (size_t slot = 0; slot < job->rows; slot++) f->number[slot] = row_of_slot(job, slot);
    job->cells = &f->cells;
    job->fetched = true;
    return nd_shared_rows_fetch(context, shared, f->number, job->rows, f->data, &f->cells);
}

static nade_status train_updates(nade_context *context, struct cpu_backend *backend, const struct update_rule *rule,
                                 uint64_t first, uint64_t count, struct fetched_rows *rows, double *loss,
                                 uint64_t *failed)
{
    double sum = 0, one;
    for (uint64_t update = first; update < first + count; update++) {
        struct batch_job job = job_of(backend, rule, update);
        nade_status status = fetch(context, &job, rows);
        if (status == NADE_OK) status = run_update(context, &job, &one);
        if (status != NADE_OK) return status;
        if (!isfinite(one)) {
            *failed = update;
            return nd_fail(context, NADE_NOT_FINITE, "the loss is not finite");
        }
        sum += one / (double)rule->batch;
    }
    *loss = sum / (double)count;
    return NADE_OK;
}

nade_status nd_cpu_train_updates(nade_context *context, struct backend *opaque, const struct update_rule *rule,
                                 uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    struct cpu_backend *backend = (void *)opaque;
    struct fetched_rows rows = {0};
    nade_status status = prepare(context, backend, rule->batch);
    if (status == NADE_OK) status = nd_cpu_prepare_between(context, backend, rule);
    if (status == NADE_OK) status = nd_cpu_agree_on_sums(context, backend);
    if (status == NADE_OK && rule->average > 0) status = nd_cpu_need_block(context, backend, BLOCK_AVERAGE);
    if (status == NADE_OK) status = begin_fetching(context, backend, rule->batch, &rows);
    if (status == NADE_OK && !nd_cpu_walks(backend->plan)) backend->first_transposed_current = false;
    if (status == NADE_OK) status = train_updates(context, backend, rule, first, count, &rows, loss, failed);
    nd_free(&context->allocator, rows.number);
    nd_free(&context->allocator, rows.data);
    return status;
}

nade_status nd_cpu_validate(nade_context *context, struct backend *opaque, uint32_t seed, size_t repeats, double *loss)
{
    enum { ROWS = 1024 };
    struct cpu_backend *backend = (void *)opaque;
    if (backend->plan->ordering) repeats = 1; /* the loss is exact */
    size_t all = backend->data[DATA_VALID].rows * repeats;
    nade_status status = prepare(context, backend, ROWS);
    if (status != NADE_OK) return status;
    /* Ranks take turns at the batches, whose sums are then added up in their order.  One alone needs no memory for it.
     */
    bool shared = nd_ranks(context) > 1;
    size_t batches = (all + ROWS - 1) / ROWS;
    double sum = 0, *sums = shared ? nd_alloc(&context->allocator, batches, sizeof *sums) : NULL;
    if (shared && !sums) return nd_no_memory(context, "the validation");
    for (size_t b = nd_rank(context); b < batches; b += nd_ranks(context)) {
        size_t first = b * ROWS;
        struct batch_job job = {
            .backend = backend,
            .cells = &backend->data[DATA_VALID],
            .source = SOURCE_VALID,
            .seed = seed,
            .repeats = repeats,
            .first = first,
            .rows = all - first < ROWS ? all - first : ROWS,
        };
        double one = nd_cpu_run_rows(&job);
        if (shared)
            sums[b] = one;
        else
            sum += one;
    }
    if (shared) status = nd_unite(context, sums, batches * sizeof *sums);
    for (size_t b = 0; shared && b < batches; b++) sum += sums[b];
    nd_free(&context->allocator, sums);
    *loss = sum / (double)all;
    return status;
}

nade_status nd_cpu_loss_and_gradients(nade_context *context, struct backend *opaque, const struct encoded_rows *cells,
                                      const uint8_t *observed, double *loss)
{
    struct cpu_backend *backend = (void *)opaque;
    nade_status status = prepare(context, backend, cells->rows);
    if (status != NADE_OK) return status;
    struct batch_job job = {
        .backend = backend,
        .cells = cells,
        .source = SOURCE_GIVEN,
        .observed = observed,
        .rows = cells->rows,
        .factor = 1 / (double)cells->rows,
        .gradients = true,
    };
    *loss = nd_cpu_run_rows(&job) / (double)cells->rows;
    nd_cpu_run_section(&job, true, false);
    return NADE_OK;
}
