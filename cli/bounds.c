#include "bounds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "column.h"
#include "report.h"

/* The column that the first length bytes of a text name; the table's columns: none.  (Numbers are names where there are
 * no others; else those of the file, which columns that were left out have moved.) */
static size_t find_column(const nade_table *table, const char *text, size_t length)
{
    size_t columns = nade_table_columns(table), c = 0;
    for (; c < columns; c++) {
        const char *name = column_of_table(table, c).name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) break;
    }
    return c;
}

static int refuse_column(const struct common *common, const char *option, const char *text)
{
    return report_error(common, NADE_BAD_CALL, "%s: found '%s', expected %s of a column that is trained on", option,
                        text, strcmp(option, "--bounds") == 0 ? "COL=LO:HI with the name" : "the name");
}

/* An end of a range; nothing: none on that side. */
static bool parse_end(const char *text, size_t length, double none, double *end)
{
    *end = none;
    return length == 0 || parse_real(text, length, end);
}

/* Fails where an option has spoken of the column before. */
static int check_once(const struct common *common, const nade_table *table, size_t c, const char *before)
{
    if (!before) return EXIT_DONE;
    if (strcmp(before, "--bounds") == 0)
        return report_error(common, NADE_BAD_CALL, "--bounds: column '%s' is given twice, expected once",
                            column_of_table(table, c).name);
    return report_error(common, NADE_BAD_CALL, "--bounds and --unbounded both name column '%s', expected one of them",
                        column_of_table(table, c).name);
}

static int parse_range(const struct common *common, const nade_table *table, const char *text, double *low,
                       double *high, const char **settled)
{
    const char *equals = strrchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    size_t c = equals ? find_column(table, text, (size_t)(equals - text)) : nade_table_columns(table);
    if (!colon || c == nade_table_columns(table)) return refuse_column(common, "--bounds", text);
    if (!parse_end(equals + 1, (size_t)(colon - equals - 1), -HUGE_VAL, &low[c]) ||
        !parse_end(colon + 1, strlen(colon + 1), HUGE_VAL, &high[c]) || !(low[c] < high[c]))
        return report_error(
            common, NADE_BAD_CALL,
            "--bounds: found '%s', expected COL=LO:HI with LO below HI, either of which may be left out", text);
    int status = check_once(common, table, c, settled[c]);
    settled[c] = "--bounds";
    return status;
}

/* settled (columns): gets the option that speaks of a column. */
static int parse_all(const struct common *common, const nade_table *table, const struct text_list *bounds,
                     const struct text_list *unbounded, const char **settled, double *low, double *high)
{
    size_t columns = nade_table_columns(table);
    for (size_t c = 0; c < columns; c++) low[c] = high[c] = NAN;
    for (size_t i = 0; i < unbounded->count; i++) {
        size_t c = find_column(table, unbounded->text[i], strlen(unbounded->text[i]));
        if (c == columns) return refuse_column(common, "--unbounded", unbounded->text[i]);
        settled[c] = "--unbounded";
        low[c] = -HUGE_VAL;
        high[c] = HUGE_VAL;
    }
    int status = EXIT_DONE;
    for (size_t i = 0; i < bounds->count && !status; i++)
        status = parse_range(common, table, bounds->text[i], low, high, settled);
    return status;
}

int parse_bounds(const struct common *common, const nade_table *table, const struct text_list *bounds,
                 const struct text_list *unbounded, double **low, double **high)
{
    size_t columns = nade_table_columns(table);
    if (bounds->count == 0 && unbounded->count == 0) return EXIT_DONE;
    *low = calloc(columns, sizeof **low);
    *high = calloc(columns, sizeof **high);
    const char **settled = calloc(columns, sizeof *settled);
    bool memory = *low && *high && settled;
    int status = memory ? parse_all(common, table, bounds, unbounded, settled, *low, *high) : report_no_memory(common);
    free(settled);
    return status;
}
