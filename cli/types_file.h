/* The file of --types: a column's name, a comma and its type on each line. */
#ifndef CLI_TYPES_FILE_H
#define CLI_TYPES_FILE_H

#include "nade/nade.h"
#include "options.h"

/* Gives the table's columns the types of the file; of several lines for a column the last counts.  0 or an exit status.
 */
int apply_types_file(const struct common *common, nade_context *context, nade_table *table, const char *path);

#endif
