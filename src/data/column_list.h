/* COLS lists: the user's way to name columns (docs/formats.md). */
#ifndef ND_DATA_COLUMN_LIST_H
#define ND_DATA_COLUMN_LIST_H

#include <stdbool.h>

#include "base/context.h"

/* Parses a COLS list ("age,3,5-7,'a,b'": names, zero-based numbers, ranges; a name wins over a number) into
 * chosen (count) flags.  A name that is NULL is that of a column that was left out.  what ("`drop`") begins the
 * sentence when it fails. */
nade_status nd_parse_columns(nade_context *context, const char *what, const char *list, const char *const *names,
                             size_t count, bool *chosen);

/* Whether one of the list's items is this name. */
bool nd_list_names(nade_context *context, const char *list, const char *name);

#endif
