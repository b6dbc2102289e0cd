/* A table that is being read: columns chosen and named first, then filled cell by cell. */
#ifndef ND_DATA_TABLE_BUILDER_H
#define ND_DATA_TABLE_BUILDER_H

#include "data/column_builder.h"

struct table_builder {
    nade_context *context;
    struct nade_table *table;       /* its columns have names and places, no cells yet */
    struct column_builder *columns; /* (table->columns) */
    size_t rows;
    size_t *positions; /* (rows) as in the table, NULL while they follow one another */
    size_t position_capacity;
};

/* Chooses columns by the options' lists and sets up their builders.  names (count) are copied; NULL: the data have
 * none; an empty one becomes the column's number.  After a failure there is nothing to free. */
nade_status nd_table_begin(nade_context *context, const char *source, const nade_read_options *options,
                           const char *const *names, size_t count, struct table_builder *builder);

/* Lets a column be what the data say. */
void nd_table_declare(struct table_builder *builder, size_t column, enum declared declared);

/* The sentence for a cell that could not be added.  position is the line, or for arrays the row. */
nade_status nd_table_cell_failed(struct table_builder *builder, enum cell_result result, size_t position, size_t column,
                                 const char *text, size_t length);

/* Counts one more row, of which each column has or will get a cell. */
nade_status nd_table_add_row(struct table_builder *builder, size_t position);

/* Adds the number of an array to a column; its row is counted elsewhere. */
nade_status nd_table_add_number(struct table_builder *builder, size_t column, double number, size_t position);

/* Checks that there are rows, finds types and hands the table over.  The builder is freed whatever happens. */
nade_status nd_table_finish(struct table_builder *builder, nade_table **table);

/* Frees a builder and its unfinished table; harmless on one that is all zero or finished. */
void nd_table_abandon(struct table_builder *builder);

#endif
