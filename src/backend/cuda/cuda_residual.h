/* What a residual network does between its products, when training and when scoring: norms, GELU, dropout, and the way
 * back through them.  Matrices of units have rows whose length is a multiple of 64 and which are zero behind the units;
 * lists of a number a unit (biases, a norm's weights) have room for as many. */
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
    void *out; /* (rows, out_stride) operand; where four units reach behind the last one, a one and zeros are written */
    size_t out_stride;
    bool bf16;
    float *moments; /* NULL, or (rows, 2): mean of the stream, and 1 / its deviation */
};

cudaError_t nd_cuda_norm(const struct norm_job *job, size_t rows, cudaStream_t stream);

/* out = drop(gelu(sum + bias)); of the slope out *= that's slope. */
struct gelu_job {
    const void *sum; /* (rows, sum_stride), may be out where it is not the slope's */
    size_t sum_stride;
    const float *bias;
    int32_t width;
    struct device_dropout dropout;
    void *out; /* (rows, out_stride), as of norm_job */
    size_t out_stride;
    bool bf16; /* all three */
};

cudaError_t nd_cuda_gelu(const struct gelu_job *job, size_t rows, cudaStream_t stream);
cudaError_t nd_cuda_gelu_slope(const struct gelu_job *job, size_t rows, cudaStream_t stream);

/* The way back through a norm: what arrives behind it goes on to the stream. */
struct norm_back_job {
    struct norm_job forward; /* but for out; with moments */
    const float *arrived;    /* (rows, stride): the gradient with respect to what the norm gave */
    const float *above;      /* NULL, or (rows, stride): the stream's gradient behind the block */
    float *below;            /* NULL, or (rows, stride), may be above: that before the block */
    void *delta;             /* (rows, stride) operand: the same */
    float *part;             /* (nd_cuda_norm_parts, 2, stride): sums over rows for the norm's weight and bias */
};

/* Into how many parts the rows of a batch fall. */
size_t nd_cuda_norm_parts(size_t rows);

cudaError_t nd_cuda_norm_back(const struct norm_back_job *job, size_t rows, cudaStream_t stream);

/* gradient (norms, 2, stride) = part (norms, parts, 2, stride) added up over the parts, always in the same order. */
cudaError_t nd_cuda_norm_gradients(const float *part, size_t norms, size_t parts, size_t stride, float *gradient,
                                   cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
