/* Arrow's structures by hand: all that they point to lies in blocks of just its size, which their release frees, so
 * that sanitizers see who reads beyond them or too late. */
#ifndef ND_TESTS_ARROW_SUPPORT_H
#define ND_TESTS_ARROW_SUPPORT_H

#include "nade/arrow.h"

/* A column, or a dictionary.  Zeros are no buffers, no nulls and no offset. */
struct arrow_test_column {
    const char *name, *format;
    int64_t length, offset, null_count, n_buffers;
    struct {
        const void *bytes;
        size_t count;
    } buffers[5];
    const struct arrow_test_column *dictionary;
};

/* Everything alive: structures that were made and not yet released. */
extern int arrow_test_live;

/* A record batch of so many rows, from `offset` of its columns on. */
void arrow_test_make(const struct arrow_test_column *columns, size_t count, int64_t rows, int64_t offset,
                     struct ArrowSchema *schema, struct ArrowArray *array);

/* A stream of batches, all of their columns' lengths; the schema is the first's. */
struct arrow_test_stream {
    const struct arrow_test_column *const *batches; /* (batch_count) of (columns) */
    size_t batch_count, columns;
    size_t next;    /* the batch that comes next */
    size_t fail_at; /* batch whose get_next fails; batch_count + 1: none */
    int schema_error;
    const char *words; /* get_last_error's */
};

/* script stays the caller's, and shows how far the stream was read. */
void arrow_test_stream(struct arrow_test_stream *script, struct ArrowArrayStream *stream);

/* The buffers of texts. */
struct arrow_test_texts {
    int32_t offsets[64];
    int64_t large_offsets[64];
    char bytes[1024];
    size_t used, count;
};

/* texts ends with NULL. */
void arrow_test_texts(const char *const *texts, struct arrow_test_texts *made);

#endif
