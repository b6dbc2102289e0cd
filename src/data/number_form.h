/* How numbers are written where that is not the plain way: "1.234,5", "81,053", "53.5%", "51.3 cm", "$ 7.50",
 * "(20.33)", "0:23:37".
 *
 * Groups of three digits may be divided by a mark; blanks between them may be any of Unicode's that do not break.  A
 * minus stands in front of all, or of the digits, or behind them, or brackets stand for it.  Everything but the digits
 * and marks is the same in all cells of a column, so it is kept with the column and comes back with samples and
 * fillings.  A duration is a number of seconds. */
#ifndef ND_DATA_NUMBER_FORM_H
#define ND_DATA_NUMBER_FORM_H

#include <stdbool.h>

#include "base/numbers.h"
#include "data/duration_text.h"

enum {
    ND_UNIT_SIZE = 16,
    ND_DECIMALS_MOST = 6, /* that a column may always write */
    ND_NUMBER_FORM_SIZE = 2 * ND_UNIT_SIZE + 10 + ND_DECIMALS_MOST,
    ND_FORMED_NUMBER = 2 * ND_UNIT_SIZE + 2 * ND_NUMBER_TEXT
};

/* What shows that a number is negative. */
enum minus_place {
    MINUS_FIRST,         /* -$7.50, -7.50 */
    MINUS_INNER,         /* $-7.50 */
    MINUS_LAST,          /* 7.50- */
    MINUS_BRACKETS,      /* ($7.50) */
    MINUS_INNER_BRACKETS /* $(7.50) */
};

struct number_form {
    char decimal;           /* '.' or ',' */
    char thousands;         /* ',' '.' '\'' or ' '; 0: digits are not grouped */
    unsigned char decimals; /* that each number has at least, zeros among them: 2 of 7.50; 0: as many as it needs */
    unsigned char minus;    /* enum minus_place: how negative numbers are written; all that are plain are read */
    unsigned char duration; /* enum duration_form; of durations there is nothing beside marks and decimals */
    unsigned char other_decimals; /* that each number has but `odd`, which is whole; 0: none is alone in that */
    double odd;
    char prefix[ND_UNIT_SIZE]; /* with the blank behind it, if there is one */
    char suffix[ND_UNIT_SIZE]; /* with the blank before it */
};

/* The marks that numbers can have, the plain way first. */
enum { ND_MARKS = 8 };
extern const struct number_marks {
    char decimal, thousands;
} nd_number_marks[ND_MARKS];

/* What a text that may be a number consists of. */
struct number_parts {
    char prefix[ND_UNIT_SIZE], suffix[ND_UNIT_SIZE];
    unsigned fits; /* bit i: the digits are a number with nd_number_marks[i] */
    bool marked;   /* there are marks */
    bool negative;
    enum minus_place minus;            /* of a negative one */
    bool code;                         /* the digits begin with a zero as names do: 007 */
    size_t behind_point, behind_comma; /* digits behind the last one */
    bool zero;                         /* the last digit is one */
};

/* Takes a text apart; false: it is no number, or what stands around the digits is neither currency nor unit. */
bool nd_number_parts(const char *text, size_t length, struct number_parts *parts);

/* The number that a text is in this form; NULL: the plain one. */
enum number_kind nd_form_read(const struct number_form *form, const char *text, size_t length, double *value);

/* The same, with or without what stands around the digits and a blank between them, or a plain number: as people ask
 * for numbers. */
bool nd_form_read_loosely(const struct number_form *form, const char *text, double *value);

/* Writes a number, given as the plain text of it. */
void nd_form_write(const struct number_form *form, const char *plain, char text[ND_FORMED_NUMBER]);

/* True for a form that changes nothing but how many decimals are written. */
bool nd_form_is_plain(const struct number_form *form);

/* A form as text: how 1234.5 would be written; with two decimals always, 1234.00; where a negative number has not just
 * a minus in front, how that would be, (1234.00); of durations, as hh:mm:ss.  nd_plain_form_name: of plain numbers with
 * so many decimals always, NULL for 0. */
void nd_form_name(const struct number_form *form, char name[ND_NUMBER_FORM_SIZE]);
const char *nd_plain_form_name(size_t decimals);

/* What durations a column of numbers written so holds; NULL: plain numbers. */
enum duration_form nd_written_duration(const char *name);

/* The form of such a text; false: it is none. */
bool nd_form_take(const char *name, struct number_form *form);

#endif
