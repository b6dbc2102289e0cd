/* The mixture of products that `nade train --kind mixture` fits, with the types, atoms, maps and floors of a model's
 * columns: what it and the model differ by is what they say of dependence. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "check/baseline_parts.h"
#include "infer/values.h"
#include "train/schema_mixture.h"

struct mixture_work {
    const struct baseline_method *method;
    struct arena arena;
    struct nade_model *model;
};

/* A copy of the rows, one behind the other. */
static double *gather(struct mixture_work *work, const struct baseline_rows *rows)
{
    size_t width = rows->columns;
    double *values = nd_arena_alloc(&work->arena, rows->count + 1, (width + 1) * sizeof *values);
    for (size_t i = 0; values && i < rows->count; i++)
        memcpy(values + i * width, rows->values + rows->row[i] * width, width * sizeof *values);
    return values;
}

static nade_status open_model(struct mixture_work *work)
{
    nade_context *context = work->method->context;
    struct nade_model *model = work->model = nd_model_create(context);
    if (!model) return NADE_NO_MEMORY;
    model->schema = *work->method->schema;
    model->architecture = (struct architecture){.kind = NADE_KIND_MIXTURE, .components = 1};
    return nd_plan_build(context, &model->arena, &model->schema, &model->architecture, &model->plan);
}

static nade_status fit(struct mixture_work *work, const struct baseline_rows *rows)
{
    const struct row_names names = {0, 1};
    nade_context *context = work->method->context;
    double *values = gather(work, rows);
    float *cells = nd_arena_alloc(&work->arena, rows->count + 1, (rows->columns + 1) * sizeof *cells);
    if (!values || !cells) return NADE_NO_MEMORY;
    nade_status status = nd_encode_any_values(context, work->model, names, rows->count, values, NULL, cells);
    if (status != NADE_OK) return status;
    const struct encoded_rows encoded = {rows->count, rows->columns, ENCODED_FLOATS, cells};
    return nd_fit_schema_mixture(context, work->model, &encoded, work->method->seed);
}

/* log p of a cell given the others is that of the row less that of the row without it. */
static nade_status score_cells(struct mixture_work *work, nade_score_options *options, double *values,
                               const double *score, double *cell)
{
    size_t rows = options->value_rows, columns = work->model->schema.count;
    double *rest = nd_arena_alloc(&work->arena, rows + 1, 2 * sizeof *rest), *kept = rest ? rest + rows : NULL;
    nade_status status = rest ? NADE_OK : NADE_NO_MEMORY;
    for (size_t c = 0; c < columns && status == NADE_OK; c++) {
        for (size_t i = 0; i < rows; i++) {
            kept[i] = values[i * columns + c];
            values[i * columns + c] = NAN;
        }
        status = nade_score(work->method->context, work->model, NULL, options, rest, NULL, NULL);
        for (size_t i = 0; i < rows; i++) {
            values[i * columns + c] = kept[i];
            cell[i * columns + c] = isnan(kept[i]) ? NAN : score[i] - rest[i];
        }
    }
    return status;
}

static nade_status score_rows(struct mixture_work *work, const struct baseline_rows *rows, double *score, double *cell)
{
    nade_score_options options;
    double *values = gather(work, rows);
    if (!values) return NADE_NO_MEMORY;
    nade_score_options_init(&options, sizeof options);
    options.cells = work->method->cells;
    options.values = values;
    options.value_rows = rows->count;
    nade_status status = nade_score(work->method->context, work->model, NULL, &options, score, NULL, NULL);
    return status == NADE_OK && cell ? score_cells(work, &options, values, score, cell) : status;
}

nade_status nd_baseline_mixture_score(const struct baseline_method *method, const struct baseline_rows *fitted,
                                      const struct baseline_rows *scored, double *score, double *cell,
                                      size_t *components)
{
    struct mixture_work work = {.method = method, .arena = {method->context->allocator, NULL}};
    if (fitted->count == 0)
        return nd_fail(method->context, NADE_BAD_INPUT, "found no row to fit a mixture to, expected several");
    nade_status status = open_model(&work);
    if (status == NADE_OK) status = fit(&work, fitted);
    if (status == NADE_OK) status = score_rows(&work, scored, score, cell);
    if (status == NADE_OK) *components = work.model->architecture.components;
    nade_model_free(work.model);
    nd_arena_free(&work.arena);
    return status;
}
