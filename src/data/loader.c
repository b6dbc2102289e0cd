#include "data/loader.h"

#include <string.h>

#include "data/arff_table.h"
#include "data/csv_table.h"
#include "data/file_agreement.h"
#include "data/foreign_table.h"
#include "data/idx_table.h"
#include "data/mapped_text.h"
#include "data/npy_header.h"
#include "data/npy_table.h"
#include "data/npz_table.h"
#include "data/shards.h"

enum { LOOK_BYTES_MOST = 1 << 20 };

/* One kind a line; the formatter would fill lines. */
/* clang-format off */
static const struct file_kind kinds[] = {
    {nd_is_arff, NULL, nd_open_arff},
    {nd_is_npy, nd_load_npy, NULL},
    {nd_is_npz, nd_load_npz, NULL},
    {nd_is_idx, nd_load_idx, NULL},
    {nd_is_foreign, nd_refuse_foreign, NULL},
    {NULL, NULL, nd_open_csv},
};
/* clang-format on */

enum recognition nd_recognise(const unsigned char *bytes, size_t count, const void *magic, size_t magic_bytes)
{
    size_t compared = count < magic_bytes ? count : magic_bytes;
    if (memcmp(bytes, magic, compared) != 0) return FILE_IS_OTHER;
    return compared == magic_bytes ? FILE_IS_IT : FILE_NEEDS_MORE;
}

/* The first kind that is not excluded by the bytes at hand; sure: it is that. */
static const struct file_kind *first_possible(const struct source *source, bool no_more, bool *sure)
{
    const struct file_kind *kind = kinds;
    for (; kind->recognise; kind++) {
        enum recognition found = kind->recognise(source->buffer + source->begin, nd_source_available(source));
        *sure = found == FILE_IS_IT;
        if (*sure || (found == FILE_NEEDS_MORE && !no_more)) return kind;
    }
    *sure = true;
    return kind;
}

nade_status nd_find_kind(struct source *source, const struct file_kind **kind)
{
    nade_status status = nd_source_look(source, 1);
    bool sure = false;
    while (status == NADE_OK && !sure) {
        size_t available = nd_source_available(source);
        bool no_more = source->ended || available >= LOOK_BYTES_MOST;
        *kind = first_possible(source, no_more, &sure);
        if (!sure) status = nd_source_look(source, available + 1);
    }
    return status;
}

static nade_status load_text(const struct file_kind *kind, struct source *source, const struct load_request *request,
                             nade_table **table)
{
    struct text_table text = {0};
    nade_status status = kind->open(source, request, &text);
    *table = NULL;
    if (status == NADE_OK && nd_text_can_be_mapped(source, request, &text))
        status = nd_load_mapped_text(source, &text, table);
    if (status == NADE_OK && !*table) status = nd_text_next(&text, ND_ALL_ROWS, table);
    nd_text_close(&text);
    return status;
}

nade_status nd_load_table(nade_context *context, const char *path, const nade_read_options *options, nade_table **table)
{
    struct row_list rows = {0};
    struct source source = {0};
    struct load_request request = {.options = options, .whole = true};
    const struct file_kind *kind = NULL;
    nade_status status = nd_shards_open(context, path, options, &source);
    if (options->map) status = nd_agree_on_file(context, &source, status);
    if (status == NADE_OK && options->rows) {
        status = nd_rows_read(context, options->rows, &rows);
        request.rows = &rows;
    }
    if (status == NADE_OK) status = nd_find_kind(&source, &kind);
    if (status == NADE_OK)
        status = kind->load ? kind->load(&source, &request, table) : load_text(kind, &source, &request, table);
    nd_rows_free(&context->allocator, &rows);
    nd_source_close(&source);
    return status;
}
