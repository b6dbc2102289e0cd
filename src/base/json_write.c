#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/numbers.h"

enum { FIRST_BYTES = 1024 };

static void put_bytes(struct json_writer *writer, const char *bytes, size_t count)
{
    if (writer->failed) return;
    /* Room for a zero behind the bytes. */
    if (writer->capacity - writer->length <= count) {
        size_t capacity = count <= SIZE_MAX / 4 && writer->capacity <= SIZE_MAX / 4
                              ? 2 * writer->capacity + count + FIRST_BYTES
                              : SIZE_MAX; /* which is never given */
        char *grown = nd_grow(writer->allocator, writer->text, writer->length, capacity, 1);
        writer->failed = !grown;
        if (!grown) return;
        writer->text = grown;
        writer->capacity = capacity;
    }
    memcpy(writer->text + writer->length, bytes, count);
    writer->length += count;
}

static void separate(struct json_writer *writer)
{
    if (writer->comma) put_bytes(writer, ",", 1);
    writer->comma = true;
}

static void put_word(struct json_writer *writer, const char *word)
{
    separate(writer);
    put_bytes(writer, word, strlen(word));
}

void nd_json_open(struct json_writer *writer, char bracket)
{
    separate(writer);
    put_bytes(writer, &bracket, 1);
    writer->comma = false;
}

void nd_json_close(struct json_writer *writer, char bracket)
{
    put_bytes(writer, &bracket, 1);
    writer->comma = true;
}

size_t nd_json_escape(unsigned char character, char escape[ND_JSON_ESCAPE])
{
    static const char meanings[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *known = character ? strchr(meanings, character) : NULL;
    if (known) return (size_t)snprintf(escape, ND_JSON_ESCAPE, "\\%c", letters[known - meanings]);
    if (character >= 0x20) return 0;
    return (size_t)snprintf(escape, ND_JSON_ESCAPE, "\\u%04X", character);
}

void nd_json_put_text(struct json_writer *writer, const char *text)
{
    char escape[ND_JSON_ESCAPE];
    separate(writer);
    put_bytes(writer, "\"", 1);
    const char *begin = text;
    for (; *text; text++) {
        size_t escaped = nd_json_escape((unsigned char)*text, escape);
        if (escaped == 0) continue;
        put_bytes(writer, begin, (size_t)(text - begin));
        put_bytes(writer, escape, escaped);
        begin = text + 1;
    }
    put_bytes(writer, begin, (size_t)(text - begin));
    put_bytes(writer, "\"", 1);
}

void nd_json_put_key(struct json_writer *writer, const char *key)
{
    nd_json_put_text(writer, key);
    put_bytes(writer, ":", 1);
    writer->comma = false;
}

void nd_json_put_integer(struct json_writer *writer, int64_t number)
{
    char text[ND_JSON_NUMBER];
    snprintf(text, sizeof text, "%" PRId64, number);
    put_word(writer, text);
}

/* Exponents are written without plus sign and leading zeros. */
void nd_json_format_real(double number, char text[ND_JSON_NUMBER])
{
    char digits[ND_NUMBER_TEXT];
    nd_format_digits(number, 17, digits);
    char *exponent = strchr(digits, 'e');
    if (!exponent) {
        snprintf(text, ND_JSON_NUMBER, "%s%s", digits, strchr(digits, '.') ? "" : ".0");
        return;
    }
    *exponent++ = '\0';
    const char *sign = *exponent == '-' ? "-" : "";
    snprintf(text, ND_JSON_NUMBER, "%se%s%s", digits, sign, exponent + 1 + strspn(exponent + 1, "0"));
}

void nd_json_put_real(struct json_writer *writer, double number)
{
    char text[ND_JSON_NUMBER] = "null";
    if (isfinite(number)) nd_json_format_real(number, text);
    put_word(writer, text);
}

void nd_json_put_flag(struct json_writer *writer, bool flag)
{
    put_word(writer, flag ? "true" : "false");
}

void nd_json_put_null(struct json_writer *writer)
{
    put_word(writer, "null");
}

const char *nd_json_written(struct json_writer *writer)
{
    if (writer->failed) return NULL;
    writer->text[writer->length] = '\0';
    return writer->text;
}

void nd_json_discard(struct json_writer *writer)
{
    nd_free(writer->allocator, writer->text);
    *writer = (struct json_writer){.allocator = writer->allocator};
}
