#include "train/few_components.h"

#include <string.h>

static size_t few_of(const struct run *run)
{
    size_t few = run->options.components;
    for (size_t i = 0; i < run->candidates; i++)
        if (run->candidate[i].components < few) few = run->candidate[i].components;
    return few;
}

/* As if the columns had been learnt with so many (model/number_shape.c). */
static void bound_gaussians(struct column_spec *column, size_t columns, size_t components)
{
    for (size_t c = 0; c < columns; c++) {
        if (column[c].gaussians > components) column[c].gaussians = components;
        column[c].marginal = NULL;
        column[c].marginal_count = 0;
    }
}

nade_status nd_prepare_few(struct run *run)
{
    size_t few = few_of(run), columns = run->model->schema.count;
    if (few == run->options.components) return NADE_OK;
    struct nade_model *model = nd_arena_alloc(&run->arena, 1, sizeof *model);
    struct column_spec *column = nd_arena_alloc(&run->arena, columns, sizeof *column);
    if (!model || !column) return nd_no_memory(run->context, "the trials");
    *model = *run->model;
    model->arena = (struct arena){run->context->allocator, NULL}; /* all of it lies in the run's */
    model->schema.column = memcpy(column, run->model->schema.column, columns * sizeof *column);
    bound_gaussians(column, columns, few);
    model->architecture.components = few;
    run->few = model;
    return nd_plan_build(run->context, &run->arena, &model->schema, &model->architecture, &model->plan);
}

struct nade_model *nd_model_of_candidate(const struct run *run, const struct candidate *candidate)
{
    return candidate->components == run->options.components ? run->model : run->few;
}

/* Marginals become shorter, and stay where they are. */
nade_status nd_take_few(struct run *run, struct nade_model *model)
{
    const struct nade_model *few = run->few;
    if (run->model == model) return NADE_OK;
    run->model = model;
    for (size_t c = 0; c < model->schema.count; c++) {
        struct column_spec *to = &model->schema.column[c];
        const struct column_spec *from = &few->schema.column[c];
        to->gaussians = from->gaussians;
        to->marginal_count = from->marginal_count;
        if (from->marginal_count) memcpy(to->marginal, from->marginal, from->marginal_count * sizeof *to->marginal);
    }
    model->architecture = few->architecture;
    return nd_plan_build(run->context, &model->arena, &model->schema, &model->architecture, &model->plan);
}
