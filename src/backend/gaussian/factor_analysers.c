/* Factor analysers: x = μ + Λ z + noise, z of F independent standard normals, the noise's cells independent. */
#include <string.h>

#include "backend/gaussian/gaussians.h"
#include "base/fault.h"

enum { ANALYSER_ROUNDS = 20 };

void nd_join_analyser(struct gaussians *g, size_t k)
{
    size_t columns = g->columns, factors = g->factors;
    const double *loading = g->loading + k * columns * factors;
    double *covariance = g->covariance + k * columns * columns;
    for (size_t i = 0; i < columns; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t f = 0; f < factors; f++) sum += loading[i * factors + f] * loading[j * factors + f];
            covariance[i * columns + j] = covariance[j * columns + i] = sum;
        }
        covariance[i * columns + i] += g->noise[k * columns + i];
    }
}

/* ---- linear algebra ---------------------------------------------------------------------------------------------- */

/* L Lᵀ x = b in place; L (n, n) is a factor. */
static void solve(const double *factor, size_t n, double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t t = 0; t < i; t++) b[i] -= factor[i * n + t] * b[t];
        b[i] /= factor[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t t = i + 1; t < n; t++) b[i] -= factor[t * n + i] * b[t];
        b[i] /= factor[i * n + i];
    }
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* The column of which most is left to explain. */
static size_t find_pivot(const double *left, size_t columns)
{
    size_t best = 0;
    for (size_t c = 1; c < columns; c++)
        if (left[c] > left[best]) best = c;
    return best;
}

/* Loadings are the first columns of a pivoted factor of most of the covariance, the noise is what they leave. */
static void begin_analyser(struct gaussians *g, size_t k, const double *floor, double *left)
{
    static const double least_share = 0.05; /* of a column, that begins as noise: from none at all it would not move */
    size_t columns = g->columns, factors = g->factors;
    const double *covariance = g->covariance + k * columns * columns;
    double *loading = g->loading + k * columns * factors, *noise = g->noise + k * columns;
    for (size_t c = 0; c < columns; c++) left[c] = (1 - least_share) * covariance[c * columns + c];
    memset(loading, 0, columns * factors * sizeof *loading);
    for (size_t f = 0; f < factors; f++) {
        size_t pivot = find_pivot(left, columns);
        if (!(left[pivot] > 0)) break;
        double root = sqrt(left[pivot]);
        for (size_t c = 0; c < columns; c++) {
            double sum = c == pivot ? left[c] : covariance[c * columns + pivot];
            for (size_t e = 0; c != pivot && e < f; e++) sum -= loading[c * factors + e] * loading[pivot * factors + e];
            loading[c * factors + f] = left[c] > 0 ? sum / root : 0;
        }
        for (size_t c = 0; c < columns; c++) left[c] -= loading[c * factors + f] * loading[c * factors + f];
        left[pivot] = 0;
    }
    for (size_t c = 0; c < columns; c++)
        noise[c] = fmax(least_share * covariance[c * columns + c] + fmax(left[c], 0), floor[c] * floor[c]);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* slope (D, F), transposed, is what z is expected to be per distance from the mean: (I + Λᵀ Ψ⁻¹ Λ)⁻¹ Λᵀ Ψ⁻¹; inner
 * (F, F) becomes the factor of the matrix in brackets. */
static void find_slopes(const struct gaussians *g, size_t k, double *slope, double *inner)
{
    size_t columns = g->columns, factors = g->factors;
    const double *loading = g->loading + k * columns * factors, *noise = g->noise + k * columns;
    for (size_t e = 0; e < factors; e++)
        for (size_t f = 0; f <= e; f++) {
            double sum = e == f;
            for (size_t c = 0; c < columns; c++) sum += loading[c * factors + e] * loading[c * factors + f] / noise[c];
            inner[e * factors + f] = sum;
        }
    nd_factorise(inner, factors, factors);
    for (size_t c = 0; c < columns; c++) {
        for (size_t f = 0; f < factors; f++) slope[c * factors + f] = loading[c * factors + f] / noise[c];
        solve(inner, factors, slope + c * factors);
    }
}

/* across (D, F) = Σ slope: what x and z are expected to have in common. */
static void find_across(const struct gaussians *g, const double *covariance, const double *slope, double *across)
{
    size_t columns = g->columns, factors = g->factors;
    memset(across, 0, columns * factors * sizeof *across);
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < columns; j++)
            for (size_t f = 0; f < factors; f++)
                across[i * factors + f] += covariance[i * columns + j] * slope[j * factors + f];
}

/* second (F, F) = the second moment of z, whose lower triangle is then factorised; unit (F) is scratch. */
static void find_second(const struct gaussians *g, const double *inner, const double *slope, const double *across,
                        double *second, double *unit)
{
    size_t columns = g->columns, factors = g->factors;
    for (size_t e = 0; e < factors; e++) {
        memset(unit, 0, factors * sizeof *unit);
        unit[e] = 1;
        solve(inner, factors, unit);
        for (size_t f = 0; f <= e; f++) {
            double sum = unit[f];
            for (size_t c = 0; c < columns; c++) sum += slope[c * factors + e] * across[c * factors + f];
            second[e * factors + f] = sum;
        }
    }
    nd_factorise(second, factors, factors);
}

static void round_of(struct gaussians *g, size_t k, const double *floor, double *const work[4])
{
    size_t columns = g->columns, factors = g->factors;
    const double *covariance = g->covariance + k * columns * columns;
    double *slope = work[0], *across = work[1], *inner = work[2], *second = work[3];
    find_slopes(g, k, slope, inner);
    find_across(g, covariance, slope, across);
    find_second(g, inner, slope, across, second, g->loading + k * columns * factors);
    for (size_t c = 0; c < columns; c++) {
        double *loading = g->loading + (k * columns + c) * factors, left = covariance[c * columns + c];
        memcpy(loading, across + c * factors, factors * sizeof *loading);
        solve(second, factors, loading);
        for (size_t f = 0; f < factors; f++) left -= loading[f] * across[c * factors + f];
        if (ND_FAULT(FAULT_ANALYSER_NOISE)) left = covariance[c * columns + c] - left;
        g->noise[k * columns + c] = fmax(left, floor[c] * floor[c]);
    }
}

void nd_fit_analyser(struct gaussians *g, size_t k, const double *floor, bool begins, double *const work[4])
{
    if (begins) begin_analyser(g, k, floor, work[0]);
    for (int round = 0; round < ANALYSER_ROUNDS; round++) round_of(g, k, floor, work);
    nd_join_analyser(g, k);
}
