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

void nd_kept_free(struct kept_text *kept)
{
    nd_free(&kept->allocator, kept->bytes);
    nd_free(&kept->allocator, kept->begin);
    *kept = (struct kept_text){.allocator = kept->allocator};
}
