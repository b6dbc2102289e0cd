#include "data/npy_header.h"

#include <stdint.h>
#include <string.h>

#include "base/fault.h"
#include "data/cell_text.h"

enum { MAGIC_BYTES = 6, PREFIX_BYTES = 12, HEADER_MOST = 1 << 20, DIMENSIONS_MOST = 32 };

static const unsigned char magic[MAGIC_BYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* The header's text, a Python dictionary, while it is being read.  The first fault stops everything. */
struct cursor {
    struct source *source;
    const char *at, *end;
    nade_status status;
};

enum recognition nd_is_npy(const unsigned char *bytes, size_t count)
{
    return nd_recognise(bytes, count, magic, MAGIC_BYTES);
}

static void refuse(struct cursor *cursor, const char *expected)
{
    char excerpt[ND_EXCERPT];
    if (cursor->status != NADE_OK) return;
    size_t left = (size_t)(cursor->end - cursor->at);
    cursor->status = nd_fail(cursor->source->context, NADE_BAD_INPUT, "%s: the NPY header holds '%s', expected %s",
                             cursor->source->path, nd_excerpt(cursor->at, left, excerpt), expected);
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n')) cursor->at++;
}

/* Takes the character c, after blanks, if it is next. */
static bool take(struct cursor *cursor, char c)
{
    skip_blanks(cursor);
    if (cursor->status != NADE_OK || cursor->at == cursor->end || *cursor->at != c) return false;
    cursor->at++;
    return true;
}

static bool take_word(struct cursor *cursor, const char *word)
{
    size_t length = strlen(word);
    skip_blanks(cursor);
    if (cursor->status != NADE_OK || (size_t)(cursor->end - cursor->at) < length) return false;
    if (memcmp(cursor->at, word, length) != 0) return false;
    cursor->at += length;
    return true;
}

/* A quoted text without escapes, which no key or type of ours needs. */
static bool take_quoted(struct cursor *cursor, const char **text, size_t *length)
{
    skip_blanks(cursor);
    if (cursor->status != NADE_OK || cursor->at == cursor->end) return false;
    char quote = *cursor->at;
    if (quote != '\'' && quote != '"') return false;
    const char *close = memchr(cursor->at + 1, quote, (size_t)(cursor->end - cursor->at - 1));
    if (!close) return false;
    *text = cursor->at + 1;
    *length = (size_t)(close - *text);
    cursor->at = close + 1;
    return true;
}

static bool take_size(struct cursor *cursor, size_t *size)
{
    skip_blanks(cursor);
    const char *start = cursor->at;
    *size = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        size_t digit = (size_t)(*cursor->at - '0');
        if (*size > (SIZE_MAX - digit) / 10) {
            cursor->at = start;
            return false;
        }
        *size = *size * 10 + digit;
    }
    bool any = cursor->at > start;
    if (any) take(cursor, 'L'); /* Python 2 wrote long integers so */
    return any;
}

static void read_descr(struct cursor *cursor, struct array_layout *layout)
{
    static const char expected[] = "the type b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 or f8";
    static const char types[][3] = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"};
    const char *before = cursor->at, *text;
    size_t length;
    if (take_quoted(cursor, &text, &length) && length == 3 && strchr("<>|", text[0])) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            if (memcmp(text + 1, types[i], 2) != 0 || (text[0] == '|' && text[2] != '1')) continue;
            layout->kind = text[1];
            layout->size = (size_t)(text[2] - '0');
            layout->big_endian = text[0] == '>';
            return;
        }
    }
    cursor->at = before;
    refuse(cursor, expected);
}

static void read_order(struct cursor *cursor, struct array_layout *layout)
{
    layout->fortran = take_word(cursor, "True");
    if (!layout->fortran && !take_word(cursor, "False")) refuse(cursor, "True or False for fortran_order");
    if (ND_FAULT(FAULT_FORTRAN_AS_C)) layout->fortran = false;
}

static void read_shape(struct cursor *cursor, struct array_layout *layout)
{
    size_t shape[DIMENSIONS_MOST] = {0, 1};
    size_t dimensions = 0;
    bool comma = false;
    if (!take(cursor, '(')) refuse(cursor, "a shape like (100, 20)");
    while (cursor->status == NADE_OK && !take(cursor, ')')) {
        if ((dimensions > 0 && !comma) || dimensions == DIMENSIONS_MOST || !take_size(cursor, &shape[dimensions])) {
            refuse(cursor, "a shape like (100, 20)");
            return;
        }
        dimensions++;
        comma = take(cursor, ',');
    }
    if (cursor->status == NADE_OK && (dimensions == 0 || dimensions > 2))
        cursor->status = nd_fail(cursor->source->context, NADE_BAD_INPUT,
                                 "%s: the array has %zu dimensions, expected 1 or 2", cursor->source->path, dimensions);
    layout->rows = shape[0];
    layout->columns = shape[1];
}

static const struct entry {
    const char *key;
    void (*read)(struct cursor *cursor, struct array_layout *layout);
} entries[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};

enum { ENTRIES = sizeof entries / sizeof *entries };

/* Reads one key and its value; each must come exactly once. */
static void read_entry(struct cursor *cursor, struct array_layout *layout, bool *seen)
{
    const char *before = cursor->at, *key;
    size_t length;
    if (take_quoted(cursor, &key, &length) && take(cursor, ':')) {
        for (size_t i = 0; i < ENTRIES; i++) {
            if (seen[i] || strlen(entries[i].key) != length || memcmp(entries[i].key, key, length) != 0) continue;
            seen[i] = true;
            entries[i].read(cursor, layout);
            return;
        }
    }
    cursor->at = before;
    refuse(cursor, "'descr', 'fortran_order' and 'shape', each once");
}

static nade_status read_dictionary(struct cursor *cursor, struct array_layout *layout)
{
    bool seen[ENTRIES] = {false};
    bool comma = true;
    if (!take(cursor, '{')) refuse(cursor, "a dictionary in braces");
    while (cursor->status == NADE_OK && !take(cursor, '}')) {
        if (!comma) refuse(cursor, "a comma or a closing brace");
        read_entry(cursor, layout, seen);
        comma = take(cursor, ',');
    }
    skip_blanks(cursor);
    if (cursor->at != cursor->end) refuse(cursor, "blanks alone after the closing brace");
    for (size_t i = 0; i < ENTRIES; i++)
        if (!seen[i] && cursor->status == NADE_OK)
            cursor->status = nd_fail(cursor->source->context, NADE_BAD_INPUT, "%s: the NPY header lacks '%s'",
                                     cursor->source->path, entries[i].key);
    return cursor->status;
}

/* Takes magic, version and length, and makes the header's text available. */
static nade_status look_at_text(struct source *source, size_t *length)
{
    nade_status status = nd_source_look(source, PREFIX_BYTES);
    if (status != NADE_OK) return status;
    const unsigned char *bytes = source->buffer + source->begin;
    if (nd_source_available(source) < PREFIX_BYTES)
        return nd_fail(source->context, NADE_BAD_INPUT, "%s: the NPY header is cut off", source->path);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return nd_fail(source->context, NADE_BAD_INPUT, "%s: is NPY version %d.%d, expected 1.0, 2.0 or 3.0",
                       source->path, bytes[6], bytes[7]);
    *length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1) *length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    source->begin += bytes[6] > 1 ? 12 : 10;
    if (*length > HEADER_MOST)
        return nd_fail(source->context, NADE_BAD_INPUT, "%s: the NPY header claims %zu bytes, expected at most %d",
                       source->path, *length, HEADER_MOST);
    status = nd_source_look(source, *length);
    if (status == NADE_OK && nd_source_available(source) < *length)
        status = nd_fail(source->context, NADE_BAD_INPUT, "%s: the NPY header is cut off", source->path);
    return status;
}

nade_status nd_npy_header(struct source *source, struct array_layout *layout)
{
    size_t length = 0;
    nade_status status = look_at_text(source, &length);
    if (status != NADE_OK) return status;
    const char *text = (const char *)source->buffer + source->begin;
    struct cursor cursor = {source, text, text + length, NADE_OK};
    status = read_dictionary(&cursor, layout);
    source->begin += length;
    return status;
}
