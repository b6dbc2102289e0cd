#include "conditions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum { LABELS_NAMED = 12, EXPECTED_SIZE = 512, LABEL_SHOWN = 32 };

/* ---- which column -------------------------------------------------------------------------------------------- */

/* The column whose name, followed by '=', begins the text; the longest such name, since names may hold '='. */
static size_t find_by_name(const nade_model *model, const char *text, const char **value)
{
    size_t found = SIZE_MAX, longest = 0;
    for (size_t c = 0; c < nade_model_columns(model); c++) {
        const char *name = nade_model_column_name(model, c);
        size_t length = strlen(name);
        if (strncmp(text, name, length) != 0 || text[length] != '=' || length < longest) continue;
        found = c;
        longest = length;
        *value = text + length + 1;
    }
    return found;
}

static size_t find_by_number(const nade_model *model, const char *text, const char **value)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '=') return SIZE_MAX;
    size_t column = (size_t)strtoul(text, NULL, 10);
    *value = text + digits + 1;
    return column < nade_model_columns(model) ? column : SIZE_MAX;
}

/* ---- which value --------------------------------------------------------------------------------------------- */

static bool parse_number(const char *text, double *value)
{
    char *end;
    if (*text == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0') return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value);
}

/* The number of a label; numbers are compared as numbers: 1.0 is the label 1. */
static bool find_label(const nade_model *model, size_t column, const char *text, double *value)
{
    double number, label;
    bool is_number = parse_number(text, &number);
    for (size_t i = 0; i < nade_model_label_count(model, column); i++) {
        const char *known = nade_model_label(model, column, i);
        bool same = strcmp(known, text) == 0 || (is_number && parse_number(known, &label) && label == number);
        if (!same) continue;
        *value = (double)i;
        return true;
    }
    return false;
}

static bool find_value(const nade_model *model, size_t column, const char *text, double *value)
{
    if (nade_model_label_count(model, column) > 0) return find_label(model, column, text, value);
    if (!parse_number(text, value)) return false;
    return nade_model_column_type(model, column) == NADE_REAL || *value == 0 || *value == 1;
}

/* "one of red, green, blue", or their number where they are many. */
static void describe_values(const nade_model *model, size_t column, char *expected)
{
    size_t count = nade_model_label_count(model, column);
    if (count == 0) {
        bool real = nade_model_column_type(model, column) == NADE_REAL;
        snprintf(expected, EXPECTED_SIZE, "%s", real ? "a number" : "0 or 1");
    } else if (count > LABELS_NAMED) {
        snprintf(expected, EXPECTED_SIZE, "one of the column's %zu labels, which 'nade info' lists", count);
    } else {
        snprintf(expected, EXPECTED_SIZE, "one of ");
        for (size_t i = 0; i < count; i++) {
            char label[LABEL_SHOWN + 1];
            const char *text = nade_model_label(model, column, i);
            size_t used = strlen(expected);
            snprintf(expected + used, EXPECTED_SIZE - used, "%s%s", i ? ", " : "",
                     *text ? printable(text, label, LABEL_SHOWN) : "nothing (a missing cell)");
        }
    }
}

static int parse_condition(const struct common *common, const nade_model *model, const char *text, double *given)
{
    const char *value = NULL;
    size_t column = find_by_name(model, text, &value);
    if (column == SIZE_MAX) column = find_by_number(model, text, &value);
    if (column == SIZE_MAX)
        return report_error(common, NADE_BAD_CALL,
                            "--where: found '%s', expected COL=VALUE with the name or zero-based number of one of the "
                            "model's %zu columns",
                            text, nade_model_columns(model));
    if (!isnan(given[column]))
        return report_error(common, NADE_BAD_CALL, "--where: column '%s' is given twice, expected once",
                            nade_model_column_name(model, column));
    if (find_value(model, column, value, &given[column])) return EXIT_DONE;
    char expected[EXPECTED_SIZE];
    describe_values(model, column, expected);
    return report_error(common, NADE_BAD_CALL, "--where: column '%s': found '%s', expected %s",
                        nade_model_column_name(model, column), value, expected);
}

int parse_conditions(const struct common *common, const nade_model *model, const struct text_list *where, double *given)
{
    for (size_t c = 0; c < nade_model_columns(model); c++) given[c] = NAN;
    for (size_t i = 0; i < where->count; i++) {
        int status = parse_condition(common, model, where->text[i], given);
        if (status) return status;
    }
    return EXIT_DONE;
}
