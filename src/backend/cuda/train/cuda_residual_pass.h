/* What a residual network's batch does between its products, for cuda_pass.c; and its linear path and norms.
 *
 * Of its layers (model/plan.h) the even ones add to the stream: residual.stream[b] is what layer 2b leaves.  hidden[2b]
 * is the norm of that, which enters `up` or, with GELU and dropout, the output; hidden[2b+1] is what enters `down`.
 * Back, delta[2b] is the gradient with respect to stream[b], delta[2b+1] that with respect to what `up` gives. */
#ifndef ND_BACKEND_CUDA_RESIDUAL_PASS_H
#define ND_BACKEND_CUDA_RESIDUAL_PASS_H

#include "backend/cuda/train/cuda_pass.h"

/* Memory of all but inputs and outputs, and the linear path's products. */
void nd_residual_build(struct cuda_work *work, struct cuda_pass *pass);
void nd_residual_free(struct cuda_pass *pass);

/* Where a layer's product goes, and what it is added to; NULL: to nothing. */
void *nd_residual_result(const struct cuda_pass *pass, size_t layer);
const void *nd_residual_base(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t layer);

/* What follows a product forward, and back. */
cudaError_t nd_residual_activate(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t layer,
                                 cudaStream_t stream);
cudaError_t nd_residual_slope(const struct cuda_backend *backend, const struct cuda_pass *pass, size_t layer,
                              cudaStream_t stream);

/* The outputs' part that comes straight from drawn rows `which`, to which the output layer's product is added; its
 * gradient. */
void nd_pass_direct(struct cuda_work *work, struct cuda_pass *pass, int which, void *workspace, cudaStream_t stream);
void nd_pass_direct_gradient(struct cuda_work *work, struct cuda_pass *pass, int which, void *workspace,
                             cudaStream_t stream);

/* The gradient of the output's bias, once its delta is there; of all other biases and norms, once the batch has gone
 * back through all of them. */
void nd_pass_output_bias(struct cuda_work *work, struct cuda_pass *pass, cudaStream_t stream);
void nd_pass_vector_gradients(struct cuda_work *work, struct cuda_pass *pass, cudaStream_t stream);

/* For cuda_pass.c and this: zeroed memory on the device that goes with the pass; a product of a shape. */
void *nd_pass_reserve(struct cuda_work *work, struct cuda_pass *pass, size_t rows, size_t size);
struct product_shape nd_pass_shape(const struct cuda_pass *pass, enum product_kind kind, const struct cuda_layer *layer,
                                   bool float_result);

#endif
