/* Decimal numbers to and from text, exactly and the same in every locale. */
#ifndef ND_BASE_NUMBERS_H
#define ND_BASE_NUMBERS_H

#include <stddef.h>

enum number_kind {
    NUMBER_NONE,    /* not a number: text, hexadecimal, a number with something behind it */
    NUMBER_FINITE,  /* *value is the nearest double */
    NUMBER_INFINITE /* inf, infinity in any case, or a magnitude beyond the largest double */
};

/* Reads all of text: an optional sign, digits with at most one point, an optional exponent.  *value is set for
 * NUMBER_FINITE alone. */
enum number_kind nd_parse_number(const char *text, size_t length, double *value);

/* Bytes of the minus at a place: of '-', or of U+2212, as typeset tables have it; 0: there is none. */
size_t nd_minus_bytes(const char *at, const char *end);

enum { ND_NUMBER_TEXT = 32 };

/* A finite number with at most so many significant digits (1 to 17), as C's %g writes them. */
void nd_format_digits(double value, int digits, char text[ND_NUMBER_TEXT]);

/* The shortest of 15, 16 and 17 significant digits that reads back as the same double; "nan", "inf" or "-inf". */
void nd_format_number(double value, char text[ND_NUMBER_TEXT]);

#endif
