#define _GNU_SOURCE /* dladdr */

#include "loaded_symbol.h"

#include <dlfcn.h>
#include <stddef.h>

void *loaded_symbol(void *neighbour, const char *name)
{
    Dl_info where;
    if (!dladdr(neighbour, &where)) return NULL;
    void *object = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    void *symbol = object ? dlsym(object, name) : NULL;
    if (object) dlclose(object);
    return symbol;
}
