#include "base/utf8.h"

#include <string.h>

/* The bytes of the sequence that begins with lead, 0 when none does, and the smallest code point that needs them. */
static size_t sequence_length(unsigned char lead, uint32_t *bits, uint32_t *least)
{
    static const struct {
        unsigned char mask, pattern;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((lead & forms[i].mask) != forms[i].pattern) continue;
        *bits = lead & (unsigned char)~forms[i].mask;
        *least = forms[i].least;
        return i + 1;
    }
    return 0;
}

size_t nd_utf8_decode(const char *text, size_t room, uint32_t *point)
{
    uint32_t found = 0, least = 0;
    size_t length = room > 0 ? sequence_length((unsigned char)text[0], &found, &least) : 0;
    if (length == 0 || length > room) return 0;
    for (size_t i = 1; i < length; i++) {
        unsigned char next = (unsigned char)text[i];
        if ((next & 0xC0) != 0x80) return 0;
        found = found << 6 | (next & 0x3Fu);
    }
    if (found < least || found > 0x10FFFF || (found >= 0xD800 && found <= 0xDFFF)) return 0;
    *point = found;
    return length;
}

bool nd_utf8_valid(const char *text)
{
    uint32_t point;
    while (*text) {
        size_t length = nd_utf8_decode(text, 4, &point);
        if (length == 0) return false;
        text += length;
    }
    return true;
}

size_t nd_utf8_put(uint32_t point, char to[4])
{
    if (point < 0x80) {
        to[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--, point >>= 6) to[i] = (char)(0x80 | (point & 0x3F));
    to[0] = (char)((0xF00u >> length & 0xFF) | point);
    return length;
}

/* Of the bytes from 0x80 to 0x9F; the others are Latin-1's, whose code points are the bytes. */
static const uint16_t windows_points[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

uint32_t nd_windows_point(unsigned char byte)
{
    return byte >= 0x80 && byte < 0xA0 ? windows_points[byte - 0x80] : byte;
}

unsigned char nd_windows_byte(uint32_t point)
{
    for (unsigned byte = 0x80; byte < 0xA0; byte++)
        if (windows_points[byte - 0x80] == point) return (unsigned char)byte;
    return point < 0x80 || (point >= 0xA0 && point <= 0xFF) ? (unsigned char)point : 0;
}

const char *nd_utf8_text(struct arena *arena, const char *text)
{
    if (nd_utf8_valid(text)) return text;
    char *converted = nd_arena_alloc(arena, strlen(text) + 1, 3);
    if (!converted) return NULL;
    char *to = converted;
    for (; *text; text++) to += nd_utf8_put(nd_windows_point((unsigned char)*text), to);
    *to = '\0';
    return converted;
}
