/* The numbers that a column's labels are, plainly or with marks and units: 7, 1.234,5, 95%. */
#ifndef CLI_LABEL_NUMBERS_H
#define CLI_LABEL_NUMBERS_H

#include <stdbool.h>

#include "data/number_form.h"
#include "nade/nade.h"

/* The number that a label is in the form of all, or plainly where that is NULL. */
bool read_label(const struct number_form *form, const char *text, double *value);

/* A number as the column writes it, or its labels do, with or without the unit, or plainly. */
bool parse_written(const nade_column *column, const char *text, double *value);

/* Whether it writes numbers, or its labels, with a comma before the decimals. */
bool has_decimal_commas(const nade_column *column);

/* The number that a value of a column without an order plainly is: of its label, or 0 or 1 itself; NaN: none. */
double number_of(const nade_column *column, double value);

/* True when all labels are numbers, absence aside. */
bool has_numbers(const nade_column *column);

/* The same of labels that are all written in one form that is not the plain one, which *form gets. */
bool form_of_labels(const nade_column *column, struct number_form *form);

#endif
