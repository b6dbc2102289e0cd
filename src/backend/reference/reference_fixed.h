/* The classic NADE of one ordering (paper, section 2), included by reference_impl.h: the exact -log p of a row and its
 * gradient with the running sum of eqs. (4) and (5), O(DH) a row.  Missing cells are deleted from the ordering; the
 * positions of the others, and with them their factors where the plan has some, stay the same. */

/* a_{d+1} = a_d + x W[:, column d] (eq. 5). */
static void REF(fixed_observe)(const struct plan *plan, const real *parameters, size_t column, float x, real *a)
{
    const struct plan_column *c = &plan->column[column];
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(0)];
    size_t input = c->input + (c->head->one_hot ? (size_t)x : 0);
    real value = c->head->one_hot ? 1 : (real)x;
    for (size_t j = 0; j < weight->rows; j++) a[j] += value * parameters[weight->offset + j * weight->columns + input];
}

/* The column's outputs from the hidden units h: only its own rows of V are needed (eq. 2). */
static void REF(fixed_outputs)(const struct plan *plan, const real *parameters, size_t column, const real *h,
                               double *outputs)
{
    const struct plan_column *c = &plan->column[column];
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(1)], *bias = weight + 1;
    for (size_t i = 0; i < c->output_width; i++) {
        const real *v = parameters + weight->offset + (c->output + i) * weight->columns;
        real sum = parameters[bias->offset + c->output + i];
        for (size_t j = 0; j < weight->columns; j++) sum += v[j] * h[j];
        outputs[i] = (double)sum;
    }
}

/* Fills work->path with h_d of every position and work->delta with `factor` times the outputs' gradients. */
static double REF(fixed_forward)(const struct plan *plan, const real *parameters, const struct encoded_rows *cells,
                                 size_t row, double factor, struct REF(work) * work)
{
    size_t width = plan->hidden[0], bias = plan->tensor[nd_weight_index(0) + 1].offset;
    real *a = work->input;
    double loss = 0;
    for (size_t j = 0; j < width; j++) a[j] = parameters[bias + j]; /* eq. (4) */
    for (size_t t = 0; t < plan->columns; t++) {
        const struct plan_column *column = &plan->column[plan->ordering[t]];
        float x = nd_cell(cells, row, plan->ordering[t]);
        real *h = work->path + t * width;
        if (isnan(x)) continue;
        real scale = REF(scale_of)(plan, parameters, plan->ordering[t]);
        for (size_t j = 0; j < width; j++) h[j] = activation_value((int)plan->activation, scale * a[j]);
        memcpy(work->path_sums + t * width, a, width * sizeof *a);
        REF(fixed_outputs)(plan, parameters, plan->ordering[t], h, work->block);
        loss += REF(cell_loss)(column, (double)x, work);
        for (size_t i = 0; i < column->output_width; i++)
            work->delta[column->output + i] = (real)(work->block_delta[i] * factor);
        REF(fixed_observe)(plan, parameters, plan->ordering[t], x, a);
    }
    return loss;
}

/* Output layer of one position: its gradients, and what arrives at the hidden units: below (H) = dloss/d(rho_d a_d). */
static void REF(fixed_backward_outputs)(const struct plan *plan, const real *parameters, size_t column, const real *a,
                                        const real *h, const real *delta, real *below, real *gradient)
{
    real scale = REF(scale_of)(plan, parameters, column);
    const struct plan_column *c = &plan->column[column];
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(1)], *bias = weight + 1;
    for (size_t j = 0; j < weight->columns; j++) below[j] = 0;
    for (size_t k = c->output; k < c->output + c->output_width; k++) {
        size_t at = weight->offset + k * weight->columns;
        gradient[bias->offset + k] += delta[k];
        for (size_t j = 0; j < weight->columns; j++) {
            gradient[at + j] += delta[k] * h[j];
            below[j] += delta[k] * parameters[at + j];
        }
    }
    for (size_t j = 0; j < weight->columns; j++)
        below[j] *= activation_slope((int)plan->activation, scale * a[j], h[j]);
}

/* Position t's factor rho multiplies the sums a: its gradient, and below becomes dloss/da. */
static void REF(fixed_backward_scale)(const struct plan *plan, const real *parameters, size_t t, const real *a,
                                      real *below, real *gradient)
{
    size_t at = plan->tensor[nd_scale_index(plan)].offset + t;
    for (size_t j = 0; j < plan->hidden[0]; j++) {
        if (!ND_FAULT(FAULT_NO_SCALE_GRADIENT)) gradient[at] += below[j] * a[j];
        below[j] *= parameters[at];
    }
}

/* From the last position to the first.  x of position d enters every later sum, so its weight's gradient is x times the
 * total of da over the later positions; the bias enters all of them. */
static void REF(fixed_backward)(const struct plan *plan, const real *parameters, const struct encoded_rows *cells,
                                size_t row, struct REF(work) * work, real *gradient)
{
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(0)], *bias = weight + 1;
    real *later = work->input, *below = work->delta_below;
    for (size_t j = 0; j < weight->rows; j++) later[j] = 0;
    for (size_t t = plan->columns; t-- > 0;) {
        const struct plan_column *c = &plan->column[plan->ordering[t]];
        float x = nd_cell(cells, row, plan->ordering[t]);
        if (isnan(x)) continue;
        size_t input = c->input + (c->head->one_hot ? (size_t)x : 0);
        real value = c->head->one_hot ? 1 : (real)x;
        const real *a = work->path_sums + t * weight->rows, *h = work->path + t * weight->rows;
        REF(fixed_backward_outputs)(plan, parameters, plan->ordering[t], a, h, work->delta, below, gradient);
        if (plan->rescale) REF(fixed_backward_scale)(plan, parameters, t, a, below, gradient);
        for (size_t j = 0; j < weight->rows; j++) {
            real early = ND_FAULT(FAULT_FIXED_SUM_EARLY) ? below[j] : 0;
            gradient[weight->offset + j * weight->columns + input] += value * (later[j] + early);
            later[j] += below[j];
        }
    }
    for (size_t j = 0; j < bias->rows; j++) gradient[bias->offset + j] += later[j];
}

/* -log p of one row along the plan's ordering; gradient, which may be NULL, grows by factor times its gradient. */
static double REF(fixed_row)(const struct plan *plan, const real *parameters, const struct encoded_rows *cells,
                             size_t row, double factor, struct REF(work) * work, real *gradient)
{
    double loss = REF(fixed_forward)(plan, parameters, cells, row, factor, work);
    if (gradient) REF(fixed_backward)(plan, parameters, cells, row, work, gradient);
    return loss;
}
