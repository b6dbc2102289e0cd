#include "printable.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Control characters; Unicode's Default_Ignorable_Code_Point, which are not seen (soft hyphen, joiners, fillers, marks
 * and overrides of direction, variation selectors, tags); separators of lines and paragraphs; annotations; what is no
 * character. */
static bool is_misleading(uint32_t point)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0000, 0x001F}, {0x007F, 0x009F}, {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C},
        {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},
        {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},
        {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges[i].first && point <= ranges[i].last) return true;
    return (point & 0xFFFE) == 0xFFFE;
}

/* The bytes of the character at text, and whether it may be printed; a byte that is no UTF-8 stands for itself. */
static size_t read_character(const char *text, uint32_t *point, bool *safe)
{
    size_t length = nd_utf8_decode(text, 4, point);
    *safe = length > 0 && !is_misleading(*point);
    return length ? length : 1;
}

const char *printable(const char *text, char *buffer, size_t limit)
{
    size_t used = 0, kept = 0; /* kept: as much as fits before "..." */
    uint32_t point;
    bool safe;
    while (*text) {
        char letter[4];
        size_t length = read_character(text, &point, &safe), room = safe ? length : 1;
        const char *shown = safe ? text : "?";
        if (nd_utf8_decode(text, 4, &point) == 0 && !is_misleading(nd_windows_point((unsigned char)*text))) {
            room = nd_utf8_put(nd_windows_point((unsigned char)*text), letter);
            shown = letter;
        }
        if (used + room > limit) {
            memcpy(buffer + kept, "...", 4);
            return buffer;
        }
        memcpy(buffer + used, shown, room);
        used += room;
        text += length;
        if (used + 3 <= limit) kept = used;
    }
    buffer[used] = '\0';
    return buffer;
}

void make_page_printable(char *text)
{
    char *to = text;
    uint32_t point;
    bool safe;
    while (*text) {
        size_t length = read_character(text, &point, &safe);
        if (!safe && *text != '\n') *text = '?';
        size_t kept = safe ? length : 1;
        memmove(to, text, kept);
        to += kept;
        text += length;
    }
    *to = '\0';
}

enum { ESCAPE_SIZE = 13 };

/* Beyond U+FFFF JSON's escapes are UTF-16's pairs. */
static size_t escape(uint32_t point, char *to)
{
    char text[ESCAPE_SIZE];
    unsigned high = 0xD7C0u + (unsigned)(point >> 10), low = 0xDC00u + (unsigned)(point & 0x3FF);
    int length = point < 0x10000 ? snprintf(text, sizeof text, "\\u%04X", (unsigned)point)
                                 : snprintf(text, sizeof text, "\\u%04X\\u%04X", high, low);
    memcpy(to, text, (size_t)length);
    return (size_t)length;
}

/* A character of two bytes or more becomes at most 12, and those of one byte that JSON allows are left: line ends and
 * tabs between its words, and DEL, which becomes 6. */
char *printable_json(const char *text)
{
    size_t size = strlen(text);
    char *copy = size < SIZE_MAX / 6 - 1 ? malloc(6 * size + 1) : NULL, *to = copy;
    uint32_t point;
    bool safe;
    while (copy && *text) {
        size_t length = read_character(text, &point, &safe);
        bool kept = safe || (unsigned char)*text < 0x20 || nd_utf8_decode(text, 4, &point) == 0;
        if (kept) memcpy(to, text, length);
        to += kept ? length : escape(point, to);
        text += length;
    }
    if (copy) *to = '\0';
    return copy;
}
