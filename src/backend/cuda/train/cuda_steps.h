/* Optimiser steps, and the end of a graph of updates. */
#ifndef ND_BACKEND_CUDA_STEPS_H
#define ND_BACKEND_CUDA_STEPS_H

#include "backend/cuda/cuda_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One layer's optimiser step. */
struct step_job {
    nade_optimizer optimizer;
    float *weight, *moment1, *moment2; /* (rows, stride); moment2 only where the optimiser has one */
    const float *gradient;             /* (rows, stride): column `columns` is the bias's */
    float *average;                    /* (rows, stride); NULL: none is kept */
    void *shadow;                      /* NULL, or the weights as bfloat16 (rows, stride) */
    float *bias, *bias1, *bias2;       /* each `bias_stride` apart */
    float *bias_average;               /* the same; with average alone */
    size_t bias_stride;
    size_t rows, columns, stride;
    const float *factor;  /* NULL, or what gradients are multiplied with */
    bool bias_in_product; /* the bias stands in the weight's own column */
    const struct device_rates *rates;
    struct device_progress *progress; /* a parameter that is not finite fails the next update */
    uint32_t offset;
};

cudaError_t nd_cuda_step(const struct step_job *job, cudaStream_t stream);

/* What comes between gradient and step: part (ND_SQUARE_PARTS) = sums of squares of a layer's gradient; from the parts
 * of all layers the factor that brings its norm down to clip. */
enum { ND_SQUARE_PARTS = 64 };
cudaError_t nd_cuda_squares(const struct step_job *job, double *part, cudaStream_t stream);
cudaError_t nd_cuda_clip_factor(const double *part, size_t count, double clip, float *factor, cudaStream_t stream);

/* loss[next + u] = mean of row_loss (updates, rows); then next += updates. */
cudaError_t nd_cuda_finish_updates(const double *row_loss, size_t updates, size_t rows,
                                   struct device_progress *progress, double *loss, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
