#include "backend/mixture/mixture_em.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/fault.h"
#include "base/philox.h"
#include "model/head.h"
#include "model/log_sum.h"
#include "model/mixture.h"

/* Rows of a block, and of a task; components of a task that goes through places, and places of one.  What such tasks
 * read again and again fits a core's cache. */
enum { EM_BLOCK = 512, TASK_ROWS = 64, TASK_COMPONENTS = 64, TASK_PLACES = 64 };

/* What a component may be below a row's likeliest, in nats, to have a share: one of less changes no sum. */
static const double share_least = -45;

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
        size_t sums = nd_em_sums(&plan->one[c], column);
        em->sum[c] = nd_em_is_labels(column) ? em->place_sum + column->place * em->stride : take(em, sums, em->stride);
        good =
            em->sum[c] && (!column->code || nd_product_list(&em->arena, &em->mixture, c, column->value, column->count));
        if (sums > em->most) em->most = sums;
    }
    return good;
}

nade_status nd_em_open(nade_context *context, const struct plan *plan, const struct em_rows *rows, struct pool *pool,
                       struct em *em)
{
    *em = (struct em){.kernels = nd_mixture_kernels(),
                      .rows = rows,
                      .pool = pool,
                      .arena = {context->allocator, NULL},
                      .stride = nd_mixture_stride(plan->components)};
    bool good = nd_product_prepare(&em->arena, plan, &em->mixture);
    em->common = take(em, 1, em->stride);
    em->change = take(em, rows->places, em->stride);
    em->share = take(em, EM_BLOCK, em->stride);
    em->row_log = take(em, EM_BLOCK, 1);
    em->place_sum = take(em, rows->places, em->stride);
    em->weight = take(em, 1, plan->components);
    em->sum = nd_arena_alloc(&em->arena, plan->columns, sizeof *em->sum);
    em->from = nd_arena_alloc(&em->arena, rows->places, sizeof *em->from);
    em->end = nd_arena_alloc(&em->arena, rows->places, sizeof *em->end);
    good = good && em->common && em->change && em->share && em->row_log && em->place_sum && em->weight && em->sum &&
           em->from && em->end && take_sums(em, plan);
    if (good) em->scratch = take(em, nd_pool_threads(pool), em->most);
    return good && em->scratch ? NADE_OK : nd_no_memory(context, "the mixture");
}

void nd_em_close(struct em *em)
{
    nd_arena_free(&em->arena);
}

/* ---- what follows from the parameters ---------------------------------------------------------------------------- */

static void find_changes(void *argument, size_t c, unsigned worker)
{
    struct em *em = argument;
    const struct em_cells *column = &em->rows->column[c];
    const double *table = em->mixture.column[c].table;
    size_t components = em->mixture.components;
    (void)worker;
    if (!nd_em_is_labels(column)) return;
    const double *common = table + column->common * components;
    for (size_t v = 0; v <= column->count; v++) {
        double *change = em->change + (column->place + v) * em->stride;
        for (size_t k = 0; k < components; k++)
            change[k] = (v < column->count ? table[v * components + k] : 0) - common[k];
    }
}

static void refresh(struct em *em)
{
    const struct product_mixture *m = &em->mixture;
    nd_product_refresh(&em->mixture, em->pool);
    nd_parallel_for(em->pool, m->plan->columns, find_changes, em);
    memcpy(em->common, m->log_weight, m->components * sizeof *em->common);
    for (size_t c = 0; c < m->plan->columns; c++) {
        const struct em_cells *column = &em->rows->column[c];
        for (size_t k = 0; nd_em_is_labels(column) && k < m->components; k++)
            em->common[k] += m->column[c].table[column->common * m->components + k];
    }
}

void nd_em_load(struct em *em, const float *parameters)
{
    nd_product_load(&em->mixture, parameters);
    refresh(em);
}

/* ---- expectation ------------------------------------------------------------------------------------------------- */

/* Rows at hand. */
struct block {
    struct em *em;
    const struct encoded_rows *cells;
    const struct em_lists *of_row;
    bool listed; /* they are those that the cells of columns without labels were listed of */
    bool shares; /* wanted, beside log p */
    size_t first, count;
};

/* Pieces that a number is cut into. */
static size_t pieces(size_t number, size_t piece)
{
    return (number + piece - 1) / piece;
}

/* Terms of some rows and components, by their places: component by component within rows, so that the changes of a
 * task stay in a core's cache. */
static void begin_terms(void *argument, size_t task, unsigned worker)
{
    const struct block *block = argument;
    const struct em *em = block->em;
    const struct em_lists *lists = block->of_row;
    size_t groups = pieces(block->count, TASK_ROWS), first = task % groups * TASK_ROWS;
    size_t k = task / groups * TASK_COMPONENTS;
    size_t width = em->stride - k < TASK_COMPONENTS ? em->stride - k : TASK_COMPONENTS;
    (void)worker;
    for (size_t i = first; i < first + TASK_ROWS && i < block->count; i++) {
        size_t begin = lists->begin[block->first + i], end = lists->begin[block->first + i + 1];
        double *terms = em->share + i * em->stride + k;
        memcpy(terms, em->common + k, width * sizeof *terms);
        em->kernels->add_rows(end - begin, lists->number + begin, 0, em->change + k, em->stride, width, terms);
    }
}

/* Turns terms into shares; their log sum. */
static double share_out(double *terms, size_t count)
{
    double most = terms[0], sum = 0;
    for (size_t k = 1; k < count; k++) most = fmax(most, terms[k]);
    for (size_t k = 0; k < count; k++) {
        double below = terms[k] - most;
        sum += terms[k] = below < share_least ? 0 : exp(below);
    }
    for (size_t k = 0; k < count; k++) terms[k] /= sum;
    return most + log(sum);
}

/* Adds the columns that have no places, and makes shares. */
static void end_terms(void *argument, size_t task, unsigned worker)
{
    const struct block *block = argument;
    const struct em *em = block->em;
    const struct product_mixture *m = &em->mixture;
    size_t first = task * TASK_ROWS;
    (void)worker;
    for (size_t i = first; i < first + TASK_ROWS && i < block->count; i++) {
        double *terms = em->share + i * em->stride;
        for (size_t c = 0; c < block->cells->columns; c++) {
            const struct em_cells *column = &em->rows->column[c];
            float x = nd_em_is_labels(column) ? NAN : nd_cell(block->cells, block->first + i, c);
            if (isnan(x)) continue;
            if (column->code && block->listed)
                nd_product_add_listed(m, c, column->code[block->first + i], terms);
            else
                nd_product_add(m, c, x, terms);
        }
        em->row_log[i] = block->shares ? share_out(terms, m->components) : nd_log_sum(terms, m->components);
    }
}

static void take_block(struct block *block)
{
    struct em *em = block->em;
    size_t groups = pieces(block->count, TASK_ROWS);
    nd_parallel_for(em->pool, groups * pieces(em->stride, TASK_COMPONENTS), begin_terms, block);
    nd_parallel_for(em->pool, groups, end_terms, block);
}

/* ---- sums of shares ---------------------------------------------------------------------------------------------- */

/* Which rows of each place are in the block; these come in their order. */
static void move_places(struct em *em, size_t end_row)
{
    const struct em_lists *lists = &em->rows->rows_there;
    for (size_t p = 0; p < em->rows->places; p++) {
        em->from[p] = em->end[p];
        while (em->end[p] < lists->begin[p + 1] && lists->number[em->end[p]] < end_row) em->end[p]++;
    }
}

static void sum_places(void *argument, size_t task, unsigned worker)
{
    const struct block *block = argument;
    const struct em *em = block->em;
    size_t groups = pieces(em->rows->places, TASK_PLACES), first = task % groups * TASK_PLACES;
    size_t k = task / groups * TASK_COMPONENTS;
    size_t width = em->stride - k < TASK_COMPONENTS ? em->stride - k : TASK_COMPONENTS;
    (void)worker;
    for (size_t p = first; p < first + TASK_PLACES && p < em->rows->places; p++)
        em->kernels->add_rows(em->end[p] - em->from[p], em->rows->rows_there.number + em->from[p], block->first,
                              em->share + k, em->stride, width, em->place_sum + p * em->stride + k);
}

/* Of columns that have no places, and behind them the weights. */
static void sum_columns(void *argument, size_t c, unsigned worker)
{
    const struct block *block = argument;
    struct em *em = block->em;
    size_t components = em->mixture.components, columns = block->cells->columns;
    (void)worker;
    if (c < columns && nd_em_is_labels(&em->rows->column[c])) return;
    for (size_t i = 0; i < block->count; i++) {
        const double *share = em->share + i * em->stride;
        float x = c < columns ? nd_cell(block->cells, block->first + i, c) : 0;
        if (c == columns)
            for (size_t k = 0; k < components; k++) em->weight[k] += share[k];
        else if (!isnan(x))
            nd_em_add_cell(&em->mixture.plan->one[c], &em->rows->column[c], block->first + i, x, share, components,
                           em->stride, em->sum[c]);
    }
}

/* The commonest label has what the others and missing cells leave. */
static void sum_common(void *argument, size_t c, unsigned worker)
{
    struct em *em = argument;
    const struct em_cells *column = &em->rows->column[c];
    (void)worker;
    if (!nd_em_is_labels(column)) return;
    double *common = em->sum[c] + column->common * em->stride;
    for (size_t k = 0; k < em->mixture.components; k++) {
        double left = em->weight[k];
        for (size_t v = 0; v <= column->count; v++)
            if (v != column->common) left -= em->sum[c][v * em->stride + k];
        common[k] = ND_FAULT(FAULT_EM_COMMON) ? em->weight[k] : fmax(left, 0);
    }
}

static void clear_sums(struct em *em)
{
    const struct plan *plan = em->mixture.plan;
    memset(em->place_sum, 0, em->rows->places * em->stride * sizeof(double));
    for (size_t c = 0; c < plan->columns; c++) {
        const struct em_cells *column = &em->rows->column[c];
        if (!nd_em_is_labels(column))
            memset(em->sum[c], 0, nd_em_sums(&plan->one[c], column) * em->stride * sizeof(double));
    }
    memset(em->weight, 0, plan->components * sizeof *em->weight);
    memcpy(em->end, em->rows->rows_there.begin, em->rows->places * sizeof *em->end);
}

/* ---- maximisation ------------------------------------------------------------------------------------------------ */

static void fit_column(void *argument, size_t c, unsigned worker)
{
    struct em *em = argument;
    const struct product_mixture *m = &em->mixture;
    const struct plan_column *one = &m->plan->one[c];
    const struct em_cells *column = &em->rows->column[c];
    size_t sums = nd_em_sums(one, column);
    double *weights = em->scratch + worker * em->most, *moments = weights + one->atoms;
    for (size_t k = 0; k < m->components; k++) {
        double *outputs = nd_product_outputs(m, k, c);
        for (size_t i = 0; i < sums; i++) weights[i] = em->sum[c][i * em->stride + k] + em->prior * column->whole[i];
        if (column->value)
            one->head->fit_weighted(one, column->value, weights, column->count, outputs);
        else
            nd_fit_one_gaussian(one, weights, moments[EM_WEIGHT], moments[EM_SUM], moments[EM_SQUARES], outputs);
    }
}

static void maximise(struct em *em)
{
    struct product_mixture *m = &em->mixture;
    double least = 1e-12;
    nd_parallel_for(em->pool, m->plan->columns, fit_column, em);
    for (size_t k = 0; k < m->components && !ND_FAULT(FAULT_EM_WEIGHTS); k++)
        m->log_weight[k] = log(fmax(em->weight[k] + em->prior, least));
    refresh(em);
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
    double mean = own->mean[k],
           around = moments[EM_SQUARES] - 2 * mean * moments[EM_SUM] + mean * mean * moments[EM_WEIGHT];
    for (size_t a = 0; a < one->atoms; a++) sum += column->whole[a] * own->atom[a * m->components + k];
    return sum + moments[EM_WEIGHT] * own->height[k] - 0.5 * around * own->inverse[k] * own->inverse[k];
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

double nd_em_step(struct em *em, double *log_density)
{
    const struct em_rows *rows = em->rows;
    struct block block = {em, rows->cells, &rows->of_row, .listed = true, .shares = true};
    size_t all = rows->cells->rows, place_tasks = pieces(rows->places, TASK_PLACES);
    double sum = 0, before = penalty(em);
    clear_sums(em);
    for (; block.first < all; block.first += EM_BLOCK) {
        block.count = all - block.first < EM_BLOCK ? all - block.first : EM_BLOCK;
        take_block(&block);
        move_places(em, block.first + block.count);
        nd_parallel_for(em->pool, place_tasks * pieces(em->stride, TASK_COMPONENTS), sum_places, &block);
        nd_parallel_for(em->pool, rows->cells->columns + 1, sum_columns, &block);
        for (size_t i = 0; i < block.count; i++) sum += em->row_log[i];
    }
    nd_parallel_for(em->pool, rows->cells->columns, sum_common, em);
    maximise(em);
    *log_density = sum / (double)all;
    return (sum + before) / (double)all;
}

double nd_em_score(struct em *em, const struct encoded_rows *cells, const struct em_lists *of_row)
{
    struct block block = {em, cells, of_row, .listed = false, .shares = false};
    double sum = 0;
    for (; block.first < cells->rows; block.first += EM_BLOCK) {
        block.count = cells->rows - block.first < EM_BLOCK ? cells->rows - block.first : EM_BLOCK;
        take_block(&block);
        for (size_t i = 0; i < block.count; i++) sum += em->row_log[i];
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
                nd_em_add_cell(&plan->one[c], &em->rows->column[c], row, x, em->share, plan->components, em->stride,
                               em->sum[c]);
        }
        em->share[k] = 0;
    }
    em->prior = 1;
    maximise(em);
    em->prior = prior;
}
