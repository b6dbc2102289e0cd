/* Outputs of single columns given the rest of their rows, on a CUDA device: each row is a line. */
#include <math.h>

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/score/cuda_layers.h"
#include "backend/cuda/score/cuda_score.h"

/* Rows first…first+rows-1 with their targets hidden. */
static void stage_rows(struct scoring_walk *walk, const struct encoded_rows *cells, const size_t *target, size_t first,
                       size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        float *row = walk->cells + i * cells->columns;
        for (size_t c = 0; c < cells->columns; c++)
            row[c] =
                c == target[first + i] && !ND_CUDA_FAULT(FAULT_CUDA_TARGET_GIVEN) ? NAN : nd_cell(cells, first + i, c);
        walk->steps[i] = (struct walk_step){.observed = -1, .x = 0, .target = (int32_t)target[first + i]};
    }
}

nade_status nd_score_conditionals(nade_context *context, struct cuda_backend *backend, const struct encoded_rows *cells,
                                  const size_t *target, double *outputs)
{
    nade_status status = nd_cuda_begin_walk(context, backend);
    if (status != NADE_OK) return status;
    struct cuda_scoring *scoring = backend->scoring;
    for (size_t first = 0; first < cells->rows; first += scoring->walkers) {
        size_t left = cells->rows - first, rows = left < scoring->walkers ? left : scoring->walkers;
        stage_rows(&scoring->walk, cells, target, first, rows);
        status = nd_cuda_walk_observe(context, backend, rows);
        if (status == NADE_OK) status = nd_cuda_walk_outputs(context, backend, rows);
        if (status != NADE_OK) return status;
        for (size_t i = 0; i < rows; i++)
            for (size_t o = 0; o < backend->plan->column[target[first + i]].output_width; o++)
                outputs[(first + i) * scoring->widest + o] = (double)scoring->walk.outputs[i * scoring->widest + o];
    }
    return NADE_OK;
}
