#include "train/augment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "data/shared_rows.h"
#include "model/head.h"
#include "model/normal.h"
#include "train/jobs.h"
#include "train/schema_mixture.h"

enum { BLOCK_ROWS = 1024 };

/* How a column becomes a number that Gaussians can draw. */
struct latent {
    size_t column;
    bool as_is;    /* its cells are such numbers already */
    float *sorted; /* (present) else its cells in training, ascending, for which normal scores stand */
    size_t present;
};

struct augmenting {
    struct run *run;
    const struct encoded_rows *shown; /* what the mixture is fitted to */
    struct arena arena;
    struct latent *latent; /* (count) of the columns that are drawn */
    size_t count;
    float *place;  /* (fitted, count) what these columns become; NaN: missing */
    size_t fitted; /* rows in which one of them is there at least */
    nade_model *mixture;
    size_t drawn; /* rows */
};

/* ---- what is allowed --------------------------------------------------------------------------------------------- */

static nade_status refuse(nade_context *context, const char *why)
{
    return nd_fail(context, NADE_BAD_CALL, "rows are to be drawn for training (`augment`), but %s", why);
}

nade_status nd_augment_check(nade_context *context, const nade_train_options *o)
{
    if (o->augment == 0) return NADE_OK;
    if (o->holes) return refuse(context, "where cells are missing is to be learnt (`holes`), and none of theirs are");
    if (o->replication->fresh_rows) return refuse(context, "the training rows are replaced by fresh ones");
    if (!isnan(o->replication->stop_train_loss)) return refuse(context, "a loss of the table's own rows is to end it");
    return NADE_OK;
}

static double count_numbers(const struct run *run)
{
    const struct schema *schema = &run->model->schema;
    double count = 0;
    for (size_t c = 0; c < schema->count; c++) count += !nd_head_for(schema->column[c].type)->labels;
    return count;
}

/* Covariances cost the columns' number squared for each row, and its third power, in each round for each component. */
static bool is_within(const struct run *run, double most_columns, double most_squares)
{
    double columns = count_numbers(run), rows = (double)run->train.rows;
    return columns <= most_columns && rows * columns * columns <= most_squares;
}

/* A second or two. */
bool nd_augment_is_cheap(const struct run *run)
{
    bool mapped = run->sample.rows > 0;
    return count_numbers(run) > 1 && is_within(run, 60, 5e6) && !run->options.holes && !mapped;
}

/* Some twenty times as much is more than anyone would wait for. */
nade_status nd_augment_check_size(const struct run *run)
{
    if (run->options.augment == 0 || is_within(run, 120, 1e8)) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_CALL,
                   "rows are to be drawn for training (`augment`), but there are %zu rows and %.0f columns of numbers, "
                   "expected at most 120 columns, and rows times the square of columns at most 100 million",
                   run->train.rows, count_numbers(run));
}

/* ---- columns as numbers ------------------------------------------------------------------------------------------ */

struct ranked_cell {
    float cell;
    size_t row;
};

static int compare_cells(const void *a, const void *b)
{
    const struct ranked_cell *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The standard normal number below which so much lies as there is before the middle of the k-th of n cells. */
static float score_of(size_t k, size_t n)
{
    return (float)nd_normal_quantile_between(-INFINITY, INFINITY, ((double)k + 0.5) / (double)n);
}

static size_t sort_cells(const struct augmenting *a, size_t c, struct ranked_cell *sorted)
{
    const struct encoded_rows *shown = a->shown;
    size_t present = 0;
    for (size_t r = 0; r < shown->rows; r++) {
        float cell = nd_cell(shown, r, c);
        if (!isnan(cell)) sorted[present++] = (struct ranked_cell){cell, r};
    }
    qsort(sorted, present, sizeof *sorted, compare_cells);
    return present;
}

/* Labels have no order, and of a value that many cells have a Gaussian would tell as if it were any other: what such a
 * column leans on is learnt from the table's rows alone. */
static bool is_drawn(const struct augmenting *a, size_t c, const struct ranked_cell *sorted, size_t present)
{
    enum { MOST = 5 }; /* a fifth of the cells */
    size_t alike = 0, most = 0;
    for (size_t k = 0; k < present; k++) {
        alike = k > 0 && sorted[k].cell == sorted[k - 1].cell ? alike + 1 : 1;
        most = alike > most ? alike : most;
    }
    bool numbers = !nd_head_for(a->run->model->schema.column[c].type)->labels || ND_FAULT(FAULT_AUGMENT_LABELS);
    return numbers && present > 0 && (most * MOST <= present || ND_FAULT(FAULT_AUGMENT_LABELS));
}

/* Cells of real columns are bells or have been made ones, but where some of the values have probabilities of their own,
 * or lie so far out that a covariance would tell of them alone. */
static bool is_bell(const struct augmenting *a, size_t c, const struct ranked_cell *sorted, size_t present)
{
    const float farthest = 5;
    const struct column_spec *spec = &a->run->model->schema.column[c];
    bool near = -sorted[0].cell <= farthest && sorted[present - 1].cell <= farthest;
    return nd_head_for(spec->type)->continuous && spec->atoms == 0 && (near || ND_FAULT(FAULT_AUGMENT_FAR));
}

static nade_status place_column(struct augmenting *a, size_t c, const struct ranked_cell *sorted, size_t present)
{
    struct latent *latent = &a->latent[a->count];
    *latent = (struct latent){.column = c, .as_is = is_bell(a, c, sorted, present), .present = present};
    if (!latent->as_is) latent->sorted = nd_arena_alloc(&a->arena, present, sizeof *latent->sorted);
    if (!latent->as_is && !latent->sorted) return nd_no_memory(a->run->context, "the rows to draw from");
    for (size_t k = 0; k < present; k++) {
        float *place = &a->place[sorted[k].row * a->shown->columns + a->count];
        *place = latent->as_is ? sorted[k].cell : score_of(k, present);
        if (!latent->as_is) latent->sorted[k] = sorted[k].cell;
    }
    a->count++;
    return NADE_OK;
}

/* Leaves the columns that are drawn, and the rows that have any of them, one behind the other. */
static void close_gaps(struct augmenting *a)
{
    for (size_t r = 0; r < a->shown->rows; r++) {
        const float *row = a->place + r * a->shown->columns;
        bool some = false;
        for (size_t k = 0; k < a->count; k++) some = some || !isnan(row[k]);
        if (some) memmove(a->place + a->fitted++ * a->count, row, a->count * sizeof *a->place);
    }
}

static nade_status place_columns(struct augmenting *a)
{
    size_t columns = a->shown->columns, rows = a->shown->rows;
    nade_status status = NADE_OK;
    a->latent = nd_arena_alloc(&a->arena, columns, sizeof *a->latent);
    a->place = nd_arena_alloc(&a->arena, rows, columns * sizeof *a->place);
    struct ranked_cell *sorted = nd_arena_alloc(&a->arena, rows, sizeof *sorted);
    if (!a->latent || !a->place || !sorted) return nd_no_memory(a->run->context, "the rows to draw from");
    for (size_t i = 0; i < rows * columns; i++) a->place[i] = NAN;
    for (size_t c = 0; c < columns && status == NADE_OK; c++) {
        size_t present = sort_cells(a, c, sorted);
        if (is_drawn(a, c, sorted, present)) status = place_column(a, c, sorted, present);
    }
    close_gaps(a);
    return status;
}

/* ---- the mixture ------------------------------------------------------------------------------------------------- */

/* A schema of as many real columns, in units of their own. */
static nade_status open_mixture(struct augmenting *a)
{
    nade_context *context = a->run->context;
    struct nade_model *mixture = a->mixture = nd_model_create(context);
    if (!mixture) return nd_no_memory(context, "the rows to draw from");
    struct schema *schema = &mixture->schema;
    schema->count = a->count;
    schema->column = nd_arena_alloc(&mixture->arena, schema->count, sizeof *schema->column);
    if (!schema->column) return nd_no_memory(context, "the rows to draw from");
    for (size_t c = 0; c < schema->count; c++) {
        const struct latent *latent = &a->latent[c];
        double floor = latent->as_is ? a->run->model->schema.column[latent->column].floor : ND_SCALE_FLOOR;
        schema->column[c] = (struct column_spec){.name = "", .type = NADE_REAL, .sd = 1, .floor = floor};
    }
    mixture->architecture = (struct architecture){.kind = NADE_KIND_MOG, .components = 1};
    return nd_plan_build(context, &mixture->arena, schema, &mixture->architecture, &mixture->plan);
}

static nade_status fit_mixture(struct augmenting *a)
{
    const struct encoded_rows rows = {a->fitted, a->count, ENCODED_FLOATS, a->place};
    nade_status status = open_mixture(a);
    if (status != NADE_OK) return status;
    return nd_fit_schema_mixture(a->run->context, a->mixture, &rows, nd_member_seed(a->run));
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* The cell that a normal score stands for: of a column with a density what lies between those of training, unless they
 * are values that repeat, of others one of them. */
static float cell_of_score(const struct latent *latent, const struct head *head, float score)
{
    size_t last = latent->present - 1;
    double at = nd_normal_share((double)score) * (double)latent->present - 0.5;
    double within = fmin(fmax(at, 0), (double)last);
    if (!head->continuous && !ND_FAULT(FAULT_AUGMENT_BETWEEN)) return latent->sorted[(size_t)nearbyint(within)];
    size_t before = (size_t)floor(within), after = before < last ? before + 1 : last;
    const float *sorted = latent->sorted;
    float low = sorted[before], high = sorted[after];
    bool repeat = before > 0 && after < last && sorted[before - 1] == low && sorted[after + 1] == high;
    if (repeat) return sorted[(size_t)nearbyint(within)];
    return low + (high - low) * (float)(within - (double)before);
}

/* False: the column can't hold it. */
static bool find_cell(const struct augmenting *a, const struct latent *latent, float place, float *cell)
{
    const struct column_spec *spec = &a->run->model->schema.column[latent->column];
    const struct head *head = nd_head_for(spec->type);
    if (isnan(place)) return false;
    *cell = latent->as_is ? place : cell_of_score(latent, head, place);
    if (!head->continuous || ND_FAULT(FAULT_AUGMENT_ANYWHERE)) return true;
    return head->encode(spec, head->decode(spec, (double)*cell, false), cell);
}

static void put_cell(const struct encoded_rows *shape, size_t at, float cell, void *data)
{
    if (shape->kind == ENCODED_FLOATS)
        ((float *)data)[at] = cell;
    else
        ((uint8_t *)data)[at] = isnan(cell) ? ND_BYTE_MISSING : (uint8_t)cell;
}

/* Puts drawn numbers (count) in as row `to`, other cells missing; a row that can't be is one of the table's instead. */
static void keep_row(const struct augmenting *a, const float *place, size_t to, void *data)
{
    size_t columns = a->shown->columns, bytes = nd_row_bytes(a->shown);
    bool good = true;
    for (size_t c = 0; c < columns; c++) put_cell(a->shown, to * columns + c, NAN, data);
    for (size_t k = 0; k < a->count && good; k++) {
        float cell = NAN;
        good = find_cell(a, &a->latent[k], place[k], &cell);
        put_cell(a->shown, to * columns + a->latent[k].column, cell, data);
    }
    if (!good) memcpy((char *)data + to * bytes, (const char *)a->shown->data + to % a->shown->rows * bytes, bytes);
}

/* Draws the rows from number `first` of those drawn on; the buffers are of BLOCK_ROWS rows. */
struct draw_buffers {
    size_t *order;
    uint64_t *draw;
    uint32_t *row;
    float *place;
};

static nade_status draw_block(const struct augmenting *a, const struct backend_entries *entries,
                              struct backend *backend, const struct draw_buffers *b, size_t first, size_t count)
{
    struct sample_query query = {
        .order = b->order, .draw = b->draw, .row = b->row, .seed = nd_member_seed(a->run), .bounded = SIZE_MAX};
    for (size_t i = 0; i < count; i++) {
        b->draw[i] = 0;
        b->row[i] = (uint32_t)(first + i);
    }
    for (size_t i = 0; i < count * a->count; i++) b->place[i] = NAN;
    return entries->sample_block(a->run->context, backend, &query, count, b->place);
}

static nade_status draw_all(struct augmenting *a, const struct backend_entries *entries, struct backend *backend,
                            void *data)
{
    size_t columns = a->count, shown = a->shown->rows;
    struct draw_buffers b = {.order = nd_arena_alloc(&a->arena, BLOCK_ROWS, columns * sizeof *b.order),
                             .draw = nd_arena_alloc(&a->arena, BLOCK_ROWS, sizeof *b.draw),
                             .row = nd_arena_alloc(&a->arena, BLOCK_ROWS, sizeof *b.row),
                             .place = nd_arena_alloc(&a->arena, BLOCK_ROWS, columns * sizeof *b.place)};
    nade_status status = NADE_OK;
    if (!b.order || !b.draw || !b.row || !b.place) return nd_no_memory(a->run->context, "the rows to draw");
    for (size_t i = 0; i < BLOCK_ROWS * columns; i++) b.order[i] = i % columns;
    for (size_t first = 0; first < a->drawn && status == NADE_OK; first += BLOCK_ROWS) {
        size_t count = a->drawn - first < BLOCK_ROWS ? a->drawn - first : BLOCK_ROWS;
        status = draw_block(a, entries, backend, &b, first, count);
        for (size_t i = 0; i < count && status == NADE_OK; i++)
            keep_row(a, b.place + i * columns, shown + first + i, data);
    }
    return status;
}

static nade_status draw_rows(struct augmenting *a, void *data)
{
    const struct backend_entries *entries;
    struct backend *backend = NULL;
    nade_status status =
        nd_backend_open(a->run->context, &a->mixture->plan, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &entries, &backend);
    if (status == NADE_OK)
        status = entries->set_block(a->run->context, backend, BLOCK_PARAMETERS, a->mixture->parameters);
    if (status == NADE_OK) status = draw_all(a, entries, backend, data);
    if (backend) entries->close(backend);
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static nade_status find_room(struct augmenting *a, struct encoded_rows *rows, void **data)
{
    const struct encoded_rows *shown = a->shown;
    size_t width = nd_row_bytes(shown), bytes;
    uint64_t times = a->run->options.augment;
    if (times >= UINT32_MAX / shown->rows)
        return nd_fail(a->run->context, NADE_BAD_CALL,
                       "%zu training rows and %llu times as many that are drawn (`augment`) are too many, expected at "
                       "most %u",
                       shown->rows, (unsigned long long)times, UINT32_MAX - 1);
    a->drawn = shown->rows * (size_t)times;
    *rows = *shown;
    rows->rows += a->drawn;
    *data = nd_multiply(rows->rows, width, &bytes) ? nd_arena_alloc(&a->run->stage_arena, bytes, 1) : NULL;
    if (!*data) return nd_no_memory(a->run->context, "the rows to draw");
    memcpy(*data, shown->data, shown->rows * width);
    rows->data = *data;
    return NADE_OK;
}

nade_status nd_augment_rows(struct run *run, struct encoded_rows *rows)
{
    struct augmenting a = {.run = run,
                           .shown = ND_FAULT(FAULT_AUGMENT_WHOLE) ? &run->whole : &run->train,
                           .arena = {run->context->allocator, NULL}};
    const nade_world *world = nd_leave_ranks(run->context); /* the others may be at other jobs */
    void *data = NULL;
    *rows = run->train;
    nade_status status = place_columns(&a);
    bool draws = status == NADE_OK && a.count > 1;
    if (draws) status = find_room(&a, rows, &data);
    if (draws && status == NADE_OK) status = fit_mixture(&a);
    if (draws && status == NADE_OK) status = draw_rows(&a, data);
    nd_join_ranks(run->context, world);
    nade_model_free(a.mixture);
    nd_arena_free(&a.arena);
    return status;
}
