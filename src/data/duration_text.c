#include "data/duration_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"

/* Digits of the hours, and of a fraction of a second: as many as the least fraction that is written has. */
enum { HOUR_DIGITS = 9, DECIMALS = 26, SECONDS_TEXT = 64, MINUTE = 60, HOUR = 3600 };

#define LEAST_FRACTION 1e-9

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* How many digits a text begins with. */
static size_t count_digits(const char *at, const char *end)
{
    size_t digits = 0;
    while (at + digits < end && at[digits] >= '0' && at[digits] <= '9') digits++;
    return digits;
}

static uint64_t whole_number(const char *at, size_t digits)
{
    uint64_t number = 0;
    for (size_t i = 0; i < digits; i++) number = 10 * number + (uint64_t)(at[i] - '0');
    return number;
}

/* A colon and two digits below 60; NULL: something else. */
static const char *take_sixtieth(const char *at, const char *end, uint64_t *number)
{
    if (at == end || *at != ':' || count_digits(at + 1, end) != 2) return NULL;
    *number = whole_number(at + 1, 2);
    return *number < MINUTE ? at + 3 : NULL;
}

/* The fraction of a second, if there is one: where it ends. */
static const char *take_fraction(const char *at, const char *end, struct duration_parts *parts)
{
    if (at == end || (*at != '.' && *at != ',')) return at;
    parts->mark = *at;
    parts->decimals = count_digits(at + 1, end);
    if (parts->decimals == 0 || parts->decimals > DECIMALS) return NULL;
    at += 1 + parts->decimals;
    parts->zero = at[-1] == '0';
    return at;
}

bool nd_duration_parts(const char *text, size_t length, struct duration_parts *parts)
{
    const char *end = text + length;
    size_t minus = nd_minus_bytes(text, end);
    const char *hours = text + minus, *at;
    uint64_t minutes, seconds = 0;
    char plain[SECONDS_TEXT];
    *parts = (struct duration_parts){.negative = minus > 0, .fields = 2, .hour_digits = count_digits(hours, end)};
    if (parts->hour_digits == 0 || parts->hour_digits > HOUR_DIGITS) return false;
    at = take_sixtieth(hours + parts->hour_digits, end, &minutes);
    if (at && at < end) {
        parts->fields = 3;
        at = take_sixtieth(at, end, &seconds);
    }
    const char *fraction = at;
    if (at && parts->fields == 3) at = take_fraction(at, end, parts);
    if (at != end) return false;
    seconds += HOUR * whole_number(hours, parts->hour_digits) + MINUTE * minutes;
    int used = snprintf(plain, sizeof plain, "%s%llu", minus ? "-" : "", (unsigned long long)seconds);
    if (parts->decimals > 0)
        snprintf(plain + used, sizeof plain - (size_t)used, ".%.*s", (int)parts->decimals, fraction + 1);
    return nd_parse_number(plain, strlen(plain), &parts->seconds) == NUMBER_FINITE;
}

static bool has_seconds(enum duration_form form)
{
    return form >= DURATION_SECONDS;
}

double nd_duration_step(enum duration_form form)
{
    return has_seconds(form) ? 1 : MINUTE;
}

bool nd_duration_padded(enum duration_form form)
{
    return form == DURATION_MINUTES_PADDED || form == DURATION_SECONDS_PADDED;
}

bool nd_duration_read(enum duration_form form, const char *text, size_t length, double *seconds)
{
    struct duration_parts parts;
    if (!nd_duration_parts(text, length, &parts) || (has_seconds(form) && parts.fields < 3)) return false;
    *seconds = ND_FAULT(FAULT_DURATION_MINUTES) && parts.fields < 3 ? parts.seconds / MINUTE : parts.seconds;
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A plain text without its exponent: 2.5e-05 as 0.000025.  Its last digit stays its last. */
static const char *without_exponent(const char *plain, char expanded[ND_NUMBER_TEXT])
{
    const char *exponent = strpbrk(plain, "eE"), *point = strchr(plain, '.');
    if (!exponent) return plain;
    long digits = (point ? exponent - point - 1 : 0) - strtol(exponent + 1, NULL, 10);
    snprintf(expanded, ND_NUMBER_TEXT, "%.*f", digits > 0 ? (int)digits : 0, strtod(plain, NULL));
    return expanded;
}

/* Whether a plain text without exponent has seconds beside its minutes. */
static bool needs_seconds(uint64_t whole, const char *fraction)
{
    return whole % MINUTE != 0 || fraction[strspn(fraction, "0")] != '\0';
}

void nd_duration_write(enum duration_form form, const char *plain, size_t decimals, char mark,
                       char text[ND_DURATION_TEXT])
{
    char expanded[ND_NUMBER_TEXT];
    bool negative = *plain == '-';
    double size = fabs(strtod(plain, NULL));
    if (!(size < 1e9 * HOUR) || (size > 0 && size < LEAST_FRACTION)) { /* read as a number of seconds */
        snprintf(text, ND_DURATION_TEXT, "%s", plain);
        return;
    }
    const char *digits = without_exponent(plain + negative, expanded);
    size_t length = strcspn(digits, ".");
    const char *fraction = digits[length] ? digits + length + 1 : "";
    uint64_t whole = whole_number(digits, length);
    size_t have = strlen(fraction), zeros = decimals > have && !ND_FAULT(FAULT_ZEROS_DROPPED) ? decimals - have : 0;
    int used = snprintf(text, ND_DURATION_TEXT, nd_duration_padded(form) ? "%s%02llu:%02llu" : "%s%llu:%02llu",
                        negative ? "-" : "", (unsigned long long)(whole / HOUR),
                        (unsigned long long)(whole / MINUTE % MINUTE));
    if (has_seconds(form) || needs_seconds(whole, fraction))
        used += snprintf(text + used, ND_DURATION_TEXT - (size_t)used, ":%02llu", (unsigned long long)(whole % MINUTE));
    if (have + zeros > 0 && (has_seconds(form) || needs_seconds(whole, fraction)))
        snprintf(text + used, ND_DURATION_TEXT - (size_t)used, "%c%s%.*s", mark, fraction, (int)zeros, "000000000");
}

/* ---- names of forms ---------------------------------------------------------------------------------------------- */

static const char *const names[DURATION_FORMS] = {"", "h:mm", "hh:mm", "h:mm:ss", "hh:mm:ss"};

const char *nd_duration_name(enum duration_form form)
{
    return names[form];
}

enum duration_form nd_duration_take(const char *name, const char **rest)
{
    for (enum duration_form form = DURATION_FORMS - 1; form > DURATION_NONE; form--) {
        size_t length = strlen(names[form]);
        if (strncmp(name, names[form], length) != 0) continue;
        *rest = name + length;
        return form;
    }
    return DURATION_NONE;
}
