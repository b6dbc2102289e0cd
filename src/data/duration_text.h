/* Durations and times of day as text: "0:23:37", "00:01:02.250", "23:37".  The number is one of seconds.
 *
 * Two fields are hours and minutes: nothing tells them from minutes and seconds.  Hours go on behind 24; minutes and
 * seconds have two digits and are below 60. */
#ifndef ND_DATA_DURATION_TEXT_H
#define ND_DATA_DURATION_TEXT_H

#include <stdbool.h>
#include <stddef.h>

enum { ND_DURATION_NAME = 16, ND_DURATION_TEXT = 48 };

/* How a column writes them. */
enum duration_form {
    DURATION_NONE, /* it has numbers */
    DURATION_MINUTES,
    DURATION_MINUTES_PADDED, /* 07:05 */
    DURATION_SECONDS,
    DURATION_SECONDS_PADDED,
    DURATION_FORMS
};

/* What a text that is a duration consists of. */
struct duration_parts {
    bool negative;
    size_t fields, hour_digits;
    char mark;       /* before a fraction of the seconds, '.' or ','; 0: there is none */
    size_t decimals; /* digits behind it */
    bool zero;       /* the last of them is one */
    double seconds;
};

bool nd_duration_parts(const char *text, size_t length, struct duration_parts *parts);

/* The number of seconds of a text; false: it is no duration of this form.  Seconds may stand where the form has none,
 * since no other fields could be meant. */
bool nd_duration_read(enum duration_form form, const char *text, size_t length, double *seconds);

/* Writes seconds, given as the plain text of a finite number, with at least so many decimals, and all that the number
 * has; seconds are added to a form without them where they are not zero. */
void nd_duration_write(enum duration_form form, const char *plain, size_t decimals, char mark,
                       char text[ND_DURATION_TEXT]);

/* The seconds between numbers that a form writes at its finest, fractions aside. */
double nd_duration_step(enum duration_form form);

/* True for hours of two digits, as clocks have them. */
bool nd_duration_padded(enum duration_form form);

/* "hh:mm:ss", and back; DURATION_NONE: the text begins with no form.  *rest: what follows. */
const char *nd_duration_name(enum duration_form form);
enum duration_form nd_duration_take(const char *name, const char **rest);

#endif
