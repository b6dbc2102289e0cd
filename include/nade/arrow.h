/* Tables from memory: columns that another library holds, handed over by Arrow's C data interface.
 *
 * pyarrow, polars, pandas, DuckDB, R's arrow and others export their tables so, without either side knowing the other's
 * code: what crosses are the three structures below, whose layout the standard fixes
 * (https://arrow.apache.org/docs/format/CDataInterface.html).  docs/formats.md says which types of columns are read and
 * what becomes of them.
 *
 * Both functions take over what they are given, as the standard's move: whatever they return, the caller's structures
 * are released, exactly once, and may not be used again.  Cells are copied, so that nothing of the producer's memory is
 * referred to once that has happened.  Pointers and lengths are trusted as those of any C call are; what can be checked
 * is: a structure that was released already, negative numbers, absent buffers, formats that are not known, text that is
 * no UTF-8, indices outside of their dictionary are refused with a sentence.
 */
#ifndef NADE_ARROW_H
#define NADE_ARROW_H

#include <stdint.h>

#include "nade/nade.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* What a column is, or a table, whose columns are the children of a struct. */
struct ArrowSchema {
    const char *format;   /* the type: "g" are doubles, "u" texts, "+s" is a struct */
    const char *name;     /* may be NULL */
    const char *metadata; /* not read */
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;  /* (n_children) */
    struct ArrowSchema *dictionary; /* of the values, where format is that of indices into a dictionary; else NULL */
    void (*release)(struct ArrowSchema *);
    void *private_data; /* the producer's */
};

/* The cells of a column, or of a table: a record batch. */
struct ArrowArray {
    int64_t length;
    int64_t null_count; /* -1: not counted */
    int64_t offset;     /* of the first cell in the buffers */
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;          /* (n_buffers) the first of most types has a bit a cell, 0 where it is missing */
    struct ArrowArray **children;  /* (n_children) */
    struct ArrowArray *dictionary; /* the values, as in the schema */
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Record batches of one schema, one after the other.  Functions return 0 or an errno; get_next ends with an array whose
 * release is NULL. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* A table of one record batch: array is a struct, schema says of what.  Of options, which may be NULL, columns, drop,
 * rows, missing and their like have their meaning; what is about text files or archives is not looked at.  Names are
 * the schema's.  nade_table_text has nothing to show. */
NADE_API nade_status nade_table_from_arrow(nade_context *context, struct ArrowSchema *schema, struct ArrowArray *array,
                                           const nade_read_options *options, nade_table **table);

/* A reader of a stream's record batches, for nade_reader_next, whose parts have as many rows as are asked for, of
 * several batches if need be, and the last one what is left: with SIZE_MAX the rest of the stream is one table.  Types
 * and dictionaries are those of all of a part's batches together.  The stream is read from the threads that call
 * nade_reader_next, and released at its end, with a failure or by nade_reader_free. */
NADE_API nade_status nade_reader_from_arrow(nade_context *context, struct ArrowArrayStream *stream,
                                            const nade_read_options *options, nade_reader **reader);

#ifdef __cplusplus
}
#endif

#endif
