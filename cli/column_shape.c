#include "column_shape.h"

#include <stdio.h>
#include <string.h>

#include "column.h"
#include "output.h"

/* Columns that get a line each; groups that more columns are put into, at most; the length of a line of names. */
enum { LINES_MOST = 30, GROUPS_MOST = 30, ALL_GROUPS_MOST = 1000, LINE = 100, NAME_MOST = 40 };

const char *column_shape(const nade_column *column)
{
    const char *comma = strstr(column->kind, ", ");
    return comma ? comma + 2 : "";
}

static void note_column(const struct common *common, const nade_table *table, const nade_model *model, size_t c)
{
    char name[4 * NAME_MOST + 1], missing[40] = "";
    size_t cells = column_of_table(table, c).missing;
    if (cells > 0) snprintf(missing, sizeof missing, ", %zu missing", cells);
    nade_column column = column_of_model(model, c);
    report_note(common, "  %s: %s%s", printable(column.name, name, NAME_MOST), column.kind, missing);
}

/* ---- columns that are alike ---------------------------------------------------------------------------------- */

/* Columns with the same words, or the same type, belong together; each group goes by its first column. */
struct groups {
    const nade_model *model;
    size_t columns;
    bool types; /* the type is all that counts */
    size_t count, first[ALL_GROUPS_MOST];
};

static bool is_alike(const struct groups *groups, size_t a, size_t b)
{
    nade_column x = column_of_model(groups->model, a), y = column_of_model(groups->model, b);
    return x.type == y.type && (groups->types || strcmp(x.kind, y.kind) == 0);
}

/* False: there are more than `most`. */
static bool find_groups(struct groups *groups, size_t most)
{
    groups->count = 0;
    for (size_t c = 0; c < groups->columns; c++) {
        size_t g = 0;
        while (g < groups->count && !is_alike(groups, groups->first[g], c)) g++;
        if (g == most) return false;
        if (g == groups->count) groups->first[groups->count++] = c;
    }
    return true;
}

/* Names that are written line by line. */
struct names {
    const struct common *common;
    char line[2 * LINE + 2 * (4 * NAME_MOST + 8)];
};

static void add_name(struct names *names, const char *name)
{
    size_t used = strlen(names->line);
    if (used + strlen(name) > LINE && used > 0) {
        report_note(names->common, "%s", names->line);
        snprintf(names->line, sizeof names->line, "    %s", name);
    } else {
        snprintf(names->line + used, sizeof names->line - used, " %s", name);
    }
}

/* The names of a group's columns; several that follow one another are "first to last". */
static void note_names(const struct groups *groups, size_t first, struct names *names)
{
    enum { RUN = 3 };
    size_t left = 0;
    for (size_t c = first; c < groups->columns; c++) left += is_alike(groups, first, c);
    for (size_t c = first; c < groups->columns && left > 0; c++) {
        char name[4 * NAME_MOST + 1], last[4 * NAME_MOST + 1], text[2 * (4 * NAME_MOST + 8)];
        size_t end = c;
        while (end < groups->columns && is_alike(groups, first, end)) end++;
        if (end == c) continue;
        bool run = end - c >= RUN;
        left -= run ? end - c : 1;
        printable(column_of_model(groups->model, c).name, name, NAME_MOST);
        if (run) printable(column_of_model(groups->model, end - 1).name, last, NAME_MOST);
        snprintf(text, sizeof text, "%s%s%s%s", name, run ? " to " : "", run ? last : "", left > 0 ? "," : "");
        add_name(names, text);
        if (run) c = end - 1;
    }
    report_note(names->common, "%s", names->line);
}

static void note_group(const struct common *common, const struct groups *groups, size_t first)
{
    nade_column column = column_of_model(groups->model, first);
    struct names names = {.common = common};
    size_t count = 0;
    for (size_t c = first; c < groups->columns; c++) count += is_alike(groups, first, c);
    snprintf(names.line, sizeof names.line, "  %.*s (%zu columns):", (int)LINE,
             groups->types ? nade_type_name(column.type) : column.kind, count);
    note_names(groups, first, &names);
}

static void note_left_out(const struct common *common, const nade_table *table)
{
    char safe[4 * NAME_MOST + 1];
    nade_column column = column_of_table(table, nade_table_columns(table));
    for (size_t c = nade_table_columns(table); column.left_out; column = column_of_table(table, ++c))
        report_note(common, "  %s: left out, %s", printable(column.name, safe, NAME_MOST), column.left_out);
}

void note_columns(const struct common *common, const nade_table *table, const nade_model *model, bool all)
{
    if (all) note_left_out(common, table);
    struct groups groups = {.model = model, .columns = nade_model_columns(model)};
    for (size_t c = 0; c < groups.columns && groups.columns <= LINES_MOST; c++) note_column(common, table, model, c);
    if (groups.columns <= LINES_MOST || common->quiet || common->json) return;
    groups.types = !find_groups(&groups, all ? ALL_GROUPS_MOST : GROUPS_MOST);
    if (groups.types) find_groups(&groups, ALL_GROUPS_MOST);
    for (size_t g = 0; g < groups.count; g++) {
        size_t first = groups.first[g], others = 0;
        for (size_t c = first + 1; c < groups.columns && others == 0; c++) others += is_alike(&groups, first, c);
        if (others > 0)
            note_group(common, &groups, first);
        else
            note_column(common, table, model, first);
    }
    if (groups.types) report_note(common, "  nade info tells more of each");
}
