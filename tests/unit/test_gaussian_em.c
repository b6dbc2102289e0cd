/* Expectation maximisation of Gaussians: against formulas written out here, and what a round may never do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/gaussian/gaussian_em.h"
#include "base/philox.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { COLUMNS = 5, ROWS = 700 };

static const double floors[] = {1e-3, 0.05, 1e-3, 0.02, 1e-3};

/* What a test fits. */
struct trial {
    struct arena arena;
    struct pool *pool;
    struct gaussians g;
    struct gaussian_em em;
    float *cells; /* (rows, COLUMNS) */
};

static double uniform(uint32_t row, uint32_t word)
{
    return nd_random_fine(nd_random_word(7, 99, 0, row, 2 * word), nd_random_word(7, 99, 0, row, 2 * word + 1));
}

/* Two clusters of dependent columns; a share of the cells is missing, but never a whole row's. */
static void fill_cells(float *cells, size_t rows, double missing)
{
    for (uint32_t r = 0; r < rows; r++) {
        double before = 0, shift = r % 3 ? 1 : -1.5;
        for (uint32_t c = 0; c < COLUMNS; c++) {
            double sum = 0;
            for (uint32_t i = 0; i < 6; i++) sum += uniform(r, 12 * c + i) - 0.5;
            before = shift * (c % 2 ? 0.7 : -0.4) + 0.6 * before + 0.5 * sum;
            cells[r * COLUMNS + c] = uniform(r, 12 * c + 7) < missing && c != r % COLUMNS ? NAN : (float)before;
        }
    }
}

static void open_trial(struct trial *t, size_t rows, size_t components, size_t factors, double missing,
                       unsigned threads)
{
    *t = (struct trial){.arena = {nd_default_allocator(), NULL}};
    t->cells = nd_arena_alloc(&t->arena, rows, COLUMNS * sizeof *t->cells);
    t->pool = nd_pool_create(&t->arena.allocator, threads);
    assert_true(t->cells && t->pool);
    fill_cells(t->cells, rows, missing);
    const struct encoded_rows cells = {rows, COLUMNS, ENCODED_FLOATS, t->cells};
    assert_true(nd_gaussians_alloc(&t->arena, components, COLUMNS, factors, &t->g));
    assert_true(nd_gaussian_em_open(&t->arena, t->pool, &cells, floors, &t->g, &t->em));
}

static void close_trial(struct trial *t)
{
    nd_pool_free(t->pool);
    nd_arena_free(&t->arena);
}

/* ---- against formulas -------------------------------------------------------------------------------------------- */

/* Of whole rows: mean and covariance, with the floors' squares on its diagonal, after one round. */
static void one_gaussian_is_the_moments(void **state)
{
    (void)state;
    struct trial t;
    open_trial(&t, ROWS, 1, 0, 0, 2);
    assert_true(nd_gaussian_em_start(&t.em, 1, 0));
    nd_gaussian_em_round(&t.em);
    for (size_t i = 0; i < COLUMNS; i++) {
        double mean = 0;
        for (size_t r = 0; r < ROWS; r++) mean += (double)t.cells[r * COLUMNS + i] / ROWS;
        support_assert_close("mean", t.g.mean[i], mean, 1e-12, 1e-12);
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = i == j ? floors[i] * floors[i] : 0, other = t.g.mean[j];
            for (size_t r = 0; r < ROWS; r++)
                sum += ((double)t.cells[r * COLUMNS + i] - mean) * ((double)t.cells[r * COLUMNS + j] - other) / ROWS;
            support_assert_close("covariance", t.g.covariance[i * COLUMNS + j], sum, 1e-11, 1e-11);
        }
    }
    close_trial(&t);
}

/* a (n, n) x = b, n right sides (n, m), by elimination; returns the determinant. */
static double eliminate(double *a, size_t n, double *b, size_t m)
{
    double determinant = 1;
    for (size_t i = 0; i < n; i++) {
        double own = a[i * n + i];
        determinant *= own;
        for (size_t j = 0; j < n; j++) a[i * n + j] /= own;
        for (size_t j = 0; j < m; j++) b[i * m + j] /= own;
        for (size_t r = 0; r < n; r++) {
            double factor = a[r * n + i];
            if (r == i) continue;
            for (size_t j = 0; j < n; j++) a[r * n + j] -= factor * a[i * n + j];
            for (size_t j = 0; j < m; j++) b[r * m + j] -= factor * b[i * m + j];
        }
    }
    return determinant;
}

/* What a row is expected to be under a Gaussian: its distance d (D) from the mean, the second moment (D, D) of that,
 * both for blurred cells; returns what its log density is expected to be. */
static double expect_row(const float *row, const double *mean, const double *sigma, double *d, double *second)
{
    size_t at[COLUMNS], n = 0;
    double own[COLUMNS * COLUMNS] = {0}, right[COLUMNS * COLUMNS], blurred[COLUMNS * COLUMNS], slope[COLUMNS][COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++)
        if (!isnan(row[c])) at[n++] = c;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            own[i * n + j] = sigma[at[i] * COLUMNS + at[j]];
            blurred[i * n + j] = ((double)row[at[i]] - mean[at[i]]) * ((double)row[at[j]] - mean[at[j]]) +
                                 (i == j ? floors[at[i]] * floors[at[i]] : 0);
        }
        for (size_t c = 0; c < COLUMNS; c++) right[i * COLUMNS + c] = sigma[at[i] * COLUMNS + c];
    }
    double inverse[COLUMNS * COLUMNS] = {0}, copy[COLUMNS * COLUMNS], log_p = 0;
    memcpy(copy, own, sizeof copy);
    for (size_t i = 0; i < n; i++) inverse[i * n + i] = 1;
    log_p -= 0.5 * log(eliminate(copy, n, inverse, n)) + 0.5 * (double)n * log(2 * 3.14159265358979323846);
    for (size_t i = 0; i < n * n; i++) log_p -= 0.5 * inverse[i] * blurred[i];
    eliminate(own, n, right, COLUMNS); /* right (n, D): the slope of every column, also of the present ones */
    for (size_t c = 0; c < COLUMNS; c++)
        for (size_t i = 0; i < n; i++) slope[c][i] = right[i * COLUMNS + c];
    for (size_t a = 0; a < COLUMNS; a++) {
        d[a] = 0;
        for (size_t i = 0; i < n; i++) d[a] += slope[a][i] * ((double)row[at[i]] - mean[at[i]]);
        for (size_t b = 0; b < COLUMNS; b++) {
            double sum = sigma[a * COLUMNS + b]; /* what is left: nothing where one is present */
            for (size_t i = 0; i < n; i++) {
                sum -= slope[a][i] * sigma[at[i] * COLUMNS + b];
                for (size_t j = 0; j < n; j++) sum += slope[a][i] * blurred[i * n + j] * slope[b][j];
            }
            second[a * COLUMNS + b] = sum;
        }
    }
    return log_p;
}

/* The second moment of all rows about 0, blurred; a missing cell adds its column's variance, 1. */
static void fill_whole(const struct trial *t, double *whole)
{
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = i == j ? ROWS * floors[i] * floors[i] : 0;
            for (size_t r = 0; r < ROWS; r++) {
                double a = (double)t->cells[r * COLUMNS + i], b = (double)t->cells[r * COLUMNS + j];
                sum += isnan(a) || isnan(b) ? i == j : a * b;
            }
            whole[i * COLUMNS + j] = sum / ROWS;
        }
}

/* -1/2 (tr(whole Σ⁻¹) + log |Σ|). */
static double prior_of(const double *whole, const double *sigma)
{
    double a[COLUMNS * COLUMNS], b[COLUMNS * COLUMNS], trace = 0;
    memcpy(a, sigma, sizeof a);
    memcpy(b, whole, sizeof b);
    double determinant = eliminate(a, COLUMNS, b, COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++) trace += b[i * COLUMNS + i];
    return -0.5 * (trace + log(determinant));
}

/* A round from where another has left: weights, means and covariances as the sums over rows written out. */
static void check_a_round(double prior)
{
    enum { K = 3 };
    struct trial t;
    double whole[COLUMNS * COLUMNS];
    open_trial(&t, ROWS, K, 0, 0.3, 2);
    t.em.prior = prior;
    fill_whole(&t, whole);
    assert_true(nd_gaussian_em_start(&t.em, 1, 0));
    for (int i = 0; i < 4; i++) nd_gaussian_em_round(&t.em);
    double mean[K * COLUMNS], sigma[K * COLUMNS * COLUMNS], log_weight[K];
    memcpy(mean, t.g.mean, sizeof mean);
    memcpy(sigma, t.g.covariance, sizeof sigma);
    memcpy(log_weight, t.g.log_weight, sizeof log_weight);
    double weight[K] = {0}, sum[K][COLUMNS] = {{0}}, moment[K][COLUMNS * COLUMNS] = {{0}}, objective = 0;
    for (size_t r = 0; r < ROWS; r++) {
        double term[K], d[K][COLUMNS], second[K][COLUMNS * COLUMNS], total = 0;
        for (size_t k = 0; k < K; k++) {
            term[k] = log_weight[k] + expect_row(t.cells + r * COLUMNS, mean + k * COLUMNS,
                                                 sigma + k * COLUMNS * COLUMNS, d[k], second[k]);
            total += exp(term[k]);
        }
        objective += log(total);
        for (size_t k = 0; k < K; k++) {
            double share = exp(term[k]) / total;
            weight[k] += share;
            for (size_t c = 0; c < COLUMNS; c++) sum[k][c] += share * d[k][c];
            for (size_t i = 0; i < COLUMNS * COLUMNS; i++) moment[k][i] += share * second[k][i];
        }
    }
    for (size_t k = 0; k < K; k++) objective += prior * prior_of(whole, sigma + k * COLUMNS * COLUMNS);
    support_assert_close("objective", nd_gaussian_em_round(&t.em), objective, 1e-9, 0);
    for (size_t k = 0; k < K; k++) {
        support_assert_close("weight", t.g.log_weight[k], log(weight[k] / ROWS), 1e-8, 1e-8);
        for (size_t i = 0; i < COLUMNS; i++) {
            support_assert_close("mean", t.g.mean[k * COLUMNS + i], mean[k * COLUMNS + i] + sum[k][i] / weight[k], 1e-8,
                                 1e-8);
            for (size_t j = 0; j < COLUMNS; j++) {
                size_t at = i * COLUMNS + j;
                double own = moment[k][at] - sum[k][i] * sum[k][j] / weight[k];
                support_assert_close("covariance", t.g.covariance[k * COLUMNS * COLUMNS + at],
                                     (own + prior * whole[at]) / (weight[k] + prior), 1e-8, 1e-8);
            }
        }
    }
    close_trial(&t);
}

static void a_round_is_its_formula(void **state)
{
    (void)state;
    check_a_round(0);
    check_a_round(7.5);
}

/* ---- what a round may never do ----------------------------------------------------------------------------------- */

static void no_round_is_worse(void **state)
{
    (void)state;
    static const size_t factors[] = {0, 1, 2}, components[] = {1, 2, 6};
    for (size_t f = 0; f < 6; f++)
        for (size_t k = 0; k < 3; k++) {
            struct trial t;
            double before = -HUGE_VAL;
            open_trial(&t, ROWS, components[k], factors[f % 3], k == 2 ? 0.5 : 0.2, 2);
            t.em.prior = f < 3 ? 0 : 5;
            assert_true(nd_gaussian_em_start(&t.em, (uint32_t)f, (uint32_t)k));
            for (int round = 0; round < 40; round++) {
                double now = nd_gaussian_em_round(&t.em);
                assert_true(now >= before - 1e-9 * fabs(before));
                before = now;
            }
            close_trial(&t);
        }
}

/* Rows of a constant and of a doubled column, and more components than different rows: everything stays finite, and no
 * covariance falls below the floors' squares. */
static void nothing_becomes_singular(void **state)
{
    (void)state;
    for (size_t factors = 0; factors < 2; factors++) {
        struct trial t;
        open_trial(&t, 40, 9, factors, 0, 1);
        for (size_t r = 0; r < 40; r++) {
            t.cells[r * COLUMNS + 1] = 0;
            t.cells[r * COLUMNS + 2] = t.cells[r * COLUMNS];
            for (size_t c = 0; c < COLUMNS && r >= 4; c++) t.cells[r * COLUMNS + c] = t.cells[r % 4 * COLUMNS + c];
        }
        assert_true(nd_gaussian_em_start(&t.em, 1, 0));
        for (int round = 0; round < 60; round++) assert_true(isfinite(nd_gaussian_em_round(&t.em)));
        for (size_t k = 0; k < 9; k++)
            for (size_t c = 0; c < COLUMNS; c++) {
                double own = t.g.covariance[(k * COLUMNS + c) * COLUMNS + c];
                assert_true(own >= 0.999 * floors[c] * floors[c] && isfinite(t.g.mean[k * COLUMNS + c]));
            }
        for (size_t k = 0; k < 9; k++) assert_true(isfinite(t.g.log_weight[k]) && isfinite(t.g.log_root[k]));
        close_trial(&t);
    }
}

/* ---- factor analysers -------------------------------------------------------------------------------------------- */

/* One factor fewer than columns leaves a covariance free: it comes near the Gaussian's likelihood, fewer stay below. */
static void many_factors_are_a_full_covariance(void **state)
{
    (void)state;
    double reached[3];
    static const size_t factors[] = {0, COLUMNS - 1, 1};
    for (size_t f = 0; f < 3; f++) {
        struct trial t;
        open_trial(&t, ROWS, 1, factors[f], 0, 1);
        assert_true(nd_gaussian_em_start(&t.em, 1, 0));
        for (int round = 0; round < 100; round++) reached[f] = nd_gaussian_em_round(&t.em) / ROWS;
        close_trial(&t);
    }
    assert_true(reached[1] <= reached[0] + 1e-9 && reached[1] > reached[0] - 0.005);
    assert_true(reached[2] < reached[1] - 0.005);
}

/* Rows of one factor: the noise and the loadings that made them are found again. */
static void a_factor_is_found(void **state)
{
    (void)state;
    enum { N = 4000 };
    static const double loading[] = {0.9, -0.8, 0.7, 0.5, 0.3}, noise[] = {0.3, 0.5, 0.6, 0.8, 0.9};
    struct trial t;
    open_trial(&t, N, 1, 1, 0, 2);
    for (uint32_t r = 0; r < N; r++) {
        double z = 0;
        for (uint32_t i = 0; i < 12; i++) z += uniform(r, i) - 0.5;
        for (uint32_t c = 0; c < COLUMNS; c++) {
            double e = 0;
            for (uint32_t i = 0; i < 12; i++) e += uniform(r, 12 * (c + 1) + i) - 0.5;
            t.cells[r * COLUMNS + c] = (float)(loading[c] * z + noise[c] * e);
        }
    }
    assert_true(nd_gaussian_em_start(&t.em, 1, 0));
    for (int round = 0; round < 50; round++) nd_gaussian_em_round(&t.em);
    for (size_t c = 0; c < COLUMNS; c++) {
        double sign = t.g.loading[0] > 0 ? 1 : -1;
        support_assert_close("loading", sign * t.g.loading[c], loading[c], 0, 0.05);
        support_assert_close("noise", sqrt(t.g.noise[c]), noise[c], 0, 0.05);
    }
    close_trial(&t);
}

/* ---- components that are far ------------------------------------------------------------------------------------- */

/* Half of the coordinates say of most components that they are far: totals, and the terms that matter, are those of
 * all coordinates of all. */
static void far_components_make_no_difference(void **state)
{
    enum { WIDE = 21, MANY = 7, N = 45 };
    struct arena arena = {nd_default_allocator(), NULL};
    struct gaussians g;
    struct gaussian_scratch s, all;
    size_t left_out = 0;
    (void)state;
    assert_true(nd_gaussians_alloc(&arena, MANY, WIDE, 0, &g) && nd_gaussian_scratch(&arena, &g, &s) &&
                nd_gaussian_scratch(&arena, &g, &all));
    for (uint32_t k = 0; k < MANY; k++) {
        g.log_weight[k] = -log(MANY);
        for (uint32_t i = 0; i < WIDE; i++) {
            g.mean[k * WIDE + i] = (double)(k / 2) * uniform(k, i);
            for (uint32_t j = 0; j < WIDE; j++)
                g.covariance[(k * WIDE + i) * WIDE + j] = i == j ? 0.1 * (1 + k % 3) : 0.02;
        }
        nd_gaussian_settle(&g, k, s.factor);
    }
    s.n = all.n = WIDE;
    for (uint32_t r = 0; r < N; r++)
        for (uint32_t i = 0; i < WIDE; i++)
            s.x[r * nd_gaussian_stride(WIDE) + i] = g.mean[r % MANY * WIDE + i] + uniform(100 + r, i) - 0.5;
    memcpy(all.x, s.x, N * nd_gaussian_stride(WIDE) * sizeof *s.x);
    for (size_t k = 0; k < MANY; k++) {
        for (size_t i = 0; i < WIDE; i++) all.list[i] = i;
        s.top[k] = nd_term_at_mean(&g, k, WIDE, g.log_root[k], 0.25);
        nd_run_terms(&g, nd_gaussian_kernels(), k, N, nd_inverse_for(&g, k, &all, &(double){0}), g.log_root[k], 0.25,
                     &all);
    }
    nd_whole_run_terms(&g, nd_gaussian_kernels(), N, &s);
    nd_run_totals(&g, N, &s);
    nd_run_totals(&g, N, &all);
    for (size_t r = 0; r < N; r++) {
        support_assert_close("total", s.total[r], all.total[r], 1e-12, 0);
        for (size_t k = 0; k < MANY; k++) {
            double found = s.term[k * ND_RUN_ROWS + r], wanted = all.term[k * ND_RUN_ROWS + r];
            if (isinf(found)) left_out++;
            if (isinf(found) ? wanted > all.total[r] - 60 : fabs(found - wanted) > 1e-9 * fabs(wanted))
                fail_msg("row %zu, component %zu: %g, expected %g", r, k, found, wanted);
        }
    }
    assert_true(left_out > N);
    nd_arena_free(&arena);
}

/* ---- the same for any number of threads; kernels ------------------------------------------------------------------
 */

static void threads_make_no_difference(void **state)
{
    (void)state;
    double objective[2], mean[2][4 * COLUMNS], covariance[2][4 * COLUMNS * COLUMNS];
    for (unsigned i = 0; i < 2; i++) {
        struct trial t;
        open_trial(&t, ROWS, 4, 0, 0.2, i ? 3 : 1);
        assert_true(nd_gaussian_em_start(&t.em, 5, 1));
        for (int round = 0; round < 10; round++) objective[i] = nd_gaussian_em_round(&t.em);
        memcpy(mean[i], t.g.mean, sizeof mean[i]);
        memcpy(covariance[i], t.g.covariance, sizeof covariance[i]);
        close_trial(&t);
    }
    assert_memory_equal(&objective[0], &objective[1], sizeof objective[0]);
    assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
    assert_memory_equal(covariance[0], covariance[1], sizeof covariance[0]);
}

enum { WIDEST = 24 };

/* Every variant against sums written out; those that fuse agree to the last bit. */
static void kernels_are_their_sums(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 19; n++) {
        size_t stride = nd_gaussian_stride(n), rows = 13;
        double d[13 * WIDEST] = {0}, inverse[WIDEST * WIDEST] = {0}, weight[13], square[3][13];
        double moment[3][WIDEST * WIDEST];
        for (uint32_t r = 0; r < rows; r++) {
            weight[r] = uniform(r, 200);
            for (uint32_t i = 0; i < n; i++) d[r * stride + i] = uniform(r, i) - 0.5;
        }
        for (uint32_t j = 0; j < n; j++)
            for (uint32_t i = j; i < n; i++) inverse[j * stride + i] = uniform(j, 100 + i) - 0.5;
        for (size_t v = 0; nd_gaussian_kernels_variant(v); v++) {
            const struct gaussian_kernels *kernels = nd_gaussian_kernels_variant(v);
            memset(moment[v], 0, sizeof moment[v]);
            memset(square[v], 0, sizeof square[v]);
            kernels->squares(rows, n, 0, n / 2 / 8 * 8, d, inverse, square[v]);
            kernels->squares(rows, n, n / 2 / 8 * 8, n, d, inverse, square[v]);
            kernels->moments(rows, n, d, weight, moment[v]);
            for (size_t r = 0; r < rows; r++) {
                double sum = 0;
                for (size_t i = 0; i < n; i++) {
                    double y = 0;
                    for (size_t j = 0; j <= i; j++) y += inverse[j * stride + i] * d[r * stride + j];
                    sum += y * y;
                }
                support_assert_close(kernels->name, square[v][r], sum, 1e-13, 1e-14);
                if (v == 2) assert_memory_equal(&square[1][r], &square[2][r], sizeof(double));
            }
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j <= i; j++) {
                    double sum = 0;
                    for (size_t r = 0; r < rows; r++) sum += weight[r] * d[r * stride + i] * d[r * stride + j];
                    support_assert_close(kernels->name, moment[v][i * stride + j], sum, 1e-13, 1e-14);
                    if (v == 2)
                        assert_memory_equal(&moment[1][i * stride + j], &moment[2][i * stride + j], sizeof(double));
                }
        }
    }
}

static void distances_are_their_sums(void **state)
{
    enum { N = 5 };
    double x[N * ND_GROUP_ROWS], centre[N], square[ND_GROUP_ROWS];
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        centre[i] = uniform(i, 300);
        for (uint32_t r = 0; r < ND_GROUP_ROWS; r++) x[i * ND_GROUP_ROWS + r] = uniform(r, 301 + i);
    }
    for (size_t v = 0; nd_gaussian_kernels_variant(v); v++) {
        nd_gaussian_kernels_variant(v)->distances(N, x, centre, square);
        for (size_t r = 0; r < ND_GROUP_ROWS; r++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += (x[i * ND_GROUP_ROWS + r] - centre[i]) * (x[i * ND_GROUP_ROWS + r] - centre[i]);
            support_assert_close("distance", square[r], sum, 1e-13, 0);
        }
    }
}

/* Every row is in one run, beside rows with the same holes and target alone. */
static void runs_are_of_one_pattern(void **state)
{
    (void)state;
    struct trial t;
    struct row_patterns patterns;
    size_t target[ROWS], seen[ROWS] = {0};
    open_trial(&t, ROWS, 1, 0, 0.15, 1);
    for (size_t r = 0; r < ROWS; r++) target[r] = r % 2;
    assert_true(nd_find_patterns(&t.arena, &t.em.cells, NULL, target, &patterns));
    for (size_t i = 0; i < patterns.runs; i++) {
        const struct row_run *run = &patterns.run[i];
        assert_true(run->count > 0 && run->count <= ND_RUN_ROWS);
        for (size_t r = 0; r < run->count; r++) {
            size_t row = patterns.row[run->first + r], first = patterns.row[run->first];
            seen[row]++;
            assert_int_equal(target[row], target[first]);
            for (size_t c = 0; c < COLUMNS; c++)
                assert_int_equal(isnan(t.cells[row * COLUMNS + c]) != 0, isnan(t.cells[first * COLUMNS + c]) != 0);
        }
    }
    for (size_t r = 0; r < ROWS; r++) assert_int_equal(seen[r], 1);
    assert_true(patterns.runs < 80);
    close_trial(&t);
}

/* A wide table with many components is refused before memory is asked for. */
static void covariances_have_a_limit(void **state)
{
    enum { WIDE = 400 };
    static struct column_spec spec[WIDE];
    nade_context *context;
    struct arena arena = {nd_default_allocator(), NULL};
    struct plan plan;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    for (size_t c = 0; c < WIDE; c++)
        spec[c] = (struct column_spec){.name = "x", .type = NADE_REAL, .sd = 1, .floor = 0.1};
    const struct schema schema = {.count = WIDE, .column = spec};
    struct architecture architecture = {.kind = NADE_KIND_MFA, .components = 839, .factors = 1};
    assert_int_equal(nd_plan_build(context, &arena, &schema, &architecture, &plan), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(context), "839 covariances of 400 columns"));
    architecture.components = 838;
    support_assert_ok(context, nd_plan_build(context, &arena, &schema, &architecture, &plan));
    nd_arena_free(&arena);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_gaussian_is_the_moments),
        cmocka_unit_test(a_round_is_its_formula),
        cmocka_unit_test(no_round_is_worse),
        cmocka_unit_test(nothing_becomes_singular),
        cmocka_unit_test(many_factors_are_a_full_covariance),
        cmocka_unit_test(a_factor_is_found),
        cmocka_unit_test(far_components_make_no_difference),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(kernels_are_their_sums),
        cmocka_unit_test(distances_are_their_sums),
        cmocka_unit_test(runs_are_of_one_pattern),
        cmocka_unit_test(covariances_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
