/* The bytes of a file, unpacked on the way if they are gzip'ed, as a window that slides forward.
 *
 * A reader takes bytes from buffer[begin] on, advances begin, and calls nd_source_fill when it has used them up.
 * Memory grows only as far as bytes have really arrived. */
#ifndef ND_DATA_SOURCE_H
#define ND_DATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "base/context.h"

struct file_pieces; /* file_pieces.h */

/* A plain file whose bytes can be read at any place. */
struct source_file {
    int descriptor;
    struct file_pieces *pieces; /* NULL: of descriptor; else of these */
};

enum packing { PACKED_NOT, PACKED_GZIP, PACKED_DEFLATE };

struct source {
    nade_context *context;
    const char *path; /* for messages; the caller's */
    unsigned char *buffer;
    size_t capacity;
    size_t begin, end; /* the bytes not yet taken */
    bool ended;        /* nothing follows buffer[end] */

    bool opened;                /* false: the bytes were in memory from the start, there is nothing to close */
    int descriptor;             /* -1: all raw bytes are at hand */
    bool owns_descriptor;       /* and may move its position */
    struct file_pieces *pieces; /* these are read, not a descriptor; NULL: none */
    bool owns_pieces;
    bool owns_raw;
    unsigned char *raw; /* bytes as they are in the file */
    size_t raw_begin, raw_end;
    uint64_t raw_left; /* bytes behind raw_end that may be read, if the file has them */
    bool placed;       /* a range: those bytes are at `place`, and the file must have them */
    uint64_t place;    /* of the next raw byte, counted from the first that was read unless placed */
    bool raw_ended;
    enum packing packing; /* unless PACKED_NOT, stream is in use */
    bool in_member;       /* the gzip member that is being unpacked has not ended */
    z_stream stream;

    bool claimed;            /* a part of an archive: what it must come to */
    uint64_t size, arrived;  /* bytes unpacked, in all and so far */
    uint32_t crc, crc_found; /* CRC-32, of all and so far */
};

/* Opens path ("-": standard input) and looks whether it is gzip'ed.  After a failure there is nothing to close. */
nade_status nd_source_open(nade_context *context, const char *path, struct source *source);

/* A stretch of an archive's bytes and what it claims to hold. */
struct source_part {
    const char *path; /* for messages; the caller's */
    enum packing packing;
    uint64_t offset, packed_size; /* in the archive */
    uint64_t size;                /* unpacked */
    uint32_t crc;
};

/* Opens a part of an archive: of the file behind it if that can seek, else of the bytes it has at hand, which must then
 * be all (offset counts from its begin).  Reading fails unless size and CRC are as claimed.  The archive must outlive
 * the part and is not to be filled meanwhile. */
nade_status nd_source_open_part(const struct source *archive, const struct source_part *part, struct source *source);

/* Opens the bytes of several files as those of one, whose path is for messages.  The source owns the pieces, after a
 * failure too. */
nade_status nd_source_open_pieces(nade_context *context, const char *path, struct file_pieces *pieces,
                                  struct source *source);

/* Opens a range of a plain file's bytes, read at their place whatever the descriptor's position is.  Reading fails when
 * the file has become shorter. */
nade_status nd_source_open_range(nade_context *context, const char *path, const struct source_file *file,
                                 uint64_t place, uint64_t bytes, struct source *source);

/* Reads such a range at once. */
nade_status nd_source_read_range(nade_context *context, const char *path, const struct source_file *file,
                                 uint64_t place, void *to, size_t bytes);

/* Where the next byte of a plain file that is being read lies in it. */
uint64_t nd_source_place(const struct source *source);

/* Whether source is of a plain file, and how long that is now.  Of a part of an archive it is not asked. */
bool nd_source_plain(const struct source *source, struct source_file *file, uint64_t *size);

/* True when the file's bytes can be read at any place through its descriptor. */
bool nd_source_seeks(const struct source *source);

/* Frees what open took; harmless on a source that is all zero. */
void nd_source_close(struct source *source);

/* A source over the bytes that another has at hand, valid until that one is filled again; it needs no close. */
void nd_source_view(const struct source *source, struct source *view);

static inline size_t nd_source_available(const struct source *source)
{
    return source->end - source->begin;
}

/* True when no more bytes could be got now without waiting for who writes them: a pipe that is empty. */
bool nd_source_waits(const struct source *source);

/* Gets more bytes behind those not yet taken; none arrive only when the file has ended. */
nade_status nd_source_fill(struct source *source);

/* Fills until wanted bytes are available or the file has ended. */
nade_status nd_source_look(struct source *source, size_t wanted);

/* The sentence for a system call on the file that failed with this errno: it "cannot be read: ...".  A want of
 * memory is told as such. */
nade_status nd_source_fail_system(const struct source *source, const char *what, int error);

#endif
