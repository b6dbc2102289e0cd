#define _GNU_SOURCE /* O_TMPFILE, secure_getenv */

#include "base/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_MOST = 4096 };

static const char *folder_of_scratch(void)
{
    const char *named = secure_getenv("TMPDIR");
    return named && *named ? named : "/var/tmp"; /* /tmp is often memory itself */
}

/* Where files without a name can't be made, one loses its name at once. */
static int open_nameless(const char *folder)
{
    char path[PATH_MOST];
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || snprintf(path, sizeof path, "%s/nade-XXXXXX", folder) >= (int)sizeof path) return descriptor;
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0) unlink(path);
    return descriptor;
}

/* Returns an errno. */
static int map_scratch(int descriptor, struct scratch_file *scratch)
{
    void *memory = mmap(NULL, scratch->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return errno;
    scratch->memory = memory;
    return 0;
}

static bool is_full(int error)
{
    return error == ENOSPC || error == EFBIG || error == EDQUOT;
}

static nade_status fail(nade_context *context, const struct scratch_file *scratch, int error)
{
    char buffer[128];
    return nd_fail(context, NADE_NO_OUTPUT, "%s: %s %s, %zu bytes (%s); name another folder in the variable TMPDIR",
                   folder_of_scratch(), is_full(error) ? "there is no room for" : "can't be written to, for",
                   scratch->what, scratch->bytes, strerror_r(error, buffer, sizeof buffer));
}

/* Returns an errno.  A signal, such as Ctrl-C's, may interrupt it. */
static int take_room(int descriptor, size_t bytes)
{
    int error;
    do error = posix_fallocate(descriptor, 0, (off_t)bytes);
    while (error == EINTR);
    return error;
}

/* All of it is taken at once: where it is mapped, a disk that fills up later would end the program. */
static nade_status create(nade_context *context, size_t bytes, const char *what, bool mapped,
                          struct scratch_file *scratch)
{
    *scratch = (struct scratch_file){.bytes = bytes, .what = what};
    int descriptor = open_nameless(folder_of_scratch()), error = descriptor < 0 ? errno : 0;
    if (!error && bytes) error = take_room(descriptor, bytes);
    if (!error && mapped) error = map_scratch(descriptor, scratch);
    if (!error && !mapped)
        scratch->descriptor = descriptor + 1;
    else if (descriptor >= 0)
        close(descriptor);
    return error ? fail(context, scratch, error) : NADE_OK;
}

nade_status nd_scratch_create(nade_context *context, size_t bytes, const char *what, struct scratch_file *scratch)
{
    return create(context, bytes, what, true, scratch);
}

nade_status nd_scratch_create_apart(nade_context *context, size_t bytes, const char *what, struct scratch_file *scratch)
{
    return create(context, bytes, what, false, scratch);
}

nade_status nd_scratch_write(nade_context *context, const struct scratch_file *scratch, uint64_t place,
                             const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t written =
            pwrite(scratch->descriptor - 1, (const char *)bytes + done, count - done, (off_t)(place + done));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return fail(context, scratch, written < 0 ? errno : ENOSPC);
        done += (size_t)written;
    }
    return NADE_OK;
}

nade_status nd_scratch_read(nade_context *context, const struct scratch_file *scratch, uint64_t place, void *bytes,
                            size_t count)
{
    char buffer[128];
    for (size_t done = 0; done < count;) {
        ssize_t got = pread(scratch->descriptor - 1, (char *)bytes + done, count - done, (off_t)(place + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return nd_fail(context, NADE_BAD_INPUT, "%s: %s can't be read back (%s)", folder_of_scratch(),
                           scratch->what, strerror_r(got < 0 ? errno : EIO, buffer, sizeof buffer));
        done += (size_t)got;
    }
    return NADE_OK;
}

void nd_scratch_free(struct scratch_file *scratch)
{
    if (scratch->memory) munmap(scratch->memory, scratch->bytes);
    if (scratch->descriptor) close(scratch->descriptor - 1);
    *scratch = (struct scratch_file){0};
}
