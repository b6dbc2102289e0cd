/* Losses of a batch and what they send down. */
#ifndef ND_BACKEND_CUDA_LOSSES_H
#define ND_BACKEND_CUDA_LOSSES_H

#include "backend/cuda/cuda_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Losses of a batch's rows; with delta, their gradients with respect to the outputs, times weight·scale. */
struct head_job {
    struct device_plan plan;
    bool all_binary; /* every column is binary, so that output c is column c */
    float *outputs;  /* (rows, output_stride), without their bias; what they hold afterwards is not defined */
    size_t output_stride;
    const float *bias;    /* (outputs) */
    const float *target;  /* (rows, columns) */
    const double *weight; /* (rows) */
    double scale;
    void *delta; /* (rows, output_stride) operand, may be outputs itself; NULL: losses alone */
    bool bf16;
    double *loss;                     /* (rows): weighted */
    struct device_progress *progress; /* NULL, or where a loss that is not finite is noted */
    uint32_t offset;                  /* update within the graph */
};

cudaError_t nd_cuda_head(const struct head_job *job, size_t rows, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
