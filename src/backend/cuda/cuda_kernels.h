/* The kernels of the CUDA backend, as functions that C can call: each puts one launch on a stream.
 *
 * Device memory throughout.  Matrices are row-major with a stride in elements; an element of an operand is a float or,
 * where `bf16` is set, a bfloat16.  Columns of an operand beyond its own are zero, but for the one right behind them,
 * which holds ones: a layer's bias is the weight of that constant (see cuda_backend.h). */
#ifndef ND_BACKEND_CUDA_KERNELS_H
#define ND_BACKEND_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a kernel must know of a column: struct plan_column in 32-bit numbers. */
struct device_column {
    int32_t type; /* nade_type */
    int32_t input, input_width, output, output_width;
    int32_t components;
    int32_t atoms, first_atom; /* its atoms are device_plan.atom[first_atom…] */
    float floor;
    int32_t scaled_means;
    int32_t position; /* in the ordering, where positions have factors; else 0 */
};

struct device_plan {
    int32_t columns, values_width, inputs, outputs;
    int32_t masks;
    int32_t one_hot;                    /* some column is categorical; else input c is column c's value */
    int32_t shared_most;                /* bytes of shared memory that a block can have */
    int32_t lanes;                      /* threads that work on one column's outputs: a power of two, 32 at most */
    const struct device_column *column; /* (columns) */
    const float *atom;
};

/* Where an iteration stands.  Updates are numbered from the first of the call. */
struct device_progress {
    int32_t next;        /* the first update of the next graph */
    int32_t failed;      /* the first update whose loss was not finite; INT32_MAX: none */
    uint64_t first_draw; /* the draw number of update 0 */
};

/* struct step_rates in float, as the CPU's kernels round them. */
struct device_rates {
    float rate, momentum, second, rest1, rest2, correction1, correction2, decay;
};

struct device_cells {
    const void *data; /* (rows, columns): bytes or floats as in struct cells */
    int32_t bytes;
    int32_t complete; /* no cell is missing */
    uint32_t rows;
};

enum draw_source { DRAW_TRAIN, DRAW_VALID, DRAW_GIVEN };

/* One row of a batch: which, what of it is observed, its input, its targets. */
struct draw_job {
    struct device_plan plan;
    struct device_cells cells;
    enum draw_source source;
    uint32_t seed;
    const struct device_progress *progress; /* DRAW_TRAIN: the draw is first_draw + next + offset */
    uint32_t offset;                        /* DRAW_TRAIN: update within the graph.  Others: first place */
    uint32_t repeats;                       /* DRAW_VALID */
    const uint8_t *observed;                /* DRAW_GIVEN: (rows, columns) */
    void *input;                            /* (rows, input_stride) operand; its ones are not written */
    size_t input_stride;
    float *target;  /* (rows, columns): the cell where it is to be predicted, else NaN */
    double *weight; /* (rows): present / hidden cells */
    bool bf16;
    uint32_t *drawn_row;     /* NULL, or (rows) for tests: which row of the cells each is */
    uint8_t *drawn_observed; /* NULL, or (rows, columns) for tests */
};

cudaError_t nd_cuda_draw(const struct draw_job *job, size_t rows, cudaStream_t stream);

/* The most columns that nd_cuda_draw can hold. */
size_t nd_cuda_draw_columns(const struct device_plan *plan);

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

/* One layer's optimiser step. */
struct step_job {
    float *weight, *moment1, *moment2; /* (rows, stride); moment2 NULL: NAG */
    const float *gradient;             /* (rows, stride): column `columns` is the bias's */
    void *shadow;                      /* NULL, or the weights as bfloat16 (rows, stride) */
    float *bias, *bias1, *bias2;       /* each `bias_stride` apart */
    size_t bias_stride;
    size_t rows, columns, stride;
    bool bias_in_product; /* the bias stands in the weight's own column */
    const struct device_rates *rates;
    struct device_progress *progress; /* a parameter that is not finite fails the next update */
    uint32_t offset;
};

cudaError_t nd_cuda_step(const struct step_job *job, cudaStream_t stream);

/* loss[next + u] = mean of row_loss (updates, rows); then next += updates. */
cudaError_t nd_cuda_finish_updates(const double *row_loss, size_t updates, size_t rows,
                                   struct device_progress *progress, double *loss, cudaStream_t stream);

/* *sum = the sum of values, always in the same order. */
cudaError_t nd_cuda_sum(const double *values, size_t count, double *sum, cudaStream_t stream);

/* out = activation(out) for the first `units`, one at `units`, zero beyond. */
cudaError_t nd_cuda_activate(int activation, void *out, bool bf16, size_t rows, size_t units, size_t stride,
                             cudaStream_t stream);

/* delta *= slope of the activation, given what it returned; count is a multiple of 8. */
cudaError_t nd_cuda_slope(int activation, const void *out, void *delta, bool bf16, size_t count, cudaStream_t stream);

/* Sets column `column` of an operand to one in all rows. */
cudaError_t nd_cuda_ones(void *operand, bool bf16, size_t rows, size_t stride, size_t column, cudaStream_t stream);

/* to (columns, to_stride) = from (rows, columns) transposed; the rest of each line of `to` is zero. */
cudaError_t nd_cuda_transpose(const float *from, size_t rows, size_t columns, size_t from_stride, float *to,
                              size_t to_stride, cudaStream_t stream);

/* Whether the kernels were compiled for this chip. */
cudaError_t nd_cuda_try_kernel(void);

/* shadow = weights as bfloat16. */
cudaError_t nd_cuda_shadow(const float *weight, void *shadow, size_t count, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
