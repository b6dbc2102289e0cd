/* Updates of a small network by one block: all that an update needs stays on one multiprocessor, and nothing is
 * launched between updates.  Alone such a training is slower than one whose products have the whole chip; a hundred of
 * them side by side take hardly longer than one. */
#ifndef ND_BACKEND_CUDA_SMALL_BLOCK_H
#define ND_BACKEND_CUDA_SMALL_BLOCK_H

#include "backend/cuda/cuda_plan.h"

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
    int32_t loss, factor, row, observed, present, column;
    int32_t input, hidden, delta, output, target, listed, count;
    int32_t bytes;
};

/* A layer as in struct step_job: (rows, columns) weights, stride apart, and the bias of each row. */
struct small_layer {
    float *weight, *moment1, *moment2; /* moment2 only where the optimiser has one */
    float *bias, *bias1, *bias2;       /* each bias_stride apart */
    int32_t rows, columns, stride, bias_stride;
};

/* What one block does: updates of a network, or the losses of its validation rows. */
struct small_job {
    struct device_plan plan;
    struct device_rows cells;
    struct small_layout layout;
    uint32_t seed;
    uint32_t strata;     /* of d in training, or 0 (model/draws.h) */
    uint32_t focus;      /* of nd_train_keys, likewise */
    uint32_t repeats;    /* draws of each validation row; 0: training */
    uint64_t first_draw; /* of update 0 */
    int32_t batch, layers, activation, updates;
    struct small_layer layer[ND_SMALL_LAYERS + 1];
    const struct device_rates *rates; /* (updates) */
    struct device_progress *progress; /* failed is written */
    double *loss;                     /* (updates); of validation the sum */
};

/* Kinds of jobs: updates of an optimiser, each by its number in nade_optimizer, and behind them validation. */
#define ROW(kind, name, moments, usual_rate, second) +1
enum { SMALL_VALIDATION = 0 ND_OPTIMIZERS(ROW), SMALL_KINDS };
#undef ROW

/* Fills layout from the job's plan, layers and batch. */
void nd_small_lay_out(struct small_job *job, int32_t widest_output);

/* Loads a kind's kernel and lets it have as much shared memory as a block can. */
cudaError_t nd_cuda_small_load(int kind, int32_t shared_most);

/* A block for each of the jobs, which are on the device; shared: the most bytes that a layout has.  All updates of
 * each, or those up to the first that leaves a parameter that is not finite or whose own loss is not, which may then
 * have changed part of the parameters; or all losses. */
cudaError_t nd_cuda_small_jobs(const struct small_job *jobs, size_t count, int kind, int32_t shared,
                               cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
