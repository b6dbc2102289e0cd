/* Mixtures of products over the columns: starts, and how many components.
 *
 * An iteration of such a run is a fit with one number of components.  Where that is open, 1, 2, 4, … are tried until
 * the validation rows want no more, then what lies around the best; the best is the model. */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "train/closed.h"
#include "train/em.h"

/* How hard a run tries, by its effort. */
static const struct {
    size_t starts, components_most;
} efforts[] = {[NADE_EFFORT_QUICK] = {1, 32}, [NADE_EFFORT_NORMAL] = {4, 256}, [NADE_EFFORT_BEST] = {8, 1000}};

enum { START_STEPS = 10, START_ROWS = 4000, WAIT_STEPS = 10, TRIED_MOST = 32 };

/* Rows' worth of each whole column that a component is shown (em.h).  Less was worse on the validation rows of default,
 * magic, shoppers, dna and the red wines; 4 was better on some and worse on magic. */
#define PRIOR 1.0

/* A fit has come to its end when a step gains less than this, in nats a row. */
#define GAIN_LEAST 1e-4

struct search {
    struct run *run;
    struct pool *pool;
    struct em_rows rows;
    uint64_t steps_most;
    size_t tried[TRIED_MOST], count;
    size_t best_components;
    float *best; /* (best_plan's parameters) in the allocator's own memory */
};

/* A fit on its way. */
struct fit {
    struct em em;
    double train, valid; /* mean log p; valid NaN without such rows */
    double best_valid;
    size_t step, best_step;
};

/* ---- one fit ----------------------------------------------------------------------------------------------------- */

static double *copy_of(struct em *em)
{
    const struct plan *plan = em->mixture.plan;
    return nd_arena_alloc(&em->arena, plan->components, (1 + plan->outputs) * sizeof(double));
}

static void keep(const struct em *em, double *copy)
{
    const struct plan *plan = em->mixture.plan;
    memcpy(copy, em->mixture.log_weight, plan->components * sizeof *copy);
    memcpy(copy + plan->components, em->mixture.outputs, plan->components * plan->outputs * sizeof *copy);
}

static void go_back(struct em *em, struct pool *pool, const double *copy)
{
    const struct plan *plan = em->mixture.plan;
    memcpy(em->mixture.log_weight, copy, plan->components * sizeof *copy);
    memcpy(em->mixture.outputs, copy + plan->components, plan->components * plan->outputs * sizeof *copy);
    nd_product_refresh(&em->mixture, pool);
}

/* The best of several short starts, on some of the rows. */
static nade_status choose_start(struct search *s, struct em *em)
{
    size_t starts = em->mixture.components > 1 ? efforts[s->run->options.effort].starts : 1;
    size_t apart = (s->rows.cells->rows + START_ROWS - 1) / START_ROWS;
    double *copy = copy_of(em), best = -HUGE_VAL, log_density;
    if (!copy) return nd_no_memory(s->run->context, "the mixture");
    for (size_t i = 0; i < starts && !(s->run->stop && i > 0); i++) {
        double found = -HUGE_VAL;
        nd_em_start(em, s->run->options.seed, i);
        for (size_t step = 0; step < START_STEPS && starts > 1 && !s->run->stop; step++)
            found = nd_em_step(em, apart, &log_density);
        nd_tell(s->run, false);
        if (i > 0 && !(found > best)) continue;
        best = found;
        keep(em, copy);
    }
    go_back(em, s->pool, copy);
    return NADE_OK;
}

/* Whether the parameters that a step began with are the best so far; without validation rows the latest are. */
static bool is_better(const struct search *s, struct fit *f)
{
    if (s->run->valid.rows == 0) return true;
    f->valid = nd_em_score(&f->em, &s->run->valid);
    return f->valid > f->best_valid;
}

static bool is_over(const struct search *s, const struct fit *f, double gain)
{
    bool waited = s->run->valid.rows > 0 && f->step >= f->best_step + WAIT_STEPS;
    return f->step >= s->steps_most || gain < GAIN_LEAST || waited || s->run->stop;
}

/* Steps until they gain nothing, or the validation rows are worse for some: what was best for these is kept. */
static nade_status run_steps(struct search *s, struct fit *f)
{
    double *copy = copy_of(&f->em), before = -HUGE_VAL, gain = HUGE_VAL;
    if (!copy) return nd_no_memory(s->run->context, "the mixture");
    f->best_valid = -HUGE_VAL;
    for (;;) {
        if (is_better(s, f)) {
            keep(&f->em, copy);
            f->best_valid = s->run->valid.rows > 0 ? f->valid : NAN;
            f->best_step = f->step;
        }
        if (is_over(s, f, gain)) break;
        double found = nd_em_step(&f->em, 1, &f->train);
        gain = found - before;
        before = found;
        s->run->within = ++f->step;
        nd_tell(s->run, false);
    }
    go_back(&f->em, s->pool, copy);
    return NADE_OK;
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

/* What a fit came to: losses in data units; the best is the one to keep. */
static nade_status finish_fit(struct search *s, struct fit *f)
{
    struct run *run = s->run;
    double train = nd_em_score(&f->em, &run->train);
    double train_loss = run->train_scale - train, valid_loss = run->valid_scale - f->best_valid;
    bool better = s->best_components == 0 || valid_loss < run->best_loss || ND_FAULT(FAULT_LAST_COMPONENTS);
    if (better) {
        float *kept = nd_alloc(&run->context->allocator, run->plan.parameters, sizeof *kept);
        if (!kept) return nd_no_memory(run->context, "the parameters");
        nd_free(&run->context->allocator, s->best);
        s->best = kept;
        nd_product_store(&f->em.mixture, kept);
        s->best_components = run->plan.components;
        run->best_loss = valid_loss;
        run->best_iteration = run->iteration + 1;
    }
    run->within = 0;
    run->update = (run->iteration + 1) * run->updates;
    run->progress.components = run->plan.components;
    nade_status status = nd_remember(run, train_loss, valid_loss);
    nd_tell(run, true);
    return status;
}

static nade_status fit_components(struct search *s, size_t components)
{
    struct run *run = s->run;
    struct fit f = {.valid = NAN, .best_valid = NAN};
    struct arena arena = {run->context->allocator, NULL};
    s->tried[s->count++] = components;
    run->progress.components = run->architecture.components = components;
    nade_status status = nd_plan_build(run->context, &arena, &run->model->schema, &run->architecture, &run->plan);
    if (status == NADE_OK) status = nd_em_open(run->context, &run->plan, &s->rows, s->pool, PRIOR, &f.em);
    if (status == NADE_OK) status = choose_start(s, &f.em);
    if (status == NADE_OK) status = run_steps(s, &f);
    if (status == NADE_OK) status = finish_fit(s, &f);
    nd_em_close(&f.em);
    nd_arena_free(&arena);
    return status;
}

static bool is_new(const struct search *s, size_t components)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->tried[i] == components) return false;
    return components > 0;
}

/* More and more until twice as many are no better two times, then what lies between the best and its neighbours. */
static nade_status choose_components(struct search *s)
{
    struct run *run = s->run;
    size_t most = efforts[run->options.effort].components_most, misses = 0;
    nade_status status = NADE_OK;
    if (most > run->train.rows) most = run->train.rows;
    for (size_t k = 1; k <= most && misses < 2 && !run->stop && status == NADE_OK; k *= 2) {
        status = fit_components(s, k);
        misses = s->best_components == k ? 0 : misses + 1;
    }
    const size_t around[] = {s->best_components * 3 / 4, s->best_components * 3 / 2};
    for (size_t i = 0; i < 2 && !run->stop && status == NADE_OK; i++)
        if (is_new(s, around[i]) && around[i] <= most) status = fit_components(s, around[i]);
    return status;
}

static nade_status search(struct search *s)
{
    struct run *run = s->run;
    bool open = nd_closed_is_open(&run->options);
    nade_status status = nd_em_list(run->context, &run->arena, &run->model->plan, &run->train, &s->rows);
    if (status == NADE_OK) status = open ? choose_components(s) : fit_components(s, run->options.components);
    if (status == NADE_OK) status = nd_closed_end(run, s->best_components);
    if (status == NADE_OK) memcpy(run->best, s->best, run->plan.parameters * sizeof *run->best);
    return status;
}

nade_status nd_mixture_train(struct run *run)
{
    struct search s = {.run = run, .steps_most = run->options.iterations};
    s.pool = nd_pool_create(&run->context->allocator, run->context->threads);
    nade_status status = s.pool ? search(&s) : nd_no_memory(run->context, "threads");
    nd_pool_free(s.pool);
    nd_free(&run->context->allocator, s.best);
    return status;
}
