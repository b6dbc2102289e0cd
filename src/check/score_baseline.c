/* nade_score_baseline: what a model's columns count by, and rows scored by a fit to others. */
#include <math.h>
#include <string.h>

#include "api/api_options.h"
#include "base/memory.h"
#include "check/baseline.h"
#include "model/model.h"

/* The largest count, which stands for all from there on (docs/model.md). */
static const double COUNT_MOST = 100000;

struct work {
    nade_context *context;
    nade_baseline_options options;
    struct arena arena;
    struct baseline_column *column; /* (columns) */
    size_t columns;
    struct schema schema; /* of these */
};

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static struct baseline_column measure(const struct column_spec *spec, bool numeric, bool cells)
{
    struct baseline_column column = {.unit = 1, .least = -INFINITY, .most = INFINITY, .step = spec->step};
    if (!numeric) {
        column.labels = spec->label_count ? spec->label_count : 2;
        return column;
    }
    column.binned = spec->type != NADE_REAL || (cells && spec->step > 0);
    if (spec->type == NADE_REAL && column.binned) column.unit = spec->step;
    if (spec->type == NADE_ORDERED) {
        column.step = 0;
        column.values = spec->atom;
        column.value_count = spec->atoms;
    }
    if (spec->type == NADE_COUNT) {
        column.step = 1;
        column.least = 0;
        column.most = COUNT_MOST;
    }
    return column;
}

static nade_status take_columns(struct work *work, const nade_model *model)
{
    size_t count = nade_model_columns(model);
    work->columns = work->options.columns ? work->options.column_count : count;
    work->column = nd_arena_alloc(&work->arena, work->columns + 1, sizeof *work->column);
    struct column_spec *specs = nd_arena_alloc(&work->arena, work->columns + 1, sizeof *specs);
    work->schema = (struct schema){.count = work->columns, .column = specs, .named = model->schema.named};
    if (!work->column || !specs) return nd_no_memory(work->context, "the columns of a baseline");
    for (size_t j = 0; j < work->columns; j++) {
        size_t c = work->options.columns ? work->options.columns[j] : j;
        nade_column known = {.size = sizeof known};
        if (c >= count)
            return nd_fail(work->context, NADE_BAD_CALL,
                           "found column %zu for a baseline, expected one of the model's %zu", c, count);
        nade_model_column(model, c, &known);
        specs[j] = model->schema.column[c];
        work->column[j] = measure(&specs[j], known.numeric, work->options.cells);
    }
    return NADE_OK;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* A copy in which what is missing is NaN; labels are numbers of labels. */
static nade_status take_rows(struct work *work, size_t count, const double *values, struct baseline_rows *rows)
{
    size_t columns = work->columns;
    double *own = nd_arena_alloc(&work->arena, count + 1, (columns + 1) * sizeof *own);
    size_t *row = nd_arena_alloc(&work->arena, count + 1, sizeof *row);
    if (!own || !row) return nd_no_memory(work->context, "the rows of a baseline");
    for (size_t i = 0; i < count * columns; i++) {
        size_t labels = work->column[i % columns].labels;
        own[i] = isinf(values[i]) ? NAN : values[i];
        if (labels && !isnan(own[i]) && !(own[i] >= 0 && own[i] < (double)labels && own[i] == floor(own[i])))
            return nd_fail(work->context, NADE_BAD_CALL,
                           "row %zu of a baseline's, column %zu: found %g, expected the number of one of %zu labels",
                           i / columns, i % columns, own[i], labels);
    }
    for (size_t i = 0; i < count; i++) row[i] = i;
    *rows = (struct baseline_rows){work->column, columns, own, row, count, &work->context->allocator};
    return NADE_OK;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

static nade_status score_by_train(struct work *work, const struct baseline_method *method,
                                  const struct baseline_rows *rows, double *score, double *cell, size_t *components)
{
    const nade_baseline_options *options = &work->options;
    struct baseline_rows train;
    nade_status status = take_rows(work, options->train_rows, options->train, &train);
    if (status == NADE_OK) status = nd_baseline_score(method, &train, rows, score, cell, components);
    if (status != NADE_OK) return status;
    return options->progress && options->progress(options->progress_user, 1) ? NADE_INTERRUPTED : NADE_OK;
}

static nade_status score_rows(struct work *work, const struct baseline_rows *rows, double *score, double *cell,
                              size_t *components)
{
    const nade_baseline_options *options = &work->options;
    const struct baseline_method method = {options->kind, options->seed, work->context, &work->schema, options->cells};
    nade_status status = options->train ? score_by_train(work, &method, rows, score, cell, components)
                                        : nd_baseline_cross_fit(&method, rows, score, cell, components,
                                                                options->progress, options->progress_user);
    if (status == NADE_NO_MEMORY) return nd_no_memory(work->context, "the fit of a baseline");
    if (status == NADE_INTERRUPTED)
        return nd_fail(work->context, status, "the fit of a baseline was stopped before its end");
    return status;
}

/* Outputs are written when all is done. */
static nade_status run(struct work *work, size_t count, const double *values, double *log_density, double *cell,
                       size_t *components)
{
    struct baseline_rows rows;
    size_t found = 0, cells = count * work->columns;
    nade_status status = take_rows(work, count, values, &rows);
    double *score = nd_arena_alloc(&work->arena, count + 1, sizeof *score);
    double *own = cell ? nd_arena_alloc(&work->arena, cells + 1, sizeof *own) : NULL;
    if (status == NADE_OK && (!score || (cell && !own))) status = nd_no_memory(work->context, "a baseline's scores");
    if (status == NADE_OK) status = score_rows(work, &rows, score, own, &found);
    if (status != NADE_OK) return status;
    memcpy(log_density, score, count * sizeof *score);
    if (cell) memcpy(cell, own, cells * sizeof *own);
    if (components) *components = found;
    return NADE_OK;
}

static nade_status check_call(nade_context *context, const nade_model *model, const nade_baseline_options *options,
                              size_t rows, const double *values, const double *log_density)
{
    if (!model || !options || (rows > 0 && (!values || !log_density)))
        return nd_fail(context, NADE_BAD_CALL,
                       "nade_score_baseline needs a model, options, values and a place for the log densities");
    if (options->kind != NADE_BASELINE_GAUSSIAN && options->kind != NADE_BASELINE_MIXTURE)
        return nd_fail(context, NADE_BAD_CALL, "found the baseline number %d, expected 0 or 1", (int)options->kind);
    if (rows == 1 && !options->train)
        return nd_fail(context, NADE_BAD_INPUT,
                       "found 1 row to fit a baseline to and to score, expected several, or further rows to fit to");
    return NADE_OK;
}

nade_status nade_score_baseline(nade_context *context, const nade_model *model, const nade_baseline_options *options,
                                size_t rows, const double *values, double *log_density, double *cell,
                                size_t *components)
{
    struct work work = {.context = context};
    nade_status status = nd_take_options(context, "baseline's options", &work.options, sizeof work.options, options);
    if (status == NADE_OK)
        status = check_call(context, model, options ? &work.options : NULL, rows, values, log_density);
    if (status != NADE_OK) return status;
    work.arena.allocator = context->allocator;
    status = take_columns(&work, model);
    if (status == NADE_OK) status = run(&work, rows, values, log_density, cell, components);
    nd_arena_free(&work.arena);
    return status;
}
