#include "data/array_items.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/csv.h"
#include "data/table_builder.h"

enum { BLOCK_ITEMS = 2048 };

struct item_reader {
    struct source *source;
    struct array_layout layout;
    struct table_builder builder;
    size_t *column_at;           /* (layout.columns) where a column of the file is in the table, SIZE_MAX: left out */
    size_t row, column;          /* of the next item */
    const struct row_list *rows; /* NULL: all */
    size_t listed;               /* the first listed row that is not above this one */
};

static nade_status fail_size(const struct item_reader *reader, const char *found)
{
    const struct array_layout *layout = &reader->layout;
    return nd_fail(reader->source->context, NADE_BAD_INPUT,
                   "%s: holds %s the %zu x %zu items of %zu bytes that its header claims, expected exactly those",
                   reader->source->path, found, layout->rows, layout->columns, layout->size);
}

static nade_status check_shape(const struct item_reader *reader, size_t *items)
{
    const struct array_layout *layout = &reader->layout;
    size_t bytes;
    if (layout->rows == 0 || layout->columns == 0)
        return nd_fail(reader->source->context, NADE_BAD_INPUT, "%s: has %zu rows and %zu columns, expected some",
                       reader->source->path, layout->rows, layout->columns);
    if (!nd_multiply(layout->rows, layout->columns, items) || !nd_multiply(*items, layout->size, &bytes))
        return fail_size(reader, "fewer than");
    return NADE_OK;
}

static uint64_t load_word(const unsigned char *bytes, size_t size, bool big_endian)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++) word = word << 8 | bytes[big_endian ? i : size - 1 - i];
    return word;
}

double nd_half_to_double(uint64_t word)
{
    int exponent = (int)(word >> 10 & 0x1F);
    double fraction = (double)(word & 0x3FF);
    double magnitude = exponent == 0    ? ldexp(fraction, ND_FAULT(FAULT_HALF_SUBNORMAL) ? -25 : -24)
                       : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                        : ldexp(fraction + 1024, exponent - 25);
    return word >> 15 ? -magnitude : magnitude;
}

static double float_to_double(uint64_t word, size_t size)
{
    if (size == 2) return nd_half_to_double(word);
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
    uint64_t extended = ND_FAULT(FAULT_UNSIGNED_ITEMS) ? word : (word ^ sign) - sign;
    int64_t number;
    memcpy(&number, &extended, sizeof number);
    return (double)number;
}

void nd_convert_items(const struct array_layout *layout, const unsigned char *bytes, size_t count, double *numbers)
{
    size_t size = layout->size;
    if (size == 1 && layout->kind != 'i') {
        for (size_t i = 0; i < count; i++) numbers[i] = bytes[i];
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t word = load_word(bytes + i * size, size, layout->big_endian);
        numbers[i] = layout->kind == 'f'   ? float_to_double(word, size)
                     : layout->kind == 'i' ? signed_to_double(word, size)
                                           : (double)word;
    }
}

/* The places of the file's columns in the table.  Called only when a row's worth of bytes is known to exist. */
static nade_status map_columns(struct item_reader *reader)
{
    nade_context *context = reader->source->context;
    const struct nade_table *table = reader->builder.table;
    reader->column_at = nd_alloc(&context->allocator, reader->layout.columns, sizeof *reader->column_at);
    if (!reader->column_at) return nd_no_memory(context, "the table's columns");
    memset(reader->column_at, 0xFF, reader->layout.columns * sizeof *reader->column_at);
    for (size_t i = 0; i < table->columns; i++) reader->column_at[table->column[i].place] = i;
    return NADE_OK;
}

/* What messages call a row that is read. */
static size_t number_of(const struct item_reader *reader, size_t row)
{
    const struct array_layout *layout = &reader->layout;
    return layout->numbers ? layout->numbers[row] : layout->first_row + row;
}

static bool row_is_wanted(struct item_reader *reader)
{
    const struct row_list *list = reader->rows;
    if (!list) return true;
    if (reader->row == 0) reader->listed = 0; /* another column begins, if columns lie together */
    while (reader->listed < list->count && list->row[reader->listed].row < reader->row) reader->listed++;
    return reader->listed < list->count && list->row[reader->listed].row == reader->row;
}

static nade_status add_item(struct item_reader *reader, double number)
{
    size_t column = reader->column_at[reader->column];
    if (column == SIZE_MAX || !row_is_wanted(reader)) return NADE_OK;
    struct table_builder *builder = &reader->builder;
    size_t row = number_of(reader, reader->row);
    if (reader->layout.kind == 'b' && number > 1)
        return nd_fail(builder->context, NADE_BAD_INPUT, "%s, row %zu, column '%s': found the byte %d, expected 0 or 1",
                       reader->source->path, row, builder->table->column[column].name, (int)number);
    return nd_table_add_number(builder, column, number, row);
}

static void step(size_t *inner, size_t inner_count, size_t *outer)
{
    if (++*inner < inner_count) return;
    *inner = 0;
    ++*outer;
}

static void next_item(struct item_reader *reader)
{
    if (reader->layout.fortran)
        step(&reader->row, reader->layout.rows, &reader->column);
    else
        step(&reader->column, reader->layout.columns, &reader->row);
}

/* How many whole rows there are among the items that can be added column by column: all are wanted, and none of their
 * items is refused, since what is refused is the first in the order of the file. */
static size_t count_whole_rows(const struct item_reader *reader, const double *numbers, size_t items)
{
    const struct array_layout *layout = &reader->layout;
    if (layout->fortran || layout->kind == 'b' || layout->numbers || reader->rows || reader->column != 0) return 0;
    for (size_t i = 0; i < items; i++)
        if (isinf(numbers[i])) return 0;
    return items / layout->columns;
}

static nade_status add_rows(struct item_reader *reader, const double *numbers, size_t rows)
{
    struct table_builder *builder = &reader->builder;
    const struct nade_table *table = builder->table;
    double cells[BLOCK_ITEMS];
    size_t position = reader->layout.first_row + reader->row, added;
    for (size_t c = 0; c < table->columns; c++) {
        const double *from = numbers + table->column[c].place;
        for (size_t row = 0; row < rows; row++) cells[row] = from[row * reader->layout.columns];
        enum cell_result result = nd_builder_add_numbers(&builder->columns[c], cells, rows, position, &added);
        if (result != CELL_OK) return nd_table_cell_failed(builder, result, position, c, "", 0);
    }
    reader->row += rows;
    return NADE_OK;
}

static nade_status add_one_by_one(struct item_reader *reader, const double *numbers, size_t items)
{
    nade_status status = NADE_OK;
    for (size_t i = 0; status == NADE_OK && i < items; i++) {
        status = add_item(reader, numbers[i]);
        next_item(reader);
    }
    return status;
}

/* Adds up to count items; *added of them were there. */
static nade_status add_block(struct item_reader *reader, size_t count, size_t *added)
{
    struct source *source = reader->source;
    double numbers[BLOCK_ITEMS];
    nade_status status = nd_source_look(source, reader->layout.size);
    size_t items = nd_source_available(source) / reader->layout.size;
    if (items > count) items = count;
    if (items > BLOCK_ITEMS) items = BLOCK_ITEMS;
    if (status == NADE_OK && items == 0) status = fail_size(reader, "fewer than");
    if (status == NADE_OK) nd_convert_items(&reader->layout, source->buffer + source->begin, items, numbers);
    size_t rows = status == NADE_OK ? count_whole_rows(reader, numbers, items) : 0;
    if (rows > 0) items = rows * reader->layout.columns;
    if (status == NADE_OK) status = rows > 0 ? add_rows(reader, numbers, rows) : add_one_by_one(reader, numbers, items);
    source->begin += items * reader->layout.size;
    *added = items;
    return status;
}

static nade_status add_items(struct item_reader *reader, size_t items)
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

static nade_status count_rows(struct item_reader *reader)
{
    nade_status status = NADE_OK;
    size_t count = reader->rows ? reader->rows->count : reader->layout.rows;
    for (size_t i = 0; status == NADE_OK && i < count; i++)
        status = nd_table_add_row(&reader->builder, reader->rows ? reader->rows->row[i].row : number_of(reader, i));
    return status;
}

/* A header may claim any number of columns: before memory is set aside for them, one row of them must be there.  More
 * than a table may have need not be waited for. */
static nade_status begin_table(struct item_reader *reader, const nade_read_options *options)
{
    struct source *source = reader->source;
    size_t columns = reader->layout.columns < ND_COLUMNS_MOST ? reader->layout.columns : ND_COLUMNS_MOST;
    size_t row_bytes = columns * reader->layout.size;
    nade_status status = nd_source_look(source, row_bytes);
    if (status == NADE_OK && nd_source_available(source) < row_bytes) status = fail_size(reader, "fewer than");
    if (status == NADE_OK)
        status = nd_table_begin(source->context, source->path, options, NULL, reader->layout.columns, &reader->builder);
    if (status != NADE_OK) return status;
    reader->builder.table->array = true;
    reader->builder.table->single = reader->layout.kind == 'f' && reader->layout.size < sizeof(double);
    return map_columns(reader);
}

nade_status nd_load_items(struct source *source, const struct array_layout *layout, const struct load_request *request,
                          nade_table **table)
{
    struct item_reader reader = {.source = source, .layout = *layout, .rows = request->rows};
    size_t items = 0;
    nade_status status = check_shape(&reader, &items);
    if (status == NADE_OK) status = begin_table(&reader, request->options);
    if (status == NADE_OK) status = add_items(&reader, items);
    if (status == NADE_OK && reader.rows) status = nd_rows_check(source->context, reader.rows, layout->rows);
    if (status == NADE_OK) status = count_rows(&reader);
    if (status == NADE_OK) status = nd_table_finish(&reader.builder, table);
    nd_table_abandon(&reader.builder);
    nd_free(&source->context->allocator, reader.column_at);
    return status;
}
