#include "train/em.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascending.h"
#include "base/context.h"
#include "base/fault.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/mixture.h"

enum { EM_BLOCK = 1024, TASK_ROWS = 64 };

/* Behind the atoms of a real column. */
enum { WEIGHT, SUM, SQUARES, MOMENTS };

/* ---- the different cells ----------------------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The cells of a column that are there, each once, in ascending order. */
static size_t list_cells(const struct encoded_rows *cells, size_t c, float *values)
{
    size_t count = 0, kept = 0;
    for (size_t row = 0; row < cells->rows; row++) {
        float x = nd_cell(cells, row, c);
        if (!isnan(x)) values[count++] = x;
    }
    qsort(values, count, sizeof *values, compare_floats);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || values[i] != values[kept - 1]) values[kept++] = values[i];
    return kept;
}

/* Columns that are neither real nor of labels: counts, dates. */
static bool list_others(struct arena *arena, const struct encoded_rows *cells, size_t c, struct em_cells *column)
{
    float *values = nd_arena_alloc(arena, cells->rows, sizeof *values);
    uint32_t *code = nd_arena_alloc(arena, cells->rows, sizeof *code);
    if (!values || !code) return false;
    column->count = list_cells(cells, c, values);
    for (size_t row = 0; row < cells->rows; row++) {
        float x = nd_cell(cells, row, c);
        if (!isnan(x)) code[row] = (uint32_t)nd_first_float_from(values, column->count, (double)x);
    }
    column->value = values;
    column->code = code;
    return true;
}

static bool list_labels(struct arena *arena, size_t count, struct em_cells *column)
{
    float *values = nd_arena_alloc(arena, count, sizeof *values);
    for (size_t v = 0; values && v < count; v++) values[v] = (float)v;
    column->value = values;
    column->count = count;
    return values != NULL;
}

static size_t sums_of(const struct plan_column *one, const struct em_cells *column)
{
    return column->value ? column->count : one->atoms + MOMENTS;
}

/* Adds a cell of some weight to a column's sums, which are `stride` apart. */
static void add_cell(const struct plan_column *one, const struct em_cells *column, size_t row, float x,
                     const double *weight, size_t count, double *sum)
{
    size_t place = column->code ? column->code[row] : column->value ? (size_t)x : nd_find_atom(one, (double)x);
    double *at = sum + place * count, z = (double)x;
    for (size_t k = 0; k < count; k++) at[k] += weight[k]; /* of a real cell that is no atom WEIGHT is there */
    if (column->value || place < one->atoms) return;
    for (size_t k = 0; k < count; k++) {
        at[SUM * count + k] += weight[k] * z;
        at[SQUARES * count + k] += weight[k] * z * z;
    }
}

/* A column as it is in all rows. */
static bool find_whole(struct arena *arena, const struct plan_column *one, const struct encoded_rows *cells, size_t c,
                       struct em_cells *column)
{
    size_t sums = sums_of(one, column), present = 0;
    double *whole = nd_arena_alloc(arena, sums, sizeof *whole);
    const double weight = 1;
    for (size_t row = 0; whole && row < cells->rows; row++) {
        float x = nd_cell(cells, row, c);
        if (isnan(x)) continue;
        add_cell(one, column, row, x, &weight, 1, whole);
        present++;
    }
    for (size_t i = 0; whole && present && i < sums; i++) whole[i] /= (double)present;
    column->whole = whole;
    return whole != NULL;
}

nade_status nd_em_list(nade_context *context, struct arena *arena, const struct plan *plan,
                       const struct encoded_rows *cells, struct em_rows *rows)
{
    *rows = (struct em_rows){cells, nd_arena_alloc(arena, plan->columns, sizeof *rows->column)};
    bool good = rows->column != NULL;
    for (size_t c = 0; c < plan->columns && good; c++) {
        const struct plan_column *one = &plan->one[c];
        struct em_cells *column = &rows->column[c];
        if (one->values)
            good = list_labels(arena, one->values, column);
        else if (one->head->type != NADE_REAL)
            good = list_others(arena, cells, c, column);
        good = good && find_whole(arena, one, cells, c, column);
    }
    return good ? NADE_OK : nd_no_memory(context, "the rows");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static double *take(struct em *em, size_t rows, size_t columns)
{
    size_t count;
    return nd_multiply(rows, columns, &count) ? nd_arena_alloc(&em->arena, count, sizeof(double)) : NULL;
}

static bool take_sums(struct em *em, const struct plan *plan)
{
    bool good = true;
    for (size_t c = 0; c < plan->columns && good; c++) {
        const struct em_cells *column = &em->rows->column[c];
        size_t sums = sums_of(&plan->one[c], column);
        em->sum[c] = take(em, sums, plan->components);
        good =
            em->sum[c] && (!column->code || nd_product_list(&em->arena, &em->mixture, c, column->value, column->count));
        if (sums > em->most) em->most = sums;
    }
    return good;
}

nade_status nd_em_open(nade_context *context, const struct plan *plan, const struct em_rows *rows, struct pool *pool,
                       double prior, struct em *em)
{
    *em = (struct em){.rows = rows, .pool = pool, .arena = {context->allocator, NULL}, .prior = prior};
    bool good = nd_product_prepare(&em->arena, plan, &em->mixture);
    em->share = take(em, EM_BLOCK, plan->components);
    em->row_log = take(em, EM_BLOCK, 1);
    em->weight = take(em, 1, plan->components);
    em->terms = take(em, nd_pool_threads(pool), plan->components);
    em->sum = nd_arena_alloc(&em->arena, plan->columns, sizeof *em->sum);
    good = good && em->share && em->row_log && em->weight && em->terms && em->sum && take_sums(em, plan);
    if (good) em->scratch = take(em, nd_pool_threads(pool), em->most);
    return good && em->scratch ? NADE_OK : nd_no_memory(context, "the mixture");
}

void nd_em_close(struct em *em)
{
    nd_arena_free(&em->arena);
}

/* ---- expectation ------------------------------------------------------------------------------------------------- */

/* Turns terms into shares; their log sum. */
static double share_out(double *terms, size_t count)
{
    double most = terms[0], sum = 0;
    for (size_t k = 1; k < count; k++) most = fmax(most, terms[k]);
    for (size_t k = 0; k < count; k++) sum += terms[k] = exp(terms[k] - most);
    for (size_t k = 0; k < count; k++) terms[k] /= sum;
    return most + log(sum);
}

static void share_rows(void *argument, size_t task, unsigned worker)
{
    struct em *em = argument;
    const struct product_mixture *m = &em->mixture;
    const struct encoded_rows *cells = em->rows->cells;
    size_t first = task * TASK_ROWS;
    (void)worker;
    for (size_t i = first; i < first + TASK_ROWS && i < em->block; i++) {
        size_t row = em->first_row + i * em->step;
        double *terms = em->share + i * m->components;
        memcpy(terms, m->log_weight, m->components * sizeof *terms);
        for (size_t c = 0; c < cells->columns; c++) {
            float x = nd_cell(cells, row, c);
            const uint32_t *code = em->rows->column[c].code;
            if (isnan(x)) continue;
            if (code)
                nd_product_add_listed(m, c, code[row], terms);
            else
                nd_product_add(m, c, x, terms);
        }
        em->row_log[i] = share_out(terms, m->components);
    }
}

/* Columns, and behind them the weights. */
static void sum_shares(void *argument, size_t c, unsigned worker)
{
    struct em *em = argument;
    const struct encoded_rows *cells = em->rows->cells;
    size_t count = em->mixture.components;
    (void)worker;
    for (size_t i = 0; i < em->block; i++) {
        size_t row = em->first_row + i * em->step;
        const double *share = em->share + i * count;
        float x = c < cells->columns ? nd_cell(cells, row, c) : 0;
        if (c == cells->columns)
            for (size_t k = 0; k < count; k++) em->weight[k] += share[k];
        else if (!isnan(x))
            add_cell(&em->mixture.plan->one[c], &em->rows->column[c], row, x, share, count, em->sum[c]);
    }
}

static void clear_sums(struct em *em)
{
    const struct plan *plan = em->mixture.plan;
    for (size_t c = 0; c < plan->columns; c++)
        memset(em->sum[c], 0, sums_of(&plan->one[c], &em->rows->column[c]) * plan->components * sizeof(double));
    memset(em->weight, 0, plan->components * sizeof *em->weight);
}

/* ---- maximisation ------------------------------------------------------------------------------------------------ */

static void fit_column(void *argument, size_t c, unsigned worker)
{
    struct em *em = argument;
    const struct product_mixture *m = &em->mixture;
    const struct plan_column *one = &m->plan->one[c];
    const struct em_cells *column = &em->rows->column[c];
    size_t sums = sums_of(one, column);
    double *weights = em->scratch + worker * em->most, *moments = weights + one->atoms;
    for (size_t k = 0; k < m->components; k++) {
        double *outputs = nd_product_outputs(m, k, c);
        for (size_t i = 0; i < sums; i++) weights[i] = em->sum[c][i * m->components + k] + em->prior * column->whole[i];
        if (column->value)
            one->head->fit_weighted(one, column->value, weights, column->count, outputs);
        else
            nd_fit_one_gaussian(one, weights, moments[WEIGHT], moments[SUM], moments[SQUARES], outputs);
    }
}

static void maximise(struct em *em)
{
    struct product_mixture *m = &em->mixture;
    double least = 1e-12;
    nd_parallel_for(em->pool, m->plan->columns, fit_column, em);
    for (size_t k = 0; k < m->components && !ND_FAULT(FAULT_EM_WEIGHTS); k++)
        m->log_weight[k] = log(fmax(em->weight[k] + em->prior, least));
    nd_product_refresh(m, em->pool);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* E log p_k(x) of the whole column under component k. */
static double whole_log(const struct em *em, size_t c, size_t k)
{
    const struct product_mixture *m = &em->mixture;
    const struct product_column *own = &m->column[c];
    const struct em_cells *column = &em->rows->column[c];
    const struct plan_column *one = &m->plan->one[c];
    double sum = 0;
    for (size_t i = 0; i < column->count; i++) sum += column->whole[i] * own->table[i * m->components + k];
    if (column->value) return sum;
    const double *moments = column->whole + one->atoms;
    double mean = own->mean[k], around = moments[SQUARES] - 2 * mean * moments[SUM] + mean * mean * moments[WEIGHT];
    for (size_t a = 0; a < one->atoms; a++) sum += column->whole[a] * own->atom[a * m->components + k];
    return sum + moments[WEIGHT] * own->height[k] - 0.5 * around * own->inverse[k] * own->inverse[k];
}

static double penalty(const struct em *em)
{
    double sum = 0;
    for (size_t k = 0; k < em->mixture.components && em->prior > 0; k++) {
        sum += em->mixture.log_weight[k];
        for (size_t c = 0; c < em->mixture.plan->columns && !ND_FAULT(FAULT_EM_PENALTY); c++)
            sum += whole_log(em, c, k);
    }
    return em->prior * sum;
}

double nd_em_step(struct em *em, size_t step, double *log_density)
{
    size_t all = em->rows->cells->rows, rows = (all + step - 1) / step;
    double sum = 0, before = penalty(em);
    clear_sums(em);
    em->step = step;
    for (size_t first = 0; first < rows; first += EM_BLOCK) {
        em->first_row = first * step;
        em->block = rows - first < EM_BLOCK ? rows - first : EM_BLOCK;
        nd_parallel_for(em->pool, (em->block + TASK_ROWS - 1) / TASK_ROWS, share_rows, em);
        nd_parallel_for(em->pool, em->rows->cells->columns + 1, sum_shares, em);
        for (size_t i = 0; i < em->block; i++) sum += em->row_log[i];
    }
    maximise(em);
    *log_density = sum / (double)rows;
    return (sum + before) / (double)rows;
}

/* ---- other rows -------------------------------------------------------------------------------------------------- */

struct score_job {
    struct em *em;
    const struct encoded_rows *cells;
    size_t first, count;
};

static void score_rows(void *argument, size_t task, unsigned worker)
{
    const struct score_job *job = argument;
    const struct product_mixture *m = &job->em->mixture;
    double *terms = job->em->terms + worker * m->components;
    size_t first = task * TASK_ROWS;
    for (size_t i = first; i < first + TASK_ROWS && i < job->count; i++) {
        memcpy(terms, m->log_weight, m->components * sizeof *terms);
        for (size_t c = 0; c < job->cells->columns; c++) {
            float x = nd_cell(job->cells, job->first + i, c);
            if (!isnan(x)) nd_product_add(m, c, x, terms);
        }
        job->em->row_log[i] = nd_log_sum(terms, m->components);
    }
}

double nd_em_score(struct em *em, const struct encoded_rows *cells)
{
    double sum = 0;
    for (size_t first = 0; first < cells->rows; first += EM_BLOCK) {
        size_t count = cells->rows - first < EM_BLOCK ? cells->rows - first : EM_BLOCK;
        struct score_job job = {em, cells, first, count};
        nd_parallel_for(em->pool, (count + TASK_ROWS - 1) / TASK_ROWS, score_rows, &job);
        for (size_t i = 0; i < count; i++) sum += em->row_log[i];
    }
    return sum / (double)cells->rows;
}

/* ---- the beginning ----------------------------------------------------------------------------------------------- */

/* Each component is shown one row, drawn for it, and all columns as they are in all rows, for as much. */
void nd_em_start(struct em *em, uint32_t seed, uint64_t start)
{
    const struct encoded_rows *cells = em->rows->cells;
    const struct plan *plan = em->mixture.plan;
    double prior = em->prior;
    clear_sums(em);
    memset(em->mixture.outputs, 0, plan->components * plan->outputs * sizeof *em->mixture.outputs);
    memset(em->share, 0, plan->components * sizeof *em->share);
    for (size_t k = 0; k < plan->components; k++) {
        uint32_t word = nd_random_word(seed, PURPOSE_MIXTURE_START, start, (uint32_t)k, 0);
        size_t row = nd_random_below(word, (uint32_t)cells->rows);
        em->share[k] = 1;
        for (size_t c = 0; c < plan->columns; c++) {
            float x = nd_cell(cells, row, c);
            if (!isnan(x))
                add_cell(&plan->one[c], &em->rows->column[c], row, x, em->share, plan->components, em->sum[c]);
        }
        em->share[k] = 0;
    }
    em->prior = 1;
    maximise(em);
    em->prior = prior;
}
