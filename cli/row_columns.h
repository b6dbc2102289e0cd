/* Columns of a table that say something of its rows and are no part of the model: --weights, --groups, --split-by. */
#ifndef CLI_ROW_COLUMNS_H
#define CLI_ROW_COLUMNS_H

#include <jansson.h>

#include "nade/nade.h"
#include "options.h"

/* Each a COLS list of one column; NULL: not given. */
struct row_columns {
    const char *weights, *groups, *split_by;
};

/* Reads a table with these columns too, where the options list others.  0 or an exit status. */
int read_with_row_columns(const struct common *common, nade_context *context, const char *path,
                          const nade_read_options *options, const struct row_columns *named, nade_table **table);

/* Takes them out of a table, after types were given.  0 or an exit status. */
int take_row_columns(const struct common *common, nade_context *context, nade_table *table,
                     const struct row_columns *named);

/* Says in words what they do. */
void note_row_columns(const struct common *common, const struct row_columns *named, const nade_train_plan *plan);

/* Adds them to a summary, which may be NULL. */
void add_row_columns(const struct row_columns *named, const nade_train_plan *plan, json_t *summary);

#endif
