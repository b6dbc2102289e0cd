#include "label_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"

static const char number_characters[] = "0123456789+-.eE";

/* The finite number that the text is, written plainly. */
static bool parse_number(const char *text, double *value)
{
    char *end;
    if (*text == '\0' || text[strspn(text, number_characters)] != '\0') return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value);
}

bool read_label(const struct number_form *form, const char *text, double *value)
{
    if (!form) return parse_number(text, value);
    return nd_form_read_loosely(form, text, value) && isfinite(*value);
}

/* The form of a column's numbers, or of its labels; false: the plain one. */
static bool form_of_column(const nade_column *column, struct number_form *form)
{
    if (column->label_count > 0) return form_of_labels(column, form);
    return column->written && nd_form_take(column->written, form);
}

bool parse_written(const nade_column *column, const char *text, double *value)
{
    struct number_form form;
    return read_label(form_of_column(column, &form) ? &form : NULL, text, value);
}

bool has_decimal_commas(const nade_column *column)
{
    struct number_form form;
    return form_of_column(column, &form) && form.decimal == ',';
}

double number_of(const nade_column *column, double value)
{
    double number = NAN;
    if (column->label_count == 0) return value;
    return parse_number(column->labels[(size_t)value], &number) ? number : (double)NAN;
}

bool has_numbers(const nade_column *column)
{
    size_t numbers = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        bool number = !isnan(number_of(column, (double)i));
        if (!number && column->labels[i][0] != '\0') return false;
        numbers += number;
    }
    return column->label_count == 0 || numbers > 0;
}

bool form_of_labels(const nade_column *column, struct number_form *form)
{
    struct number_parts first = {.fits = 0}, parts;
    unsigned fits = ~0u;
    if (ND_FAULT(FAULT_LABELS_PLAIN) || has_numbers(column)) return false;
    for (size_t i = 0; i < column->label_count; i++) {
        const char *label = column->labels[i];
        if (*label == '\0') continue;
        if (!nd_number_parts(label, strlen(label), &parts)) return false;
        if (first.fits == 0) first = parts;
        if (strcmp(parts.prefix, first.prefix) != 0 || strcmp(parts.suffix, first.suffix) != 0) return false;
        fits &= parts.fits;
    }
    if (first.fits == 0 || fits == 0) return false;
    size_t marks = 0;
    while (!(fits >> marks & 1)) marks++;
    *form =
        (struct number_form){.decimal = nd_number_marks[marks].decimal, .thousands = nd_number_marks[marks].thousands};
    memcpy(form->prefix, first.prefix, sizeof form->prefix);
    memcpy(form->suffix, first.suffix, sizeof form->suffix);
    return true;
}
