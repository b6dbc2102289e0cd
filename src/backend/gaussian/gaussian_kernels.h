/* The loops that take the time of mixtures of Gaussians, in double, compiled once for each instruction set and
 * chosen when a backend opens.
 *
 * Matrices are row-major with nd_gaussian_stride(n) numbers a row.  Every element of a result is one chain over its
 * inner dimension in its order, so that it does not depend on how rows are cut; variants that fuse multiplication and
 * addition agree with each other. */
#ifndef ND_BACKEND_GAUSSIAN_KERNELS_H
#define ND_BACKEND_GAUSSIAN_KERNELS_H

#include <stddef.h>

enum { ND_GAUSSIAN_LANES = 8, ND_GROUP_ROWS = 32 };

static inline size_t nd_gaussian_stride(size_t n)
{
    return (n + ND_GAUSSIAN_LANES - 1) / ND_GAUSSIAN_LANES * ND_GAUSSIAN_LANES;
}

struct gaussian_kernels {
    const char *name;

    /* square[r] += the squares of coordinates from…to-1 of P d_r for each row of d (rows, stride); `inverse` (n,
     * stride) is the transpose of the lower triangular P, zero below its diagonal and from column n on.  from is a
     * multiple of the lanes, to likewise or n.  Of d no column from `to` on is read. */
    void (*squares)(size_t rows, size_t n, size_t from, size_t to, const double *d, const double *inverse,
                    double *square);

    /* moment (stride, stride) += Σ_r weight[r] d_r d_rᵀ, its lower triangle; d (rows, stride) is zero from column n on.
     * What is above the diagonal may be written too. */
    void (*moments)(size_t rows, size_t n, const double *d, const double *weight, double *moment);

    /* square (ND_GROUP_ROWS) = |x_r - centre|² for a group of rows x (n, ND_GROUP_ROWS), centre (n). */
    void (*distances)(size_t n, const double *x, const double *centre, double *square);
};

/* The best variant for this processor. */
const struct gaussian_kernels *nd_gaussian_kernels(void);

/* The variants this processor can run, from the plainest up; NULL past the last.  For tests. */
const struct gaussian_kernels *nd_gaussian_kernels_variant(size_t number);

#endif
