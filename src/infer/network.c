#include "infer/network.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "model/head.h"

nade_status nd_network_open(nade_context *context, const nade_model *model, nade_device device,
                            nade_precision precision, struct network *network)
{
    *network = (struct network){.context = context, .model = model};
    nade_status status =
        nd_backend_open(context, &model->plan, device, precision, &network->entries, &network->backend);
    if (status != NADE_OK) return status;
    return network->entries->set_block(context, network->backend, BLOCK_PARAMETERS, model->parameters);
}

void nd_network_close(struct network *network)
{
    if (network->backend) network->entries->close(network->backend);
    network->backend = NULL;
}

static nade_status found_at(struct network *network, size_t row, size_t column)
{
    network->row = row;
    network->column = column;
    return NADE_NOT_FINITE;
}

nade_status nd_network_outputs(struct network *network, const struct cells *cells, const size_t *target,
                               double *outputs)
{
    const struct plan *plan = &network->model->plan;
    size_t widest = nd_widest_block(plan);
    nade_status status =
        network->entries->conditional_block(network->context, network->backend, cells, target, outputs);
    for (size_t row = 0; row < cells->rows && status == NADE_OK; row++)
        if (!nd_outputs_are_finite(&plan->column[target[row]], outputs + row * widest))
            status = found_at(network, row, target[row]);
    return status;
}

/* Walks along an order again, a column at a time, to the first whose outputs are not finite.  scratch: (columns). */
static nade_status find_column(struct network *network, const struct cells *cells, size_t row,
                               const struct score_query *query, size_t k, float *scratch, double *outputs)
{
    const size_t *order = query->order + k * query->length;
    const struct cells one = {1, cells->columns, CELLS_FLOATS, scratch};
    for (size_t c = 0; c < cells->columns; c++) scratch[c] = NAN;
    for (size_t t = 0; t < query->length; t++) {
        float x = nd_cell(cells, row, order[t]);
        if (isnan(x)) continue;
        nade_status status = t < query->given ? NADE_OK : nd_network_outputs(network, &one, &order[t], outputs);
        if (status == NADE_NOT_FINITE) return found_at(network, row, order[t]);
        if (status != NADE_OK) return status;
        scratch[order[t]] = x;
    }
    return found_at(network, row, SIZE_MAX);
}

static nade_status blame_column(struct network *network, const struct cells *cells, size_t row,
                                const struct score_query *query, size_t k)
{
    struct arena arena = {network->context->allocator, NULL};
    float *scratch = nd_arena_alloc(&arena, cells->columns, sizeof *scratch);
    double *outputs = nd_arena_alloc(&arena, nd_widest_block(&network->model->plan), sizeof *outputs);
    nade_status status = scratch && outputs ? find_column(network, cells, row, query, k, scratch, outputs)
                                            : nd_no_memory(network->context, "the rows");
    nd_arena_free(&arena);
    return status;
}

/* With finite outputs every log density is: cells lie within 1e15 deviations, and squares of what floats can hold are
 * far from a double's end. */
nade_status nd_network_scores(struct network *network, const struct cells *cells, const struct score_query *query,
                              double *log_density)
{
    nade_status status = network->entries->score_block(network->context, network->backend, cells, query, log_density);
    for (size_t row = 0; row < cells->rows && status == NADE_OK; row++)
        for (size_t k = 0; k < query->orders && status == NADE_OK; k++)
            if (!isfinite(log_density[k * cells->rows + row])) status = blame_column(network, cells, row, query, k);
    return status;
}

nade_status nd_network_draws(struct network *network, const struct sample_query *query, size_t rows, float *cells)
{
    size_t columns = network->model->plan.columns;
    nade_status status = network->entries->sample_block(network->context, network->backend, query, rows, cells);
    for (size_t at = 0; at < rows * columns && status == NADE_OK; at++) {
        size_t row = at / columns, c = query->order[at];
        if (isnan(cells[row * columns + c])) status = found_at(network, row, c);
    }
    return status;
}

struct row_place nd_table_place(const nade_table *table, size_t row)
{
    return (struct row_place){table->source, table->array ? "row" : "line", nd_table_position(table, row)};
}

nade_status nd_refuse_outputs(const struct network *network, struct row_place place)
{
    char number[48] = "";
    const char *source = place.source ? place.source : "", *comma = place.source && place.unit ? ", " : "";
    if (place.unit) snprintf(number, sizeof number, "%s %zu: ", place.unit, place.number);
    if (network->column == SIZE_MAX)
        return nd_fail(network->context, NADE_NOT_FINITE,
                       "%s%s%sthe log density is not finite, the row's values lie too far from the training rows",
                       source, comma, number);
    return nd_fail(network->context, NADE_NOT_FINITE,
                   "%s%s%sthe model's weights give no finite output for column '%s', they are too large or the row's "
                   "other values lie too far from the training rows",
                   source, comma, number, network->model->schema.column[network->column].name);
}
