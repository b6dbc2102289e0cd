/* Columns of a table that hold dates: in which form, and what it makes of them. */
#ifndef ND_DATA_DATE_COLUMN_H
#define ND_DATA_DATE_COLUMN_H

#include "data/date_text.h"
#include "data/table.h"

/* Finds the form in which all cells of a column of texts are dates.  The form that was set stays; of columns of numbers
 * only those that are likely seconds or milliseconds since 1970 have one.  NULL: found; else why there is none, with a
 * row that shows it where one does. */
const char *nd_find_date_form(const struct nade_table *table, const struct table_column *column,
                              char form[ND_FORM_SIZE], size_t *row);

/* True for a column of texts that are all dates, and many different ones, of which day and month can't be told apart.
 */
bool nd_are_ambiguous_dates(const struct table_column *column);

/* True for a column of texts of which all but some, skipped (label_count), are dates in one form, many different ones.
 */
bool nd_dates_but_for(const struct table_column *column, const bool *skipped);

/* True for a column of texts that are all dates in one form, many different ones unless the file declares them. */
bool nd_looks_like_dates(const struct nade_table *table, const struct table_column *column, char form[ND_FORM_SIZE]);

/* Notes the form, in which all cells are dates, and gives the labels their seconds.  False: no memory. */
bool nd_become_dates(struct nade_table *table, struct table_column *column, const char *form);

/* True for dates that are kept as numbers, in seconds. */
bool nd_holds_seconds(const struct table_column *column);

/* A number of a column of doubles as text, or a date. */
void nd_format_cell(const struct table_column *column, double number, char text[ND_DATE_SIZE]);

/* A cell of any table's column in seconds, NaN: missing; false: it is no date in this form. */
bool nd_date_cell(const struct table_column *column, size_t row, const char *form, double *seconds);

/* The same of a table that a model with this form is asked about: what can be read in one way alone is a date too,
 * but a day is no time. */
bool nd_date_cell_loosely(const struct table_column *column, size_t row, const char *form, double *seconds);

#endif
