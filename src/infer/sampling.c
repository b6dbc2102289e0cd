#include "infer/sampling.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/backend.h"
#include "base/fault.h"
#include "infer/orderings.h"
#include "model/draws.h"

/* Rows that one call of the backend draws; bounds the memory for their orderings. */
enum { BLOCK_ROWS = 1024 };

/* Standard deviations from the mean beyond which float arithmetic would overflow. */
#define FARTHEST 1e15

struct sampling {
    nade_context *context;
    const nade_model *model;
    const nade_sample_options *options;
    struct arena arena;
    const struct backend_entries *entries;
    struct backend *backend;
    size_t rows;
    float *cells;      /* (rows, columns): given ones in the model's units, NaN where a cell is to be drawn */
    size_t *ensemble;  /* (orderings, columns); NULL: each row has its own */
    size_t *order;     /* (BLOCK_ROWS, columns) */
    uint64_t *scratch; /* (columns) */
    uint64_t *draw;    /* (BLOCK_ROWS) */
    uint32_t *row;     /* (BLOCK_ROWS), zeros: a sample's number is all in its draw */
};

/* ---- given cells ------------------------------------------------------------------------------------------------ */

static nade_status refuse_cell(const struct sampling *s, size_t row, const struct column_spec *spec, double found)
{
    if (spec->type == NADE_REAL)
        return nd_fail(s->context, NADE_BAD_CALL,
                       "row %zu, column '%s': found %g, expected a number within 1e15 standard deviations of the "
                       "training mean",
                       row, spec->name, found);
    return nd_fail(s->context, NADE_BAD_CALL, "row %zu, column '%s': found %g, expected a whole number from 0 to %zu",
                   row, spec->name, found, spec->type == NADE_BINARY ? (size_t)1 : spec->label_count - 1);
}

static nade_status encode_cell(const struct sampling *s, size_t row, size_t column, double value, float *cell)
{
    const struct column_spec *spec = &s->model->schema.column[column];
    double standardised = (value - spec->mean) / spec->sd;
    size_t values = s->model->plan.column[column].values;
    bool good = spec->type == NADE_REAL ? fabs(standardised) <= FARTHEST
                                        : value >= 0 && value < (double)values && value == floor(value);
    if (!good) return refuse_cell(s, row, spec, value);
    *cell = (float)(spec->type == NADE_REAL ? standardised : value);
    return NADE_OK;
}

/* One ordering can be conditioned only on what comes first in it. */
static nade_status check_prefix(const struct sampling *s, size_t row, const size_t *ordering)
{
    const float *cells = s->cells + row * s->model->plan.columns;
    size_t hole = SIZE_MAX;
    for (size_t t = 0; t < s->model->plan.columns; t++) {
        if (isnan(cells[ordering[t]])) {
            if (hole == SIZE_MAX) hole = ordering[t];
        } else if (hole != SIZE_MAX) {
            return nd_fail(s->context, NADE_BAD_CALL,
                           "row %zu: column '%s' is given but '%s', which comes before it in the model's fixed "
                           "ordering, is not; expected the first columns of the ordering",
                           row, s->model->schema.column[ordering[t]].name, s->model->schema.column[hole].name);
        }
    }
    return NADE_OK;
}

static nade_status encode_given(struct sampling *s, const double *values)
{
    size_t columns = s->model->plan.columns;
    for (size_t row = 0; row < s->rows; row++) {
        nade_status status = NADE_OK;
        for (size_t c = 0; c < columns && status == NADE_OK; c++) {
            size_t at = row * columns + c;
            s->cells[at] = NAN;
            if (!isnan(values[at])) status = encode_cell(s, row, c, values[at], &s->cells[at]);
        }
        if (status == NADE_OK && s->model->plan.ordering) status = check_prefix(s, row, s->model->plan.ordering);
        if (status != NADE_OK) return status;
    }
    return NADE_OK;
}

/* ---- orderings -------------------------------------------------------------------------------------------------- */

static nade_status prepare_ensemble(struct sampling *s)
{
    const nade_sample_options *o = s->options;
    if (s->model->plan.ordering) return nd_check_fixed_ordering(s->context, &s->model->plan, o->orderings, o->order);
    if (o->orderings == 0) {
        if (o->order) return nd_fail(s->context, NADE_BAD_CALL, "orderings are given but their number is 0");
        return NADE_OK;
    }
    return nd_prepare_orderings(s->context, &s->arena, s->model->plan.columns, o->orderings, o->seed, o->order,
                                &s->ensemble);
}

/* The ordering of sample number `draw`. */
static void choose_ordering(const struct sampling *s, uint64_t draw, size_t *order)
{
    const struct plan *plan = &s->model->plan;
    const size_t *chosen = plan->ordering;
    uint32_t seed = s->options->seed, count = (uint32_t)s->options->orderings;
    if (!chosen && s->ensemble) {
        uint32_t word = nd_random_word(seed, PURPOSE_SAMPLE_ORDER, draw, 0, 0);
        if (ND_FAULT(FAULT_SAMPLE_ORDERING)) count--;
        chosen = s->ensemble + nd_random_below(word, count) * plan->columns;
    }
    if (chosen)
        memcpy(order, chosen, plan->columns * sizeof *order);
    else
        nd_draw_order(seed, PURPOSE_SAMPLE_ORDER, draw, 0, plan->columns, s->scratch, order);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static nade_status prepare(struct sampling *s, const double *values)
{
    size_t columns = s->model->plan.columns, count;
    if (nd_multiply(s->rows, columns, &count)) s->cells = nd_arena_alloc(&s->arena, count, sizeof *s->cells);
    if (nd_multiply(BLOCK_ROWS, columns, &count)) s->order = nd_arena_alloc(&s->arena, count, sizeof *s->order);
    s->scratch = nd_arena_alloc(&s->arena, columns, sizeof *s->scratch);
    s->draw = nd_arena_alloc(&s->arena, BLOCK_ROWS, sizeof *s->draw);
    s->row = nd_arena_alloc(&s->arena, BLOCK_ROWS, sizeof *s->row);
    if (!s->cells || !s->order || !s->scratch || !s->draw || !s->row) return nd_no_memory(s->context, "the samples");
    nade_status status = prepare_ensemble(s);
    if (status == NADE_OK) status = encode_given(s, values);
    if (status != NADE_OK) return status;
    s->entries = nd_backend_for(s->context, s->options->device);
    if (!s->entries) return NADE_BAD_CALL;
    status = s->entries->open(s->context, &s->model->plan, &s->backend);
    if (status != NADE_OK) return status;
    return s->entries->set_block(s->context, s->backend, BLOCK_PARAMETERS, s->model->parameters);
}

static nade_status draw_all(struct sampling *s)
{
    size_t columns = s->model->plan.columns;
    struct sample_query query = {s->order, s->draw, s->row, s->options->seed};
    for (size_t first = 0; first < s->rows; first += BLOCK_ROWS) {
        size_t left = s->rows - first, rows = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        for (size_t r = 0; r < rows; r++) {
            s->draw[r] = s->options->first + first + r;
            choose_ordering(s, s->draw[r], s->order + r * columns);
        }
        nade_status status = s->entries->sample_block(s->context, s->backend, &query, rows, s->cells + first * columns);
        if (status != NADE_OK) return status;
    }
    return NADE_OK;
}

/* ---- data units -------------------------------------------------------------------------------------------------- */

/* To a multiple of the step.  Steps are powers of ten up to 1: dividing by 10^k rather than multiplying by 10^-k gives
 * the double that prints with k decimals. */
static double round_to_step(double x, double step)
{
    double power = nearbyint(1 / step);
    bool reciprocal = fabs(power * step - 1) < 1e-9;
    double rounded = reciprocal ? nearbyint(x * power) / power : nearbyint(x / step) * step;
    return isfinite(rounded) ? rounded + 0.0 : x; /* + 0.0 makes -0 a 0 */
}

static double decode_cell(const struct sampling *s, size_t at)
{
    const struct column_spec *spec = &s->model->schema.column[at % s->model->plan.columns];
    double cell = (double)s->cells[at];
    if (spec->type != NADE_REAL) return cell;
    double x = spec->mean + spec->sd * cell;
    return spec->step > 0 && !s->options->exact ? round_to_step(x, spec->step) : x;
}

/* Checks all before anything is written: values stay as they were after a failure. */
static nade_status check_finite(const struct sampling *s)
{
    size_t columns = s->model->plan.columns;
    for (size_t at = 0; at < s->rows * columns; at++)
        if (!isfinite(decode_cell(s, at)))
            return nd_fail(s->context, NADE_NOT_FINITE,
                           "a draw of column '%s' is not finite: the model's parameters are too large",
                           s->model->schema.column[at % columns].name);
    return NADE_OK;
}

static void write_drawn(const struct sampling *s, double *values)
{
    size_t columns = s->model->plan.columns;
    for (size_t at = 0; at < s->rows * columns; at++)
        if (isnan(values[at])) values[at] = decode_cell(s, at);
}

nade_status nd_sample(nade_context *context, const nade_model *model, const nade_sample_options *options, size_t rows,
                      double *values)
{
    struct sampling s = {
        .context = context,
        .model = model,
        .options = options,
        .arena = {context->allocator, NULL},
        .rows = rows,
    };
    nade_status status = prepare(&s, values);
    if (status == NADE_OK) status = draw_all(&s);
    if (status == NADE_OK) status = check_finite(&s);
    if (status == NADE_OK) write_drawn(&s, values);
    if (s.backend) s.entries->close(s.backend);
    nd_arena_free(&s.arena);
    return status;
}
