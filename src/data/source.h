/* The bytes of a file, unpacked on the way if they are gzip'ed, as a window that slides forward.
 *
 * A reader takes bytes from buffer[begin] on, advances begin, and calls nd_source_fill when it has used them up.
 * Memory grows only as far as bytes have really arrived. */
#ifndef ND_DATA_SOURCE_H
#define ND_DATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

#include "base/context.h"

struct source {
    nade_context *context;
    const char *path; /* for messages; the caller's */
    unsigned char *buffer;
    size_t capacity;
    size_t begin, end; /* the bytes not yet taken */
    bool ended;        /* nothing follows buffer[end] */

    FILE *file;         /* NULL: the bytes were in memory from the start */
    unsigned char *raw; /* bytes as they are in the file */
    size_t raw_begin, raw_end;
    bool raw_ended;
    bool gzip;      /* stream is in use */
    bool in_member; /* the gzip member that is being unpacked has not ended */
    z_stream stream;
};

/* Opens path and looks whether it is gzip'ed.  After a failure there is nothing to close. */
nade_status nd_source_open(nade_context *context, const char *path, struct source *source);

/* Frees what open took; harmless on a source that is all zero. */
void nd_source_close(struct source *source);

/* A source over the bytes that another has at hand, valid until that one is filled again; it needs no close. */
void nd_source_view(const struct source *source, struct source *view);

static inline size_t nd_source_available(const struct source *source)
{
    return source->end - source->begin;
}

/* Gets more bytes behind those not yet taken; none arrive only when the file has ended. */
nade_status nd_source_fill(struct source *source);

/* Fills until wanted bytes are available or the file has ended. */
nade_status nd_source_look(struct source *source, size_t wanted);

#endif
