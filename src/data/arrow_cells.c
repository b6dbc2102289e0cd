#include "data/arrow_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "data/array_items.h"
#include "data/date_text.h"

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* How many buffers an array of a type has at least, that of the missing cells included. */
static int64_t buffers_of(enum arrow_kind kind)
{
    return kind == ARROW_EMPTY ? 0 : kind == ARROW_TEXT || kind == ARROW_VIEW ? 3 : 2;
}

const char *nd_arrow_cells(const struct ArrowArray *array, struct arrow_type type, struct arrow_cells *cells,
                           char *problem, size_t size)
{
    int64_t buffers = buffers_of(type.kind);
    bool any = array->length > 0 && buffers > 0, good = false;
    if (array->length < 0 || array->offset < 0 || array->length > INT64_MAX / 16 - array->offset)
        snprintf(problem, size, "has the length %lld and the offset %lld, expected none to be negative or huge",
                 (long long)array->length, (long long)array->offset);
    else if (array->n_buffers < buffers)
        snprintf(problem, size, "has %lld buffers, expected %lld", (long long)array->n_buffers, (long long)buffers);
    else if (any && (!array->buffers || !array->buffers[1]))
        snprintf(problem, size, "has no buffer of its cells, expected one");
    else
        good = true;
    if (!good) return problem;
    *cells = (struct arrow_cells){
        .array = array,
        .type = type,
        .present = any && array->null_count != 0 ? array->buffers[0] : NULL,
        .count = (size_t)array->length,
    };
    return NULL;
}

static bool bit_at(const unsigned char *bits, size_t at)
{
    return bits[at / 8] >> at % 8 & 1;
}

bool nd_arrow_missing(const struct arrow_cells *cells, size_t cell)
{
    size_t at = ND_FAULT(FAULT_ARROW_OFFSET) ? cell : (size_t)cells->array->offset + cell;
    return cells->type.kind == ARROW_EMPTY || (cells->present && !bit_at(cells->present, at));
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Copies items of a C type, wherever they lie, as another. */
#define COPY_ITEMS(type, to_type, from, count, to)                                                                     \
    for (size_t i = 0; i < (count); i++) {                                                                             \
        type item;                                                                                                     \
        memcpy(&item, (from) + i * sizeof item, sizeof item);                                                          \
        (to)[i] = (to_type)item;                                                                                       \
    }

static void copy_signed(const unsigned char *from, size_t bytes, size_t count, double *to)
{
    if (bytes == 1) {
        COPY_ITEMS(int8_t, double, from, count, to)
    } else if (bytes == 2) {
        COPY_ITEMS(int16_t, double, from, count, to)
    } else if (bytes == 4) {
        COPY_ITEMS(int32_t, double, from, count, to)
    } else {
        COPY_ITEMS(int64_t, double, from, count, to)
    }
}

static void copy_unsigned(const unsigned char *from, size_t bytes, size_t count, double *to)
{
    if (bytes == 1) {
        COPY_ITEMS(uint8_t, double, from, count, to)
    } else if (bytes == 2) {
        COPY_ITEMS(uint16_t, double, from, count, to)
    } else if (bytes == 4) {
        COPY_ITEMS(uint32_t, double, from, count, to)
    } else {
        COPY_ITEMS(uint64_t, double, from, count, to)
    }
}

static void copy_bits(const unsigned char *bits, size_t first, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) to[i] = bit_at(bits, first + i);
}

/* The number of fewest decimals that is as near to a float as the float's own precision, half a unit of its last digit,
 * can tell; the float itself where nine are too few. */
static double as_written(double number, double half_unit)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
    const double shift = 6755399441055744.0; /* 1.5 * 2^52: what is added to it is rounded to an integer */
    if (ND_FAULT(FAULT_ARROW_FLOATS)) return number;
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++) {
        double scaled = number * powers[k], whole = (scaled + shift) - shift;
        if (fabs(scaled) >= 0x1p51) break;
        if (fabs(scaled - whole) < half_unit * powers[k]) return whole / powers[k];
    }
    return number;
}

static double half_unit_of(double number, int digits)
{
    int exponent;
    frexp(number, &exponent);
    return ldexp(1, exponent - digits - 1);
}

static void copy_floats(const unsigned char *from, size_t bytes, size_t count, double *to)
{
    enum { HALF_DIGITS = 11, SINGLE_DIGITS = 24 };
    if (bytes == 8) {
        memcpy(to, from, count * sizeof *to);
        return;
    }
    if (bytes == 4) {
        COPY_ITEMS(float, double, from, count, to)
    } else {
        COPY_ITEMS(uint16_t, double, from, count, to)
        for (size_t i = 0; i < count; i++) to[i] = nd_half_to_double((uint64_t)to[i]);
    }
    for (size_t i = 0; i < count; i++)
        if (isfinite(to[i])) to[i] = as_written(to[i], half_unit_of(to[i], bytes == 4 ? SINGLE_DIGITS : HALF_DIGITS));
}

/* A two's complement number of 16 bytes, low ones first. */
static double wide_number(const unsigned char *from)
{
    uint64_t low, high;
    memcpy(&low, from, sizeof low);
    memcpy(&high, from + sizeof low, sizeof high);
    bool negative = high >> 63;
    if (negative) {
        low = ~low + 1;
        high = ~high + (low == 0);
    }
    double magnitude = (double)high * 0x1p64 + (double)low;
    return negative ? -magnitude : magnitude;
}

static void copy_decimals(const unsigned char *from, const struct arrow_type *type, size_t count, double *to)
{
    double scale = pow(10, abs(type->scale));
    if (type->bytes < 16) {
        copy_signed(from, type->bytes, count, to);
    } else {
        for (size_t i = 0; i < count; i++) to[i] = wide_number(from + i * type->bytes);
    }
    for (size_t i = 0; i < count; i++) to[i] = type->scale < 0 ? to[i] * scale : to[i] / scale;
}

void nd_arrow_numbers(const struct arrow_cells *cells, size_t first, size_t count, double *numbers)
{
    const struct arrow_type *type = &cells->type;
    size_t at = (size_t)cells->array->offset + first;
    if (type->kind != ARROW_EMPTY) {
        const unsigned char *from = cells->array->buffers[1], *items = from + at * type->bytes;
        if (type->kind == ARROW_TRUTH) copy_bits(from, at, count, numbers);
        if (type->kind == ARROW_SIGNED) copy_signed(items, type->bytes, count, numbers);
        if (type->kind == ARROW_UNSIGNED) copy_unsigned(items, type->bytes, count, numbers);
        if (type->kind == ARROW_FLOAT) copy_floats(items, type->bytes, count, numbers);
        if (type->kind == ARROW_DECIMAL) copy_decimals(items, type, count, numbers);
    }
    if (!cells->present && type->kind != ARROW_EMPTY) return;
    for (size_t i = 0; i < count; i++)
        if (nd_arrow_missing(cells, first + i)) numbers[i] = NAN;
}

/* ---- whole numbers and dates ------------------------------------------------------------------------------------- */

static void copy_integers(const struct arrow_cells *cells, size_t first, size_t count, int64_t *to)
{
    const struct arrow_type *type = &cells->type;
    const unsigned char *from =
        (const unsigned char *)cells->array->buffers[1] + ((size_t)cells->array->offset + first) * type->bytes;
    bool natural = type->kind == ARROW_UNSIGNED;
    if (type->bytes == 8) {
        COPY_ITEMS(int64_t, int64_t, from, count, to)
    } else if (type->bytes == 4 && natural) {
        COPY_ITEMS(uint32_t, int64_t, from, count, to)
    } else if (type->bytes == 4) {
        COPY_ITEMS(int32_t, int64_t, from, count, to)
    } else if (type->bytes == 2 && natural) {
        COPY_ITEMS(uint16_t, int64_t, from, count, to)
    } else if (type->bytes == 2) {
        COPY_ITEMS(int16_t, int64_t, from, count, to)
    } else if (natural) {
        COPY_ITEMS(uint8_t, int64_t, from, count, to)
    } else {
        COPY_ITEMS(int8_t, int64_t, from, count, to)
    }
}

void nd_arrow_indices(const struct arrow_cells *cells, size_t first, size_t count, int64_t *indices)
{
    copy_integers(cells, first, count, indices);
    for (size_t i = 0; i < count; i++)
        if (nd_arrow_missing(cells, first + i)) indices[i] = ND_ARROW_MISSING;
}

/* Seconds of an item; what is finer than microseconds is cut off. */
static double to_seconds(int64_t item, int64_t per_second, enum finest *finest)
{
    enum { MICROSECONDS = 1000000 };
    if (per_second == 0) return (double)item * ND_DAY;
    int64_t rest = item % per_second, second = item / per_second - (rest < 0);
    if (rest < 0) rest += per_second;
    int64_t parts = per_second < MICROSECONDS ? per_second : MICROSECONDS;
    rest /= per_second / parts;
    enum finest found = second % 86400 == 0 ? FINEST_DAY : FINEST_SECOND;
    if (rest > 0) found = rest * MICROSECONDS / parts % 1000 == 0 ? FINEST_MILLISECOND : FINEST_MICROSECOND;
    if (found > *finest) *finest = found;
    return (double)second + (double)rest / (double)parts;
}

size_t nd_arrow_dates(const struct arrow_cells *cells, size_t first, size_t count, double *seconds, enum finest *finest)
{
    int64_t items[ND_ARROW_BLOCK];
    copy_integers(cells, first, count, items);
    for (size_t i = 0; i < count; i++) {
        seconds[i] = NAN;
        if (nd_arrow_missing(cells, first + i)) continue;
        seconds[i] = to_seconds(items[i], cells->type.per_second, finest);
        if (seconds[i] < ND_DATE_LEAST || seconds[i] >= ND_DATE_END) return i;
    }
    return count;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *text_between(const struct ArrowArray *array, int64_t begin, int64_t end, size_t *length)
{
    const char *texts = array->buffers[2];
    if (begin < 0 || end < begin || (end > begin && !texts)) return NULL;
    *length = (size_t)(end - begin);
    return *length > 0 ? texts + begin : "";
}

/* 16 bytes: a length, and the text itself where it has at most 12 bytes; else its first four, the number of its buffer
 * and where it begins there. */
static const char *viewed_text(const struct ArrowArray *array, size_t at, size_t *length)
{
    enum { INSIDE_MOST = 12 };
    const char *view = (const char *)array->buffers[1] + at * 16;
    int32_t bytes, buffer, begin;
    memcpy(&bytes, view, sizeof bytes);
    memcpy(&buffer, view + 8, sizeof buffer);
    memcpy(&begin, view + 12, sizeof begin);
    *length = (size_t)bytes;
    if (bytes >= 0 && bytes <= INSIDE_MOST) return view + 4;
    if (bytes < 0 || begin < 0 || buffer < 0 || buffer >= array->n_buffers - 3) return NULL; /* the last has lengths */
    const char *texts = array->buffers[2 + buffer];
    return texts ? texts + begin : NULL;
}

const char *nd_arrow_text(const struct arrow_cells *cells, size_t cell, size_t *length)
{
    const struct ArrowArray *array = cells->array;
    size_t at = (size_t)array->offset + cell;
    if (cells->type.kind == ARROW_VIEW) return viewed_text(array, at, length);
    const unsigned char *offsets = (const unsigned char *)array->buffers[1] + at * cells->type.bytes;
    if (cells->type.bytes == 4) {
        int32_t ends[2];
        memcpy(ends, offsets, sizeof ends);
        return text_between(array, ends[0], ends[1], length);
    }
    int64_t ends[2];
    memcpy(ends, offsets, sizeof ends);
    return text_between(array, ends[0], ends[1], length);
}
