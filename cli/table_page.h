/* The columns of a table as a page: what `nade info` shows of data. */
#ifndef CLI_TABLE_PAGE_H
#define CLI_TABLE_PAGE_H

#include "nade/nade.h"
#include "options.h"

/* Reads the table as training would and prints its columns, those left out too, or with --json a list of them: 0 or an
 * exit status. */
int show_table(const struct common *common, nade_context *context, const char *path, const nade_read_options *read);

#endif
