#include "table_page.h"

#include <stdio.h>
#include <stdlib.h>

#include "column.h"
#include "output.h"
#include "report.h"

enum { NAME_WIDTH = 24, WORDS_MOST = 256 };

static void print_line(struct output *output, const char *number, const char *name, const char *type,
                       const char *missing, const char *words)
{
    char safe[4 * NAME_WIDTH + 1], shown[4 * WORDS_MOST + 1];
    printable(name, safe, NAME_WIDTH);
    output_print(output, "%5s  %-*s  %-11s  %8s  %s\n", number, padded_width(safe, NAME_WIDTH), safe, type, missing,
                 printable(words, shown, WORDS_MOST));
}

static void print_columns(struct output *output, const nade_table *table)
{
    char number[24], missing[24];
    size_t columns = nade_table_columns(table);
    output_print(output, "Rows: %zu\nColumns: %zu\n", nade_table_rows(table), columns);
    print_line(output, "", "name", "type", "missing", "values");
    for (size_t c = 0; c < columns; c++) {
        nade_column column = column_of_table(table, c);
        snprintf(number, sizeof number, "%zu", c);
        snprintf(missing, sizeof missing, "%zu", column.missing);
        print_line(output, number, column.name, nade_type_name(column.type), missing, column.holds);
    }
    nade_column gone = column_of_table(table, columns);
    for (size_t c = columns; gone.left_out; gone = column_of_table(table, ++c))
        print_line(output, "", gone.name, "left out", "", gone.left_out);
}

static json_t *columns_as_json(const nade_table *table)
{
    size_t count = nade_table_columns(table);
    json_t *columns = json_array(), *left_out = json_array();
    for (size_t c = 0; c < count; c++) {
        nade_column column = column_of_table(table, c);
        json_array_append_new(columns, json_pack("{s:o,s:s,s:I,s:o}", "name", json_text(column.name), "type",
                                                 nade_type_name(column.type), "missing", (json_int_t)column.missing,
                                                 "values", json_text(column.holds)));
    }
    nade_column gone = column_of_table(table, count);
    for (size_t c = count; gone.left_out; gone = column_of_table(table, ++c))
        json_array_append_new(left_out, json_pack("{s:o,s:s}", "name", json_text(gone.name), "reason", gone.left_out));
    return json_pack("{s:I,s:o,s:o}", "rows", (json_int_t)nade_table_rows(table), "columns", columns, "left_out",
                     left_out);
}

static int print_json(const struct common *common, const nade_table *table)
{
    struct output output;
    json_t *object = columns_as_json(table);
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
    int status = text ? output_open(&output, common, NULL) : report_no_memory(common);
    if (text && !status) {
        output_print(&output, "%s\n", text);
        status = output_close(&output);
    }
    free(text);
    json_decref(object);
    return status;
}

int show_table(const struct common *common, nade_context *context, const char *path, const nade_read_options *read)
{
    nade_table *table = NULL;
    struct output output;
    nade_status status = nade_table_read(context, path, read, &table);
    if (status == NADE_OK) status = nade_table_tidy(context, table, NADE_TIDY_COLUMNS, NULL);
    if (status == NADE_OK) status = nade_table_tidy(context, table, NADE_TIDY_SENTINELS, NULL);
    int failed = status == NADE_OK ? check_strictly(common) : report_failure(common, context, status);
    if (!failed && common->json) {
        failed = print_json(common, table);
    } else if (!failed) {
        output_open_page(&output, common);
        print_columns(&output, table);
        failed = output_close(&output);
    }
    nade_table_free(table);
    return failed;
}
