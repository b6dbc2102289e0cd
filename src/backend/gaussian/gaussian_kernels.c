/* Compiled several times; ND_KERNELS names the variant (see CMakeLists.txt).  A tile of sums, TILE rows of LANES
 * numbers, stays in registers while the inner dimension passes. */
#include "backend/gaussian/gaussian_kernels.h"

#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

#if defined __AVX512F__
#include <immintrin.h>
typedef __m512d vector;
enum { WIDTH = 8, TILE = 8 };
#define LOAD(from) _mm512_loadu_pd(from)
#define STORE(to, x) _mm512_storeu_pd(to, x)
#define SPREAD(x) _mm512_set1_pd(x)
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_pd(a, b, c)
#elif defined __FMA__
#include <immintrin.h>
typedef __m256d vector;
enum { WIDTH = 4, TILE = 4 };
#define LOAD(from) _mm256_loadu_pd(from)
#define STORE(to, x) _mm256_storeu_pd(to, x)
#define SPREAD(x) _mm256_set1_pd(x)
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_pd(a, b, c)
#else
typedef double vector __attribute__((vector_size(16)));
enum { WIDTH = 2, TILE = 2 };
#define LOAD(from) load_lanes(from)
#define STORE(to, x) memcpy(to, &(x), sizeof(vector))
#define SPREAD(x) ((vector){x, x})
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))

static inline vector load_lanes(const double *from)
{
    vector x;
    memcpy(&x, from, sizeof x);
    return x;
}
#endif

enum { LANES = ND_GAUSSIAN_LANES, VECTORS = LANES / WIDTH };

#ifdef __clang__
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 8")
#endif

/* Adds to square (count) the squares of LANES coordinates of P d for `count` rows, TILE at most. */
static inline __attribute__((always_inline)) void square_tile(size_t count, size_t depth, size_t stride,
                                                              const double *d, const double *inverse, double *square)
{
    vector sum[TILE][VECTORS];
    UNROLLED for (size_t r = 0; r < count; r++) UNROLLED for (size_t v = 0; v < VECTORS; v++) sum[r][v] = SPREAD(0);
    for (size_t j = 0; j < depth; j++) {
        vector right[VECTORS];
        UNROLLED for (size_t v = 0; v < VECTORS; v++) right[v] = LOAD(inverse + j * stride + v * WIDTH);
        UNROLLED for (size_t r = 0; r < count; r++)
        {
            vector left = SPREAD(d[r * stride + j]);
            UNROLLED for (size_t v = 0; v < VECTORS; v++) sum[r][v] = MULTIPLY_ADD(left, right[v], sum[r][v]);
        }
    }
    UNROLLED for (size_t r = 0; r < count; r++)
    {
        double lane[LANES];
        UNROLLED for (size_t v = 0; v < VECTORS; v++) STORE(lane + v * WIDTH, sum[r][v]);
        for (size_t l = 0; l < LANES; l++) square[r] += lane[l] * lane[l];
    }
}

static void squares(size_t rows, size_t n, size_t from, size_t to, const double *d, const double *inverse,
                    double *square)
{
    size_t stride = nd_gaussian_stride(n);
    for (size_t i = from; i < to; i += LANES) {
        size_t depth = i + LANES < n ? i + LANES : n, r = 0;
        for (; r + TILE <= rows; r += TILE) square_tile(TILE, depth, stride, d + r * stride, inverse + i, square + r);
        for (; r < rows; r++) square_tile(1, depth, stride, d + r * stride, inverse + i, square + r);
    }
}

/* moment (TILE, LANES) += Σ_r weight[r] left_r right_rᵀ. */
static void moment_tile(size_t rows, size_t stride, const double *left, const double *right, const double *weight,
                        double *moment)
{
    vector sum[TILE][VECTORS];
    UNROLLED for (size_t i = 0; i < TILE; i++) UNROLLED for (size_t v = 0; v < VECTORS; v++) sum[i][v] =
        LOAD(moment + i * stride + v * WIDTH);
    for (size_t r = 0; r < rows; r++) {
        vector line[VECTORS], share = SPREAD(weight[r]);
        UNROLLED for (size_t v = 0; v < VECTORS; v++) line[v] = LOAD(right + r * stride + v * WIDTH) * share;
        UNROLLED for (size_t i = 0; i < TILE; i++)
        {
            vector factor = SPREAD(left[r * stride + i]);
            UNROLLED for (size_t v = 0; v < VECTORS; v++) sum[i][v] = MULTIPLY_ADD(factor, line[v], sum[i][v]);
        }
    }
    UNROLLED for (size_t i = 0; i < TILE; i++) UNROLLED for (size_t v = 0; v < VECTORS; v++)
        STORE(moment + i * stride + v * WIDTH, sum[i][v]);
}

static void moments(size_t rows, size_t n, const double *d, const double *weight, double *moment)
{
    size_t stride = nd_gaussian_stride(n);
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = 0; j < i + TILE; j += LANES)
            moment_tile(rows, stride, d + i, d + j, weight, moment + i * stride + j);
}

static void distances(size_t n, const double *x, const double *centre, double *square)
{
    enum { PIECES = ND_GROUP_ROWS / LANES };
    vector sum[PIECES][VECTORS];
    UNROLLED for (size_t p = 0; p < PIECES; p++) UNROLLED for (size_t v = 0; v < VECTORS; v++) sum[p][v] = SPREAD(0);
    for (size_t i = 0; i < n; i++) {
        vector middle = SPREAD(centre[i]);
        UNROLLED for (size_t p = 0; p < PIECES; p++) UNROLLED for (size_t v = 0; v < VECTORS; v++)
        {
            vector away = LOAD(x + i * ND_GROUP_ROWS + p * LANES + v * WIDTH) - middle;
            sum[p][v] = MULTIPLY_ADD(away, away, sum[p][v]);
        }
    }
    UNROLLED for (size_t p = 0; p < PIECES; p++) UNROLLED for (size_t v = 0; v < VECTORS; v++)
        STORE(square + p * LANES + v * WIDTH, sum[p][v]);
}

extern const struct gaussian_kernels JOIN(nd_gaussian_kernels_, ND_KERNELS);

const struct gaussian_kernels JOIN(nd_gaussian_kernels_, ND_KERNELS) = {
    .name = TEXT(ND_KERNELS),
    .squares = squares,
    .moments = moments,
    .distances = distances,
};
