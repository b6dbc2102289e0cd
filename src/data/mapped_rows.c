#include "data/mapped_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "data/file_pieces.h"
#include "data/mapped_text.h"
#include "data/row_sample.h"

/* ---- the file ---------------------------------------------------------------------------------------------------- */

bool nd_can_be_mapped(const struct source *source, const struct array_layout *layout,
                      const struct load_request *request)
{
    struct source_file file;
    uint64_t size;
    size_t items, bytes;
    if (request->options->map != 1 || request->rows || layout->fortran) return false;
    if (layout->rows < ND_MAPPED_ROWS_LEAST || layout->columns == 0) return false;
    if (!nd_source_plain(source, &file, &size)) return false;
    if (!nd_multiply(layout->rows, layout->columns, &items) || !nd_multiply(items, layout->size, &bytes)) return false;
    return size == nd_source_place(source) + bytes;
}

static void release(const nade_allocator *allocator, struct mapped_rows *mapped)
{
    if (mapped->file.descriptor >= 0) close(mapped->file.descriptor);
    nd_pieces_free(mapped->file.pieces);
    nd_mapped_text_free(allocator, mapped->text);
    nd_free(allocator, mapped->sampled);
    nd_free(allocator, mapped->columns);
    nd_free(allocator, mapped);
}

/* A plain file stays open through a descriptor of its own. */
struct mapped_rows *nd_mapped_keep(struct source *source, nade_status *status)
{
    const nade_allocator *allocator = &source->context->allocator;
    struct mapped_rows *mapped = nd_alloc(allocator, 1, sizeof *mapped);
    if (!mapped) {
        *status = nd_no_memory(source->context, "a table that stays in its file");
        return NULL;
    }
    *mapped = (struct mapped_rows){.release = release, .file = {-1, source->pieces}, .place = nd_source_place(source)};
    source->owns_pieces = false;
    if (mapped->file.pieces) return mapped;
    mapped->file.descriptor = fcntl(source->descriptor, F_DUPFD_CLOEXEC, 0);
    if (mapped->file.descriptor >= 0) return mapped;
    *status = nd_source_fail_system(source, "read", errno);
    nd_free(allocator, mapped);
    return NULL;
}

static size_t row_bytes(const struct mapped_rows *mapped)
{
    return mapped->layout.columns * mapped->layout.size;
}

/* A source of some of the rows. */
static nade_status open_rows(nade_context *context, const char *path, const struct mapped_rows *mapped, size_t first,
                             size_t count, struct source *source)
{
    size_t bytes = row_bytes(mapped);
    return nd_source_open_range(context, path, &mapped->file, mapped->place + first * bytes, count * bytes, source);
}

/* ---- the sample -------------------------------------------------------------------------------------------------- */

/* One pass over a rank's own rows. */
static nade_status look_at_rows(struct row_sample *sample, struct source *source, const struct mapped_rows *mapped,
                                struct share own)
{
    nade_context *context = sample->context;
    double *numbers = nd_alloc(&context->allocator, sample->columns, sizeof *numbers);
    nade_status status = numbers ? NADE_OK : nd_no_memory(context, "a sample of the rows");
    for (size_t row = own.first; row < own.first + own.count && status == NADE_OK; row++) {
        bool good = true;
        status = nd_source_look(source, row_bytes(mapped));
        if (status != NADE_OK) break;
        nd_convert_items(&mapped->layout, source->buffer + source->begin, sample->columns, numbers);
        source->begin += row_bytes(mapped);
        for (size_t c = 0; c < sample->columns && good; c++) good = nd_sample_number(sample, c, numbers[c], row);
        if (!good) status = nd_no_memory(context, "a sample of the rows");
    }
    nd_free(&context->allocator, numbers);
    return status;
}

/* *list: the sample's rows among the rank's own. */
static nade_status choose_rows(nade_context *context, const char *path, const struct mapped_rows *mapped,
                               struct share own, struct row_list *list)
{
    struct row_sample sample = {0};
    struct source source = {0};
    nade_status status = nd_sample_begin(context, mapped->layout.columns, &sample);
    if (status == NADE_OK) status = open_rows(context, path, mapped, own.first, own.count, &source);
    if (status == NADE_OK) status = look_at_rows(&sample, &source, mapped, own);
    status = nd_share_failure(context, status);
    if (status == NADE_OK) status = nd_sample_merge(&sample);
    if (status == NADE_OK)
        status = nd_share_failure(
            context, nd_sample_list(&sample, nd_sample_wanted(mapped->layout.columns), mapped->rows, own, list));
    nd_source_close(&source);
    nd_sample_end(&sample);
    return status;
}

/* What all ranks hold of the sample's rows. */
struct gathered {
    size_t count;
    uint64_t *row;        /* (count) mapped->sampled */
    unsigned char *bytes; /* (count, bytes of a row) */
};

/* Reads listed rows, those that follow one another at once. */
static nade_status read_listed(nade_context *context, const char *path, const struct mapped_rows *mapped,
                               const struct row_list *list, uint64_t *row, unsigned char *bytes)
{
    size_t each = row_bytes(mapped), next;
    nade_status status = NADE_OK;
    for (size_t i = 0; i < list->count && status == NADE_OK; i = next) {
        size_t first = list->row[i].row;
        for (next = i; next < list->count && list->row[next].row - first == next - i; next++)
            row[next] = list->row[next].row;
        status = nd_source_read_range(context, path, &mapped->file, mapped->place + first * each, bytes + i * each,
                                      (next - i) * each);
    }
    return status;
}

/* Brings the ranks' parts of the sample together. */
static nade_status gather_rows(nade_context *context, const char *path, const struct mapped_rows *mapped,
                               const struct row_list *list, struct gathered *g)
{
    const nade_allocator *allocator = &context->allocator;
    size_t ranks = nd_ranks(context), rank = nd_rank(context), each = row_bytes(mapped);
    size_t *end = nd_alloc(allocator, ranks, sizeof *end);
    nade_status status = nd_share_failure(context, end ? NADE_OK : nd_no_memory(context, "a sample of the rows"));
    if (status == NADE_OK) status = nd_count_all(context, list->count, end);
    if (status == NADE_OK) {
        g->count = end[ranks - 1];
        g->row = nd_alloc(allocator, g->count, sizeof *g->row);
        g->bytes = nd_alloc(allocator, g->count, each);
        if (!g->row || !g->bytes) status = nd_no_memory(context, "a sample of the rows");
    }
    if (status == NADE_OK) {
        size_t begin = rank ? end[rank - 1] : 0;
        status = read_listed(context, path, mapped, list, g->row + begin, g->bytes + begin * each);
    }
    status = nd_share_failure(context, status);
    for (size_t r = 0; r < ranks && status == NADE_OK; r++) end[r] *= sizeof *g->row;
    if (status == NADE_OK) status = nd_gather(context, g->row, end);
    for (size_t r = 0; r < ranks && status == NADE_OK; r++) end[r] = end[r] / sizeof *g->row * each;
    if (status == NADE_OK) status = nd_gather(context, g->bytes, end);
    nd_free(allocator, end);
    return status;
}

static nade_status load_sample(nade_context *context, const char *path, struct mapped_rows *mapped,
                               const struct load_request *request, nade_table **table)
{
    struct row_list list = {.path = path};
    struct gathered g = {0};
    const struct load_request all = {.options = request->options, .whole = true};
    nade_status status = choose_rows(context, path, mapped, nd_own_share(context, mapped->rows), &list);
    if (status == NADE_OK) status = gather_rows(context, path, mapped, &list, &g);
    nd_rows_free(&context->allocator, &list);
    if (status == NADE_OK) {
        struct source source = {.context = context,
                                .path = path,
                                .buffer = g.bytes,
                                .capacity = g.count * row_bytes(mapped),
                                .end = g.count * row_bytes(mapped),
                                .ended = true,
                                .descriptor = -1};
        struct array_layout layout = mapped->layout;
        layout.rows = g.count;
        layout.numbers = g.row;
        status = nd_load_items(&source, &layout, &all, table);
    }
    mapped->sampled = g.row;
    nd_free(&context->allocator, g.bytes);
    return status;
}

nade_status nd_load_mapped(struct source *source, const struct array_layout *layout, const struct load_request *request,
                           nade_table **table)
{
    nade_status status = NADE_OK;
    struct mapped_rows *mapped = nd_mapped_keep(source, &status);
    if (!mapped) return status;
    mapped->rows = layout->rows;
    mapped->layout = *layout;
    status = load_sample(source->context, source->path, mapped, request, table);
    if (status == NADE_OK)
        (*table)->mapped = mapped;
    else
        nd_mapped_free(&source->context->allocator, mapped);
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

size_t nd_mapped_number(const nade_table *table, size_t row)
{
    return table->mapped->sampled[row];
}

size_t nd_mapped_rows(const nade_table *table)
{
    return table->mapped->rows;
}

struct share nd_mapped_share(const nade_table *table, unsigned rank, unsigned ranks)
{
    const struct mapped_rows *mapped = table->mapped;
    return mapped->text ? nd_mapped_text_share(mapped->text, rank) : nd_share(rank, ranks, mapped->rows);
}

size_t nd_mapped_length(const nade_table *table, size_t first, size_t most)
{
    const struct mapped_rows *mapped = table->mapped;
    size_t left = mapped->rows - first;
    if (mapped->text) most = nd_mapped_text_most(mapped->text, most);
    return left < most ? left : most;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The table's columns by their numbers in the array. */
static bool list_columns(const nade_allocator *allocator, const nade_table *table, struct mapped_rows *mapped)
{
    enum { NUMBER_BYTES = 21 };
    size_t used = 0, bytes = table->columns * NUMBER_BYTES;
    if (mapped->columns) return true;
    mapped->columns = nd_alloc(allocator, bytes, 1);
    for (size_t c = 0; mapped->columns && c < table->columns; c++)
        used +=
            (size_t)snprintf(mapped->columns + used, bytes - used, "%s%zu", c > 0 ? "," : "", table->column[c].place);
    return mapped->columns != NULL;
}

nade_status nd_mapped_block(nade_context *context, const nade_table *table, size_t first, size_t count,
                            nade_table **block)
{
    struct mapped_rows *mapped = table->mapped;
    struct array_layout layout = mapped->layout;
    if (!list_columns(&context->allocator, table, mapped)) return nd_no_memory(context, "the table's columns");
    if (mapped->text) return nd_mapped_text_block(context, table, first, count, block);
    struct source source = {0};
    const nade_read_options options = {.size = sizeof options, .columns = mapped->columns};
    const struct load_request request = {.options = &options, .whole = true};
    layout.rows = count;
    layout.first_row = first;
    nade_status status = open_rows(context, table->source, mapped, first, count, &source);
    if (status == NADE_OK) status = nd_load_items(&source, &layout, &request, block);
    nd_source_close(&source);
    return status;
}
