/* Output files that are at every moment the old one or the new one, whole: base/replacement.h with the context's
 * sentences.  Every failure leaves nothing behind and returns NADE_NO_OUTPUT with the system's reason.
 *
 * Where there are no unnamed files, the calling thread takes no signals from open to commit or abandon, so that none
 * ends the process and leaves a temporary file. */
#ifndef ND_BASE_ATOMIC_FILE_H
#define ND_BASE_ATOMIC_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "base/replacement.h"

struct atomic_file {
    struct replacement file;
    const char *path; /* the caller's, for messages; must live as long as this */
    sigset_t signals; /* those blocked before */
    bool guarded;
};

nade_status nd_atomic_open(nade_context *context, const char *path, struct atomic_file *file);

/* After a failure the file is abandoned already. */
nade_status nd_atomic_write(nade_context *context, struct atomic_file *file, const void *bytes, size_t count);

/* Makes the new contents take the path's place.  The file is closed whatever happens. */
nade_status nd_atomic_commit(nade_context *context, struct atomic_file *file);

/* Forgets the new contents; the path stays as it was.  Does nothing after commit or a second time. */
void nd_atomic_abandon(struct atomic_file *file);

#endif
