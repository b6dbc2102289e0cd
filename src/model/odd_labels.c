#include "model/odd_labels.h"

#include <stdio.h>
#include <string.h>

#include "base/append.h"
#include "data/cell_text.h"
#include "data/date_column.h"
#include "model/schema.h"

enum { LABELS_LEAST = 100, NUMBERS_LEAST = 20, COLUMNS_SHOWN = 4, COLUMN_TEXT = ND_EXCERPT + 4 };

static bool may_be_dates(const nade_table *table, const struct table_column *column)
{
    (void)table;
    return !column->typed && column->declared != DECLARED_LABELS && nd_are_ambiguous_dates(column);
}

/* The first text of a column that is taken for labels because of it, and of others like it, though most cells hold
 * numbers, many different ones: "<5" say.  NULL: it is none. */
static const struct label *text_among_numbers(const struct table_column *column)
{
    const struct label *text = NULL;
    size_t numbers = 0, different = 0, others = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        numbers += label->is_number ? label->count : 0;
        different += label->is_number;
        others += label->is_number ? 0 : label->count;
        if (!text && !label->is_number) text = label;
    }
    bool told = column->typed || column->declared == DECLARED_LABELS || column->form || column->stray;
    return !told && different >= NUMBERS_LEAST && numbers > others ? text : NULL;
}

/* True when there are more than half as many labels as present cells. */
static bool names_rows(const nade_table *table, const struct table_column *column)
{
    return !text_among_numbers(column) && column->label_count >= LABELS_LEAST &&
           2 * column->label_count > table->rows - column->missing && !may_be_dates(table, column);
}

static bool has_decimal_commas(const nade_table *table, const struct table_column *column)
{
    (void)table;
    return nd_column_has_decimal_commas(column) && !nd_column_has_thousands(column);
}

static bool has_thousands(const nade_table *table, const struct table_column *column)
{
    (void)table;
    return nd_column_has_thousands(column);
}

/* One warning that names the columns which are like that. */
static void warn_of(nade_context *context, const nade_table *table,
                    bool (*like_that)(const nade_table *, const struct table_column *), const char *what)
{
    char list[COLUMNS_SHOWN * COLUMN_TEXT + 1] = "", name[ND_EXCERPT], others[48] = "";
    size_t found = 0;
    for (size_t c = 0; c < table->columns; c++) {
        const struct table_column *column = &table->column[c];
        if (nd_column_is_numeric(column) || column->form || !like_that(table, column)) continue;
        if (found++ >= COLUMNS_SHOWN) continue;
        nd_append(list, sizeof list, "%s'%s'", found > 1 ? ", " : "",
                  nd_excerpt(column->name, strlen(column->name), name));
    }
    if (found > COLUMNS_SHOWN) snprintf(others, sizeof others, " and %zu more", found - COLUMNS_SHOWN);
    if (found > 0) nd_warn(context, "%s, column%s %s%s: %s", table->source, found == 1 ? "" : "s", list, others, what);
}

static void warn_of_texts(nade_context *context, const nade_table *table)
{
    char name[ND_EXCERPT], excerpt[ND_EXCERPT];
    for (size_t c = 0, found = 0; c < table->columns && found < COLUMNS_SHOWN; c++) {
        const struct table_column *column = &table->column[c];
        const struct label *text = nd_column_is_numeric(column) ? NULL : text_among_numbers(column);
        if (!text) continue;
        found++;
        nd_warn(context,
                "%s, column '%s': numbers are in most cells, but texts such as '%s' make labels of them all; name the "
                "text in `missing` if it stands for a missing cell",
                table->source, nd_excerpt(column->name, strlen(column->name), name),
                nd_excerpt(text->text, strlen(text->text), excerpt));
    }
}

void nd_warn_of_odd_labels(nade_context *context, const nade_table *table)
{
    warn_of_texts(context, table);
    warn_of(context, table, names_rows,
            "there are more than half as many labels as cells, too few of each to learn from; leave names of rows "
            "out");
    warn_of(context, table, may_be_dates,
            "day and month of dates can't be told apart, so they are taken for labels; name the form of its dates");
    warn_of(context, table, has_decimal_commas,
            "numbers with decimal commas are taken for labels, since others are written otherwise; name the mark in "
            "`decimal`, give the right `delimiter` if the comma separates fields, or leave such columns out");
    warn_of(context, table, has_thousands,
            "numbers with commas between thousands are taken for labels, since others are written otherwise; name the "
            "mark in `thousands`, or leave such columns out");
}
