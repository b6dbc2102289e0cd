/* What this folder does for the entries of backend/backend.h: densities (cuda_densities.c), conditionals
 * (cuda_conditional.c) and draws (cuda_sample.c). */
#ifndef ND_BACKEND_CUDA_SCORE_H
#define ND_BACKEND_CUDA_SCORE_H

#include "backend/cuda/cuda_backend.h"

nade_status nd_score_densities(nade_context *context, struct cuda_backend *backend, const struct encoded_rows *cells,
                               const struct score_query *query, double *log_density);
nade_status nd_score_conditionals(nade_context *context, struct cuda_backend *backend, const struct encoded_rows *cells,
                                  const size_t *target, double *outputs);
nade_status nd_score_samples(nade_context *context, struct cuda_backend *backend, const struct sample_query *query,
                             size_t rows, float *cells);

/* All that they keep on the device. */
void nd_score_free(struct cuda_backend *backend);

#endif
