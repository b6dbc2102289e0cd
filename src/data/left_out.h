/* Columns from which nothing can be learnt: numbers and names of rows, and empty ones. */
#ifndef ND_DATA_LEFT_OUT_H
#define ND_DATA_LEFT_OUT_H

#include "data/table.h"

/* Takes such columns out of a table, unless their type was given by hand or keep, a COLS list that may be NULL, names
 * them, and keeps their names and places for the model.  Empty ones go in any case, and arrays lose no others.  A table
 * that would have no column left keeps those that are not empty.  One warning names them. */
nade_status nd_leave_out(nade_context *context, struct nade_table *table, const char *keep);

#endif
