/* Output files that are at every moment the old one or the new one, whole.
 *
 * The bytes go to a temporary file in the same folder, which commit syncs and renames onto the path.  A path that is no
 * regular file (a pipe, /dev/null) can't be replaced and is written directly.  Every failure removes the temporary
 * file and returns NADE_NO_OUTPUT with the system's reason. */
#ifndef ND_BASE_ATOMIC_FILE_H
#define ND_BASE_ATOMIC_FILE_H

#include <stddef.h>

#include "base/context.h"

struct atomic_file {
    const nade_allocator *allocator;
    int descriptor;   /* -1: closed */
    const char *path; /* the caller's, for messages; must live as long as this */
    char *target;     /* what is replaced: path, or what a link there points to */
    char *temporary;  /* NULL: written directly */
};

nade_status nd_atomic_open(nade_context *context, const char *path, struct atomic_file *file);

/* After a failure the file is abandoned already. */
nade_status nd_atomic_write(nade_context *context, struct atomic_file *file, const void *bytes, size_t count);

/* Makes the new contents take the path's place.  The file is closed whatever happens. */
nade_status nd_atomic_commit(nade_context *context, struct atomic_file *file);

/* Removes the temporary file; the path stays as it was.  Does nothing after commit or a second time. */
void nd_atomic_abandon(struct atomic_file *file);

#endif
