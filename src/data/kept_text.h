/* Texts kept one after the other, for tables that remember what their cells looked like. */
#ifndef ND_DATA_KEPT_TEXT_H
#define ND_DATA_KEPT_TEXT_H

#include "base/memory.h"

/* Begins all zero but for the allocator. */
struct kept_text {
    nade_allocator allocator;
    char *bytes; /* (used) each text ends with a zero */
    size_t used, capacity;
    size_t *begin; /* (count) of each text in bytes */
    size_t count, begin_capacity;
};

/* Adds a text; false: no memory. */
bool nd_kept_add(struct kept_text *kept, const char *text, size_t length);

/* Adds a text as a CSV file with this separator would have it: in double quotes where it needs them. */
bool nd_kept_add_quoted(struct kept_text *kept, const char *text, size_t length, char separator);

void nd_kept_free(struct kept_text *kept);

static inline const char *nd_kept_text(const struct kept_text *kept, size_t number)
{
    return kept->bytes + kept->begin[number];
}

#endif
