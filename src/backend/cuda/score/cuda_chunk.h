/* The kernels of scoring and sampling, as functions that C can call: the way along an order of cpu_chain.h.
 *
 * The first layer is a running sum (paper, eqs. 4-5), in double; lines of hidden units pass the upper layers as
 * products; of the outputs only the block of a line's own column is computed, in float from float weights.  Lines are
 * numbered as cuda_tiles.h says. */
#ifndef ND_BACKEND_CUDA_CHUNK_H
#define ND_BACKEND_CUDA_CHUNK_H

#include "backend/cuda/cuda_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A chunk on the device: which rows, along which orders. */
struct device_chunk {
    struct device_plan plan;
    struct device_cells cells; /* the chunk's rows alone */
    const int32_t *order;      /* (orders, length) */
    int32_t orders, length;
    int32_t rows;
};

/* The first layer as the running sum reads it. */
struct device_first {
    const float *transposed; /* (inputs, stride): the weights of an input lie together */
    const float *bias;       /* (units), bias_stride apart */
    size_t bias_stride;
    int32_t units, stride; /* stride: of an operand of `units` too */
    int activation;        /* nade_activation */
    const float *scale;    /* NULL, or factors of the sums by the position of the column that they predict */
    size_t scale_stride;
};

/* Goes along positions begin…end-1: those from `scored` on get a line of the operand each, with what was observed
 * before them; then each is observed.  begin = 0 starts from nothing, else `sum` goes on from where it was. */
struct sum_job {
    struct device_chunk chunk;
    struct device_first first;
    int32_t begin, scored, end;
    double *sum;   /* (walkers, units) */
    void *operand; /* ((end - scored)·walkers, first.stride): with the ones and zeros behind the units */
    bool bf16;
};

cudaError_t nd_cuda_running_sum(const struct sum_job *job, cudaStream_t stream);

/* What a row that goes its own way does at a step. */
struct walk_step {
    int32_t observed; /* the column it has just drawn as x, -1: none */
    float x;
    int32_t target; /* the column it looks at next, -1: none */
};

/* Observes and writes a line of the operand for each row; lines without a target are left as they are. */
struct walk_job {
    struct device_plan plan;
    struct device_first first;
    const struct walk_step *step; /* (rows) */
    double *sum;                  /* (rows, first.units) */
    void *operand;                /* (rows, first.stride) */
    bool bf16;
};

cudaError_t nd_cuda_walk(const struct walk_job *job, size_t rows, cudaStream_t stream);

/* The last hidden layer's lines and the weights of the outputs. */
struct device_lines {
    const void *hidden; /* (lines, stride) operand */
    bool bf16;
    const float *weight; /* (outputs, stride), zero behind the units */
    const float *bias;   /* (outputs) */
    int32_t stride;      /* a multiple of 32 */
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

/* The whole way at once, where every column is binary and one layer of at most ND_SHALLOW_UNITS units is all there is:
 * nothing but the densities is written.  The operand of `sums` and the lines of `lines` are not used. */
enum { ND_SHALLOW_UNITS = 1024 };

cudaError_t nd_cuda_shallow_density(const struct sum_job *sums, const struct line_job *lines, cudaStream_t stream);

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
