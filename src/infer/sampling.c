#include "infer/sampling.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "infer/member_choice.h"
#include "infer/orderings.h"
#include "infer/ranges.h"
#include "infer/session.h"
#include "infer/values.h"
#include "model/draws.h"
#include "model/head.h"
#include "model/label_range.h"
#include "model/rare_labels.h"

/* Rows that one call of the backend draws; bounds the memory for their orderings. */
enum { BLOCK_ROWS = 1024 };

/* A row that misses its ranges is drawn anew at most so often; nor may fewer than one row in so many meet them. */
enum { TRIES_MOST = 10000 };

struct sampling {
    nade_context *context;
    const nade_model *model;
    const nade_sample_options *options;
    struct sample_numbers numbers;
    struct arena arena;
    nade_session *session;
    size_t rows, lines; /* lines: rows and tries of rows that are drawn at a time */
    float *cells; /* (rows, columns of the network): given ones in the model's units, NaN where one is to be drawn */
    size_t *ensemble;         /* (orderings, columns of the data); NULL: each row has its own */
    size_t *order;            /* (lines, columns of the network) */
    uint64_t *scratch;        /* (columns of the network) */
    uint8_t *rank, *row_rank; /* (columns of the network): those of lower rank are drawn first, in a row's ordering */
    uint64_t *draw;           /* (lines) */
    uint32_t *row;            /* (lines): which try it is; a sample's number is all in its draw */
    struct ranges ranges;
    struct member_choice choice;
    float *tried;         /* (lines, columns of the network): cells of the rows that are being drawn */
    size_t *pending;      /* (lines): rows of the block that have not met their ranges yet */
    uint64_t drawn, kept; /* rows so far */
    uint32_t *kept_row;   /* (rows): the number of the try that was kept; NULL: there are no ranges, and no tries */
};

/* True for the value that rare labels share. */
static bool is_shared(const struct column_spec *spec, double cell)
{
    return spec->rare_count > 0 && (size_t)cell == nd_value_count(spec) - 1;
}

/* ---- given cells ------------------------------------------------------------------------------------------------- */

/* Rows that are drawn have no number of their own in the caller's eyes, unless they are given different cells. */
static const struct row_names given_names = {0, 0};

static nade_status check_given_ranges(const struct sampling *s, const double *values)
{
    size_t columns = s->model->schema.count;
    char place[ND_PLACE_SIZE];
    for (size_t at = 0; at < s->rows * columns; at++) {
        size_t c = at % columns;
        const double *number = s->model->schema.column[c].number;
        double value = number && !isnan(values[at]) ? number[(size_t)values[at]] : values[at];
        bool good =
            !(s->options->low && value < s->options->low[c]) && !(s->options->high && value > s->options->high[c]);
        if (!good)
            return nd_fail(s->context, NADE_BAD_CALL, "%scolumn '%s': the given %.15g lies outside the column's range",
                           nd_row_place(given_names, s->rows, columns, values, at / columns, place),
                           s->model->schema.column[c].name, value);
    }
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

/* ---- what rows are called ---------------------------------------------------------------------------------------- */

/* Draws for rows of data have the numbers of these rows, samples have none. */
static struct row_place place_of(const struct sampling *s, size_t row)
{
    if (s->numbers.draws == 0) return (struct row_place){.unit = NULL};
    return (struct row_place){NULL, "row", (size_t)s->options->first + row / s->numbers.draws};
}

/* What is given, or lies within a range, is not missing. */
static void mark_present(struct sampling *s)
{
    const struct schema *schema = &s->model->schema;
    for (size_t row = 0; row < s->rows; row++) {
        float *cells = s->cells + row * s->model->plan.columns;
        for (size_t i = 0; i < schema->hole_count; i++)
            if (!isnan(cells[schema->hole[i]]) || nd_is_ranged(&s->ranges, schema->hole[i]))
                cells[schema->count + i] = 0;
    }
}

static nade_status encode_given(struct sampling *s, const double *values)
{
    nade_status status = nd_encode_values(s->context, s->model, given_names, s->rows, values, s->cells);
    if (status == NADE_OK && s->options->holes) mark_present(s);
    return status == NADE_OK && s->ranges.low ? check_given_ranges(s, values) : status;
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
    return nd_prepare_orderings(s->context, &s->arena, s->model->schema.count, o->orderings, o->seed, o->order,
                                &s->ensemble);
}

/* In which order columns are drawn; within a rank a row's ordering counts.  The bounded column comes first of all.
 * Where holes are drawn, what is missing comes before the values.  What nobody wants to know comes last, where it is no
 * matter for the rest, and is dropped. */
enum rank { RANK_BOUNDED, RANK_HOLES, RANK_VALUES, RANK_DROPPED, RANKS };

static enum rank rank_of(const struct sampling *s, size_t c)
{
    const struct schema *schema = &s->model->schema;
    if (c == s->ranges.bounded) return RANK_BOUNDED;
    if (c < schema->count) return RANK_VALUES;
    return s->options->holes && c < schema->count + schema->hole_count ? RANK_HOLES : RANK_DROPPED;
}

static void rank_columns(struct sampling *s)
{
    for (size_t c = 0; c < s->model->plan.columns; c++) s->rank[c] = (uint8_t)rank_of(s, c);
}

/* Sorts an ordering by rank; columns of the same rank keep their order. */
static void sort_by_rank(const struct sampling *s, const uint8_t *rank, size_t *order)
{
    size_t columns = s->model->plan.columns, count = 0;
    for (int r = 0; r < RANKS; r++)
        for (size_t t = 0; t < columns; t++)
            if (rank[order[t]] == r) s->scratch[count++] = order[t];
    for (size_t t = 0; t < columns; t++) order[t] = (size_t)s->scratch[t];
}

/* The ordering of a row with these numbers. */
static void choose_ordering(const struct sampling *s, uint64_t draw, uint32_t row, size_t *order)
{
    const struct plan *plan = &s->model->plan;
    const size_t *chosen = plan->ordering;
    uint32_t seed = s->options->seed, count = (uint32_t)s->options->orderings;
    size_t values = s->model->schema.count;
    if (!chosen && s->ensemble) {
        uint32_t word = nd_random_word(seed, PURPOSE_SAMPLE_ORDER, draw, row, 0);
        if (ND_FAULT(FAULT_SAMPLE_ORDERING)) count--;
        chosen = s->ensemble + nd_random_below(word, count) * values;
    }
    if (!chosen || plan->columns > values)
        nd_draw_order(seed, PURPOSE_SAMPLE_ORDER, draw, row, plan->columns, s->scratch, order);
    for (size_t t = 0, next = 0; chosen && t < plan->columns; t++)
        if (plan->columns == values || order[t] < values) order[t] = chosen[next++];
    if (!plan->ordering) sort_by_rank(s, s->rank, order);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static nade_status prepare(struct sampling *s, const double *values)
{
    size_t columns = s->model->plan.columns, count;
    if (nd_multiply(s->rows, columns, &count)) s->cells = nd_arena_alloc(&s->arena, count, sizeof *s->cells);
    s->lines = s->rows < BLOCK_ROWS && !s->options->low && !s->options->high ? s->rows : BLOCK_ROWS;
    if (nd_multiply(s->lines, columns, &count)) {
        s->order = nd_arena_alloc(&s->arena, count, sizeof *s->order);
        s->tried = nd_arena_alloc(&s->arena, count, sizeof *s->tried);
    }
    s->pending = nd_arena_alloc(&s->arena, s->lines, sizeof *s->pending);
    s->scratch = nd_arena_alloc(&s->arena, columns, sizeof *s->scratch);
    s->rank = nd_arena_alloc(&s->arena, columns, 1);
    s->row_rank = nd_arena_alloc(&s->arena, columns, 1);
    s->draw = nd_arena_alloc(&s->arena, s->lines, sizeof *s->draw);
    s->row = nd_arena_alloc(&s->arena, s->lines, sizeof *s->row);
    if (s->options->low || s->options->high) s->kept_row = nd_arena_alloc(&s->arena, s->rows, sizeof *s->kept_row);
    if ((s->options->low || s->options->high) && !s->kept_row) return nd_no_memory(s->context, "the samples");
    if (!s->cells || !s->order || !s->tried || !s->pending || !s->scratch || !s->rank || !s->row_rank || !s->draw ||
        !s->row || !nd_choice_prepare(&s->arena, s->model, s->lines, &s->choice))
        return nd_no_memory(s->context, "the samples");
    nade_status status = prepare_ensemble(s);
    if (status == NADE_OK) status = nd_read_ranges(s->context, &s->arena, s->model, s->options, &s->ranges);
    if (status == NADE_OK) status = encode_given(s, values);
    if (status != NADE_OK) return status;
    nd_choose_bounded(s->model, s->rows, s->cells, &s->ranges);
    check_bounded_first(s);
    rank_columns(s);
    status = nd_session_begin(s->context, s->model, s->options->session, s->options->device, s->options->precision,
                              &s->session);
    if (status == NADE_OK)
        status = nd_choice_weigh(s->context, &s->arena, s->session, &s->ranges, s->rows, s->cells, &s->choice);
    if (status != NADE_NOT_FINITE) return status;
    return nd_refuse_outputs(s->context, s->session, place_of(s, s->session->row));
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

/* Whose cell the drawn row lacks: SIZE_MAX, or the column of the data that column count + i of the network tells of. */
static size_t hole_of(const struct sampling *s, const float *tried, size_t i)
{
    const struct schema *schema = &s->model->schema;
    return tried[schema->count + i] != 0 ? schema->hole[i] : SIZE_MAX;
}

/* Draws what comes after the holes in rows of which the first draws have said what is missing; what those drew of it is
 * forgotten.  A missing cell comes last, so that nothing is drawn given its value, and is emptied. */
static nade_status draw_values(struct sampling *s, struct sample_query query, size_t first, size_t lines, size_t tries)
{
    const struct schema *schema = &s->model->schema;
    size_t columns = s->model->plan.columns, hole;
    for (size_t i = 0; i < lines; i++) {
        const float *given = s->cells + (first + s->pending[i / tries]) * columns;
        float *tried = s->tried + i * columns;
        memcpy(s->row_rank, s->rank, columns);
        for (size_t h = 0; h < schema->hole_count; h++)
            if ((hole = hole_of(s, tried, h)) != SIZE_MAX && !ND_FAULT(FAULT_HOLE_IN_PLACE))
                s->row_rank[hole] = RANK_DROPPED;
        for (size_t c = 0; c < columns; c++)
            if (isnan(given[c]) && s->rank[c] > RANK_HOLES) tried[c] = NAN;
        sort_by_rank(s, s->row_rank, s->order + i * columns);
    }
    query.bounded = SIZE_MAX;
    nade_status status = nd_draw_by_member(s->context, s->session, &s->choice, &query, lines, s->tried);
    for (size_t i = 0; i < lines && status == NADE_OK; i++)
        for (size_t h = 0; h < schema->hole_count; h++)
            if ((hole = hole_of(s, s->tried + i * columns, h)) != SIZE_MAX) s->tried[i * columns + hole] = NAN;
    return status;
}

/* The member that draws line i, a try of a row. */
static size_t member_of(const struct sampling *s, size_t i, size_t row)
{
    const struct sample_numbers *n = &s->numbers;
    if (n->by_member && n->draws > 0 && !ND_FAULT(FAULT_DRAW_OF_MIXTURE))
        return (n->first_draw + row % n->draws) % s->model->members;
    return nd_choose_member(&s->choice, row, s->options->seed, s->draw[i], s->row[i]);
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
        number_row(s, row, &s->draw[i], &s->row[i]);
        s->row[i] += attempt + (uint32_t)(i % tries);
        choose_ordering(s, s->draw[i], s->row[i], s->order + i * columns);
        s->choice.member[i] = member_of(s, i, row);
        memcpy(s->tried + i * columns, s->cells + row * columns, columns * sizeof *s->tried);
    }
    s->drawn += pending * tries;
    nade_status status = nd_draw_by_member(s->context, s->session, &s->choice, &query, pending * tries, s->tried);
    if (status == NADE_OK && s->options->holes && s->model->schema.hole_count > 0)
        status = draw_values(s, query, first, pending * tries, tries);
    if (status != NADE_NOT_FINITE) return status;
    return nd_refuse_outputs(s->context, s->session, place_of(s, first + s->pending[s->session->row / tries]));
}

/* True when the labels of a try that were not given are numbers within their ranges.  Of those that share a value it is
 * the one that will be drawn for this try (draw_label). */
static bool has_labels_within(const struct sampling *s, size_t line, const float *given)
{
    const float *tried = s->tried + line * s->model->plan.columns;
    for (size_t c = 0; c < s->model->schema.count; c++) {
        const struct column_spec *spec = &s->model->schema.column[c];
        if (!spec->number || c == s->ranges.bounded || !isnan(given[c]) || !nd_is_ranged(&s->ranges, c)) continue;
        size_t label = (size_t)tried[c];
        if (is_shared(spec, (double)tried[c])) {
            uint32_t word =
                nd_random_word(s->options->seed, PURPOSE_RARE_LABEL, s->draw[line], s->row[line], (uint32_t)c);
            label = nd_draw_rare_label(spec, (double)nd_random_uniform(word));
        }
        if (!nd_label_is_between(spec, label, s->ranges.least[c], s->ranges.most[c])) return false;
    }
    return true;
}

/* Keeps each pending row's first try that lies within the ranges; returns how many rows are still without one. */
static size_t keep_good(struct sampling *s, size_t first, size_t pending, size_t tries)
{
    size_t columns = s->model->plan.columns, left = 0;
    for (size_t p = 0; p < pending; p++) {
        float *cells = s->cells + (first + s->pending[p]) * columns;
        const float *tried = s->tried + p * tries * columns;
        size_t t = 0;
        while (t < tries && !(nd_within_ranges(&s->ranges, s->model, cells, tried + t * columns) &&
                              has_labels_within(s, p * tries + t, cells)))
            t++;
        if (t < tries && s->kept_row) s->kept_row[first + s->pending[p]] = s->row[p * tries + t];
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

/* Cell number at of the rows, those of the data alone counted; NaN: it is a hole. */
static double cell_at(const struct sampling *s, size_t at)
{
    size_t columns = s->model->schema.count;
    return (double)s->cells[at / columns * s->model->plan.columns + at % columns];
}

/* For what a drawn cell leaves open, the label among those that share a value or the value within a cell of dates: a
 * uniform that only the row's numbers and the column decide. */
static double own_uniform(const struct sampling *s, size_t at)
{
    uint64_t draw;
    uint32_t row, c = (uint32_t)(at % s->model->schema.count);
    number_row(s, at / s->model->schema.count, &draw, &row);
    if (s->kept_row && !ND_FAULT(FAULT_LABEL_OF_FIRST_TRY)) row = s->kept_row[at / s->model->schema.count];
    return (double)nd_random_uniform(nd_random_word(s->options->seed, PURPOSE_RARE_LABEL, draw, row, c));
}

static double draw_label(const struct sampling *s, const struct column_spec *spec, size_t at)
{
    size_t c = at % s->model->schema.count;
    bool cut = c == s->ranges.bounded; /* others' labels lie within their ranges, or the try would not have been kept */
    double uniform = own_uniform(s, at);
    return (double)(cut ? nd_draw_rare_between(spec, s->ranges.least[c], s->ranges.most[c], uniform)
                        : nd_draw_rare_label(spec, uniform));
}

static double decode_cell(const struct sampling *s, size_t at)
{
    size_t c = at % s->model->schema.count;
    const struct column_spec *spec = &s->model->schema.column[c];
    double cell = cell_at(s, at);
    if (is_shared(spec, cell)) return draw_label(s, spec, at);
    double x = nd_decode_value(spec, cell, s->options->exact);
    if (nd_head_for(spec->type)->within) x += nd_head_for(spec->type)->within(spec, own_uniform(s, at));
    if (nd_head_for(spec->type)->labels || !s->ranges.low || !isfinite(x)) return x;
    return fmin(fmax(x, s->ranges.least[c]), s->ranges.most[c]);
}

/* Checks all before anything is written: values stay as they were after a failure. */
static nade_status check_finite(const struct sampling *s)
{
    size_t columns = s->model->schema.count;
    for (size_t at = 0; at < s->rows * columns; at++)
        if (!isnan(cell_at(s, at)) && !isfinite(decode_cell(s, at)))
            return nd_fail(s->context, NADE_NOT_FINITE, "a draw of column '%s' is too large for a double",
                           s->model->schema.column[at % columns].name);
    return NADE_OK;
}

static void write_drawn(const struct sampling *s, double *values)
{
    size_t columns = s->model->schema.count;
    for (size_t at = 0; at < s->rows * columns; at++)
        if (isnan(values[at]) && !isnan(cell_at(s, at))) values[at] = decode_cell(s, at);
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
    if (options->holes && !model->schema.holes)
        return nd_fail(context, NADE_BAD_CALL,
                       "holes are asked for, but the model has not learnt where cells are missing: expected one that "
                       "was trained with `holes`");
    nade_status status = prepare(&s, values);
    if (status == NADE_OK) status = draw_all(&s);
    if (status == NADE_OK) status = check_finite(&s);
    if (status == NADE_OK) write_drawn(&s, values);
    nd_session_end(s.session, options->session);
    nd_arena_free(&s.arena);
    return status;
}
