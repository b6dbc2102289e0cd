/* A bitmap font for the texts that stand in pictures: printable ASCII. */
#ifndef ND_REPORT_FONT_H
#define ND_REPORT_FONT_H

#include <stdbool.h>
#include <stddef.h>

/* Size of a glyph in dots above the line it stands on; letters such as g reach ND_GLYPH_DEPTH below it.  One dot of
 * space follows each. */
enum { ND_GLYPH_HEIGHT = 7, ND_GLYPH_DEPTH = 2, ND_GLYPH_WIDTH = 5, ND_GLYPH_STEP = ND_GLYPH_WIDTH + 1 };

/* The text's first characters that the font has, as strspn counts. */
size_t nd_font_span(const char *text);

/* Whether the dot in line y from the top, x from the left, belongs to a character of the font. */
bool nd_glyph_dot(char character, size_t y, size_t x);

#endif
