#include "table_input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const nade_type types[] = {NADE_REAL, NADE_BINARY, NADE_CATEGORICAL};

enum { TYPE_COUNT = sizeof types / sizeof *types };

/* ---- types given by hand ------------------------------------------------------------------------------------- */

/* A place in the file of --types, for messages. */
struct types_line {
    const struct common *common;
    const char *path;
    size_t number; /* from 1 */
};

static int refuse_line(const struct types_line *line, const char *found)
{
    return report_error(line->common, NADE_BAD_INPUT,
                        "%s, line %zu: found '%s', expected a column's name, a comma and binary, real or categorical",
                        line->path, line->number, found);
}

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1])) text[--length] = '\0';
    return text;
}

static bool find_type(const char *name, nade_type *type)
{
    for (size_t i = 0; i < TYPE_COUNT; i++) {
        if (strcmp(nade_type_name(types[i]), name) != 0) continue;
        *type = types[i];
        return true;
    }
    return false;
}

/* Quotes are doubled. */
char *quote_name(const char *name)
{
    char *quoted = malloc(2 * strlen(name) + 3);
    if (!quoted) return NULL;
    char *at = quoted;
    *at++ = '\'';
    for (; *name; name++) {
        if (*name == '\'') *at++ = '\'';
        *at++ = *name;
    }
    *at++ = '\'';
    *at = '\0';
    return quoted;
}

static bool has_column(const nade_table *table, const char *name)
{
    for (size_t c = 0; c < nade_table_columns(table); c++)
        if (strcmp(nade_table_column_name(table, c), name) == 0) return true;
    return false;
}

static int apply_line(const struct types_line *line, nade_context *context, nade_table *table, char *text)
{
    nade_type type;
    char *name = trim(text);
    if (*name == '\0' || *name == '#') return EXIT_DONE;
    char *comma = strrchr(name, ',');
    if (!comma || comma == name || !find_type(trim(comma + 1), &type)) return refuse_line(line, name);
    *comma = '\0';
    if (!has_column(table, trim(name)))
        return report_error(line->common, NADE_BAD_INPUT, "%s, line %zu: found '%s', expected the name of a column",
                            line->path, line->number, name);
    char *list = quote_name(name);
    if (!list) return report_no_memory(line->common);
    nade_status status = nade_table_set_type(context, table, list, type);
    free(list);
    if (status == NADE_OK) return EXIT_DONE;
    return report_error(line->common, status == NADE_BAD_CALL ? NADE_BAD_INPUT : status, "%s, line %zu: %s", line->path,
                        line->number, nade_last_error(context));
}

static int apply_types_file(const struct common *common, nade_context *context, nade_table *table, const char *path)
{
    struct types_line line = {.common = common, .path = path};
    FILE *file = fopen(path, "r");
    if (!file) return report_error(common, NADE_BAD_INPUT, "%s could not be opened: %s", path, strerror(errno));
    char *text = NULL;
    size_t size = 0;
    int status = EXIT_DONE;
    errno = 0;
    while (status == EXIT_DONE && getline(&text, &size, file) >= 0) {
        line.number++;
        status = apply_line(&line, context, table, text);
    }
    if (status == EXIT_DONE && ferror(file))
        status = report_error(common, NADE_BAD_INPUT, "%s could not be read: %s", path, strerror(errno));
    free(text);
    fclose(file);
    return status;
}

int apply_types(const struct common *common, nade_context *context, nade_table *table,
                const struct type_overrides *overrides)
{
    int exit_status = overrides->file ? apply_types_file(common, context, table, overrides->file) : EXIT_DONE;
    if (exit_status) return exit_status;
    const struct {
        const char *columns;
        nade_type type;
    } lists[] = {
        {overrides->binary, NADE_BINARY}, {overrides->categorical, NADE_CATEGORICAL}, {overrides->real, NADE_REAL}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!lists[i].columns) continue;
        nade_status status = nade_table_set_type(context, table, lists[i].columns, lists[i].type);
        if (status != NADE_OK) return report_failure(common, context, status);
    }
    if (!overrides->missing_as_value) return EXIT_DONE;
    nade_status status = nade_table_missing_as_value(context, table, overrides->missing_as_value);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
}

/* ---- types as found ------------------------------------------------------------------------------------------ */

enum { NAMES_SHOWN = 4, NAME_MOST = 24, LINE_SIZE = 1024 };

static void append(char *line, const char *text)
{
    size_t used = strlen(line);
    snprintf(line + used, LINE_SIZE - used, "%s", text);
}

/* Appends "9 real (fixed acidity, pH, ...)" when the table has columns of the type. */
static void append_type(char *line, const nade_table *table, nade_type type, bool *first)
{
    char names[LINE_SIZE] = "", name[NAME_MOST + 1], count[64];
    size_t found = 0;
    for (size_t c = 0; c < nade_table_columns(table); c++) {
        if (nade_table_column_type(table, c) != type || found++ >= NAMES_SHOWN) continue;
        if (found > 1) append(names, ", ");
        append(names, printable(nade_table_column_name(table, c), name, NAME_MOST));
    }
    if (found == 0) return;
    snprintf(count, sizeof count, "%s %zu %s (", *first ? ":" : ",", found, nade_type_name(type));
    append(line, count);
    append(line, names);
    append(line, found > NAMES_SHOWN ? ", ...)" : ")");
    *first = false;
}

void note_types(const struct common *common, const nade_table *table)
{
    char line[LINE_SIZE];
    size_t rows = nade_table_rows(table), columns = nade_table_columns(table), cells = 0, holed = 0;
    bool first = true;
    snprintf(line, sizeof line, "%zu row%s, %zu column%s", rows, rows == 1 ? "" : "s", columns,
             columns == 1 ? "" : "s");
    for (size_t i = 0; i < TYPE_COUNT; i++) append_type(line, table, types[i], &first);
    report_note(common, "%s", line);
    for (size_t c = 0; c < columns; c++) {
        cells += nade_table_missing(table, c);
        holed += nade_table_missing(table, c) > 0;
    }
    if (cells > 0)
        report_note(common, "%zu cell%s missing in %zu column%s", cells, cells == 1 ? "" : "s", holed,
                    holed == 1 ? "" : "s");
}

json_t *types_as_json(const nade_table *table)
{
    json_t *list = json_array();
    for (size_t c = 0; list && c < nade_table_columns(table); c++) {
        json_t *column = json_pack("{s:o,s:s,s:I}", "name", json_text(nade_table_column_name(table, c)), "type",
                                   nade_type_name(nade_table_column_type(table, c)), "missing",
                                   (json_int_t)nade_table_missing(table, c));
        if (json_array_append_new(list, column) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}
