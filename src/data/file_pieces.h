/* Stretches of several files that are read as if they were one, at any place.  One file is open at a time, however many
 * there are; one thread may read. */
#ifndef ND_DATA_FILE_PIECES_H
#define ND_DATA_FILE_PIECES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/memory.h"

struct file_piece {
    uint64_t end;      /* where it ends among all */
    uint64_t offset;   /* of its first byte in its file */
    const char *path;  /* of its file; NULL: */
    const char *bytes; /* these */
};

struct file_pieces {
    struct arena arena; /* this and all that it has */
    size_t count, room;
    struct file_piece *piece; /* (count) none of them empty */
    size_t opened;            /* whose file descriptor is */
    int descriptor;           /* -1: none is open */
};

/* NULL: no memory. */
struct file_pieces *nd_pieces_create(const nade_allocator *allocator);

/* Appends a stretch of a file, or of memory, which are copied; one of no bytes is none.  False: no memory. */
bool nd_pieces_add_file(struct file_pieces *pieces, const char *path, uint64_t offset, uint64_t count);
bool nd_pieces_add_bytes(struct file_pieces *pieces, const char *bytes, size_t count);

/* Bytes of all. */
uint64_t nd_pieces_size(const struct file_pieces *pieces);

/* As pread. */
ssize_t nd_pieces_read(struct file_pieces *pieces, void *to, size_t wanted, uint64_t place);

void nd_pieces_free(struct file_pieces *pieces);

#endif
