#include "infer/sampling.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "backend/backend.h"
#include "base/fault.h"
#include "infer/orderings.h"
#include "infer/ranges.h"
#include "model/draws.h"

/* Rows that one call of the backend draws; bounds the memory for their orderings. */
enum { BLOCK_ROWS = 1024 };

/* A row that misses its ranges is drawn anew at most so often; nor may fewer than one row in so many meet them. */
enum { TRIES_MOST = 10000 };

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
    uint32_t *row;     /* (BLOCK_ROWS): which try it is; a sample's number is all in its draw */
    struct ranges ranges;
    float *tried;         /* (BLOCK_ROWS, columns): cells of the rows that are being drawn */
    size_t *pending;      /* (BLOCK_ROWS): rows of the block that have not met their ranges yet */
    uint64_t drawn, kept; /* rows so far */
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

static nade_status check_given_ranges(const struct sampling *s, size_t row, const double *values)
{
    for (size_t c = 0; c < s->model->plan.columns; c++)
        if (values[c] < s->ranges.least[c] || values[c] > s->ranges.most[c])
            return nd_fail(s->context, NADE_BAD_CALL,
                           "row %zu, column '%s': the given %.17g lies outside the column's range", row,
                           s->model->schema.column[c].name, values[c]);
    return NADE_OK;
}

/* A model of one ordering can draw only the first column that is not given within bounds; another is left to new
 * tries. */
static void check_bounded_first(struct sampling *s)
{
    size_t columns = s->model->plan.columns, *bounded = &s->ranges.bounded;
    const size_t *ordering = s->model->plan.ordering;
    for (size_t row = 0; ordering && row < s->rows && *bounded != SIZE_MAX; row++) {
        const float *cells = s->cells + row * columns;
        size_t t = 0;
        while (t < columns && !isnan(cells[ordering[t]])) t++;
        if (t < columns && ordering[t] != *bounded && isnan(cells[*bounded])) *bounded = SIZE_MAX;
    }
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
        if (status == NADE_OK && s->ranges.low) status = check_given_ranges(s, row, values + row * columns);
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

static void move_to_front(size_t column, size_t *order)
{
    size_t at = 0;
    while (order[at] != column) at++;
    memmove(order + 1, order, at * sizeof *order);
    order[0] = column;
}

/* The ordering of try number `attempt` of sample number `draw`. */
static void choose_ordering(const struct sampling *s, uint64_t draw, uint32_t attempt, size_t *order)
{
    const struct plan *plan = &s->model->plan;
    const size_t *chosen = plan->ordering;
    uint32_t seed = s->options->seed, count = (uint32_t)s->options->orderings;
    if (!chosen && s->ensemble) {
        uint32_t word = nd_random_word(seed, PURPOSE_SAMPLE_ORDER, draw, attempt, 0);
        if (ND_FAULT(FAULT_SAMPLE_ORDERING)) count--;
        chosen = s->ensemble + nd_random_below(word, count) * plan->columns;
    }
    if (chosen)
        memcpy(order, chosen, plan->columns * sizeof *order);
    else
        nd_draw_order(seed, PURPOSE_SAMPLE_ORDER, draw, attempt, plan->columns, s->scratch, order);
    if (s->ranges.bounded != SIZE_MAX && !plan->ordering) move_to_front(s->ranges.bounded, order);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static nade_status prepare(struct sampling *s, const double *values)
{
    size_t columns = s->model->plan.columns, count;
    if (nd_multiply(s->rows, columns, &count)) s->cells = nd_arena_alloc(&s->arena, count, sizeof *s->cells);
    if (nd_multiply(BLOCK_ROWS, columns, &count)) {
        s->order = nd_arena_alloc(&s->arena, count, sizeof *s->order);
        s->tried = nd_arena_alloc(&s->arena, count, sizeof *s->tried);
    }
    s->pending = nd_arena_alloc(&s->arena, BLOCK_ROWS, sizeof *s->pending);
    s->scratch = nd_arena_alloc(&s->arena, columns, sizeof *s->scratch);
    s->draw = nd_arena_alloc(&s->arena, BLOCK_ROWS, sizeof *s->draw);
    s->row = nd_arena_alloc(&s->arena, BLOCK_ROWS, sizeof *s->row);
    if (!s->cells || !s->order || !s->tried || !s->pending || !s->scratch || !s->draw || !s->row)
        return nd_no_memory(s->context, "the samples");
    nade_status status = prepare_ensemble(s);
    if (status == NADE_OK) status = nd_read_ranges(s->context, &s->arena, s->model, s->options, &s->ranges);
    if (status == NADE_OK) status = encode_given(s, values);
    if (status != NADE_OK) return status;
    check_bounded_first(s);
    s->entries = nd_backend_for(s->context, s->options->device);
    if (!s->entries) return NADE_BAD_CALL;
    status = s->entries->open(s->context, &s->model->plan, &s->backend);
    if (status != NADE_OK) return status;
    return s->entries->set_block(s->context, s->backend, BLOCK_PARAMETERS, s->model->parameters);
}

/* Draws tries attempt…attempt+tries-1 of every pending row. */
static nade_status draw_tries(struct sampling *s, size_t first, size_t pending, uint32_t attempt, size_t tries)
{
    size_t columns = s->model->plan.columns, bounded = s->ranges.bounded;
    struct sample_query query = {.order = s->order,
                                 .draw = s->draw,
                                 .row = s->row,
                                 .seed = s->options->seed,
                                 .bounded = bounded,
                                 .low = bounded == SIZE_MAX ? 0 : s->ranges.low[bounded],
                                 .high = bounded == SIZE_MAX ? 0 : s->ranges.high[bounded]};
    for (size_t i = 0; i < pending * tries; i++) {
        size_t row = first + s->pending[i / tries];
        s->draw[i] = s->options->first + row;
        s->row[i] = attempt + (uint32_t)(i % tries);
        choose_ordering(s, s->draw[i], s->row[i], s->order + i * columns);
        memcpy(s->tried + i * columns, s->cells + row * columns, columns * sizeof *s->tried);
    }
    s->drawn += pending * tries;
    return s->entries->sample_block(s->context, s->backend, &query, pending * tries, s->tried);
}

/* Keeps each pending row's first try that lies within the ranges; returns how many rows are still without one. */
static size_t keep_good(struct sampling *s, size_t first, size_t pending, size_t tries)
{
    size_t columns = s->model->plan.columns, left = 0;
    for (size_t p = 0; p < pending; p++) {
        float *cells = s->cells + (first + s->pending[p]) * columns;
        const float *tried = s->tried + p * tries * columns;
        size_t t = 0;
        while (t < tries && !nd_within_ranges(&s->ranges, columns, cells, tried + t * columns)) t++;
        if (t < tries) memcpy(cells, tried + t * columns, columns * sizeof *cells);
        s->kept += t < tries;
        if (t == tries) s->pending[left++] = s->pending[p];
    }
    return left;
}

/* Rows that miss their ranges are drawn anew, ordering included: the rows that are kept come from the conditional.  A
 * row's tries are numbered and its first good one is taken, so it does not matter how many are drawn at once. */
static nade_status draw_block(struct sampling *s, size_t first, size_t rows)
{
    size_t pending = rows, attempt = 0;
    for (size_t r = 0; r < rows; r++) s->pending[r] = r;
    while (pending > 0) {
        bool hopeless = s->drawn >= 10 * (uint64_t)TRIES_MOST && s->kept * TRIES_MOST < s->drawn;
        if (attempt >= TRIES_MOST || hopeless)
            return nd_fail(s->context, NADE_BAD_CALL,
                           "the ranges are too unlikely together: %" PRIu64 " of %" PRIu64
                           " rows drawn lay within them, expected at least one in %d",
                           s->kept, s->drawn, TRIES_MOST);
        size_t tries = BLOCK_ROWS / pending < attempt ? BLOCK_ROWS / pending : attempt;
        if (tries == 0) tries = 1;
        nade_status status = draw_tries(s, first, pending, (uint32_t)attempt, tries);
        if (status != NADE_OK) return status;
        pending = keep_good(s, first, pending, tries);
        attempt += tries;
    }
    return NADE_OK;
}

static nade_status draw_all(struct sampling *s)
{
    nade_status status = NADE_OK;
    for (size_t first = 0; first < s->rows && status == NADE_OK; first += BLOCK_ROWS) {
        size_t left = s->rows - first;
        status = draw_block(s, first, left < BLOCK_ROWS ? left : BLOCK_ROWS);
    }
    return status;
}

/* ---- data units -------------------------------------------------------------------------------------------------- */

static double decode_cell(const struct sampling *s, size_t at)
{
    const struct column_spec *spec = &s->model->schema.column[at % s->model->plan.columns];
    double cell = (double)s->cells[at];
    if (spec->type != NADE_REAL) return cell;
    double x = spec->mean + spec->sd * cell;
    if (spec->step > 0 && !s->options->exact) x = nd_round_to_step(x, spec->step);
    if (!s->ranges.low || !isfinite(x)) return x;
    return fmin(fmax(x, s->ranges.least[at % s->model->plan.columns]), s->ranges.most[at % s->model->plan.columns]);
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
