#include "data/arrow_table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "base/utf8.h"
#include "data/cell_text.h"
#include "data/date_text.h"

/* Rows of a batch on their way into a column of the table. */
struct cell_span {
    struct arrow_import *import;
    size_t column;             /* of the table */
    struct arrow_cells cells;  /* indices, where there is a dictionary */
    struct arrow_cells values; /* of the dictionary */
    size_t first, count;       /* of cells */
    size_t position;           /* of the first one's row, for messages */
};

static struct column_builder *builder_of(const struct cell_span *span)
{
    return &span->import->builder.columns[span->column];
}

static nade_status fail_cell(const struct cell_span *span, size_t at, const char *found, const char *expected)
{
    const struct nade_table *table = span->import->builder.table;
    const char *name = table->column[span->column].name;
    char named[ND_EXCERPT];
    return nd_fail(span->import->context, NADE_BAD_INPUT, "%s, row %zu, column '%s': found %s, expected %s",
                   table->source, span->position + at, nd_excerpt(name, strlen(name), named), found, expected);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Numbers that the caller calls missing. */
static void drop_marks(const struct arrow_import *import, double *numbers, size_t count)
{
    for (size_t m = 0; m < import->mark_count; m++)
        for (size_t i = 0; i < count; i++)
            if (numbers[i] == import->mark_numbers[m]) numbers[i] = NAN;
}

/* Adds a block of the span's numbers, of which the first is its at-th. */
static nade_status add_numbers(const struct cell_span *span, size_t at, double *numbers, size_t count)
{
    size_t added = 0;
    drop_marks(span->import, numbers, count);
    enum cell_result result = nd_builder_add_numbers(builder_of(span), numbers, count, span->position + at, &added);
    if (result == CELL_OK) return NADE_OK;
    char text[ND_NUMBER_TEXT] = "";
    if (added < count) nd_format_number(numbers[added], text);
    return nd_table_cell_failed(&span->import->builder, result, span->position + at + added, span->column, text,
                                strlen(text));
}

/* Numbers or dates of an array, at most ND_ARROW_BLOCK of them; *read: fewer, where a date is out of range. */
static void read_block(const struct cell_span *span, const struct arrow_cells *cells, size_t first, size_t count,
                       double *numbers, size_t *read)
{
    *read = count;
    if (cells->type.kind == ARROW_DATE)
        *read = nd_arrow_dates(cells, first, count, numbers, &span->import->finest[span->column]);
    else
        nd_arrow_numbers(cells, first, count, numbers);
}

static nade_status fail_date(const struct cell_span *span, size_t at)
{
    return fail_cell(span, at, "a date outside of the years 1 to 9999", "one within them");
}

static size_t block_of(size_t left)
{
    return left < ND_ARROW_BLOCK ? left : ND_ARROW_BLOCK;
}

static nade_status add_plain_numbers(const struct cell_span *span)
{
    double numbers[ND_ARROW_BLOCK];
    nade_status status = NADE_OK;
    for (size_t at = 0, count; status == NADE_OK && at < span->count; at += count) {
        size_t read;
        count = block_of(span->count - at);
        read_block(span, &span->cells, span->first + at, count, numbers, &read);
        status = read < count ? fail_date(span, at + read) : add_numbers(span, at, numbers, count);
    }
    return status;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

/* What is wrong with the bytes of a label; NULL: nothing. */
static const char *find_fault(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        uint32_t point;
        size_t bytes = (unsigned char)text[i] < 0x80 ? 1 : nd_utf8_decode(text + i, length - i, &point);
        if (text[i] == '\0') return "a text with a zero byte";
        if (bytes == 0) return "a text that is no UTF-8";
        i += bytes;
    }
    return NULL;
}

/* Adds the text of a cell of an array, which is the span's own or its dictionary. */
static nade_status add_text(const struct cell_span *span, size_t at, const struct arrow_cells *cells, size_t cell)
{
    size_t length = 0;
    const char *text = nd_arrow_text(cells, cell, &length);
    const char *fault = text ? find_fault(text, length) : "an offset outside of the texts";
    if (fault) return fail_cell(span, at, fault, "UTF-8 without a zero byte");
    enum cell_result result = nd_builder_add_text(builder_of(span), text, length, span->position + at);
    if (result == CELL_OK) return NADE_OK;
    return nd_table_cell_failed(&span->import->builder, result, span->position + at, span->column, text, length);
}

static nade_status add_missing(const struct cell_span *span)
{
    if (nd_builder_add_missing(builder_of(span)) == CELL_OK) return NADE_OK;
    return nd_no_memory(span->import->context, "the table's cells");
}

static nade_status add_plain_texts(const struct cell_span *span)
{
    nade_status status = NADE_OK;
    for (size_t at = 0; status == NADE_OK && at < span->count; at++)
        status = nd_arrow_missing(&span->cells, span->first + at) ? add_missing(span)
                                                                  : add_text(span, at, &span->cells, span->first + at);
    return status;
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

/* Reads a block of indices, each within the dictionary or ND_ARROW_MISSING, which it also is where the value is. */
static nade_status read_indices(const struct cell_span *span, size_t at, size_t count, int64_t *indices)
{
    nd_arrow_indices(&span->cells, span->first + at, count, indices);
    for (size_t i = 0; i < count; i++) {
        if (indices[i] == ND_ARROW_MISSING) continue;
        if (indices[i] < 0 || (uint64_t)indices[i] >= span->values.count) {
            char found[48], expected[64];
            snprintf(found, sizeof found, "the index %lld", (long long)indices[i]);
            snprintf(expected, sizeof expected, "one of the dictionary's %zu", span->values.count);
            return fail_cell(span, at + i, found, expected);
        }
        bool missing = nd_arrow_missing(&span->values, (size_t)indices[i]);
        if (missing && !ND_FAULT(FAULT_ARROW_DICTIONARY)) indices[i] = ND_ARROW_MISSING;
    }
    return NADE_OK;
}

/* A text that the column has already is known by its code, codes (dictionary) with SIZE_MAX where it is not. */
static nade_status add_value(const struct cell_span *span, size_t at, size_t index, size_t *codes)
{
    if (codes[index] != SIZE_MAX && nd_builder_repeat(builder_of(span), codes[index])) return NADE_OK;
    nade_status status = add_text(span, at, &span->values, index);
    if (status == NADE_OK) codes[index] = nd_builder_last_code(builder_of(span));
    return status;
}

static nade_status add_encoded_texts(const struct cell_span *span)
{
    const nade_allocator *allocator = &span->import->context->allocator;
    int64_t indices[ND_ARROW_BLOCK];
    size_t *codes = nd_alloc(allocator, span->values.count, sizeof *codes);
    if (!codes) return nd_no_memory(span->import->context, "the table's cells");
    memset(codes, 0xFF, span->values.count * sizeof *codes);
    nade_status status = NADE_OK;
    for (size_t at = 0, count; status == NADE_OK && at < span->count; at += count) {
        count = block_of(span->count - at);
        status = read_indices(span, at, count, indices);
        for (size_t i = 0; i < count && status == NADE_OK; i++)
            status =
                indices[i] == ND_ARROW_MISSING ? add_missing(span) : add_value(span, at + i, (size_t)indices[i], codes);
    }
    nd_free(allocator, codes);
    return status;
}

/* All numbers of the dictionary, used or not; a date that is out of range is infinite. */
static double *read_dictionary(const struct cell_span *span)
{
    size_t count, read, total = span->values.count;
    double *numbers = nd_alloc(&span->import->context->allocator, total, sizeof *numbers);
    for (size_t at = 0; numbers && at < total; at += count) {
        count = block_of(total - at);
        read_block(span, &span->values, at, count, numbers + at, &read);
        if (read == count) continue;
        numbers[at + read] = INFINITY;
        count = read + 1;
    }
    return numbers;
}

static nade_status add_encoded_numbers(const struct cell_span *span)
{
    double *dictionary = read_dictionary(span), numbers[ND_ARROW_BLOCK];
    int64_t indices[ND_ARROW_BLOCK];
    nade_status status = dictionary ? NADE_OK : nd_no_memory(span->import->context, "the table's cells");
    for (size_t at = 0, count; status == NADE_OK && at < span->count; at += count) {
        count = block_of(span->count - at);
        status = read_indices(span, at, count, indices);
        for (size_t i = 0; i < count && status == NADE_OK; i++) {
            numbers[i] = indices[i] == ND_ARROW_MISSING ? NAN : dictionary[indices[i]];
            if (isinf(numbers[i]) && span->values.type.kind == ARROW_DATE) status = fail_date(span, at + i);
        }
        if (status == NADE_OK) status = add_numbers(span, at, numbers, count);
    }
    nd_free(&span->import->context->allocator, dictionary);
    return status;
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

static nade_status add_column(struct arrow_import *import, size_t column, const struct ArrowArray *batch, size_t first,
                              size_t count, size_t position)
{
    char words[160]; /* nd_arrow_check has seen to it that there is nothing to say */
    size_t place = import->builder.table->column[column].place;
    const struct arrow_column *from = &import->shape->columns[place];
    const struct ArrowArray *array = batch->children[place];
    bool encoded = from->index.kind != ARROW_OTHER, texts = nd_arrow_is_text(&from->type);
    struct cell_span span = {
        .import = import,
        .column = column,
        .first = (size_t)batch->offset + first,
        .count = count,
        .position = position,
    };
    nd_arrow_cells(array, encoded ? from->index : from->type, &span.cells, words, sizeof words);
    if (encoded) nd_arrow_cells(array->dictionary, from->type, &span.values, words, sizeof words);
    nd_builder_reserve(builder_of(&span), count);
    if (texts) return encoded ? add_encoded_texts(&span) : add_plain_texts(&span);
    return encoded ? add_encoded_numbers(&span) : add_plain_numbers(&span);
}

nade_status nd_arrow_add(struct arrow_import *import, const struct ArrowArray *batch, size_t first, size_t count,
                         size_t position)
{
    nade_status status = NADE_OK;
    for (size_t row = 0; row < count && status == NADE_OK; row++)
        status = nd_table_add_row(&import->builder, position + row);
    for (size_t i = 0; i < import->builder.table->columns && status == NADE_OK; i++)
        status = add_column(import, i, batch, first, count, position);
    return status;
}

nade_status nd_arrow_add_listed(struct arrow_import *import, const struct ArrowArray *batch, size_t first, size_t count,
                                size_t position, const struct row_list *list, size_t *next)
{
    nade_status status = NADE_OK;
    if (!list) return nd_arrow_add(import, batch, first, count, position);
    while (status == NADE_OK && *next < list->count && list->row[*next].row - position < count) {
        size_t begin = list->row[*next].row - position, run = 1;
        while (*next + run < list->count && list->row[*next + run].row == position + begin + run && begin + run < count)
            run++;
        status = nd_arrow_add(import, batch, first + begin, run, position + begin);
        *next += run;
    }
    return status;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* Numbers among the caller's marks are missing in columns of numbers. */
static bool take_marks(struct arrow_import *import, const nade_read_options *options)
{
    const nade_allocator *allocator = &import->context->allocator;
    if (!nd_marks_take(allocator, options->missing, true, &import->marks)) return false;
    import->mark_numbers = nd_alloc(allocator, import->marks.count, sizeof *import->mark_numbers);
    for (size_t i = 0; import->mark_numbers && i < import->marks.count; i++) {
        const char *text = import->marks.texts[i];
        double *number = &import->mark_numbers[import->mark_count];
        import->mark_count += nd_parse_number(text, strlen(text), number) == NUMBER_FINITE;
    }
    return import->mark_numbers != NULL;
}

static nade_status declare(struct arrow_import *import, size_t column)
{
    struct nade_table *table = import->builder.table;
    struct column_builder *builder = &import->builder.columns[column];
    const struct arrow_column *from = &import->shape->columns[table->column[column].place];
    char named[ND_EXCERPT], format[ND_EXCERPT];
    if (from->type.kind == ARROW_OTHER)
        return nd_fail(import->context, NADE_BAD_INPUT,
                       "%s, column '%s': has the format '%s', expected truth values, numbers, texts, dates, or a "
                       "dictionary of these; leave column '%s' out",
                       table->source, nd_excerpt(table->column[column].name, strlen(table->column[column].name), named),
                       nd_excerpt(from->format, strlen(from->format), format), table->column[column].name);
    builder->marks = &import->marks;
    builder->keep_fractions = true;
    builder->texts_only = nd_arrow_is_text(&from->type) && !ND_FAULT(FAULT_ARROW_NUMBERS);
    enum declared declared = builder->texts_only               ? DECLARED_TEXTS
                             : from->type.kind == ARROW_TRUTH  ? DECLARED_TRUTHS
                             : from->type.kind == ARROW_DATE   ? DECLARED_DATES
                             : from->index.kind != ARROW_OTHER ? DECLARED_LABELS
                                                               : DECLARED_NOTHING;
    nd_table_declare(&import->builder, column, declared);
    if (declared == DECLARED_DATES) builder->storage = STORE_DOUBLES;
    return NADE_OK;
}

nade_status nd_arrow_begin(nade_context *context, const struct arrow_shape *shape, const nade_read_options *options,
                           struct arrow_import *import)
{
    *import = (struct arrow_import){.context = context, .shape = shape};
    nade_status status = nd_table_begin(context, shape->source, options, shape->names, shape->count, &import->builder);
    if (status != NADE_OK) return status;
    struct nade_table *table = import->builder.table;
    table->arrow = true;
    table->marks_only = true;
    import->finest = nd_alloc(&context->allocator, table->columns, sizeof *import->finest);
    if (!take_marks(import, options) || !import->finest) return nd_no_memory(context, "the table's columns");
    for (size_t i = 0; i < table->columns && status == NADE_OK; i++) status = declare(import, i);
    return status;
}

/* How the dates of a column would be written; a column without any has no form and is empty. */
static bool write_form(struct arrow_import *import, size_t column)
{
    static const char *const times[] = {"", " hh:mm:ss", " hh:mm:ss.fff", " hh:mm:ss.ffffff"};
    struct column_builder *builder = &import->builder.columns[column];
    const struct arrow_type *type = &import->shape->columns[import->builder.table->column[column].place].type;
    enum finest finest = import->finest[column];
    if (type->kind != ARROW_DATE || builder->missing == builder->rows) return true;
    if (type->zoned && finest == FINEST_DAY) finest = FINEST_SECOND;
    if (!(builder->form = nd_alloc(builder->allocator, ND_FORM_SIZE, 1))) return false;
    snprintf(builder->form, ND_FORM_SIZE, "YYYY-MM-DD%s%s", times[finest], type->zoned ? "Z" : "");
    return true;
}

nade_status nd_arrow_finish(struct arrow_import *import, nade_table **table)
{
    for (size_t i = 0; i < import->builder.table->columns; i++)
        if (!write_form(import, i)) return nd_no_memory(import->context, "the table's columns");
    return nd_table_finish(&import->builder, table);
}

void nd_arrow_abandon(struct arrow_import *import)
{
    if (!import->context) return;
    const nade_allocator *allocator = &import->context->allocator;
    nd_table_abandon(&import->builder);
    nd_marks_free(allocator, &import->marks);
    nd_free(allocator, import->mark_numbers);
    nd_free(allocator, import->finest);
    *import = (struct arrow_import){.context = NULL};
}

/* All rows of the batch, or those that a file lists. */
static nade_status add_all(struct arrow_import *import, const struct ArrowArray *array, const char *rows)
{
    struct row_list list = {0};
    size_t next = 0, count = (size_t)array->length;
    if (!rows) return nd_arrow_add(import, array, 0, count, 0);
    nade_status status = nd_rows_read(import->context, rows, &list);
    if (status == NADE_OK) status = nd_rows_check(import->context, &list, count);
    if (status == NADE_OK) status = nd_arrow_add_listed(import, array, 0, count, 0, &list, &next);
    nd_rows_free(&import->context->allocator, &list);
    return status;
}

nade_status nd_load_arrow(nade_context *context, const struct ArrowSchema *schema, const struct ArrowArray *array,
                          const nade_read_options *options, nade_table **table)
{
    struct arrow_shape shape;
    struct arrow_import import = {0};
    nade_status status = nd_arrow_shape(context, "the Arrow table", schema, &shape);
    if (status != NADE_OK) return status;
    status = nd_arrow_begin(context, &shape, options, &import);
    if (status == NADE_OK) status = nd_arrow_check(&import, array, 0);
    if (status == NADE_OK) status = add_all(&import, array, options->rows);
    if (status == NADE_OK) status = nd_arrow_finish(&import, table);
    nd_arrow_abandon(&import);
    nd_arrow_shape_free(&shape);
    return status;
}
