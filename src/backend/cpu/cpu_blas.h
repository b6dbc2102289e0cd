/* The three matrix products of a layer, row-major; all BLAS is behind these.
 *
 * The BLAS is linked statically and used serially: threads are ours, outside.  Not every serial BLAS may be called from
 * several threads (docs/dependencies.md); tests/unit/test_blas_threads.c holds this one to it. */
#ifndef ND_BACKEND_CPU_BLAS_H
#define ND_BACKEND_CPU_BLAS_H

#include <stddef.h>

/* One thread for each call, whatever flavour was linked. */
void nd_blas_open(void);

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
