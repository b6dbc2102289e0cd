#include "data/column_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fault.h"
#include "base/numbers.h"
#include "data/cell_text.h"
#include "data/column_list.h"
#include "data/date_column.h"
#include "data/missing_marks.h"
#include "data/table.h"

/* Few integers: see few_integers. */
enum { INTEGERS_MOST = 20, DISTINCT_MOST = 64, CELLS_EACH = 5, RARE_MOST = 4 };

static bool has_dictionary(const struct table_column *column)
{
    return column->storage <= STORE_CODES32;
}

/* True when every present cell is the number 0 or 1. */
static bool within_zero_one(const struct table_column *column)
{
    if (!has_dictionary(column) || column->written) return false;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        if (!label->is_number || (label->number != 0 && label->number != 1)) return false;
    }
    return true;
}

/* Distinct numbers and how many cells hold each.  "1" and "1.0" are one. */
struct counted_numbers {
    double value[DISTINCT_MOST];
    size_t cells[DISTINCT_MOST];
    size_t distinct, total;
};

/* False: more than there is room for. */
static bool count_number(struct counted_numbers *numbers, const struct label *label)
{
    size_t at = 0;
    while (at < numbers->distinct && numbers->value[at] != label->number) at++;
    if (at == DISTINCT_MOST) return false;
    if (at == numbers->distinct) {
        numbers->value[numbers->distinct] = label->number;
        numbers->cells[numbers->distinct++] = 0;
    }
    numbers->cells[at] += label->count;
    numbers->total += label->count;
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x < y) - (x > y);
}

/* How many of the most frequent numbers hold 99 cells in 100.  The order of the counts is lost. */
static size_t usual_numbers(struct counted_numbers *numbers)
{
    size_t usual = 0, cells = 0;
    qsort(numbers->cells, numbers->distinct, sizeof *numbers->cells, compare_counts);
    while (100 * cells < 99 * numbers->total) cells += numbers->cells[usual++];
    return usual;
}

/* How many numbers are in one or two cells: where they are several, others must be expected in other rows. */
static size_t rare_numbers(const struct counted_numbers *numbers)
{
    size_t rare = 0;
    for (size_t i = 0; i < numbers->distinct; i++) rare += numbers->cells[i] <= 2;
    return rare;
}

/* True for few distinct integers that repeat: numbers that are likely names of kinds or grades of a scale.  What is
 * looked at hardly changes when rows are left out: not the rarest values, which come and go, but how many are usual;
 * and the limit on these grows slowly, from 14 in 100 cells to 20 in 500, so that hardly a column lies between the
 * limits for a table and for a part of it. */
static bool few_integers(const struct table_column *column)
{
    struct counted_numbers numbers = {.distinct = 0};
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        if (!label->is_number) continue;
        if (label->number != floor(label->number) || !count_number(&numbers, label)) return false;
    }
    if (numbers.total == 0) return false;
    size_t usual = usual_numbers(&numbers);
    double most = fmin(9 * log10((double)numbers.total) - 4, INTEGERS_MOST) - ND_FAULT(FAULT_RARE_CATEGORIES);
    return (double)usual <= most && CELLS_EACH * usual <= numbers.total &&
           2 * rare_numbers(&numbers) <= usual + RARE_MOST;
}

static bool has_code(const struct table_column *column)
{
    for (size_t i = 0; i < column->label_count; i++)
        if (nd_is_code(column->labels[i].text, strlen(column->labels[i].text))) return true;
    return false;
}

/* A fraction among them tells that zeros only fill up. */
bool nd_holds_codes(const struct table_column *column)
{
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = column->labels[i].text;
        if (text[strspn(text, "0123456789")] != '\0') return false;
    }
    return has_code(column);
}

/* The first text of a column that would be real without its few texts: likely a slip, not a label.  NULL: none such. */
static const struct label *find_stray(const struct table_column *column)
{
    enum { NUMBERS_FOR_A_TEXT = 9, DISTINCT_LEAST = 9 };
    const struct label *first = NULL;
    size_t numbers = 0, texts = 0, distinct = 0;
    if (!has_dictionary(column) || few_integers(column) || has_code(column)) return NULL;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        *(label->is_number ? &numbers : &texts) += label->count;
        distinct += label->is_number;
        if (!label->is_number && !first) first = label;
    }
    return distinct >= DISTINCT_LEAST && numbers >= NUMBERS_FOR_A_TEXT * texts ? first : NULL;
}

/* True for numbers that take few values, all of them often enough that others need not be expected. */
static bool looks_ordered(const struct table_column *column)
{
    enum { VALUES_MOST = 150, CELLS_A_VALUE = 30, RARE = 3, RARE_SHARE = 5000 };
    size_t cells = 0, rare = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        cells += column->labels[i].count;
        if (column->labels[i].count < RARE) rare += column->labels[i].count;
    }
    return column->label_count <= VALUES_MOST && cells >= CELLS_A_VALUE * column->label_count &&
           rare * RARE_SHARE <= cells;
}

static nade_type find_type(const struct table_column *column)
{
    if (!nd_column_is_numeric(column))
        return column->storage != STORE_UNUSABLE && column->label_count == 2 ? NADE_BINARY : NADE_CATEGORICAL;
    if (column->label_count == 0) return NADE_REAL; /* doubles, or no cell present */
    if (within_zero_one(column)) return NADE_BINARY;
    if (column->written && column->label_count == 2) return NADE_BINARY; /* names as any others */
    if (column->declared == DECLARED_NUMBERS) return looks_ordered(column) ? NADE_ORDERED : NADE_REAL;
    if (column->declared == DECLARED_LABELS) return column->label_count == 2 ? NADE_BINARY : NADE_CATEGORICAL;
    if (nd_holds_codes(column) || few_integers(column)) return NADE_CATEGORICAL;
    return looks_ordered(column) ? NADE_ORDERED : NADE_REAL;
}

/* True when no text of the dictionary needs the column's form to be the number that it is. */
static bool is_plain_as_well(const struct table_column *column)
{
    double number;
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        if (label->is_number &&
            (nd_parse_number(label->text, strlen(label->text), &number) != NUMBER_FINITE || number != label->number))
            return false;
    }
    return has_dictionary(column);
}

/* Labels that look like any others are read and written as they are; numbers keep the form of the rest of the file. */
static nade_type find_written_type(struct table_column *column)
{
    const struct number_form *written = column->written;
    if (!written || !is_plain_as_well(column)) return find_type(column);
    column->written = NULL;
    nade_type type = find_type(column);
    if (type == NADE_REAL || type == NADE_ORDERED) column->written = written;
    return type;
}

/* True when all present cells of the table are 0 or 1, and at least one is there. */
static bool all_zero_one(const struct nade_table *table)
{
    bool any = false;
    for (size_t i = 0; i < table->columns; i++) {
        if (!within_zero_one(&table->column[i])) return false;
        any = any || table->column[i].label_count > 0;
    }
    return any;
}

/* Arrays hold measurements and marks, no labels.  A column of zeros alone, the corner of an image, is a mark only where
 * all others are: elsewhere another row may well hold something else there. */
static nade_type find_array_type(const struct table_column *column, bool all_marks)
{
    return all_marks || (within_zero_one(column) && column->label_count == 2) ? NADE_BINARY : NADE_REAL;
}

void nd_find_type_anew(const struct nade_table *table, struct table_column *column)
{
    column->type = table->array ? find_array_type(column, false) : find_written_type(column);
}

void nd_find_range(const struct nade_table *table, struct table_column *column)
{
    column->low = HUGE_VAL;
    column->high = -HUGE_VAL;
    for (size_t row = 0; column->storage == STORE_DOUBLES && row < table->rows; row++) {
        double number = column->cells.numbers[row]; /* NaN is neither */
        if (number < column->low) column->low = number;
        if (number > column->high) column->high = number;
    }
}

bool nd_find_types(struct nade_table *table)
{
    bool all_marks = table->array && all_zero_one(table);
    for (size_t i = 0; i < table->columns; i++) {
        struct table_column *column = &table->column[i];
        char form[ND_FORM_SIZE];
        nd_find_range(table, column);
        if (column->declared != DECLARED_LABELS && !nd_drop_doubtful_marks(table, column)) return false;
        if (column->declared != DECLARED_LABELS && nd_looks_like_dates(table, column, form)) {
            column->type = NADE_DATE;
            if (!nd_become_dates(table, column, form)) return false;
            continue;
        }
        column->type = table->array ? find_array_type(column, all_marks) : find_written_type(column);
        bool guessed = !table->array && column->declared == DECLARED_NOTHING;
        column->stray = column->type == NADE_CATEGORICAL && guessed ? find_stray(column) : NULL;
    }
    return true;
}

/* ---- types given by hand ----------------------------------------------------------------------------------------- */

/* A row of a column that is why it can't have a type. */
static size_t row_of_text(const struct nade_table *table, const struct table_column *column)
{
    size_t row = 0;
    for (; row < table->rows && has_dictionary(column); row++) {
        size_t code = nd_table_code(column, row);
        if (code != SIZE_MAX && !column->labels[code].is_number) break;
    }
    return row;
}

static const char *object_to_real(const struct nade_table *table, const struct table_column *column, size_t *row)
{
    if (nd_column_is_numeric(column)) return NULL;
    *row = row_of_text(table, column);
    return "holds text, expected numbers";
}

static const char *object_to_binary(const struct nade_table *table, const struct table_column *column, size_t *row)
{
    (void)table, (void)row;
    if (within_zero_one(column) || (has_dictionary(column) && column->label_count == 2)) return NULL;
    return "does not hold two values, expected 0 and 1, or exactly two labels";
}

static const char *object_to_categorical(const struct nade_table *table, const struct table_column *column, size_t *row)
{
    (void)table, (void)row;
    if (has_dictionary(column) && column->label_count > 0) return NULL;
    if (has_dictionary(column)) return "has no value at all, expected some label";
    return "holds fractions or more than 1000 different values, expected few labels";
}

static const char *object_to_count(const struct nade_table *table, const struct table_column *column, size_t *row)
{
    const char *problem = object_to_real(table, column, row);
    for (size_t i = 0; !problem && i < table->rows; i++) {
        double number = nd_table_number(column, i);
        if (!(number < 0 || (!isnan(number) && number != floor(number)))) continue;
        *row = i;
        problem = "holds numbers that are negative or not whole, expected counts";
    }
    return problem;
}

static const char *object_to_ordered(const struct nade_table *table, const struct table_column *column, size_t *row)
{
    const char *problem = object_to_real(table, column, row);
    if (problem || (has_dictionary(column) && column->label_count > 0)) return problem;
    return "holds no value, or more than 1000 different ones, expected few";
}

static const char *object_to_date(const struct nade_table *table, const struct table_column *column, size_t *row)
{
    char form[ND_FORM_SIZE];
    if (column->missing == table->rows) return "has no value at all, expected some date";
    return nd_find_date_form(table, column, form, row);
}

/* One row for each kind of column: its name, and what stands against giving it to a column of a table (NULL: nothing),
 * with a row that shows it where one does.  What the kind is otherwise is its head's (model/head.h). */
static const struct {
    const char *name;
    const char *(*reason_against)(const struct nade_table *table, const struct table_column *column, size_t *row);
} kinds[] = {
    [NADE_BINARY] = {"binary", object_to_binary},
    [NADE_REAL] = {"real", object_to_real},
    [NADE_CATEGORICAL] = {"categorical", object_to_categorical},
    [NADE_COUNT] = {"count", object_to_count},
    [NADE_ORDERED] = {"ordered", object_to_ordered},
    [NADE_DATE] = {"date", object_to_date},
};

_Static_assert(sizeof kinds / sizeof *kinds <= ND_TYPES_MOST, "as many as lists of them have room for");

const char *nade_type_name(nade_type type)
{
    return (size_t)type < sizeof kinds / sizeof *kinds ? kinds[type].name : NULL;
}

/* "; line 3 has '2.5'", or "" where no single cell is to blame. */
static const char *blame(const struct nade_table *table, const struct table_column *column, size_t row, char *text,
                         size_t size)
{
    char number[ND_NUMBER_TEXT], excerpt[ND_EXCERPT];
    text[0] = '\0';
    if (row >= table->rows) return text;
    const char *cell = number;
    if (has_dictionary(column))
        cell = column->labels[nd_table_code(column, row)].text;
    else
        nd_format_number(column->cells.numbers[row], number);
    snprintf(text, size, "; %s %zu has '%s'", nd_row_word(table), nd_table_position(table, row),
             nd_excerpt(cell, strlen(cell), excerpt));
    return text;
}

static nade_status check_types(nade_context *context, const struct nade_table *table, const bool *chosen,
                               nade_type type)
{
    for (size_t i = 0; i < table->columns; i++) {
        const struct table_column *column = &table->column[i];
        if (!chosen[column->place]) continue;
        if (column->storage == STORE_UNUSABLE) return nd_fail_unusable(context, table, i);
        size_t row = SIZE_MAX;
        const char *problem = kinds[type].reason_against(table, column, &row);
        char name[ND_EXCERPT], cell[ND_EXCERPT + 40];
        if (problem)
            return nd_fail(context, NADE_BAD_INPUT, "%s: column '%s' cannot be %s: it %s%s", table->source,
                           nd_excerpt(column->name, strlen(column->name), name), nade_type_name(type), problem,
                           blame(table, column, row, cell, sizeof cell));
    }
    return NADE_OK;
}

nade_status nd_list_columns(nade_context *context, const struct nade_table *table, const char *what, const char *list,
                            bool **chosen)
{
    const nade_allocator *allocator = &context->allocator;
    const char **names = nd_alloc(allocator, table->source_columns, sizeof *names);
    bool *flags = nd_alloc(allocator, table->source_columns, sizeof *flags);
    nade_status status = names && flags ? NADE_OK : nd_no_memory(context, "the choice of columns");
    if (status == NADE_OK && list) {
        for (size_t i = 0; i < table->columns; i++) names[table->column[i].place] = table->column[i].name;
        status = nd_parse_columns(context, what, list, names, table->source_columns, flags);
    }
    if (status == NADE_OK)
        *chosen = flags;
    else
        nd_free(allocator, flags);
    nd_free(allocator, names);
    return status;
}

nade_status nd_choose_columns(nade_context *context, const struct nade_table *table, const char *what, const char *list,
                              nade_type type, bool **chosen)
{
    bool *flags = NULL;
    nade_status status = nd_list_columns(context, table, what, list, &flags);
    if (status == NADE_OK) status = check_types(context, table, flags, type);
    if (status == NADE_OK)
        *chosen = flags;
    else
        nd_free(&context->allocator, flags);
    return status;
}

/* Of a column that nothing stands against. */
static nade_status note_form(nade_context *context, struct nade_table *table, struct table_column *column)
{
    char form[ND_FORM_SIZE];
    size_t row;
    if (column->form || nd_find_date_form(table, column, form, &row)) return NADE_OK;
    return nd_become_dates(table, column, form) ? NADE_OK : nd_no_memory(context, "the table's columns");
}

static nade_status set_types(nade_context *context, struct nade_table *table, const char *list, nade_type type)
{
    bool *chosen = NULL;
    char what[64];
    snprintf(what, sizeof what, "the list of %s columns", kinds[type].name);
    nade_status status = nd_choose_columns(context, table, what, list, type, &chosen);
    for (size_t i = 0; status == NADE_OK && type == NADE_DATE && i < table->columns; i++)
        if (chosen[table->column[i].place]) status = note_form(context, table, &table->column[i]);
    for (size_t i = 0; status == NADE_OK && i < table->columns; i++)
        if (chosen[table->column[i].place]) {
            table->column[i].type = type;
            table->column[i].typed = true;
            table->column[i].stray = NULL;
        }
    nd_free(&context->allocator, chosen);
    return status;
}

static nade_status check_form(nade_context *context, const struct nade_table *table, const struct table_column *column,
                              const char *form)
{
    char name[ND_EXCERPT], cell[ND_EXCERPT + 40];
    double seconds;
    size_t row = 0;
    while (row < table->rows && nd_date_cell(column, row, form, &seconds)) row++;
    if (row == table->rows && column->missing < table->rows) return NADE_OK;
    return nd_fail(context, NADE_BAD_INPUT, "%s: column '%s' cannot be dates like %s: it holds others%s", table->source,
                   nd_excerpt(column->name, strlen(column->name), name), form,
                   blame(table, column, row, cell, sizeof cell));
}

static nade_status set_dates(nade_context *context, struct nade_table *table, const char *list, const char *form)
{
    bool *chosen = NULL;
    nade_status status = nd_list_columns(context, table, "the list of date columns", list, &chosen);
    for (size_t i = 0; status == NADE_OK && i < table->columns; i++) {
        if (!chosen[table->column[i].place]) continue;
        if (table->column[i].storage == STORE_UNUSABLE) status = nd_fail_unusable(context, table, i);
        if (status == NADE_OK) status = check_form(context, table, &table->column[i], form);
    }
    for (size_t i = 0; status == NADE_OK && i < table->columns; i++)
        if (chosen[table->column[i].place]) {
            struct table_column *column = &table->column[i];
            if (!nd_become_dates(table, column, form)) status = nd_no_memory(context, "the table's columns");
            column->type = NADE_DATE;
            column->typed = true;
            column->stray = NULL;
        }
    nd_free(&context->allocator, chosen);
    return status;
}

nade_status nd_set_types(nade_context *context, struct nade_table *table, const char *list, nade_type type)
{
    const char *equals = type == NADE_DATE ? strrchr(list, '=') : NULL;
    if (!equals || !nd_date_form_is_good(equals + 1)) return set_types(context, table, list, type);
    size_t length = (size_t)(equals - list);
    char *columns = nd_alloc(&context->allocator, length + 1, 1);
    if (!columns) return nd_no_memory(context, "the choice of columns");
    memcpy(columns, list, length);
    nade_status status = set_dates(context, table, columns, equals + 1);
    nd_free(&context->allocator, columns);
    return status;
}
