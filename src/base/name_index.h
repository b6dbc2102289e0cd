/* Names in sorted order, so that one is found among many in a few comparisons.
 *
 * Sorted, not hashed: names come out of files that somebody may have made to collide, and a sorted list has no bad
 * case.  The sort is ours, since qsort may be quadratic where memory is short. */
#ifndef ND_BASE_NAME_INDEX_H
#define ND_BASE_NAME_INDEX_H

#include "base/memory.h"

struct placed_name {
    const char *name;
    size_t place;
};

/* All zero: no names. */
struct name_index {
    struct placed_name *entry; /* (count) by name, equal names by place */
    size_t count;
};

/* Sorts names, which stay the caller's and must outlive the index; those that are NULL are left out.  False: no memory.
 */
bool nd_names_sort(const nade_allocator *allocator, const char *const *names, size_t count, struct name_index *index);

void nd_names_free(const nade_allocator *allocator, struct name_index *index);

/* The entry with this name, the first of several; NULL: none.  Others of the same name are the next ones. */
const struct placed_name *nd_names_find(const struct name_index *index, const char *name);

/* The place of the first name that equals another one's, and of the first of these; false: all differ. */
bool nd_names_repeat(const struct name_index *index, size_t *first, size_t *second);

#endif
