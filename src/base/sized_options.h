/* Option structures of the public header begin with their own size, so that callers compiled against an older header
 * keep working: only what both sides know is copied. */
#ifndef ND_BASE_SIZED_OPTIONS_H
#define ND_BASE_SIZED_OPTIONS_H

#include <stddef.h>
#include <string.h>

/* Copies the part of a sized structure that both sides have; the target's own size field is kept. */
static inline void nd_options_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
    size_t common = to_size < from_size ? to_size : from_size;
    if (common > sizeof(size_t))
        memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t), common - sizeof(size_t));
    if (to_size >= sizeof(size_t)) memcpy(to, &to_size, sizeof(size_t));
}

#endif
