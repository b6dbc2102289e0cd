/* The three matrix products of a layer, row-major, and the memory of their operands; all BLAS is behind these.
 *
 * The BLAS is linked statically and used serially: threads are ours, outside.  Not every serial BLAS may be called from
 * several threads (docs/dependencies.md); tests/unit/test_blas_threads.c holds this one to it. */
#ifndef ND_BACKEND_CPU_BLAS_H
#define ND_BACKEND_CPU_BLAS_H

#include "base/memory.h"

/* One thread for each call, whatever flavour was linked. */
void nd_blas_open(void);

/* Floats behind an operand's last row that a product may read and throw away, for rows that are `stride` apart.
 *
 * BLIS 0.9 reads past its operands for some shapes, on every CPU for which it has Haswell's or Zen's kernels; where
 * nothing is mapped there, the program dies.  Seen over 30,000 shapes of up to 300 rows, 800 inputs and 600 outputs:
 * the forward product reads up to one row behind the input (github.com/flame/blis, issue 821, fixed by 824), the other
 * two read two floats behind the result (issue 635).  Nothing is written there and what is read changes nothing.  A
 * full vector register is added to the row. */
size_t nd_blas_slack(size_t stride);

/* Zeroed memory for an operand (rows, stride) with that slack behind it: whatever a product reads or writes comes from
 * here.  NULL as nd_arena_alloc. */
float *nd_blas_alloc(struct arena *arena, size_t rows, size_t stride);

/* out (rows, outputs) = in (rows, inputs) · weight (outputs, inputs)^T. */
void nd_blas_forward(size_t rows, size_t inputs, size_t outputs, const float *in, size_t in_stride, const float *weight,
                     float *out, size_t out_stride);

/* below (rows, inputs) = delta (rows, outputs) · weight (outputs, inputs). */
void nd_blas_backward(size_t rows, size_t inputs, size_t outputs, const float *delta, size_t delta_stride,
                      const float *weight, float *below, size_t below_stride);

/* gradient (outputs, inputs) = delta (rows, outputs)^T · in (rows, inputs). */
void nd_blas_weight_gradient(size_t rows, size_t inputs, size_t outputs, const float *delta, size_t delta_stride,
                             const float *in, size_t in_stride, float *gradient);

#endif
