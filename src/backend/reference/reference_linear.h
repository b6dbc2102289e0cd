/* A network of one ordering without hidden layers, included by reference_impl.h: the outputs of each column are linear
 * in the inputs of the columns before it; of binary columns a fully visible sigmoid belief network.  Missing cells are
 * deleted from the ordering.  Weights from a column to itself or to those before it are never read. */

/* outputs of a column from the inputs that are there: those of the columns before it, all others are zero. */
static void REF(linear_outputs)(const struct plan *plan, const real *parameters, const struct plan_column *column,
                                const real *input, double *outputs)
{
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(0)], *bias = weight + 1;
    for (size_t i = 0; i < column->output_width; i++) {
        const real *w = parameters + weight->offset + (column->output + i) * weight->columns;
        real sum = parameters[bias->offset + column->output + i];
        for (size_t j = 0; j < weight->columns; j++)
            if (input[j] != 0) sum += w[j] * input[j];
        outputs[i] = (double)sum;
    }
}

/* Adds `factor` times the gradient of the column's cell, whose outputs' is work->block_delta. */
static void REF(linear_gradient)(const struct plan *plan, const struct plan_column *column, double factor,
                                 const struct REF(work) * work, real *gradient)
{
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(0)], *bias = weight + 1;
    for (size_t i = 0; i < column->output_width; i++) {
        real delta = (real)(work->block_delta[i] * factor);
        real *g = gradient + weight->offset + (column->output + i) * weight->columns;
        gradient[bias->offset + column->output + i] += delta;
        for (size_t j = 0; j < weight->columns; j++) g[j] += delta * work->input[j];
    }
}

/* -log p of one row along the plan's ordering; gradient, which may be NULL, grows by factor times its gradient. */
static double REF(linear_row)(const struct plan *plan, const real *parameters, const struct encoded_rows *cells,
                              size_t row, double factor, struct REF(work) * work, real *gradient)
{
    double loss = 0;
    for (size_t j = 0; j < plan->inputs; j++) work->input[j] = 0;
    for (size_t t = 0; t < plan->columns; t++) {
        const struct plan_column *column = &plan->column[plan->ordering[t]];
        float x = nd_cell(cells, row, plan->ordering[t]);
        if (isnan(x)) continue;
        REF(linear_outputs)(plan, parameters, column, work->input, work->block);
        loss += REF(cell_loss)(column, (double)x, work);
        if (gradient) REF(linear_gradient)(plan, column, factor, work, gradient);
        bool one_hot = column->head->one_hot;
        work->input[column->input + (one_hot ? (size_t)x : 0)] = one_hot ? 1 : (real)x;
    }
    return loss;
}
