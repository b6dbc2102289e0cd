/* Whether nobody but the user and root can have written a file of code.
 *
 * Opening a shared object runs its code before anything of it can be looked at, so this is asked before.  The path is
 * resolved first, and what is judged is what it leads to: the file and its folder must belong to the effective user or
 * to root, and neither group nor others may write to them; a folder that only its sticky bit protects, such as /tmp, is
 * refused too, since anybody may put further libraries there.  The folders above must belong to the user or root as
 * well; those that others may write to must be sticky, so that nobody else can exchange what lies below.
 *
 * The resolved path is what is then to be opened: all on the way to it is the user's or root's, so nobody else can
 * change it in between.  Opening a descriptor of the file instead (/proc/self/fd/N) would lose the folder that the
 * object's own search for libcublasLt begins at ($ORIGIN). */
#ifndef ND_BACKEND_TRUSTED_FILE_H
#define ND_BACKEND_TRUSTED_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { ND_PATH_BYTES = 4096 };

/* Resolves path.  False: reason (size bytes) says, beginning with a path, what is wrong with it. */
bool nd_trusted_file(const char *path, char resolved[ND_PATH_BYTES], char *reason, size_t size);

/* The same for all files beside `resolved` whose names begin with prefix. */
bool nd_trusted_neighbours(const char *resolved, const char *prefix, char *reason, size_t size);

#endif
