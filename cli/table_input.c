#include "table_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "data/date_text.h"
#include "report.h"
#include "types_file.h"

/* ---- types given by hand ------------------------------------------------------------------------------------- */

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

static int apply_lists(const struct common *common, nade_context *context, nade_table *table,
                       const struct type_overrides *overrides)
{
    nade_status status = NADE_OK;
    for (size_t i = 0; i < type_count() && status == NADE_OK; i++) {
        nade_type type = listed_type(i);
        if (overrides->columns[type]) status = nade_table_set_type(context, table, overrides->columns[type], type);
    }
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
}

/* A column that changes when a list is applied once more has got another type by a later one. */
static int check_list(const struct common *common, nade_context *context, nade_table *table, const char *list,
                      nade_type type, nade_type *before)
{
    for (size_t c = 0; c < nade_table_columns(table); c++) before[c] = column_of_table(table, c).type;
    nade_status status = nade_table_set_type(context, table, list, type);
    if (status != NADE_OK) return report_failure(common, context, status);
    for (size_t c = 0; c < nade_table_columns(table); c++)
        if (before[c] != column_of_table(table, c).type)
            return report_error(common, NADE_BAD_CALL,
                                "--%s and --%s both name column '%s', expected one type for a column",
                                nade_type_name(type), nade_type_name(before[c]), column_of_table(table, c).name);
    return EXIT_DONE;
}

/* Which columns a list names only the library knows. */
static int check_lists(const struct common *common, nade_context *context, nade_table *table,
                       const struct type_overrides *overrides)
{
    nade_type *before = calloc(nade_table_columns(table), sizeof *before);
    if (!before) return report_no_memory(common);
    int status = EXIT_DONE;
    for (size_t i = 0; i < type_count() && !status; i++) {
        nade_type type = listed_type(i);
        if (overrides->columns[type])
            status = check_list(common, context, table, overrides->columns[type], type, before);
    }
    free(before);
    return status;
}

static int apply_date_form(const struct common *common, nade_context *context, nade_table *table, const char *text)
{
    const char *equals = strrchr(text, '=');
    if (!equals || !nd_date_form_is_good(equals + 1))
        return report_error(
            common, NADE_BAD_CALL,
            "--date-form: found '%s', expected COLS=FORM with a form such as YYYY-MM-DD, DD/MM/YYYY hh:mm "
            "or epoch",
            text);
    nade_status status = nade_table_set_type(context, table, text, NADE_DATE);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
}

int apply_types(const struct common *common, nade_context *context, nade_table *table,
                const struct type_overrides *overrides)
{
    int exit_status = overrides->file ? apply_types_file(common, context, table, overrides->file) : EXIT_DONE;
    for (size_t i = 0; i < overrides->date_forms.count && !exit_status; i++)
        exit_status = apply_date_form(common, context, table, overrides->date_forms.text[i]);
    if (!exit_status) exit_status = apply_lists(common, context, table, overrides);
    if (!exit_status) exit_status = check_lists(common, context, table, overrides);
    if (exit_status || !overrides->missing_as_value) return exit_status;
    nade_status status = nade_table_tidy(context, table, NADE_TIDY_ABSENCE, overrides->missing_as_value);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
}

/* ---- types as found ------------------------------------------------------------------------------------------ */

enum { LINE_SIZE = 512 };

/* Appends "9 real" when the table has columns of the type. */
static void append_type(char *line, const nade_table *table, nade_type type, bool *first)
{
    size_t found = 0, used = strlen(line);
    for (size_t c = 0; c < nade_table_columns(table); c++) found += column_of_table(table, c).type == type;
    if (found == 0) return;
    snprintf(line + used, LINE_SIZE - used, "%s %zu %s", *first ? ":" : ",", found, nade_type_name(type));
    *first = false;
}

void note_types(const struct common *common, const nade_table *table)
{
    char line[LINE_SIZE];
    size_t rows = nade_table_rows(table), columns = nade_table_columns(table), cells = 0, holed = 0;
    bool first = true;
    snprintf(line, sizeof line, "%zu row%s, %zu column%s", rows, rows == 1 ? "" : "s", columns,
             columns == 1 ? "" : "s");
    append_type(line, table, NADE_REAL, &first); /* most columns are */
    for (size_t i = 0; i + 1 < type_count(); i++) append_type(line, table, listed_type(i), &first);
    report_note(common, "%s", line);
    for (size_t c = 0; c < columns; c++) {
        size_t missing = column_of_table(table, c).missing;
        cells += missing;
        holed += missing > 0;
    }
    if (cells > 0)
        report_note(common, "%zu cell%s missing in %zu column%s", cells, cells == 1 ? "" : "s", holed,
                    holed == 1 ? "" : "s");
}

json_t *types_as_json(const nade_table *table)
{
    json_t *list = json_array();
    for (size_t c = 0; list && c < nade_table_columns(table); c++) {
        nade_column column = column_of_table(table, c);
        json_t *object = json_pack("{s:o,s:s,s:I}", "name", json_text(column.name), "type", nade_type_name(column.type),
                                   "missing", (json_int_t)column.missing);
        if (json_array_append_new(list, object) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}
