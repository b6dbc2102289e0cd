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

size_t nd_utf8_sequence(const char *bytes, size_t room)
{
    const unsigned char *text = (const unsigned char *)bytes;
    uint32_t point = 0, least = 0;
    size_t length = room > 0 ? sequence_length(text[0], &point, &least) : 0;
    if (length > room) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        point = point << 6 | (text[i] & 0x3Fu);
    }
    if (point < least || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return 0;
    return length;
}

bool nd_utf8_valid(const char *text)
{
    /* The text's final zero ends any sequence. */
    while (*text) {
        size_t length = nd_utf8_sequence(text, 4);
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

uint32_t nd_utf8_point(const char *sequence, size_t length)
{
    uint32_t point = 0, least;
    sequence_length((unsigned char)sequence[0], &point, &least);
    for (size_t i = 1; i < length; i++) point = point << 6 | ((unsigned char)sequence[i] & 0x3Fu);
    return point;
}

const char *nd_utf8_text(struct arena *arena, const char *text)
{
    if (nd_utf8_valid(text)) return text;
    char *converted = nd_arena_alloc(arena, strlen(text) + 1, 2);
    if (!converted) return NULL;
    char *to = converted;
    for (const unsigned char *from = (const unsigned char *)text; *from; from++) {
        if (*from < 0x80) {
            *to++ = (char)*from;
        } else {
            *to++ = (char)(0xC0 | *from >> 6);
            *to++ = (char)(0x80 | (*from & 0x3F));
        }
    }
    return converted;
}
