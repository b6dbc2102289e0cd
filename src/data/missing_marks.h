/* Which texts stand for a missing cell.
 *
 * Some always do: nothing, ?, NA, N/A, nan, null and their like.  Others may be labels as well (-, . and none: a test's
 * result is + or -), and what they are depends on the column: among numbers and dates they are missing cells, among
 * labels training decides (sentinels.h). */
#ifndef ND_DATA_MISSING_MARKS_H
#define ND_DATA_MISSING_MARKS_H

#include "data/table.h"

/* Begins all zero: the texts that are always known. */
struct missing_marks {
    char *list;         /* the caller's texts one after the other, each with a final zero */
    const char **texts; /* (count) */
    size_t count;
    bool only; /* beside them nothing but the empty cell is missing */
};

enum mark {
    MARK_NONE,
    MARK_MISSING,
    MARK_DOUBTFUL /* missing among numbers and dates, perhaps a label among labels */
};

/* Takes a list of texts, divided by commas; one in double quotes may hold commas, and quotes written twice.  NULL:
 * none. False: no memory. */
bool nd_marks_take(const nade_allocator *allocator, const char *list, bool only, struct missing_marks *marks);

void nd_marks_free(const nade_allocator *allocator, struct missing_marks *marks);

/* What a cell's text is.  marks may be NULL: no others are known. */
enum mark nd_mark_of(const struct missing_marks *marks, const char *text, size_t length);

/* Makes the cells that hold certain labels missing: gone (label_count).  False: no memory. */
bool nd_labels_become_missing(const nade_allocator *allocator, const struct nade_table *table,
                              struct table_column *column, const bool *gone);

/* Makes doubtful cells missing in a column that otherwise holds numbers, a few slips aside, or dates.  False: no
 * memory. */
bool nd_drop_doubtful_marks(const struct nade_table *table, struct table_column *column);

#endif
