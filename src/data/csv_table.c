#include "data/csv_table.h"

#include <string.h>

#include "data/csv_sniff.h"
#include "data/table_builder.h"

static void skip_byte_order_mark(struct source *source)
{
    static const unsigned char mark[] = {0xEF, 0xBB, 0xBF};
    if (nd_source_available(source) >= sizeof mark && memcmp(source->buffer + source->begin, mark, sizeof mark) == 0)
        source->begin += sizeof mark;
}

/* Reads up to the first row that is not blank. */
static nade_status first_row(struct text_table *text)
{
    struct csv *csv = &text->csv;
    enum csv_result result;
    do result = nd_csv_next(csv);
    while (result == CSV_ROW && nd_csv_blank(csv));
    if (result == CSV_END)
        return nd_fail(text->context, NADE_BAD_INPUT, "%s: is empty, expected a table", csv->source->path);
    if (result != CSV_ROW) return nd_csv_fail(csv, result);
    text->fields = csv->fields;
    text->first_end = csv->row_end;
    text->held = true;
    return NADE_OK;
}

static bool keep_field(const struct csv *csv, size_t field, struct kept_text *kept)
{
    size_t length;
    const char *raw = nd_csv_raw(csv, field, &length);
    return nd_kept_add(kept, raw, length);
}

/* Takes the names out of the row at hand. */
static nade_status keep_names(struct text_table *text)
{
    const nade_allocator *allocator = &text->context->allocator;
    const struct csv *csv = &text->csv;
    text->names = nd_alloc(allocator, text->fields, sizeof *text->names);
    text->name_texts = nd_alloc(allocator, csv->used, 1);
    if (!text->names || !text->name_texts) return nd_no_memory(text->context, "the columns' names");
    memcpy(text->name_texts, csv->text, csv->used);
    for (size_t i = 0; i < text->fields; i++) text->names[i] = text->name_texts + csv->field[i].offset;
    text->held = false;
    for (size_t i = 0; csv->keep_raw && i < text->fields; i++)
        if (!keep_field(csv, i, &text->raw_names)) return nd_no_memory(text->context, "the columns' names");
    return NADE_OK;
}

nade_status nd_text_open(struct source *source, const struct load_request *request, struct text_table *text)
{
    struct csv_layout layout = {0};
    const nade_read_options *options = request->options;
    *text = (struct text_table){.context = source->context, .request = *request};
    if (options->names &&
        !nd_names_sort(&source->context->allocator, options->names, options->name_count, &text->expected))
        return nd_no_memory(source->context, "the columns' names");
    skip_byte_order_mark(source);
    nade_status status = nd_csv_sniff(source, options, &text->expected, &layout);
    if (status != NADE_OK) return status;
    nd_csv_begin(&text->csv, source, layout.separator);
    text->csv.keep_raw = request->options->keep_text == 1;
    text->raw_names.allocator = source->context->allocator;
    status = first_row(text);
    return status == NADE_OK && layout.header ? keep_names(text) : status;
}

void nd_text_close(struct text_table *text)
{
    if (!text->context) return;
    const nade_allocator *allocator = &text->context->allocator;
    nd_csv_free(&text->csv);
    nd_free(allocator, text->names);
    nd_free(allocator, text->name_texts);
    nd_kept_free(&text->raw_names);
    nd_names_free(allocator, &text->expected);
    *text = (struct text_table){0};
}

/* Gets a row to hold, with the blank lines before it if they are rows too; none is held after the last. */
static nade_status hold_row(struct text_table *text)
{
    struct csv *csv = &text->csv;
    while (!text->held) {
        enum csv_result result = nd_csv_next(csv);
        if (result == CSV_END) return NADE_OK;
        if (result != CSV_ROW) return nd_csv_fail(csv, result);
        text->held = !nd_csv_blank(csv);
        if (!text->held && text->fields == 1) text->blanks++;
    }
    if (csv->fields == text->fields) return NADE_OK;
    return nd_fail(text->context, NADE_BAD_INPUT, "%s, line %zu: found %zu fields, expected %zu as in the first row",
                   csv->source->path, csv->row_line, csv->fields, text->fields);
}

static bool row_is_wanted(struct text_table *text)
{
    const struct row_list *list = text->request.rows;
    size_t row = text->rows++;
    return !list || nd_rows_take(list, &text->listed, row);
}

static bool keep_end(struct nade_table *table, const char *end)
{
    return nd_kept_add(&table->ends, end, strlen(end));
}

/* A blank line between the rows of a one-column table is a cell that is missing. */
static nade_status add_blank(struct text_table *text, struct table_builder *builder)
{
    size_t line = text->csv.row_line - text->blanks--;
    if (!row_is_wanted(text)) return NADE_OK;
    enum cell_result result = nd_builder_add_missing(&builder->columns[0]);
    if (result == CELL_OK && text->csv.keep_raw &&
        (!nd_kept_add(&builder->table->texts, "", 0) || !keep_end(builder->table, text->first_end)))
        result = CELL_NO_MEMORY;
    if (result != CELL_OK) return nd_table_cell_failed(builder, result, line, 0, "", 0);
    return nd_table_add_row(builder, line);
}

/* True for a column that the caller, who named those it expects, will not use: its cells may hold anything. */
static bool is_extra(const struct text_table *text, const char *name)
{
    const nade_read_options *options = text->request.options;
    return options->names && text->names && !nd_names_find(&text->expected, name);
}

static nade_status add_held(struct text_table *text, struct table_builder *builder)
{
    const struct csv *csv = &text->csv;
    struct nade_table *table = builder->table;
    text->held = false;
    if (!row_is_wanted(text)) return NADE_OK;
    for (size_t i = 0; i < table->columns; i++) {
        const struct csv_field *field = &csv->field[table->column[i].place];
        const char *cell = csv->text + field->offset;
        enum cell_result result = nd_builder_add_text(&builder->columns[i], cell, field->length, csv->row_line);
        if ((result == CELL_TEXT_IN_NUMBERS || result == CELL_INFINITE) && is_extra(text, table->column[i].name)) {
            nd_builder_give_up(&builder->columns[i], csv->row_line);
            result = CELL_OK;
        }
        if (result == CELL_OK && csv->keep_raw && !keep_field(csv, table->column[i].place, &table->texts))
            result = CELL_NO_MEMORY;
        if (result != CELL_OK) return nd_table_cell_failed(builder, result, csv->row_line, i, cell, field->length);
    }
    if (csv->keep_raw && !keep_end(table, csv->row_end)) return nd_no_memory(text->context, "a row's end");
    return nd_table_add_row(builder, csv->row_line);
}

static nade_status add_rows(struct text_table *text, size_t most, struct table_builder *builder)
{
    const struct row_list *list = text->request.rows;
    nade_status status = NADE_OK;
    size_t bytes = 0;
    while (status == NADE_OK && builder->rows < most && (most == ND_ALL_ROWS || bytes < ND_ROW_BYTES_MOST)) {
        status = hold_row(text);
        if (status != NADE_OK) break;
        if (!text->held) return list ? nd_rows_check(text->context, list, text->rows) : NADE_OK;
        bool blank = text->blanks > 0;
        size_t before = builder->rows;
        status = blank ? add_blank(text, builder) : add_held(text, builder);
        if (!blank && builder->rows > before) bytes += text->csv.row_bytes;
    }
    return status;
}

/* What a part remembers of the text: its separator and, if they are kept, the names as they are in the file and the end
 * of the first line. */
static nade_status describe_text(const struct text_table *text, struct nade_table *table)
{
    table->separator = text->csv.separator;
    if (text->csv.keep_raw && !keep_end(table, text->first_end)) return nd_no_memory(text->context, "a line's end");
    for (size_t i = 0; text->raw_names.count > 0 && i < table->columns; i++) {
        const char *name = nd_kept_text(&text->raw_names, table->column[i].place);
        if (!nd_kept_add(&table->names, name, strlen(name))) return nd_no_memory(text->context, "the columns' names");
    }
    return NADE_OK;
}

nade_status nd_text_next(struct text_table *text, size_t most, nade_table **table)
{
    struct table_builder builder;
    nade_status status = nd_table_begin(text->context, text->csv.source->path, text->request.options, text->names,
                                        text->fields, &builder);
    if (status != NADE_OK) return status;
    status = describe_text(text, builder.table);
    if (status == NADE_OK) status = add_rows(text, most, &builder);
    if (status == NADE_OK && builder.rows == 0 && text->parts > 0)
        *table = NULL;
    else if (status == NADE_OK)
        status = nd_table_finish(&builder, table);
    text->parts++;
    nd_table_abandon(&builder);
    return status;
}
