/* Draws on a CUDA device: rows walk their orders in step, each with its own running sum.  At a step the device computes
 * the outputs of every row's next missing column; the host draws from them with the heads' own functions, so that a
 * draw is the same function of outputs and random words in every backend. */
#include <math.h>
#include <string.h>

#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/score/cuda_layers.h"
#include "backend/cuda/score/cuda_score.h"
#include "base/philox.h"

/* The rows of one chunk on their way. */
struct walk {
    struct cuda_backend *backend;
    const struct sample_query *query;
    float *cells; /* (rows, columns): the chunk's */
    size_t first, rows;
    size_t
        next[ND_WALKERS_MOST]; /* place in each row's order: what lies before it is observed, or the row is given up */
};

static const size_t *order_of(const struct walk *walk, size_t i)
{
    return walk->query->order + (walk->first + i) * walk->backend->plan->columns;
}

static float *cells_of(const struct walk *walk, size_t i)
{
    return walk->cells + i * walk->backend->plan->columns;
}

/* Moves on to the row's next missing cell; -1 when there is none. */
static int32_t find_missing(struct walk *walk, size_t i)
{
    const size_t *order = order_of(walk, i);
    const float *cells = cells_of(walk, i);
    size_t columns = walk->backend->plan->columns;
    while (walk->next[i] < columns && !isnan(cells[order[walk->next[i]]])) walk->next[i]++;
    return walk->next[i] < columns ? (int32_t)order[walk->next[i]] : -1;
}

/* Sets every row's target; false when none has anything left to draw. */
static bool choose_targets(struct walk *walk)
{
    bool any = false;
    for (size_t i = 0; i < walk->rows; i++) {
        struct walk_step *step = &walk->backend->scoring->walk.steps[i];
        step->target = find_missing(walk, i);
        any = any || step->target >= 0;
    }
    return any;
}

/* Draws the row's target, which the next step observes. */
static void draw_cell(struct walk *walk, size_t i)
{
    struct cuda_scoring *scoring = walk->backend->scoring;
    struct walk_step *step = &scoring->walk.steps[i];
    const struct sample_query *query = walk->query;
    if (step->target < 0) {
        step->observed = -1;
        return;
    }
    size_t c = (size_t)step->target, row = walk->first + i;
    const struct plan_column *column = &walk->backend->plan->column[c];
    struct philox_block words = nd_philox(query->seed, PURPOSE_SAMPLE, query->draw[row], query->row[row], (uint32_t)c);
    for (size_t o = 0; o < column->output_width; o++)
        scoring->walk.block[o] = (double)scoring->walk.outputs[i * scoring->widest + o];
    float x = nd_draw_cell(query, column, c, scoring->walk.block, words.word);
    bool drawn = !isnan(x);
    if (!drawn) walk->next[i] = walk->backend->plan->columns;
    cells_of(walk, i)[c] = x;
    *step = (struct walk_step){.observed = drawn && !ND_CUDA_FAULT(FAULT_CUDA_DRAW_UNSEEN) ? (int32_t)c : -1,
                               .x = drawn ? x : 0,
                               .target = -1};
}

static nade_status sample_chunk(nade_context *context, struct walk *walk)
{
    struct scoring_walk *staged = &walk->backend->scoring->walk;
    size_t row_bytes = walk->backend->plan->columns * sizeof(float);
    memcpy(staged->cells, walk->cells, walk->rows * row_bytes);
    for (size_t i = 0; i < walk->rows; i++) {
        walk->next[i] = 0;
        staged->steps[i] = (struct walk_step){.observed = -1, .x = 0, .target = -1};
    }
    if (!choose_targets(walk)) return NADE_OK;
    nade_status status = nd_cuda_walk_observe(context, walk->backend, walk->rows);
    do {
        if (status == NADE_OK) status = nd_cuda_walk_outputs(context, walk->backend, walk->rows);
        for (size_t i = 0; i < walk->rows && status == NADE_OK; i++) draw_cell(walk, i);
    } while (status == NADE_OK && choose_targets(walk));
    return status;
}

nade_status nd_score_samples(nade_context *context, struct cuda_backend *backend, const struct sample_query *query,
                             size_t rows, float *cells)
{
    nade_status status = nd_cuda_begin_walk(context, backend);
    if (status != NADE_OK) return status;
    size_t walkers = backend->scoring->walkers;
    for (size_t first = 0; first < rows && status == NADE_OK; first += walkers) {
        struct walk walk = {.backend = backend, .query = query, .first = first};
        walk.rows = rows - first < walkers ? rows - first : walkers;
        walk.cells = cells + first * backend->plan->columns;
        status = sample_chunk(context, &walk);
    }
    return status;
}
