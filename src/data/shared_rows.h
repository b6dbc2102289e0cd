/* Encoded rows that lie spread over ranks (base/shared_work.h), each of which keeps its own in a scratch file.
 *
 * The rows that an update wants are known to all ranks, since they are drawn by counters; those who have them bring
 * them together before it.  Nothing of them is held in memory. */
#ifndef ND_DATA_SHARED_ROWS_H
#define ND_DATA_SHARED_ROWS_H

#include "base/scratch_file.h"
#include "base/shared_work.h"
#include "data/encoded_rows.h"

struct shared_rows {
    struct scratch_file file; /* the rank's own rows, one after the other */
    size_t own;               /* so many */
    size_t first;             /* the number of the first among all */
    struct encoded_rows all;  /* their number and shape; no data */
};

/* Room for as many own rows as there may be.  all: of the rows to come, but for their number. */
nade_status nd_shared_rows_create(nade_context *context, size_t most, const struct encoded_rows *all,
                                  struct shared_rows *rows);

/* Appends own rows. */
nade_status nd_shared_rows_add(nade_context *context, struct shared_rows *rows, const void *cells, size_t count);

/* Collective: there are no more.  The rows of all ranks are numbered in the order of these. */
nade_status nd_shared_rows_finish(nade_context *context, struct shared_rows *rows);

/* Collective: *cells becomes the rows of these numbers, in this order; data (count, row) is the caller's. */
nade_status nd_shared_rows_fetch(nade_context *context, const struct shared_rows *rows, const size_t *number,
                                 size_t count, void *data, struct encoded_rows *cells);

/* Calls see for blocks of the own rows, in their order. */
nade_status nd_shared_rows_visit(nade_context *context, const struct shared_rows *rows,
                                 void (*see)(void *user, const struct encoded_rows *block), void *user);

/* Bytes of a row. */
size_t nd_row_bytes(const struct encoded_rows *rows);

void nd_shared_rows_free(struct shared_rows *rows);

#endif
