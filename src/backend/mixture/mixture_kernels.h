/* The loop that takes the time of mixtures of columns of labels, compiled once for each instruction set and chosen when
 * a backend opens.  Numbers are added in the list's order, so that all variants give the same bytes. */
#ifndef ND_BACKEND_MIXTURE_KERNELS_H
#define ND_BACKEND_MIXTURE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Rows of its matrices have a multiple of so many numbers. */
enum { ND_MIXTURE_LANES = 8 };

static inline size_t nd_mixture_stride(size_t n)
{
    return (n + ND_MIXTURE_LANES - 1) / ND_MIXTURE_LANES * ND_MIXTURE_LANES;
}

struct mixture_kernels {
    const char *name;

    /* sum (width) += the rows list[i] - first of matrix (…, stride), for i below count; width: a multiple of the lanes.
     */
    void (*add_rows)(size_t count, const uint32_t *list, size_t first, const double *matrix, size_t stride,
                     size_t width, double *sum);
};

/* The best variant for this processor. */
const struct mixture_kernels *nd_mixture_kernels(void);

/* The variants this processor can run, from the plainest up; NULL past the last.  For tests. */
const struct mixture_kernels *nd_mixture_kernels_variant(size_t number);

#endif
