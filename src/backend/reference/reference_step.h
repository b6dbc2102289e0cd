/* What is made of an update's gradient: clipping, the optimiser's step, the average.  Part of reference_impl.h. */

static void REF(take_step)(const struct update_rule *rule, const struct step_rates *rates, double decay,
                           struct REF(backend) * backend, size_t i)
{
    real *const *block = backend->block;
    double moment1 = (double)block[BLOCK_MOMENT1][i], moment2 = (double)block[BLOCK_MOMENT2][i];
    double parameter = (double)block[BLOCK_PARAMETERS][i], gradient = (double)block[BLOCK_GRADIENT][i];
#define ROW(kind, name, ...)                                                                                           \
    case kind: name##_step(rates, decay, gradient, &moment1, &moment2, &parameter); break;
    switch (rule->optimizer) {
        ND_OPTIMIZERS(ROW)
    }
#undef ROW
    block[BLOCK_MOMENT1][i] = (real)moment1;
    block[BLOCK_MOMENT2][i] = (real)moment2;
    block[BLOCK_PARAMETERS][i] = (real)parameter;
    if (rule->average <= 0) return;
    double average = (double)block[BLOCK_AVERAGE][i];
    average_step(rates, parameter, &average);
    block[BLOCK_AVERAGE][i] = (real)average;
}

/* What comes between gradient and step. */
static void REF(clip)(struct REF(backend) * backend, const struct update_rule *rule)
{
    real *gradient = backend->block[BLOCK_GRADIENT];
    double squares = 0;
    for (size_t i = 0; i < backend->plan->parameters; i++) squares += (double)gradient[i] * (double)gradient[i];
    double factor = nd_clip_factor(rule, squares);
    for (size_t i = 0; i < backend->plan->parameters && factor < 1; i++)
        gradient[i] = (real)(factor * (double)gradient[i]);
}

static void REF(step)(struct REF(backend) * backend, const struct update_rule *rule, uint64_t update)
{
    struct step_rates rates = nd_step_rates(rule, update);
    for (size_t t = 0; t < backend->plan->tensors; t++) {
        const struct tensor_view *view = &backend->plan->tensor[t];
        double decay = nd_decay_of(rule, backend->plan, t);
        for (size_t i = view->offset; i < view->offset + view->rows * view->columns; i++)
            REF(take_step)(rule, &rates, decay, backend, i);
    }
}
