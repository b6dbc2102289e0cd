/* --ordering-file: orderings of columns as text, one a line. */
#ifndef CLI_ORDER_FILE_H
#define CLI_ORDER_FILE_H

#include <stddef.h>

#include "options.h"

/* Reads a file, gzip'ed or not ("-": standard input), whose lines are permutations of 0…columns-1, numbers separated by
 * blanks or commas; columns is 1 or more.  *order (*orderings, columns) is to be freed.  0 or an exit status, and what
 * the last two point to is then untouched. */
int order_file_read(const struct common *common, const char *path, size_t columns, size_t **order, size_t *orderings);

#endif
