/* A mixture of Gaussians in standardised units, in double, and what it gives for any set of columns.
 *
 * What is given of a set is the factor of its covariance: L lower triangular with L Lᵀ = Σ of these columns, in the
 * order of a list.  The coordinates y = L⁻¹ (x - μ) are then independent, and x_i given those before it in the list has
 * the mean μ_i + Σ_{j<i} L_ij y_j and the deviation L_ii. */
#ifndef ND_BACKEND_GAUSSIANS_H
#define ND_BACKEND_GAUSSIANS_H

#include "backend/gaussian/gaussian_kernels.h"
#include "backend/gaussian/row_patterns.h"
#include "model/plan.h"

struct gaussians {
    size_t components, columns; /* K, D */
    double *log_weight;         /* (K) */
    double *mean;               /* (K, D) */
    double *covariance;         /* (K, D, D) */
    size_t factors;             /* F; 0: covariances of any form */
    double *loading;            /* (K, D, F) Λ: Σ = Λ Λᵀ + diag(noise) */
    double *noise;              /* (K, D) */
    /* What nd_gaussian_settle makes of them, for rows without holes: */
    double *inverse;  /* (K, D, stride) as of struct gaussian_kernels */
    double *log_root; /* (K) log of the root of the determinant */
};

/* No pivot of a factorisation is taken to be smaller than this: only rounding, or a file made to break it, brings it
 * there. */
#define ND_LEAST_PIVOT 1e-12

bool nd_gaussians_alloc(struct arena *arena, size_t components, size_t columns, size_t factors, struct gaussians *g);

/* Parameters as a plan lays them out, and back.  factor is scratch (stride, stride). */
void nd_gaussians_load(struct gaussians *g, const struct plan *plan, const float *parameters, double *factor);
void nd_gaussians_store(const struct gaussians *g, const struct plan *plan, double *factor, float *parameters);

/* Component k's inverse and determinant, after its covariance has changed; factor is scratch (stride, stride). */
void nd_gaussian_settle(struct gaussians *g, size_t k, double *factor);

/* Σ of component k for a list of n columns (n, stride), then factorised in place: its lower triangle; the upper one is
 * zero. */
void nd_gaussians_factor(const struct gaussians *g, size_t k, const size_t *list, size_t n, double *factor);

/* Cholesky's factor of the lower triangle of a (n, stride) in place. */
void nd_factorise(double *a, size_t n, size_t stride);

/* inverse (n, stride) = the transpose of factor⁻¹; returns the log of the product of the factor's diagonal. */
double nd_invert_factor(const double *factor, size_t n, double *inverse);

/* Scratch of one worker. */
struct gaussian_scratch {
    size_t *list, *rest;      /* (D) columns that are present, and the others */
    size_t n, rests;          /* how many */
    double *factor, *inverse; /* (stride, stride) */
    double *x, *d;            /* (ND_RUN_ROWS, stride) cells of the list; their distances from a mean */
    double *term;             /* (K, ND_RUN_ROWS) log of weight times density; -inf: too little to count */
    double *top;              /* (K) of a run without holes: its terms at the means */
    size_t *best;             /* (ND_RUN_ROWS) of such a run: a component of about the largest term */
    size_t *chosen;           /* (ND_RUN_ROWS) rows at hand */
    double *square;           /* (ND_RUN_ROWS) */
    double *total;            /* (ND_RUN_ROWS) */
};

/* Σ of component k from its loadings and noise (factor_analysers.c). */
void nd_join_analyser(struct gaussians *g, size_t k);

/* Takes Σ of component k for the covariance of its rows, and brings its loadings and noise nearer to the likeliest by
 * some rounds of expectation maximisation (Rubin and Thayer 1982), none of which makes them less likely; then Σ is
 * theirs.  No noise falls below floor² (D).  begins: it has neither yet.  Each work is scratch (D, D). */
void nd_fit_analyser(struct gaussians *g, size_t k, const double *floor, bool begins, double *const work[4]);

bool nd_gaussian_scratch(struct arena *arena, const struct gaussians *g, struct gaussian_scratch *s);

/* The cells of a run: fills list, rest and x.  Of the columns only those with used[c] (NULL: all) are in the list; all
 * others are in rest. */
void nd_take_run(const struct encoded_rows *cells, const struct row_patterns *patterns, const struct row_run *run,
                 const bool *used, struct gaussian_scratch *s);

/* s->inverse, or g->inverse where the list has all columns, for component k; *log_root as above. */
const double *nd_inverse_for(const struct gaussians *g, size_t k, struct gaussian_scratch *s, double *log_root);

/* s->d = s->x - μ_k. */
void nd_take_distances(const struct gaussians *g, size_t k, size_t rows, struct gaussian_scratch *s);

/* term (rows) of component k for a run that was taken, `penalty` taken off; `inverse` and log_root are its own. */
void nd_run_terms(const struct gaussians *g, const struct gaussian_kernels *kernels, size_t k, size_t rows,
                  const double *inverse, double log_root, double penalty, struct gaussian_scratch *s);

/* The term of component k at its mean. */
double nd_term_at_mean(const struct gaussians *g, size_t k, size_t n, double log_root, double penalty);

/* All terms of a run without holes that was taken; s->top is given.  What is so far below a row's largest that it makes
 * no difference to its total is not computed to the end. */
void nd_whole_run_terms(const struct gaussians *g, const struct gaussian_kernels *kernels, size_t rows,
                        struct gaussian_scratch *s);

/* total (rows) = log Σ_k exp(term). */
void nd_run_totals(const struct gaussians *g, size_t rows, struct gaussian_scratch *s);

#endif
