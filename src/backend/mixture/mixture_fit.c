#include "backend/mixture/mixture_fit.h"

#include "base/context.h"

void nd_mixture_fit_close(struct mixture_fit *fit)
{
    if (fit->open) nd_em_close(&fit->em);
    nd_arena_free(&fit->arena);
    *fit = (struct mixture_fit){.valid = fit->valid};
}

nade_status nd_mixture_fit_train(nade_context *context, struct mixture_fit *fit, const struct plan *plan,
                                 struct pool *pool, const struct encoded_rows *cells, const float *parameters)
{
    nd_mixture_fit_close(fit);
    fit->arena = (struct arena){context->allocator, NULL};
    fit->train = *cells;
    nade_status status = nd_em_list(context, &fit->arena, plan, &fit->train, &fit->rows);
    if (status != NADE_OK) return status;
    fit->open = true;
    status = nd_em_open(context, plan, &fit->rows, pool, &fit->em);
    if (status == NADE_OK) nd_em_load(&fit->em, parameters);
    return status;
}

void nd_mixture_fit_valid(struct mixture_fit *fit, const struct encoded_rows *cells)
{
    fit->valid = *cells;
    fit->listed = false;
}

/* Update 0 is the beginning, the first_draw-th of several; the loss is what the first of the rounds makes no larger. */
void nd_mixture_fit_rounds(struct mixture_fit *fit, const struct update_rule *rule, uint64_t first, uint64_t count,
                           double *loss)
{
    fit->em.prior = rule->prior;
    if (first == 0) nd_em_start(&fit->em, rule->seed, rule->first_draw);
    for (uint64_t i = 0; i < count; i++) {
        double log_density, objective = nd_em_step(&fit->em, &log_density);
        if (i == 0) *loss = -objective;
    }
}

/* The exact mean of -log p. */
nade_status nd_mixture_fit_validate(nade_context *context, struct mixture_fit *fit, double *loss)
{
    if (!fit->listed && !nd_em_list_places(&fit->arena, &fit->rows, &fit->valid, &fit->valid_places))
        return nd_no_memory(context, "the validation rows");
    fit->listed = true;
    *loss = -nd_em_score(&fit->em, &fit->valid, &fit->valid_places);
    return NADE_OK;
}
