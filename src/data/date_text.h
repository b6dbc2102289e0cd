/* Dates and times as texts, and as seconds since 1970-01-01 00:00 by the same clock, without leap seconds.
 *
 * How a column writes them is its form: a text in which YYYY, MM, DD, hh, mm, ss and fff stand for year, month, day,
 * hour, minute, second and its fraction (as many f as digits), M, D and h for numbers without a leading zero, YY for a
 * year from 1969 to 2068, MMM and MMMM for the month's English name, cut to three letters or whole, PM and pm for the
 * half of the day; anything else stands for itself, a time zone such as Z or +02:00 too.  The forms "epoch" and
 * "epoch ms" are seconds and milliseconds since 1970.  Days are those of the Gregorian calendar from year 1 to 9999. */
#ifndef ND_DATA_DATE_TEXT_H
#define ND_DATA_DATE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { ND_FORM_SIZE = 48, ND_DATE_SIZE = 64, ND_FORMS_MOST = 16 };

/* Seconds of a day and a week; 1970-01-05 was a Monday, and so was 0001-01-01. */
#define ND_DAY 86400.0
#define ND_WEEK (7 * ND_DAY)
#define ND_FIRST_MONDAY (4 * ND_DAY)
#define ND_DATE_LEAST (-62135596800.0)
#define ND_DATE_END 253402300800.0 /* the first second of year 10000 */

/* False: the text is no date in this form. */
bool nd_date_read(const char *form, const char *text, size_t length, double *seconds);

/* The same, or a date that can be read in one way alone, with a time or without one: an ISO date, or one with points
 * between day, month and year. */
bool nd_date_read_loosely(const char *form, const char *text, double *seconds);

/* Writes a time within the years 1 to 9999, cut to what the form can tell. */
void nd_date_write(const char *form, double seconds, char text[ND_DATE_SIZE]);

/* True for the two forms that are numbers. */
bool nd_date_is_epoch(const char *form);

/* The seconds that a number is in a form of epochs; false: the form is another, or the number is beyond all years. */
bool nd_date_from_number(const char *form, double number, double *seconds);

/* True for a form that tells a day. */
bool nd_date_form_is_good(const char *form);

/* The finest difference that a form can tell, in seconds: a day, a minute, a second, a part of one. */
double nd_date_finest(const char *form);

/* The forms, likelier ones first, in which a text may be a date. */
struct date_forms {
    size_t count;
    char form[ND_FORMS_MOST][ND_FORM_SIZE];
};

void nd_date_guess(const char *text, size_t length, struct date_forms *forms);

/* Keeps the forms in which this text is a date too. */
void nd_date_narrow(const char *text, size_t length, struct date_forms *forms);

/* True when it can't be told which number is the day and which the month. */
bool nd_date_ambiguous(const struct date_forms *forms);

#endif
