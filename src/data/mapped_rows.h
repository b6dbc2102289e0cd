/* Tables that are too large to be loaded: the rows of an NPY or CSV file stay there, and a table holds some of them.
 *
 * Such a table is for training alone.  Its rows are a sample by which types, units and shapes are learnt; those that
 * are trained on are read from the file, in blocks.  Ranks (base/shared_work.h) read their own rows alone to find the
 * sample, which then all of them hold. */
#ifndef ND_DATA_MAPPED_ROWS_H
#define ND_DATA_MAPPED_ROWS_H

#include "base/shared_work.h"
#include "data/array_items.h"

/* Tables of fewer rows are loaded. */
enum { ND_MAPPED_ROWS_LEAST = 10000 };

struct mapped_rows {
    size_t rows;
    uint64_t *sampled;       /* which of them the table has, ascending */
    struct source_file file; /* open for as long as this is there */
    uint64_t place;          /* of the first item in the file */
    struct array_layout layout;
    struct mapped_text *text; /* mapped_text.h; NULL: an array */
    char *columns;            /* which of the file's are the table's, a COLS list; NULL until a block is asked for */
    void (*release)(const nade_allocator *allocator, struct mapped_rows *mapped); /* frees all of this */
};

/* Of a file that source reads, whose pieces it takes over; it stays open, and is read, not mapped: to read a file that
 * has become shorter is an error, to touch its memory would end the program.  NULL after a failure, which is then told
 * in *status. */
struct mapped_rows *nd_mapped_keep(struct source *source, nade_status *status);

/* Whether the items that follow in the source can be left in the file: those of a plain file, rows one after the other,
 * no rows chosen, enough of them, and columns. */
bool nd_can_be_mapped(const struct source *source, const struct array_layout *layout,
                      const struct load_request *request);

/* A table of the sample (row_sample.h), with `mapped` set. */
nade_status nd_load_mapped(struct source *source, const struct array_layout *layout, const struct load_request *request,
                           nade_table **table);

/* Which row of the file one of the table's is. */
size_t nd_mapped_number(const nade_table *table, size_t row);

/* How many rows there are; which are a rank's own; how many from `first` on, `most` at most, one block can have. */
size_t nd_mapped_rows(const nade_table *table);
struct share nd_mapped_share(const nade_table *table, unsigned rank, unsigned ranks);
size_t nd_mapped_length(const nade_table *table, size_t first, size_t most);

/* Rows from `first` on, `count` of them, as a table with the columns that `table` has now. */
nade_status nd_mapped_block(nade_context *context, const nade_table *table, size_t first, size_t count,
                            nade_table **block);

void nd_mapped_free(const nade_allocator *allocator, struct mapped_rows *mapped);

#endif
