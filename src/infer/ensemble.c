#include "infer/ensemble.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "infer/orderings.h"
#include "infer/query.h"
#include "infer/scored_rows.h"
#include "model/head.h"

struct scoring {
    nade_context *context;
    const nade_model *model;
    const nade_score_options *options;
    struct arena arena;
    nade_session *session;
    struct scored_rows rows;
    struct encoded_rows cells; /* of rows */
    struct column_query query;
    double *half_step; /* (network columns), plan's units, 0 = none; NULL: densities, not cell scores */
    double *log_scale; /* (rows): sum of log sd of the present scored cells */
    size_t orderings;  /* K */
    size_t *order;     /* (orderings, given and scored columns) */
    size_t block_rows;
    double *by_ordering; /* (orderings, block_rows) */
    double ordering_sum; /* over rows and orderings, for the mean of one ordering */

    /* The results, kept until all are there: what the caller sees is changed by a call that succeeds alone. */
    double *log_density, *spread; /* (rows) */
    double *each;                 /* (rows, orderings), NULL: not wanted */
};

/* Rows scored between two calls of the progress function.  Of many orderings fewer, so that their results need little
 * memory and the progress function is not long in coming, but enough to fill the backends' tiles. */
enum { BLOCK_ROWS = 1024, BLOCK_ROWS_LEAST = 64, BLOCK_RESULTS = 1 << 23 };

static size_t rows_of_block(size_t rows, size_t orderings)
{
    size_t block = orderings ? BLOCK_RESULTS / orderings : BLOCK_ROWS;
    if (block < BLOCK_ROWS_LEAST) block = BLOCK_ROWS_LEAST;
    if (block > BLOCK_ROWS) block = BLOCK_ROWS;
    return rows > 0 && rows < block ? rows : block;
}

/* Whether all orderings give the same: closed forms do, but for the cells of columns that depend on each other, which
 * are bins along an ordering. */
static bool is_closed(const struct scoring *s)
{
    nade_kind kind = s->model->plan.kind;
    return kind != NADE_KIND_NETWORK && !(s->options->cells && nd_is_gaussian(kind));
}

/* A model of one ordering has that one, however many are asked for; where all give the same, one is enough. */
static nade_status prepare_orderings(struct scoring *s)
{
    const nade_score_options *o = s->options;
    const struct plan *plan = &s->model->plan;
    nade_status status = NADE_OK;
    size_t cells, *orderings;
    s->orderings = o->orderings > 0 && (plan->ordering || is_closed(s)) ? 1 : o->orderings;
    if (plan->ordering) status = nd_check_fixed_ordering(s->context, plan, o->orderings, o->order);
    if (status == NADE_OK)
        status = nd_prepare_orderings(s->context, &s->arena, s->model->schema.count, s->orderings, o->seed,
                                      plan->ordering ? plan->ordering : o->order, &orderings);
    if (status == NADE_OK)
        status = nd_query_orders(s->context, &s->arena, s->model, &s->query, orderings, s->orderings, &s->order);
    if (status != NADE_OK) return status;
    s->block_rows = rows_of_block(s->cells.rows, s->orderings);
    if (nd_multiply(s->orderings, s->block_rows, &cells))
        s->by_ordering = nd_arena_alloc(&s->arena, cells, sizeof *s->by_ordering);
    if (o->each && nd_multiply(s->orderings, s->cells.rows, &cells))
        s->each = nd_arena_alloc(&s->arena, cells, sizeof *s->each);
    return s->by_ordering && (!o->each || s->each) ? NADE_OK : nd_no_memory(s->context, "the orderings");
}

/* True when a cell is missing before one that is present, along the order. */
static bool has_inner_hole(const struct scoring *s, size_t row)
{
    size_t length = s->query.given_count + s->query.of_count;
    bool hole = false;
    for (size_t t = 0; t < length; t++) {
        bool missing = isnan(nd_cell(&s->cells, row, s->order[t]));
        if (hole && !missing) return true;
        hole = hole || missing;
    }
    return false;
}

/* One ordering can leave out only its last columns: to leave out others is what the network may have learnt from rows
 * with holes, but no marginal of the densities it gives to whole rows. */
static void warn_of_holes(const struct scoring *s)
{
    size_t count = 0;
    for (size_t row = 0; s->model->plan.ordering && row < s->cells.rows; row++) count += has_inner_hole(s, row);
    if (count)
        nd_warn(s->context,
                "%zu row%s of %s lack%s cells that come before others in the model's fixed ordering: these are left "
                "out, which is no exact marginal",
                count, count == 1 ? "" : "s", nd_scored_source(&s->rows), count == 1 ? "s" : "");
}

/* Half of each real column's recording step. */
static nade_status prepare_cells(struct scoring *s)
{
    const struct schema *schema = &s->model->schema;
    if (!s->options->cells) return NADE_OK;
    s->half_step = nd_arena_alloc(&s->arena, nd_network_columns(schema), sizeof *s->half_step);
    if (!s->half_step) return nd_no_memory(s->context, "the columns");
    for (size_t c = 0; c < schema->count; c++) s->half_step[c] = schema->column[c].step / (2 * schema->column[c].sd);
    return NADE_OK;
}

static nade_status prepare(struct scoring *s, const nade_table *table)
{
    size_t rows = table ? table->rows : s->options->value_rows;
    s->log_scale = nd_arena_alloc(&s->arena, rows, sizeof *s->log_scale);
    s->log_density = nd_arena_alloc(&s->arena, rows, sizeof *s->log_density);
    s->spread = nd_arena_alloc(&s->arena, rows, sizeof *s->spread);
    if (!s->log_scale || !s->log_density || !s->spread) return nd_no_memory(s->context, "the rows");
    nade_status status = nd_read_query(s->context, &s->arena, s->model, s->options->of, s->options->given, &s->query);
    if (status == NADE_OK)
        status = nd_take_scored_rows(s->context, &s->arena, s->model, table, s->options, s->query.needed, s->query.of,
                                     &s->rows);
    s->cells = s->rows.cells;
    if (status == NADE_OK) status = prepare_orderings(s);
    if (status == NADE_OK) status = prepare_cells(s);
    if (status != NADE_OK) return status;
    nd_log_scale(&s->model->schema, &s->cells, s->query.of, s->log_scale);
    nd_share_scale(&s->model->schema, s->rows.labels, s->cells.rows, s->query.of, s->log_scale);
    warn_of_holes(s);
    return nd_session_begin(s->context, s->model, s->options->session, s->options->device, s->options->precision,
                            &s->session);
}

/* ---- one block of rows ------------------------------------------------------------------------------------------- */

/* log of the mean of exp(values), values a stride apart. */
static double log_mean_exp(const double *values, size_t count, size_t stride)
{
    double most = values[0], sum = 0;
    for (size_t i = 1; i < count; i++) most = fmax(most, values[i * stride]);
    for (size_t i = 0; i < count; i++) sum += exp(values[i * stride] - most);
    return most + log(sum / (double)(count + ND_FAULT(FAULT_ENSEMBLE_MEAN)));
}

static double deviation(const double *values, size_t count, size_t stride)
{
    double mean = 0, squares = 0;
    if (count < 2) return NAN;
    for (size_t i = 0; i < count; i++) mean += values[i * stride] / (double)count;
    for (size_t i = 0; i < count; i++) squares += (values[i * stride] - mean) * (values[i * stride] - mean);
    return sqrt(squares / (double)(count - !ND_FAULT(FAULT_SPREAD_DIVISOR)));
}

static struct encoded_rows rows_of(const struct encoded_rows *cells, size_t first, size_t rows)
{
    struct encoded_rows part = *cells;
    size_t size = cells->kind == ENCODED_FLOATS ? sizeof(float) : 1;
    part.rows = rows;
    part.data = (const char *)cells->data + first * cells->columns * size;
    return part;
}

static nade_status score_rows(struct scoring *s, size_t first, size_t rows)
{
    size_t orderings = s->orderings;
    struct encoded_rows part = rows_of(&s->cells, first, rows);
    struct score_query query = {s->order, orderings, s->query.given_count + s->query.of_count, s->query.given_count,
                                s->half_step};
    nade_status status = nd_session_scores(s->context, s->session, &part, &query, s->by_ordering);
    if (status == NADE_NOT_FINITE)
        return nd_refuse_outputs(s->context, s->session, nd_scored_place(&s->rows, first + s->session->row));
    if (status != NADE_OK) return status;
    for (size_t row = 0; row < rows; row++) {
        double units = ND_FAULT(FAULT_NO_LOG_SD) ? 0 : s->log_scale[first + row];
        s->log_density[first + row] = log_mean_exp(s->by_ordering + row, orderings, rows) - units;
        s->spread[first + row] = is_closed(s) ? 0 : deviation(s->by_ordering + row, orderings, rows);
        for (size_t k = 0; k < orderings; k++) {
            double one = s->by_ordering[k * rows + row] - units;
            s->ordering_sum += one;
            if (s->each) s->each[(first + row) * orderings + k] = one;
        }
    }
    return NADE_OK;
}

static nade_status score_all(struct scoring *s)
{
    const nade_score_options *o = s->options;
    for (size_t first = 0; first < s->cells.rows; first += s->block_rows) {
        size_t left = s->cells.rows - first, rows = left < s->block_rows ? left : s->block_rows;
        nade_status status = score_rows(s, first, rows);
        if (status != NADE_OK) return status;
        if (o->progress && o->progress(o->progress_user, (double)(first + rows) / (double)s->cells.rows))
            return nd_fail(s->context, NADE_INTERRUPTED, "scoring was interrupted");
    }
    return NADE_OK;
}

/* ---- summary ----------------------------------------------------------------------------------------------------- */

/* A row's log density, if the columns were independent. */
static double marginal_of(const struct scoring *s, size_t row)
{
    const struct plan *plan = &s->model->plan;
    double sum = 0;
    for (size_t c = 0; c < s->model->schema.count; c++) {
        float x = nd_cell(&s->cells, row, c);
        if (isnan(x) || !s->query.of[c]) continue;
        sum += nd_log_bin_or_density(&plan->alone[c], s->model->schema.column[c].marginal, (double)x,
                                     s->half_step ? s->half_step[c] : 0);
    }
    return ND_FAULT(FAULT_GAIN_UNITS) ? sum : sum - s->log_scale[row];
}

static double marginal_sum(const struct scoring *s)
{
    double sum = 0;
    for (size_t row = 0; row < s->cells.rows; row++) sum += marginal_of(s, row);
    return sum;
}

/* The cells of a row that are there and scored. */
static size_t count_scored(const struct scoring *s, size_t row)
{
    size_t present = 0;
    for (size_t c = 0; c < s->model->schema.count; c++) present += s->query.of[c] && !isnan(nd_cell(&s->cells, row, c));
    return present;
}

static bool has_bits(const struct scoring *s)
{
    for (size_t c = 0; c < s->model->schema.count; c++)
        if (s->query.of[c] && s->model->plan.column[c].head->continuous) return false;
    return true;
}

/* A row without a cell to score has the log density 0, which says nothing: it adds nothing to any sum, and the means
 * are over the other rows. */
static void summarise(const struct scoring *s, nade_score_summary *summary)
{
    const double *log_density = s->log_density;
    double sum = 0, squares = 0, spread_sum = 0, rows = 0, present = 0;
    for (size_t row = 0; row < s->cells.rows; row++) {
        size_t scored = count_scored(s, row);
        present += (double)scored;
        rows += scored > 0 || ND_FAULT(FAULT_EMPTY_ROWS_COUNT);
        sum += log_density[row];
        spread_sum += s->spread[row];
    }
    double mean = sum / rows;
    for (size_t row = 0; row < s->cells.rows; row++)
        if (count_scored(s, row) > 0) squares += (log_density[row] - mean) * (log_density[row] - mean);
    *summary = (nade_score_summary){
        .size = sizeof *summary,
        .rows = s->cells.rows,
        .mean = mean,
        .standard_error = rows > 1 ? sqrt(squares / (rows - !ND_FAULT(FAULT_STANDARD_ERROR)) / rows) : NAN,
        .mean_ordering = s->ordering_sum / rows / (double)s->orderings,
        .mean_spread = spread_sum / rows,
        .gain = mean - marginal_sum(s) / rows,
        .bits_per_cell = has_bits(s) && present > 0 ? -sum / present / log(2.0) : NAN,
        .cells = (size_t)present,
        .orderings = s->orderings,
        .unseen = s->rows.unseen.count,
        .empty_rows = s->cells.rows - (size_t)rows,
    };
    snprintf(summary->first_unseen, sizeof summary->first_unseen, "%s", s->rows.unseen.first);
}

nade_status nd_score(nade_context *context, const nade_model *model, const nade_table *table,
                     const nade_score_options *options, double *log_density, double *spread,
                     nade_score_summary *summary)
{
    struct scoring s = {.context = context, .model = model, .options = options, .arena = {context->allocator, NULL}};
    nade_status status = prepare(&s, table);
    if (status == NADE_OK) status = score_all(&s);
    if (status == NADE_OK) {
        memcpy(log_density, s.log_density, s.cells.rows * sizeof *log_density);
        if (spread) memcpy(spread, s.spread, s.cells.rows * sizeof *spread);
        if (s.each) memcpy(options->each, s.each, s.cells.rows * s.orderings * sizeof *s.each);
        for (size_t row = 0; options->independent && row < s.cells.rows; row++)
            options->independent[row] = marginal_of(&s, row);
        if (summary) summarise(&s, summary);
    }
    nd_session_end(s.session, options->session);
    nd_arena_free(&s.arena);
    return status;
}
