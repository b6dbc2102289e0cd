/* Which rows of a table a fold tests, learns from and validates with; the rows it has not seen before.
 *
 * What is drawn here comes from splitmix64 (Steele, Lea and Flood 2014), begun with the seed in the upper half of its
 * state and the fold's number, 0 for the cut into folds, in the lower. */
#ifndef PAPER_FOLD_SPLIT_H
#define PAPER_FOLD_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of rows.  Begins all zero.  Free in any case. */
struct fold_split {
    size_t *test, *train; /* train: all rows of other folds, shuffled; the first of them are for validation */
    size_t test_count, train_count;
    size_t valid_count; /* a ninth of train_count, but one or more */
};

/* Cuts rows, shuffled by seed 0, into folds of nearly equal size: fold (rows) gets each one's, from 1.  False: no
 * memory. */
bool shuffle_folds(size_t *fold, size_t rows, size_t folds);

/* The rows of fold `number` of fold (rows).  False: no memory. */
bool fold_split_make(struct fold_split *split, const size_t *fold, size_t rows, size_t number, uint32_t seed);
void fold_split_free(struct fold_split *split);

/* Marks with 1 in is_new (test_count) the test rows of values (rows, columns) that do not occur, all columns equal,
 * among the training rows; *count is their number.  False: no memory. */
bool find_new_rows(const struct fold_split *split, const double *values, size_t columns, uint8_t *is_new,
                   size_t *count);

#endif
