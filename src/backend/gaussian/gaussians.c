#include "backend/gaussian/gaussians.h"

#include <string.h>

#include "base/fault.h"
#include "model/log_sum.h"

static const double half_log_two_pi = 0.91893853320467274178;

/* How far below a row's largest term another one counts, in nats. */
static const double least_difference = -60;

bool nd_gaussians_alloc(struct arena *arena, size_t components, size_t columns, size_t factors, struct gaussians *g)
{
    size_t square = columns * columns, stride = nd_gaussian_stride(columns);
    *g = (struct gaussians){.components = components, .columns = columns, .factors = factors};
    g->log_weight = nd_arena_alloc(arena, components, sizeof(double));
    g->mean = nd_arena_alloc(arena, components, columns * sizeof(double));
    g->covariance = nd_arena_alloc(arena, components, square * sizeof(double));
    g->loading = nd_arena_alloc(arena, components, columns * factors * sizeof(double));
    g->noise = nd_arena_alloc(arena, components, columns * sizeof(double));
    g->inverse = nd_arena_alloc(arena, components, columns * stride * sizeof(double));
    g->log_root = nd_arena_alloc(arena, components, sizeof(double));
    return g->log_weight && g->mean && g->covariance && g->loading && g->noise && g->inverse && g->log_root;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static void read_tensor(const struct plan *plan, size_t tensor, const float *parameters, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++) to[i] = (double)parameters[plan->tensor[tensor].offset + i];
}

static void write_tensor(const struct plan *plan, size_t tensor, const double *from, size_t count, float *parameters)
{
    for (size_t i = 0; i < count; i++) parameters[plan->tensor[tensor].offset + i] = (float)from[i];
}

/* Σ = L Lᵀ from the lower triangle of a tensor (D, D). */
static void multiply_factor(const float *lower, size_t columns, double *covariance)
{
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t t = 0; t <= j; t++) sum += (double)lower[i * columns + t] * (double)lower[j * columns + t];
            covariance[i * columns + j] = covariance[j * columns + i] = sum;
        }
}

void nd_gaussians_load(struct gaussians *g, const struct plan *plan, const float *parameters, double *factor)
{
    size_t columns = g->columns, square = columns * columns;
    read_tensor(plan, ND_GAUSSIAN_WEIGHT, parameters, g->components, g->log_weight);
    read_tensor(plan, ND_GAUSSIAN_MEAN, parameters, g->components * columns, g->mean);
    if (g->factors) {
        read_tensor(plan, ND_ANALYSER_LOADING, parameters, g->components * columns * g->factors, g->loading);
        read_tensor(plan, ND_ANALYSER_NOISE, parameters, g->components * columns, g->noise);
    }
    double total = nd_log_sum(g->log_weight, g->components);
    for (size_t k = 0; k < g->components; k++) {
        g->log_weight[k] -= total;
        for (size_t c = 0; g->factors && c < columns; c++)
            g->noise[k * columns + c] *= g->noise[k * columns + c]; /* a file has deviations */
        if (g->factors)
            nd_join_analyser(g, k);
        else
            multiply_factor(parameters + plan->tensor[ND_GAUSSIAN_FACTOR].offset + k * square, columns,
                            g->covariance + k * square);
        nd_gaussian_settle(g, k, factor);
    }
}

/* The factor of Σ of component k, its rows without gaps. */
static void take_factor(const struct gaussians *g, size_t k, double *factor)
{
    size_t columns = g->columns;
    memcpy(factor, g->covariance + k * columns * columns, columns * columns * sizeof *factor);
    nd_factorise(factor, columns, columns);
    for (size_t i = 0; i < columns; i++)
        for (size_t j = i + 1; j < columns; j++) factor[i * columns + j] = 0;
}

void nd_gaussians_store(const struct gaussians *g, const struct plan *plan, double *factor, float *parameters)
{
    size_t columns = g->columns, square = columns * columns;
    write_tensor(plan, ND_GAUSSIAN_WEIGHT, g->log_weight, g->components, parameters);
    write_tensor(plan, ND_GAUSSIAN_MEAN, g->mean, g->components * columns, parameters);
    if (g->factors)
        write_tensor(plan, ND_ANALYSER_LOADING, g->loading, g->components * columns * g->factors, parameters);
    float *noise = parameters + plan->tensor[ND_GAUSSIAN_FACTOR + (g->factors > 0)].offset;
    for (size_t i = 0; g->factors && i < g->components * columns; i++) noise[i] = (float)sqrt(g->noise[i]);
    for (size_t k = 0; !g->factors && k < g->components; k++) {
        take_factor(g, k, factor);
        for (size_t i = 0; i < square; i++)
            parameters[plan->tensor[ND_GAUSSIAN_FACTOR].offset + k * square + i] = (float)factor[i];
    }
}

/* ---- linear algebra ---------------------------------------------------------------------------------------------- */

void nd_factorise(double *a, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i++) {
        double *line = a + i * stride;
        for (size_t j = 0; j <= i; j++) {
            const double *other = a + j * stride;
            double sum = line[j];
            for (size_t t = 0; t < j; t++) sum -= line[t] * other[t];
            line[j] = i == j ? sqrt(fmax(sum, ND_LEAST_PIVOT)) : sum / other[j];
        }
    }
}

void nd_gaussians_factor(const struct gaussians *g, size_t k, const size_t *list, size_t n, double *factor)
{
    size_t columns = g->columns, stride = nd_gaussian_stride(n);
    const double *covariance = g->covariance + k * columns * columns;
    for (size_t i = 0; i < n; i++) {
        double *line = factor + i * stride;
        for (size_t j = 0; j <= i; j++) line[j] = covariance[list[i] * columns + list[j]];
        memset(line + i + 1, 0, (stride - i - 1) * sizeof *line);
    }
    nd_factorise(factor, n, stride);
}

double nd_invert_factor(const double *factor, size_t n, double *inverse)
{
    size_t stride = nd_gaussian_stride(n);
    double log_root = 0;
    for (size_t j = 0; j < n; j++) { /* column j of factor⁻¹: the solution for a one at place j */
        double *line = inverse + j * stride;
        memset(line, 0, stride * sizeof *line);
        line[j] = 1 / factor[j * stride + j];
        for (size_t i = j + 1; i < n; i++) {
            double sum = 0;
            for (size_t t = j; t < i; t++) sum -= factor[i * stride + t] * line[t];
            line[i] = sum / factor[i * stride + i];
        }
        log_root += log(factor[j * stride + j]);
    }
    return log_root;
}

void nd_gaussian_settle(struct gaussians *g, size_t k, double *factor)
{
    size_t columns = g->columns, stride = nd_gaussian_stride(columns);
    for (size_t i = 0; i < columns; i++)
        memcpy(factor + i * stride, g->covariance + (k * columns + i) * columns, columns * sizeof *factor);
    nd_factorise(factor, columns, stride);
    g->log_root[k] = nd_invert_factor(factor, columns, g->inverse + k * columns * stride);
}

/* ---- runs of rows ------------------------------------------------------------------------------------------------ */

bool nd_gaussian_scratch(struct arena *arena, const struct gaussians *g, struct gaussian_scratch *s)
{
    size_t columns = g->columns, stride = nd_gaussian_stride(columns);
    s->list = nd_arena_alloc(arena, columns, sizeof *s->list);
    s->rest = nd_arena_alloc(arena, columns, sizeof *s->rest);
    s->factor = nd_arena_alloc(arena, stride, stride * sizeof(double));
    s->inverse = nd_arena_alloc(arena, stride, stride * sizeof(double));
    s->x = nd_arena_alloc(arena, ND_RUN_ROWS, stride * sizeof(double));
    s->d = nd_arena_alloc(arena, ND_RUN_ROWS, stride * sizeof(double));
    s->term = nd_arena_alloc(arena, g->components, ND_RUN_ROWS * sizeof(double));
    s->top = nd_arena_alloc(arena, g->components, sizeof(double));
    s->best = nd_arena_alloc(arena, ND_RUN_ROWS, sizeof(size_t));
    s->chosen = nd_arena_alloc(arena, ND_RUN_ROWS, sizeof(size_t));
    s->square = nd_arena_alloc(arena, ND_RUN_ROWS, sizeof(double));
    s->total = nd_arena_alloc(arena, ND_RUN_ROWS, sizeof(double));
    return s->list && s->rest && s->factor && s->inverse && s->x && s->d && s->term && s->top && s->best && s->chosen &&
           s->square && s->total;
}

void nd_take_run(const struct encoded_rows *cells, const struct row_patterns *patterns, const struct row_run *run,
                 const bool *used, struct gaussian_scratch *s)
{
    const size_t *row = patterns->row + run->first;
    s->n = s->rests = 0;
    for (size_t c = 0; c < cells->columns; c++) {
        if ((!used || used[c]) && !isnan(nd_cell(cells, row[0], c)))
            s->list[s->n++] = c;
        else
            s->rest[s->rests++] = c;
    }
    size_t stride = nd_gaussian_stride(s->n);
    for (size_t r = 0; r < run->count; r++) {
        double *line = s->x + r * stride;
        for (size_t i = 0; i < s->n; i++) line[i] = (double)nd_cell(cells, row[r], s->list[i]);
        for (size_t i = s->n; i < stride; i++) line[i] = 0;
    }
}

const double *nd_inverse_for(const struct gaussians *g, size_t k, struct gaussian_scratch *s, double *log_root)
{
    *log_root = g->log_root[k];
    if (s->n == g->columns) return g->inverse + k * g->columns * nd_gaussian_stride(g->columns);
    nd_gaussians_factor(g, k, s->list, s->n, s->factor);
    *log_root = nd_invert_factor(s->factor, s->n, s->inverse);
    return s->inverse;
}

void nd_take_distances(const struct gaussians *g, size_t k, size_t rows, struct gaussian_scratch *s)
{
    const double *mean = g->mean + k * g->columns;
    size_t stride = nd_gaussian_stride(s->n);
    for (size_t r = 0; r < rows; r++) {
        const double *x = s->x + r * stride;
        double *d = s->d + r * stride;
        for (size_t i = 0; i < s->n; i++) d[i] = x[i] - mean[s->list[i]];
        for (size_t i = s->n; i < stride; i++) d[i] = 0;
    }
}

double nd_term_at_mean(const struct gaussians *g, size_t k, size_t n, double log_root, double penalty)
{
    return g->log_weight[k] - log_root - (double)n * half_log_two_pi - penalty;
}

void nd_run_terms(const struct gaussians *g, const struct gaussian_kernels *kernels, size_t k, size_t rows,
                  const double *inverse, double log_root, double penalty, struct gaussian_scratch *s)
{
    double *term = s->term + k * ND_RUN_ROWS, top = nd_term_at_mean(g, k, s->n, log_root, penalty);
    nd_take_distances(g, k, rows, s);
    memset(s->square, 0, rows * sizeof *s->square);
    kernels->squares(rows, s->n, 0, s->n, s->d, inverse, s->square);
    for (size_t r = 0; r < rows; r++) term[r] = top - 0.5 * s->square[r];
}

/* ---- runs without holes ------------------------------------------------------------------------------------------ */

/* Adds to the chosen rows' terms of component k, which hold them up to coordinate `from`, what coordinates from…to-1
 * take off. */
static void add_coordinates(const struct gaussians *g, const struct gaussian_kernels *kernels, size_t k, size_t count,
                            size_t from, size_t to, struct gaussian_scratch *s)
{
    size_t columns = g->columns, stride = nd_gaussian_stride(columns), whole = nd_gaussian_stride(count);
    const double *mean = g->mean + k * columns;
    double *term = s->term + k * ND_RUN_ROWS;
    for (size_t i = 0; i < count; i++) {
        const double *x = s->x + s->chosen[i] * stride;
        double *d = s->d + i * stride;
        for (size_t c = 0; c < to; c++) d[c] = x[c] - mean[c];
    }
    memset(s->d + count * stride, 0,
           (whole - count) * stride * sizeof *s->d); /* rows in lots are cheaper than single */
    memset(s->square, 0, whole * sizeof *s->square);
    kernels->squares(whole, columns, from, to, s->d, g->inverse + k * columns * stride, s->square);
    for (size_t i = 0; i < count; i++) term[s->chosen[i]] -= 0.5 * s->square[i];
}

/* Rows whose best component is k. */
static size_t choose_best(size_t k, size_t rows, struct gaussian_scratch *s)
{
    size_t count = 0;
    for (size_t r = 0; r < rows; r++)
        if (s->best[r] == k) s->chosen[count++] = r;
    return count;
}

/* Rows whose term of component k may still count, beside total, which is that of their best; the others have none. */
static size_t choose_near(size_t k, size_t rows, struct gaussian_scratch *s)
{
    double *term = s->term + k * ND_RUN_ROWS;
    size_t count = 0;
    for (size_t r = 0; r < rows; r++) {
        if (s->best[r] == k) continue;
        if (term[r] - s->total[r] > least_difference && !ND_FAULT(FAULT_NEAR_LEFT_OUT))
            s->chosen[count++] = r;
        else
            term[r] = -HUGE_VAL;
    }
    return count;
}

void nd_whole_run_terms(const struct gaussians *g, const struct gaussian_kernels *kernels, size_t rows,
                        struct gaussian_scratch *s)
{
    size_t columns = g->columns, half = columns / 2 / ND_GAUSSIAN_LANES * ND_GAUSSIAN_LANES, count;
    if (g->components == 1) half = columns;
    memset(s->best, 0, rows * sizeof *s->best);
    for (size_t k = 0; k < g->components; k++) {
        double *term = s->term + k * ND_RUN_ROWS;
        for (size_t r = 0; r < rows; r++) {
            term[r] = s->top[k];
            s->chosen[r] = r;
        }
        add_coordinates(g, kernels, k, rows, 0, half, s);
        for (size_t r = 0; r < rows; r++)
            if (term[r] > s->term[s->best[r] * ND_RUN_ROWS + r]) s->best[r] = k;
    }
    for (size_t k = 0; k < g->components && half < columns; k++)
        if ((count = choose_best(k, rows, s))) add_coordinates(g, kernels, k, count, half, columns, s);
    for (size_t r = 0; r < rows; r++) s->total[r] = s->term[s->best[r] * ND_RUN_ROWS + r];
    for (size_t k = 0; k < g->components && half < columns; k++)
        if ((count = choose_near(k, rows, s))) add_coordinates(g, kernels, k, count, half, columns, s);
}

void nd_run_totals(const struct gaussians *g, size_t rows, struct gaussian_scratch *s)
{
    for (size_t r = 0; r < rows; r++) {
        double most = s->term[r], sum = 0;
        for (size_t k = 1; k < g->components; k++) most = fmax(most, s->term[k * ND_RUN_ROWS + r]);
        for (size_t k = 0; k < g->components; k++) {
            double below = s->term[k * ND_RUN_ROWS + r] - most;
            if (below > least_difference) sum += exp(below);
        }
        s->total[r] = most + log(sum);
    }
}
