/* The way back through what cuda_residual.h makes, on which norms and biases get their gradients. */
#ifndef ND_BACKEND_CUDA_RESIDUAL_BACK_H
#define ND_BACKEND_CUDA_RESIDUAL_BACK_H

#include "backend/cuda/cuda_residual.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums over a batch's rows, of which each block of threads adds up a part: (nd_cuda_parts, gap). */
struct device_parts {
    float *first; /* of these sums in the first part */
    size_t gap;
};

/* How many parts there are at most; how many of them the rows of a batch fall into, for units of a width. */
enum { ND_CUDA_PARTS_MOST = 128 };
size_t nd_cuda_parts(size_t rows, size_t width);

/* sum (numbers) = parts (parts, numbers) added up, always in the same order. */
cudaError_t nd_cuda_add_parts(const float *part, size_t parts, size_t numbers, float *sum, cudaStream_t stream);

/* The way back through GELU: forward.out *= the slope of what was made of forward.sum; part: sums of that, the gradient
 * of the bias. */
struct gelu_back_job {
    struct gelu_job forward;
    struct device_parts part;
};

cudaError_t nd_cuda_gelu_back(const struct gelu_back_job *job, size_t rows, cudaStream_t stream);

/* The way back through a norm: what arrives behind it goes on to the stream. */
struct norm_back_job {
    struct norm_job forward;  /* but for out; with moments */
    const float *arrived;     /* (rows, stride): the gradient with respect to what the norm gave */
    const float *above;       /* NULL, or (rows, stride): the stream's gradient behind the block */
    float *below;             /* NULL, or (rows, stride), may be above: that before the block */
    void *delta;              /* (rows, stride) operand: the same */
    struct device_parts part; /* three rows of stride: the gradients of the norm's weight and bias, and of the bias that
                                 was last added to the stream */
};

cudaError_t nd_cuda_norm_back(const struct norm_back_job *job, size_t rows, cudaStream_t stream);

/* sum (columns) = the rows of an operand (rows, stride) added up, always in the same order. */
cudaError_t nd_cuda_column_sums(const void *operand, bool bf16, size_t rows, size_t columns, size_t stride, float *sum,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
