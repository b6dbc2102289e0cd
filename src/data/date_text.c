#include "data/date_text.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char epoch[] = "epoch", epoch_ms[] = "epoch ms";
static const char digits[] = "0123456789";
static const char *const month_names[] = {"January", "February", "March",     "April",   "May",      "June",
                                          "July",    "August",   "September", "October", "November", "December"};

enum { FRACTION_MOST = 6, MONTHS = 12, SHORT_NAME = 3, LONG_NAME = 4, CENTURY_BEGINS = 69 };

/* ---- the calendar ------------------------------------------------------------------------------------------------ */

static bool is_leap(long year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static long days_of_month(long year, long month)
{
    static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days since 1970-01-01.  Years are taken to begin in March, so that the leap day is their last. */
static long days_since_1970(long year, long month, long day)
{
    long y = month <= 2 ? year - 1 : year, shifted = month <= 2 ? month + 9 : month - 3;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * shifted + 2) / 5 + day - 1 - 719468;
}

/* The inverse, for days from year 1 on. */
static void date_of_days(long days, long *year, long *month, long *day)
{
    long since = days + 719468, era = since / 146097, rest = since % 146097; /* 400 years each */
    long y = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    long of_year = rest - (365 * y + y / 4 - y / 100), shifted = (5 * of_year + 2) / 153;
    *day = of_year - (153 * shifted + 2) / 5 + 1;
    *month = shifted < 10 ? shifted + 3 : shifted - 9;
    *year = y + 400 * era + (*month <= 2);
}

/* ---- forms ------------------------------------------------------------------------------------------------------- */

enum part { YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, FRACTION, PARTS, UPPER_HALF, LOWER_HALF, LITERAL };

/* The part that a form goes on with; *width: of its letters. */
static enum part next_part(const char *form, size_t *width)
{
    static const char letters[PARTS + 1] = "YMDhmsf";
    *width = 2;
    if (strncmp(form, "PM", 2) == 0) return UPPER_HALF;
    if (strncmp(form, "pm", 2) == 0) return LOWER_HALF;
    const char *letter = strchr(letters, *form);
    *width = 1;
    if (!letter) return LITERAL;
    while (form[*width] == *form) ++*width;
    return (enum part)(letter - letters);
}

bool nd_date_is_epoch(const char *form)
{
    return strcmp(form, epoch) == 0 || strcmp(form, epoch_ms) == 0;
}

bool nd_date_form_is_good(const char *form)
{
    static const size_t most[PARTS] = {4, LONG_NAME, 2, 2, 2, 2, FRACTION_MOST};
    size_t found[PARTS] = {0}, halves = 0, width;
    if (nd_date_is_epoch(form)) return true;
    if (strlen(form) >= ND_FORM_SIZE) return false;
    for (; *form; form += width) {
        enum part part = next_part(form, &width);
        if (part == LITERAL && !strchr(" T:./-,+Z0123456789", *form)) return false;
        halves += part == UPPER_HALF || part == LOWER_HALF;
        if (part >= PARTS) continue;
        if (found[part] || width > most[part]) return false;
        if (part == YEAR && width != 2 && width != 4) return false;
        if (width < most[part] && (part == MINUTE || part == SECOND)) return false;
        found[part] = width;
    }
    return found[YEAR] && found[MONTH] && found[DAY] && !found[HOUR] == !found[MINUTE] && halves <= !!found[HOUR] &&
           (found[MINUTE] || !found[SECOND]) && (found[SECOND] || !found[FRACTION]);
}

double nd_date_finest(const char *form)
{
    double finest = ND_DAY;
    size_t width;
    if (nd_date_is_epoch(form)) return strcmp(form, epoch) == 0 ? 1 : 0.001;
    for (; *form; form += width) {
        enum part part = next_part(form, &width);
        double unit = part == MINUTE ? 60 : part == SECOND ? 1 : part == FRACTION ? pow(10, -(double)width) : ND_DAY;
        finest = fmin(finest, unit);
    }
    return finest;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A number of a part: of so many digits, or, where free, of one or two without a leading zero.  False: there is none.
 */
static bool read_digits(const char **text, const char *end, size_t width, bool free, long *number)
{
    size_t length = 0, most = free ? 2 : width;
    *number = 0;
    for (; length < most && *text + length < end && (*text)[length] >= '0' && (*text)[length] <= '9'; length++)
        *number = 10 * *number + ((*text)[length] - '0');
    bool padded = length == 2 && **text == '0';
    *text += length;
    return free ? length > 0 && !padded : length == width;
}

/* How many letters of a month's name a form writes. */
static size_t name_length(size_t month, size_t width)
{
    return width == SHORT_NAME ? SHORT_NAME : strlen(month_names[month]);
}

static bool read_month(const char **text, const char *end, size_t width, long *number)
{
    for (size_t month = 0; month < MONTHS; month++) {
        size_t length = name_length(month, width);
        if ((size_t)(end - *text) < length || strncmp(*text, month_names[month], length) != 0) continue;
        *text += length;
        *number = (long)month + 1;
        return true;
    }
    return false;
}

/* A part that is a number, or a month's name. */
static bool read_part(const char **text, const char *end, enum part part, size_t width, long *number)
{
    if (part == MONTH && width >= SHORT_NAME) return read_month(text, end, width, number);
    if (!read_digits(text, end, width, width == 1 && part != FRACTION, number)) return false;
    if (part == YEAR && width == 2) *number += *number < CENTURY_BEGINS ? 2000 : 1900;
    return true;
}

/* AM or PM, or am or pm. */
static bool read_half(const char **text, const char *end, enum part part, long *half)
{
    static const char *const upper[] = {"AM", "PM"}, *const lower[] = {"am", "pm"};
    const char *const *names = part == UPPER_HALF ? upper : lower;
    for (*half = 0; *half < 2; ++*half)
        if (end - *text >= 2 && strncmp(*text, names[*half], 2) == 0) {
            *text += 2;
            return true;
        }
    return false;
}

/* *half: 0 or 1 where the form has it, else -1.  Returns what follows the date in text, NULL: it is none. */
static const char *read_parts(const char *form, const char *text, const char *end, long value[PARTS], long *half)
{
    size_t width;
    *half = -1;
    for (; *form; form += width) {
        enum part part = next_part(form, &width);
        bool good;
        if (part == LITERAL)
            good = text < end && *text++ == *form;
        else
            good = part < PARTS ? read_part(&text, end, part, width, &value[part]) : read_half(&text, end, part, half);
        if (!good) return NULL;
    }
    return text;
}

static bool is_valid(const long value[PARTS], long half)
{
    if (value[YEAR] < 1 || value[MONTH] < 1 || value[MONTH] > 12 || value[DAY] < 1) return false;
    if (value[DAY] > days_of_month(value[YEAR], value[MONTH])) return false;
    bool hour = half < 0 ? value[HOUR] < 24 : value[HOUR] >= 1 && value[HOUR] <= 12;
    return hour && value[MINUTE] < 60 && value[SECOND] < 60;
}

/* As nd_date_read, of what the text begins with; *rest: what follows. */
static bool read_prefix(const char *form, const char *text, const char *end, double *seconds, const char **rest)
{
    long value[PARTS] = {0}, half;
    *rest = read_parts(form, text, end, value, &half);
    if (!*rest || !is_valid(value, half)) return false;
    if (half >= 0) value[HOUR] = value[HOUR] % 12 + 12 * half;
    double finest = nd_date_finest(form);
    *seconds = ND_DAY * (double)days_since_1970(value[YEAR], value[MONTH], value[DAY]) +
               (double)(3600 * value[HOUR] + 60 * value[MINUTE] + value[SECOND]);
    if (finest < 1) *seconds += (double)value[FRACTION] / round(1 / finest);
    return true;
}

bool nd_date_from_number(const char *form, double number, double *seconds)
{
    if (!nd_date_is_epoch(form)) return false;
    *seconds = strcmp(form, epoch) == 0 ? number : number / 1000;
    return *seconds >= ND_DATE_LEAST && *seconds < ND_DATE_END && number == floor(number);
}

static bool read_epoch(const char *form, const char *text, size_t length, double *seconds)
{
    size_t sign = length > 0 && *text == '-';
    double number = 0;
    if (length == sign || length > 16) return false;
    for (size_t i = sign; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        number = 10 * number + (text[i] - '0');
    }
    return nd_date_from_number(form, sign ? -number : number, seconds);
}

bool nd_date_read(const char *form, const char *text, size_t length, double *seconds)
{
    const char *rest, *end = text + length;
    if (nd_date_is_epoch(form)) return read_epoch(form, text, length, seconds);
    return read_prefix(form, text, end, seconds, &rest) && rest == end;
}

/* Of other forms day and month may be either.  So may those with points where the form has them the other way round. */
bool nd_date_read_loosely(const char *form, const char *text, double *seconds)
{
    static const char *const days[] = {"YYYY-MM-DD", "DD.MM.YYYY", "D.M.YYYY"};
    static const char *const times[] = {"", " hh:mm", "Thh:mm", " hh:mm:ss", "Thh:mm:ss"};
    size_t length = strlen(text),
           count = *form == 'M' && form[strspn(form, "M")] == '.' ? 1 : sizeof days / sizeof *days;
    if (nd_date_read(form, text, length, seconds)) return true;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < sizeof times / sizeof *times; j++) {
            char other[ND_FORM_SIZE];
            snprintf(other, sizeof other, "%s%s", days[i], times[j]);
            if (nd_date_read(other, text, length, seconds)) return true;
        }
    return false;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* The parts of a time that is given in the form's finest units. */
static void take_apart(int64_t units, int64_t per_second, long value[PARTS])
{
    int64_t second = units / per_second - (units % per_second < 0), day = second / 86400 - (second % 86400 < 0);
    long of_day = (long)(second - day * 86400);
    value[FRACTION] = (long)(units - second * per_second);
    value[HOUR] = of_day / 3600;
    value[MINUTE] = of_day / 60 % 60;
    value[SECOND] = of_day % 60;
    date_of_days((long)day, &value[YEAR], &value[MONTH], &value[DAY]);
}

static void write_month(char *to, size_t room, size_t month, size_t width)
{
    snprintf(to, room, "%.*s", (int)name_length(month, width), month_names[month]);
}

void nd_date_write(const char *form, double seconds, char text[ND_DATE_SIZE])
{
    double finest = nd_date_finest(form), per_second = finest < 1 ? round(1 / finest) : 1;
    long value[PARTS];
    size_t width, used = 0;
    seconds = fmin(fmax(seconds, ND_DATE_LEAST), ND_DATE_END - finest);
    if (nd_date_is_epoch(form)) {
        snprintf(text, ND_DATE_SIZE, "%.0f", floor(seconds * per_second + 0.5));
        return;
    }
    take_apart((int64_t)floor(seconds * per_second + (finest < 1 ? 0.5 : 0)), (int64_t)per_second, value);
    bool halves = strstr(form, "PM") || strstr(form, "pm"), late = value[HOUR] >= 12;
    if (halves) value[HOUR] = value[HOUR] % 12 ? value[HOUR] % 12 : 12;
    text[0] = '\0';
    for (; *form; form += width) {
        enum part part = next_part(form, &width);
        char *to = text + used;
        size_t room = ND_DATE_SIZE - used;
        if (part == MONTH && width >= SHORT_NAME)
            write_month(to, room, (size_t)value[MONTH] - 1, width);
        else if (part < PARTS)
            snprintf(to, room, "%0*ld", (int)width, part == YEAR && width == 2 ? value[part] % 100 : value[part]);
        else if (part == LITERAL)
            snprintf(to, room, "%c", *form);
        else
            snprintf(to, room, "%s", part == UPPER_HALF ? (late ? "PM" : "AM") : (late ? "pm" : "am"));
        used += strlen(to);
    }
}

/* ---- guessing ---------------------------------------------------------------------------------------------------- */

/* Forms of days, each before those that also read its texts. */
static const char *const days[] = {
    "YYYY-MM-DD",   "YYYY/MM/DD",  "YYYY.MM.DD", "YYYY-M-D",    "YYYY/M/D",     "DD.MM.YYYY",    "D.M.YYYY",
    "DD/MM/YYYY",   "D/M/YYYY",    "MM/DD/YYYY", "M/D/YYYY",    "DD-MM-YYYY",   "D-M-YYYY",      "MM-DD-YYYY",
    "M-D-YYYY",     "DD.MM.YY",    "DD/MM/YY",   "D/M/YY",      "MM/DD/YY",     "M/D/YY",        "DD MMM YYYY",
    "D MMM YYYY",   "DD-MMM-YYYY", "D-MMM-YYYY", "DD-MMM-YY",   "D-MMM-YY",     "DD MMMM YYYY",  "D MMMM YYYY",
    "MMM DD, YYYY", "MMM D, YYYY", "MMM D YYYY", "MMM DD YYYY", "MMMM D, YYYY", "MMMM DD, YYYY",
};

static void append(char form[ND_FORM_SIZE], const char *text, size_t length)
{
    size_t used = strlen(form);
    if (used + length >= ND_FORM_SIZE) return;
    memcpy(form + used, text, length);
    form[used + length] = '\0';
}

/* The length of a time zone that the text begins with: Z, +02, +0200 or +02:00. */
static size_t zone_length(const char *text)
{
    if (*text == 'Z') return 1;
    if (*text != '+' && *text != '-') return 0;
    size_t hours = strspn(text + 1, digits);
    if (hours == 4) return 5;
    if (hours != 2) return 0;
    return text[3] == ':' && strspn(text + 4, digits) == 2 ? 6 : 3;
}

/* Completes a form that ends with minutes by what follows them in the text: seconds, a fraction, a half, a zone. */
static void append_rest(char form[ND_FORM_SIZE], const char *rest)
{
    if (rest[0] == ':' && strspn(rest + 1, digits) == 2) {
        append(form, ":ss", 3);
        rest += 3;
        size_t length = rest[0] == '.' ? strspn(rest + 1, digits) : 0;
        if (length > 0 && length <= FRACTION_MOST) {
            append(form, ".ffffff", 1 + length);
            rest += 1 + length;
        }
    }
    if (strcmp(rest, " AM") == 0 || strcmp(rest, " PM") == 0) {
        append(form, " PM", 3);
    } else if (strcmp(rest, " am") == 0 || strcmp(rest, " pm") == 0) {
        append(form, " pm", 3);
    } else {
        append(form, rest, zone_length(rest));
    }
}

/* Where the text is a date in the form, it is one of its forms. */
static void try_form(const char *form, const char *text, struct date_forms *forms)
{
    double seconds;
    if (forms->count == ND_FORMS_MOST || !nd_date_read(form, text, strlen(text), &seconds)) return;
    memcpy(forms->form[forms->count++], form, strlen(form) + 1);
}

void nd_date_guess(const char *cell, size_t length, struct date_forms *forms)
{
    static const char *const hours[] = {" hh:mm", "Thh:mm", " h:mm"};
    char text[ND_DATE_SIZE];
    double seconds;
    const char *rest;
    forms->count = 0;
    /* All forms begin with a digit or with a month's name. */
    if (length < 6 || length >= sizeof text || !strchr("0123456789JFMASOND", *cell) || !*cell) return;
    memcpy(text, cell, length);
    text[length] = '\0';
    for (size_t d = 0; d < sizeof days / sizeof *days; d++) {
        if (!read_prefix(days[d], text, text + length, &seconds, &rest)) continue;
        try_form(days[d], text, forms);
        for (size_t h = 0; h < sizeof hours / sizeof *hours; h++) {
            char form[ND_FORM_SIZE] = "";
            append(form, days[d], strlen(days[d]));
            append(form, hours[h], strlen(hours[h]));
            if (!read_prefix(form, text, text + length, &seconds, &rest)) continue;
            append_rest(form, rest);
            try_form(form, text, forms);
        }
    }
}

void nd_date_narrow(const char *text, size_t length, struct date_forms *forms)
{
    size_t kept = 0;
    double seconds;
    for (size_t i = 0; i < forms->count; i++) {
        if (!nd_date_read(forms->form[i], text, length, &seconds)) continue;
        if (kept != i) memcpy(forms->form[kept], forms->form[i], ND_FORM_SIZE);
        kept++;
    }
    forms->count = kept;
}

static bool day_comes_first(const char *form)
{
    return strchr(form, 'D') < strchr(form, 'M');
}

bool nd_date_ambiguous(const struct date_forms *forms)
{
    for (size_t i = 1; i < forms->count; i++)
        if (day_comes_first(forms->form[i]) != day_comes_first(forms->form[0])) return true;
    return false;
}
