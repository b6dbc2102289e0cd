/* Mixtures of Gaussians with full covariances, or of factor analysers, on the host in double precision: closed forms in
 * place of orderings.  Their training is expectation maximisation: an update is a round of it. */
#ifndef ND_BACKEND_GAUSSIAN_BACKEND_H
#define ND_BACKEND_GAUSSIAN_BACKEND_H

#include "backend/backend.h"
#include "backend/gaussian/gaussian_em.h"
#include "backend/gaussian/gaussian_path.h"

extern const struct backend_entries nd_gaussian_entries;

struct gaussian_worker {
    struct gaussian_scratch run;
    struct gaussian_path path;
    double *outputs; /* (the widest block) */
};

struct gaussian_backend {
    struct arena arena;
    const struct plan *plan;
    const struct gaussian_kernels *kernels;
    struct pool *pool;
    struct gaussians g;
    double *floor;                  /* (D) of the columns */
    struct gaussian_worker *worker; /* (threads) */
    struct encoded_rows data[DATA_ROLES];
    struct arena fit_arena; /* what is fitted with, for DATA_TRAIN */
    struct gaussian_em em;
    bool fits; /* em is open */
};

/* ---- its entries ---- */

nade_status nd_gaussian_score(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                              const struct score_query *query, double *log_density);
nade_status nd_gaussian_conditional(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                                    const size_t *target, double *outputs);
nade_status nd_gaussian_sample(nade_context *context, struct backend *backend, const struct sample_query *query,
                               size_t rows, float *cells);

#endif
