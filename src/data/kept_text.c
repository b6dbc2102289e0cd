#include "data/kept_text.h"

#include <string.h>

static bool make_room(struct kept_text *kept, size_t length)
{
    if (kept->count == kept->begin_capacity) {
        size_t capacity = kept->begin_capacity ? 2 * kept->begin_capacity : 64;
        size_t *grown = nd_grow(&kept->allocator, kept->begin, kept->count, capacity, sizeof *grown);
        if (!grown) return false;
        kept->begin = grown;
        kept->begin_capacity = capacity;
    }
    if (kept->capacity - kept->used > length) return true;
    size_t capacity = 2 * kept->capacity + length + 64;
    char *grown = nd_grow(&kept->allocator, kept->bytes, kept->used, capacity, 1);
    if (!grown) return false;
    kept->bytes = grown;
    kept->capacity = capacity;
    return true;
}

bool nd_kept_add(struct kept_text *kept, const char *text, size_t length)
{
    if (!make_room(kept, length)) return false;
    kept->begin[kept->count++] = kept->used;
    memcpy(kept->bytes + kept->used, text, length);
    kept->bytes[kept->used + length] = '\0';
    kept->used += length + 1;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool needs_quotes(const char *text, size_t length, char separator)
{
    const char special[] = {'"', '\n', '\r', separator, '\0'};
    for (size_t i = 0; i < length; i++)
        if (strchr(special, text[i])) return true;
    return length > 0 && (is_blank(text[0]) || is_blank(text[length - 1]));
}

bool nd_kept_add_quoted(struct kept_text *kept, const char *text, size_t length, char separator)
{
    if (!needs_quotes(text, length, separator)) return nd_kept_add(kept, text, length);
    if (!make_room(kept, 2 * length + 2)) return false;
    kept->begin[kept->count++] = kept->used;
    kept->bytes[kept->used++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') kept->bytes[kept->used++] = '"';
        kept->bytes[kept->used++] = text[i];
    }
    kept->bytes[kept->used++] = '"';
    kept->bytes[kept->used++] = '\0';
    return true;
}

void nd_kept_free(struct kept_text *kept)
{
    nd_free(&kept->allocator, kept->bytes);
    nd_free(&kept->allocator, kept->begin);
    *kept = (struct kept_text){.allocator = kept->allocator};
}
