/* The plan, the rows and the state of updates as kernels take them: structures of 32-bit numbers and device pointers.
 *
 * Matrices of all kernels are row-major with a stride in elements; an element of an operand is a float or, where `bf16`
 * is set, a bfloat16.  Columns of an operand beyond its own are zero, but for the one right behind them, which holds
 * ones: a layer's bias is the weight of that constant (see cuda_backend.h). */
#ifndef ND_BACKEND_CUDA_PLAN_H
#define ND_BACKEND_CUDA_PLAN_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/optimizer.h"

/* What a kernel must know of a column: struct plan_column in 32-bit numbers. */
struct device_column {
    int32_t type; /* nade_type */
    int32_t input, input_width, output, output_width;
    int32_t atom_inputs; /* its first input is x, and input 1 + a is 1 where x is atom a */
    int32_t components;
    int32_t stride;            /* a component's mean is output stride + c, its log-scale 2·stride + c */
    int32_t atoms, first_atom; /* its atoms are device_plan.atom[first_atom…] */
    int32_t ascending;         /* in this order */
    float floor;
    int32_t scaled_means; /* as the update rule says; nd_cuda_scale_means */
    int32_t position;     /* in the ordering, where positions have factors; else 0 */
};

struct device_plan {
    int32_t columns, values_width, inputs, outputs;
    int32_t masks;
    int32_t one_hot;                    /* some column has several inputs; else input c is column c's value */
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

/* struct float_rates, and the weight decays. */
struct device_rates {
    ND_STEP_RATES(float)
    float decay, direct_decay;
};

struct device_rows {
    const void *data; /* (rows, columns): bytes or floats as in struct encoded_rows */
    int32_t bytes;
    int32_t complete; /* no cell is missing */
    uint32_t rows;
};

#ifdef __cplusplus
extern "C" {
#endif

struct arena;
struct plan;

/* Copies a plan to the device; what there is by then is for nd_cuda_plan_free, whatever the status.  Lists that it is
 * copied from are the arena's. */
nade_status nd_cuda_plan_copy(nade_context *context, struct arena *arena, const struct plan *plan,
                              struct device_plan *to);
/* Lets gradients of means be multiplied by their scales from now on, or no longer. */
nade_status nd_cuda_scale_means(nade_context *context, const struct device_plan *plan, bool scaled);

void nd_cuda_plan_free(struct device_plan *plan);

/* Every column is binary, so that output c is column c's. */
bool nd_cuda_all_binary(const struct plan *plan);

#ifdef __cplusplus
}
#endif

#endif
