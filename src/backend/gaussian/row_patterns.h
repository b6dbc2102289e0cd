/* Rows whose holes are the same, one after the other, so that what is computed for a set of columns serves many rows.
 */
#ifndef ND_BACKEND_ROW_PATTERNS_H
#define ND_BACKEND_ROW_PATTERNS_H

#include "base/memory.h"
#include "data/encoded_rows.h"

/* Rows of a run have the same cells present, and the same target; there are ND_RUN_ROWS at most. */
enum { ND_RUN_ROWS = 128 };

struct row_run {
    size_t first, count; /* within row_patterns.row */
};

struct row_patterns {
    size_t *row; /* (rows) rows of the cells, those of a run in ascending order */
    size_t rows;
    struct row_run *run; /* (runs) in the order of their patterns' first rows */
    size_t runs;
};

/* Of the cells' columns c only those with used[c] count (NULL: all).  target (rows) may be NULL.  False: no memory. */
bool nd_find_patterns(struct arena *arena, const struct encoded_rows *cells, const bool *used, const size_t *target,
                      struct row_patterns *patterns);

#endif
