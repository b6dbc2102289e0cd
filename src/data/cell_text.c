#include "data/cell_text.h"

#include <string.h>

#include "base/utf8.h"

bool nd_same_word(const char *text, size_t length, const char *word)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (word[i] == '\0' || c != word[i]) return false;
    }
    return word[length] == '\0';
}

bool nd_is_code(const char *text, size_t length)
{
    if (length < 2 || text[0] != '0') return false;
    for (size_t i = 1; i < length; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return true;
}

/* As much of a text in Windows-1252 as room bytes of UTF-8 hold; returns these. */
static size_t read_windows(const char *text, size_t length, char *to, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        char letter[4];
        uint32_t point = nd_windows_point((unsigned char)text[i]);
        size_t bytes = nd_utf8_put(point >= 0x80 && point < 0xA0 ? '?' : point, letter);
        if (used + bytes > room) break;
        memcpy(to + used, letter, bytes);
        used += bytes;
    }
    to[used] = '\0';
    return used;
}

const char *nd_excerpt(const char *text, size_t length, char excerpt[ND_EXCERPT])
{
    static const char dots[] = "...";
    size_t room = ND_EXCERPT - sizeof dots;
    size_t kept = length;
    if (length > room) {
        kept = room;
        while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80) kept--;
    }
    memcpy(excerpt, text, kept);
    excerpt[kept] = '\0';
    if (!nd_utf8_valid(excerpt)) kept = read_windows(text, length, excerpt, room);
    for (size_t i = 0; i < kept; i++) {
        unsigned char c = (unsigned char)excerpt[i];
        if (c < 0x20 || c == 0x7F) excerpt[i] = '?';
    }
    if (length > room) memcpy(excerpt + kept, dots, sizeof dots);
    return excerpt;
}
