/* Expectation-maximisation for mixtures of Gaussians, missing cells marginalised exactly.
 *
 * What a round never makes smaller is the sum over rows of log Σ_k π_k exp(E log N(x + ε; μ_k, Σ_k)): each present cell
 * is blurred by independent noise ε whose deviation is its column's floor, so that no covariance becomes singular
 * whatever the rows (docs/model.md); and with a prior, the sum over components of what that takes off.  Sums are
 * made over fixed parts of the rows and added in their order: the result does not depend on the number of threads. */
#ifndef ND_BACKEND_GAUSSIAN_EM_H
#define ND_BACKEND_GAUSSIAN_EM_H

#include "backend/gaussian/gaussians.h"
#include "base/parallel.h"

/* What a part of the rows adds up to. */
struct em_part {
    double *weight;   /* (K) Σ r */
    double *sum;      /* (K, D) Σ r d, d the expected distance from the component's mean */
    double *moment;   /* (K, stride, stride) Σ r d dᵀ, expected; its lower triangle */
    double objective; /* Σ over rows */
};

/* Scratch of one worker: what a run with holes adds, and how its missing cells follow from the present ones. */
struct em_scratch {
    struct gaussian_scratch run;
    double *weight;            /* (ND_RUN_ROWS) of the rows that count */
    double *sum;               /* (D) */
    double *moment;            /* (stride, stride) */
    double *along, *slope, *v; /* (D, D) each */
};

struct gaussian_em {
    const struct gaussian_kernels *kernels;
    const nade_allocator *allocator;
    struct pool *pool;
    struct gaussians *g; /* what is fitted */
    const double *floor; /* (D) */
    struct encoded_rows cells;
    struct row_patterns patterns;
    struct em_part *part; /* (parts) */
    size_t parts;
    struct em_scratch *scratch; /* (threads) */
    double *penalty;            /* (K) what blurring takes off the log density of a row without holes */
    double prior;               /* rows that each of several components has seen besides (gaussian_prior.c) */
    double *whole;              /* (D, D) their second moment, that of about all rows */
    double *prior_log;          /* (K) */
};

/* Room to fit the components to the cells; these, floor (D) and the pool are borrowed.  False: no memory. */
bool nd_gaussian_em_open(struct arena *arena, struct pool *pool, const struct encoded_rows *cells, const double *floor,
                         struct gaussians *g, struct gaussian_em *em);

/* Component k's loadings and noise from its Σ, where it is a factor analyser; its inverse and determinant. */
void nd_gaussian_em_settle(struct gaussian_em *em, size_t k, bool begins, unsigned worker);

/* Fills em->whole, which is zero, from the cells.  What the prior adds to the log likelihood for component k, but for a
 * constant. */
void nd_gaussian_find_whole(struct gaussian_em *em);
double nd_gaussian_prior_log(const struct gaussian_em *em, size_t k);

/* One round; returns what it makes no smaller, before it. */
double nd_gaussian_em_round(struct gaussian_em *em);

/* Begins with one component at the mean of all rows, or K at rows that lie apart: centres drawn as those of k-means++,
 * some of its rounds, then shrunken covariances of the clusters.  `start` numbers the draws of several starts.  False:
 * no memory. */
bool nd_gaussian_em_start(struct gaussian_em *em, uint32_t seed, uint32_t start);

#endif
