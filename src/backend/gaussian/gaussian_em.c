#include "backend/gaussian/gaussian_em.h"

#include <string.h>

#include "base/fault.h"

/* Bytes that the sums of all parts may take, and how many parts there may be: these depend on sizes alone. */
enum { PARTS_BYTES = 1 << 28, PARTS_LEAST = 4, PARTS_MOST = 32 };

/* Shares of a component in a row below this count as none: a round then changes what it maximises by less than rounding
 * does. */
static const double least_share = 1e-14;

/* A component of so few rows stays as it is. */
static const double least_weight = 1e-9;

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

/* Half the trace of Σ⁻¹ diag(floor²) for the n columns of a list (NULL: all): what blurring takes off a log density. */
static double penalty_of(const struct gaussian_em *em, const size_t *list, size_t n, const double *inverse)
{
    size_t stride = nd_gaussian_stride(n);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double own = 0, floor = em->floor[list ? list[j] : j];
        for (size_t i = j; i < n; i++) own += inverse[j * stride + i] * inverse[j * stride + i];
        sum += floor * floor * own;
    }
    return 0.5 * sum;
}

static void find_penalty(void *argument, size_t k, unsigned worker)
{
    const struct gaussian_em *em = argument;
    size_t columns = em->g->columns;
    (void)worker;
    em->penalty[k] = penalty_of(em, NULL, columns, em->g->inverse + k * columns * nd_gaussian_stride(columns));
    em->prior_log[k] = em->prior > 0 ? nd_gaussian_prior_log(em, k) : 0;
}

/* Leaves the distances of the rows that component k has a share in, and these shares; returns how many. */
static size_t take_shares(const struct gaussian_em *em, size_t k, size_t rows, struct em_scratch *scratch)
{
    struct gaussian_scratch *s = &scratch->run;
    const double *term = s->term + k * ND_RUN_ROWS, *mean = em->g->mean + k * em->g->columns;
    size_t stride = nd_gaussian_stride(s->n), count = 0;
    for (size_t r = 0; r < rows; r++) {
        double below = term[r] - s->total[r];
        if (below < -33) continue;
        double share = exp(below), *d = s->d + count * stride;
        if (share < least_share) continue;
        for (size_t i = 0; i < s->n; i++) d[i] = s->x[r * stride + i] - mean[s->list[i]];
        scratch->weight[count++] = share;
    }
    return count;
}

/* Σ r, Σ r d of the shares taken into sum (n), Σ r (d dᵀ + diag(floor²)) into moment (stride, stride). */
static double add_shares(const struct gaussian_em *em, size_t count, const struct em_scratch *scratch, double *sum,
                         double *moment)
{
    const struct gaussian_scratch *s = &scratch->run;
    size_t stride = nd_gaussian_stride(s->n);
    double weight = 0;
    for (size_t r = 0; r < count; r++) {
        const double *d = s->d + r * stride;
        weight += scratch->weight[r];
        for (size_t i = 0; i < s->n; i++) sum[i] += scratch->weight[r] * d[i];
    }
    em->kernels->moments(count, s->n, s->d, scratch->weight, moment);
    for (size_t i = 0; i < s->n && !ND_FAULT(FAULT_EM_NO_FLOOR); i++) {
        double floor = em->floor[s->list[i]];
        moment[i * stride + i] += weight * floor * floor;
    }
    return weight;
}

/* How the missing cells (m) follow from the present ones (n): along = Σ_mn P ᵀ and slope = Σ_mn Σ_nn⁻¹, both (m, n). */
static void find_slopes(const struct gaussian_em *em, size_t k, const double *inverse, struct em_scratch *scratch)
{
    const struct gaussian_scratch *s = &scratch->run;
    size_t n = s->n, stride = nd_gaussian_stride(n), columns = em->g->columns;
    const double *covariance = em->g->covariance + k * columns * columns;
    for (size_t a = 0; a < s->rests; a++) {
        double *along = scratch->along + a * n, *slope = scratch->slope + a * n;
        memset(along, 0, n * sizeof *along);
        for (size_t j = 0; j < n; j++) {
            double own = covariance[s->rest[a] * columns + s->list[j]];
            for (size_t i = j; i < n; i++) along[i] += own * inverse[j * stride + i];
        }
        for (size_t j = 0; j < n; j++) {
            slope[j] = 0;
            for (size_t i = j; i < n; i++) slope[j] += along[i] * inverse[j * stride + i];
        }
    }
}

static void add_at(double *moment, size_t stride, size_t i, size_t j, double value)
{
    moment[i > j ? i * stride + j : j * stride + i] += value;
}

/* v (m, n) = slope · the run's moment, whose lower triangle is known. */
static void multiply_slopes(struct em_scratch *scratch)
{
    const struct gaussian_scratch *s = &scratch->run;
    size_t n = s->n, stride = nd_gaussian_stride(n);
    for (size_t a = 0; a < s->rests; a++) {
        double *v = scratch->v + a * n;
        const double *slope = scratch->slope + a * n;
        memset(v, 0, n * sizeof *v);
        for (size_t i = 0; i < n; i++) {
            const double *line = scratch->moment + i * stride;
            for (size_t j = 0; j < i; j++) {
                v[j] += slope[i] * line[j];
                v[i] += slope[j] * line[j];
            }
            v[i] += slope[i] * line[i];
        }
    }
}

/* What the covariance leaves of missing cells a and b when the present ones are known. */
static double left_over(const struct gaussian_em *em, size_t k, const struct em_scratch *scratch, size_t a, size_t b)
{
    const struct gaussian_scratch *s = &scratch->run;
    size_t columns = em->g->columns;
    const double *covariance = em->g->covariance + k * columns * columns;
    double left = covariance[s->rest[a] * columns + s->rest[b]];
    for (size_t i = 0; i < s->n; i++) left -= scratch->along[a * s->n + i] * scratch->along[b * s->n + i];
    return ND_FAULT(FAULT_EM_NO_LEFT_OVER) ? 0 : left;
}

/* Adds a run's sums over its present cells to the part, with what its missing cells are expected to add. */
static void add_with_missing(const struct gaussian_em *em, size_t k, double weight, struct em_scratch *scratch,
                             struct em_part *part)
{
    const struct gaussian_scratch *s = &scratch->run;
    size_t n = s->n, stride = nd_gaussian_stride(n), columns = em->g->columns, whole = nd_gaussian_stride(columns);
    double *sum = part->sum + k * columns, *moment = part->moment + k * whole * whole;
    for (size_t i = 0; i < n; i++) {
        sum[s->list[i]] += scratch->sum[i];
        for (size_t j = 0; j <= i; j++) moment[s->list[i] * whole + s->list[j]] += scratch->moment[i * stride + j];
    }
    multiply_slopes(scratch);
    for (size_t a = 0; a < s->rests; a++) {
        const double *slope = scratch->slope + a * n, *v = scratch->v + a * n;
        for (size_t j = 0; j < n; j++) {
            sum[s->rest[a]] += slope[j] * scratch->sum[j];
            add_at(moment, whole, s->rest[a], s->list[j], v[j]);
        }
        for (size_t b = 0; b <= a; b++) {
            double both = weight * left_over(em, k, scratch, a, b);
            for (size_t j = 0; j < n; j++) both += v[j] * scratch->slope[b * n + j];
            add_at(moment, whole, s->rest[a], s->rest[b], both);
        }
    }
}

static void add_run_of(const struct gaussian_em *em, size_t k, size_t rows, struct em_scratch *scratch,
                       struct em_part *part)
{
    struct gaussian_scratch *s = &scratch->run;
    size_t columns = em->g->columns, whole = nd_gaussian_stride(columns), stride = nd_gaussian_stride(s->n);
    double log_root;
    size_t count = take_shares(em, k, rows, scratch);
    if (count == 0) return;
    if (s->n == columns) {
        part->weight[k] += add_shares(em, count, scratch, part->sum + k * columns, part->moment + k * whole * whole);
        return;
    }
    memset(scratch->sum, 0, columns * sizeof *scratch->sum);
    memset(scratch->moment, 0, stride * stride * sizeof *scratch->moment);
    double weight = add_shares(em, count, scratch, scratch->sum, scratch->moment);
    find_slopes(em, k, nd_inverse_for(em->g, k, s, &log_root), scratch);
    part->weight[k] += weight;
    add_with_missing(em, k, weight, scratch, part);
}

static void add_run(const struct gaussian_em *em, const struct row_run *run, struct em_scratch *scratch,
                    struct em_part *part)
{
    struct gaussian_scratch *s = &scratch->run;
    nd_take_run(&em->cells, &em->patterns, run, NULL, s);
    if (s->n == 0) return;
    bool whole = s->n == em->g->columns;
    for (size_t k = 0; k < em->g->components; k++) {
        double log_root;
        const double *inverse = nd_inverse_for(em->g, k, s, &log_root);
        if (whole)
            s->top[k] = nd_term_at_mean(em->g, k, s->n, log_root, em->penalty[k]);
        else
            nd_run_terms(em->g, em->kernels, k, run->count, inverse, log_root, penalty_of(em, s->list, s->n, inverse),
                         s);
    }
    if (whole) nd_whole_run_terms(em->g, em->kernels, run->count, s);
    nd_run_totals(em->g, run->count, s);
    for (size_t r = 0; r < run->count; r++) part->objective += s->total[r];
    for (size_t k = 0; k < em->g->components; k++) add_run_of(em, k, run->count, scratch, part);
}

static void add_part(void *argument, size_t task, unsigned worker)
{
    const struct gaussian_em *em = argument;
    struct em_part *part = &em->part[task];
    size_t components = em->g->components, columns = em->g->columns, whole = nd_gaussian_stride(columns);
    memset(part->weight, 0, components * sizeof *part->weight);
    memset(part->sum, 0, components * columns * sizeof *part->sum);
    memset(part->moment, 0, components * whole * whole * sizeof *part->moment);
    part->objective = 0;
    size_t first = task * em->patterns.runs / em->parts, end = (task + 1) * em->patterns.runs / em->parts;
    for (size_t i = first; i < end; i++) add_run(em, &em->patterns.run[i], &em->scratch[worker], part);
}

/* ---- the components ---------------------------------------------------------------------------------------------- */

/* The sums of all parts, into the first. */
static void join_parts(const struct gaussian_em *em, size_t k)
{
    size_t columns = em->g->columns, whole = nd_gaussian_stride(columns), square = whole * whole;
    struct em_part *sum = &em->part[0];
    for (size_t p = 1; p < em->parts; p++) {
        const struct em_part *part = &em->part[ND_FAULT(FAULT_EM_PART_TWICE) ? 1 : p];
        sum->weight[k] += part->weight[k];
        for (size_t i = 0; i < columns; i++) sum->sum[k * columns + i] += part->sum[k * columns + i];
        for (size_t i = 0; i < square; i++) sum->moment[k * square + i] += part->moment[k * square + i];
    }
}

void nd_gaussian_em_settle(struct gaussian_em *em, size_t k, bool begins, unsigned worker)
{
    struct em_scratch *s = &em->scratch[worker];
    double *const work[] = {s->run.factor, s->run.inverse, s->along, s->slope};
    if (em->g->factors) nd_fit_analyser(em->g, k, em->floor, begins, work);
    nd_gaussian_settle(em->g, k, s->run.factor);
}

static void move_component(void *argument, size_t k, unsigned worker)
{
    struct gaussian_em *em = argument;
    struct gaussians *g = em->g;
    size_t columns = g->columns, whole = nd_gaussian_stride(columns);
    join_parts(em, k);
    double weight = em->part[0].weight[k], *mean = g->mean + k * columns;
    double *covariance = g->covariance + k * columns * columns, *shift = em->part[0].sum + k * columns;
    const double *moment = em->part[0].moment + k * whole * whole;
    if (!(weight > least_weight)) return;
    double own = weight / (weight + em->prior);
    for (size_t i = 0; i < columns; i++) shift[i] /= weight;
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j <= i; j++)
            covariance[i * columns + j] = covariance[j * columns + i] =
                own * (moment[i * whole + j] / weight - shift[i] * shift[j]) + (1 - own) * em->whole[i * columns + j];
    for (size_t i = 0; i < columns; i++) mean[i] += shift[i];
    nd_gaussian_em_settle(em, k, false, worker);
}

double nd_gaussian_em_round(struct gaussian_em *em)
{
    struct gaussians *g = em->g;
    double objective = 0, total = 0;
    nd_parallel_for(em->pool, g->components, find_penalty, em);
    nd_parallel_for(em->pool, em->parts, add_part, em);
    for (size_t p = 0; p < em->parts; p++) objective += em->part[p].objective;
    for (size_t k = 0; k < g->components; k++) objective += em->prior_log[k];
    nd_parallel_for(em->pool, g->components, move_component, em);
    for (size_t k = 0; k < g->components; k++) total += fmax(em->part[0].weight[k], least_weight);
    for (size_t k = 0; k < g->components; k++)
        g->log_weight[k] = log(fmax(em->part[0].weight[k], least_weight) / total);
    return objective;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static size_t parts_for(const struct gaussian_em *em)
{
    size_t whole = nd_gaussian_stride(em->g->columns);
    size_t count = PARTS_BYTES / (em->g->components * whole * whole * sizeof(double));
    count = count < PARTS_LEAST ? PARTS_LEAST : count > PARTS_MOST ? PARTS_MOST : count;
    return count < em->patterns.runs || em->patterns.runs == 0 ? count : em->patterns.runs;
}

static bool open_scratch(struct arena *arena, const struct gaussians *g, struct em_scratch *s)
{
    size_t columns = g->columns, whole = nd_gaussian_stride(columns);
    s->weight = nd_arena_alloc(arena, ND_RUN_ROWS, sizeof(double));
    s->sum = nd_arena_alloc(arena, columns, sizeof(double));
    s->moment = nd_arena_alloc(arena, whole, whole * sizeof(double));
    s->along = nd_arena_alloc(arena, columns, columns * sizeof(double));
    s->slope = nd_arena_alloc(arena, columns, columns * sizeof(double));
    s->v = nd_arena_alloc(arena, columns, columns * sizeof(double));
    return nd_gaussian_scratch(arena, g, &s->run) && s->weight && s->sum && s->moment && s->along && s->slope && s->v;
}

static bool open_parts(struct arena *arena, struct gaussian_em *em)
{
    size_t components = em->g->components, columns = em->g->columns, whole = nd_gaussian_stride(columns);
    em->parts = parts_for(em);
    em->part = nd_arena_alloc(arena, em->parts, sizeof *em->part);
    for (size_t p = 0; em->part && p < em->parts; p++) {
        struct em_part *part = &em->part[p];
        part->weight = nd_arena_alloc(arena, components, sizeof(double));
        part->sum = nd_arena_alloc(arena, components, columns * sizeof(double));
        part->moment = nd_arena_alloc(arena, components, whole * whole * sizeof(double));
        if (!part->weight || !part->sum || !part->moment) return false;
    }
    return em->part;
}

bool nd_gaussian_em_open(struct arena *arena, struct pool *pool, const struct encoded_rows *cells, const double *floor,
                         struct gaussians *g, struct gaussian_em *em)
{
    *em = (struct gaussian_em){nd_gaussian_kernels(), &arena->allocator, pool, g, floor, *cells, .parts = 0};
    unsigned threads = nd_pool_threads(pool);
    em->scratch = nd_arena_alloc(arena, threads, sizeof *em->scratch);
    em->penalty = nd_arena_alloc(arena, g->components, sizeof *em->penalty);
    em->prior_log = nd_arena_alloc(arena, g->components, sizeof *em->prior_log);
    em->whole = nd_arena_alloc(arena, g->columns, g->columns * sizeof *em->whole);
    bool good = nd_find_patterns(arena, cells, NULL, NULL, &em->patterns) && em->scratch && em->penalty &&
                em->prior_log && em->whole && open_parts(arena, em);
    if (good) nd_gaussian_find_whole(em);
    for (unsigned t = 0; good && t < threads; t++) good = open_scratch(arena, g, &em->scratch[t]);
    return good;
}
