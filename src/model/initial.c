#include "model/initial.h"

#include <math.h>

#include "base/fault.h"
#include "base/philox.h"
#include "model/head.h"

struct fit_job {
    const struct plan *plan;
    const struct encoded_rows *cells;
    struct schema *schema;
    float *values; /* (threads, rows) */
};

static void fit_column(void *argument, size_t column, unsigned worker)
{
    const struct fit_job *job = argument;
    float *values = job->values + worker * job->cells->rows;
    size_t count = 0;
    for (size_t row = 0; row < job->cells->rows; row++) {
        float x = nd_cell(job->cells, row, column);
        if (!isnan(x)) values[count++] = x;
    }
    const struct plan_column *plan_column = &job->plan->alone[column];
    plan_column->head->fit_marginal(plan_column, values, count, job->schema->column[column].marginal);
}

nade_status nd_fit_marginals(nade_context *context, struct arena *arena, struct pool *pool, const struct plan *plan,
                             const struct encoded_rows *cells, struct schema *schema)
{
    for (size_t c = 0; c < schema->count; c++) {
        struct column_spec *spec = &schema->column[c];
        spec->marginal_count = plan->alone[c].output_width;
        spec->marginal = nd_arena_alloc(arena, spec->marginal_count, sizeof *spec->marginal);
        if (!spec->marginal) return nd_no_memory(context, "the columns' marginals");
    }
    size_t scratch;
    float *values = nd_multiply(cells->rows, nd_pool_threads(pool), &scratch)
                        ? nd_alloc(&context->allocator, scratch, sizeof *values)
                        : NULL;
    if (!values) return nd_no_memory(context, "the columns' marginals");
    struct fit_job job = {plan, cells, schema, values};
    nd_parallel_for(pool, schema->count, fit_column, &job);
    nd_free(&context->allocator, values);
    return NADE_OK;
}

/* Usual range of a layer's initial numbers: the sum over its inputs is then of order one. */
static float range_of(const struct tensor_view *weight)
{
    return (float)(1 / sqrt((double)weight->columns));
}

/* Row `row` of tensor number `tensor`, uniform in ±range. */
static void fill_row(uint32_t seed, size_t tensor, size_t row, size_t columns, float range, float *values)
{
    for (size_t column = 0; column < columns; column += 4) {
        struct philox_block block = nd_philox(seed, PURPOSE_INITIAL, tensor, (uint32_t)row, (uint32_t)(column / 4));
        for (size_t lane = 0; lane < 4 && column + lane < columns; lane++)
            values[column + lane] = (2 * nd_random_uniform(block.word[lane]) - 1) * range;
    }
}

static void fill_layer(const struct plan *plan, uint32_t seed, size_t layer, double scale, float *parameters)
{
    size_t index = nd_weight_index(layer);
    const struct tensor_view *weight = &plan->tensor[index], *bias = weight + 1;
    for (size_t row = 0; row < weight->rows; row++)
        fill_row(seed, index, row, weight->columns, (float)scale * range_of(weight),
                 parameters + weight->offset + row * weight->columns);
    fill_row(seed, index + 1, 0, bias->rows, range_of(weight), parameters + bias->offset);
}

static void fill_output_weights(const struct plan *plan, uint32_t seed, size_t column, float *parameters)
{
    const struct plan_column *c = &plan->column[column];
    size_t index = nd_weight_index(plan->layers);
    const struct tensor_view *weight = &plan->tensor[index];
    float range = range_of(weight) * c->head->initial_weight_scale;
    for (size_t row = c->output; row < c->output + c->output_width; row++)
        fill_row(seed, index, row, weight->columns, range, parameters + weight->offset + row * weight->columns);
}

static void fill_output_bias(const struct plan *plan, size_t column, float *parameters)
{
    const struct plan_column *c = &plan->column[column];
    size_t offset = plan->tensor[nd_weight_index(plan->layers) + 1].offset + c->output;
    double outputs[3 * ND_COMPONENTS_MOST];
    if (!c->head->initial_bias) return;
    c->head->initial_bias(c, outputs);
    for (size_t i = 0; i < c->output_width; i++) parameters[offset + i] = (float)outputs[i];
}

static void fill_ones(const struct tensor_view *view, float *parameters)
{
    for (size_t i = 0; i < view->rows; i++) parameters[view->offset + i] = 1;
}

/* A column's marginal is its bias; columns that holes.h adds have none. */
static void fill_marginal(const struct plan *plan, const struct schema *schema, size_t column, float *parameters)
{
    const struct column_spec *spec = column < schema->count ? &schema->column[column] : NULL;
    float *bias = parameters + plan->tensor[nd_weight_index(plan->layers) + 1].offset + plan->column[column].output;
    bool fitted = spec && spec->marginal_count == plan->column[column].output_width;
    if (!fitted || ND_FAULT(FAULT_START_ELSEWHERE)) {
        fill_output_bias(plan, column, parameters);
        return;
    }
    for (size_t i = 0; i < spec->marginal_count; i++) bias[i] = (float)spec->marginal[i];
}

static void fill_residual(const struct plan *plan, const struct schema *schema, uint32_t seed, double scale,
                          float *parameters)
{
    fill_layer(plan, seed, 0, scale, parameters);
    for (size_t b = 0; b < plan->blocks; b++) fill_layer(plan, seed, 2 * b + 1, scale, parameters);
    for (size_t n = 0; n <= plan->blocks; n++) fill_ones(&plan->tensor[nd_norm_index(plan, n)], parameters);
    for (size_t c = 0; c < plan->columns; c++) fill_marginal(plan, schema, c, parameters);
}

void nd_initial_parameters(const struct plan *plan, const struct schema *schema, uint32_t seed, double scale,
                           bool marginals, float *parameters)
{
    if (plan->blocks) {
        fill_residual(plan, schema, seed, scale, parameters);
        return;
    }
    for (size_t layer = 0; layer < plan->layers; layer++) fill_layer(plan, seed, layer, scale, parameters);
    for (size_t column = 0; column < plan->columns; column++) {
        if (marginals) {
            fill_marginal(plan, schema, column, parameters);
            continue;
        }
        fill_output_weights(plan, seed, column, parameters);
        fill_output_bias(plan, column, parameters);
    }
    if (plan->rescale) fill_ones(&plan->tensor[nd_scale_index(plan)], parameters);
}
