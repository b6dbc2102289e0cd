#include "data/text_table.h"

#include <string.h>

#include "data/cell_text.h"
#include "data/table_builder.h"

/* Lines that may be a title and what else stands above a table. */
enum { TITLE_LINES = 10 };

/* Waits for all of the mark only where its first byte is there. */
static nade_status skip_byte_order_mark(struct source *source)
{
    static const unsigned char mark[] = {0xEF, 0xBB, 0xBF};
    nade_status status = NADE_OK;
    if (nd_source_available(source) > 0 && source->buffer[source->begin] == mark[0])
        status = nd_source_look(source, sizeof mark);
    if (nd_source_available(source) >= sizeof mark && memcmp(source->buffer + source->begin, mark, sizeof mark) == 0)
        source->begin += sizeof mark;
    return status;
}

nade_status nd_text_begin(struct source *source, const struct load_request *request, struct csv_dialect dialect,
                          struct text_table *text)
{
    const nade_read_options *options = request->options;
    const nade_allocator *allocator = &source->context->allocator;
    *text = (struct text_table){.context = source->context, .request = *request, .keep = options->keep_text == 1};
    text->as_they_come = options->delimiter && options->header >= 0 && !request->whole;
    text->name_texts.allocator = text->raw_names.allocator = *allocator;
    nd_csv_begin(&text->csv, source, dialect);
    if (!nd_marks_take(allocator, options->missing, options->missing_only == 1, &text->marks))
        return nd_no_memory(source->context, "the texts of missing cells");
    if (options->names && !nd_names_sort(allocator, options->names, options->name_count, &text->expected))
        return nd_no_memory(source->context, "the columns' names");
    return skip_byte_order_mark(source);
}

nade_status nd_text_add_name(struct text_table *text, const char *name, size_t length)
{
    if (nd_kept_add(&text->name_texts, name, length)) return NADE_OK;
    return nd_no_memory(text->context, "the columns' names");
}

nade_status nd_text_end_names(struct text_table *text)
{
    text->fields = text->name_texts.count;
    text->names = nd_alloc(&text->context->allocator, text->fields, sizeof *text->names);
    if (!text->names) return nd_no_memory(text->context, "the columns' names");
    for (size_t i = 0; i < text->fields; i++) text->names[i] = nd_kept_text(&text->name_texts, i);
    return NADE_OK;
}

void nd_text_free(const nade_allocator *allocator, struct text_table *text)
{
    nd_free(allocator, text->names);
    nd_free(allocator, text->declared);
    nd_kept_free(&text->name_texts);
    nd_kept_free(&text->raw_names);
    nd_names_free(allocator, &text->expected);
    nd_marks_free(allocator, &text->marks);
    nd_free(allocator, text->numbers.form);
    *text = (struct text_table){0};
}

void nd_text_close(struct text_table *text)
{
    if (!text->context) return;
    nd_csv_free(&text->csv);
    nd_text_free(&text->context->allocator, text);
}

void nd_text_again(struct text_table *text, struct source *source, struct csv_dialect dialect, size_t line)
{
    text->context = source->context;
    nd_csv_begin(&text->csv, source, dialect);
    text->csv.line = line;
    text->rows = text->listed = text->parts = text->blanks = 0;
    text->held = false;
}

/* Keeps a cell as it is in the file, or where that is not CSV, as it would be there. */
static bool keep_field(const struct csv *csv, size_t field, struct kept_text *kept)
{
    if (!csv->keep_raw)
        return nd_kept_add_quoted(kept, nd_csv_text(csv, field), csv->field[field].length, csv->dialect.separator);
    size_t length;
    const char *raw = nd_csv_raw(csv, field, &length);
    return nd_kept_add(kept, raw, length);
}

nade_status nd_text_hold(struct text_table *text)
{
    struct csv *csv = &text->csv;
    while (!text->held) {
        enum csv_result result = nd_csv_next(csv);
        if (result == CSV_END) return NADE_OK;
        if (result != CSV_ROW) return nd_csv_fail(csv, result);
        text->held = !nd_csv_blank(csv);
        if (!text->held && !csv->commented && text->blank_cells && text->fields == 1) text->blanks++;
    }
    if (text->lines) csv->row_line = text->lines[text->rows];
    nade_status status = text->check_row ? text->check_row(text) : NADE_OK;
    if (status != NADE_OK || csv->fields == text->fields) return status;
    bool titled = text->fields == 1 && text->rows < TITLE_LINES;
    return nd_fail(text->context, NADE_BAD_INPUT, "%s, line %zu: found %zu fields, expected %zu as %s%s",
                   csv->source->path, csv->row_line, csv->fields, text->fields, text->as_many,
                   titled ? "; lines above the names of the columns, such as a title, must go" : "");
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
    if (result == CELL_OK && text->keep &&
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
        if (result == CELL_OK && text->keep && !keep_field(csv, table->column[i].place, &table->texts))
            result = CELL_NO_MEMORY;
        if (result != CELL_OK) return nd_table_cell_failed(builder, result, csv->row_line, i, cell, field->length);
    }
    if (text->keep && !keep_end(table, csv->row_end)) return nd_no_memory(text->context, "a row's end");
    return nd_table_add_row(builder, csv->row_line);
}

/* Whether the next row would have to be waited for: no line of bytes at hand ends, nor does one of those that are
 * there for the taking.  Of long rows it is not looked for. */
static nade_status look_for_pause(const struct text_table *text, bool *pause)
{
    enum { LOOK_MOST = 1 << 16 };
    struct source *source = text->csv.source;
    nade_status status = NADE_OK;
    size_t seen = 0, available = nd_source_available(source);
    *pause = false;
    while (status == NADE_OK && !text->held && !*pause && !source->ended && available < LOOK_MOST) {
        for (const unsigned char *at = source->buffer + source->begin; seen < available; seen++)
            if (at[seen] == '\n' || at[seen] == '\r') return NADE_OK;
        *pause = nd_source_waits(source);
        if (!*pause) status = nd_source_fill(source);
        available = nd_source_available(source);
    }
    return status;
}

static nade_status add_rows(struct text_table *text, size_t most, struct table_builder *builder)
{
    const struct row_list *list = text->request.rows;
    nade_status status = NADE_OK;
    size_t bytes = 0;
    bool pause = false;
    const bool unbounded = most == ND_ALL_ROWS || text->counted;
    while (status == NADE_OK && builder->rows < most && (unbounded || bytes < ND_ROW_BYTES_MOST)) {
        if (text->as_they_come && builder->rows > 0 && most != ND_ALL_ROWS) status = look_for_pause(text, &pause);
        if (status != NADE_OK || pause) break;
        status = nd_text_hold(text);
        if (status != NADE_OK) break;
        if (!text->held) return list ? nd_rows_check(text->context, list, text->rows) : NADE_OK;
        bool blank = text->blanks > 0;
        size_t before = builder->rows;
        status = blank ? add_blank(text, builder) : add_held(text, builder);
        if (!blank && builder->rows > before) bytes += text->csv.row_bytes;
    }
    return status;
}

/* Keeps a name like a cell. */
static bool keep_name(const struct text_table *text, size_t field, struct kept_text *kept)
{
    const char *name = text->names[field];
    if (text->raw_names.count == 0) return nd_kept_add_quoted(kept, name, strlen(name), text->csv.dialect.separator);
    name = nd_kept_text(&text->raw_names, field);
    return nd_kept_add(kept, name, strlen(name));
}

/* What a part remembers of the text: its separator and, if they are kept, the names as they are in the file and the end
 * of the first line. */
static nade_status describe_text(const struct text_table *text, struct nade_table *table)
{
    table->separator = text->csv.dialect.separator;
    if (text->keep && !keep_end(table, text->first_end)) return nd_no_memory(text->context, "a line's end");
    for (size_t i = 0; text->keep && text->names && i < table->columns; i++)
        if (!keep_name(text, table->column[i].place, &table->names))
            return nd_no_memory(text->context, "the columns' names");
    return NADE_OK;
}

/* Tells the builder what the file and the caller say of its columns. */
static void declare_columns(const struct text_table *text, struct table_builder *builder)
{
    struct nade_table *table = builder->table;
    table->marks_only = text->marks.only;
    for (size_t i = 0; i < table->columns; i++) {
        builder->columns[i].marks = &text->marks;
        builder->columns[i].number_form = nd_form_of(&text->numbers, table->column[i].place);
        builder->columns[i].sniffed = nd_sniffed_form(&text->numbers, table->column[i].place);
        builder->columns[i].plain_decimals = nd_plain_decimals_of(&text->numbers, table->column[i].place);
    }
    for (size_t i = 0; text->declared && i < table->columns; i++)
        nd_table_declare(builder, i, text->declared[table->column[i].place]);
}

nade_status nd_text_next(struct text_table *text, size_t most, nade_table **table)
{
    struct table_builder builder;
    nade_status status = nd_table_begin(text->context, text->csv.source->path, text->request.options, text->names,
                                        text->fields, &builder);
    if (status != NADE_OK) return status;
    status = describe_text(text, builder.table);
    if (status == NADE_OK) declare_columns(text, &builder);
    if (status == NADE_OK) status = add_rows(text, most, &builder);
    if (status == NADE_OK && builder.rows == 0 && text->parts > 0)
        *table = NULL;
    else if (status == NADE_OK)
        status = nd_table_finish(&builder, table);
    text->parts++;
    nd_table_abandon(&builder);
    return status;
}
