#include "train/schema_mixture.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "base/shared_work.h"
#include "data/shared_rows.h"
#include "train/closed.h"
#include "train/folds.h"

/* More rows make a mixture little better; of few rows a fifth is noise, as in folds; of fewer nothing can be chosen. */
enum { ROWS_MOST = 20000, ROWS_FEW = 500, ROWS_LEAST = 10, FOLDS = 5 };

void nd_open_mixture_run(nade_context *context, struct nade_model *model, nade_kind kind, uint64_t *made,
                         struct run *mixture)
{
    *mixture = (struct run){.context = context,
                            .arena = {context->allocator, NULL},
                            .stage_arena = {context->allocator, NULL},
                            .model = model,
                            .architecture = {.kind = kind},
                            .updates = ND_CLOSED_STEPS,
                            .iterations = 1,
                            .stages = 1,
                            .start_loss = NAN,
                            .best_loss = INFINITY,
                            .made_in_all = made,
                            .started = nd_seconds()};
    nade_train_options_init(&mixture->options, sizeof mixture->options);
    nade_replication_options_init(&mixture->replication);
    mixture->options.kind = kind;
    mixture->options.iterations = ND_CLOSED_STEPS;
    mixture->options.effort = NADE_EFFORT_QUICK;
}

/* Copies of a row, which stand one behind the other, are not torn apart: what is learnt by heart would validate. */
static bool is_copy(const struct encoded_rows *rows, size_t r)
{
    size_t bytes = nd_row_bytes(rows);
    const char *row = (const char *)rows->data + r * bytes;
    return r > 0 && !ND_FAULT(FAULT_COPIES_VALIDATE) && memcmp(row, row - bytes, bytes) == 0;
}

static size_t count_different(const struct encoded_rows *rows)
{
    size_t count = 0;
    for (size_t r = 0; r < rows->rows; r++) count += !is_copy(rows, r);
    return count;
}

/* Of rows that differ every fifth from number f on validates. */
static size_t count_held(const struct encoded_rows *all, size_t f)
{
    size_t held = 0, number = 0;
    for (size_t r = 0; r < all->rows; r++) {
        number += !is_copy(all, r);
        held += (number - 1) % FOLDS == f;
    }
    return held;
}

static nade_status take_part(struct run *run, const struct encoded_rows *all, size_t f, struct fold_rows *part)
{
    size_t width = all->columns, held = count_held(all, f), number = 0;
    float *cells = nd_arena_alloc(&run->arena, all->rows, width * sizeof *cells);
    if (!cells) return nd_no_memory(run->context, "the rows of a mixture");
    float *learnt = cells, *valid = cells + (all->rows - held) * width;
    *part = (struct fold_rows){.train = {all->rows - held, width, ENCODED_FLOATS, learnt},
                               .valid = {held, width, ENCODED_FLOATS, valid}};
    for (size_t r = 0; r < all->rows; r++) {
        number += !is_copy(all, r);
        float **to = (number - 1) % FOLDS == f ? &valid : &learnt;
        for (size_t c = 0; c < width; c++) *(*to)++ = nd_cell(all, r, c);
    }
    run->valid_rows += held;
    return NADE_OK;
}

static nade_status fit(struct run *run, const struct encoded_rows *rows)
{
    struct fold_rows part[FOLDS], whole = {.train_scale = 0};
    nade_status status = nd_spaced_rows(run->context, &run->arena, rows, ROWS_MOST, &whole.train);
    if (status != NADE_OK) return status;
    size_t count = count_different(&whole.train), parts = count < ROWS_LEAST ? 0 : count < ROWS_FEW ? FOLDS : 1;
    for (size_t f = 0; f < parts && status == NADE_OK; f++) status = take_part(run, &whole.train, f, &part[f]);
    if (status != NADE_OK) return status;
    run->train = whole.train;
    if (parts) return nd_closed_fit_parts(run, part, parts, &whole);
    run->options.components = 1;
    return nd_closed_fit_parts(run, &whole, 1, &whole);
}

static nade_status keep(const struct run *run, struct nade_model *model)
{
    model->architecture = run->architecture;
    nade_status status = nd_plan_build(run->context, &model->arena, &model->schema, &model->architecture, &model->plan);
    if (status != NADE_OK) return status;
    model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
    if (!model->parameters) return nd_no_memory(run->context, "the parameters");
    memcpy(model->parameters, run->best, model->plan.parameters * sizeof *model->parameters);
    return NADE_OK;
}

nade_status nd_fit_schema_mixture(nade_context *context, struct nade_model *model, const struct encoded_rows *rows,
                                  uint32_t seed)
{
    struct run run;
    uint64_t made = 0;
    nd_open_mixture_run(context, model, model->architecture.kind, &made, &run);
    run.options.seed = seed;
    nade_status status = fit(&run, rows);
    if (status == NADE_OK) status = keep(&run, model);
    nd_arena_free(&run.stage_arena);
    nd_arena_free(&run.arena);
    return status;
}
