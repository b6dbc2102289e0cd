/* A file that takes another's place as a whole: whatever happens, its path holds the old contents or the new.
 *
 * The bytes go to a file without a name in the target's folder (O_TMPFILE), which vanishes with the process however
 * that ends.  Commit syncs it and gives it the target's name: in one step where there is no such file yet, else under a
 * temporary name (the target's, at most 100 bytes of it, ".tmp-" and six letters) that is renamed in the next moment;
 * the calling thread takes no signals in between, so that only SIGKILL or a power cut there can leave that name behind.
 * Where the file system has no unnamed files, the file has its temporary name from the beginning.
 *
 * Links are followed, also to what is not there yet.  A file that may not be written is not replaced, although the
 * folder would allow it.  What is no regular file (a pipe, a device) is written directly; /dev/stdout, /dev/stderr,
 * /dev/fd/N and /proc/self/fd/N are the descriptor itself, whatever it leads to.
 *
 * Functions return NULL, or the step that failed as a word for "could not be ..." with its reason in errno; the new
 * file is then abandoned already.  This header depends on nothing, so that the command may use it too. */
#ifndef ND_BASE_REPLACEMENT_H
#define ND_BASE_REPLACEMENT_H

#include <sys/types.h>

enum { ND_FILE_NAME = 256 };

struct replacement {
    int descriptor;               /* to write to, -1: closed */
    int folder;                   /* the target's, -1: written directly */
    char name[ND_FILE_NAME];      /* the target's, in folder */
    char temporary[ND_FILE_NAME]; /* in folder, "": has no name */
};

/* mode, less the umask, is for a file that is new; another keeps its permissions. */
const char *nd_replacement_open(struct replacement *file, const char *path, mode_t mode);

/* Makes the new contents take the target's place.  The file is closed whatever happens. */
const char *nd_replacement_commit(struct replacement *file);

/* Forgets the new contents.  Does nothing after commit or a second time; keeps errno. */
void nd_replacement_abandon(struct replacement *file);

/* The descriptor that a path like /dev/stdout stands for, or -1. */
int nd_path_descriptor(const char *path);

#endif
