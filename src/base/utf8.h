/* Text for files that must be UTF-8, from data that need not be. */
#ifndef ND_BASE_UTF8_H
#define ND_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* The bytes of the well-formed sequence that begins the room bytes at text; 0 when none does. */
size_t nd_utf8_sequence(const char *text, size_t room);

/* The code point of a well-formed sequence, and the sequence of a code point: returns its bytes. */
uint32_t nd_utf8_point(const char *sequence, size_t length);
size_t nd_utf8_put(uint32_t point, char to[4]);

/* True for well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool nd_utf8_valid(const char *text);

/* The text itself when it is UTF-8, else a copy in the arena that reads each byte as Latin-1, which never fails and
 * keeps different texts of one such file different.  NULL: no memory. */
const char *nd_utf8_text(struct arena *arena, const char *text);

#endif
