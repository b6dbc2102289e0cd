#include "data/left_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/ascending.h"
#include "data/cell_text.h"
#include "data/column_types.h"
#include "data/date_column.h"
#include "data/number_form.h"

/* Rows below which numbers in a row are no sign of anything; the room in which ascending numbers of rows lie, in rows.
 */
enum { ROWS_LEAST = 20, SPAN_MOST = 10, COLUMNS_SHOWN = 4, COLUMN_TEXT = ND_EXCERPT + 80 };

/* ---- numbers of rows --------------------------------------------------------------------------------------------- */

/* What the integers of a column are like. */
struct integers {
    double least, most;
    bool whole;     /* no cell is missing, and all are integers */
    bool ascending; /* each row's is larger than the one before */
};

static struct integers look_at_integers(const struct nade_table *table, const struct table_column *column)
{
    struct integers found = {HUGE_VAL, -HUGE_VAL, column->missing == 0, true};
    for (size_t row = 0; row < table->rows && found.whole; row++) {
        double number = nd_table_number(column, row);
        found.whole = number == floor(number);
        found.ascending = found.ascending && number > found.most;
        found.least = fmin(found.least, number);
        found.most = fmax(found.most, number);
    }
    return found;
}

/* *differ: no two cells are the same.  False: no memory. */
static bool all_differ(nade_context *context, const struct nade_table *table, const struct table_column *column,
                       bool *differ)
{
    double *numbers = nd_alloc(&context->allocator, table->rows, sizeof *numbers);
    if (!numbers) return false;
    for (size_t row = 0; row < table->rows; row++) numbers[row] = nd_table_number(column, row);
    qsort(numbers, table->rows, sizeof *numbers, nd_compare_numbers);
    *differ = true;
    for (size_t row = 1; row < table->rows; row++) *differ = *differ && numbers[row] != numbers[row - 1];
    nd_free(&context->allocator, numbers);
    return true;
}

/* Years, days such as 20190131, and seconds and milliseconds since 1970 say something of a row. */
static bool may_be_time(const struct integers *integers)
{
    static const struct {
        double least, most;
    } spans[] = {{1500, 2200}, {19000101, 22001231}, {1e8, 5e9}, {1e11, 5e12}};
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        if (integers->least >= spans[i].least && integers->most <= spans[i].most) return true;
    return false;
}

/* A first column without a name, as pandas writes its index; read back and written again it has this name. */
static bool is_index(const struct nade_table *table, const struct table_column *column)
{
    bool counted = table->columns > 1 && !strcmp(table->column[1].name, "1"); /* all are named by their numbers */
    return table->named && column->place == 0 &&
           ((!strcmp(column->name, "0") && !counted) || !strcmp(column->name, "Unnamed: 0"));
}

/* *found: the column numbers the rows: integers that follow one another, in any order, or ascend from row to row
 * without large gaps; in a column without a name any that differ.  False: no memory. */
static bool numbers_rows(nade_context *context, const struct nade_table *table, const struct table_column *column,
                         bool *found)
{
    *found = false;
    if (table->rows < ROWS_LEAST || !nd_column_is_numeric(column)) return true;
    struct integers integers = look_at_integers(table, column);
    double span = integers.most - integers.least + 1, rows = (double)table->rows;
    if (!integers.whole || may_be_time(&integers)) return true;
    if (integers.ascending) {
        *found = span <= SPAN_MOST * rows || is_index(table, column);
        return true;
    }
    return span == rows || is_index(table, column) ? all_differ(context, table, column, found) : true;
}

/* ---- names of rows ----------------------------------------------------------------------------------------------- */

/* True when there are more than half as many texts as cells: too few of each to learn anything from.  Of a column with
 * too many labels, those before it was given up tell. */
static bool names_rows(const struct nade_table *table, const struct table_column *column)
{
    size_t cells = 0, texts = 0;
    for (size_t i = 0; i < column->label_count; i++) {
        cells += column->labels[i].count;
        texts += !column->labels[i].is_number;
    }
    if (texts == 0 && column->type == NADE_CATEGORICAL) texts = column->label_count; /* codes */
    if (table->rows < ROWS_LEAST || column->stray || nd_column_has_decimal_commas(column)) return false;
    return texts >= ROWS_LEAST && 2 * texts > cells;
}

/* ---- all columns ------------------------------------------------------------------------------------------------- */

static const char ambiguous[] = "dates whose day and month can't be told apart";
static const char many_forms[] = "numbers of more than one unit or form";
static const char too_long[] = "a text of more than 65536 bytes";
_Static_assert(ND_TEXT_BYTES_MOST == 65536, "as the sentence says");
static const char too_many[] = "more labels than the 100000 that a column may have";
_Static_assert(ND_LABELS_MOST == 100000, "as the sentence says");

/* How many there are all together is not known of such a column, nor whether they name the rows. */
static bool is_too_rich(const struct table_column *column)
{
    return column->storage == STORE_UNUSABLE && column->label_count == ND_LABELS_MOST;
}

/* True for numbers, all of them with marks or units, that have no form in common. */
static bool has_forms(const struct table_column *column)
{
    struct number_parts parts;
    for (size_t i = 0; i < column->label_count; i++) {
        const char *text = column->labels[i].text;
        bool number = nd_number_parts(text, strlen(text), &parts);
        if (!number || !(parts.marked || parts.prefix[0] || parts.suffix[0])) return false;
    }
    return column->label_count > 0;
}

/* Why a column goes; *reason NULL: it stays.  False: no memory. */
static bool find_reason(nade_context *context, const struct nade_table *table, const struct table_column *column,
                        bool keep, const char **reason)
{
    bool numbered = false;
    *reason = NULL;
    if (column->missing == table->rows) {
        *reason = "empty";
        return true;
    }
    if (keep || table->array || column->typed || column->type == NADE_DATE) return true;
    if (!numbers_rows(context, table, column, &numbered)) return false;
    if (numbered)
        *reason = "numbers the rows";
    else if (column->storage == STORE_UNUSABLE && !names_rows(table, column) && !nd_is_unusable_by_slip(column))
        *reason = is_too_rich(column) ? too_many : too_long;
    else if (names_rows(table, column))
        *reason = nd_are_ambiguous_dates(column) ? ambiguous
                  : has_forms(column)            ? many_forms
                  : is_too_rich(column)          ? too_many
                                                 : "names the rows";
    return true;
}

static nade_status find_reasons(nade_context *context, const struct nade_table *table, const char *keep,
                                const char **reasons)
{
    bool *kept = NULL;
    size_t left = 0;
    nade_status status = nd_list_columns(context, table, "the list of columns to keep", keep, &kept);
    for (size_t c = 0; c < table->columns && status == NADE_OK; c++) {
        if (!find_reason(context, table, &table->column[c], kept[table->column[c].place], &reasons[c]))
            status = nd_no_memory(context, "the columns");
        left += !reasons[c];
    }
    for (size_t c = 0; c < table->columns && status == NADE_OK && left == 0; c++)
        if (table->column[c].missing < table->rows || table->columns == 1) reasons[c] = NULL;
    nd_free(&context->allocator, kept);
    return status;
}

static void warn_of_them(nade_context *context, const struct nade_table *table, const char *const *reasons)
{
    char list[COLUMNS_SHOWN * COLUMN_TEXT + 1] = "", name[ND_EXCERPT], others[48] = "";
    size_t found = 0;
    bool hopeless = true, dates = false; /* to keep any of them; some may be dates */
    for (size_t c = 0; c < table->columns; c++) {
        if (!reasons[c]) continue;
        hopeless =
            hopeless && (table->column[c].missing == table->rows || reasons[c] == too_many || reasons[c] == too_long);
        dates = dates || reasons[c] == ambiguous;
        if (found++ >= COLUMNS_SHOWN) continue;
        nd_append(list, sizeof list, "%s'%s' (%s)", found > 1 ? ", " : "",
                  nd_excerpt(table->column[c].name, strlen(table->column[c].name), name), reasons[c]);
    }
    if (found > COLUMNS_SHOWN) snprintf(others, sizeof others, " and %zu more", found - COLUMNS_SHOWN);
    nd_warn(context, "%s: nothing can be learnt from column%s %s%s, left out%s%s", table->source, found == 1 ? "" : "s",
            list, others, dates ? "; name the form of its dates" : "",
            hopeless ? "" : "; name the columns to keep if something can");
}

struct left_out *nd_left_out_room(struct nade_table *table, const char *const *reasons)
{
    size_t count = table->left_out_count;
    for (size_t c = 0; c < table->columns; c++) count += reasons[c] != NULL;
    return nd_arena_alloc(&table->arena, count, sizeof(struct left_out));
}

void nd_take_out(struct nade_table *table, const char *const *reasons, struct left_out *room)
{
    size_t kept = 0, known = 0, count = 0, c = 0, all = table->columns + table->left_out_count;
    for (size_t place = 0; place < all; place++) {
        if (known < table->left_out_count && table->left_out[known].place == place) {
            room[count++] = table->left_out[known++];
            continue;
        }
        if (reasons[c])
            room[count++] = (struct left_out){.name = table->column[c].name, .place = place, .reason = reasons[c]};
        else
            table->column[kept++] = table->column[c];
        c++;
    }
    table->left_out = room;
    table->left_out_count = count;
    table->columns = kept;
}

nade_status nd_refuse_kept_text(nade_context *context)
{
    return nd_fail(context, NADE_BAD_CALL, "the table keeps the text of its cells, expected one without");
}

nade_status nd_leave_out(nade_context *context, struct nade_table *table, const char *keep)
{
    size_t gone = 0;
    if (table->texts.count > 0) return nd_refuse_kept_text(context);
    const char **reasons = nd_alloc(&context->allocator, table->columns, sizeof *reasons);
    nade_status status = reasons ? find_reasons(context, table, keep, reasons) : nd_no_memory(context, "the columns");
    for (size_t c = 0; c < table->columns && status == NADE_OK; c++) gone += reasons[c] != NULL;
    struct left_out *room = gone > 0 ? nd_left_out_room(table, reasons) : NULL;
    if (gone > 0 && !room) status = nd_no_memory(context, "the columns");
    if (room) {
        warn_of_them(context, table, reasons);
        nd_take_out(table, reasons, room);
    }
    nd_free(&context->allocator, reasons);
    return status;
}
