#define _XOPEN_SOURCE 700 /* realpath: a link keeps pointing at the file that is replaced */
#include "base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

enum { NAME_TRIES = 100 };

static const char temporary_suffix[] = ".tmp-XXXXXX";

static void forget(struct atomic_file *file)
{
    nd_free(file->allocator, file->temporary);
    nd_free(file->allocator, file->target);
    file->temporary = file->target = NULL;
}

void nd_atomic_abandon(struct atomic_file *file)
{
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
    if (file->temporary) unlink(file->temporary);
    forget(file);
}

/* The sentence for a failed step; errno is taken before anything can change it. */
static nade_status fail_output(nade_context *context, struct atomic_file *file, const char *step)
{
    int reason = errno;
    nd_atomic_abandon(file);
    return nd_fail(context, NADE_NO_OUTPUT, "%s could not be %s: %s", file->path, step, strerror(reason));
}

/* Fills the six last letters of a name with something other processes are unlikely to choose. */
static void choose_suffix(char *letters, unsigned attempt)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t mixed = (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec;
    mixed = (mixed ^ (uint64_t)getpid() << 32) + attempt;
    mixed *= 0x9E3779B97F4A7C15u;
    for (size_t i = 0; i < 6; i++) {
        letters[i] = alphabet[(mixed >> 20) % (sizeof alphabet - 1)];
        mixed = mixed * 0xD1342543DE82EF95u + 1;
    }
}

/* open with O_EXCL rather than mkstemp: the kernel then applies the umask, which can't be read without changing it. */
static int open_temporary(char *name)
{
    char *letters = name + strlen(name) - 6;
    for (unsigned attempt = 0; attempt < NAME_TRIES; attempt++) {
        choose_suffix(letters, attempt);
        int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

static char *join(const nade_allocator *allocator, const char *first, const char *second)
{
    size_t length = strlen(first);
    char *joined = nd_alloc(allocator, length + strlen(second) + 1, 1);
    if (!joined) return NULL;
    memcpy(joined, first, length);
    memcpy(joined + length, second, strlen(second));
    return joined;
}

static nade_status open_replacement(nade_context *context, struct atomic_file *file, const struct stat *old)
{
    char real[PATH_MAX];
    const char *target = old && realpath(file->path, real) ? real : file->path;
    file->target = nd_copy_text(file->allocator, target);
    char *temporary = join(file->allocator, target, temporary_suffix);
    if (!file->target || !temporary) {
        nd_free(file->allocator, temporary);
        forget(file);
        return nd_no_memory(context, "a file name");
    }
    file->descriptor = open_temporary(temporary);
    if (file->descriptor < 0) {
        int reason = errno;
        nd_free(file->allocator, temporary);
        errno = reason;
        return fail_output(context, file, "created");
    }
    file->temporary = temporary;
    if (old && fchmod(file->descriptor, old->st_mode & 0777) != 0) return fail_output(context, file, "created");
    return NADE_OK;
}

nade_status nd_atomic_open(nade_context *context, const char *path, struct atomic_file *file)
{
    struct stat old;
    *file = (struct atomic_file){.allocator = &context->allocator, .descriptor = -1, .path = path};
    bool exists = stat(path, &old) == 0;
    if (!exists || S_ISREG(old.st_mode)) return open_replacement(context, file, exists ? &old : NULL);
    file->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    return file->descriptor < 0 ? fail_output(context, file, "opened") : NADE_OK;
}

nade_status nd_atomic_write(nade_context *context, struct atomic_file *file, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = write(file->descriptor, from, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail_output(context, file, "written");
        from += written;
        count -= (size_t)written;
    }
    return NADE_OK;
}

/* Makes the rename itself survive a power cut.  A folder that can't be opened or synced for want of permission or
 * support is left to the system's own time. */
static bool sync_folder(const nade_allocator *allocator, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = nd_copy_text(allocator, slash ? path : ".");
    if (!folder) return true;
    if (slash) folder[slash == path ? 1 : slash - path] = '\0';
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    nd_free(allocator, folder);
    if (descriptor < 0) return true;
    bool synced = fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return synced;
}

nade_status nd_atomic_commit(nade_context *context, struct atomic_file *file)
{
    int descriptor = file->descriptor;
    if (file->temporary && fsync(descriptor) != 0) return fail_output(context, file, "synced");
    file->descriptor = -1;
    if (close(descriptor) != 0) return fail_output(context, file, "closed");
    if (!file->temporary) return NADE_OK;
    if (rename(file->temporary, file->target) != 0) return fail_output(context, file, "replaced");
    nd_free(file->allocator, file->temporary);
    file->temporary = NULL;
    if (!sync_folder(file->allocator, file->target)) return fail_output(context, file, "synced");
    forget(file);
    return NADE_OK;
}
