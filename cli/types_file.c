#include "types_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "name_search.h"
#include "report.h"
#include "table_input.h"
#include "text_lines.h"

/* What the file says of a column. */
struct wish {
    size_t line; /* from 1; 0: nothing */
    nade_type type;
};

struct types_file {
    const struct common *common;
    const char *path;
    struct text_lines lines;
    struct name_search names;
    struct wish *wish; /* (columns) */
};

static int refuse_line(const struct types_file *file, const char *found)
{
    char types[TYPES_TEXT];
    return report_error(file->common, NADE_BAD_INPUT,
                        "%s, line %zu: found '%s', expected a column's name, a comma and %s", file->path,
                        file->lines.number, found, name_types(types));
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1])) text[--length] = '\0';
    return text;
}

static int take_line(struct types_file *file, char *text)
{
    nade_type type;
    char *name = trim(text);
    if (*name == '\0' || *name == '#') return EXIT_DONE;
    char *comma = strrchr(name, ',');
    if (!comma || comma == name || !find_type(trim(comma + 1), &type)) return refuse_line(file, name);
    *comma = '\0';
    name = trim(name);
    size_t column = find_named(&file->names, name, strlen(name));
    if (column == SIZE_MAX)
        return report_error(file->common, NADE_BAD_INPUT, "%s, line %zu: found '%s', expected the name of a column",
                            file->path, file->lines.number, name);
    file->wish[column] = (struct wish){file->lines.number, type};
    return EXIT_DONE;
}

static int read_lines(struct types_file *file)
{
    bool there = true;
    int status = text_lines_open(&file->lines, file->common, file->path);
    while (!status && there) {
        status = text_lines_next(&file->lines, &there);
        if (!status && there) status = take_line(file, file->lines.text);
    }
    text_lines_close(&file->lines);
    return status;
}

/* The names of columns first…end-1 that are to have the type, as a COLS list; NULL: no memory.  "" where there are
 * none. */
static char *list_columns(const struct types_file *file, const nade_table *table, nade_type type, size_t first,
                          size_t end)
{
    char *list = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&list, &size);
    if (!stream) return NULL;
    const char *separator = "";
    bool good = true;
    for (size_t c = first; c < end; c++) {
        if (file->wish[c].line == 0 || file->wish[c].type != type) continue;
        char *name = quote_name(column_of_table(table, c).name);
        good = good && name && fprintf(stream, "%s%s", separator, name) >= 0;
        free(name);
        separator = ",";
    }
    if (fclose(stream) == 0 && good) return list;
    free(list);
    return NULL;
}

static nade_status set_types(const struct types_file *file, nade_context *context, nade_table *table, nade_type type,
                             size_t first, size_t end)
{
    char *list = list_columns(file, table, type, first, end);
    if (!list) return NADE_NO_MEMORY;
    nade_status status = *list ? nade_table_set_type(context, table, list, type) : NADE_OK;
    free(list);
    return status;
}

/* All columns of a type are set at once, since each call looks at all the table's columns.  When that fails, halves
 * find the column that is to blame, so that its line can be named. */
static int apply_type(const struct types_file *file, nade_context *context, nade_table *table, nade_type type)
{
    size_t first = 0, end = file->names.count;
    if (end == 0) return EXIT_DONE;
    nade_status status = set_types(file, context, table, type, first, end);
    while (status != NADE_OK && status != NADE_NO_MEMORY && end - first > 1) {
        size_t middle = first + (end - first) / 2;
        status = set_types(file, context, table, type, first, middle);
        if (status == NADE_OK) {
            first = middle;
            status = set_types(file, context, table, type, first, end);
        } else {
            end = middle;
        }
    }
    if (status == NADE_OK) return EXIT_DONE;
    if (status == NADE_NO_MEMORY) return report_no_memory(file->common);
    return report_error(file->common, status == NADE_BAD_CALL ? NADE_BAD_INPUT : status, "%s, line %zu: %s", file->path,
                        file->wish[first].line, nade_last_error(context));
}

int apply_types_file(const struct common *common, nade_context *context, nade_table *table, const char *path)
{
    struct types_file file = {.common = common, .path = path};
    file.wish = calloc(nade_table_columns(table), sizeof *file.wish);
    int status =
        file.wish && search_table_names(&file.names, table) ? read_lines(&file) : report_no_memory(file.common);
    for (size_t i = 0; i < type_count() && !status; i++) status = apply_type(&file, context, table, listed_type(i));
    end_name_search(&file.names);
    free(file.wish);
    return status;
}
