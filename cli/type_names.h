/* The types of columns that the library knows, so that a new one needs no word here. */
#ifndef CLI_TYPE_NAMES_H
#define CLI_TYPE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "nade/nade.h"

enum { TYPES_MOST = 32, TYPES_TEXT = 512 };

/* How many there are, at most TYPES_MOST: the values 0, 1, ... of nade_type. */
size_t type_count(void);

/* Type number i in the order in which lists of columns are applied: real columns last. */
nade_type listed_type(size_t i);

/* The type of that name. */
bool find_type(const char *name, nade_type *type);

/* All of them in the order of nade_type, as in "binary, real or categorical". */
const char *name_types(char text[TYPES_TEXT]);

#endif
