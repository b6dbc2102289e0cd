/* What both training and scoring do to whole matrices and lists. */
#ifndef ND_BACKEND_CUDA_MATRIX_H
#define ND_BACKEND_CUDA_MATRIX_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* *sum = the sum of values, always in the same order. */
cudaError_t nd_cuda_sum(const double *values, size_t count, double *sum, cudaStream_t stream);

/* out = activation(in) for the first `units`, one at `units`, zero beyond; out may be in. */
cudaError_t nd_cuda_activate(int activation, const void *in, void *out, bool bf16, size_t rows, size_t units,
                             size_t stride, cudaStream_t stream);

/* delta *= slope of the activation, given what it returned and, where it reads them, the sums that entered it; count is
 * a multiple of 8. */
cudaError_t nd_cuda_slope(int activation, const void *sum, const void *out, void *delta, bool bf16, size_t count,
                          cudaStream_t stream);

/* Sets column `column` of an operand to one in all rows. */
cudaError_t nd_cuda_ones(void *operand, bool bf16, size_t rows, size_t stride, size_t column, cudaStream_t stream);

/* to (columns, to_stride) = from (rows, columns) transposed; the rest of each line of `to` is zero. */
cudaError_t nd_cuda_transpose(const float *from, size_t rows, size_t columns, size_t from_stride, float *to,
                              size_t to_stride, cudaStream_t stream);

/* Whether the kernels were compiled for this chip. */
cudaError_t nd_cuda_try_kernel(void);

/* Two lists change their numbers. */
cudaError_t nd_cuda_swap(float *a, float *b, size_t count, cudaStream_t stream);

/* shadow = weights as bfloat16. */
cudaError_t nd_cuda_shadow(const float *weight, void *shadow, size_t count, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
