/* Rows of a model's values as CSV that reads back. */
#ifndef CLI_ROW_WRITER_H
#define CLI_ROW_WRITER_H

#include "nade/nade.h"
#include "output.h"

/* The line of column names; nothing for a model whose data had none, since its columns are matched by position and a
 * line of numbers would read as a row. */
void write_header(struct output *output, const nade_model *model);

/* One field: text and a suffix of ordinary characters, quoted where it must be with this or a usual separator. */
void write_field(struct output *output, const char *text, const char *suffix, char separator);

/* A date in its column's form. */
void write_date(struct output *output, const char *form, double seconds, char separator);

/* A number as its column writes numbers, so that it reads back exactly; quoted where it holds the separator. */
void write_number(struct output *output, const nade_column *column, double value, char separator);

/* One value of a column, as nade_sample gives it: a label as its text, a number so that it reads back exactly. */
void write_value(struct output *output, const nade_model *model, size_t column, double value, char separator);

/* values (rows, columns) as nade_sample gives them: labels as their text, numbers so that they read back exactly. */
void write_values(struct output *output, const nade_model *model, size_t rows, const double *values);

#endif
