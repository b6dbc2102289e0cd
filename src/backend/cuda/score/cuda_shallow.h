/* Densities of one layer of binary columns. */
#ifndef ND_BACKEND_CUDA_SHALLOW_H
#define ND_BACKEND_CUDA_SHALLOW_H

#include "backend/cuda/score/cuda_lines.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The whole way at once, where every column is binary and one layer of at most ND_SHALLOW_UNITS units is all there is,
 * of an activation whose slope does not read the sum: nothing but the densities is written.  The operand of `sums` and
 * the lines of `lines` are not used. */
enum { ND_SHALLOW_UNITS = 1024 };

cudaError_t nd_cuda_shallow_density(const struct sum_job *sums, const struct line_job *lines, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
