#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/loader.h"
#include "data/npy_header.h"
#include "data/numbers.h"
#include "data/table_builder.h"

enum { BLOCK_ITEMS = 2048 };

struct npy_reader {
    struct source *source;
    struct npy_header header;
    struct table_builder builder;
    size_t *column_at;  /* (header.columns) where a column of the file is in the table, SIZE_MAX: left out */
    size_t row, column; /* of the next item */
};

static nade_status fail_size(const struct npy_reader *reader, const char *found)
{
    const struct npy_header *header = &reader->header;
    return nd_fail(reader->source->context, NADE_BAD_INPUT,
                   "%s: holds %s the %zu x %zu items of %zu bytes that its header claims, expected exactly those",
                   reader->source->path, found, header->rows, header->columns, header->size);
}

static nade_status check_shape(const struct npy_reader *reader, size_t *items)
{
    const struct npy_header *header = &reader->header;
    size_t bytes;
    if (header->rows == 0 || header->columns == 0)
        return nd_fail(reader->source->context, NADE_BAD_INPUT, "%s: has %zu rows and %zu columns, expected some",
                       reader->source->path, header->rows, header->columns);
    if (!nd_multiply(header->rows, header->columns, items) || !nd_multiply(*items, header->size, &bytes))
        return fail_size(reader, "fewer than");
    return NADE_OK;
}

static uint64_t load_word(const unsigned char *bytes, size_t size, bool big_endian)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) word = word << 8 | bytes[big_endian ? i : size - 1 - i];
    return word;
}

static double half_to_double(uint64_t word)
{
    int exponent = (int)(word >> 10 & 0x1F);
    double fraction = (double)(word & 0x3FF);
    double magnitude = exponent == 0    ? ldexp(fraction, -24)
                       : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                        : ldexp(fraction + 1024, exponent - 25);
    return word >> 15 ? -magnitude : magnitude;
}

static double float_to_double(uint64_t word, size_t size)
{
    if (size == 2) return half_to_double(word);
    if (size == 4) {
        uint32_t bits = (uint32_t)word;
        float number;
        memcpy(&number, &bits, sizeof number);
        return (double)number;
    }
    double number;
    memcpy(&number, &word, sizeof number);
    return number;
}

static double signed_to_double(uint64_t word, size_t size)
{
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    uint64_t extended = (word ^ sign) - sign;
    int64_t number;
    memcpy(&number, &extended, sizeof number);
    return (double)number;
}

static void convert(const struct npy_header *header, const unsigned char *bytes, size_t count, double *numbers)
{
    size_t size = header->size;
    if (size == 1 && header->kind != 'i') {
        for (size_t i = 0; i < count; i++) numbers[i] = bytes[i];
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t word = load_word(bytes + i * size, size, header->big_endian);
        numbers[i] = header->kind == 'f'   ? float_to_double(word, size)
                     : header->kind == 'i' ? signed_to_double(word, size)
                                           : (double)word;
    }
}

/* The places of the file's columns in the table.  Called only when a row's worth of bytes is known to exist. */
static nade_status map_columns(struct npy_reader *reader)
{
    nade_context *context = reader->source->context;
    const struct nade_table *table = reader->builder.table;
    reader->column_at = nd_alloc(&context->allocator, reader->header.columns, sizeof *reader->column_at);
    if (!reader->column_at) return nd_no_memory(context, "the table's columns");
    memset(reader->column_at, 0xFF, reader->header.columns * sizeof *reader->column_at);
    for (size_t i = 0; i < table->columns; i++) reader->column_at[table->column[i].place] = i;
    return NADE_OK;
}

static nade_status add_item(struct npy_reader *reader, double number)
{
    size_t column = reader->column_at[reader->column];
    if (column == SIZE_MAX) return NADE_OK;
    struct table_builder *builder = &reader->builder;
    if (reader->header.kind == 'b' && number > 1)
        return nd_fail(builder->context, NADE_BAD_INPUT, "%s, row %zu, column '%s': found the byte %d, expected 0 or 1",
                       reader->source->path, reader->row, builder->table->column[column].name, (int)number);
    enum cell_result result = nd_builder_add_number(&builder->columns[column], number, reader->row);
    if (result == CELL_OK) return NADE_OK;
    char text[ND_NUMBER_TEXT];
    nd_format_number(number, text);
    return nd_table_cell_failed(builder, result, reader->row, column, text, strlen(text));
}

static void step(size_t *inner, size_t inner_count, size_t *outer)
{
    if (++*inner < inner_count) return;
    *inner = 0;
    ++*outer;
}

static void next_item(struct npy_reader *reader)
{
    if (reader->header.fortran)
        step(&reader->row, reader->header.rows, &reader->column);
    else
        step(&reader->column, reader->header.columns, &reader->row);
}

/* Adds up to count items; *added of them were there. */
static nade_status add_block(struct npy_reader *reader, size_t count, size_t *added)
{
    struct source *source = reader->source;
    double numbers[BLOCK_ITEMS];
    nade_status status = nd_source_look(source, reader->header.size);
    size_t items = nd_source_available(source) / reader->header.size;
    if (items > count) items = count;
    if (items > BLOCK_ITEMS) items = BLOCK_ITEMS;
    if (status == NADE_OK && items == 0) status = fail_size(reader, "fewer than");
    if (status == NADE_OK) convert(&reader->header, source->buffer + source->begin, items, numbers);
    for (size_t i = 0; status == NADE_OK && i < items; i++) {
        status = add_item(reader, numbers[i]);
        next_item(reader);
    }
    source->begin += items * reader->header.size;
    *added = items;
    return status;
}

static nade_status add_items(struct npy_reader *reader, size_t items)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK && items > 0) {
        size_t added;
        status = add_block(reader, items, &added);
        items -= added;
    }
    if (status == NADE_OK) status = nd_source_look(reader->source, 1);
    if (status == NADE_OK && nd_source_available(reader->source) > 0) status = fail_size(reader, "more than");
    return status;
}

/* A header may claim any number of columns: before memory is set aside for them, one row of them must be there. */
static nade_status begin_table(struct npy_reader *reader, const nade_read_options *options)
{
    struct source *source = reader->source;
    size_t row_bytes = reader->header.columns * reader->header.size;
    nade_status status = nd_source_look(source, row_bytes);
    if (status == NADE_OK && nd_source_available(source) < row_bytes) status = fail_size(reader, "fewer than");
    if (status == NADE_OK)
        status = nd_table_begin(source->context, source->path, options, NULL, reader->header.columns, &reader->builder);
    if (status != NADE_OK) return status;
    reader->builder.table->array = true;
    reader->builder.table->single = reader->header.kind == 'f' && reader->header.size < sizeof(double);
    return map_columns(reader);
}

nade_status nd_load_npy(struct source *source, const nade_read_options *options, nade_table **table)
{
    struct npy_reader reader = {.source = source};
    size_t items = 0;
    nade_status status = nd_npy_header(source, &reader.header);
    if (status == NADE_OK) status = check_shape(&reader, &items);
    if (status == NADE_OK) status = begin_table(&reader, options);
    if (status == NADE_OK) status = add_items(&reader, items);
    if (status == NADE_OK) status = nd_table_finish(&reader.builder, reader.header.rows, table);
    nd_table_abandon(&reader.builder);
    nd_free(&source->context->allocator, reader.column_at);
    return status;
}
