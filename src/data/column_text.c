#include "data/column_text.h"

#include <math.h>
#include <string.h>

#include "base/append.h"
#include "base/numbers.h"
#include "data/cell_text.h"
#include "data/column_types.h"
#include "data/date_text.h"
#include "data/number_form.h"

enum { LABELS_SHOWN = 5 };

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void append_number(const struct table_column *column, double number, char *text, size_t size)
{
    char plain[ND_NUMBER_TEXT], written[ND_FORMED_NUMBER], date[ND_DATE_SIZE];
    if (column->type == NADE_DATE && column->form) {
        nd_date_write(column->form, number, date);
        nd_append(text, size, "%s", date);
        return;
    }
    nd_format_number(number, plain);
    const struct number_form decimals = {.decimal = '.', .decimals = column->decimals};
    nd_form_write(column->written ? column->written : &decimals, plain, written);
    nd_append(text, size, "%s", written);
}

static void append_range(const struct table_column *column, char *text, size_t size)
{
    bool dictionary = column->storage != STORE_DOUBLES;
    double low = dictionary ? HUGE_VAL : column->low, high = dictionary ? -HUGE_VAL : column->high;
    for (size_t i = 0; i < column->label_count; i++) {
        low = fmin(low, column->labels[i].number);
        high = fmax(high, column->labels[i].number);
    }
    if (low > high) return;
    nd_append(text, size, "from ");
    append_number(column, low, text, size);
    nd_append(text, size, " to ");
    append_number(column, high, text, size);
    if (column->label_count > 0) nd_append(text, size, ", %zu different", column->label_count);
    if (column->type == NADE_DATE && column->form) nd_append(text, size, ", like %s", column->form);
}

static void append_labels(const struct table_column *column, char *text, size_t size)
{
    char label[ND_EXCERPT];
    size_t count = column->label_count;
    nd_append(text, size, "%zu label%s: ", count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < LABELS_SHOWN; i++)
        nd_append(text, size, "%s%s", i ? ", " : "",
                  nd_excerpt(column->labels[i].text, strlen(column->labels[i].text), label));
    if (count > LABELS_SHOWN) nd_append(text, size, ", ...");
}

/* ---- why --------------------------------------------------------------------------------------------------------- */

/* Why a column has a type that its cells do not show at once; NULL: they do. */
static const char *find_why(const struct table_column *column)
{
    if (column->typed) return "as asked";
    if (column->declared >= DECLARED_TEXTS) return NULL;
    if (column->declared != DECLARED_NOTHING) return "as the data declare";
    if (column->type == NADE_ORDERED) return "numbers that take few values";
    if (column->type != NADE_CATEGORICAL || !nd_column_is_numeric(column)) return NULL;
    if (nd_written_duration(nd_written_name(column))) return "few times that repeat";
    return nd_holds_codes(column) ? "codes with leading zeros" : "few integers that repeat";
}

static void append_slip(const struct table_column *column, char *text, size_t size)
{
    char label[ND_EXCERPT];
    nd_append(text, size, "; '%s' in line %zu is no number",
              nd_excerpt(column->stray->text, strlen(column->stray->text), label), column->stray->first_line);
}

void nd_describe_column(const struct nade_table *table, size_t number, char *text, size_t size)
{
    const struct table_column *column = &table->column[number];
    bool labels = column->type == NADE_BINARY || column->type == NADE_CATEGORICAL;
    const char *why = find_why(column);
    text[0] = '\0';
    if (column->storage == STORE_UNUSABLE)
        nd_append(text, size, "too many labels, or too long ones");
    else if (column->missing == table->rows)
        nd_append(text, size, "empty");
    else if (labels)
        append_labels(column, text, size);
    else
        append_range(column, text, size);
    if (why) nd_append(text, size, "; %s", why);
    if (column->stray) append_slip(column, text, size);
}
