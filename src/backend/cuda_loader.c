#define _GNU_SOURCE /* dladdr1: which file this code is in; secure_getenv */
#include "backend/cuda_loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/trusted_file.h"

enum { PATH_BYTES = ND_PATH_BYTES };

#define OBJECT_NAME "libnade_cuda.so"

/* ---- where ------------------------------------------------------------------------------------------------------ */

/* The folder of the file that this code is in, the shared library or a program, with a slash at its end.  False: it
 * can't be known.  A program's own name for itself is not asked: it need not be a path. */
static bool own_folder(char folder[PATH_BYTES])
{
    static const char here = 0;
    Dl_info info;
    struct link_map *map = NULL;
    ssize_t length;
    if (!dladdr1(&here, &info, (void **)&map, RTLD_DL_LINKMAP) || !map) return false;
    if (map->l_name[0] == '\0')
        length = readlink("/proc/self/exe", folder, PATH_BYTES);
    else
        length = snprintf(folder, PATH_BYTES, "%s", map->l_name);
    if (length < 0 || length >= PATH_BYTES) return false;
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (!slash) return false;
    slash[1] = '\0';
    return true;
}

static bool is_file(char path[PATH_BYTES], const char *folder, const char *rest)
{
    int length = snprintf(path, PATH_BYTES, "%s%s" OBJECT_NAME, folder, rest);
    return length > 0 && length < PATH_BYTES && access(path, F_OK) == 0;
}

/* Beside this code, where a build and a wheel have it; in the library's folder as seen from the command, for an
 * installation that was moved as a whole; where it was to be installed. */
static bool find_file(char path[PATH_BYTES])
{
    char folder[PATH_BYTES];
    if (own_folder(folder)) {
        const char *const places[] = {"", "../" NADE_LIBRARY_FOLDER "/nade/"};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (is_file(path, folder, places[i])) return true;
    }
    return is_file(path, NADE_INSTALLED_FOLDER, "/nade/");
}

/* ---- what ------------------------------------------------------------------------------------------------------- */

static void set_reason(struct cuda_search *search, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void set_reason(struct cuda_search *search, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(search->reason, sizeof search->reason, format, arguments);
    va_end(arguments);
}

/* dlopen runs the object's code and that of libcublasLt, which it looks for beside itself first: nobody but the user
 * and root may have had a hand in either. */
static bool is_trusted(struct cuda_search *search, const char *path, char resolved[PATH_BYTES])
{
    char why[ND_SENTENCE / 2];
    if (nd_trusted_file(path, resolved, why, sizeof why) &&
        nd_trusted_neighbours(resolved, "libcublasLt.so", why, sizeof why))
        return true;
    set_reason(search, "the CUDA backend %s is not opened: %s", path, why);
    return false;
}

/* The object must not be unloaded while its backends are open, and the driver that comes with it never: it stays. */
static const struct cuda_object *open_object(struct cuda_search *search, const char *path)
{
    char resolved[PATH_BYTES];
    if (!is_trusted(search, path, resolved)) return NULL;
    void *handle = dlopen(resolved, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        set_reason(search, "the CUDA backend %s can't be opened: %s", path, dlerror());
        return NULL;
    }
    const struct cuda_object *object = dlsym(handle, "nade_cuda_object");
    if (!object)
        set_reason(search, "%s is no CUDA backend of nade: it has no nade_cuda_object", path);
    else if (strcmp(object->build, NADE_BUILD) != 0) {
        set_reason(search, "%s belongs to nade %s, this is nade %s: build both from the same sources", path,
                   object->build, NADE_BUILD);
        object = NULL;
    }
    dlclose(handle);
    return object;
}

static void use_object(struct cuda_search *search, const char *path)
{
    char why[ND_SENTENCE / 2] = "";
    search->state = CUDA_UNUSABLE;
    const struct cuda_object *object = open_object(search, path);
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
    char path[PATH_BYTES];
    if (search->state != CUDA_UNSOUGHT) return search;
    const char *named = secure_getenv("NADE_CUDA_BACKEND");
    if (named && named[0] == '\0') {
        search->state = CUDA_ABSENT;
        set_reason(search, "the environment variable NADE_CUDA_BACKEND is empty, which switches CUDA off");
    } else if (named) {
        snprintf(path, sizeof path, "%s%s", strchr(named, '/') ? "" : "./", named); /* a file, no name to search for */
        use_object(search, path);
    } else if (find_file(path)) {
        use_object(search, path);
    } else {
        search->state = CUDA_ABSENT;
        set_reason(search, "the CUDA backend " OBJECT_NAME " is not installed: build it with `make cuda`, or name the "
                           "file in the environment variable NADE_CUDA_BACKEND");
    }
    return search;
}
