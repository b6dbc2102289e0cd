#include "base/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* No double, nor the middle between two, has more than 768 significant digits: behind so many, only whether
     * anything follows can matter. */
    DIGITS_MOST = 800,
    /* Powers of ten up to this one are exact doubles. */
    EXACT_POWER = 22,
    /* Integers of so many digits are exact doubles. */
    EXACT_DIGITS = 15,
    /* With at most DIGITS_MOST digits, any exponent beyond this is surely zero or infinite. */
    EXPONENT_MOST = 9999
};

/* A number as digits × 10^exponent, without leading zeros. */
struct decimal {
    bool negative;
    bool any_digit;   /* at least one digit was there, zeros included */
    bool more;        /* nonzero digits were left off */
    size_t count;     /* digits kept */
    uint64_t integer; /* the first EXACT_DIGITS of them as a number */
    int64_t exponent;
    char digits[DIGITS_MOST];
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *scan_sign(const char *at, const char *end, bool *negative)
{
    size_t minus = nd_minus_bytes(at, end);
    *negative = minus > 0;
    if (minus > 0) return at + minus;
    return at < end && *at == '+' ? at + 1 : at;
}

size_t nd_minus_bytes(const char *at, const char *end)
{
    static const char minus[] = "\xE2\x88\x92";
    if (at < end && *at == '-') return 1;
    return end - at > 3 && memcmp(at, minus, 3) == 0 ? 3 : 0;
}

/* Appends the run of digits at *at; scale is the change of the exponent for each digit that counts as appended. */
static const char *scan_digits(const char *at, const char *end, int scale, struct decimal *number)
{
    for (; at < end && is_digit(*at); at++) {
        number->any_digit = true;
        number->exponent += scale;
        if (number->count == 0 && *at == '0') continue;
        if (number->count == DIGITS_MOST) {
            number->more = number->more || *at != '0';
            number->exponent++;
            continue;
        }
        if (number->count < EXACT_DIGITS) number->integer = number->integer * 10 + (uint64_t)(*at - '0');
        number->digits[number->count++] = *at;
    }
    return at;
}

/* Reads what follows an 'e'; NULL when that is no exponent.  A huge one stays huge without overflowing. */
static const char *scan_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool negative;
    at = scan_sign(at, end, &negative);
    if (at == end || !is_digit(*at)) return NULL;
    int64_t value = 0;
    for (; at < end && is_digit(*at); at++)
        if (value < INT64_MAX / 100) value = value * 10 + (*at - '0');
    *exponent += negative ? -value : value;
    return at;
}

static bool scan_decimal(const char *text, size_t length, struct decimal *number)
{
    const char *end = text + length;
    const char *at = scan_sign(text, end, &number->negative);
    number->any_digit = number->more = false;
    number->count = 0;
    number->integer = 0;
    number->exponent = 0;
    at = scan_digits(at, end, 0, number);
    if (at < end && *at == '.') at = scan_digits(at + 1, end, -1, number);
    if (!number->any_digit) return false;
    if (at < end && (*at == 'e' || *at == 'E')) at = scan_exponent(at + 1, end, &number->exponent);
    return at == end;
}

static double power_of_ten(int64_t exponent)
{
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    return powers[exponent];
}

/* strtod rounds exactly, but takes the decimal point from the locale: an integer and an exponent need none. */
static double round_decimal(const struct decimal *number)
{
    char text[DIGITS_MOST + 24];
    memcpy(text, number->digits, number->count);
    size_t used = number->count;
    int64_t exponent = number->exponent;
    if (number->more) {
        text[used++] = '1';
        exponent--;
    }
    if (exponent > EXPONENT_MOST) exponent = EXPONENT_MOST;
    if (exponent < -EXPONENT_MOST) exponent = -EXPONENT_MOST;
    snprintf(text + used, sizeof text - used, "e%d", (int)exponent);
    return strtod(text, NULL);
}

static double decimal_magnitude(const struct decimal *number)
{
    int64_t exponent = number->exponent;
    if (number->count == 0) return 0.0;
    if (number->count <= EXACT_DIGITS && exponent >= -EXACT_POWER && exponent <= EXACT_POWER) {
        double integer = (double)number->integer;
        return exponent < 0 ? integer / power_of_ten(-exponent) : integer * power_of_ten(exponent);
    }
    return round_decimal(number);
}

/* True for the word, given in small letters, in any case. */
static bool is_word(const char *text, size_t length, const char *word)
{
    if (length != strlen(word)) return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] != word[i] && (text[i] < 'A' || text[i] > 'Z' || text[i] - 'A' + 'a' != word[i])) return false;
    return true;
}

static bool is_infinity(const char *text, size_t length)
{
    bool negative;
    const char *word = scan_sign(text, text + length, &negative);
    length -= (size_t)(word - text);
    return is_word(word, length, "inf") || is_word(word, length, "infinity");
}

enum number_kind nd_parse_number(const char *text, size_t length, double *value)
{
    struct decimal number;
    if (!scan_decimal(text, length, &number)) return is_infinity(text, length) ? NUMBER_INFINITE : NUMBER_NONE;
    double magnitude = decimal_magnitude(&number);
    if (isinf(magnitude)) return NUMBER_INFINITE;
    *value = number.negative ? -magnitude : magnitude;
    return NUMBER_FINITE;
}

/* Whatever the locale writes between the digits becomes one point. */
static void use_point(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool ours = is_digit(*from) || strchr("+-e", *from);
        if (ours)
            *to++ = *from;
        else if (to == text || to[-1] != '.')
            *to++ = '.';
    }
    *to = '\0';
}

void nd_format_digits(double value, int digits, char text[ND_NUMBER_TEXT])
{
    snprintf(text, ND_NUMBER_TEXT, "%.*g", digits, value);
    use_point(text);
}

void nd_format_number(double value, char text[ND_NUMBER_TEXT])
{
    if (!isfinite(value)) {
        snprintf(text, ND_NUMBER_TEXT, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        nd_format_digits(value, digits, text);
        if (nd_parse_number(text, strlen(text), &back) == NUMBER_FINITE && back == value) return;
    }
}
