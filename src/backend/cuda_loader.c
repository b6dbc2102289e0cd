#define _GNU_SOURCE /* secure_getenv */
#include "backend/cuda_loader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/object_file.h"

/* The object must not be unloaded while its backends are open, and the driver that comes with it never: it stays. */
static const struct object_file file = {"libnade_cuda.so", "CUDA backend", "nade_cuda_object", "libcublasLt.so"};

static void set_reason(struct cuda_search *search, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void set_reason(struct cuda_search *search, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(search->reason, sizeof search->reason, format, arguments);
    va_end(arguments);
}

static void use_object(struct cuda_search *search, const char *path)
{
    char why[ND_SENTENCE / 2] = "";
    search->state = CUDA_UNUSABLE;
    const struct cuda_object *object = nd_object_open(&file, path, search->reason, sizeof search->reason);
    if (!object) return;
    if (!object->find_device(why, sizeof why)) {
        set_reason(search, "there is no CUDA device to use: %s", why);
        return;
    }
    if (object->device_name) object->device_name(search->device, sizeof search->device);
    search->entries = object->entries;
    search->state = CUDA_FOUND;
}

const struct cuda_search *nd_cuda_search(nade_context *context)
{
    struct cuda_search *search = &context->cuda;
    char path[ND_PATH_BYTES];
    if (search->state != CUDA_UNSOUGHT) return search;
    const char *named = secure_getenv("NADE_CUDA_BACKEND");
    if (named && named[0] == '\0') {
        search->state = CUDA_ABSENT;
        set_reason(search, "the environment variable NADE_CUDA_BACKEND is empty, which switches CUDA off");
    } else if (named) {
        nd_object_named(named, path);
        use_object(search, path);
    } else if (nd_object_find(&file, path)) {
        use_object(search, path);
    } else {
        search->state = CUDA_ABSENT;
        set_reason(search, "the CUDA backend libnade_cuda.so is not installed: build it with `make cuda`, or name the "
                           "file in the environment variable NADE_CUDA_BACKEND");
    }
    return search;
}
