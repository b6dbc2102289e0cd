#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

static const char dots[] = "...";

enum { KEPT = ND_SHOWN - sizeof dots }; /* what is shown of a longer text */

struct shown {
    char *text;  /* (ND_SHOWN) */
    size_t used; /* never above KEPT */
    bool cut;    /* nothing is added after it */
};

static void show_bytes(struct shown *shown, const char *bytes, size_t count)
{
    if (shown->cut) return;
    size_t room = KEPT - shown->used;
    shown->cut = count > room;
    size_t taken = shown->cut ? room : count;
    memcpy(shown->text + shown->used, bytes, taken);
    shown->used += taken;
}

/* One character of a text: bytes that are no UTF-8, which the reader never lets through, as Latin-1. */
static size_t show_character(struct shown *shown, const char *at)
{
    char escape[16];
    uint32_t point = (unsigned char)*at;
    size_t length = nd_utf8_decode(at, 4, &point), escaped = nd_json_escape((unsigned char)*at, escape);
    if (point >= 0x10000)
        escaped = (size_t)snprintf(escape, sizeof escape, "\\u%04" PRIX32 "\\u%04" PRIX32,
                                   0xD800 + (point - 0x10000) / 0x400, 0xDC00 + point % 0x400);
    else if (point >= 0x7F)
        escaped = (size_t)snprintf(escape, sizeof escape, "\\u%04" PRIX32, point);
    show_bytes(shown, escaped ? escape : at, escaped ? escaped : 1);
    return length ? length : 1;
}

static void show_text(struct shown *shown, const char *text)
{
    show_bytes(shown, "\"", 1);
    while (*text && !shown->cut) text += show_character(shown, text);
    show_bytes(shown, "\"", 1);
}

static void show_value(struct shown *shown, const struct json_value *value);

static void show_inside(struct shown *shown, const struct json_value *value)
{
    bool object = value->kind == ND_OBJECT;
    const struct json_value *at = nd_json_first(value);
    show_bytes(shown, object ? "{" : "[", 1);
    for (size_t i = 0; i < value->is.count && !shown->cut; i++, at = nd_json_after(at)) {
        if (i > 0) show_bytes(shown, ",", 1);
        if (object) {
            show_text(shown, at++->is.text);
            show_bytes(shown, ":", 1);
        }
        show_value(shown, at);
    }
    show_bytes(shown, object ? "}" : "]", 1);
}

static void show_value(struct shown *shown, const struct json_value *value)
{
    char number[ND_JSON_NUMBER] = "null";
    switch ((enum json_kind)value->kind) {
    case ND_TEXT: show_text(shown, value->is.text); return;
    case ND_LIST:
    case ND_OBJECT: show_inside(shown, value); return;
    case ND_INTEGER: snprintf(number, sizeof number, "%" PRId64, value->is.integer); break;
    case ND_REAL: nd_json_format_real(value->is.real, number); break;
    case ND_TRUE: snprintf(number, sizeof number, "true"); break;
    case ND_FALSE: snprintf(number, sizeof number, "false"); break;
    case ND_NULL: break;
    }
    show_bytes(shown, number, strlen(number));
}

static const char *finish(struct shown *shown)
{
    memcpy(shown->text + shown->used, shown->cut ? dots : "", shown->cut ? sizeof dots : 1);
    return shown->text;
}

const char *nd_show_json(const struct json_value *value, char text[ND_SHOWN])
{
    struct shown shown = {.text = text};
    if (!value) return "missing";
    show_value(&shown, value);
    return finish(&shown);
}

const char *nd_show_text(const char *found, char text[ND_SHOWN])
{
    struct shown shown = {.text = text};
    show_text(&shown, found);
    return finish(&shown);
}
