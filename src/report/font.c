#include "report/font.h"

#include <string.h>

/* The lines of each glyph, in the order of ND_FONT_CHARACTERS. */
static const char glyphs[][ND_GLYPH_HEIGHT][ND_GLYPH_WIDTH + 1] = {
    {" ### ", "#   #", "#  ##", "# # #", "##  #", "#   #", " ### "}, /* 0 */
    {"  #  ", " ##  ", "  #  ", "  #  ", "  #  ", "  #  ", " ### "}, /* 1 */
    {" ### ", "#   #", "    #", "   # ", "  #  ", " #   ", "#####"}, /* 2 */
    {"#####", "   # ", "  #  ", "   # ", "    #", "#   #", " ### "}, /* 3 */
    {"   # ", "  ## ", " # # ", "#  # ", "#####", "   # ", "   # "}, /* 4 */
    {"#####", "#    ", "#### ", "    #", "    #", "#   #", " ### "}, /* 5 */
    {"  ## ", " #   ", "#    ", "#### ", "#   #", "#   #", " ### "}, /* 6 */
    {"#####", "    #", "   # ", "  #  ", " #   ", " #   ", " #   "}, /* 7 */
    {" ### ", "#   #", "#   #", " ### ", "#   #", "#   #", " ### "}, /* 8 */
    {" ### ", "#   #", "#   #", " ####", "    #", "   # ", " ##  "}, /* 9 */
    {"     ", "     ", "     ", "#####", "     ", "     ", "     "}, /* - */
    {"     ", "     ", "     ", "     ", "     ", " ##  ", " ##  "}, /* . */
    {"     ", "     ", " ### ", "    #", " ####", "#   #", " ####"}, /* a */
    {"  #  ", "     ", " ##  ", "  #  ", "  #  ", "  #  ", " ### "}, /* i */
    {"     ", "     ", "# ## ", "##  #", "#   #", "#   #", "#   #"}, /* n */
    {"  ## ", " #  #", " #   ", "###  ", " #   ", " #   ", " #   "}, /* f */
};

_Static_assert(sizeof glyphs / sizeof *glyphs == sizeof ND_FONT_CHARACTERS - 1, "a glyph for each character");

bool nd_glyph_dot(char character, size_t y, size_t x)
{
    const char *at = strchr(ND_FONT_CHARACTERS, character);
    if (!at || character == '\0' || y >= ND_GLYPH_HEIGHT || x >= ND_GLYPH_WIDTH) return false;
    return glyphs[at - ND_FONT_CHARACTERS][y][x] == '#';
}
