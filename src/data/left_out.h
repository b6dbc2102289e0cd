/* Columns from which nothing can be learnt: numbers and names of rows, and empty ones. */
#ifndef ND_DATA_LEFT_OUT_H
#define ND_DATA_LEFT_OUT_H

#include "data/table.h"

/* Takes such columns out of a table, unless their type was given by hand or keep, a COLS list that may be NULL, names
 * them, and keeps their names and places for the model.  Empty ones go in any case, and arrays lose no others.  A table
 * that would have no column left keeps those that are not empty.  One warning names them. */
nade_status nd_leave_out(nade_context *context, struct nade_table *table, const char *keep);

/* Takes the columns out that have a reason (columns; NULL: it stays), and keeps their names and places in the room that
 * was made for them before.  NULL: no memory. */
struct left_out *nd_left_out_room(struct nade_table *table, const char *const *reasons);
void nd_take_out(struct nade_table *table, const char *const *reasons, struct left_out *room);

/* The sentence for a table whose cells are kept as text, which can't lose columns. */
nade_status nd_refuse_kept_text(nade_context *context);

#endif
