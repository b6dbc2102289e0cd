/* The record batches of an Arrow stream as tables in parts (reader.h). */
#ifndef ND_DATA_ARROW_READER_H
#define ND_DATA_ARROW_READER_H

#include "data/arrow_table.h"

struct arrow_reader {
    nade_context *context;
    const nade_read_options *options;
    const struct row_list *rows;    /* only these; NULL: all */
    struct ArrowArrayStream stream; /* release NULL: there is none, or it has ended */
    struct arrow_shape shape;
    struct ArrowArray batch; /* release NULL: none is at hand */
    size_t at;               /* the next row of the batch */
    size_t position;         /* how many rows of the stream came before that one */
    size_t listed;           /* how many of the list did */
    size_t parts;
    bool failed;
};

/* Takes a stream over and asks for its schema; nd_arrow_close is called in any case.  All that is pointed to stays the
 * caller's. */
nade_status nd_arrow_open(nade_context *context, const struct ArrowArrayStream *stream,
                          const nade_read_options *options, const struct row_list *rows, struct arrow_reader *reader);

nade_status nd_arrow_next(struct arrow_reader *reader, size_t most, nade_table **table);

/* Harmless on one that is all zero. */
void nd_arrow_close(struct arrow_reader *reader);

#endif
