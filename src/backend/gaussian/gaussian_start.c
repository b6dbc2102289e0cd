/* Where expectation-maximisation begins: clusters of some of the rows. */
#include <string.h>

#include "backend/gaussian/gaussian_em.h"
#include "base/fault.h"
#include "base/philox.h"

enum { START_ROWS = 16384, CLUSTER_ROUNDS = 20 };

/* Evenly spaced rows with means, which are 0, in the place of missing cells. */
struct clusters {
    const struct gaussian_em *em;
    size_t rows, columns, count; /* n, D, K */
    double *x;                   /* (groups, D, ND_GROUP_ROWS); rows behind the last are zero */
    double *centre;              /* (K, D) */
    double *nearest;             /* (groups, ND_GROUP_ROWS) squared distance from the nearest centre */
    double *found;               /* likewise, from a row that may become one */
    size_t *of;                  /* (groups, ND_GROUP_ROWS) the nearest centre */
    size_t *size;                /* (K) */
    const double *tried;         /* (D) that row */
    double *factor;              /* (n) what a row was multiplied by */
};

static double *cell_of(const struct clusters *c, size_t row, size_t column)
{
    return c->x + (row / ND_GROUP_ROWS * c->columns + column) * ND_GROUP_ROWS + row % ND_GROUP_ROWS;
}

static size_t groups_of(const struct clusters *c)
{
    return (c->rows + ND_GROUP_ROWS - 1) / ND_GROUP_ROWS;
}

static bool open_clusters(struct arena *arena, const struct gaussian_em *em, struct clusters *c)
{
    size_t rows = em->cells.rows, every = rows / START_ROWS + 1;
    *c = (struct clusters){em, (rows + every - 1) / every, em->g->columns, em->g->components, .x = NULL};
    size_t groups = groups_of(c), whole = groups * ND_GROUP_ROWS;
    c->x = nd_arena_alloc(arena, whole, c->columns * sizeof(double));
    c->centre = nd_arena_alloc(arena, c->count, c->columns * sizeof(double));
    c->nearest = nd_arena_alloc(arena, whole, sizeof(double));
    c->found = nd_arena_alloc(arena, whole > c->columns ? whole : c->columns, sizeof(double));
    c->of = nd_arena_alloc(arena, whole, sizeof(size_t));
    c->size = nd_arena_alloc(arena, c->count, sizeof(size_t));
    c->factor = nd_arena_alloc(arena, c->rows, sizeof(double));
    if (!c->x || !c->centre || !c->nearest || !c->found || !c->of || !c->size || !c->factor) return false;
    for (size_t r = 0; r < c->rows; r++)
        for (size_t i = 0; i < c->columns; i++) {
            double cell = (double)nd_cell(&em->cells, r * every, i);
            *cell_of(c, r, i) = isnan(cell) ? 0 : cell;
        }
    return true;
}

/* Distances of rows as they are belong to the few that lie far out, and most clusters with them. Rows whose lengths are
 * their own's square roots are clustered by their direction as well. */
static void shorten_rows(struct clusters *c)
{
    for (size_t r = 0; r < c->rows; r++) {
        double squares = 0;
        for (size_t i = 0; i < c->columns; i++) squares += *cell_of(c, r, i) * *cell_of(c, r, i);
        c->factor[r] = squares > 0 ? pow(squares / (double)c->columns, -0.25) : 1;
        for (size_t i = 0; i < c->columns; i++) *cell_of(c, r, i) *= c->factor[r];
    }
}

static void restore_rows(struct clusters *c)
{
    for (size_t r = 0; r < c->rows; r++)
        for (size_t i = 0; i < c->columns; i++) *cell_of(c, r, i) /= c->factor[r];
}

static void copy_row(const struct clusters *c, size_t row, double *to)
{
    for (size_t i = 0; i < c->columns; i++) to[i] = *cell_of(c, row, i);
}

/* A row drawn with the probability of its squared distance from the nearest centre so far; any row, where all lie on
 * centres. */
static size_t draw_row(const struct clusters *c, double uniform)
{
    double total = 0;
    for (size_t r = 0; r < c->rows; r++) total += c->nearest[r];
    if (!(total > 0)) return (size_t)(uniform * (double)c->rows);
    double left = uniform * total;
    for (size_t r = 0; r < c->rows; r++) {
        left -= c->nearest[r];
        if (left < 0) return r;
    }
    return c->rows - 1;
}

static void find_distances(void *argument, size_t group, unsigned worker)
{
    const struct clusters *c = argument;
    (void)worker;
    c->em->kernels->distances(c->columns, c->x + group * c->columns * ND_GROUP_ROWS, c->tried,
                              c->found + group * ND_GROUP_ROWS);
}

/* The sum of squared distances from the nearest centre if `tried` became one; found has those from it. */
static double potential_with(struct clusters *c, const double *tried)
{
    double sum = 0;
    c->tried = tried;
    nd_parallel_for(c->em->pool, groups_of(c), find_distances, c);
    for (size_t r = 0; r < c->rows; r++) sum += fmin(c->nearest[r], c->found[r]);
    return sum;
}

/* Of a few rows drawn that which leaves the others nearest: k-means++ (Arthur and Vassilvitskii 2007), greedily. */
static size_t choose_row(struct clusters *c, uint32_t seed, uint32_t start, size_t k)
{
    size_t tries = k > 0 ? 2 + (size_t)log((double)c->count) : 1, best = 0;
    double least = HUGE_VAL, *row_tried = c->centre + k * c->columns;
    for (size_t t = 0; t < tries; t++) {
        struct philox_block block = nd_philox(seed, PURPOSE_CLUSTER_START, start, (uint32_t)k, (uint32_t)t);
        size_t row = draw_row(c, nd_random_fine(block.word[0], block.word[1]));
        copy_row(c, row, row_tried);
        double found = tries > 1 ? potential_with(c, row_tried) : 0;
        if (found >= least) continue;
        least = found;
        best = row;
    }
    return best;
}

static void draw_centres(struct clusters *c, uint32_t seed, uint32_t start)
{
    for (size_t r = 0; r < c->rows; r++) c->nearest[r] = HUGE_VAL;
    for (size_t k = 0; k < c->count; k++) {
        double *centre = c->centre + k * c->columns;
        copy_row(c, choose_row(c, seed, start, k), centre);
        potential_with(c, centre);
        for (size_t r = 0; r < c->rows; r++) {
            if (c->found[r] >= c->nearest[r]) continue;
            c->nearest[r] = c->found[r];
            c->of[r] = k;
        }
    }
}

static void assign_rows(void *argument, size_t group, unsigned worker)
{
    struct clusters *c = argument;
    double *nearest = c->nearest + group * ND_GROUP_ROWS, *found = c->found + group * ND_GROUP_ROWS;
    size_t *of = c->of + group * ND_GROUP_ROWS;
    (void)worker;
    for (size_t r = 0; r < ND_GROUP_ROWS; r++) nearest[r] = HUGE_VAL;
    for (size_t k = 0; k < c->count; k++) {
        c->em->kernels->distances(c->columns, c->x + group * c->columns * ND_GROUP_ROWS, c->centre + k * c->columns,
                                  found);
        for (size_t r = 0; r < ND_GROUP_ROWS; r++) {
            if (found[r] >= nearest[r]) continue;
            nearest[r] = found[r];
            of[r] = k;
        }
    }
}

/* The centres become the means of their rows; those of none stay. */
static void move_centres(struct clusters *c)
{
    memset(c->size, 0, c->count * sizeof *c->size);
    for (size_t r = 0; r < c->rows; r++) c->size[c->of[r]]++;
    for (size_t k = 0; k < c->count; k++)
        if (c->size[k]) memset(c->centre + k * c->columns, 0, c->columns * sizeof *c->centre);
    for (size_t r = 0; r < c->rows; r++)
        for (size_t i = 0; i < c->columns; i++) c->centre[c->of[r] * c->columns + i] += *cell_of(c, r, i);
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; c->size[k] && i < c->columns; i++) c->centre[k * c->columns + i] /= (double)c->size[k];
}

/* Covariances of the clusters, each as if D more of its rows had the columns' variances within all clusters: few rows
 * say little about D² numbers.  within and away (D) are scratch. */
static void begin_at(const struct clusters *c, double *within, double *away, struct gaussian_em *em)
{
    size_t columns = c->columns, square = columns * columns;
    struct gaussians *g = em->g;
    for (size_t i = 0; i < columns; i++) within[i] = em->floor[i] * em->floor[i];
    memset(g->covariance, 0, c->count * square * sizeof *g->covariance);
    memcpy(g->mean, c->centre, c->count * columns * sizeof *g->mean);
    for (size_t r = 0; r < c->rows; r++) {
        double *covariance = g->covariance + c->of[r] * square;
        copy_row(c, r, away);
        for (size_t i = 0; i < columns; i++) away[i] -= c->centre[c->of[r] * columns + i];
        for (size_t i = 0; i < columns; i++) {
            within[i] += away[i] * away[i] / (double)c->rows;
            for (size_t j = 0; j < columns; j++) covariance[i * columns + j] += away[i] * away[j];
        }
    }
    for (size_t k = 0; k < c->count; k++) {
        double *covariance = g->covariance + k * square, rows = (double)(c->size[k] + columns);
        g->log_weight[k] = log(((double)c->size[k] + 1) / (double)(c->rows + c->count));
        for (size_t i = 0; i < columns; i++) covariance[i * columns + i] += (double)columns * within[i];
        for (size_t i = 0; i < square; i++) covariance[i] /= rows;
        nd_gaussian_em_settle(em, k, true, 0);
    }
}

/* One component needs no clusters: the first round, of rows without holes the only one, makes it theirs. */
static void begin_as_one(struct gaussian_em *em)
{
    struct gaussians *g = em->g;
    size_t columns = g->columns;
    g->log_weight[0] = 0;
    memset(g->mean, 0, columns * sizeof *g->mean);
    memset(g->covariance, 0, columns * columns * sizeof *g->covariance);
    for (size_t c = 0; c < columns; c++) g->covariance[c * columns + c] = 1;
    nd_gaussian_em_settle(em, 0, true, 0);
}

bool nd_gaussian_em_start(struct gaussian_em *em, uint32_t seed, uint32_t start)
{
    struct arena arena = {*em->allocator, NULL};
    struct clusters c;
    bool good = em->g->components == 1 || open_clusters(&arena, em, &c);
    if (em->g->components == 1) {
        begin_as_one(em);
    } else if (good) {
        bool shortened = start % 3 == 1;
        if (shortened) shorten_rows(&c);
        draw_centres(&c, seed, start);
        for (int round = 0; round < CLUSTER_ROUNDS; round++) {
            move_centres(&c);
            nd_parallel_for(em->pool, groups_of(&c), assign_rows, &c);
        }
        if (shortened) restore_rows(&c);
        move_centres(&c);
        begin_at(&c, em->scratch[0].sum, c.found, em);
    }
    nd_arena_free(&arena);
    return good;
}
