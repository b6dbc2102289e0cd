/* Lines on their way through the layers: running sums of the first one, products of the upper ones, and a step of rows
 * that go their own ways. */
#ifndef ND_BACKEND_CUDA_LAYERS_H
#define ND_BACKEND_CUDA_LAYERS_H

#include "backend/cuda/score/cuda_lanes.h"

/* The first layer's sums of a chunk along positions begin…end-1, of which those from `scored` on have lines. */
struct sum_job nd_cuda_first_sums(const struct cuda_backend *backend, const struct scoring_lane *lane,
                                  const struct device_chunk *chunk, size_t begin, size_t scored, size_t end);

/* Puts them on the lane's stream, and the same of the linear path, whose part of the lines' outputs goes to
 * lane->outputs. */
cudaError_t nd_cuda_put_sums(const struct cuda_backend *backend, const struct scoring_lane *lane,
                             const struct sum_job *first);

/* The upper layers for all lines whose first layer is there.  *hidden: the tile that holds what enters the output. */
nade_status nd_cuda_pass_hidden(nade_context *context, struct cuda_backend *backend, struct scoring_lane *lane,
                                const struct product *product, size_t lines, const void **hidden);

/* The lines in that tile, with the weights of the outputs. */
struct device_lines nd_cuda_lines(const struct cuda_backend *backend, const void *hidden);

/* Conditions rows on all their cells that are there: scoring->walk.cells (rows, columns), rows <= walkers, into lane
 * 0's sums. */
nade_status nd_cuda_walk_observe(nade_context *context, struct cuda_backend *backend, size_t rows);

/* One step of rows: scoring->walk.steps (rows) in, outputs of their targets in scoring->walk.outputs. */
nade_status nd_cuda_walk_outputs(nade_context *context, struct cuda_backend *backend, size_t rows);

#endif
