#define _GNU_SOURCE /* dladdr1: which file this code is in */
#include "backend/object_file.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = ND_PATH_BYTES, WHY = 512 };

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

static bool is_file(char path[PATH_BYTES], const char *folder, const char *rest, const char *name)
{
    int length = snprintf(path, PATH_BYTES, "%s%s%s", folder, rest, name);
    return length > 0 && length < PATH_BYTES && access(path, F_OK) == 0;
}

/* Beside this code, where a build and a wheel have it; in the library's folder as seen from the command, for an
 * installation that was moved as a whole; where it was to be installed. */
bool nd_object_find(const struct object_file *object, char path[PATH_BYTES])
{
    char folder[PATH_BYTES];
    if (own_folder(folder)) {
        const char *const places[] = {"", "../" NADE_LIBRARY_FOLDER "/nade/"};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (is_file(path, folder, places[i], object->name)) return true;
    }
    return is_file(path, NADE_INSTALLED_FOLDER, "/nade/", object->name);
}

void nd_object_named(const char *named, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s%s", strchr(named, '/') ? "" : "./", named);
}

/* ---- what ------------------------------------------------------------------------------------------------------- */

/* dlopen runs the object's code and that of the libraries which it looks for beside itself first: nobody but the user
 * and root may have had a hand in either. */
static bool is_trusted(const struct object_file *object, const char *path, char resolved[PATH_BYTES], char *reason,
                       size_t size)
{
    char why[WHY];
    if (nd_trusted_file(path, resolved, why, sizeof why) &&
        (!object->neighbours || nd_trusted_neighbours(resolved, object->neighbours, why, sizeof why)))
        return true;
    snprintf(reason, size, "the %s %s is not opened: %s", object->what, path, why);
    return false;
}

const void *nd_object_open(const struct object_file *object, const char *path, char *reason, size_t size)
{
    char resolved[PATH_BYTES];
    if (!is_trusted(object, path, resolved, reason, size)) return NULL;
    void *handle = dlopen(resolved, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        snprintf(reason, size, "the %s %s can't be opened: %s", object->what, path, dlerror());
        return NULL;
    }
    const char *const *found = dlsym(handle, object->symbol);
    if (!found)
        snprintf(reason, size, "%s is no %s of nade: it has no %s", path, object->what, object->symbol);
    else if (strcmp(*found, NADE_BUILD) != 0) {
        snprintf(reason, size, "%s belongs to nade %s, this is nade %s: build both from the same sources", path, *found,
                 NADE_BUILD);
        found = NULL;
    }
    dlclose(handle);
    return found;
}
