#include "data/arrow_type.h"

#include <stdlib.h>
#include <string.h>

/* Formats that are the same in every column of their type. */
static const struct {
    const char *format;
    struct arrow_type type;
} plain[] = {
    {"n", {.kind = ARROW_EMPTY}},
    {"b", {.kind = ARROW_TRUTH}},
    {"c", {.kind = ARROW_SIGNED, .bytes = 1}},
    {"C", {.kind = ARROW_UNSIGNED, .bytes = 1}},
    {"s", {.kind = ARROW_SIGNED, .bytes = 2}},
    {"S", {.kind = ARROW_UNSIGNED, .bytes = 2}},
    {"i", {.kind = ARROW_SIGNED, .bytes = 4}},
    {"I", {.kind = ARROW_UNSIGNED, .bytes = 4}},
    {"l", {.kind = ARROW_SIGNED, .bytes = 8}},
    {"L", {.kind = ARROW_UNSIGNED, .bytes = 8}},
    {"e", {.kind = ARROW_FLOAT, .bytes = 2}},
    {"f", {.kind = ARROW_FLOAT, .bytes = 4}},
    {"g", {.kind = ARROW_FLOAT, .bytes = 8}},
    {"u", {.kind = ARROW_TEXT, .bytes = 4}},
    {"U", {.kind = ARROW_TEXT, .bytes = 8}},
    {"vu", {.kind = ARROW_VIEW, .bytes = 16}},
    {"tdD", {.kind = ARROW_DATE, .bytes = 4}},
    {"tdm", {.kind = ARROW_DATE, .bytes = 8, .per_second = 1000}},
    {"tDs", {.kind = ARROW_DECIMAL, .bytes = 8, .scale = 0}}, /* durations, as seconds */
    {"tDm", {.kind = ARROW_DECIMAL, .bytes = 8, .scale = 3}},
    {"tDu", {.kind = ARROW_DECIMAL, .bytes = 8, .scale = 6}},
    {"tDn", {.kind = ARROW_DECIMAL, .bytes = 8, .scale = 9}},
};

/* "tsu:" is followed by the zone, which is empty where there is none. */
static struct arrow_type timestamp_type(const char *format)
{
    static const char units[] = "smun";
    struct arrow_type type = {.kind = ARROW_DATE, .bytes = 8, .per_second = 1};
    const char *unit = format[2] ? strchr(units, format[2]) : NULL;
    if (!unit || format[3] != ':') return (struct arrow_type){.kind = ARROW_OTHER};
    for (const char *u = units; u < unit; u++) type.per_second *= 1000;
    type.zoned = format[4] != '\0';
    return type;
}

/* "d:19,10" or "d:9,2,32": digits, those behind the point, bits. */
static struct arrow_type decimal_type(const char *format)
{
    enum { DIGITS_MOST = 76 };
    char *end;
    long bits = 128, digits = strtol(format + 2, &end, 10);
    long scale = *end == ',' ? strtol(end + 1, &end, 10) : DIGITS_MOST + 1;
    if (*end == ',') bits = strtol(end + 1, &end, 10);
    bool good = *end == '\0' && digits > 0 && digits <= DIGITS_MOST && labs(scale) <= DIGITS_MOST;
    if (!good || (bits != 32 && bits != 64 && bits != 128)) return (struct arrow_type){.kind = ARROW_OTHER};
    return (struct arrow_type){.kind = ARROW_DECIMAL, .bytes = (size_t)bits / 8, .scale = (int)scale};
}

struct arrow_type nd_arrow_type(const char *format)
{
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(format, plain[i].format) == 0) return plain[i].type;
    if (strncmp(format, "ts", 2) == 0) return timestamp_type(format);
    if (strncmp(format, "d:", 2) == 0) return decimal_type(format);
    return (struct arrow_type){.kind = ARROW_OTHER};
}
