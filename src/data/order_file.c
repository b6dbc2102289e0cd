#include "data/order_file.h"

#include "base/memory.h"
#include "data/number_file.h"

struct order_reader {
    struct number_file file;
    size_t columns;
    size_t *order; /* (capacity, columns) */
    size_t orderings, capacity;
    size_t *seen;  /* (columns) the line that last named the column */
    size_t filled; /* numbers of the line so far */
};

static nade_status make_room(struct order_reader *reader)
{
    if (reader->orderings < reader->capacity) return NADE_OK;
    size_t capacity = reader->capacity ? reader->capacity * 2 : 8;
    size_t row_bytes;
    size_t *grown = NULL;
    if (nd_multiply(reader->columns, sizeof *grown, &row_bytes))
        grown = nd_grow(&reader->file.source.context->allocator, reader->order, reader->capacity, capacity, row_bytes);
    if (!grown) return nd_no_memory(reader->file.source.context, "the orderings");
    reader->order = grown;
    reader->capacity = capacity;
    return NADE_OK;
}

static nade_status add_number(struct order_reader *reader, size_t number)
{
    nade_context *context = reader->file.source.context;
    const char *path = reader->file.source.path;
    if (number >= reader->columns)
        return nd_fail(context, NADE_BAD_INPUT, "%s, line %zu: found column number %zu, expected 0 to %zu", path,
                       reader->file.line, number, reader->columns - 1);
    if (reader->seen[number] == reader->file.line)
        return nd_fail(context, NADE_BAD_INPUT, "%s, line %zu: found column %zu twice, expected each once", path,
                       reader->file.line, number);
    nade_status status = make_room(reader);
    if (status != NADE_OK) return status;
    reader->seen[number] = reader->file.line;
    reader->order[reader->orderings * reader->columns + reader->filled++] = number;
    return NADE_OK;
}

static nade_status end_line(struct order_reader *reader)
{
    if (reader->filled > 0 && reader->filled < reader->columns)
        return nd_fail(reader->file.source.context, NADE_BAD_INPUT, "%s, line %zu: found %zu columns, expected all %zu",
                       reader->file.source.path, reader->file.line, reader->filled, reader->columns);
    reader->orderings += reader->filled > 0;
    reader->filled = 0;
    return NADE_OK;
}

static nade_status read_all(struct order_reader *reader)
{
    enum number_event event = NUMBER_HERE;
    nade_status status = NADE_OK;
    while (status == NADE_OK && event != NUMBER_FILE_END) {
        size_t number = 0;
        status = nd_numbers_next(&reader->file, &event, &number);
        if (status == NADE_OK) status = event == NUMBER_HERE ? add_number(reader, number) : end_line(reader);
    }
    if (status == NADE_OK && reader->orderings == 0)
        status = nd_fail(reader->file.source.context, NADE_BAD_INPUT, "%s: is empty, expected an ordering on each line",
                         reader->file.source.path);
    return status;
}

nade_status nd_read_orderings(nade_context *context, const char *path, size_t columns, size_t **order,
                              size_t *orderings)
{
    struct order_reader reader = {.columns = columns};
    nade_status status = nd_numbers_open(context, path, "column", &reader.file);
    if (status != NADE_OK) return status;
    reader.seen = nd_alloc(&context->allocator, columns, sizeof *reader.seen);
    status = reader.seen ? read_all(&reader) : nd_no_memory(context, "the orderings");
    if (status == NADE_OK) {
        *order = reader.order;
        *orderings = reader.orderings;
    } else {
        nd_free(&context->allocator, reader.order);
    }
    nd_free(&context->allocator, reader.seen);
    nd_numbers_close(&reader.file);
    return status;
}
