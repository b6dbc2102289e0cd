#include "data/shards.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fault.h"
#include "data/arff_table.h"
#include "data/csv_sniff.h"
#include "data/file_pieces.h"
#include "data/foreign_table.h"
#include "data/idx_table.h"
#include "data/npy_header.h"
#include "data/npz_table.h"
#include "data/text_table.h"

/* The files that are being put together. */
struct shards {
    nade_context *context;
    const char *path; /* the pattern */
    const nade_read_options *options;
    char **name; /* (count) */
    size_t count;
    struct file_pieces *pieces;
};

/* ---- names ------------------------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_there(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

static nade_status check_alike(const struct shards *shards, const char *name, const struct array_layout *first,
                               const struct array_layout *layout)
{
    if (layout->fortran)
        return nd_fail(shards->context, NADE_BAD_INPUT, "%s: is in Fortran order, expected C order of a part of %s",
                       name, shards->path);
    if (layout->columns != first->columns)
        return nd_fail(shards->context, NADE_BAD_INPUT, "%s: has %zu columns, expected %zu as in %s", name,
                       layout->columns, first->columns, shards->name[0]);
    if (layout->kind != first->kind || layout->size != first->size || layout->big_endian != first->big_endian)
        return nd_fail(shards->context, NADE_BAD_INPUT, "%s: has numbers of another type than %s, expected the same",
                       name, shards->name[0]);
    return NADE_OK;
}

/* The items of one file. */
static nade_status add_items(struct shards *shards, const char *name, struct source *source,
                             const struct array_layout *layout)
{
    struct source_file file;
    uint64_t size = 0, begin = nd_source_place(source);
    size_t items, bytes;
    bool plain = nd_source_plain(source, &file, &size);
    if (!nd_multiply(layout->rows, layout->columns, &items) || !nd_multiply(items, layout->size, &bytes) || !plain ||
        size != begin + bytes)
        return nd_fail(shards->context, NADE_BAD_INPUT,
                       "%s: has %" PRIu64 " bytes, expected a header and the items of %zu rows of %zu columns", name,
                       size, layout->rows, layout->columns);
    if (nd_pieces_add_file(shards->pieces, name, begin, bytes)) return NADE_OK;
    return nd_no_memory(shards->context, "the parts of a table");
}

/* A header over the items of all files. */
static nade_status add_header(struct shards *shards, const struct array_layout *layout, size_t rows,
                              struct file_pieces *pieces)
{
    enum { PREFIX = 10, BYTES = 256 };
    char header[BYTES];
    const char order = layout->size == 1 ? '|' : layout->big_endian ? '>' : '<';
    int length = snprintf(header + PREFIX, BYTES - PREFIX,
                          "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%zu, %zu), }\n", order, layout->kind,
                          layout->size, rows, layout->columns);
    memcpy(header, "\x93NUMPY\x01\0", PREFIX - 2);
    header[PREFIX - 2] = (char)length;
    header[PREFIX - 1] = 0;
    if (nd_pieces_add_bytes(pieces, header, (size_t)length + PREFIX)) return NADE_OK;
    return nd_no_memory(shards->context, "the parts of a table");
}

/* How many rows a file has, which is of the same kind as the first. */
static nade_status read_header(struct shards *shards, const char *name, struct array_layout *first, size_t *rows)
{
    struct source source;
    struct array_layout layout = {0};
    nade_status status = nd_source_open(shards->context, name, &source);
    if (status != NADE_OK) return status;
    status = nd_npy_header(&source, &layout);
    if (status == NADE_OK && *rows == SIZE_MAX) {
        *first = layout;
        *rows = 0;
    }
    if (status == NADE_OK) status = check_alike(shards, name, first, &layout);
    if (status == NADE_OK) status = add_items(shards, name, &source, &layout);
    *rows += layout.rows;
    nd_source_close(&source);
    return status;
}

/* Twice: the header is written when all rows are counted. */
static nade_status join_arrays(struct shards *shards)
{
    struct array_layout first = {0};
    nade_status status = NADE_OK;
    struct file_pieces *items = shards->pieces, *all = nd_pieces_create(&shards->context->allocator);
    size_t rows = SIZE_MAX;
    if (!all) return nd_no_memory(shards->context, "the parts of a table");
    for (size_t i = 0; i < shards->count && status == NADE_OK; i++)
        status = read_header(shards, shards->name[i], &first, &rows);
    if (status == NADE_OK) status = add_header(shards, &first, rows, all);
    for (size_t i = 0; i < items->count && status == NADE_OK; i++) {
        const struct file_piece *piece = &items->piece[i];
        uint64_t count = piece->end - (i ? piece[-1].end : 0);
        if (!nd_pieces_add_file(all, piece->path, piece->offset, count))
            status = nd_no_memory(shards->context, "the parts of a table");
    }
    nd_pieces_free(items);
    shards->pieces = all;
    return status;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* The first line that is not blank of the file that says whether there are names: of the largest, since others may have
 * no rows below them. */
struct first_line {
    const char *name;
    struct csv_layout layout;
    struct csv csv; /* the line is at hand */
    struct source source;
};

static nade_status next_row(struct csv *csv)
{
    enum csv_result result;
    do result = nd_csv_next(csv);
    while (result == CSV_ROW && nd_csv_blank(csv));
    return result == CSV_ROW || result == CSV_END ? NADE_OK : nd_csv_fail(csv, result);
}

static bool has_same_fields(const struct csv *a, const struct csv *b)
{
    bool same = a->fields == b->fields;
    for (size_t i = 0; i < a->fields && same; i++) same = strcmp(nd_csv_text(a, i), nd_csv_text(b, i)) == 0;
    return same;
}

static nade_status skip_byte_order_mark(struct source *source)
{
    nade_status status = nd_source_look(source, 3);
    if (nd_source_available(source) >= 3 && memcmp(source->buffer + source->begin, "\xEF\xBB\xBF", 3) == 0)
        source->begin += 3;
    return status;
}

/* Up to the first line, of which the names are taken. */
static nade_status read_first_line(const struct shards *shards, struct source *source, struct csv *csv,
                                   struct csv_layout *layout)
{
    const nade_read_options *options = shards->options;
    struct name_index expected = {0};
    nade_status status = skip_byte_order_mark(source);
    if (options->names && !nd_names_sort(&shards->context->allocator, options->names, options->name_count, &expected))
        status = nd_no_memory(shards->context, "the columns' names");
    if (status == NADE_OK) status = nd_csv_sniff(source, options, true, &expected, layout);
    nd_names_free(&shards->context->allocator, &expected);
    if (status != NADE_OK) return status;
    nd_csv_begin(csv, source, nd_layout_dialect(layout));
    return NADE_OK;
}

static nade_status add_bytes(struct shards *shards, const char *name, uint64_t from, uint64_t count)
{
    if (nd_pieces_add_file(shards->pieces, name, from, count)) return NADE_OK;
    return nd_no_memory(shards->context, "the parts of a table");
}

/* The bytes of a file from the source's next one on, and a line end if they lack one. */
static nade_status add_rest(struct shards *shards, const char *name, const struct source *source)
{
    struct source_file file;
    uint64_t size = 0, from = nd_source_place(source);
    char last = '\n';
    nade_status status = NADE_OK;
    nd_source_plain(source, &file, &size);
    if (size <= from) return NADE_OK;
    status = nd_source_read_range(shards->context, name, &file, size - 1, &last, 1);
    if (status == NADE_OK) status = add_bytes(shards, name, from, size - from);
    if (status == NADE_OK && last != '\n' && last != '\r' && !nd_pieces_add_bytes(shards->pieces, "\n", 1))
        status = nd_no_memory(shards->context, "the parts of a table");
    return status;
}

/* Appends a file without its names, which are those of the first line. */
static nade_status add_rows(struct shards *shards, const struct first_line *first, const char *name)
{
    struct source source;
    struct csv csv = {.source = NULL};
    struct csv_layout layout;
    nade_status status = nd_source_open(shards->context, name, &source);
    if (status != NADE_OK) return status;
    status = read_first_line(shards, &source, &csv, &layout);
    if (status == NADE_OK && first->layout.header) {
        nd_csv_change(&csv, nd_layout_dialect(&first->layout));
        status = next_row(&csv);
        if (status == NADE_OK && csv.fields > 0 && !has_same_fields(&first->csv, &csv) &&
            !ND_FAULT(FAULT_SHARDS_UNNAMED))
            status = nd_fail(shards->context, NADE_BAD_INPUT,
                             "%s: its first line is not that of %s, expected the same names", name, first->name);
    }
    if (status == NADE_OK) status = add_rest(shards, name, &source);
    nd_csv_free(&csv);
    nd_source_close(&source);
    return status;
}

static const char *largest(const struct shards *shards)
{
    struct stat info;
    off_t most = -1;
    const char *name = shards->name[0];
    for (size_t i = 0; i < shards->count; i++) {
        if (stat(shards->name[i], &info) != 0 || info.st_size <= most) continue;
        most = info.st_size;
        name = shards->name[i];
    }
    return name;
}

/* What stands before the rows, once, and then all files' rows. */
static nade_status join_texts(struct shards *shards)
{
    struct first_line first = {.name = largest(shards), .csv = {.source = NULL}};
    nade_status status = nd_source_open(shards->context, first.name, &first.source);
    if (status != NADE_OK) return status;
    status = read_first_line(shards, &first.source, &first.csv, &first.layout);
    if (status == NADE_OK && first.layout.header) status = next_row(&first.csv);
    if (status == NADE_OK) status = add_bytes(shards, first.name, 0, nd_source_place(&first.source));
    for (size_t i = 0; i < shards->count && status == NADE_OK; i++) status = add_rows(shards, &first, shards->name[i]);
    nd_csv_free(&first.csv);
    nd_source_close(&first.source);
    return status;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Whether a file is an NPY file; fails unless it is that or CSV. */
static nade_status look_at_kind(const struct shards *shards, const char *name, bool *array)
{
    enum { LOOKED_AT = 1 << 16 };
    struct source source;
    struct source_file file;
    uint64_t size;
    nade_status status = nd_source_open(shards->context, name, &source);
    if (status != NADE_OK) return status;
    bool plain = nd_source_plain(&source, &file, &size);
    if (plain) status = nd_source_look(&source, LOOKED_AT);
    const unsigned char *bytes = source.buffer + source.begin;
    size_t count = nd_source_available(&source);
    *array = plain && nd_is_npy(bytes, count) == FILE_IS_IT;
    bool other =
        !plain || (!*array && (nd_is_arff(bytes, count) == FILE_IS_IT || nd_is_npz(bytes, count) == FILE_IS_IT ||
                               nd_is_idx(bytes, count) == FILE_IS_IT || nd_is_foreign(bytes, count) == FILE_IS_IT));
    if (status == NADE_OK && other)
        status = nd_fail(shards->context, NADE_BAD_INPUT,
                         "%s: is a part of %s, expected a CSV or NPY file that is not packed", name, shards->path);
    nd_source_close(&source);
    return status;
}

static nade_status look_at_kinds(const struct shards *shards, bool *arrays)
{
    nade_status status = look_at_kind(shards, shards->name[0], arrays);
    for (size_t i = 1; i < shards->count && status == NADE_OK; i++) {
        bool array = *arrays;
        status = look_at_kind(shards, shards->name[i], &array);
        if (status == NADE_OK && array != *arrays)
            status = nd_fail(shards->context, NADE_BAD_INPUT, "%s: is %s, expected another file of the kind of %s",
                             shards->name[i], array ? "an array" : "text", shards->name[0]);
    }
    return status;
}

static nade_status join(struct shards *shards, struct source *source)
{
    bool arrays = false;
    nade_status status = look_at_kinds(shards, &arrays);
    shards->pieces = status == NADE_OK ? nd_pieces_create(&shards->context->allocator) : NULL;
    if (status == NADE_OK && !shards->pieces) status = nd_no_memory(shards->context, "the parts of a table");
    if (status == NADE_OK) status = arrays ? join_arrays(shards) : join_texts(shards);
    if (status == NADE_OK) return nd_source_open_pieces(shards->context, shards->path, shards->pieces, source);
    nd_pieces_free(shards->pieces);
    return status;
}

nade_status nd_shards_open(nade_context *context, const char *path, const nade_read_options *options,
                           struct source *source)
{
    glob_t found;
    if (!strpbrk(path, "*?[") || is_there(path)) return nd_source_open(context, path, source);
    int failed = glob(path, GLOB_NOSORT, NULL, &found);
    if (failed == GLOB_NOSPACE) return nd_no_memory(context, "the parts of a table");
    if (failed) return nd_source_open(context, path, source); /* which says that there is none */
    /* By bytes, so that all ranks have the same order in whatever language. */
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_names);
    struct shards shards = {
        .context = context, .path = path, .options = options, .name = found.gl_pathv, .count = found.gl_pathc};
    nade_status status = join(&shards, source);
    globfree(&found);
    return status;
}
