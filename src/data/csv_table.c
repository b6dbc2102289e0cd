#include <string.h>

#include "data/csv.h"
#include "data/csv_sniff.h"
#include "data/loader.h"
#include "data/table_builder.h"

struct csv_reader {
    nade_context *context;
    struct csv csv;
    struct table_builder builder;
    size_t fields; /* each row must have */
    size_t rows;
    size_t blanks; /* blank lines since the last row: missing cells of a one-column table if another row follows */
};

static void skip_byte_order_mark(struct source *source)
{
    static const unsigned char mark[] = {0xEF, 0xBB, 0xBF};
    if (nd_source_available(source) >= sizeof mark && memcmp(source->buffer + source->begin, mark, sizeof mark) == 0)
        source->begin += sizeof mark;
}

/* Reads up to the first row that is not blank. */
static nade_status first_row(struct csv_reader *reader)
{
    struct csv *csv = &reader->csv;
    enum csv_result result;
    do result = nd_csv_next(csv);
    while (result == CSV_ROW && nd_csv_blank(csv));
    if (result == CSV_END)
        return nd_fail(reader->context, NADE_BAD_INPUT, "%s: is empty, expected a table", csv->source->path);
    if (result != CSV_ROW) return nd_csv_fail(csv, result);
    reader->fields = csv->fields;
    return NADE_OK;
}

static nade_status begin_table(struct csv_reader *reader, const nade_read_options *options, bool header)
{
    const char *path = reader->csv.source->path;
    if (!header) return nd_table_begin(reader->context, path, options, NULL, reader->fields, &reader->builder);
    const char **names = nd_alloc(&reader->context->allocator, reader->fields, sizeof *names);
    if (!names) return nd_no_memory(reader->context, "the columns' names");
    for (size_t i = 0; i < reader->fields; i++) names[i] = nd_csv_text(&reader->csv, i);
    nade_status status = nd_table_begin(reader->context, path, options, names, reader->fields, &reader->builder);
    nd_free(&reader->context->allocator, names);
    return status;
}

/* Blank lines between the rows of a one-column table are cells that are missing. */
static nade_status add_blanks(struct csv_reader *reader)
{
    for (; reader->blanks > 0; reader->blanks--) {
        enum cell_result result = nd_builder_add_missing(&reader->builder.columns[0]);
        if (result != CELL_OK) return nd_table_cell_failed(&reader->builder, result, reader->csv.row_line, 0, "", 0);
        reader->rows++;
    }
    return NADE_OK;
}

static nade_status add_row(struct csv_reader *reader)
{
    const struct csv *csv = &reader->csv;
    const struct nade_table *table = reader->builder.table;
    if (csv->fields != reader->fields)
        return nd_fail(reader->context, NADE_BAD_INPUT,
                       "%s, line %zu: found %zu fields, expected %zu as in the first row", csv->source->path,
                       csv->row_line, csv->fields, reader->fields);
    nade_status status = add_blanks(reader);
    for (size_t i = 0; status == NADE_OK && i < table->columns; i++) {
        size_t field = table->column[i].place;
        const char *text = nd_csv_text(csv, field);
        size_t length = csv->field[field].length;
        enum cell_result result = nd_builder_add_text(&reader->builder.columns[i], text, length, csv->row_line);
        if (result != CELL_OK) status = nd_table_cell_failed(&reader->builder, result, csv->row_line, i, text, length);
    }
    reader->rows++;
    return status;
}

static nade_status add_rows(struct csv_reader *reader)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK) {
        enum csv_result result = nd_csv_next(&reader->csv);
        if (result == CSV_END) break;
        if (result != CSV_ROW)
            status = nd_csv_fail(&reader->csv, result);
        else if (!nd_csv_blank(&reader->csv))
            status = add_row(reader);
        else if (reader->fields == 1)
            reader->blanks++;
    }
    return status;
}

nade_status nd_load_csv(struct source *source, const nade_read_options *options, nade_table **table)
{
    struct csv_reader reader = {.context = source->context};
    struct csv_layout layout = {0};
    skip_byte_order_mark(source);
    nade_status status = nd_csv_sniff(source, options, &layout);
    if (status != NADE_OK) return status;
    nd_csv_begin(&reader.csv, source, layout.separator);
    status = first_row(&reader);
    if (status == NADE_OK) status = begin_table(&reader, options, layout.header);
    if (status == NADE_OK && !layout.header) status = add_row(&reader);
    if (status == NADE_OK) status = add_rows(&reader);
    if (status == NADE_OK) status = nd_table_finish(&reader.builder, reader.rows, table);
    nd_table_abandon(&reader.builder);
    nd_csv_free(&reader.csv);
    return status;
}
