/* Text for files that must be UTF-8, from data that need not be. */
#ifndef ND_BASE_UTF8_H
#define ND_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* The bytes of the well-formed sequence that begins the room bytes at text, and its code point; 0 when none does.  Of a
 * text that a zero ends, any room of 4 or more will do. */
size_t nd_utf8_decode(const char *text, size_t room, uint32_t *point);

/* The sequence of a code point: returns its bytes. */
size_t nd_utf8_put(uint32_t point, char to[4]);

/* True for well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF. */
bool nd_utf8_valid(const char *text);

/* The text itself when it is UTF-8, else a copy in the arena that reads each byte as Windows-1252, of which Latin-1 is
 * a part: that never fails and keeps different texts of one such file different.  NULL: no memory. */
const char *nd_utf8_text(struct arena *arena, const char *text);

/* The code point of a byte of Windows-1252; those five that have none stand for themselves. */
uint32_t nd_windows_point(unsigned char byte);

/* The byte of Windows-1252 that a code point has; 0: none. */
unsigned char nd_windows_byte(uint32_t point);

#endif
