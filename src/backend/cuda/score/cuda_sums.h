/* The first layer along an order, or a step of rows that go their own ways. */
#ifndef ND_BACKEND_CUDA_SUMS_H
#define ND_BACKEND_CUDA_SUMS_H

#include "backend/cuda/score/cuda_chunk.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Goes along positions begin…end-1: those from `scored` on get a line of the operand each, with what was observed
 * before them; then each is observed.  begin = 0 starts from nothing, else `sum` goes on from where it was. */
struct sum_job {
    struct device_chunk chunk;
    struct device_first first;
    int32_t begin, scored, end;
    double *sum;   /* (walkers, units) */
    void *operand; /* ((end - scored)·walkers, first.stride): with the ones and zeros behind the units */
    bool bf16;
    int32_t widest; /* 0, or the units are outputs and the operand holds floats (lines, widest): those of its column */
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
    int32_t widest; /* as of sum_job */
};

cudaError_t nd_cuda_walk(const struct walk_job *job, size_t rows, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
