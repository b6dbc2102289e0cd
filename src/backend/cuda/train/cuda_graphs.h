/* Updates as graphs of many kernels: the way of every training that no other suits.  Captured once, replayed without
 * the host. */
#ifndef ND_BACKEND_CUDA_GRAPHS_H
#define ND_BACKEND_CUDA_GRAPHS_H

#include "backend/cuda/train/cuda_training.h"

extern const struct training_way nd_graph_way;

/* BLOCK_GRADIENT of an update that failed, its rows drawn again as the update did. */
void nd_graphs_gradient_of(struct cuda_work *work, const struct update_rule *rule, uint64_t update);

/* What was captured is void. */
void nd_graphs_forget(struct cuda_backend *backend);
void nd_graphs_free(struct cuda_backend *backend);

/* For tests, which find it in the object: row (batch) and observed (batch, columns) of an update, as the device draws
 * them.  Locked. */
nade_status nd_graphs_test_draws(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule,
                                 uint64_t update, uint32_t *row, uint8_t *observed);

#endif
