#include "model/far_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/append.h"
#include "base/ascending.h"
#include "base/numbers.h"
#include "base/parallel.h"
#include "data/cell_text.h"
#include "model/head.h"

/* A column is blurred when its least scale exceeds one part in BLUR of the range of its middle half. */
enum { BLUR = 10, COLUMNS_SHOWN = 3, VALUES_SHOWN = 3 };
/* Rows, evenly spaced, that are enough to see a column's middle half. */
enum { QUARTILE_ROWS = 65536 };
enum { COLUMN_TEXT = ND_EXCERPT + VALUES_SHOWN * (ND_NUMBER_TEXT + 2) + 40 };

/* The present cells, ascending, of `taken` evenly spaced rows among the chosen; NULL: no memory. */
static double *sorted_cells(const nade_allocator *allocator, const struct table_column *column, const size_t *rows,
                            size_t row_count, size_t taken, size_t *count)
{
    double *x = nd_alloc(allocator, taken, sizeof *x);
    *count = 0;
    for (size_t i = 0; x && i < taken; i++) {
        double cell = nd_table_number(column, rows[i * row_count / taken]) + 0.0; /* + 0.0 makes -0 a 0 */
        if (!isnan(cell)) x[(*count)++] = cell;
    }
    if (*count > 0) qsort(x, *count, sizeof *x, nd_compare_numbers);
    return x;
}

static bool is_blurred(const struct column_spec *spec, const double *x, size_t count)
{
    if (count < 4) return false;
    double middle = x[3 * count / 4] - x[count / 4];
    return middle > 0 && BLUR * spec->floor * spec->sd > middle;
}

/* "'income' (999999, -1000000 and 2 more)": the farthest values from the median first, of all that lie farther from it
 * than the standard deviation. */
static void show_column(const struct column_spec *spec, const double *x, size_t count, char text[COLUMN_TEXT])
{
    char name[ND_EXCERPT], number[ND_NUMBER_TEXT];
    double median = x[count / 2], last = NAN;
    size_t low = 0, high = count, found = 0;
    snprintf(text, COLUMN_TEXT, "'%s' (", nd_excerpt(spec->name, strlen(spec->name), name));
    while (low < high) {
        double value = median - x[low] > x[high - 1] - median ? x[low++] : x[--high];
        if (fabs(value - median) <= spec->sd) break;
        if (value == last) continue;
        last = value;
        if (found++ >= VALUES_SHOWN) continue;
        nd_format_number(value, number);
        nd_append(text, COLUMN_TEXT, "%s%s", found > 1 ? ", " : "", number);
    }
    if (found > VALUES_SHOWN) nd_append(text, COLUMN_TEXT, " and %zu more", found - VALUES_SHOWN);
    nd_append(text, COLUMN_TEXT, ")");
}

/* Looking for blurred columns, side by side. */
struct search {
    const nade_allocator *allocator;
    const nade_table *table;
    const size_t *rows; /* (row_count) */
    size_t row_count;
    const struct schema *schema;
    enum finding { CLEAR, BLURRED, NO_MEMORY } * finding; /* (columns) */
};

static void look_at_column(void *argument, size_t number, unsigned worker)
{
    const struct search *search = argument;
    const struct column_spec *spec = &search->schema->column[number];
    size_t taken = search->row_count < QUARTILE_ROWS ? search->row_count : QUARTILE_ROWS, count;
    (void)worker;
    /* A floor that the recording step makes is as fine as the data are; a map spreads the middle out. */
    if (!nd_head_for(spec->type)->continuous || spec->floor > ND_SCALE_FLOOR || spec->map) return;
    double *x =
        sorted_cells(search->allocator, &search->table->column[number], search->rows, search->row_count, taken, &count);
    search->finding[number] = !x ? NO_MEMORY : is_blurred(spec, x, count) ? BLURRED : CLEAR;
    nd_free(search->allocator, x);
}

static nade_status warn_of_findings(nade_context *context, const struct search *search)
{
    char list[COLUMNS_SHOWN * (COLUMN_TEXT + 2) + 1] = "", text[COLUMN_TEXT], others[48] = "";
    size_t found = 0, count;
    for (size_t c = 0; c < search->schema->count; c++) {
        if (search->finding[c] == NO_MEMORY) return nd_no_memory(context, "the columns");
        if (search->finding[c] == CLEAR || found++ >= COLUMNS_SHOWN) continue;
        double *x = sorted_cells(search->allocator, &search->table->column[c], search->rows, search->row_count,
                                 search->row_count, &count);
        if (!x) return nd_no_memory(context, "the columns");
        show_column(&search->schema->column[c], x, count, text);
        nd_append(list, sizeof list, "%s%s", found > 1 ? ", " : "", text);
        nd_free(search->allocator, x);
    }
    if (found > COLUMNS_SHOWN) snprintf(others, sizeof others, " and %zu more", found - COLUMNS_SHOWN);
    if (found > 0)
        nd_warn(context,
                "values of %s lie so far from the others of their column that the model blurs those: %s%s; leave such "
                "cells empty if they mean a missing value, or leave their rows or columns out",
                search->table->source, list, others);
    return NADE_OK;
}

nade_status nd_warn_of_far_values(nade_context *context, const nade_table *table, const size_t *rows, size_t row_count,
                                  const struct schema *schema)
{
    struct search search = {
        .allocator = &context->allocator,
        .table = table,
        .rows = rows,
        .row_count = row_count,
        .schema = schema,
        .finding = nd_alloc(&context->allocator, schema->count, sizeof *search.finding),
    };
    if (!search.finding) return nd_no_memory(context, "the columns");
    nade_status status = nd_parallel_once(context, context->threads, schema->count, look_at_column, &search);
    if (status == NADE_OK) status = warn_of_findings(context, &search);
    nd_free(&context->allocator, search.finding);
    return status;
}
