#include "infer/sampling.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/backend.h"
#include "base/fault.h"
#include "infer/orderings.h"
#include "infer/values.h"
#include "model/draws.h"

/* Rows that one call of the backend draws; bounds the memory for their orderings. */
enum { BLOCK_ROWS = 1024 };

struct sampling {
    nade_context *context;
    const nade_model *model;
    const nade_sample_options *options;
    struct sample_numbers numbers;
    struct arena arena;
    const struct backend_entries *entries;
    struct backend *backend;
    size_t rows;
    float *cells;      /* (rows, columns): given ones in the model's units, NaN where a cell is to be drawn */
    size_t *ensemble;  /* (orderings, columns); NULL: each row has its own */
    size_t *order;     /* (BLOCK_ROWS, columns) */
    uint64_t *scratch; /* (columns) */
    uint64_t *draw;    /* (BLOCK_ROWS) */
    uint32_t *row;     /* (BLOCK_ROWS) */
};

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

/* The ordering of a row with these numbers. */
static void choose_ordering(const struct sampling *s, uint64_t draw, uint32_t row, size_t *order)
{
    const struct plan *plan = &s->model->plan;
    const size_t *chosen = plan->ordering;
    uint32_t seed = s->options->seed, count = (uint32_t)s->options->orderings;
    if (!chosen && s->ensemble) {
        uint32_t word = nd_random_word(seed, PURPOSE_SAMPLE_ORDER, draw, row, 0);
        if (ND_FAULT(FAULT_SAMPLE_ORDERING)) count--;
        chosen = s->ensemble + nd_random_below(word, count) * plan->columns;
    }
    if (chosen)
        memcpy(order, chosen, plan->columns * sizeof *order);
    else
        nd_draw_order(seed, PURPOSE_SAMPLE_ORDER, draw, row, plan->columns, s->scratch, order);
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
    if (status == NADE_OK)
        status = nd_encode_values(s->context, s->model, (struct row_names){0, 1}, s->rows, values, s->cells);
    if (status != NADE_OK) return status;
    s->entries = nd_backend_for(s->context, s->options->device);
    if (!s->entries) return NADE_BAD_CALL;
    status = s->entries->open(s->context, &s->model->plan, &s->backend);
    if (status != NADE_OK) return status;
    return s->entries->set_block(s->context, s->backend, BLOCK_PARAMETERS, s->model->parameters);
}

/* Which random words a row gets: those of a sample's number, or those of a draw for a row of data, whose number may
 * need more than 32 bits. */
static void number_row(const struct sampling *s, size_t at, uint64_t *draw, uint32_t *row)
{
    uint64_t draws = s->numbers.draws, first = s->options->first;
    *draw = first + at;
    *row = 0;
    if (draws == 0) return;
    uint64_t number = first + (ND_FAULT(FAULT_IMPUTE_ROW_NUMBER) ? 0 : at / draws);
    *draw = (number >> 32 << 32) | (uint32_t)(s->numbers.first_draw + at % draws);
    *row = (uint32_t)number;
}

static nade_status draw_all(struct sampling *s)
{
    size_t columns = s->model->plan.columns;
    struct sample_query query = {s->order, s->draw, s->row, s->options->seed};
    for (size_t first = 0; first < s->rows; first += BLOCK_ROWS) {
        size_t left = s->rows - first, rows = left < BLOCK_ROWS ? left : BLOCK_ROWS;
        for (size_t r = 0; r < rows; r++) {
            number_row(s, first + r, &s->draw[r], &s->row[r]);
            choose_ordering(s, s->draw[r], s->row[r], s->order + r * columns);
        }
        nade_status status = s->entries->sample_block(s->context, s->backend, &query, rows, s->cells + first * columns);
        if (status != NADE_OK) return status;
    }
    return NADE_OK;
}

/* ---- data units -------------------------------------------------------------------------------------------------- */

static double decode_cell(const struct sampling *s, size_t at)
{
    const struct column_spec *spec = &s->model->schema.column[at % s->model->plan.columns];
    return nd_decode_value(spec, (double)s->cells[at], s->options->exact);
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

nade_status nd_sample(nade_context *context, const nade_model *model, const nade_sample_options *options,
                      struct sample_numbers numbers, size_t rows, double *values)
{
    struct sampling s = {
        .context = context,
        .model = model,
        .options = options,
        .numbers = numbers,
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
