/* A batch on its way through the network: buffers and planned products for a constant number of rows. */
#ifndef ND_BACKEND_CUDA_PASS_H
#define ND_BACKEND_CUDA_PASS_H

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/cuda_residual_back.h"

/* While one update uses one pair of drawn rows, the next is drawn into the other. */
enum { ND_DRAWN = 2 };

struct drawn_rows {
    void *input;    /* (rows, layer[0].stride) operand */
    float *target;  /* (rows, columns) */
    double *weight; /* (rows) */
};

/* What a residual network has besides; W is nd_cuda_width.  Without gradients nothing outlives its use, so that blocks
 * share buffers. */
struct residual_pass {
    float **stream;  /* (blocks + 1) of (rows, W): before each block, and behind the last; without biases */
    float *moments;  /* (blocks + 1, rows, 2): what the way back needs to know of each norm */
    float *arrived;  /* (rows, W): what a product sends down to a norm */
    float *gradient; /* (rows, W): the stream's gradient; NULL: deltas are floats and hold it */
    float *part;     /* (ND_CUDA_PARTS_MOST, nd_cuda_vector_rows, W): of the gradients of vectors */
    struct product direct, direct_gradient;
    struct device_dropout dropout; /* of what is put on streams next */
};

struct cuda_pass {
    size_t rows; /* 0: not built */
    size_t layers;
    bool gradients;
    struct drawn_rows drawn[ND_DRAWN]; /* the second only with gradients */
    void **hidden;                     /* (L) operands (rows, layer[l+1].stride): what enters layer l+1 */
    void **sum;                        /* (L): what enters their activations; hidden itself unless slopes read it */
    void **delta;                      /* (L+1) operands: gradients with respect to what enters an activation or head */
    float *outputs;                    /* (rows, layer[L].padded_rows); delta[L] itself unless operands are bfloat16 */
    double *loss;                      /* (rows) */
    struct product *forward, *backward, *gradient; /* (L+1) each; backward[0] is not used */
    struct residual_pass residual;
    void **owned; /* all memory on the device */
    size_t owned_count;
    struct arena arena;
};

/* Builds a pass for so many rows; what was there is freed first. */
nade_status nd_pass_build(nade_context *context, struct cuda_backend *backend, size_t rows, bool gradients,
                          struct cuda_pass *pass);
void nd_pass_free(struct cuda_pass *pass);

/* One layer's product, from drawn rows `which` or the layer below; then what follows it: its activation, or what a
 * residual network makes of it for the next layer. */
void nd_pass_forward(struct cuda_work *work, struct cuda_pass *pass, size_t layer, int which, void *workspace,
                     cudaStream_t stream);
void nd_pass_activate(struct cuda_work *work, struct cuda_pass *pass, size_t layer, cudaStream_t stream);

/* Losses of the first `rows` rows, into loss; with gradients, delta of the output layer. */
void nd_pass_head(struct cuda_work *work, struct cuda_pass *pass, size_t rows, int which, double *loss,
                  struct device_progress *progress, uint32_t offset, cudaStream_t stream);

/* For layer >= 1 the product that goes back through it; then what makes that the delta of the layer below. */
void nd_pass_backward(struct cuda_work *work, struct cuda_pass *pass, size_t layer, void *workspace,
                      cudaStream_t stream);
void nd_pass_slope(struct cuda_work *work, struct cuda_pass *pass, size_t layer, cudaStream_t stream);

/* A layer's weight gradient, its bias's with it, into BLOCK_GRADIENT. */
void nd_pass_gradient(struct cuda_work *work, struct cuda_pass *pass, size_t layer, int which, void *workspace,
                      cudaStream_t stream);

#endif
