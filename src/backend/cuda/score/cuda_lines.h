/* From lines of the last hidden layer to outputs and log densities. */
#ifndef ND_BACKEND_CUDA_LINES_H
#define ND_BACKEND_CUDA_LINES_H

#include "backend/cuda/score/cuda_sums.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The last hidden layer's lines and the weights of the outputs. */
struct device_lines {
    const void *hidden; /* (lines, stride) operand */
    bool bf16;
    const float *weight; /* (outputs, stride), zero behind the units */
    const float *bias;   /* (outputs) */
    int32_t stride;      /* a multiple of 32 */
    bool direct;         /* outputs hold the linear path's part, to which theirs is added */
};

/* outputs (rows, widest): row r begins with those of column step[r].target. */
cudaError_t nd_cuda_row_outputs(const struct device_lines *lines, const struct device_plan *plan,
                                const struct walk_step *step, size_t rows, float *outputs, size_t widest,
                                cudaStream_t stream);

/* Lines of positions scored…end-1 of a chunk. */
struct line_job {
    struct device_chunk chunk;
    struct device_lines lines;
    int32_t scored, end;
    float *outputs; /* (lines, widest): each begins with its column's */
    int32_t widest;
    double *density; /* (lines): log p of the line's cell, 0 where it is missing */
};

/* density, where every column is binary. */
cudaError_t nd_cuda_binary_density(const struct line_job *job, cudaStream_t stream);

/* outputs; then density from them. */
cudaError_t nd_cuda_line_outputs(const struct line_job *job, cudaStream_t stream);
cudaError_t nd_cuda_line_density(const struct line_job *job, cudaStream_t stream);

/* total (walkers) = what it was, or 0 with `fresh`, plus density (positions, walkers), position after position. */
cudaError_t nd_cuda_add_density(const double *density, size_t positions, size_t walkers, bool fresh, double *total,
                                cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
