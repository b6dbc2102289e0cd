/* The way along an order, which scoring and sampling share: the first layer as a running sum (paper, eqs. 4-5), the
 * upper layers for a tile of at most ND_TILE lines as one product, the outputs of a single column. */
#ifndef ND_BACKEND_CPU_CHAIN_H
#define ND_BACKEND_CPU_CHAIN_H

#include "backend/cpu/cpu_backend.h"

/* Makes the first layer's transpose and the packed upper layers current, which the functions below read. */
nade_status nd_cpu_prepare_chain(nade_context *context, struct cpu_backend *backend);

/* Of sum (chain_width) the first hidden[0] are the first layer's, which begin with its bias; the others, where there is
 * a linear path, are its part of all outputs.  Without hidden layers all are the outputs.  Nothing is observed. */
void nd_cpu_begin_sum(const struct cpu_backend *backend, double *sum);

/* Adds a cell that is now observed to the running sum. */
void nd_cpu_observe(const struct cpu_backend *backend, size_t column, float x, double *sum);

/* out (hidden[0]) = the first layer's values that predict the column, from the sum of what is observed. */
void nd_cpu_activate_for(const struct cpu_backend *backend, size_t column, const double *sum, float *out);

/* Makes line `line` of the tile one that predicts the column: the first layer's values into scratch->tile[0], the
 * linear path's part of the column's outputs into scratch->direct. */
void nd_cpu_begin_line(const struct cpu_backend *backend, struct worker_scratch *scratch, size_t line, size_t column,
                       const double *sum);

/* The upper layers, where there are any, for the first `lines` lines of scratch->tile[0], the first layer's values.
 * Returns the last hidden layer's values, (lines, stride[L-1]), which lie in one of the tiles.  A line's are the same
 * whatever lines are beside it, and how many: products and kernels compute each by itself (cpu_products.h). */
const float *nd_cpu_pass_hidden(const struct cpu_backend *backend, struct worker_scratch *scratch, size_t lines);

/* outputs (column->output_width) from one line of the last hidden layer. */
void nd_cpu_column_outputs(const struct cpu_backend *backend, const struct plan_column *column, const float *hidden,
                           double *outputs);

/* The same for a line of a tile that nd_cpu_pass_hidden gave hidden (lines, stride[L-1]) for. */
void nd_cpu_line_outputs(const struct cpu_backend *backend, const struct worker_scratch *scratch, size_t line,
                         const struct plan_column *column, const float *hidden, double *outputs);

/* nd_cpu_pass_hidden of residual networks (cpu_residual.c). */
const float *nd_cpu_pass_blocks(const struct cpu_backend *backend, struct worker_scratch *scratch, size_t lines);

#endif
