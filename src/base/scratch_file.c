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

/* All of it is taken at once: a disk that fills up later would end the program.  Returns an errno. */
static int map_scratch(int descriptor, struct scratch_file *scratch)
{
    int error = posix_fallocate(descriptor, 0, (off_t)scratch->bytes);
    if (error) return error;
    void *memory = mmap(NULL, scratch->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (memory == MAP_FAILED) return errno;
    scratch->memory = memory;
    return 0;
}

static bool is_full(int error)
{
    return error == ENOSPC || error == EFBIG || error == EDQUOT;
}

nade_status nd_scratch_create(nade_context *context, size_t bytes, const char *what, struct scratch_file *scratch)
{
    const char *folder = folder_of_scratch();
    char buffer[128];
    *scratch = (struct scratch_file){.bytes = bytes};
    int descriptor = open_nameless(folder), error = descriptor < 0 ? errno : 0;
    if (descriptor >= 0) {
        error = map_scratch(descriptor, scratch);
        close(descriptor);
    }
    if (!error) return NADE_OK;
    return nd_fail(context, NADE_NO_OUTPUT, "%s: %s %s, %zu bytes (%s); name another folder in the variable TMPDIR",
                   folder, is_full(error) ? "there is no room for" : "can't be written to, for", what, bytes,
                   strerror_r(error, buffer, sizeof buffer));
}

void nd_scratch_free(struct scratch_file *scratch)
{
    if (scratch->memory) munmap(scratch->memory, scratch->bytes);
    *scratch = (struct scratch_file){0};
}
