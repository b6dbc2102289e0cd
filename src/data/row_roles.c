#include "data/row_roles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/fault.h"
#include "data/cell_text.h"
#include "data/column_types.h"
#include "data/date_column.h"
#include "data/left_out.h"

/* ---- the column -------------------------------------------------------------------------------------------------- */

/* The one column that a list names. */
static nade_status find_column(nade_context *context, const struct nade_table *table, const char *role,
                               const char *list, size_t *number)
{
    bool *chosen = NULL;
    size_t found = 0;
    char what[512]; /* a validation table may lack what the other has */
    snprintf(what, sizeof what, "%s of %s", role, table->source);
    if (table->texts.count > 0) return nd_refuse_kept_text(context);
    nade_status status = nd_list_columns(context, table, what, list, &chosen);
    if (status != NADE_OK) return status;
    for (size_t c = 0; c < table->columns; c++)
        if (chosen[table->column[c].place] && found++ == 0) *number = c;
    nd_free(&context->allocator, chosen);
    if (found != 1)
        return nd_fail(context, NADE_BAD_CALL, "%s: found '%s', which is %zu columns, expected one", what, list, found);
    if (table->columns == 1)
        return nd_fail(context, NADE_BAD_CALL, "%s: '%s' is the only column, expected others to learn", what,
                       table->column[*number].name);
    return NADE_OK;
}

enum role { ROLE_WEIGHTS, ROLE_GROUPS, ROLE_TIMES, ROLES };

const char *const nd_row_roles[ROLES + 1] = {"weights", "groups", "times", NULL};

/* Takes it out of the table. */
static nade_status take_column(nade_context *context, struct nade_table *table, size_t number, enum role role)
{
    static const char *const words[ROLES] = {"weighs the rows", "says which rows stay together",
                                             "says which rows are held out"};
    const char **reasons = nd_alloc(&context->allocator, table->columns, sizeof *reasons);
    if (!reasons) return nd_no_memory(context, "the columns");
    reasons[number] = words[role];
    struct left_out *room = nd_left_out_room(table, reasons);
    if (room) nd_take_out(table, reasons, room);
    for (size_t i = 0; room && i < table->left_out_count; i++)
        if (room[i].reason == words[role]) room[i].role = nd_row_roles[role];
    nd_free(&context->allocator, reasons);
    return room ? NADE_OK : nd_no_memory(context, "the columns");
}

static nade_status refuse_again(nade_context *context, const char *what, const char *already)
{
    return nd_fail(context, NADE_BAD_CALL, "%s is named twice: %s already, expected one column", what, already);
}

/* "FILE, line 3, column 'w': found 'x', expected WHAT". */
static nade_status refuse_text(nade_context *context, const struct nade_table *table, size_t number, const char *what)
{
    const struct table_column *column = &table->column[number];
    char excerpt[ND_EXCERPT];
    if (column->storage == STORE_UNUSABLE) return nd_fail_unusable(context, table, number);
    if (column->storage == STORE_DOUBLES && column->form)
        return nd_fail(context, NADE_BAD_INPUT, "%s, column '%s' holds dates, expected %s", table->source, column->name,
                       what);
    for (size_t i = 0; i < column->label_count; i++) {
        const struct label *label = &column->labels[i];
        if (!label->is_number)
            return nd_fail(context, NADE_BAD_INPUT, "%s, %s %zu, column '%s': found '%s', expected %s", table->source,
                           nd_row_word(table), label->first_line, column->name,
                           nd_excerpt(label->text, strlen(label->text), excerpt), what);
    }
    return NADE_OK;
}

static nade_status refuse_cell(nade_context *context, const struct nade_table *table, size_t number, size_t row,
                               double cell, const char *what)
{
    char found[40] = "no value";
    if (!isnan(cell)) snprintf(found, sizeof found, "%.15g", cell);
    return nd_fail(context, NADE_BAD_INPUT, "%s, %s %zu, column '%s': found %s, expected %s", table->source,
                   nd_row_word(table), nd_table_position(table, row), table->column[number].name, found, what);
}

/* *numbers (rows): its cells, all of which must be there and at least this. */
static nade_status read_numbers(nade_context *context, struct nade_table *table, size_t number, double least,
                                const char *what, const double **numbers)
{
    double *read = nd_arena_alloc(&table->arena, table->rows, sizeof *read);
    if (!read) return nd_no_memory(context, "the rows");
    for (size_t row = 0; row < table->rows; row++) {
        read[row] = nd_table_number(&table->column[number], row);
        if (!(read[row] >= least) || isinf(read[row])) return refuse_cell(context, table, number, row, read[row], what);
    }
    *numbers = read;
    return NADE_OK;
}

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* Whether the weights are numbers of copies. */
static bool are_copies(const double *weight, size_t rows)
{
    double sum = 0, most = ND_COPIES * (double)rows;
    if (ND_FAULT(FAULT_COPIES_MANY)) most = fmax(most, 100000);
    for (size_t row = 0; row < rows; row++) {
        if (weight[row] != floor(weight[row])) return false;
        sum += weight[row];
    }
    return sum <= most;
}

nade_status nd_weigh_rows(nade_context *context, struct nade_table *table, const char *list)
{
    static const char what[] = "the column of weights", expected[] = "a weight of 0 or more";
    const double *weight = NULL;
    size_t number = 0;
    double most = 0;
    if (table->roles.weight) return refuse_again(context, what, "rows are weighed");
    nade_status status = find_column(context, table, what, list, &number);
    if (status == NADE_OK) status = refuse_text(context, table, number, expected);
    if (status == NADE_OK) status = read_numbers(context, table, number, 0, expected, &weight);
    if (status != NADE_OK) return status;
    for (size_t row = 0; row < table->rows; row++) most = fmax(most, weight[row]);
    if (most == 0)
        return nd_fail(context, NADE_BAD_INPUT, "%s, column '%s': all weights are 0, expected some above",
                       table->source, table->column[number].name);
    status = take_column(context, table, number, ROLE_WEIGHTS);
    if (status != NADE_OK) return status;
    table->roles.weight = weight;
    table->roles.whole = are_copies(weight, table->rows);
    return NADE_OK;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* A row's value, so that equal ones are equal numbers: its code, or where the numbers are sorted it stands.  SIZE_MAX:
 * missing. */
static size_t value_of(const struct table_column *column, size_t row, const double *sorted, size_t count)
{
    if (column->storage != STORE_DOUBLES) return nd_table_code(column, row);
    double number = column->cells.numbers[row];
    return isnan(number) ? SIZE_MAX : nd_first_from(sorted, count, number);
}

/* The numbers of a column of doubles, ascending.  False: no memory. */
static bool sort_numbers(struct arena *arena, const struct nade_table *table, const struct table_column *column,
                         double **sorted, size_t *count)
{
    *count = 0;
    *sorted = nd_arena_alloc(arena, table->rows, sizeof **sorted);
    if (!*sorted) return false;
    for (size_t row = 0; row < table->rows; row++)
        if (!isnan(column->cells.numbers[row])) (*sorted)[(*count)++] = column->cells.numbers[row];
    qsort(*sorted, *count, sizeof **sorted, nd_compare_numbers);
    return true;
}

/* group (rows) = the rows' groups, counted by their first rows; how many there are, or 0: no memory. */
static size_t number_groups(struct arena *scratch, const struct nade_table *table, const struct table_column *column,
                            size_t *group)
{
    double *sorted = NULL;
    size_t count = column->label_count, groups = 0;
    if (column->storage == STORE_DOUBLES && !sort_numbers(scratch, table, column, &sorted, &count)) return 0;
    size_t *of_value = nd_arena_alloc(scratch, count, sizeof *of_value); /* and one: 0 is none yet */
    if (!of_value) return 0;
    for (size_t row = 0; row < table->rows; row++) {
        size_t value = value_of(column, row, sorted, count);
        if (value != SIZE_MAX && of_value[value] > 0) {
            group[row] = of_value[value] - 1;
            continue;
        }
        group[row] = groups++;
        if (value != SIZE_MAX) of_value[value] = groups;
    }
    return groups;
}

/* Of texts that are too many or too long only the first are known. */
static nade_status refuse_groups(nade_context *context, const struct nade_table *table, size_t number)
{
    const struct table_column *column = &table->column[number];
    if (column->label_count < ND_LABELS_MOST) return nd_fail_unusable(context, table, number);
    return nd_fail(context, NADE_BAD_INPUT,
                   "%s, line %zu, column '%s': found more than %d groups that have texts for names, expected fewer, or "
                   "numbers",
                   table->source, column->unusable_line, column->name, ND_LABELS_MOST);
}

nade_status nd_group_rows(nade_context *context, struct nade_table *table, const char *list)
{
    static const char what[] = "the column of groups";
    struct arena scratch = {context->allocator, NULL};
    size_t number = 0;
    if (table->roles.group) return refuse_again(context, what, "rows are grouped");
    nade_status status = find_column(context, table, what, list, &number);
    if (status == NADE_OK && table->column[number].storage == STORE_UNUSABLE)
        status = refuse_groups(context, table, number);
    if (status != NADE_OK) return status;
    size_t *group = nd_arena_alloc(&table->arena, table->rows, sizeof *group);
    size_t groups = group ? number_groups(&scratch, table, &table->column[number], group) : 0;
    nd_arena_free(&scratch);
    if (groups == 0) return nd_no_memory(context, "the groups");
    if (groups == 1)
        return nd_fail(context, NADE_BAD_INPUT, "%s, column '%s': all rows are of one group, expected several",
                       table->source, table->column[number].name);
    const char *name = table->column[number].name;
    status = take_column(context, table, number, ROLE_GROUPS);
    if (status != NADE_OK) return status;
    table->roles.group = group;
    table->roles.group_count = groups;
    table->roles.group_name = name;
    return NADE_OK;
}

/* ---- times ------------------------------------------------------------------------------------------------------- */

/* A column of few texts may be one of dates that was taken for labels.  Fails where it is none. */
static nade_status make_dates(nade_context *context, struct nade_table *table, size_t number, const char *expected)
{
    struct table_column *column = &table->column[number];
    char form[ND_FORM_SIZE];
    size_t row;
    if (column->storage == STORE_DOUBLES || column->form || nd_column_is_numeric(column)) return NADE_OK;
    if (column->storage == STORE_UNUSABLE || nd_find_date_form(table, column, form, &row))
        return refuse_text(context, table, number, expected);
    return nd_become_dates(table, column, form) ? NADE_OK : nd_no_memory(context, "the columns");
}

static nade_status refuse_missing(nade_context *context, const struct nade_table *table, size_t number,
                                  const char *expected)
{
    const struct table_column *column = &table->column[number];
    size_t row = 0;
    if (column->missing == 0) return NADE_OK;
    while (column->storage == STORE_DOUBLES ? !isnan(column->cells.numbers[row])
                                            : nd_table_code(column, row) != SIZE_MAX)
        row++;
    return refuse_cell(context, table, number, row, NAN, expected);
}

nade_status nd_time_rows(nade_context *context, struct nade_table *table, const char *list)
{
    static const char what[] = "the column to split by", expected[] = "a number or a date";
    const double *time = NULL;
    size_t number = 0;
    if (table->roles.time) return refuse_again(context, what, "rows are split by one");
    nade_status status = find_column(context, table, what, list, &number);
    if (status == NADE_OK && table->column[number].storage != STORE_UNUSABLE)
        status = refuse_missing(context, table, number, expected);
    if (status == NADE_OK) status = make_dates(context, table, number, expected);
    if (status == NADE_OK) status = read_numbers(context, table, number, -HUGE_VAL, expected, &time);
    if (status != NADE_OK) return status;
    const char *name = table->column[number].name;
    status = take_column(context, table, number, ROLE_TIMES);
    if (status != NADE_OK) return status;
    table->roles.time = time;
    table->roles.time_name = name;
    return NADE_OK;
}
