#include "safetensors_mutator.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"

enum { PREFIX_BYTES = 8 };

/* A file taken apart: its header's text, and its data behind that. */
struct parts {
    uint8_t *header; /* (room) */
    size_t header_size, room;
    uint8_t *data;
    size_t data_size;
};

static bool take_apart(const uint8_t *bytes, size_t size, size_t most, struct parts *parts)
{
    if (size <= PREFIX_BYTES || most < size) return false;
    uint64_t announced = 0;
    for (int i = PREFIX_BYTES - 1; i >= 0; i--) announced = announced << 8 | bytes[i];
    size_t rest = size - PREFIX_BYTES;
    parts->header_size = announced < rest ? (size_t)announced : rest;
    parts->data_size = rest - parts->header_size;
    parts->room = most - PREFIX_BYTES - parts->data_size;
    parts->header = malloc(parts->room + 1);
    parts->data = malloc(parts->data_size + 1);
    fuzz_demand(parts->header && parts->data, "there is no memory");
    memcpy(parts->header, bytes + PREFIX_BYTES, parts->header_size);
    memcpy(parts->data, bytes + PREFIX_BYTES + parts->header_size, parts->data_size);
    return true;
}

static size_t put_together(uint8_t *bytes, struct parts *parts)
{
    for (int i = 0; i < PREFIX_BYTES; i++) bytes[i] = (uint8_t)((uint64_t)parts->header_size >> 8 * i);
    memcpy(bytes + PREFIX_BYTES, parts->header, parts->header_size);
    memcpy(bytes + PREFIX_BYTES + parts->header_size, parts->data, parts->data_size);
    free(parts->header);
    free(parts->data);
    return PREFIX_BYTES + parts->header_size + parts->data_size;
}

/* Replaces length bytes at `at` of the header by others, if there is room. */
static void replace(struct parts *parts, size_t at, size_t length, const uint8_t *by, size_t count)
{
    if (parts->header_size - length + count > parts->room) return;
    memmove(parts->header + at + count, parts->header + at + length, parts->header_size - at - length);
    memcpy(parts->header + at, by, count);
    parts->header_size += count - length;
}

static bool in_number(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

/* Replaces a number of the header, wherever it is, by one that is hard to bear. */
static void change_number(struct parts *parts, unsigned random)
{
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "1",
                                          "2",
                                          "1e308",
                                          "-1e308",
                                          "1e-320",
                                          "5e-324",
                                          "4294967296",
                                          "1e999",
                                          "0.5",
                                          "255",
                                          "256",
                                          "65536",
                                          "2147483648",
                                          "18446744073709551615",
                                          "9223372036854775807",
                                          "3",
                                          "10",
                                          "1e-30",
                                          "-0.0",
                                          "100000",
                                          "7"};
    if (parts->header_size == 0) return;
    size_t at = random % parts->header_size, seen = 0;
    while (seen < parts->header_size && !(parts->header[at] >= '0' && parts->header[at] <= '9')) {
        at = (at + 1) % parts->header_size;
        seen++;
    }
    if (seen == parts->header_size) return;
    size_t end = at;
    while (at > 0 && in_number(parts->header[at - 1])) at--;
    while (end < parts->header_size && in_number(parts->header[end])) end++;
    const char *number = numbers[(random >> 12) % (sizeof numbers / sizeof *numbers)];
    replace(parts, at, end - at, (const uint8_t *)number, strlen(number));
}

/* The header's text within quotes that holds JSON of its own: from *begin to *end.  False: there is none. */
static bool find_inner(const struct parts *parts, size_t *begin, size_t *end)
{
    for (size_t at = 0; at + 2 < parts->header_size; at++) {
        if (memcmp(parts->header + at, "\"{\\", 3) != 0) continue;
        *begin = *end = at + 1;
        while (*end < parts->header_size && parts->header[*end] != '"') *end += parts->header[*end] == '\\' ? 2 : 1;
        return *end < parts->header_size;
    }
    return false;
}

/* Copies the inner text without the quotes' backslashes: its length. */
static size_t take_inner(const struct parts *parts, size_t begin, size_t end, uint8_t *text)
{
    size_t count = 0;
    for (size_t at = begin; at < end; at++) {
        bool quote = parts->header[at] == '\\' && (parts->header[at + 1] == '"' || parts->header[at + 1] == '\\');
        if (quote) at++;
        text[count++] = parts->header[at];
    }
    return count;
}

/* Mutates the inner text as what it is. */
static void change_inner(struct parts *parts)
{
    size_t begin, end, escaped = 0;
    if (!find_inner(parts, &begin, &end)) return;
    uint8_t *text = malloc(parts->room + 1), *quoted = malloc(2 * parts->room + 2);
    fuzz_demand(text && quoted, "there is no memory");
    size_t count = take_inner(parts, begin, end, text);
    count = LLVMFuzzerMutate(text, count, parts->room);
    for (size_t i = 0; i < count; i++) {
        if (text[i] == '"' || text[i] == '\\') quoted[escaped++] = '\\';
        quoted[escaped++] = text[i];
    }
    replace(parts, begin, end - begin, quoted, escaped);
    free(text);
    free(quoted);
}

/* Makes one number of the tensors, or all of them, hard to bear. */
static void change_float(struct parts *parts, unsigned random)
{
    static const uint32_t hard[] = {0x00000000, 0x80000000, 0x00000001, 0x7F800000, 0xFF800000, 0x7FC00000,
                                    0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0x42C80000, 0xC2C80000, 0x60000000,
                                    0xE0000000, 0x50000000, 0x1E000000, 0x00800000};
    size_t count = parts->data_size / 4, first = count > 0 ? random % count : 0;
    uint32_t bits = hard[(random >> 12) % (sizeof hard / sizeof *hard)];
    size_t last = random >> 28 == 0 ? count : first + 1;
    for (size_t i = first; i < last && i < count; i++)
        for (size_t b = 0; b < 4; b++) parts->data[4 * i + b] = (uint8_t)(bits >> 8 * b);
}

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash;
}

/* A checkpoint's checksum is FNV-1a over its inner text and its tensors. */
static void mend_checksum(struct parts *parts)
{
    static const char key[] = "\"checksum\":\"";
    size_t begin, end, at = 0, length = strlen(key);
    while (at + length + 16 < parts->header_size && memcmp(parts->header + at, key, length) != 0) at++;
    if (at + length + 16 >= parts->header_size || !find_inner(parts, &begin, &end)) return;
    uint8_t *text = malloc(parts->room + 1);
    fuzz_demand(text, "there is no memory");
    uint64_t hash = hash_bytes(0xCBF29CE484222325u, text, take_inner(parts, begin, end, text));
    hash = hash_bytes(hash, parts->data, parts->data_size);
    for (int i = 0; i < 16; i++)
        parts->header[at + length + (size_t)i] = (uint8_t) "0123456789abcdef"[hash >> 4 * (15 - i) & 15];
    free(text);
}

size_t safetensors_mutate(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    struct parts parts;
    unsigned way = seed % 16, random = seed * 2654435761u;
    if (way == 0 || !take_apart(bytes, size, most, &parts)) return LLVMFuzzerMutate(bytes, size, most);
    if (way < 4)
        parts.header_size = LLVMFuzzerMutate(parts.header, parts.header_size, parts.room);
    else if (way < 8)
        change_inner(&parts);
    else if (way < 11)
        change_number(&parts, random);
    else if (way < 14)
        change_float(&parts, random);
    else if (parts.data_size > 0)
        LLVMFuzzerMutate(parts.data, parts.data_size, parts.data_size);
    mend_checksum(&parts);
    return put_together(bytes, &parts);
}
