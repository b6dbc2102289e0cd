/* Sentinels: numbers that stand for a missing cell, -999 in a column of ages; and marks such as - among labels. */
#ifndef ND_DATA_SENTINELS_H
#define ND_DATA_SENTINELS_H

#include "data/table.h"

/* Makes the sentinels of a table's columns of numbers, few integers that were taken for labels among them, missing
 * cells and keeps their numbers in the column, for the model; and doubtful marks among labels (missing_marks.h), unless
 * they are the commonest or fewer than two others are there.  Types that were found are found anew without them.
 * keep: a COLS list of columns that are left as they are, NULL: none.  One warning names columns and numbers. */
nade_status nd_drop_sentinels(nade_context *context, struct nade_table *table, const char *keep);

#endif
