#include "data/sentinels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/fault.h"
#include "base/numbers.h"
#include "data/cell_text.h"
#include "data/column_builder.h"
#include "data/column_types.h"
#include "data/missing_marks.h"
#include "data/number_form.h"

/* At an end of a column that many numbers at most are sentinels.  Each is in CELLS_LEAST cells, and in CELLS_ENOUGH or
 * one in a hundred; all together are in no more than half of them, and OTHERS_LEAST different numbers remain, of few
 * integers LABELS_LEAST. */
enum { SIDE_MOST = 3, CELLS_LEAST = 3, CELLS_ENOUGH = 5, OTHERS_LEAST = 10, LABELS_LEAST = 2 };
enum { COLUMNS_SHOWN = 3, COLUMN_TEXT = ND_EXCERPT + 2 * SIDE_MOST * (ND_NUMBER_TEXT + 40) };

/* ---- the different numbers of a column --------------------------------------------------------------------------- */

struct repeated {
    double value;
    size_t cells;
};

static int compare_values(const void *a, const void *b)
{
    double x = ((const struct repeated *)a)->value, y = ((const struct repeated *)b)->value;
    return (x > y) - (x < y);
}

/* The cells of a column of doubles, or the labels of a dictionary, in any order. */
static size_t list_cells(const struct nade_table *table, const struct table_column *column, struct repeated *list)
{
    size_t count = 0;
    for (size_t i = 0; i < column->label_count; i++)
        list[count++] = (struct repeated){column->labels[i].number + 0.0, column->labels[i].count};
    for (size_t row = 0; column->storage == STORE_DOUBLES && row < table->rows; row++)
        if (!isnan(column->cells.numbers[row])) list[count++] = (struct repeated){column->cells.numbers[row] + 0.0, 1};
    return count;
}

/* Each number once, ascending, with the cells that hold it. */
static size_t merge_equal(struct repeated *list, size_t count)
{
    size_t distinct = 0;
    if (count > 0) qsort(list, count, sizeof *list, compare_values);
    for (size_t i = 0; i < count; i++) {
        if (distinct > 0 && list[distinct - 1].value == list[i].value)
            list[distinct - 1].cells += list[i].cells;
        else
            list[distinct++] = list[i];
    }
    return distinct;
}

/* True when the least or largest number of a column of doubles repeats: in most it does not, and nothing is sorted. */
static bool end_repeats(const struct nade_table *table, const struct table_column *column)
{
    struct repeated least = {HUGE_VAL, 0}, most = {-HUGE_VAL, 0};
    for (size_t row = 0; row < table->rows; row++) {
        double number = column->cells.numbers[row];
        if (isnan(number)) continue;
        if (number < least.value) least = (struct repeated){number, 0};
        if (number > most.value) most = (struct repeated){number, 0};
        least.cells += number == least.value;
        most.cells += number == most.value;
    }
    return least.cells >= CELLS_LEAST || most.cells >= CELLS_LEAST;
}

/* ---- which of them are sentinels --------------------------------------------------------------------------------- */

/* The different numbers of a column, of which `low` at the beginning and `high` at the end are sentinels so far. */
struct ends {
    const struct repeated *list;
    size_t count, low, high;
    size_t cells; /* present, all together */
    bool labels;  /* they are names of kinds, or grades */
};

static bool repeats(const struct ends *ends, size_t at)
{
    const struct repeated *number = &ends->list[at];
    return number->value != 0 && number->cells >= CELLS_LEAST &&
           (number->cells >= CELLS_ENOUGH || 100 * number->cells >= ends->cells);
}

/* -999, -9999, and so on. */
static bool is_minus_nines(double value)
{
    double nines = 999;
    while (nines < -value) nines = 10 * nines + 9;
    return nines == -value;
}

/* What people write for a grade or kind that is not known: -1, -7, -8, -9, and -97, 98, 999, 9997 and so on.  Other
 * numbers far off may be names of kinds as well as those nearby. */
static bool is_usual_mark(double value)
{
    double nines = 90;
    if (value == -1 || (value >= -9 && value <= -7)) return true;
    while (nines + 9 < fabs(value)) nines = 10 * nines + 90;
    return fabs(value) >= nines + 7 && fabs(value) <= nines + 9;
}

/* True when the numbers outside [low, high) of the list lie far from those inside: by twice the width of these, or by
 * once of it where the outer ones are the only negative ones; which -999 need not be far from.  Labels lie close
 * together, and what is far from them does by more. */
static bool is_apart(const struct ends *ends, size_t low, size_t high)
{
    const struct repeated *list = ends->list;
    double first = list[low].value, last = list[high - 1].value, width = last - first;
    if (low > ends->low) {
        double outer = list[low - 1].value;
        bool lone = outer < 0 && first >= 0 && !ends->labels;
        if (!(first - outer > (lone ? width : 2 * width) || (lone && is_minus_nines(outer)))) return false;
    }
    return high == ends->count - ends->high || list[high].value - last > 2 * width;
}

/* True when `low` more numbers at the beginning and `high` more at the end are sentinels. */
static bool are_sentinels(const struct ends *ends, size_t low, size_t high)
{
    size_t from = ends->low + low, to = ends->count - ends->high - high, outside = 0;
    for (size_t i = 0; i < ends->count; i++) {
        if (i >= from && i < to) continue;
        if (!repeats(ends, i) || (ends->labels && !is_usual_mark(ends->list[i].value))) return false;
        outside += ends->list[i].cells;
    }
    return 2 * outside <= ends->cells && is_apart(ends, from, to);
}

/* Grows the ends by as few numbers as possible; false: there is nothing more to find. */
static bool grow_ends(struct ends *ends)
{
    size_t others = ends->labels ? LABELS_LEAST : OTHERS_LEAST;
    for (size_t more = 1; more <= 2 * (size_t)SIDE_MOST; more++)
        for (size_t low = 0; low <= more; low++) {
            size_t high = more - low;
            if (ends->low + low > SIDE_MOST || ends->high + high > SIDE_MOST) continue;
            if (ends->low + ends->high + more + others > ends->count) continue;
            if (!are_sentinels(ends, low, high)) continue;
            ends->low += low;
            ends->high += high;
            return true;
        }
    return false;
}

/* ---- what becomes of them ---------------------------------------------------------------------------------------- */

static bool is_among(const struct table_column *column, double number)
{
    for (size_t i = 0; i < column->missing_value_count; i++)
        if (column->missing_values[i] == number) return true;
    return false;
}

static void clear_numbers(const struct nade_table *table, struct table_column *column)
{
    for (size_t row = 0; row < table->rows; row++) {
        if (!is_among(column, column->cells.numbers[row])) continue;
        column->missing++;
        column->cells.numbers[row] = NAN;
    }
}

/* Takes them out of the dictionary; false: no memory. */
static bool clear_labels(nade_context *context, const struct nade_table *table, struct table_column *column)
{
    bool *gone = nd_alloc(&context->allocator, column->label_count, sizeof *gone);
    for (size_t i = 0; gone && i < column->label_count; i++) gone[i] = is_among(column, column->labels[i].number);
    bool good = gone && nd_labels_become_missing(&context->allocator, table, column, gone);
    nd_free(&context->allocator, gone);
    return good;
}

/* "'age' (-999 in 52 cells, 10 %)" */
static void show_column(const struct table_column *column, const struct ends *ends, char text[COLUMN_TEXT])
{
    char name[ND_EXCERPT], number[ND_NUMBER_TEXT];
    snprintf(text, COLUMN_TEXT, "'%s' (", nd_excerpt(column->name, strlen(column->name), name));
    for (size_t i = 0, shown = 0; i < ends->count; i++) {
        if (i >= ends->low && i < ends->count - ends->high) continue;
        nd_format_number(ends->list[i].value, number);
        nd_append(text, COLUMN_TEXT, "%s%s in %zu cells, %.2g %%", shown++ ? "; " : "", number, ends->list[i].cells,
                  100 * (double)ends->list[i].cells / (double)ends->cells);
    }
    nd_append(text, COLUMN_TEXT, ")");
}

/* What is said of all columns at once. */
struct report {
    size_t found;
    char list[COLUMNS_SHOWN * (COLUMN_TEXT + 2) + 1];
};

static void add_to_report(struct report *report, const char *text)
{
    if (report->found++ < COLUMNS_SHOWN)
        nd_append(report->list, sizeof report->list, "%s%s", report->found > 1 ? ", " : "", text);
}

/* Zeros are written where all numbers but one that is gone have as many decimals.  False: no memory. */
static bool forget_odd(struct nade_table *table, struct table_column *column)
{
    bool gone = false;
    for (size_t i = 0; i < column->missing_value_count; i++) gone = gone || column->missing_values[i] == column->odd;
    if (!gone || column->other_decimals == 0 || ND_FAULT(FAULT_SENTINEL_DECIMALS)) return true;
    column->decimals = column->other_decimals;
    if (!column->written) return true;
    struct number_form form = *column->written;
    form.decimals = column->other_decimals;
    return nd_keep_number_form(&form, &table->arena, column);
}

/* The column is then one with empty cells, and has the type of such a one.  False: no memory. */
static bool take_ends(nade_context *context, struct nade_table *table, struct table_column *column,
                      const struct ends *ends, struct report *report)
{
    char text[COLUMN_TEXT];
    double *values = nd_arena_alloc(&table->arena, ends->low + ends->high, sizeof *values);
    if (!values) return false;
    column->missing_values = values;
    for (size_t i = 0; i < ends->count; i++)
        if (i < ends->low || i >= ends->count - ends->high) values[column->missing_value_count++] = ends->list[i].value;
    show_column(column, ends, text);
    add_to_report(report, text);
    if (column->storage == STORE_DOUBLES) {
        clear_numbers(table, column);
        nd_find_range(table, column);
    } else if (!clear_labels(context, table, column))
        return false;
    if (!column->typed) nd_find_type_anew(table, column);
    return forget_odd(table, column);
}

static nade_status look_at_column(nade_context *context, struct nade_table *table, struct table_column *column,
                                  struct report *report)
{
    size_t most = column->storage == STORE_DOUBLES ? table->rows : column->label_count;
    if (column->storage == STORE_DOUBLES && !end_repeats(table, column)) return NADE_OK;
    struct repeated *list = nd_alloc(&context->allocator, most, sizeof *list);
    if (!list) return nd_no_memory(context, "the columns");
    struct ends ends = {.list = list,
                        .count = merge_equal(list, list_cells(table, column, list)),
                        .labels = column->type == NADE_CATEGORICAL};
    for (size_t i = 0; i < ends.count; i++) ends.cells += list[i].cells;
    while (grow_ends(&ends)) continue;
    bool good = ends.low + ends.high == 0 || take_ends(context, table, column, &ends, report);
    nd_free(&context->allocator, list);
    return good ? NADE_OK : nd_no_memory(context, "the columns");
}

/* ---- marks among labels ------------------------------------------------------------------------------------------ */

/* A mark such as - is a missing cell among labels of which at least two others are there and one of them is more
 * frequent: + and - are results of a test, and where most cells have none, none is an answer.  True: gone
 * (label_count) has some. */
static bool find_marks(const struct table_column *column, bool *gone)
{
    size_t others = 0, most = 0, most_marked = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        gone[i] = nd_mark_of(NULL, label->text, strlen(label->text)) == MARK_DOUBTFUL;
        others += !gone[i];
        size_t *largest = gone[i] ? &most_marked : &most;
        if (label->count > *largest) *largest = label->count;
    }
    return most_marked > 0 && others >= LABELS_LEAST && (most_marked < most || ND_FAULT(FAULT_COMMON_MARK_LOST));
}

/* "'shape' (- in 52 cells, 10 %)" */
static void show_marks(const struct nade_table *table, const struct table_column *column, const bool *gone,
                       char text[COLUMN_TEXT])
{
    char name[ND_EXCERPT];
    double cells = (double)(table->rows - column->missing);
    size_t shown = 0;
    snprintf(text, COLUMN_TEXT, "'%s' (", nd_excerpt(column->name, strlen(column->name), name));
    for (size_t i = 0; i < column->label_count; i++)
        if (gone[i])
            nd_append(text, COLUMN_TEXT, "%s%s in %zu cell%s, %.2g %%", shown++ ? "; " : "", column->labels[i].text,
                      column->labels[i].count, column->labels[i].count == 1 ? "" : "s",
                      100 * (double)column->labels[i].count / cells);
    nd_append(text, COLUMN_TEXT, ")");
}

static nade_status look_at_marks(nade_context *context, struct nade_table *table, struct table_column *column,
                                 struct report *report)
{
    char text[COLUMN_TEXT];
    bool good = true, *gone = nd_alloc(&context->allocator, column->label_count, sizeof *gone);
    if (!gone) return nd_no_memory(context, "the columns");
    if (find_marks(column, gone)) {
        show_marks(table, column, gone, text);
        add_to_report(report, text);
        good = nd_labels_become_missing(&context->allocator, table, column, gone);
        if (good) nd_find_type_anew(table, column);
    }
    nd_free(&context->allocator, gone);
    return good ? NADE_OK : nd_no_memory(context, "the columns");
}

/* Labels that were not declared or made such. */
static bool may_have_marks(const struct nade_table *table, const struct table_column *column)
{
    return !table->array && !table->marks_only && column->storage <= STORE_CODES32 && !column->typed && !column->form &&
           column->declared == DECLARED_NOTHING && column->label_count > 0 && !nd_column_is_numeric(column);
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

/* Numbers that are values, or that were taken for labels because they are few. */
static bool may_have_sentinels(const struct table_column *column)
{
    if (column->type == NADE_REAL || column->type == NADE_ORDERED) return true;
    return column->type == NADE_CATEGORICAL && !column->typed && column->declared == DECLARED_NOTHING &&
           nd_column_is_numeric(column) && !nd_holds_codes(column);
}

nade_status nd_drop_sentinels(nade_context *context, struct nade_table *table, const char *keep)
{
    struct report report = {0};
    char others[48] = "";
    bool *kept = NULL;
    nade_status status = nd_list_columns(context, table, "the list of columns that keep their sentinels", keep, &kept);
    for (size_t c = 0; c < table->columns && status == NADE_OK; c++) {
        struct table_column *column = &table->column[c];
        if (kept[column->place]) continue;
        if (may_have_marks(table, column))
            status = look_at_marks(context, table, column, &report);
        else if (may_have_sentinels(column))
            status = look_at_column(context, table, column, &report);
    }
    nd_free(&context->allocator, kept);
    if (status != NADE_OK || report.found == 0) return status;
    if (report.found > COLUMNS_SHOWN)
        snprintf(others, sizeof others, " and %zu more columns", report.found - COLUMNS_SHOWN);
    nd_warn(context,
            "%s: numbers far from all others of their column, and marks such as -, are taken for missing cells: %s%s; "
            "name the columns that keep their sentinels if these are values",
            table->source, report.list, others);
    return NADE_OK;
}
