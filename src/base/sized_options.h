/* Option structures of the public header begin with their own size, so that callers compiled against an older header
 * keep working: only what both sides know is copied. */
#ifndef ND_BASE_SIZED_OPTIONS_H
#define ND_BASE_SIZED_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* False for a structure whose size was never set, and for one from a newer header that uses something unknown here. */
static inline bool nd_options_valid(const void *options, size_t known)
{
    size_t size;
    memcpy(&size, options, sizeof size);
    if (size <= sizeof size) return false;
    for (size_t i = known; i < size; i++)
        if (((const char *)options)[i] != 0) return false;
    return true;
}

/* Copies the part of a sized structure that both sides have; the target's own size
 * field is kept. */
static inline void nd_options_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
    size_t common = to_size < from_size ? to_size : from_size;
    if (common > sizeof(size_t))
        memcpy((char *)to + sizeof(size_t), (const char *)from + sizeof(size_t), common - sizeof(size_t));
    if (to_size >= sizeof(size_t)) memcpy(to, &to_size, sizeof(size_t));
}

/* For *_init: the defaults, and zeros behind what this library knows. */
static inline void nd_options_init(void *to, size_t to_size, const void *defaults, size_t known)
{
    memset(to, 0, to_size);
    nd_options_copy(to, to_size, defaults, known);
}

#endif
