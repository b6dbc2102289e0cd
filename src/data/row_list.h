/* The rows a user wants of a table: a text file of row numbers. */
#ifndef ND_DATA_ROW_LIST_H
#define ND_DATA_ROW_LIST_H

#include "base/context.h"

struct listed_row {
    size_t row;
    size_t line; /* of the file that lists it */
};

struct row_list {
    const char *path;       /* for messages; the caller's */
    struct listed_row *row; /* (count) ascending, each once */
    size_t count;           /* at least one */
};

/* Memory comes from the context's allocator. */
nade_status nd_rows_read(nade_context *context, const char *path, struct row_list *list);
void nd_rows_free(const nade_allocator *allocator, struct row_list *list);

/* True when the row is listed.  Rows are asked for in ascending order; *next begins as 0 and is this function's own. */
static inline bool nd_rows_take(const struct row_list *list, size_t *next, size_t row)
{
    if (*next == list->count || list->row[*next].row != row) return false;
    ++*next;
    return true;
}

/* Fails when a row is listed that a table of so many rows does not have. */
nade_status nd_rows_check(nade_context *context, const struct row_list *list, size_t rows);

#endif
