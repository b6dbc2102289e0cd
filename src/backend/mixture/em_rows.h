/* The rows that a mixture of products is fitted to, prepared for any number of components: the different cells of
 * columns that have no Gaussians, and where rows differ from the commonest labels.
 *
 * Most cells of columns of labels hold their column's commonest label.  So log p_k of a row is begun as that of the row
 * of all commonest labels, and changed where the row has another one or none: its places. */
#ifndef ND_BACKEND_EM_ROWS_H
#define ND_BACKEND_EM_ROWS_H

#include "data/encoded_rows.h"
#include "model/plan.h"

/* The different cells of a column that has no Gaussians. */
struct em_cells {
    const float *value;   /* (count); NULL: a real column */
    const uint32_t *code; /* (rows) which of them a row's cell is; NULL: labels, the cell itself */
    size_t count;
    size_t place, common; /* of labels: the place of the first; the commonest of them */
    const double *whole; /* what one row's worth of the whole column is: of each value its share; of a real column those
                            of its atoms, then the share, mean and mean square of the other cells */
};

/* Behind the atoms of a real column. */
enum em_moment { EM_WEIGHT, EM_SUM, EM_SQUARES, EM_MOMENTS };

/* Lists of numbers, one behind the other. */
struct em_lists {
    size_t *begin;    /* (count + 1) */
    uint32_t *number; /* (begin[count]) */
    size_t count;
};

struct em_rows {
    const struct encoded_rows *cells;
    struct em_cells *column;    /* (columns) */
    size_t places;              /* each column of labels has one for each of them, and then one for missing cells */
    struct em_lists of_row;     /* places of each row, but that of the commonest label */
    struct em_lists rows_there; /* rows of each place, ascending */
};

/* Whether rows have places in this column. */
static inline bool nd_em_is_labels(const struct em_cells *column)
{
    return column->value && !column->code;
}

/* How many sums a column has. */
static inline size_t nd_em_sums(const struct plan_column *one, const struct em_cells *column)
{
    return column->value ? column->count : one->atoms + EM_MOMENTS;
}

/* Adds a cell of some weights (count) to a column's sums, which are `stride` apart. */
void nd_em_add_cell(const struct plan_column *one, const struct em_cells *column, size_t row, float x,
                    const double *weight, size_t count, size_t stride, double *sum);

/* There must be a row.  What is made is in the arena. */
nade_status nd_em_list(nade_context *context, struct arena *arena, const struct plan *plan,
                       const struct encoded_rows *cells, struct em_rows *rows);

/* Other rows by the same places: of_row alone.  False: no memory. */
bool nd_em_list_places(struct arena *arena, const struct em_rows *rows, const struct encoded_rows *cells,
                       struct em_lists *of_row);

#endif
