/* Lists of column names. */
#ifndef ND_DATA_NAMES_H
#define ND_DATA_NAMES_H

#include "base/memory.h"

enum names_result { NAMES_DISTINCT, NAMES_EQUAL, NAMES_NO_MEMORY };

/* Looks for two equal names; *first < *second are their places.  Entries that are NULL are left out. */
enum names_result nd_find_equal_names(const nade_allocator *allocator, const char *const *names, size_t count,
                                      size_t *first, size_t *second);

#endif
