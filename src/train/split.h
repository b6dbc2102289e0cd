/* Which rows train and which validate. */
#ifndef ND_TRAIN_SPLIT_H
#define ND_TRAIN_SPLIT_H

#include "data/table.h"

struct split {
    size_t *train, *valid; /* row numbers, ascending */
    size_t train_count, valid_count;
};

/* Holds out round(fraction·rows) rows, at least one when fraction > 0: those with the smallest (key, row), about as
 * many in whole groups where the table has groups, or those with the greatest times where it has times.  Rows without
 * any present cell, or without weight, are in neither part. */
nade_status nd_split_rows(nade_context *context, struct arena *arena, const nade_table *table, double fraction,
                          uint32_t seed, struct split *split);

/* How many of so many rows that is. */
size_t nd_count_held(double fraction, size_t rows);

/* Fold number `fold` of `folds`: of the rows that take part, sorted by (key, row), the valid ones are numbers fold,
 * fold + folds, …; all others train.  Groups are shared out as wholes. */
nade_status nd_split_fold(nade_context *context, struct arena *arena, const nade_table *table, size_t folds,
                          size_t fold, uint32_t seed, struct split *split);

#endif
