#include "backend/mixture/em_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/ascending.h"
#include "base/context.h"
#include "base/fault.h"
#include "model/head.h"
#include "model/mixture.h"

/* ---- the different cells ----------------------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The cells of a column that are there, each once, in ascending order. */
static size_t list_cells(const struct encoded_rows *cells, size_t c, float *values)
{
    size_t count = 0, kept = 0;
    for (size_t row = 0; row < cells->rows; row++) {
        float x = nd_cell(cells, row, c);
        if (!isnan(x)) values[count++] = x;
    }
    qsort(values, count, sizeof *values, compare_floats);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || values[i] != values[kept - 1]) values[kept++] = values[i];
    return kept;
}

/* Columns that are neither real nor of labels: counts, dates. */
static bool list_others(struct arena *arena, const struct encoded_rows *cells, size_t c, struct em_cells *column)
{
    float *values = nd_arena_alloc(arena, cells->rows, sizeof *values);
    uint32_t *code = nd_arena_alloc(arena, cells->rows, sizeof *code);
    if (!values || !code) return false;
    column->count = list_cells(cells, c, values);
    for (size_t row = 0; row < cells->rows; row++) {
        float x = nd_cell(cells, row, c);
        if (!isnan(x)) code[row] = (uint32_t)nd_first_float_from(values, column->count, (double)x);
    }
    column->value = values;
    column->code = code;
    return true;
}

static bool list_labels(struct arena *arena, size_t count, struct em_cells *column)
{
    float *values = nd_arena_alloc(arena, count, sizeof *values);
    for (size_t v = 0; values && v < count; v++) values[v] = (float)v;
    column->value = values;
    column->count = count;
    return values != NULL;
}

void nd_em_add_cell(const struct plan_column *one, const struct em_cells *column, size_t row, float x,
                    const double *weight, size_t count, size_t stride, double *sum)
{
    size_t place = column->code ? column->code[row] : column->value ? (size_t)x : nd_find_atom(one, (double)x);
    double *at = sum + place * stride, z = (double)x;
    for (size_t k = 0; k < count; k++) at[k] += weight[k]; /* of a real cell that is no atom EM_WEIGHT is there */
    if (column->value || place < one->atoms) return;
    for (size_t k = 0; k < count; k++) {
        at[EM_SUM * stride + k] += weight[k] * z;
        at[EM_SQUARES * stride + k] += weight[k] * z * z;
    }
}

/* A column as it is in all rows; each label has half a cell more, as in independent columns, since one that these rows
 * do not have is a label all the same: an age between those that occur, or one that only held-out rows have. */
static bool find_whole(struct arena *arena, const struct plan_column *one, const struct encoded_rows *cells, size_t c,
                       struct em_cells *column)
{
    size_t sums = nd_em_sums(one, column), present = 0;
    double *whole = nd_arena_alloc(arena, sums, sizeof *whole);
    const double weight = 1;
    for (size_t row = 0; whole && row < cells->rows; row++) {
        float x = nd_cell(cells, row, c);
        if (isnan(x)) continue;
        nd_em_add_cell(one, column, row, x, &weight, 1, 1, whole);
        present++;
    }
    double more = nd_em_is_labels(column) && !ND_FAULT(FAULT_EM_WHOLE) ? 0.5 : 0;
    double total = (double)present + more * (double)sums;
    for (size_t i = 0; whole && total > 0 && i < sums; i++) whole[i] = (whole[i] + more) / total;
    column->whole = whole;
    return whole != NULL;
}

/* ---- places ------------------------------------------------------------------------------------------------------ */

/* Gives the columns of labels their places. */
static void number_places(struct em_rows *rows)
{
    for (size_t c = 0; c < rows->cells->columns; c++) {
        struct em_cells *column = &rows->column[c];
        if (!nd_em_is_labels(column)) continue;
        column->place = rows->places;
        rows->places += column->count + 1;
        for (size_t v = 1; v < column->count; v++)
            if (column->whole[v] > column->whole[column->common]) column->common = v;
    }
}

/* Writes a row's places, where `place` is not NULL; how many they are. */
static size_t find_places(const struct em_rows *rows, const struct encoded_rows *cells, size_t row, uint32_t *place)
{
    size_t found = 0;
    for (size_t c = 0; c < cells->columns; c++) {
        const struct em_cells *column = &rows->column[c];
        if (!nd_em_is_labels(column)) continue;
        float x = nd_cell(cells, row, c);
        size_t value = isnan(x) ? column->count : (size_t)x;
        if (value == column->common) continue;
        if (place) place[found] = (uint32_t)(column->place + value);
        found++;
    }
    return found;
}

bool nd_em_list_places(struct arena *arena, const struct em_rows *rows, const struct encoded_rows *cells,
                       struct em_lists *of_row)
{
    size_t *begin = nd_arena_alloc(arena, cells->rows + 1, sizeof *begin);
    for (size_t row = 0; begin && row < cells->rows; row++)
        begin[row + 1] = begin[row] + find_places(rows, cells, row, NULL);
    uint32_t *place = begin ? nd_arena_alloc(arena, begin[cells->rows] + 1, sizeof *place) : NULL;
    for (size_t row = 0; place && row < cells->rows; row++) find_places(rows, cells, row, place + begin[row]);
    *of_row = (struct em_lists){begin, place, cells->rows};
    return place != NULL;
}

/* The rows of each place from the places of each row. */
static bool turn_lists(struct arena *arena, const struct em_lists *from, size_t places, struct em_lists *to)
{
    size_t all = from->begin[from->count], *begin = nd_arena_alloc(arena, places + 2, sizeof *begin);
    uint32_t *number = nd_arena_alloc(arena, all + 1, sizeof *number);
    *to = (struct em_lists){begin, number, places};
    if (!begin || !number) return false;
    for (size_t i = 0; i < all; i++) begin[from->number[i] + 2]++;
    for (size_t p = 0; p < places; p++) begin[p + 2] += begin[p + 1];
    for (size_t row = 0; row < from->count; row++)
        for (size_t i = from->begin[row]; i < from->begin[row + 1]; i++)
            number[begin[from->number[i] + 1]++] = (uint32_t)row;
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

nade_status nd_em_list(nade_context *context, struct arena *arena, const struct plan *plan,
                       const struct encoded_rows *cells, struct em_rows *rows)
{
    *rows = (struct em_rows){cells, nd_arena_alloc(arena, plan->columns, sizeof *rows->column), .places = 0};
    bool good = rows->column != NULL;
    for (size_t c = 0; c < plan->columns && good; c++) {
        const struct plan_column *one = &plan->one[c];
        struct em_cells *column = &rows->column[c];
        if (one->values)
            good = list_labels(arena, one->values, column);
        else if (one->head->type != NADE_REAL)
            good = list_others(arena, cells, c, column);
        good = good && find_whole(arena, one, cells, c, column);
    }
    if (good) number_places(rows);
    good = good && nd_em_list_places(arena, rows, cells, &rows->of_row) &&
           turn_lists(arena, &rows->of_row, rows->places, &rows->rows_there);
    return good ? NADE_OK : nd_no_memory(context, "the rows");
}
