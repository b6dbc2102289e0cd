#include "data/row_list.h"

#include <stdlib.h>

#include "base/fault.h"
#include "base/memory.h"
#include "data/number_file.h"

struct row_reader {
    struct number_file file;
    struct row_list list;
    size_t capacity;
};

static nade_status add_row(struct row_reader *reader, size_t row)
{
    nade_context *context = reader->file.source.context;
    struct row_list *list = &reader->list;
    if (list->count == reader->capacity) {
        size_t capacity = reader->capacity ? reader->capacity * 2 : 64;
        struct listed_row *grown = nd_grow(&context->allocator, list->row, list->count, capacity, sizeof *grown);
        if (!grown) return nd_no_memory(context, "the row numbers");
        list->row = grown;
        reader->capacity = capacity;
    }
    list->row[list->count++] = (struct listed_row){row, reader->file.line};
    return NADE_OK;
}

static nade_status read_all(struct row_reader *reader)
{
    enum number_event event = NUMBER_HERE;
    nade_status status = NADE_OK;
    while (status == NADE_OK && event != NUMBER_FILE_END) {
        size_t row = 0;
        status = nd_numbers_next(&reader->file, &event, &row);
        if (status == NADE_OK && event == NUMBER_HERE) status = add_row(reader, row);
    }
    if (status == NADE_OK && reader->list.count == 0)
        status = nd_fail(reader->file.source.context, NADE_BAD_INPUT, "%s: is empty, expected row numbers",
                         reader->file.source.path);
    return status;
}

static int compare_rows(const void *left, const void *right)
{
    const struct listed_row *a = left, *b = right;
    if (a->row != b->row) return a->row < b->row ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

static nade_status refuse_duplicates(const struct row_reader *reader)
{
    const struct row_list *list = &reader->list;
    for (size_t i = 1; i < list->count; i++) {
        if (list->row[i].row != list->row[i - 1].row) continue;
        return nd_fail(reader->file.source.context, NADE_BAD_INPUT,
                       "%s, line %zu: found row %zu, which is on line %zu already, expected each once",
                       reader->file.source.path, list->row[i].line, list->row[i].row, list->row[i - 1].line);
    }
    return NADE_OK;
}

nade_status nd_rows_read(nade_context *context, const char *path, struct row_list *list)
{
    struct row_reader reader = {0};
    nade_status status = nd_numbers_open(context, path, "row", &reader.file);
    if (status != NADE_OK) return status;
    reader.list.path = reader.file.source.path;
    status = read_all(&reader);
    if (status == NADE_OK) {
        qsort(reader.list.row, reader.list.count, sizeof *reader.list.row, compare_rows);
        status = refuse_duplicates(&reader);
    }
    if (status == NADE_OK)
        *list = reader.list;
    else
        nd_rows_free(&context->allocator, &reader.list);
    nd_numbers_close(&reader.file);
    return status;
}

void nd_rows_free(const nade_allocator *allocator, struct row_list *list)
{
    nd_free(allocator, list->row);
    *list = (struct row_list){0};
}

nade_status nd_rows_check(nade_context *context, const struct row_list *list, size_t rows)
{
    const struct listed_row *last = &list->row[list->count - 1];
    if (last->row < rows || rows == 0) return NADE_OK; /* a table without rows is refused for that */
    if (ND_FAULT(FAULT_ROWS_BEYOND)) return NADE_OK;
    return nd_fail(context, NADE_BAD_INPUT, "%s, line %zu: found row number %zu, expected 0 to %zu", list->path,
                   last->line, last->row, rows - 1);
}
