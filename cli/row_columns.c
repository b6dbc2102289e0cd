#include "row_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "printable.h"
#include "report.h"

/* What --columns must be for them to be read too, which is to be freed; NULL: as it is. */
static int extend_columns(const struct common *common, const char *columns, const struct row_columns *named,
                          char **list)
{
    const char *further[] = {named->weights, named->groups, named->split_by};
    size_t size = columns ? strlen(columns) + 1 : 0;
    *list = NULL;
    if (!columns || !(named->weights || named->groups || named->split_by)) return EXIT_DONE;
    for (size_t i = 0; i < 3; i++) size += further[i] ? strlen(further[i]) + 1 : 0;
    char *joined = malloc(size);
    if (!joined) return report_no_memory(common);
    size_t used = (size_t)snprintf(joined, size, "%s", columns);
    for (size_t i = 0; i < 3; i++)
        if (further[i]) used += (size_t)snprintf(joined + used, size - used, ",%s", further[i]);
    *list = joined;
    return EXIT_DONE;
}

int read_with_row_columns(const struct common *common, nade_context *context, const char *path,
                          const nade_read_options *options, const struct row_columns *named, nade_table **table)
{
    nade_read_options read = *options;
    char *columns;
    int exit_status = extend_columns(common, read.columns, named, &columns);
    if (exit_status) return exit_status;
    if (columns) read.columns = columns;
    nade_status status = nade_table_read(context, path, &read, table);
    free(columns);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
}

int take_row_columns(const struct common *common, nade_context *context, nade_table *table,
                     const struct row_columns *named)
{
    nade_status status = NADE_OK;
    if (named->weights) status = nade_table_tidy(context, table, NADE_TIDY_WEIGHTS, named->weights);
    if (status == NADE_OK && named->groups) status = nade_table_tidy(context, table, NADE_TIDY_GROUPS, named->groups);
    if (status == NADE_OK && named->split_by)
        status = nade_table_tidy(context, table, NADE_TIDY_TIMES, named->split_by);
    return status == NADE_OK ? EXIT_DONE : report_failure(common, context, status);
}

void note_row_columns(const struct common *common, const struct row_columns *named, const nade_train_plan *plan)
{
    enum { NAME_MOST = 60 };
    char name[4 * NAME_MOST + 1];
    if (named->weights && plan->copies == plan->train_rows)
        report_note(common, "rows count as often as column %s says", printable(named->weights, name, NAME_MOST));
    else if (named->weights)
        report_note(common, "rows count as much as column %s says: %zu copies of the training rows stand for them",
                    printable(named->weights, name, NAME_MOST), plan->copies);
    if (named->groups)
        report_note(common, "rows with the same value of column %s stay together: %zu groups",
                    printable(named->groups, name, NAME_MOST), plan->groups);
    if (named->split_by)
        report_note(common, "validation rows are those with the greatest values of column %s",
                    printable(named->split_by, name, NAME_MOST));
}

void add_row_columns(const struct row_columns *named, const nade_train_plan *plan, json_t *summary)
{
    if (!summary) return;
    if (named->weights) {
        json_object_set_new(summary, "weights", json_text(named->weights));
        json_object_set_new(summary, "copies", json_integer((json_int_t)plan->copies));
    }
    if (named->groups) {
        json_object_set_new(summary, "groups", json_text(named->groups));
        json_object_set_new(summary, "group_count", json_integer((json_int_t)plan->groups));
    }
    if (named->split_by) json_object_set_new(summary, "split_by", json_text(named->split_by));
}
