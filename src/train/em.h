/* Expectation maximisation for mixtures of products over the columns.
 *
 * A step finds how much of each row belongs to which component (its shares, of the cells that are there), and then fits
 * each component's columns to the shares.  So that no component gives a label no probability, and none shrinks to a
 * point, each is also shown a little of every column as it is in all rows: `prior` rows' worth.  What a step never
 * lowers is then
 *
 *     sum over rows of log p(row)  +  prior · sum over components and columns of E log p_k(x), x from the whole column
 *                                  +  prior · sum over components of log weight_k.
 *
 * All sums are made in an order that does not depend on the number of threads. */
#ifndef ND_TRAIN_EM_H
#define ND_TRAIN_EM_H

#include "base/parallel.h"
#include "data/encoded_rows.h"
#include "model/product_mixture.h"

/* The different cells of a column that has no Gaussians. */
struct em_cells {
    const float *value;   /* (count); NULL: a real column */
    const uint32_t *code; /* (rows) which of them a row's cell is; NULL: labels, the cell itself */
    size_t count;
    const double *whole; /* what one row's worth of the whole column is: of each value its share; of a real column those
                            of its atoms, then the share, mean and mean square of the other cells */
};

/* Rows to fit to, for any number of components. */
struct em_rows {
    const struct encoded_rows *cells;
    struct em_cells *column; /* (columns) */
};

nade_status nd_em_list(nade_context *context, struct arena *arena, const struct plan *plan,
                       const struct encoded_rows *cells, struct em_rows *rows);

struct em {
    const struct em_rows *rows;
    struct pool *pool;
    struct arena arena;
    struct product_mixture mixture;
    double prior;
    double *share;      /* (EM_BLOCK, components) */
    double *row_log;    /* (EM_BLOCK) log p of each row */
    double **sum;       /* (columns) shares: (values, components); of real columns as of em_cells' whole */
    double *weight;     /* (components) sums of shares */
    double *scratch;    /* (threads, most): a component's weights of a column's values */
    double *terms;      /* (threads, components) */
    size_t most;        /* values of any column */
    size_t first_row;   /* of the current block */
    size_t block, step; /* rows of the block, and how far apart they are */
};

/* All but parameters; nd_em_close frees it also where this failed. */
nade_status nd_em_open(nade_context *context, const struct plan *plan, const struct em_rows *rows, struct pool *pool,
                       double prior, struct em *em);
void nd_em_close(struct em *em);

/* Begins with components around rows that are drawn. */
void nd_em_start(struct em *em, uint32_t seed, uint64_t start);

/* One step on every step-th row.  Returns what it never lowers, divided by the rows, as it was before; *log_density:
 * the mean of log p, likewise. */
double nd_em_step(struct em *em, size_t step, double *log_density);

/* The mean of log p over other rows. */
double nd_em_score(struct em *em, const struct encoded_rows *cells);

#endif
