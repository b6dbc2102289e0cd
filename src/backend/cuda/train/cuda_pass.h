/* A batch on its way through the network: buffers and planned products for a constant number of rows. */
#ifndef ND_BACKEND_CUDA_PASS_H
#define ND_BACKEND_CUDA_PASS_H

#include "backend/cuda/cuda_backend.h"

/* While one update uses one pair of drawn rows, the next is drawn into the other. */
enum { ND_DRAWN = 2 };

struct drawn_rows {
    void *input;    /* (rows, layer[0].stride) operand */
    float *target;  /* (rows, columns) */
    double *weight; /* (rows) */
};

struct cuda_pass {
    size_t rows; /* 0: not built */
    size_t layers;
    bool gradients;
    struct drawn_rows drawn[ND_DRAWN]; /* the second only with gradients */
    void **hidden;                     /* (L) operands (rows, layer[l].padded_rows) */
    void **sum;                        /* (L): what enters their activations; the same memory unless slopes read it */
    void **delta;                      /* (L+1) operands: gradients with respect to what enters an activation or head */
    float *outputs;                    /* (rows, layer[L].padded_rows); delta[L] itself unless operands are bfloat16 */
    double *loss;                      /* (rows) */
    struct product *forward, *backward, *gradient; /* (L+1) each; backward[0] is not used */
    struct arena arena;
};

/* Builds a pass for so many rows; what was there is freed first. */
nade_status nd_pass_build(nade_context *context, struct cuda_backend *backend, size_t rows, bool gradients,
                          struct cuda_pass *pass);
void nd_pass_free(struct cuda_pass *pass);

/* One layer forward, from drawn rows `which` or the layer below. */
void nd_pass_forward(struct cuda_work *work, struct cuda_pass *pass, size_t layer, int which, void *workspace,
                     cudaStream_t stream);

/* Losses of the first `rows` rows, into loss; with gradients, delta of the output layer. */
void nd_pass_head(struct cuda_work *work, struct cuda_pass *pass, size_t rows, int which, double *loss,
                  struct device_progress *progress, uint32_t offset, cudaStream_t stream);

/* delta of the layer below, for layer >= 1. */
void nd_pass_backward(struct cuda_work *work, struct cuda_pass *pass, size_t layer, void *workspace,
                      cudaStream_t stream);

/* A layer's weight gradient, its bias's with it, into BLOCK_GRADIENT. */
void nd_pass_gradient(struct cuda_work *work, struct cuda_pass *pass, size_t layer, int which, void *workspace,
                      cudaStream_t stream);

#endif
