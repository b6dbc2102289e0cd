#include "fold_data.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "fold_split.h"
#include "report.h"
#include "table_input.h"
#include "text_lines.h"

/* ---- numbers ------------------------------------------------------------------------------------------------- */

/* Makes all columns real, by name, since numbers are those of the file; where one is none, the library says so. */
static int make_real(const struct common *common, nade_context *context, nade_table *table)
{
    for (size_t c = 0; c < nade_table_columns(table); c++) {
        char *name = quote_name(column_of_table(table, c).name);
        if (!name) return report_no_memory(common);
        nade_status status = nade_table_set_type(context, table, name, NADE_REAL);
        free(name);
        if (status != NADE_OK) return report_failure(common, context, status);
    }
    return EXIT_DONE;
}

static int refuse_missing(const struct common *common, const struct fold_source *source, const nade_table *table)
{
    for (size_t c = 0; c < nade_table_columns(table); c++) {
        nade_column column = column_of_table(table, c);
        if (column.missing > 0)
            return report_error(common, NADE_BAD_INPUT, "%s, column '%s' has %zu missing cell%s, expected none",
                                source->file, column.name, column.missing, column.missing == 1 ? "" : "s");
    }
    return EXIT_DONE;
}

/* Of a bad list of columns the library begins with its own name for it; here it is a key of the recipe. */
static int report_unread(const struct common *common, nade_context *context, const struct fold_source *source,
                         nade_status status)
{
    const char *text = nade_last_error(context);
    const char *end = text[0] == '`' ? strchr(text + 1, '`') : NULL;
    if (status != NADE_BAD_CALL || !end) return report_failure(common, context, status);
    return report_error(common, NADE_BAD_INPUT, "recipe %s, file %s: data.%.*s%s", source->recipe, source->file,
                        (int)(end - text - 1), text + 1, end + 1);
}

static int read_table(struct fold_data *data, const struct common *common, nade_context *context,
                      const struct fold_source *source)
{
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.columns = source->columns;
    options.drop = source->drop;
    options.keep_text = 1;
    nade_status status = nade_table_read(context, source->file, &options, &data->table);
    if (status != NADE_OK) return report_unread(common, context, source, status);
    int exit_status = make_real(common, context, data->table);
    if (exit_status) return exit_status;
    data->rows = nade_table_rows(data->table);
    data->columns = nade_table_columns(data->table);
    if (data->rows == 0 || !nade_table_text(data->table, 0, 0))
        return report_error(common, NADE_BAD_INPUT, "%s is an array or empty, expected a text table with rows",
                            source->file);
    return refuse_missing(common, source, data->table);
}

/* A cell's text may have blanks and quotes around its number. */
static double cell_number(const nade_table *table, size_t row, size_t column)
{
    const char *text = nade_table_text(table, row, column);
    return strtod(text + strspn(text, " \t\"'"), NULL);
}

static int copy_numbers(struct fold_data *data, const struct common *common)
{
    data->values = calloc(data->rows, data->columns * sizeof *data->values);
    data->names = calloc(data->columns, sizeof *data->names);
    data->fold = calloc(data->rows, sizeof *data->fold);
    if (!data->values || !data->names || !data->fold) return report_no_memory(common);
    for (size_t c = 0; c < data->columns; c++) data->names[c] = column_of_table(data->table, c).name;
    for (size_t r = 0; r < data->rows; r++)
        for (size_t c = 0; c < data->columns; c++) data->values[r * data->columns + c] = cell_number(data->table, r, c);
    return EXIT_DONE;
}

int fold_data_table(const struct fold_data *data, const struct common *common, nade_context *context,
                    const size_t *rows, size_t count, nade_table **table)
{
    size_t columns = data->columns;
    nade_table *made = NULL;
    double *values = calloc(count ? count : 1, columns * sizeof *values);
    if (!values) return report_no_memory(common);
    for (size_t i = 0; i < count; i++)
        memcpy(values + i * columns, data->values + rows[i] * columns, columns * sizeof *values);
    nade_status status = nade_table_from_array(context, values, count, columns, data->names, &made);
    free(values);
    if (status != NADE_OK) return report_failure(common, context, status);
    int exit_status = make_real(common, context, made);
    if (!exit_status)
        *table = made;
    else
        nade_table_free(made);
    return exit_status;
}

/* ---- folds --------------------------------------------------------------------------------------------------- */

/* True for a line of two numbers, the first in 1…folds, the second below rows and not seen before. */
static bool take_line(struct fold_data *data, const char *line, size_t folds)
{
    unsigned long long fold, row;
    char rest;
    if (strchr(line, '-') || sscanf(line, "%llu %llu %c", &fold, &row, &rest) != 2) return false;
    if (fold == 0 || fold > folds || row >= data->rows || data->fold[row] != 0) return false;
    data->fold[row] = (size_t)fold;
    return true;
}

static int read_fold_lines(struct fold_data *data, const struct common *common, const struct fold_source *source)
{
    struct text_lines lines;
    char found[64];
    bool there = true;
    int status = text_lines_open(&lines, common, source->folds);
    while (!status && there) {
        status = text_lines_next(&lines, &there);
        if (status || !there) break;
        lines.text[strcspn(lines.text, "\r")] = '\0';
        if (lines.text[0] == '\0' || lines.text[0] == '#' || take_line(data, lines.text, source->fold_count)) continue;
        status = report_error(common, NADE_BAD_INPUT,
                              "%s, line %zu: found '%s', expected a fold of 1 to %zu and a row of 0 to %zu that no "
                              "other line has",
                              source->folds, lines.number, printable(lines.text, found, sizeof found - 1),
                              source->fold_count, data->rows - 1);
    }
    text_lines_close(&lines);
    return status;
}

static int read_folds(struct fold_data *data, const struct common *common, const struct fold_source *source)
{
    int status = read_fold_lines(data, common, source);
    for (size_t r = 0; r < data->rows && !status; r++)
        if (data->fold[r] == 0)
            status = report_error(common, NADE_BAD_INPUT, "%s: row %zu of the table is in no fold", source->folds, r);
    return status;
}

/* Every fold must leave rows to learn from and to test. */
static int check_folds(const struct fold_data *data, const struct common *common, const struct fold_source *source)
{
    for (size_t f = 1; f <= source->fold_count; f++) {
        size_t count = 0;
        for (size_t r = 0; r < data->rows; r++) count += data->fold[r] == f;
        if (count == 0 || data->rows - count < 2)
            return report_error(common, NADE_BAD_INPUT,
                                "%s: fold %zu of %zu has %zu of %zu rows, expected some, and two or more in the others",
                                source->folds ? source->folds : source->file, f, source->fold_count, count, data->rows);
    }
    return EXIT_DONE;
}

int fold_data_read(struct fold_data *data, const struct common *common, nade_context *context,
                   const struct fold_source *source)
{
    int status = read_table(data, common, context, source);
    if (!status) status = copy_numbers(data, common);
    if (!status && source->folds) status = read_folds(data, common, source);
    if (!status && !source->folds && !shuffle_folds(data->fold, data->rows, source->fold_count))
        status = report_no_memory(common);
    return status ? status : check_folds(data, common, source);
}

void fold_data_free(struct fold_data *data)
{
    free(data->values);
    free(data->names);
    free(data->fold);
    nade_table_free(data->table);
    *data = (struct fold_data){0};
}
