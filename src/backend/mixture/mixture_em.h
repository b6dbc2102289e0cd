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
#ifndef ND_BACKEND_MIXTURE_EM_H
#define ND_BACKEND_MIXTURE_EM_H

#include "backend/mixture/em_rows.h"
#include "backend/mixture/mixture_kernels.h"
#include "base/parallel.h"
#include "model/product_mixture.h"

struct em {
    const struct mixture_kernels *kernels;
    const struct em_rows *rows;
    struct pool *pool;
    struct arena arena;
    struct product_mixture mixture;
    double prior;       /* of the steps to come */
    size_t stride;      /* of what follows, from the numbers of one row or value for all components to the next */
    double *common;     /* (stride) log of weight times density of the row of all commonest labels */
    double *change;     /* (places, stride) what another label there, or none, adds to it */
    double *share;      /* (EM_BLOCK, stride) */
    double *row_log;    /* (EM_BLOCK) log p of each row */
    double *place_sum;  /* (places, stride) shares */
    double **sum;       /* (columns) shares: (values, stride), part of place_sum; of real columns as of whole */
    double *weight;     /* (components) sums of shares */
    double *scratch;    /* (threads, most): a component's weights of a column's values */
    size_t most;        /* values of any column */
    size_t *from, *end; /* (places) of rows_there: the rows of the current block */
};

/* All but parameters; nd_em_close frees it also where this failed. */
nade_status nd_em_open(nade_context *context, const struct plan *plan, const struct em_rows *rows, struct pool *pool,
                       struct em *em);
void nd_em_close(struct em *em);

/* Begins with components around rows that are drawn. */
void nd_em_start(struct em *em, uint32_t seed, uint64_t start);

/* Goes on from a plan's parameters. */
void nd_em_load(struct em *em, const float *parameters);

/* One step.  Returns what it never lowers, divided by the rows, as it was before; *log_density: the mean of log p,
 * likewise. */
double nd_em_step(struct em *em, double *log_density);

/* The mean of log p over other rows, whose places are of_row. */
double nd_em_score(struct em *em, const struct encoded_rows *cells, const struct em_lists *of_row);

#endif
