#include "train/mapped_training.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/mapped_rows.h"
#include "model/encode.h"

enum { BLOCK_CELLS = 1 << 20 };

nade_status nd_mapped_check(const struct run *run, const nade_table *train, const nade_table *valid)
{
    const nade_train_options *o = &run->options;
    const char *why = valid && valid->mapped        ? "validates"
                      : !train->mapped              ? NULL
                      : o->holes                    ? "is to be learnt with its holes (`holes`)"
                      : o->bootstrap                ? "is to be sampled for members (`bootstrap`)"
                      : o->folds                    ? "is to be divided into folds (`folds`)"
                      : run->replication.fresh_rows ? "is to get fresh rows"
                                                    : NULL;
    if (!why) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_CALL, "%s %s, expected a table that was read without `map`",
                   valid && valid->mapped ? valid->source : train->source, why);
}

const nade_table *nd_mapped_all(const nade_table *train, struct all_rows *all)
{
    *all = (struct all_rows){.table = {.rows = train->mapped->layout.rows, .columns = 1, .source = train->source}};
    all->table.column = &all->column;
    return &all->table;
}

nade_status nd_mapped_sample(struct run *run, const nade_table *train, const struct chosen_rows *listed,
                             struct chosen_rows *sample)
{
    size_t *rows = nd_arena_alloc(&run->arena, train->rows, sizeof *rows), count = 0, at = 0;
    if (!rows) return nd_no_memory(run->context, "the rows");
    for (size_t i = 0; i < train->rows; i++) {
        size_t position = nd_table_position(train, i);
        while (at < listed->count && listed->row[at] < position) at++;
        if (at < listed->count && listed->row[at] == position) rows[count++] = i;
    }
    *sample = (struct chosen_rows){rows, count};
    return NADE_OK;
}

/* ---- encoding ---------------------------------------------------------------------------------------------------- */

/* What is being encoded. */
struct mapped_encoder {
    struct run *run;
    const nade_table *train;
    struct encoded_rows *cells; /* rows: so far */
    unsigned char *to;          /* where they are */
    double log_scale;           /* the sum over them */
    double *each;               /* (rows of a block) */
    size_t *rows;               /* (rows of a block) those wanted of it */
};

static bool is_empty_row(const struct encoded_rows *cells, size_t row)
{
    for (size_t c = 0; c < cells->columns; c++)
        if (!isnan(nd_cell(cells, row, c))) return false;
    return true;
}

/* Appends the encoded rows of a block that have a present cell. */
static void append_rows(struct mapped_encoder *e, const struct encoded_rows *block)
{
    size_t bytes = block->columns * (block->kind == ENCODED_FLOATS ? sizeof(float) : 1);
    for (size_t row = 0; row < block->rows; row++) {
        if (is_empty_row(block, row)) continue;
        memcpy(e->to + e->cells->rows++ * bytes, (const unsigned char *)block->data + row * bytes, bytes);
        e->log_scale += e->each[row];
    }
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
        append_rows(e, &cells);
    }
    nd_arena_free(&arena);
    return status;
}

static nade_status encode_blocks(struct mapped_encoder *e, const struct chosen_rows *rows, size_t block_rows)
{
    const size_t all = e->train->mapped->layout.rows;
    nade_status status = NADE_OK;
    size_t at = 0;
    while (status == NADE_OK && at < rows->count) {
        size_t first = rows->row[at] / block_rows * block_rows, count = 0;
        size_t length = all - first < block_rows ? all - first : block_rows;
        nade_table *block = NULL;
        for (; at < rows->count && rows->row[at] < first + length; at++) e->rows[count++] = rows->row[at] - first;
        status = nd_mapped_block(e->run->context, e->train, first, length, &block);
        if (status == NADE_OK) status = encode_block(e, block, count);
        if (block) nd_table_release(block);
    }
    return status;
}

/* Room for so many rows: of training in a file, else in memory. */
static nade_status take_room(struct mapped_encoder *e, size_t rows, bool training)
{
    struct run *run = e->run;
    size_t cell = e->cells->kind == ENCODED_FLOATS ? sizeof(float) : 1, bytes;
    if (!nd_multiply(rows, e->cells->columns * cell, &bytes)) return nd_no_memory(run->context, "the rows");
    if (training) {
        nade_status status = nd_scratch_create(run->context, bytes, "the encoded rows", &run->scratch);
        e->to = run->scratch.memory;
        return status;
    }
    e->to = nd_arena_alloc(&run->arena, bytes, 1);
    return e->to ? NADE_OK : nd_no_memory(run->context, "the rows");
}

nade_status nd_mapped_encode(struct run *run, const nade_table *train, const struct chosen_rows *rows, bool training,
                             struct encoded_rows *cells, double *scale)
{
    const struct schema *schema = &run->model->schema;
    struct mapped_encoder e = {.run = run, .train = train, .cells = cells};
    size_t block_rows = BLOCK_CELLS / train->mapped->layout.columns + 1;
    *cells = (struct encoded_rows){.columns = nd_network_columns(schema), .kind = nd_encoding_of(schema)};
    *scale = 0;
    if (cells->columns == 0) return NADE_OK; /* all columns were left out: no row has a present cell */
    e.each = nd_alloc(&run->context->allocator, block_rows, sizeof *e.each);
    e.rows = nd_alloc(&run->context->allocator, block_rows, sizeof *e.rows);
    nade_status status =
        e.each && e.rows ? take_room(&e, rows->count, training) : nd_no_memory(run->context, "the rows");
    if (status == NADE_OK) status = encode_blocks(&e, rows, block_rows);
    cells->data = e.to;
    *scale = cells->rows ? e.log_scale / (double)cells->rows : 0;
    nd_free(&run->context->allocator, e.each);
    nd_free(&run->context->allocator, e.rows);
    return status;
}
