/* A bitmap font for the texts that stand in pictures: printable ASCII. */
#ifndef CLI_FONT_H
#define CLI_FONT_H

#include <stdbool.h>
#include <stddef.h>

/* Size of a glyph in dots above the line it stands on; letters such as g reach GLYPH_DEPTH below it.  One dot of
 * space follows each. */
enum { GLYPH_HEIGHT = 7, GLYPH_DEPTH = 2, GLYPH_WIDTH = 5, GLYPH_STEP = GLYPH_WIDTH + 1 };

/* The text's first characters that the font has, as strspn counts. */
size_t font_span(const char *text);

/* Whether the dot in line y from the top, x from the left, belongs to a character of the font. */
bool glyph_dot(char character, size_t y, size_t x);

#endif
