/* Residual networks, included by reference_impl.h.
 *
 *   h = input z;   for each block: h += down(drop(gelu(up(norm(h)))));   outputs = output(drop(gelu(norm(h)))) + direct
 * z
 *
 * Of the layers (plan.h) work->hidden[2b] is h before block b, sums[2b+1] what up gives, hidden[2b+1] what enters down;
 * the last, hidden[2·blocks], is h before the output. */

static const real *REF(normed_of)(const struct plan *plan, size_t norm, const struct REF(work) * work)
{
    return work->residual.normed + norm * plan->hidden[0];
}

/* LayerNorm: centred and divided by the deviation, each over the units; then a weight and a bias a unit. */
static void REF(norm)(const struct plan *plan, const real *parameters, size_t norm, const real *h,
                      struct REF(work) * work)
{
    size_t width = plan->hidden[0], index = nd_norm_index(plan, norm);
    const real *weight = parameters + plan->tensor[index].offset, *bias = parameters + plan->tensor[index + 1].offset;
    real *unit = work->residual.unit + norm * width, *normed = work->residual.normed + norm * width;
    real mean = 0, variance = 0;
    for (size_t i = 0; i < width; i++) mean += h[i];
    mean /= (real)width;
    for (size_t i = 0; i < width; i++) variance += (h[i] - mean) * (h[i] - mean);
    variance /= (real)(ND_FAULT(FAULT_NORM_VARIANCE) ? width - 1 : width);
    real inverse = (real)(1 / sqrt((double)variance + ND_NORM_EPSILON));
    for (size_t i = 0; i < width; i++) {
        unit[i] = (h[i] - mean) * inverse;
        normed[i] = unit[i] * weight[i] + bias[i];
    }
    work->residual.inverse[norm] = inverse;
}

/* out = drop(gelu(sums)) at a place of dropout: a block, or before the output. */
static void REF(drop_gelu)(const struct plan *plan, size_t place, const real *sums, const struct REF(work) * work,
                           real *out)
{
    const real *factor = work->residual.factor + place * plan->hidden[0];
    for (size_t i = 0; i < plan->hidden[0]; i++) out[i] = factor[i] * gelu_value(sums[i]);
}

static void REF(add_direct)(const struct plan *plan, const real *parameters, const real *input, real *output)
{
    const real *w = parameters + plan->tensor[nd_direct_index(plan)].offset;
    for (size_t i = 0; i < plan->outputs; i++, w += plan->inputs)
        for (size_t j = 0; j < plan->inputs; j++) output[i] += w[j] * input[j];
}

static void REF(residual_forward)(const struct plan *plan, const real *parameters, struct REF(work) * work)
{
    size_t blocks = plan->blocks;
    REF(affine)(plan, parameters, 0, work->input, work->hidden[0]);
    for (size_t b = 0; b < blocks; b++) {
        size_t up = 2 * b + 1, down = 2 * b + 2;
        REF(norm)(plan, parameters, b, work->hidden[2 * b], work);
        REF(affine)(plan, parameters, up, REF(normed_of)(plan, b, work), work->sums[up]);
        REF(drop_gelu)(plan, b, work->sums[up], work, work->hidden[up]);
        REF(affine)(plan, parameters, down, work->hidden[up], work->hidden[down]);
        for (size_t i = 0; i < plan->hidden[0]; i++) work->hidden[down][i] += work->hidden[2 * b][i];
    }
    REF(norm)(plan, parameters, blocks, work->hidden[2 * blocks], work);
    REF(drop_gelu)(plan, blocks, REF(normed_of)(plan, blocks, work), work, work->residual.last);
    REF(affine)(plan, parameters, plan->layers, work->residual.last, work->output);
    if (plan->direct) REF(add_direct)(plan, parameters, work->input, work->output);
}

/* work->delta, which arrives behind a place of dropout, moves before the gelu of its sums. */
static void REF(backward_gelu)(const struct plan *plan, size_t place, const real *sums, struct REF(work) * work)
{
    const real *factor = work->residual.factor + place * plan->hidden[0];
    for (size_t i = 0; i < plan->hidden[0]; i++) work->delta[i] *= factor[i] * gelu_slope(sums[i], 0);
}

/* work->delta arrives behind a norm: its gradients; and the stream's gradient grows by what arrives before it. */
static void REF(backward_norm)(const struct plan *plan, const real *parameters, size_t norm, struct REF(work) * work,
                               real *gradient)
{
    size_t width = plan->hidden[0], index = nd_norm_index(plan, norm);
    size_t weight = plan->tensor[index].offset, bias = plan->tensor[index + 1].offset;
    const real *unit = work->residual.unit + norm * width;
    real mean = 0, product = 0; /* of what arrives at the units, and of that times the units */
    for (size_t i = 0; i < width; i++) {
        gradient[weight + i] += work->delta[i] * unit[i];
        gradient[bias + i] += work->delta[i];
        work->delta[i] *= parameters[weight + i];
        mean += work->delta[i];
        product += work->delta[i] * unit[i];
    }
    mean /= (real)width;
    product /= (real)width;
    for (size_t i = 0; i < width; i++)
        work->residual.stream[i] += work->residual.inverse[norm] * (work->delta[i] - mean - unit[i] * product);
}

static void REF(backward_direct)(const struct plan *plan, const real *input, const real *delta, real *gradient)
{
    real *g = gradient + plan->tensor[nd_direct_index(plan)].offset;
    for (size_t i = 0; i < plan->outputs; i++, g += plan->inputs)
        for (size_t j = 0; j < plan->inputs; j++) g[j] += delta[i] * input[j];
}

static void REF(residual_backward)(const struct plan *plan, const real *parameters, struct REF(work) * work,
                                   real *gradient)
{
    size_t blocks = plan->blocks, bytes = plan->hidden[0] * sizeof(real);
    real *stream = work->residual.stream;
    memset(stream, 0, bytes);
    if (plan->direct) REF(backward_direct)(plan, work->input, work->delta, gradient);
    REF(backward_layer)(plan, parameters, plan->layers, work->residual.last, work, gradient);
    REF(backward_gelu)(plan, blocks, REF(normed_of)(plan, blocks, work), work);
    REF(backward_norm)(plan, parameters, blocks, work, gradient);
    for (size_t b = blocks; b-- > 0;) {
        size_t up = 2 * b + 1, down = 2 * b + 2;
        memcpy(work->delta, stream, bytes);
        REF(backward_layer)(plan, parameters, down, work->hidden[up], work, gradient);
        REF(backward_gelu)(plan, b, work->sums[up], work);
        REF(backward_layer)(plan, parameters, up, REF(normed_of)(plan, b, work), work, gradient);
        REF(backward_norm)(plan, parameters, b, work, gradient);
    }
    memcpy(work->delta, stream, bytes);
    REF(backward_layer)(plan, parameters, 0, work->input, work, gradient);
}

/* What dropout, NULL: none, does to a slot's units. */
static void REF(drop_units)(const struct plan *plan, const struct dropout *dropout, size_t slot,
                            struct REF(work) * work)
{
    uint32_t threshold = dropout ? nd_dropout_threshold(dropout->share) : 0;
    real scale = (real)nd_dropout_scale(threshold), *factor = work->residual.factor;
    if (!plan->blocks) return;
    for (size_t i = 0; i < (plan->blocks + 1) * plan->hidden[0]; i++) {
        bool dropped =
            threshold && nd_dropout_bits(dropout->seed, dropout->update, (uint32_t)slot, (uint32_t)i) < threshold;
        factor[i] = dropped ? 0 : scale;
    }
}
