/* The kernels for training a network of one ordering, as functions that C can call.
 *
 * The running sum of the paper's eqs. (4) and (5), in float but for the sum itself, which is double as on the CPU.  On
 * the way forward a warp walks the ordering for one row and ND_FIXED_SLICE hidden units; it leaves the column's
 * outputs, summed over these units, and the hidden units.  These change only where a cell that is not zero enters, so
 * they are written once a stretch of equal ones, at its last position: the one whose cell enters, or the row's last.
 * Where positions have factors of their own each is a stretch by itself, and its sums are written too, as they are for
 * an activation whose slope reads them. On the way back
 * a thread walks the ordering for one hidden unit and ND_FIXED_ROWS rows in step; what it finds for each weight, summed
 * over its rows, is its own number in `partial`, and a last kernel adds those up.  No number is written by two threads
 * and every sum has one order, so the same run gives the same bytes. */
#ifndef ND_BACKEND_CUDA_FIXED_WALK_H
#define ND_BACKEND_CUDA_FIXED_WALK_H

#include "backend/cuda/cuda_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    ND_FIXED_SLICE = 128, /* hidden units of a warp on the way forward */
    ND_FIXED_ROWS = 8     /* rows of a thread on the way back */
};

/* One position of the ordering. */
struct fixed_step {
    int32_t column;
    int32_t input, labels; /* where the column enters; labels is 0 unless each label has an input of its own */
    int32_t output, width; /* its block of outputs */
};

/* Some rows of a batch.  D columns, H units, I inputs, O outputs. */
struct fixed_job {
    const struct fixed_step *step; /* (D), in the ordering's order */
    size_t columns, units, inputs, outputs;
    size_t entries; /* I + 1 + O: inputs, bias, outputs; D more where positions have factors */
    int activation;

    struct device_rows cells;
    const struct device_progress *progress; /* NULL: the rows are numbers first, first + 1, … of the cells.  Else they
                                               are what the update progress->next draws for its slots first, … */
    uint32_t seed;
    size_t first, rows;
    size_t row_stride; /* rows, rounded up to ND_FIXED_ROWS */

    const float *output_weight; /* (O, output_weight_stride) */
    size_t output_weight_stride;
    const float *scale; /* NULL, or (D, scale_stride): the first of each line is the position's factor on the sums */
    size_t scale_stride;
    size_t unit_stride;  /* above H */
    float *input_weight; /* (I + 1, unit_stride): transposed; the last row is the hidden bias */

    float *x;       /* (D, row_stride): the cells in the ordering's order; NaN: missing, or no row */
    float *target;  /* (rows, D): the same, in the table's order */
    double *weight; /* (rows): ones */

    float *out; /* (rows, output_stride): the outputs without their bias; 0 for missing cells */
    size_t output_stride;
    float *slice; /* (nd_cuda_fixed_slices, rows, output_stride): parts of `out`; one slice alone is `out` */
    float *path;  /* (rows, D, unit_stride): hidden units, see above.  NULL: not wanted */
    float *sums;  /* the same before factor and activation; NULL unless they are kept and path is wanted */

    float *delta;                            /* (O, row_stride): gradients of the outputs, 0 where there is no row */
    float *partial;                          /* (row_stride / ND_FIXED_ROWS, entries, unit_stride) */
    float *scale_gradient;                   /* (D, scale_stride); NULL unless there are factors */
    float *input_gradient, *output_gradient; /* (H, input_gradient_stride), (O, output_weight_stride); the bias's is
                                                the column behind the weights' */
    size_t input_gradient_stride;
    bool add; /* to the gradients of earlier rows; else they are set */
};

/* Parts that the hidden units fall into on the way forward. */
static inline size_t nd_cuda_fixed_slices(size_t units)
{
    return (units + ND_FIXED_SLICE - 1) / ND_FIXED_SLICE;
}

/* Fills x, target and weight. */
cudaError_t nd_cuda_fixed_gather(const struct fixed_job *job, cudaStream_t stream);

/* Fills out and, where wanted, path. */
cudaError_t nd_cuda_fixed_forward(const struct fixed_job *job, cudaStream_t stream);

/* From path and delta to the gradients of all weights.  Where an earlier update than progress->next has failed, they
 * stay what they were for that one. */
cudaError_t nd_cuda_fixed_backward(const struct fixed_job *job, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
