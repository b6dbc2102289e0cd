#include "data/order_file.h"

#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "data/source.h"

struct order_reader {
    struct source source;
    size_t columns;
    size_t *order; /* (capacity, columns) */
    size_t orderings, capacity;
    size_t *seen; /* (columns) the line that last named the column */
    size_t line;
    size_t filled; /* numbers of the line so far */
};

static nade_status make_room(struct order_reader *reader)
{
    if (reader->orderings < reader->capacity) return NADE_OK;
    size_t capacity = reader->capacity ? reader->capacity * 2 : 8;
    size_t row_bytes;
    size_t *grown = NULL;
    if (nd_multiply(reader->columns, sizeof *grown, &row_bytes))
        grown = nd_grow(&reader->source.context->allocator, reader->order, reader->capacity, capacity, row_bytes);
    if (!grown) return nd_no_memory(reader->source.context, "the orderings");
    reader->order = grown;
    reader->capacity = capacity;
    return NADE_OK;
}

static nade_status add_number(struct order_reader *reader, size_t number)
{
    nade_context *context = reader->source.context;
    const char *path = reader->source.path;
    if (number >= reader->columns)
        return nd_fail(context, NADE_BAD_INPUT, "%s, line %zu: found column number %zu, expected 0 to %zu", path,
                       reader->line, number, reader->columns - 1);
    if (reader->seen[number] == reader->line)
        return nd_fail(context, NADE_BAD_INPUT, "%s, line %zu: found column %zu twice, expected each once", path,
                       reader->line, number);
    nade_status status = make_room(reader);
    if (status != NADE_OK) return status;
    reader->seen[number] = reader->line;
    reader->order[reader->orderings * reader->columns + reader->filled++] = number;
    return NADE_OK;
}

static nade_status end_line(struct order_reader *reader)
{
    if (reader->filled > 0 && reader->filled < reader->columns)
        return nd_fail(reader->source.context, NADE_BAD_INPUT, "%s, line %zu: found %zu columns, expected all %zu",
                       reader->source.path, reader->line, reader->filled, reader->columns);
    reader->orderings += reader->filled > 0;
    reader->filled = 0;
    reader->line++;
    return NADE_OK;
}

/* The next byte, or -1 at the end of the file. */
static nade_status next_byte(struct order_reader *reader, int *byte)
{
    struct source *source = &reader->source;
    nade_status status = nd_source_available(source) > 0 ? NADE_OK : nd_source_fill(source);
    *byte = status == NADE_OK && nd_source_available(source) > 0 ? source->buffer[source->begin++] : -1;
    return status;
}

/* Reads the digits of a number that began with *byte; *byte is then the one behind it. */
static nade_status read_number(struct order_reader *reader, int *byte)
{
    size_t number = 0;
    nade_status status = NADE_OK;
    while (status == NADE_OK && *byte >= '0' && *byte <= '9') {
        size_t digit = (size_t)(*byte - '0');
        number = number > (SIZE_MAX - digit) / 10 ? SIZE_MAX : number * 10 + digit;
        status = next_byte(reader, byte);
    }
    return status == NADE_OK ? add_number(reader, number) : status;
}

static nade_status read_all(struct order_reader *reader)
{
    int byte;
    nade_status status = next_byte(reader, &byte);
    while (status == NADE_OK && byte >= 0) {
        if (byte >= '0' && byte <= '9') {
            status = read_number(reader, &byte);
            continue;
        }
        if (byte == '\n')
            status = end_line(reader);
        else if (byte == 0 || !strchr(" \t\r,", byte))
            status =
                nd_fail(reader->source.context, NADE_BAD_INPUT,
                        "%s, line %zu: found the byte 0x%02x, expected column numbers separated by blanks or commas",
                        reader->source.path, reader->line, (unsigned)byte);
        if (status == NADE_OK) status = next_byte(reader, &byte);
    }
    if (status == NADE_OK) status = end_line(reader);
    if (status == NADE_OK && reader->orderings == 0)
        status = nd_fail(reader->source.context, NADE_BAD_INPUT, "%s: is empty, expected an ordering on each line",
                         reader->source.path);
    return status;
}

nade_status nd_read_orderings(nade_context *context, const char *path, size_t columns, size_t **order,
                              size_t *orderings)
{
    struct order_reader reader = {.columns = columns, .line = 1};
    nade_status status = nd_source_open(context, path, &reader.source);
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
    nd_source_close(&reader.source);
    return status;
}
