/* What a residual network does between its products, when training and when scoring: norms, GELU, dropout.
 *
 * Matrices of units have rows of `stride` elements, a multiple of 64, which are zero behind the units; lists of a
 * number a unit (biases, a norm's weights) have room for as many. */
#ifndef ND_BACKEND_CUDA_RESIDUAL_H
#define ND_BACKEND_CUDA_RESIDUAL_H

#include "backend/cuda/cuda_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The stream of rows before a norm: products that were added up, and the biases that belong to them. */
struct device_stream {
    const float *sum; /* (rows, stride) */
    size_t stride;
    int32_t width;           /* units */
    const float *first_bias; /* NULL, or of the first layer: the sums may have it */
    const float *bias;       /* of the blocks that were added, bias_gap floats from one to the next */
    size_t bias_gap;
    int32_t biases;
};

/* Dropout of an update (model/draws.h): row r is slot r. */
struct device_dropout {
    uint32_t threshold; /* 0: nothing is dropped */
    float scale;
    uint32_t seed;
    const struct device_progress *progress; /* the draw is first_draw + next + offset */
    uint32_t offset;                        /* update within the graph */
    uint32_t place;                         /* a block, or behind the last norm */
};

/* out = the norm of the stream; of the last norm drop(gelu(…)) of that. */
struct norm_job {
    struct device_stream stream;
    const float *weight, *bias;
    bool last;
    struct device_dropout dropout;
    void *out; /* (rows, stride) operand */
    bool bf16;
    float *moments; /* NULL, or (rows, 2): mean of the stream, and 1 / its deviation */
};

cudaError_t nd_cuda_norm(const struct norm_job *job, size_t rows, cudaStream_t stream);

/* out = drop(gelu(sum + bias)). */
struct gelu_job {
    const void *sum; /* (rows, stride), may be out */
    const float *bias;
    int32_t width;
    size_t stride;
    struct device_dropout dropout;
    void *out; /* (rows, stride) */
    bool bf16; /* both */
};

cudaError_t nd_cuda_gelu(const struct gelu_job *job, size_t rows, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
