/* Updates of a small network by one block: all that an update needs stays on one multiprocessor, and nothing is
 * launched between updates.  Alone such a training is slower than one whose products have the whole chip; a hundred of
 * them side by side take hardly longer than one. */
#ifndef ND_BACKEND_CUDA_SMALL_H
#define ND_BACKEND_CUDA_SMALL_H

#include "backend/cuda/cuda_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most of each; all of them must fit into a block's shared memory besides (nd_small_lay_out).  Columns have so many
 * outputs on average at least. */
enum {
    ND_SMALL_USUAL_OUTPUTS = 3,
    ND_SMALL_LAYERS = 4,
    ND_SMALL_UNITS = 127,
    ND_SMALL_COLUMNS = 64,
    ND_SMALL_OUTPUTS = 128,
    ND_SMALL_BATCH = 128
};

/* Where things lie in shared memory, in bytes; rows are floats apart by the strides. */
struct small_layout {
    int32_t rows; /* of the batch, whole tiles */
    int32_t input_stride, hidden_stride, output_stride;
    size_t loss, factor, row, observed, present, column;
    size_t input, hidden, delta, output, target, listed, count;
    size_t bytes;
};

struct small_job {
    struct device_plan plan;
    struct device_cells cells;
    struct small_layout layout;
    uint32_t seed;
    uint64_t first_draw; /* of update 0 */
    int32_t batch, layers, activation, updates;
    struct step_job layer[ND_SMALL_LAYERS + 1]; /* gradient, shadow, rates, progress and offset are not used */
    const struct device_rates *rates;           /* (updates) */
    struct device_progress *progress;           /* failed is written */
    double *loss;                               /* (updates) */
};

/* Fills layout from the job's plan, layers and batch. */
void nd_small_lay_out(struct small_job *job, int32_t widest_output);

/* All updates, or those up to the first whose loss is not finite, which may have changed part of the parameters by
 * then. */
cudaError_t nd_cuda_small_updates(const struct small_job *job, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
