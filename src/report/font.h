/* A bitmap font for the numbers that stand in pictures. */
#ifndef ND_REPORT_FONT_H
#define ND_REPORT_FONT_H

#include <stdbool.h>
#include <stddef.h>

/* Size of a glyph in dots; one dot of space follows each. */
enum { ND_GLYPH_HEIGHT = 7, ND_GLYPH_WIDTH = 5, ND_GLYPH_STEP = ND_GLYPH_WIDTH + 1 };

/* The characters that the font has: those of numbers, inf and nan among them. */
#define ND_FONT_CHARACTERS "0123456789-.ainf"

/* Whether the dot in line y from the top, x from the left, belongs to a character of the font. */
bool nd_glyph_dot(char character, size_t y, size_t x);

#endif
