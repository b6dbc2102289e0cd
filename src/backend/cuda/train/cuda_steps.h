/* Optimiser steps, and the end of a graph of updates. */
#ifndef ND_BACKEND_CUDA_STEPS_H
#define ND_BACKEND_CUDA_STEPS_H

#include "backend/cuda/cuda_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which of an update's decays weights have; biases have none. */
enum step_decay { STEP_DECAY, STEP_DIRECT_DECAY, STEP_NO_DECAY };

/* The optimiser step of a layer, or of what else lies in rows. */
struct step_job {
    nade_optimizer optimizer;
    float *weight, *moment1, *moment2; /* (rows, stride); moment2 only where the optimiser has one */
    const float *gradient;             /* (rows, stride): column `columns` is the bias's, where there is one */
    float *average;                    /* (rows, stride); NULL: none is kept */
    void *shadow;                      /* NULL, or the weights as bfloat16 (rows, stride) */
    float *bias, *bias1, *bias2;       /* each `bias_stride` apart */
    float *bias_average;               /* the same; with average alone */
    size_t bias_stride;
    size_t rows, columns, stride;
    enum step_decay decay;
    bool has_bias;
    bool bias_in_product; /* the bias stands in the weight's own column */
    const float *factor;  /* NULL, or what gradients are multiplied with */
    const struct device_rates *rates;
    struct device_progress *progress; /* a parameter that is not finite fails the next update */
    uint32_t offset;
};

cudaError_t nd_cuda_step(const struct step_job *job, cudaStream_t stream);

/* Jobs of one optimiser, with averages or without, that go at once. */
struct step_list {
    const struct step_job *job; /* (count) on the device; their offset is not read */
    size_t count, largest;      /* largest: the most rows·stride that one has */
    nade_optimizer optimizer;
    bool averaged;
};

cudaError_t nd_cuda_step_all(const struct step_list *list, uint32_t offset, cudaStream_t stream);

/* What comes between gradient and step: part (count, ND_SQUARE_PARTS) = sums of squares of the first `count` jobs'
 * gradients; from the parts the factor that brings the norm down to clip. */
enum { ND_SQUARE_PARTS = 64 };
cudaError_t nd_cuda_squares(const struct step_list *list, size_t count, double *part, cudaStream_t stream);
cudaError_t nd_cuda_clip_factor(const double *part, size_t count, double clip, float *factor, cudaStream_t stream);

/* loss[next + u] = mean of row_loss (updates, rows); then next += updates. */
cudaError_t nd_cuda_finish_updates(const double *row_loss, size_t updates, size_t rows,
                                   struct device_progress *progress, double *loss, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
