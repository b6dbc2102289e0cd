#include "data/shared_rows.h"

#include <string.h>

#include "base/fault.h"
#include "base/memory.h"

enum { VISITED_BYTES = 1 << 20 };

size_t nd_row_bytes(const struct encoded_rows *rows)
{
    return rows->columns * (rows->kind == ENCODED_FLOATS ? sizeof(float) : 1);
}

nade_status nd_shared_rows_create(nade_context *context, size_t most, const struct encoded_rows *all,
                                  struct shared_rows *rows)
{
    size_t bytes;
    *rows = (struct shared_rows){.all = *all};
    if (!nd_multiply(most, nd_row_bytes(all), &bytes)) return nd_no_memory(context, "the rows");
    return nd_scratch_create_apart(context, bytes, "the encoded rows", &rows->file);
}

nade_status nd_shared_rows_add(nade_context *context, struct shared_rows *rows, const void *cells, size_t count)
{
    size_t each = nd_row_bytes(&rows->all);
    nade_status status = nd_scratch_write(context, &rows->file, rows->own * each, cells, count * each);
    if (status == NADE_OK) rows->own += count;
    return status;
}

nade_status nd_shared_rows_finish(nade_context *context, struct shared_rows *rows)
{
    size_t ranks = nd_ranks(context), rank = nd_rank(context);
    size_t *end = nd_alloc(&context->allocator, ranks, sizeof *end);
    if (!end) return nd_no_memory(context, "the rows");
    nade_status status = nd_count_all(context, rows->own, end);
    rows->first = rank ? end[rank - 1] : 0;
    rows->all.rows = end[ranks - 1];
    nd_free(&context->allocator, end);
    return status;
}

nade_status nd_shared_rows_fetch(nade_context *context, const struct shared_rows *rows, const size_t *number,
                                 size_t count, void *data, struct encoded_rows *cells)
{
    size_t each = nd_row_bytes(&rows->all);
    nade_status status = NADE_OK;
    memset(data, 0, count * each);
    for (size_t i = 0; i < count && status == NADE_OK; i++) {
        if (number[i] < rows->first || number[i] - rows->first >= rows->own) continue;
        size_t at = number[i] - rows->first;
        if (ND_FAULT(FAULT_SHARED_ROW_BESIDE)) at = (at + 1) % rows->own;
        status = nd_scratch_read(context, &rows->file, at * each, (char *)data + i * each, each);
    }
    *cells = rows->all;
    cells->rows = count;
    cells->data = data;
    return status == NADE_OK ? nd_unite(context, data, count * each) : status;
}

nade_status nd_shared_rows_visit(nade_context *context, const struct shared_rows *rows,
                                 void (*see)(void *user, const struct encoded_rows *block), void *user)
{
    size_t each = nd_row_bytes(&rows->all), most = each ? VISITED_BYTES / each + 1 : 1;
    struct encoded_rows block = rows->all;
    void *data = nd_alloc(&context->allocator, most, each);
    nade_status status = data ? NADE_OK : nd_no_memory(context, "the rows");
    block.data = data;
    for (size_t at = 0; at < rows->own && status == NADE_OK; at += block.rows) {
        block.rows = rows->own - at < most ? rows->own - at : most;
        status = nd_scratch_read(context, &rows->file, at * each, data, block.rows * each);
        if (status == NADE_OK) see(user, &block);
    }
    nd_free(&context->allocator, data);
    return status;
}

void nd_shared_rows_free(struct shared_rows *rows)
{
    nd_scratch_free(&rows->file);
}
