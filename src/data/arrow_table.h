/* Tables from Arrow's columns (nade/arrow.h).
 *
 * A shape is what a schema says, copied, so that the schema can be released at once.  An import is a table that grows
 * by record batches of that shape, or parts of them; dictionaries may differ from batch to batch, since only texts and
 * numbers go into the table. */
#ifndef ND_DATA_ARROW_TABLE_H
#define ND_DATA_ARROW_TABLE_H

#include "data/arrow_cells.h"
#include "data/row_list.h"
#include "data/table_builder.h"

struct arrow_column {
    const char *format; /* as in the schema, of the values where there is a dictionary */
    struct arrow_type type;
    struct arrow_type index; /* ARROW_OTHER: no dictionary */
};

struct arrow_shape {
    struct arena arena;
    const char *source; /* for messages; not owned */
    size_t count;
    const char **names;           /* (count) "" where the schema has none */
    struct arrow_column *columns; /* (count) */
};

/* Copies what a schema says; the schema is not released.  After a failure there is nothing to free. */
nade_status nd_arrow_shape(nade_context *context, const char *source, const struct ArrowSchema *schema,
                           struct arrow_shape *shape);

void nd_arrow_shape_free(struct arrow_shape *shape);

struct arrow_import {
    nade_context *context;
    const struct arrow_shape *shape;
    struct table_builder builder;
    struct missing_marks marks; /* the caller's alone */
    double *mark_numbers;       /* (mark_count) those of them that are numbers */
    size_t mark_count;
    enum finest *finest; /* (the table's columns) */
};

/* Begins a table; nd_arrow_abandon is called in any case. */
nade_status nd_arrow_begin(nade_context *context, const struct arrow_shape *shape, const nade_read_options *options,
                           struct arrow_import *import);

/* Fails where a batch, whose first row messages call by its position, is not what the shape says. */
nade_status nd_arrow_check(struct arrow_import *import, const struct ArrowArray *batch, size_t position);

/* Adds rows first ... first + count - 1 of a batch, which messages call by their position on. */
nade_status nd_arrow_add(struct arrow_import *import, const struct ArrowArray *batch, size_t first, size_t count,
                         size_t position);

/* The same of those among them that are listed, beginning with *next of the list; NULL: all. */
nade_status nd_arrow_add_listed(struct arrow_import *import, const struct ArrowArray *batch, size_t first, size_t count,
                                size_t position, const struct row_list *list, size_t *next);

nade_status nd_arrow_finish(struct arrow_import *import, nade_table **table);

void nd_arrow_abandon(struct arrow_import *import);

/* A table of one batch.  Neither schema nor array is released. */
nade_status nd_load_arrow(nade_context *context, const struct ArrowSchema *schema, const struct ArrowArray *array,
                          const nade_read_options *options, nade_table **table);

#endif
