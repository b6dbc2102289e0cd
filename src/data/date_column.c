#include "data/date_column.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"

/* Fewer different dates than that are names of days, of surveys say. */
enum { DATES_LEAST = 20 };

static bool has_dictionary(const struct table_column *column)
{
    return column->storage != STORE_DOUBLES && column->storage != STORE_UNUSABLE;
}

bool nd_holds_seconds(const struct table_column *column)
{
    return column->storage == STORE_DOUBLES && column->form && !nd_date_is_epoch(column->form);
}

void nd_format_cell(const struct table_column *column, double number, char text[ND_DATE_SIZE])
{
    if (nd_holds_seconds(column) && !isnan(number))
        nd_date_write(column->form, number, text);
    else
        nd_format_number(number, text);
}

bool nd_date_cell(const struct table_column *column, size_t row, const char *form, double *seconds)
{
    *seconds = NAN;
    if (column->storage == STORE_DOUBLES) {
        double number = column->cells.numbers[row];
        bool dates = nd_holds_seconds(column); /* read as such */
        if (dates) *seconds = number;
        return dates || isnan(number) || nd_date_from_number(form, number, seconds);
    }
    size_t code = nd_table_code(column, row);
    if (code == SIZE_MAX) return true;
    const char *text = column->labels[code].text;
    return nd_date_read(form, text, strlen(text), seconds);
}

bool nd_date_cell_loosely(const struct table_column *column, size_t row, const char *form, double *seconds)
{
    if (nd_date_cell(column, row, form, seconds)) return true;
    size_t code = nd_table_code(column, row);
    if (code == SIZE_MAX || ND_FAULT(FAULT_DATES_IN_ONE_FORM)) return false;
    const char *text = column->labels[code].text;
    if (strchr(form, 'h') && !strchr(text, ':')) return false;
    return nd_date_read_loosely(form, text, seconds);
}

/* The row of the first cell that is no date in this form; the table's rows: none. */
static size_t first_other(const struct nade_table *table, const struct table_column *column, const char *form)
{
    double seconds;
    size_t row = 0;
    while (row < table->rows && nd_date_cell(column, row, form, &seconds)) row++;
    return row;
}

/* The form of numbers of about this size: seconds reach from 1973 to 5138, milliseconds from 1973 on. */
static const char *epoch_of(double number)
{
    return fabs(number) < 1e8 ? NULL : fabs(number) < 1e11 ? "epoch" : "epoch ms";
}

static const char *find_epoch(const struct nade_table *table, const struct table_column *column,
                              char form[ND_FORM_SIZE], size_t *row)
{
    double largest = 0;
    for (size_t i = 0; i < table->rows; i++) {
        double number = fabs(nd_table_number(column, i));
        if (number > largest) largest = number;
    }
    const char *found = epoch_of(largest);
    if (!found) return "holds numbers, expected dates, or seconds or milliseconds since 1970";
    snprintf(form, ND_FORM_SIZE, "%s", found);
    *row = first_other(table, column, form);
    return *row < table->rows ? "holds numbers, expected seconds or milliseconds since 1970" : NULL;
}

/* The forms in which all texts are dates; before: in which those before the first other are. */
static void narrow_forms(const struct table_column *column, struct date_forms *forms, struct date_forms *before)
{
    const struct label *label = column->labels;
    before->count = 0;
    nd_date_guess(label->text, strlen(label->text), forms);
    for (size_t i = 1; i < column->label_count && forms->count > 0; i++) {
        *before = *forms;
        nd_date_narrow(column->labels[i].text, strlen(column->labels[i].text), forms);
    }
}

static const char *find_in_texts(const struct nade_table *table, const struct table_column *column,
                                 char form[ND_FORM_SIZE], size_t *row)
{
    struct date_forms forms, before;
    narrow_forms(column, &forms, &before);
    if (forms.count == 0) {
        *row = before.count > 0 ? first_other(table, column, before.form[0]) : 0;
        return before.count > 0 ? "holds dates of more than one form, or none, expected one form"
                                : "holds no dates, expected a form such as YYYY-MM-DD or DD.MM.YYYY hh:mm";
    }
    if (nd_date_ambiguous(&forms))
        return "holds dates of which day and month can't be told apart, expected a day after the 12th; or "
               "name the form of its dates";
    snprintf(form, ND_FORM_SIZE, "%s", forms.form[0]);
    return NULL;
}

const char *nd_find_date_form(const struct nade_table *table, const struct table_column *column,
                              char form[ND_FORM_SIZE], size_t *row)
{
    if (column->form) {
        snprintf(form, ND_FORM_SIZE, "%s", column->form);
        return NULL;
    }
    if (nd_column_is_numeric(column)) return find_epoch(table, column, form, row);
    return find_in_texts(table, column, form, row);
}

bool nd_looks_like_dates(const struct nade_table *table, const struct table_column *column, char form[ND_FORM_SIZE])
{
    size_t row, least = column->declared == DECLARED_DATES ? 1 : DATES_LEAST;
    if (column->storage == STORE_DOUBLES && column->form) return nd_find_date_form(table, column, form, &row) == NULL;
    return has_dictionary(column) && column->label_count >= least && !nd_column_is_numeric(column) &&
           find_in_texts(table, column, form, &row) == NULL;
}

bool nd_dates_but_for(const struct table_column *column, const bool *skipped)
{
    struct date_forms forms;
    size_t dates = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = column->labels[i].text;
        if (skipped[i]) continue;
        if (dates++ == 0)
            nd_date_guess(text, strlen(text), &forms);
        else
            nd_date_narrow(text, strlen(text), &forms);
        if (forms.count == 0) return false;
    }
    return dates >= DATES_LEAST;
}

bool nd_are_ambiguous_dates(const struct table_column *column)
{
    struct date_forms forms, before;
    if (!has_dictionary(column) || column->label_count < DATES_LEAST || column->form) return false;
    narrow_forms(column, &forms, &before);
    return forms.count > 0 && nd_date_ambiguous(&forms);
}

bool nd_become_dates(struct nade_table *table, struct table_column *column, const char *form)
{
    if (column->storage == STORE_DOUBLES && column->form) return true; /* as they were read */
    if (!(column->form = nd_arena_text(&table->arena, form))) return false;
    for (size_t i = 0; i < column->label_count; i++) {
        struct label *label = &column->labels[i];
        if (!label->is_number) nd_date_read(form, label->text, strlen(label->text), &label->number);
    }
    return true;
}
