#include "base/utf8.h"

#include <stddef.h>
#include <stdint.h>
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

/* The bytes of the well-formed sequence at text, 0 when it is none.  The text's final zero ends any sequence. */
static size_t valid_sequence(const unsigned char *text)
{
    uint32_t point = 0, least = 0;
    size_t length = sequence_length(text[0], &point, &least);
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        point = point << 6 | (text[i] & 0x3Fu);
    }
    if (point < least || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return 0;
    return length;
}

bool nd_utf8_valid(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    while (*at) {
        size_t length = valid_sequence(at);
        if (length == 0) return false;
        at += length;
    }
    return true;
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
