/* Shared objects of ours that are opened at run time, so that the library needs neither CUDA nor MPI: where they lie,
 * and whether they are to be trusted and belong to this library. */
#ifndef ND_BACKEND_OBJECT_FILE_H
#define ND_BACKEND_OBJECT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "backend/trusted_file.h"

struct object_file {
    const char *name;       /* of the file */
    const char *what;       /* that it is: "CUDA backend" */
    const char *symbol;     /* what it exports: a structure that begins with the build that it belongs to, a text */
    const char *neighbours; /* names of libraries that it looks for beside itself begin so; NULL: it looks for none */
};

/* Looks beside this code and where the object was to be installed. */
bool nd_object_find(const struct object_file *object, char path[ND_PATH_BYTES]);

/* The path that a user has named: a file, no name to search for. */
void nd_object_named(const char *named, char path[ND_PATH_BYTES]);

/* What the object exports; it stays open for good.  NULL: reason (size bytes) says why it can't be used. */
const void *nd_object_open(const struct object_file *object, const char *path, char *reason, size_t size);

#endif
