#include "base/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

enum {
    /* No double, nor the middle between two, has more than 768 significant digits: behind so many, only whether
     * anything follows can matter. */
    DIGITS_MOST = 800,
    /* With at most DIGITS_MOST digits, any exponent beyond this is surely zero or infinite. */
    EXPONENT_MOST = 9999
};

/* A number as digits × 10^exponent, without leading zeros. */
struct decimal {
    bool negative;
    bool any_digit; /* at least one digit was there, zeros included */
    bool more;      /* nonzero digits were left off */
    size_t count;   /* digits kept */
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
    number->exponent = 0;
    at = scan_digits(at, end, 0, number);
    if (at < end && *at == '.') at = scan_digits(at + 1, end, -1, number);
    if (!number->any_digit) return false;
    if (at < end && (*at == 'e' || *at == 'E')) at = scan_exponent(at + 1, end, &number->exponent);
    return at == end;
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

/* ---- numbers of few digits --------------------------------------------------------------------------------------- */

enum {
    SHORT_DIGITS = 19,  /* any integer of so many fits into 64 bits */
    SHORT_POWER = 27,   /* so does 5 to this power */
    EXACT_POWER = 22,   /* 10 to this power is a double */
    MANTISSA_BITS = 53, /* integers of so many are doubles */
    EXPONENT_DIGITS = 4
};

__extension__ typedef unsigned __int128 wide;

/* A number as mantissa × 10^exponent. */
struct short_decimal {
    uint64_t mantissa;
    int exponent;
    ptrdiff_t digits; /* of the mantissa */
    bool negative;
};

/* Appends the run of digits at *at to the mantissa; those behind leading zeros count. */
static inline const char *take_digits(const char *at, const char *end, struct short_decimal *number)
{
    uint64_t mantissa = number->mantissa;
    if (mantissa == 0)
        while (at < end && *at == '0') at++;
    const char *first = at;
    for (; at < end && is_digit(*at); at++) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    number->mantissa = mantissa;
    number->digits += at - first;
    return at;
}

/* Adds what follows an 'e'; returns where it ends, NULL where that is no exponent or a long one. */
static const char *take_exponent(const char *at, const char *end, int *exponent)
{
    int64_t value = 0;
    if (end - at > EXPONENT_DIGITS) return NULL;
    at = scan_exponent(at, end, &value);
    *exponent += (int)value;
    return at;
}

/* What most numbers are: few digits and a small exponent.  False: it is not like that, and perhaps no number. */
static inline bool scan_short(const char *text, size_t length, struct short_decimal *number)
{
    number->negative = *text == '-';
    const char *end = text + length, *first = text + (number->negative | (*text == '+')), *at = first;
    ptrdiff_t points = 0;
    number->mantissa = 0;
    number->exponent = 0;
    number->digits = 0;
    at = take_digits(at, end, number);
    if (at < end && *at == '.') {
        const char *point = at++;
        at = take_digits(at, end, number);
        if (at - point > SHORT_DIGITS + SHORT_POWER) return false;
        number->exponent = (int)(point + 1 - at);
        points = 1;
    }
    if (at - first == points || number->digits > SHORT_DIGITS) return false;
    if (at < end && (*at == 'e' || *at == 'E')) at = take_exponent(at + 1, end, &number->exponent);
    return at == end && number->exponent >= -SHORT_POWER && number->exponent <= SHORT_POWER;
}

/* bits × 2^exponent, or a little more, as the nearest double, ties to even.  There are at least two bits more than a
 * double has, and the result is neither subnormal nor infinite. */
static double round_bits(uint64_t bits, bool more, int exponent)
{
    int dropped = 64 - MANTISSA_BITS - __builtin_clzll(bits);
    uint64_t kept = bits >> dropped, half = (uint64_t)1 << (dropped - 1), rest = bits & (2 * half - 1);
    if (rest > half || (rest == half && ((more && !ND_FAULT(FAULT_TIE_UNSEEN)) || (kept & 1)))) kept++;
    uint64_t power_bits = (uint64_t)(1023 + exponent + dropped) << (MANTISSA_BITS - 1);
    double power;
    memcpy(&power, &power_bits, sizeof power);
    return (double)kept * power;
}

static const uint64_t fives[SHORT_POWER + 1] = {
    1,
    5,
    25,
    125,
    625,
    3125,
    15625,
    78125,
    390625,
    1953125,
    9765625,
    48828125,
    244140625,
    1220703125,
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

/* mantissa × 5^e × 2^e, where a quotient or product of 128 bits loses nothing unseen. */
static double round_short(const struct short_decimal *number)
{
    int exponent = number->exponent, shift = __builtin_clzll(number->mantissa);
    uint64_t five = fives[exponent < 0 ? -exponent : exponent], mantissa = number->mantissa << shift;
    int five_shift = __builtin_clzll(five);
    five <<= five_shift;
    if (exponent < 0) {
        wide numerator = (wide)mantissa << 63; /* so that the quotient has 63 or 64 bits */
        uint64_t quotient = (uint64_t)(numerator / five);
        return round_bits(quotient, (wide)quotient * five != numerator, five_shift - shift - 63 + exponent);
    }
    wide product = (wide)mantissa * five;
    return round_bits((uint64_t)(product >> 64), (uint64_t)product != 0, 64 - shift - five_shift + exponent);
}

static double short_magnitude(const struct short_decimal *number)
{
    static const double tens[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int exponent = number->exponent;
    if (number->mantissa == 0) return 0.0;
    if (number->mantissa >> MANTISSA_BITS || exponent < -EXACT_POWER || exponent > EXACT_POWER)
        return round_short(number);
    double integer = (double)number->mantissa; /* both are exact, so one operation rounds once */
    return exponent < 0 ? integer / tens[-exponent] : integer * tens[exponent];
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

/* Numbers of many digits, and what is none. */
static enum number_kind parse_long(const char *text, size_t length, double *value)
{
    struct decimal number;
    if (!scan_decimal(text, length, &number)) return is_infinity(text, length) ? NUMBER_INFINITE : NUMBER_NONE;
    double magnitude = number.count == 0 ? 0.0 : round_decimal(&number);
    if (isinf(magnitude)) return NUMBER_INFINITE;
    *value = number.negative ? -magnitude : magnitude;
    return NUMBER_FINITE;
}

enum number_kind nd_parse_number(const char *text, size_t length, double *value)
{
    static const double signs[] = {1.0, -1.0}; /* no branch: half of all guesses at signs are wrong */
    struct short_decimal number;
    if (length == 0 || !scan_short(text, length, &number)) return parse_long(text, length, value);
    *value = short_magnitude(&number) * signs[number.negative];
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
