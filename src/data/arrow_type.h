/* The formats of Arrow's columns, as far as a table can hold what is in them. */
#ifndef ND_DATA_ARROW_TYPE_H
#define ND_DATA_ARROW_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arrow_kind {
    ARROW_OTHER, /* is refused */
    ARROW_EMPTY, /* no cell is there */
    ARROW_TRUTH,
    ARROW_SIGNED,
    ARROW_UNSIGNED,
    ARROW_FLOAT,
    ARROW_DECIMAL,
    ARROW_DATE,
    ARROW_TEXT,
    ARROW_VIEW /* texts that lie in several buffers, short ones beside their lengths */
};

struct arrow_type {
    enum arrow_kind kind;
    size_t bytes;       /* of an item; of ARROW_TEXT of an offset; 0: bits */
    int scale;          /* of decimals: digits behind the point, or zeros before it where negative */
    int64_t per_second; /* of dates: as many items are a second; 0: an item is a day */
    bool zoned;         /* of dates: they are UTC, else by a clock nobody knows */
};

/* What a schema's format says.  "u", "tsu:UTC" and their like: the standard has the list. */
struct arrow_type nd_arrow_type(const char *format);

static inline bool nd_arrow_is_text(const struct arrow_type *type)
{
    return type->kind == ARROW_TEXT || type->kind == ARROW_VIEW;
}

#endif
