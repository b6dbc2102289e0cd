/* JSON (RFC 8259): a strict reader of texts in memory, a writer of one growing text, and values as messages show them.
 *
 * The reader promises:
 * - Nothing is dropped: a text is read whole, or refused with the place and the reason, or there was no memory.
 * - Refused are: bytes that are no UTF-8, lone surrogates, zero characters inside texts, keys that an object repeats
 *   (also where one is written with escapes), integers beyond 64 bits, reals beyond the largest double, more than
 *   ND_JSON_DEPTH brackets inside each other, and anything behind the value.
 * - Numbers without point and exponent are integers and stay so; reals are the nearest doubles in every locale.
 * - Memory: 16 bytes a value, keys included, taken at once after the text has been found sound, and for a while 8
 *   bytes a key of the largest object.  Texts stay in the caller's bytes.
 * - Time: proportional to the text, with a logarithm of the keys of an object.  nd_json_get passes all keys before the
 *   one it looks for: walk large objects instead. */
#ifndef ND_BASE_JSON_H
#define ND_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* ---- reading ---------------------------------------------------------------------------------------------------- */

enum { ND_JSON_DEPTH = 64 };

enum json_kind { ND_NULL, ND_FALSE, ND_TRUE, ND_INTEGER, ND_REAL, ND_TEXT, ND_LIST, ND_OBJECT };

/* A value; those inside a list or object follow it, a key before each value of an object. */
struct json_value {
    union {
        int64_t integer;
        double real;
        const char *text; /* ends with a zero, and has none inside */
        size_t count;     /* of a list's entries, of an object's keys */
    } is;
    uint32_t extent; /* bytes of a text; values inside a list or object, theirs included; else 0 */
    uint8_t kind;
};

/* Why a text was refused. */
struct json_fault {
    const char *what; /* NULL: there was no memory */
    size_t offset;    /* the byte of the text */
};

/* Reads length bytes of text.  They are changed: texts are decoded where they stand, and the values point there.  The
 * values live in the arena.  NULL: see fault. */
const struct json_value *nd_json_read(struct arena *arena, char *text, size_t length, struct json_fault *fault);

/* All of these take NULL for a value that is not there. */
static inline bool nd_json_is(const struct json_value *value, enum json_kind kind)
{
    return value && value->kind == kind;
}

static inline bool nd_json_is_flag(const struct json_value *value)
{
    return nd_json_is(value, ND_TRUE) || nd_json_is(value, ND_FALSE);
}

static inline bool nd_json_is_number(const struct json_value *value)
{
    return nd_json_is(value, ND_INTEGER) || nd_json_is(value, ND_REAL);
}

/* An integer or real as a double; 0 for anything else. */
double nd_json_number(const struct json_value *value);

/* True for that text. */
bool nd_json_is_text(const struct json_value *value, const char *text);

/* The entries of a list, or the keys of an object; 0 for anything else. */
size_t nd_json_count(const struct json_value *value);

/* The first of the nd_json_count values inside a list, or keys of an object, and the one after it:
 *     for (i = 0, value = nd_json_first(list); i < nd_json_count(list); i++, value = nd_json_after(value))
 *     for (i = 0, key = nd_json_first(object); i < nd_json_count(object); i++, key = nd_json_after(key + 1)) */
static inline const struct json_value *nd_json_first(const struct json_value *value)
{
    return value ? value + 1 : NULL;
}

const struct json_value *nd_json_after(const struct json_value *value);

/* The value of a key; NULL when value is no object or has no such key. */
const struct json_value *nd_json_get(const struct json_value *value, const char *key);

/* ---- writing ---------------------------------------------------------------------------------------------------- */

/* Writes without blanks; reals with 17 digits, so that they read back exactly.  Begins as {.allocator = ...}.  What
 * goes wrong is remembered and seen by nd_json_written. */
struct json_writer {
    const nade_allocator *allocator;
    char *text; /* (length), with room for a zero */
    size_t length, capacity;
    bool comma;  /* before the next key or value */
    bool failed; /* for want of memory */
};

void nd_json_open(struct json_writer *writer, char bracket);
void nd_json_close(struct json_writer *writer, char bracket);
void nd_json_put_key(struct json_writer *writer, const char *key);
void nd_json_put_text(struct json_writer *writer, const char *text); /* UTF-8 */
void nd_json_put_integer(struct json_writer *writer, int64_t number);
void nd_json_put_real(struct json_writer *writer, double number); /* null where it is not finite: JSON has no word */
void nd_json_put_flag(struct json_writer *writer, bool flag);
void nd_json_put_null(struct json_writer *writer);

/* The text, which the writer keeps; NULL: no memory. */
const char *nd_json_written(struct json_writer *writer);

/* Frees the text; the writer may begin anew. */
void nd_json_discard(struct json_writer *writer);

enum { ND_JSON_NUMBER = 40, ND_JSON_ESCAPE = 8 };

/* A finite real as JSON: 17 digits, a point or an exponent in any case. */
void nd_json_format_real(double number, char text[ND_JSON_NUMBER]);

/* The escape of a character that may not stand in a text; 0 bytes when it may. */
size_t nd_json_escape(unsigned char character, char escape[ND_JSON_ESCAPE]);

/* ---- messages --------------------------------------------------------------------------------------------------- */

enum { ND_SHOWN = 64 };

/* A value as a message shows it: ASCII, cut after ND_SHOWN bytes; "missing" for NULL. */
const char *nd_show_json(const struct json_value *value, char text[ND_SHOWN]);

/* The same for a text, name or key that was found in a file: quoted, control characters escaped. */
const char *nd_show_text(const char *found, char text[ND_SHOWN]);

#endif
