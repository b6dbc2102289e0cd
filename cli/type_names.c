#include "type_names.h"

#include <stdio.h>
#include <string.h>

size_t type_count(void)
{
    size_t count = 0;
    while (count < TYPES_MOST && nade_type_name((nade_type)count)) count++;
    return count;
}

nade_type listed_type(size_t i)
{
    if (i + 1 == type_count()) return NADE_REAL;
    return (nade_type)(i < NADE_REAL ? i : i + 1);
}

bool find_type(const char *name, nade_type *type)
{
    for (size_t i = 0; i < type_count(); i++) {
        *type = (nade_type)i;
        if (strcmp(nade_type_name(*type), name) == 0) return true;
    }
    return false;
}

const char *name_types(char text[TYPES_TEXT])
{
    size_t count = type_count(), used = 0;
    for (size_t i = 0; i < count && used < TYPES_TEXT; i++) {
        const char *before = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        used += (size_t)snprintf(text + used, TYPES_TEXT - used, "%s%s", before, nade_type_name((nade_type)i));
    }
    return text;
}
