#include "train/mapped_training.h"

#include <math.h>
#include <string.h>

#include "base/shared_work.h"
#include "data/mapped_rows.h"
#include "model/encode.h"

enum { BLOCK_CELLS = 1 << 20 };

nade_status nd_mapped_check(const struct run *run, const nade_table *train, const nade_table *valid)
{
    const nade_train_options *o = &run->options;
    const char *why = valid && valid->mapped        ? "validates"
                      : !train->mapped              ? NULL
                      : o->holes                    ? "is to be learnt with its holes (`holes`)"
                      : o->augment                  ? "is to have rows drawn beside its own (`augment`)"
                      : o->bootstrap                ? "is to be sampled for members (`bootstrap`)"
                      : o->folds                    ? "is to be divided into folds (`folds`)"
                      : run->replication.fresh_rows ? "is to get fresh rows"
                                                    : NULL;
    if (!why) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_CALL, "%s %s, expected a table that was read without `map`",
                   valid && valid->mapped ? valid->source : train->source, why);
}

bool nd_mapped_is_shared(const struct run *run)
{
    bool here = run->options.device == NADE_DEVICE_CPU || run->options.device == NADE_DEVICE_AUTO;
    return nd_ranks(run->context) > 1 && run->options.kind == NADE_KIND_NETWORK && here;
}

nade_status nd_mapped_sample(struct run *run, const nade_table *train, const struct held_rows *held,
                             struct chosen_rows *sample)
{
    size_t *rows = nd_arena_alloc(&run->arena, train->rows, sizeof *rows), count = 0;
    if (!rows) return nd_no_memory(run->context, "the rows");
    for (size_t i = 0; i < train->rows; i++)
        if (!nd_is_held(held, nd_mapped_number(train, i))) rows[count++] = i;
    *sample = (struct chosen_rows){rows, count};
    return NADE_OK;
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

/* What is being encoded, and where to. */
struct mapped_encoder {
    struct run *run;
    const nade_table *train;
    const struct held_rows *held;   /* all rows but these; NULL: */
    const struct chosen_rows *list; /* these */
    struct encoded_rows cells;      /* rows: so far */
    unsigned char *to;              /* where they are; NULL: in run->shared */
    double *scale;                  /* where each one's sum of log sd is; NULL: */
    struct scratch_file *scales;    /* there; NULL: */
    double sum;                     /* in the sum over them alone */
    double *each;                   /* (rows of a block) */
    size_t *rows;                   /* (rows of a block) those wanted of it */
};

static bool is_empty_row(const struct encoded_rows *cells, size_t row)
{
    for (size_t c = 0; c < cells->columns; c++)
        if (!isnan(nd_cell(cells, row, c))) return false;
    return true;
}

/* Moves the rows of a block that have a present cell to its front, and what goes with each; returns how many. */
static size_t pack_rows(const struct encoded_rows *block, double *each)
{
    size_t bytes = nd_row_bytes(block), count = 0;
    unsigned char *data = (unsigned char *)block->data; /* the encoder's own */
    for (size_t row = 0; row < block->rows; row++) {
        if (is_empty_row(block, row)) continue;
        if (count < row) memcpy(data + count * bytes, data + row * bytes, bytes);
        each[count++] = each[row];
    }
    return count;
}

static nade_status append_rows(struct mapped_encoder *e, const struct encoded_rows *block, size_t count)
{
    nade_context *context = e->run->context;
    size_t bytes = nd_row_bytes(block), before = e->cells.rows;
    nade_status status = NADE_OK;
    e->cells.rows += count;
    for (size_t i = 0; i < count; i++) e->sum += e->each[i];
    if (e->scale) memcpy(e->scale + before, e->each, count * sizeof *e->each);
    if (e->to) memcpy(e->to + before * bytes, block->data, count * bytes);
    if (!e->to) status = nd_shared_rows_add(context, e->run->shared, block->data, count);
    if (status == NADE_OK && e->scales)
        status = nd_scratch_write(context, e->scales, before * sizeof *e->each, e->each, count * sizeof *e->each);
    return status;
}

/* Encodes so many of a block's rows, e->rows, which are numbered from the block's first. */
static nade_status encode_block(struct mapped_encoder *e, const nade_table *block, size_t count)
{
    nade_context *context = e->run->context;
    const struct schema *schema = &e->run->model->schema;
    struct arena arena = {context->allocator, NULL};
    struct encoded_rows cells;
    const float *labels;
    nade_status status = nd_encode(context, &arena, schema, block, e->rows, count, NULL, NULL, &cells);
    if (status == NADE_OK) status = nd_encode_rare(context, &arena, schema, block, e->rows, count, NULL, &labels);
    if (status == NADE_OK) {
        nd_log_scale(schema, &cells, NULL, e->each);
        nd_share_scale(schema, labels, count, NULL, e->each);
        status = append_rows(e, &cells, pack_rows(&cells, e->each));
    }
    nd_arena_free(&arena);
    return status;
}

/* Lists what is wanted of a block in e->rows; returns how many.  *at: the first of a list that does not lie before. */
static size_t list_wanted(struct mapped_encoder *e, size_t first, size_t length, size_t *at)
{
    size_t count = 0;
    for (size_t row = first; e->held && row < first + length; row++)
        if (!nd_is_held(e->held, row)) e->rows[count++] = row - first;
    if (e->held) return count;
    while (*at < e->list->count && e->list->row[*at] < first) ++*at;
    while (*at < e->list->count && e->list->row[*at] < first + length) e->rows[count++] = e->list->row[(*at)++] - first;
    return count;
}

static nade_status encode_blocks(struct mapped_encoder *e, struct share own, size_t block_rows)
{
    nade_status status = NADE_OK;
    size_t at = 0, end = own.first + own.count, length;
    for (size_t first = own.first; first < end && status == NADE_OK; first += length) {
        nade_table *block = NULL;
        length = nd_mapped_length(e->train, first, end - first < block_rows ? end - first : block_rows);
        size_t count = list_wanted(e, first, length, &at);
        if (count == 0) continue;
        status = nd_mapped_block(e->run->context, e->train, first, length, &block);
        if (status == NADE_OK) status = encode_block(e, block, count);
        if (block) nd_table_release(block);
    }
    return status;
}

/* Fails on all ranks that take part where it does on one. */
static nade_status encode(struct mapped_encoder *e, struct share own, bool together)
{
    const nade_allocator *allocator = &e->run->context->allocator;
    size_t block_rows = BLOCK_CELLS / e->train->source_columns + 1;
    e->each = nd_alloc(allocator, block_rows, sizeof *e->each);
    e->rows = nd_alloc(allocator, block_rows, sizeof *e->rows);
    nade_status status =
        e->each && e->rows ? encode_blocks(e, own, block_rows) : nd_no_memory(e->run->context, "the rows");
    nd_free(allocator, e->each);
    nd_free(allocator, e->rows);
    return together ? nd_share_failure(e->run->context, status) : status;
}

/* What the rows are encoded as.  False: all columns were left out, so that no row has a present cell. */
static bool begin_encoding(struct run *run, const nade_table *train, struct mapped_encoder *e)
{
    const struct schema *schema = &run->model->schema;
    *e = (struct mapped_encoder){
        .run = run, .train = train, .cells = {.columns = nd_network_columns(schema), .kind = nd_encoding_of(schema)}};
    return e->cells.columns > 0;
}

static double mean_of(double sum, size_t rows)
{
    return rows ? sum / (double)rows : 0;
}

/* ---- training rows ----------------------------------------------------------------------------------------------- */

/* The sum of all ranks' scales in the order of the rows: each adds its own to what those before it came to. */
static nade_status sum_scales(nade_context *context, const struct scratch_file *scales, size_t own, double *sum)
{
    enum { BLOCK = 1 << 12 };
    double block[BLOCK];
    nade_status failed = NADE_OK, status = NADE_OK;
    *sum = 0;
    for (unsigned r = 0; r < nd_ranks(context) && status == NADE_OK; r++) {
        for (size_t at = 0, count; r == nd_rank(context) && at < own && failed == NADE_OK; at += count) {
            count = own - at < BLOCK ? own - at : BLOCK;
            failed = nd_scratch_read(context, scales, at * sizeof *block, block, count * sizeof *block);
            for (size_t i = 0; i < count; i++) *sum += block[i];
        }
        status = nd_hand_out(context, r, sum, sizeof *sum);
    }
    return status == NADE_OK ? nd_share_failure(context, failed) : status;
}

/* Each rank its own rows. */
static nade_status encode_shared(struct mapped_encoder *e, double *scale)
{
    struct run *run = e->run;
    nade_context *context = run->context;
    struct share own = nd_mapped_share(e->train, nd_rank(context), nd_ranks(context));
    struct scratch_file scales = {0};
    run->shared = nd_arena_alloc(&run->arena, 1, sizeof *run->shared);
    if (!run->shared) return nd_no_memory(context, "the rows");
    nade_status status = nd_shared_rows_create(context, own.count, &e->cells, run->shared);
    if (status == NADE_OK)
        status = nd_scratch_create_apart(context, own.count * sizeof(double), "the encoded rows", &scales);
    status = nd_share_failure(context, status);
    e->scales = &scales;
    if (status == NADE_OK) status = encode(e, own, true);
    if (status == NADE_OK) status = nd_shared_rows_finish(context, run->shared);
    if (status == NADE_OK) status = sum_scales(context, &scales, run->shared->own, &e->sum);
    e->scales = NULL;
    nd_scratch_free(&scales);
    run->train = run->shared->all;
    *scale = mean_of(e->sum, run->train.rows);
    return status;
}

nade_status nd_mapped_encode(struct run *run, const nade_table *train, const struct held_rows *held, double *scale)
{
    struct mapped_encoder e;
    size_t rows = nd_mapped_rows(train), bytes;
    bool any = begin_encoding(run, train, &e);
    run->train = e.cells;
    *scale = 0;
    if (!any) return NADE_OK;
    e.held = held;
    if (nd_mapped_is_shared(run)) return encode_shared(&e, scale);
    if (!nd_multiply(rows - held->count, nd_row_bytes(&e.cells), &bytes)) return nd_no_memory(run->context, "the rows");
    nade_status status = nd_scratch_create(run->context, bytes, "the encoded rows", &run->scratch);
    e.cells.data = e.to = run->scratch.memory;
    if (status == NADE_OK) status = encode(&e, (struct share){0, rows}, false);
    run->train = e.cells;
    *scale = mean_of(e.sum, e.cells.rows);
    return status;
}

/* ---- some rows --------------------------------------------------------------------------------------------------- */

/* Puts all ranks' rows behind one another; those of this one stand at the front. */
static nade_status gather(struct mapped_encoder *e)
{
    nade_context *context = e->run->context;
    size_t ranks = nd_ranks(context), rank = nd_rank(context), bytes = nd_row_bytes(&e->cells), own = e->cells.rows;
    size_t *end = nd_alloc(&context->allocator, ranks, sizeof *end);
    nade_status status = end ? nd_count_all(context, own, end) : nd_no_memory(context, "the rows");
    if (status == NADE_OK) {
        size_t begin = rank ? end[rank - 1] : 0;
        e->cells.rows = end[ranks - 1];
        memmove(e->to + begin * bytes, e->to, own * bytes);
        memmove(e->scale + begin, e->scale, own * sizeof *e->scale);
    }
    for (size_t r = 0; r < ranks && status == NADE_OK; r++) end[r] *= bytes;
    if (status == NADE_OK) status = nd_gather(context, e->to, end);
    for (size_t r = 0; r < ranks && status == NADE_OK; r++) end[r] = end[r] / bytes * sizeof *e->scale;
    if (status == NADE_OK) status = nd_gather(context, e->scale, end);
    nd_free(&context->allocator, end);
    e->sum = 0;
    for (size_t i = 0; i < e->cells.rows && status == NADE_OK; i++) e->sum += e->scale[i];
    return status;
}

nade_status nd_mapped_encode_listed(struct run *run, const nade_table *train, const struct chosen_rows *rows,
                                    struct encoded_rows *cells, double *scale)
{
    struct mapped_encoder e;
    nade_context *context = run->context;
    bool any = begin_encoding(run, train, &e), shared = nd_mapped_is_shared(run);
    struct share own = {0, nd_mapped_rows(train)};
    *cells = e.cells;
    *scale = 0;
    if (!any) return NADE_OK;
    e.list = rows;
    e.to = nd_arena_alloc(&run->arena, rows->count, nd_row_bytes(&e.cells));
    e.scale = nd_arena_alloc(&run->arena, rows->count, sizeof *e.scale);
    if (!e.to || !e.scale) return nd_no_memory(context, "the rows");
    e.cells.data = e.to;
    if (shared) own = nd_mapped_share(train, nd_rank(context), nd_ranks(context));
    nade_status status = encode(&e, own, shared);
    if (status == NADE_OK && shared) status = gather(&e);
    *cells = e.cells;
    *scale = mean_of(e.sum, e.cells.rows);
    return status;
}

/* ---- fingerprint ------------------------------------------------------------------------------------------------- */

static void add_to_fingerprint(void *user, const struct encoded_rows *block)
{
    uint64_t *fingerprint = user;
    *fingerprint = nd_fingerprint_add(*fingerprint, block);
}

/* In turn: each rank goes on where the one before it came to. */
nade_status nd_train_fingerprint(struct run *run, uint64_t *fingerprint)
{
    nade_context *context = run->context;
    nade_status failed = NADE_OK;
    *fingerprint = nd_fingerprint_begin(&run->model->schema, &run->train);
    if (!run->shared) {
        *fingerprint = nd_fingerprint_add(*fingerprint, &run->train);
        return NADE_OK;
    }
    nade_status status = nd_agree(context, &(struct agreed){"what is known of the columns", *fingerprint}, 1);
    for (unsigned r = 0; r < nd_ranks(context) && status == NADE_OK; r++) {
        if (r == nd_rank(context)) failed = nd_shared_rows_visit(context, run->shared, add_to_fingerprint, fingerprint);
        status = nd_hand_out(context, r, fingerprint, sizeof *fingerprint);
    }
    return status == NADE_OK ? nd_share_failure(context, failed) : status;
}
