/* A row on its way through a list of columns, for every component at once: each column given those before it is a
 * mixture of Gaussians, which is what a real column's outputs are (model/head_mixture.c). */
#ifndef ND_BACKEND_GAUSSIAN_PATH_H
#define ND_BACKEND_GAUSSIAN_PATH_H

#include "backend/gaussian/gaussians.h"
#include "model/plan.h"

struct gaussian_path {
    const struct gaussians *g;
    size_t *list, n;    /* (D) of which n are listed */
    double *factor;     /* (K, stride, stride) of the list's covariance, stride that of n */
    double *log_own;    /* (K, D) logs of the factors' diagonals */
    double *y;          /* (K, D) coordinates of the row so far */
    double *log_weight; /* (K) log of each component's weight given the row so far, up to a common constant */
    size_t at;          /* how far the row is */
};

bool nd_path_alloc(struct arena *arena, const struct gaussians *g, struct gaussian_path *path);

/* The factors, after list and n were set. */
void nd_path_prepare(struct gaussian_path *path);

/* A new row, at the beginning of the list. */
void nd_path_begin(struct gaussian_path *path);

/* The outputs of the column that the row has come to, as its plan's column has them. */
void nd_path_outputs(const struct gaussian_path *path, const struct plan_column *column, double *outputs);

/* The row's cell of that column, and on to the next one. */
void nd_path_step(struct gaussian_path *path, double x);

#endif
