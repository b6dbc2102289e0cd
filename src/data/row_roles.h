/* Columns that say something of the rows and are no part of a model: how much each counts, which belong together, which
 * are to be held out.  A COLS list names one column, which is taken out of the table as those of left_out.h are, so
 * that models pass over it in other tables. */
#ifndef ND_DATA_ROW_ROLES_H
#define ND_DATA_ROW_ROLES_H

#include "data/table.h"

/* Whole weights are numbers of copies while all together are at most so many times the rows: copies count as rows, and
 * many of each would make every value one that repeats.  Others only compare rows, and ND_COPIES a row stand for them
 * (train/row_copies.h). */
enum { ND_COPIES = 4 };

nade_status nd_weigh_rows(nade_context *context, struct nade_table *table, const char *column);

/* A row without a value is a group of its own. */
nade_status nd_group_rows(nade_context *context, struct nade_table *table, const char *column);

/* Numbers or dates. */
nade_status nd_time_rows(nade_context *context, struct nade_table *table, const char *column);

#endif
