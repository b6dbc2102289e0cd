/* Which rows a batch has and what of them is observed, drawn on the device. */
#ifndef ND_BACKEND_CUDA_DRAWS_H
#define ND_BACKEND_CUDA_DRAWS_H

#include "backend/cuda/cuda_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

enum draw_source { DRAW_TRAIN, DRAW_VALID, DRAW_GIVEN };

/* One row of a batch: which, what of it is observed, its input, its targets. */
struct draw_job {
    struct device_plan plan;
    struct device_rows cells;
    enum draw_source source;
    uint32_t seed;
    const struct device_progress *progress; /* DRAW_TRAIN: the draw is first_draw + next + offset */
    uint32_t offset;                        /* DRAW_TRAIN: update within the graph.  Others: first place */
    uint32_t strata;                        /* DRAW_TRAIN: of d, or 0 (model/draws.h) */
    uint32_t focus;                         /* the same, of nd_train_keys */
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

#ifdef __cplusplus
}
#endif

#endif
