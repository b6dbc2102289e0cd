/* The rules by which a column's values give it a type (docs/formats.md), and how a caller overrides them. */
#ifndef ND_DATA_COLUMN_TYPES_H
#define ND_DATA_COLUMN_TYPES_H

#include "data/table.h"

/* Fills in each column's type by the rules of docs/formats.md.  False: no memory. */
bool nd_find_types(struct nade_table *table);

/* The same of one column, some of whose cells have become missing. */
void nd_find_type_anew(const struct nade_table *table, struct table_column *column);

/* Notes the least and the largest number of a column of doubles. */
void nd_find_range(const struct nade_table *table, struct table_column *column);

/* True for digits alone, some with leading zeros. */
bool nd_holds_codes(const struct table_column *column);

/* The columns of a COLS list, which may be NULL: *chosen (source columns, by place) is the caller's to free.  what
 * begins the sentence when it fails. */
nade_status nd_list_columns(nade_context *context, const struct nade_table *table, const char *what, const char *list,
                            bool **chosen);

/* The columns of a COLS list, all of which must allow the type: *chosen (source columns, by place) is the caller's to
 * free.  what ("the list of binary columns") begins the sentence when it fails. */
nade_status nd_choose_columns(nade_context *context, const struct nade_table *table, const char *what, const char *list,
                              nade_type type, bool **chosen);

/* Overrides the type of the columns in a COLS list, all or none; numbers count the columns of the data as they were
 * before any were left out.  Of dates a form may follow the list, "a,b=DD/MM/YYYY". */
nade_status nd_set_types(nade_context *context, struct nade_table *table, const char *list, nade_type type);

#endif
