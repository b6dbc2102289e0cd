/* The text is read twice by the same functions: first without storing anything, which finds whatever is wrong but
 * repeated keys and counts the values, then into memory of just that size. */
#include <string.h>

#include "base/json.h"
#include "base/numbers.h"
#include "base/utf8.h"

enum { KEYS_COMPARED = 8 }; /* up to so many, comparing all pairs is cheaper than sorting */

_Static_assert(sizeof(struct json_value) == 16, "json.h promises it");

struct parser {
    char *text;
    size_t length, at;
    struct json_value *values; /* NULL while they are counted */
    size_t used;
    const nade_allocator *allocator;
    const struct json_value **keys; /* (key_room) scratch for sorting */
    size_t key_room;
    struct json_fault *fault;
};

static bool wrong(struct parser *p, size_t offset, const char *what)
{
    *p->fault = (struct json_fault){what, offset};
    return false;
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

static int peek(const struct parser *p)
{
    return p->at < p->length ? (unsigned char)p->text[p->at] : -1;
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\n' || peek(p) == '\t' || peek(p) == '\r') p->at++;
}

/* Passes the character if it is the next one behind blanks. */
static bool take(struct parser *p, char character)
{
    skip_blanks(p);
    if (peek(p) != character) return false;
    p->at++;
    return true;
}

/* Adds a value, which is only counted at first; returns its number. */
static size_t add(struct parser *p, struct json_value value)
{
    if (p->values) p->values[p->used] = value;
    return p->used++;
}

static bool read_word(struct parser *p, const char *word, enum json_kind kind)
{
    size_t length = strlen(word);
    if (p->length - p->at < length || memcmp(p->text + p->at, word, length) != 0)
        return wrong(p, p->at, "there is no value");
    p->at += length;
    add(p, (struct json_value){.kind = (uint8_t)kind});
    return true;
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static bool skip_digits(struct parser *p)
{
    size_t begin = p->at;
    while (peek(p) >= '0' && peek(p) <= '9') p->at++;
    return p->at > begin;
}

/* Negative numbers have one more than positive ones, so digits are taken away from 0. */
static bool read_integer(struct parser *p, size_t begin)
{
    bool negative = p->text[begin] == '-';
    int64_t value = 0;
    for (size_t i = begin + negative; i < p->at; i++) {
        int digit = p->text[i] - '0';
        if (value < INT64_MIN / 10 || value * 10 < INT64_MIN + digit)
            return wrong(p, begin, "an integer has more than 64 bits");
        value = value * 10 - digit;
    }
    if (!negative && value == INT64_MIN) return wrong(p, begin, "an integer has more than 64 bits");
    add(p, (struct json_value){.kind = ND_INTEGER, .is.integer = negative ? value : -value});
    return true;
}

static bool read_number(struct parser *p)
{
    size_t begin = p->at;
    bool integer = true;
    double number = 0;
    if (peek(p) == '-') p->at++;
    bool zero = peek(p) == '0';
    if (zero) p->at++;
    if (!zero && !skip_digits(p)) return wrong(p, begin, "there is no value");
    if (peek(p) == '.') {
        integer = false;
        p->at++;
        if (!skip_digits(p)) return wrong(p, begin, "a number has no digits behind its point");
    }
    if (peek(p) == 'e' || peek(p) == 'E') {
        integer = false;
        p->at++;
        if (peek(p) == '+' || peek(p) == '-') p->at++;
        if (!skip_digits(p)) return wrong(p, begin, "a number has no digits in its exponent");
    }
    if (integer) return read_integer(p, begin);
    if (nd_parse_number(p->text + begin, p->at - begin, &number) != NUMBER_FINITE)
        return wrong(p, begin, "a number is too large");
    add(p, (struct json_value){.kind = ND_REAL, .is.real = number});
    return true;
}

/* ---- texts ------------------------------------------------------------------------------------------------------ */

static bool read_hexadecimal(struct parser *p, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++, p->at++) {
        int c = peek(p);
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c - 'A' + 10;
        if (digit < 0 || digit > 15 || (c > '9' && c < 'A')) return false;
        *unit = *unit << 4 | (uint32_t)digit;
    }
    return true;
}

/* What follows \u: one unit, or two that are a surrogate pair. */
static bool read_units(struct parser *p, uint32_t *point)
{
    size_t begin = p->at - 2;
    uint32_t low;
    if (!read_hexadecimal(p, point)) return wrong(p, begin, "an escape is none of JSON's");
    if (*point == 0) return wrong(p, begin, "a text holds a zero character");
    if (*point < 0xD800 || *point > 0xDFFF) return true;
    bool pair = *point < 0xDC00 && p->length - p->at >= 2 && memcmp(p->text + p->at, "\\u", 2) == 0;
    if (pair) p->at += 2;
    if (!pair || !read_hexadecimal(p, &low) || low < 0xDC00 || low > 0xDFFF)
        return wrong(p, begin, "a text holds half of a surrogate pair");
    *point = 0x10000 + ((*point - 0xD800) << 10 | (low - 0xDC00));
    return true;
}

static bool read_escape(struct parser *p, uint32_t *point)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    int letter = p->at + 1 < p->length ? p->text[p->at + 1] : 0;
    p->at += 2;
    if (letter == 'u') return read_units(p, point);
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (!known) return wrong(p, p->at - 2, "an escape is none of JSON's");
    *point = (uint32_t)meanings[known - letters];
    return true;
}

/* Moves one character to *to, unless that is NULL.  Escapes are longer than what they mean, so *to never overtakes
 * the place that is read. */
static bool read_character(struct parser *p, char **to)
{
    uint32_t point;
    char sequence[4];
    int c = peek(p);
    if (c < 0) return wrong(p, p->at, "a text does not end");
    if (c < 0x20) return wrong(p, p->at, "a text holds a control character");
    if (c == '\\') {
        if (!read_escape(p, &point)) return false;
        size_t length = nd_utf8_put(point, sequence);
        if (*to) memcpy(*to, sequence, length);
        if (*to) *to += length;
        return true;
    }
    size_t length = nd_utf8_decode(p->text + p->at, p->length - p->at, &point);
    if (length == 0) return wrong(p, p->at, "a text is no UTF-8");
    if (*to) memmove(*to, p->text + p->at, length);
    if (*to) *to += length;
    p->at += length;
    return true;
}

static bool read_text(struct parser *p)
{
    p->at++;
    char *begin = p->text + p->at, *to = p->values ? begin : NULL;
    while (peek(p) != '"')
        if (!read_character(p, &to)) return false;
    p->at++;
    if (to) *to = '\0';
    add(p, (struct json_value){.kind = ND_TEXT, .is.text = begin, .extent = to ? (uint32_t)(to - begin) : 0});
    return true;
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

static int compare_texts(const struct json_value *a, const struct json_value *b)
{
    if (a->extent != b->extent) return a->extent < b->extent ? -1 : 1;
    return memcmp(a->is.text, b->is.text, a->extent);
}

/* By text, then by place. */
static int in_order(const struct json_value *a, const struct json_value *b)
{
    int order = compare_texts(a, b);
    return order ? order : (a > b) - (a < b);
}

static bool refuse_key(struct parser *p, const struct json_value *key)
{
    return wrong(p, (size_t)(key->is.text - p->text) - 1, "an object repeats a key");
}

static bool check_few_keys(struct parser *p, const struct json_value *object)
{
    const struct json_value *key = nd_json_first(object);
    for (size_t i = 0; i < object->is.count; i++, key = nd_json_after(key + 1)) {
        const struct json_value *before = nd_json_first(object);
        for (size_t j = 0; j < i; j++, before = nd_json_after(before + 1))
            if (compare_texts(before, key) == 0) return refuse_key(p, key);
    }
    return true;
}

/* Lets the key at `root` sink in a heap of count keys, the last in order on top. */
static void sink_key(const struct json_value **keys, size_t root, size_t count)
{
    const struct json_value *sinking = keys[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && in_order(keys[child], keys[child + 1]) < 0) child++;
        if (in_order(keys[child], sinking) <= 0) break;
        keys[root] = keys[child];
    }
    keys[root] = sinking;
}

/* A heap sort: in place, and no choice of keys makes it slow, which qsort may be when memory is short. */
static void sort_keys(const struct json_value **keys, size_t count)
{
    for (size_t root = count / 2; root-- > 0;) sink_key(keys, root, count);
    for (size_t left = count; left-- > 1;) {
        const struct json_value *last = keys[0];
        keys[0] = keys[left];
        keys[left] = last;
        sink_key(keys, 0, left);
    }
}

/* Sorted rather than hashed, for the same reason. */
static bool check_keys(struct parser *p, const struct json_value *object)
{
    size_t count = object->is.count;
    if (count <= KEYS_COMPARED) return check_few_keys(p, object);
    if (count > p->key_room) {
        nd_free(p->allocator, p->keys);
        p->keys = nd_alloc(p->allocator, count, sizeof *p->keys);
        p->key_room = p->keys ? count : 0;
        if (!p->keys) return wrong(p, 0, NULL);
    }
    const struct json_value *key = nd_json_first(object);
    for (size_t i = 0; i < count; i++, key = nd_json_after(key + 1)) p->keys[i] = key;
    sort_keys(p->keys, count);
    for (size_t i = 1; i < count; i++)
        if (compare_texts(p->keys[i - 1], p->keys[i]) == 0) return refuse_key(p, p->keys[i]);
    return true;
}

static bool read_key(struct parser *p)
{
    skip_blanks(p);
    if (peek(p) != '"') return wrong(p, p->at, "an object has no key here");
    if (!read_text(p)) return false;
    return take(p, ':') ? true : wrong(p, p->at, "there is no colon behind a key");
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static bool read_value(struct parser *p, unsigned depth);

static bool read_inside(struct parser *p, unsigned depth, bool object)
{
    char closing = object ? '}' : ']';
    size_t number = add(p, (struct json_value){.kind = object ? ND_OBJECT : ND_LIST}), count = 0;
    if (depth == ND_JSON_DEPTH) return wrong(p, p->at, "too many brackets are inside each other");
    p->at++;
    if (!take(p, closing)) {
        do {
            if (object && !read_key(p)) return false;
            if (!read_value(p, depth + 1)) return false;
            count++;
        } while (take(p, ','));
        if (!take(p, closing))
            return wrong(p, p->at,
                         object ? "there is no comma or } behind a value" : "there is no comma or ] behind a value");
    }
    if (!p->values) return true;
    p->values[number].is.count = count;
    p->values[number].extent = (uint32_t)(p->used - number - 1);
    return object ? check_keys(p, &p->values[number]) : true;
}

static bool read_value(struct parser *p, unsigned depth)
{
    skip_blanks(p);
    switch (peek(p)) {
    case '{': return read_inside(p, depth, true);
    case '[': return read_inside(p, depth, false);
    case '"': return read_text(p);
    case 't': return read_word(p, "true", ND_TRUE);
    case 'f': return read_word(p, "false", ND_FALSE);
    case 'n': return read_word(p, "null", ND_NULL);
    default: return read_number(p);
    }
}

static bool read_all(struct parser *p)
{
    p->at = p->used = 0;
    if (!read_value(p, 0)) return false;
    skip_blanks(p);
    return p->at == p->length ? true : wrong(p, p->at, "something follows the value");
}

const struct json_value *nd_json_read(struct arena *arena, char *text, size_t length, struct json_fault *fault)
{
    struct parser p = {.text = text, .length = length, .allocator = &arena->allocator, .fault = fault};
    *fault = (struct json_fault){NULL, 0};
    bool read = length < UINT32_MAX ? read_all(&p) : wrong(&p, 0, "the text has more than 4294967294 bytes");
    if (!read) return NULL;
    p.values = nd_arena_alloc(arena, p.used, sizeof *p.values);
    read = p.values && read_all(&p);
    nd_free(p.allocator, p.keys);
    return read ? p.values : NULL;
}

/* ---- looking ---------------------------------------------------------------------------------------------------- */

double nd_json_number(const struct json_value *value)
{
    if (nd_json_is(value, ND_INTEGER)) return (double)value->is.integer;
    return nd_json_is(value, ND_REAL) ? value->is.real : 0;
}

bool nd_json_is_text(const struct json_value *value, const char *text)
{
    return nd_json_is(value, ND_TEXT) && strcmp(value->is.text, text) == 0;
}

size_t nd_json_count(const struct json_value *value)
{
    return nd_json_is(value, ND_LIST) || nd_json_is(value, ND_OBJECT) ? value->is.count : 0;
}

const struct json_value *nd_json_after(const struct json_value *value)
{
    return value + 1 + (value->kind == ND_LIST || value->kind == ND_OBJECT ? value->extent : 0);
}

const struct json_value *nd_json_get(const struct json_value *value, const char *key)
{
    if (!nd_json_is(value, ND_OBJECT)) return NULL;
    const struct json_value *at = nd_json_first(value);
    for (size_t i = 0; i < value->is.count; i++, at = nd_json_after(at + 1))
        if (strcmp(at->is.text, key) == 0) return at + 1;
    return NULL;
}
