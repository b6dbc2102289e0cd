/* Which rows of a table that is too large to be loaded stand for it: some that are spread evenly, every row that is the
 * first to hold a value of a column (of its first ones) or a missing cell of it, and the first that hold its least and
 * its largest number.
 *
 * Ranks look at their own rows and then merge what they saw, in the order of the rows, which is that of the ranks: the
 * sample is the one that one process finds, since what is new among all rows is new among a rank's, too. */
#ifndef ND_DATA_ROW_SAMPLE_H
#define ND_DATA_ROW_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/shared_work.h"
#include "data/row_list.h"

/* Different values, each with the first row that holds it. */
struct first_rows {
    uint32_t *slot; /* (slots) hash table: 1 + a value's number, 0 = free */
    uint64_t *key;  /* (count) what stands for a value */
    size_t *row;    /* (count) ascending */
    size_t slots, room, count;
};

struct sampled_column {
    struct first_rows numbers, texts;
    double low, high;         /* of the numbers */
    size_t low_row, high_row; /* the first that hold them */
    size_t missing_row;       /* the first that lacks it */
    bool begun, missing;      /* there is a number, a missing cell */
};

/* Begins all zero but for what nd_sample_begin sets. */
struct row_sample {
    nade_context *context;
    size_t columns;
    struct sampled_column *column; /* (columns) */
};

nade_status nd_sample_begin(nade_context *context, size_t columns, struct row_sample *sample);
void nd_sample_end(struct row_sample *sample);

/* A cell of a row; rows are shown in ascending order.  NaN: it is missing.  False: no memory. */
bool nd_sample_number(struct row_sample *sample, size_t column, double number, size_t row);

/* A cell that is no number. */
bool nd_sample_text(struct row_sample *sample, size_t column, const char *text, size_t length, size_t row);

/* Adds so many to the numbers of all rows that were shown, where those before them were not known yet. */
void nd_sample_shift(struct row_sample *sample, size_t rows);

/* Brings together what all ranks saw. */
nade_status nd_sample_merge(struct row_sample *sample);

/* *list: the chosen ones of the rows first … first+count-1 of so many that the table has.  wanted: how many are to be
 * spread over all of these. */
nade_status nd_sample_list(const struct row_sample *sample, size_t wanted, size_t all, struct share own,
                           struct row_list *list);

/* How many rows are spread over a table of so many columns. */
size_t nd_sample_wanted(size_t columns);

#endif
