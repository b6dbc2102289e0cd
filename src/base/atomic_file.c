#define _XOPEN_SOURCE 700 /* pthread_sigmask */
#include "base/atomic_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void guard(struct atomic_file *file)
{
    sigset_t all;
    if (!file->file.temporary[0]) return;
    sigfillset(&all);
    file->guarded = pthread_sigmask(SIG_BLOCK, &all, &file->signals) == 0;
}

static void unguard(struct atomic_file *file)
{
    if (file->guarded) pthread_sigmask(SIG_SETMASK, &file->signals, NULL);
    file->guarded = false;
}

static nade_status fail_output(nade_context *context, struct atomic_file *file, const char *step)
{
    int reason = errno;
    nd_atomic_abandon(file);
    return nd_fail(context, NADE_NO_OUTPUT, "%s could not be %s: %s", file->path, step, strerror(reason));
}

nade_status nd_atomic_open(nade_context *context, const char *path, struct atomic_file *file)
{
    *file = (struct atomic_file){.path = path};
    const char *failed = nd_replacement_open(&file->file, path, 0644);
    if (failed) return fail_output(context, file, failed);
    guard(file);
    return NADE_OK;
}

nade_status nd_atomic_write(nade_context *context, struct atomic_file *file, const void *bytes, size_t count)
{
    const char *from = bytes;
    while (count > 0) {
        ssize_t written = write(file->file.descriptor, from, count);
        if (written < 0 && errno == EINTR) continue;
        if (written == 0) errno = EIO; /* no device may keep this waiting for ever */
        if (written <= 0) return fail_output(context, file, "written");
        from += written;
        count -= (size_t)written;
    }
    return NADE_OK;
}

nade_status nd_atomic_commit(nade_context *context, struct atomic_file *file)
{
    const char *failed = nd_replacement_commit(&file->file);
    if (failed) return fail_output(context, file, failed);
    unguard(file);
    return NADE_OK;
}

void nd_atomic_abandon(struct atomic_file *file)
{
    nd_replacement_abandon(&file->file);
    unguard(file);
}
