#include "data/number_form.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/utf8.h"

enum { CORE_MOST = 400, GROUP = 3 };

const struct number_marks nd_number_marks[ND_MARKS] = {{'.', 0}, {'.', ','}, {'.', ' '}, {'.', '\''},
                                                       {',', 0}, {',', '.'}, {',', ' '}, {',', '\''}};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- digits and marks -------------------------------------------------------------------------------------------- */

/* The digits and marks of a number, blanks of all kinds as ' '. */
struct core {
    char text[CORE_MOST];
    size_t length;
};

/* Bytes of a blank that may stand between groups of digits: ' ', or one that does not break, in UTF-8 or as in
 * Windows-1252, whose byte begins no UTF-8. */
static size_t blank_bytes(const char *at, const char *end)
{
    static const char *const blanks[] = {" ", "\xC2\xA0", "\xE2\x80\xAF", "\xA0"};
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        size_t length = strlen(blanks[i]);
        if ((size_t)(end - at) >= length && memcmp(at, blanks[i], length) == 0) return length;
    }
    return 0;
}

/* Takes digits and the marks between them; the last may be a point or comma with nothing behind it.  Returns where it
 * ends. */
static const char *take_core(const char *at, const char *end, struct core *core)
{
    core->length = 0;
    while (at < end && core->length < CORE_MOST) {
        size_t blank = blank_bytes(at, end), bytes = blank ? blank : 1;
        bool mark = blank || *at == '.' || *at == ',' || *at == '\'';
        if (!is_digit(*at) && !mark) break;
        if (mark && !(at + bytes < end && is_digit(at[bytes]))) break;
        core->text[core->length++] = blank ? ' ' : *at;
        at += bytes;
    }
    return at;
}

/* True when the digits are a number with these marks: groups of three where they are grouped, the first of which does
 * not begin with a zero. */
static bool core_fits(const struct core *core, const struct number_marks *marks)
{
    size_t group = 0, groups = 0;
    bool fraction = false;
    for (size_t i = 0; i < core->length; i++) {
        char c = core->text[i];
        if (is_digit(c)) {
            group++;
        } else if (c == marks->decimal && !fraction) {
            if (groups > 0 && group != GROUP) return false;
            fraction = true;
        } else if (c == marks->thousands && !fraction) {
            if (groups == 0 ? group == 0 || group > GROUP || core->text[0] == '0' : group != GROUP) return false;
            groups++;
            group = 0;
        } else {
            return false;
        }
    }
    return fraction || groups == 0 || group == GROUP;
}

/* Digits alone: with a minus behind them a grade, or a range without an end, 2-. */
static bool is_whole(const struct core *core)
{
    bool whole = true;
    for (size_t i = 0; i < core->length; i++) whole = whole && is_digit(core->text[i]);
    return whole;
}

/* Digits behind the last of a mark; 0: there is none. */
static size_t digits_behind(const struct core *core, char mark)
{
    size_t at = core->length;
    while (at > 0 && core->text[at - 1] != mark) at--;
    return at > 0 ? core->length - at : 0;
}

/* The plain text of a core that fits, a sign before it. */
static void make_plain(const struct core *core, const struct number_marks *marks, bool negative, char *plain)
{
    if (negative) *plain++ = '-';
    for (size_t i = 0; i < core->length; i++) {
        if (is_digit(core->text[i]))
            *plain++ = core->text[i];
        else if (core->text[i] == marks->decimal)
            *plain++ = '.';
    }
    *plain = '\0';
}

/* ---- what stands around them ------------------------------------------------------------------------------------- */

static const char *const currencies[] = {"US$", "A$",  "C$",  "R$",  "$",   "€",   "£",   "¥",   "₹",  "₩",
                                         "EUR", "USD", "GBP", "CHF", "JPY", "INR", "Rs.", "Fr.", "zł", "kr"};
/* Those that need no blank before them. */
static const char *const units[] = {
    "%",   "‰",    "°",   "°C",  "°F",  "cm", "mm", "m",  "km",  "µm",  "nm",  "in",   "ft",  "yd",  "mi",  "kg",
    "g",   "mg",   "µg",  "lb",  "lbs", "oz", "t",  "s",  "ms",  "min", "h",   "hr",   "hrs", "l",   "L",   "ml",
    "mL",  "cl",   "dl",  "kWh", "Wh",  "W",  "kW", "MW", "V",   "mV",  "kV",  "mA",   "Hz",  "kHz", "MHz", "GHz",
    "Pa",  "hPa",  "kPa", "MPa", "bar", "kB", "KB", "MB", "GB",  "TB",  "mph", "km/h", "m/s", "bps", "px",  "pt",
    "cal", "kcal", "J",   "kJ",  "m2",  "m²", "m3", "m³", "km2", "km²", "ha",  "bhp",  "hp",  "cc"};

static bool is_among(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0) return true;
    return false;
}

#define IS_AMONG(text, list) is_among(text, list, sizeof(list) / sizeof *(list))

/* Some bytes of a cell, fewer than ND_UNIT_SIZE, as UTF-8: of a file that is not, € is one byte. */
static const char *as_utf8(const char *bytes, size_t length, char text[3 * ND_UNIT_SIZE])
{
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (nd_utf8_valid(text)) return text;
    char *to = text;
    for (size_t i = 0; i < length; i++) to += nd_utf8_put(nd_windows_point((unsigned char)bytes[i]), to);
    *to = '\0';
    return text;
}

/* Bytes of the currency in front, a blank behind it included. */
static size_t prefix_bytes(const char *text, const char *end)
{
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++) {
        size_t length = strlen(currencies[i]);
        if ((size_t)(end - text) < length || memcmp(text, currencies[i], length) != 0) continue;
        return length + blank_bytes(text + length, end);
    }
    char first[3 * ND_UNIT_SIZE];
    bool known = text < end && (*text & 0x80) && IS_AMONG(as_utf8(text, 1, first), currencies);
    return known ? 1 + blank_bytes(text + 1, end) : 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

/* One word that is no number: letters, and what units of measure are made of behind the first. */
static bool is_word(const char *text, size_t length)
{
    if (length == 0 || !is_letter(text[0])) return false;
    for (size_t i = 1; i < length; i++)
        if (!is_letter(text[i]) && !is_digit(text[i]) && !strchr("/.^*%", text[i])) return false;
    return true;
}

/* What is known to be a unit or currency, or behind a blank any word. */
static bool is_suffix(const char *text, const char *end)
{
    size_t blank = blank_bytes(text, end), length = (size_t)(end - text) - blank;
    const char *word = text + blank;
    if (length == 0) return blank == 0;
    if (length + blank >= ND_UNIT_SIZE) return false;
    char known[3 * ND_UNIT_SIZE];
    as_utf8(word, length, known);
    return IS_AMONG(known, units) || IS_AMONG(known, currencies) || (blank && is_word(word, length));
}

/* What is found of a sign. */
struct sign {
    bool negative;
    enum minus_place place;
};

/* A sign in front, or a bracket that is closed at the end, which then ends before it. */
static const char *take_sign(const char *at, const char **end, bool inner, struct sign *sign)
{
    size_t minus = nd_minus_bytes(at, *end);
    bool brackets = *end - at > 2 && *at == '(' && (*end)[-1] == ')' && !ND_FAULT(FAULT_BRACKETS_TEXT);
    if (sign->negative) return at;
    *end -= brackets;
    sign->negative = minus > 0 || brackets;
    if (inner) sign->place = brackets ? MINUS_INNER_BRACKETS : MINUS_INNER;
    if (!inner) sign->place = brackets ? MINUS_BRACKETS : MINUS_FIRST;
    return at + (minus ? minus : brackets || (at < *end && *at == '+'));
}

/* A minus behind the digits. */
static const char *take_last_minus(const char *at, const char *end, struct sign *sign)
{
    size_t minus = sign->negative ? 0 : nd_minus_bytes(at, end);
    if (minus > 0) *sign = (struct sign){true, MINUS_LAST};
    return at + minus;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

bool nd_number_parts(const char *text, size_t length, struct number_parts *parts)
{
    const char *end = text + length;
    struct sign sign = {.negative = false};
    struct core core;
    const char *at = take_sign(text, &end, false, &sign);
    size_t prefix = prefix_bytes(at, end);
    *parts = (struct number_parts){.fits = 0};
    memcpy(parts->prefix, at, prefix);
    at += prefix;
    if (prefix > 0) at = take_sign(at, &end, true, &sign);
    at = take_core(at, end, &core);
    bool whole = is_whole(&core);
    if (!whole) at = take_last_minus(at, end, &sign);
    if (core.length == 0 || core.length == CORE_MOST || !is_suffix(at, end)) return false;
    parts->negative = sign.negative;
    parts->minus = sign.place;
    memcpy(parts->suffix, at, (size_t)(end - at));
    for (unsigned i = 0; i < ND_MARKS; i++)
        if (core_fits(&core, &nd_number_marks[i])) parts->fits |= 1u << i;
    parts->marked = !whole;
    parts->behind_point = digits_behind(&core, '.');
    parts->behind_comma = digits_behind(&core, ',');
    parts->zero = core.text[core.length - 1] == '0';
    parts->code = core.length > 1 && core.text[0] == '0' && is_digit(core.text[1]);
    return parts->fits != 0;
}

/* Where a text goes on behind this one; NULL: it does not begin with it. */
static const char *skip(const char *at, const char *end, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(end - at) >= length && memcmp(at, text, length) == 0 ? at + length : NULL;
}

/* The same where the text may be in Windows-1252 and what it begins with is in UTF-8. */
static const char *skip_letters(const char *at, const char *end, const char *text)
{
    char read[3 * ND_UNIT_SIZE];
    size_t letters = 0;
    const char *behind = skip(at, end, text);
    for (const char *c = text; *c; c++) letters += (*c & 0xC0) != 0x80;
    if (behind || (size_t)(end - at) < letters) return behind;
    return strcmp(as_utf8(at, letters, read), text) == 0 ? at + letters : NULL;
}

enum number_kind nd_form_read(const struct number_form *form, const char *text, size_t length, double *value)
{
    if (!form || ND_FAULT(FAULT_FORM_IGNORED)) return nd_parse_number(text, length, value);
    if (form->duration) return nd_duration_read(form->duration, text, length, value) ? NUMBER_FINITE : NUMBER_NONE;
    const struct number_marks marks = {form->decimal, form->thousands};
    const char *end = text + length;
    char plain[CORE_MOST + 2];
    struct sign sign = {.negative = false};
    struct core core;
    const char *at = take_sign(text, &end, false, &sign);
    at = skip_letters(at, end, form->prefix);
    if (!at) return NUMBER_NONE;
    if (form->prefix[0]) at = take_sign(at, &end, true, &sign);
    at = take_core(at, end, &core);
    bool accounting = form->minus != MINUS_FIRST && !is_whole(&core) && !ND_FAULT(FAULT_OTHER_MINUS);
    if (accounting || form->minus == MINUS_LAST) at = take_last_minus(at, end, &sign);
    if (core.length == 0 || core.length == CORE_MOST || !core_fits(&core, &marks)) return NUMBER_NONE;
    if (skip_letters(at, end, form->suffix) != end) return NUMBER_NONE;
    make_plain(&core, &marks, sign.negative, plain);
    return nd_parse_number(plain, strlen(plain), value);
}

/* The form with a blank between digits and unit, or without it. */
static struct number_form with_blank(const struct number_form *form, bool blank)
{
    struct number_form made = {.decimal = form->decimal, .thousands = form->thousands, .minus = form->minus};
    size_t prefix = strlen(form->prefix);
    size_t skipped = blank_bytes(form->suffix, form->suffix + strlen(form->suffix));
    for (size_t i = 0; i < prefix; i++)
        if (blank_bytes(form->prefix + i, form->prefix + prefix) == prefix - i) prefix = i;
    const char *gap = blank ? " " : "";
    if (prefix > 0) snprintf(made.prefix, sizeof made.prefix, "%.*s%s", (int)prefix, form->prefix, gap);
    if (form->suffix[skipped]) snprintf(made.suffix, sizeof made.suffix, "%s%s", gap, form->suffix + skipped);
    return made;
}

bool nd_form_read_loosely(const struct number_form *form, const char *text, double *value)
{
    const struct number_form tight = with_blank(form, false), wide = with_blank(form, true);
    const struct number_form bare = {.decimal = form->decimal, .thousands = form->thousands, .minus = form->minus};
    if (form->duration && nd_form_read(form, text, strlen(text), value) == NUMBER_FINITE) return true;
    const struct number_form *const forms[] = {form, &tight, &wide, &bare, NULL};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (nd_form_read(forms[i], text, strlen(text), value) == NUMBER_FINITE) return true;
    return false;
}

/* Where a text goes on behind the zeros that a number lacks of its column's decimals. */
static char *add_zeros(char *to, const char *plain, const struct number_form *form)
{
    const char *point = strchr(plain, '.');
    size_t have = point ? strlen(point + 1) : 0;
    if (strpbrk(plain, "eEn") || have >= form->decimals) return to;
    if (!point) *to++ = form->decimal;
    for (; have < form->decimals; have++) *to++ = '0';
    return to;
}

/* What stands around digits: how a number is written before and behind them. */
static int write_frame(const struct number_form *form, bool negative, const char *body, char *text, size_t size)
{
    static const struct {
        const char *first, *inner, *last, *end;
    } places[] = {[MINUS_FIRST] = {"-", "", "", ""},
                  [MINUS_INNER] = {"", "-", "", ""},
                  [MINUS_LAST] = {"", "", "-", ""},
                  [MINUS_BRACKETS] = {"(", "", "", ")"},
                  [MINUS_INNER_BRACKETS] = {"", "(", "", ")"}};
    const unsigned char minus = ND_FAULT(FAULT_MINUS_FIRST) ? MINUS_FIRST : form->minus;
    return snprintf(text, size, "%s%s%s%s%s%s%s", negative ? places[minus].first : "", form->prefix,
                    negative ? places[minus].inner : "", body, negative ? places[minus].last : "", form->suffix,
                    negative ? places[minus].end : "");
}

void nd_form_write(const struct number_form *form, const char *plain, char text[ND_FORMED_NUMBER])
{
    char body[2 * ND_NUMBER_TEXT];
    bool negative = *plain == '-';
    char *to = body;
    if (form->duration) {
        nd_duration_write(form->duration, plain, form->decimals, form->decimal, text);
        return;
    }
    plain += negative;
    size_t whole = strspn(plain, "0123456789");
    bool grouped = form->thousands && whole > GROUP && !strpbrk(plain, "eE");
    for (size_t i = 0; plain[i]; i++) {
        if (grouped && i > 0 && i < whole && (whole - i) % GROUP == 0) *to++ = form->thousands;
        *to++ = plain[i] == '.' ? form->decimal : plain[i];
    }
    to = add_zeros(to, plain, form);
    *to = '\0';
    write_frame(form, negative, body, text, ND_FORMED_NUMBER);
}

/* ---- names of forms ---------------------------------------------------------------------------------------------- */

bool nd_form_is_plain(const struct number_form *form)
{
    return form->decimal == '.' && !form->thousands && !form->prefix[0] && !form->suffix[0] &&
           form->minus == MINUS_FIRST && !form->duration;
}

/* "hh:mm:ss.fff": a letter for each digit that is always there; a comma alone where a fraction, if any, follows it. */
static void name_duration(const struct number_form *form, char name[ND_NUMBER_FORM_SIZE])
{
    char mark[] = {form->decimal, '\0'};
    const char *decimals = &"ffffff"[ND_DECIMALS_MOST - form->decimals];
    snprintf(name, ND_NUMBER_FORM_SIZE, "%s%s%s", nd_duration_name(form->duration),
             form->decimals || form->decimal == ',' ? mark : "", decimals);
}

static bool take_duration(const char *name, struct number_form *form)
{
    const char *rest;
    char again[ND_NUMBER_FORM_SIZE];
    struct number_form made = {.decimal = '.', .duration = (unsigned char)nd_duration_take(name, &rest)};
    if (!made.duration || (*rest && nd_duration_step(made.duration) > 1)) return false;
    if (*rest == '.' || *rest == ',') made.decimal = *rest++;
    size_t decimals = strspn(rest, "f");
    if (decimals > ND_DECIMALS_MOST) return false;
    made.decimals = (unsigned char)decimals;
    name_duration(&made, again);
    if (strcmp(again, name) != 0) return false;
    *form = made;
    return true;
}

const char *nd_plain_form_name(size_t decimals)
{
    static const char *const names[ND_DECIMALS_MOST + 1] = {NULL,        "1234.0",     "1234.00",    "1234.000",
                                                            "1234.0000", "1234.00000", "1234.000000"};
    return names[decimals];
}

void nd_form_name(const struct number_form *form, char name[ND_NUMBER_FORM_SIZE])
{
    char mark[] = {form->thousands, '\0'}, body[16];
    if (form->duration) {
        name_duration(form, name);
        return;
    }
    const char *decimals = form->decimals ? &"000000"[ND_DECIMALS_MOST - form->decimals] : "5";
    snprintf(body, sizeof body, "1%s234%c%s", mark, form->decimal, decimals);
    write_frame(form, form->minus != MINUS_FIRST, body, name, ND_NUMBER_FORM_SIZE);
}

/* Takes what shows a negative number off both ends of such a text, of which `one` is the first digit. */
static void take_minus(const char **name, const char **end, const char **one, struct number_form *form)
{
    const char *before = *one > *name ? *one - 1 : "";
    bool closed = *end > *one && (*end)[-1] == ')';
    if (closed && **name == '(') {
        form->minus = MINUS_BRACKETS;
        ++*name;
    } else if (closed && *before == '(') {
        form->minus = MINUS_INNER_BRACKETS;
    } else if (*before == '-') {
        form->minus = MINUS_INNER;
    }
    *end -= form->minus == MINUS_BRACKETS || form->minus == MINUS_INNER_BRACKETS;
}

bool nd_form_take(const char *name, struct number_form *form)
{
    struct number_form made = {.decimal = 0};
    char again[ND_NUMBER_FORM_SIZE];
    if (take_duration(name, form)) return true;
    const char *whole = name, *end = name + strlen(name), *one = strchr(name, '1');
    if (!one) return false;
    take_minus(&name, &end, &one, &made);
    size_t prefix = (size_t)(one - name) - (made.minus == MINUS_INNER || made.minus == MINUS_INNER_BRACKETS);
    if (prefix >= ND_UNIT_SIZE || (made.minus == MINUS_INNER && prefix == 0)) return false;
    memcpy(made.prefix, name, prefix);
    made.thousands = one[1] && one[1] != '2' ? one[1] : '\0';
    const char *rest = one + 1 + (made.thousands != 0);
    rest = rest <= end ? skip(rest, end, "234") : NULL;
    if (!rest || (*rest != '.' && *rest != ',')) return false;
    made.decimal = *rest++;
    size_t zeros = strspn(rest, "0");
    if (zeros > ND_DECIMALS_MOST || (zeros == 0 && *rest++ != '5')) return false;
    made.decimals = (unsigned char)zeros;
    rest += zeros;
    if (*rest == '-') {
        made.minus = MINUS_LAST;
        rest++;
    }
    if (rest > end || (size_t)(end - rest) >= ND_UNIT_SIZE) return false;
    memcpy(made.suffix, rest, (size_t)(end - rest));
    if (made.thousands && (!strchr(",.' ", made.thousands) || made.thousands == made.decimal)) return false;
    if (prefix_bytes(made.prefix, made.prefix + prefix) != prefix || !is_suffix(rest, end)) return false;
    nd_form_name(&made, again);
    if (strcmp(again, whole) != 0) return false;
    *form = made;
    return true;
}

enum duration_form nd_written_duration(const char *name)
{
    struct number_form form;
    return name && nd_form_take(name, &form) ? (enum duration_form)form.duration : DURATION_NONE;
}
