#include "train/component_search.h"

#include <math.h>
#include <string.h>

#include "base/fault.h"

/* How hard a run tries, by its effort. */
static const struct {
    size_t starts, components_most;
} efforts[] = {[NADE_EFFORT_QUICK] = {1, 32}, [NADE_EFFORT_NORMAL] = {4, 256}, [NADE_EFFORT_BEST] = {8, 1000}};

size_t nd_search_starts(const struct run *run)
{
    return efforts[run->options.effort].starts;
}

nade_status nd_search_found(struct component_search *s, double train, double valid, float *parameters)
{
    struct run *run = s->run;
    const nade_allocator *allocator = &run->context->allocator;
    double train_loss = run->train_scale - train, valid_loss = run->valid_scale - valid;
    bool better = s->best_components == 0 || valid_loss < run->best_loss || ND_FAULT(FAULT_LAST_COMPONENTS);
    s->loss = valid_loss;
    nd_free(allocator, better ? s->best : parameters);
    if (better) {
        s->best = parameters;
        s->best_components = run->plan.components;
        s->best_factors = run->architecture.factors;
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

static nade_status fit(struct component_search *s, size_t components)
{
    s->tried[s->count++] = components;
    s->run->progress.components = s->run->architecture.components = components;
    return s->fit(s);
}

static bool is_new(const struct component_search *s, size_t components)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->tried[i] == components) return false;
    return components > 0;
}

/* More and more until twice as many are no better two times, then what lies between the best and its neighbours.  What
 * other numbers of factors came to makes no difference: with more factors few components are worse than many had been
 * with fewer. */
static nade_status choose_components(struct component_search *s)
{
    struct run *run = s->run;
    size_t most = efforts[run->options.effort].components_most, misses = 0, best = 0;
    double least = HUGE_VAL;
    nade_status status = NADE_OK;
    s->count = 0;
    if (most > run->train.rows) most = run->train.rows;
    for (size_t k = 1; k <= most && misses < 2 && !run->stop && status == NADE_OK; k *= 2) {
        status = fit(s, k);
        bool better = s->loss < least;
        misses = better ? 0 : misses + 1;
        if (better) least = s->loss;
        if (better || k == 1) best = k;
    }
    const size_t around[] = {best * 3 / 4, best * 3 / 2};
    for (size_t i = 0; i < 2 && !run->stop && status == NADE_OK; i++)
        if (is_new(s, around[i]) && around[i] <= most) status = fit(s, around[i]);
    return status;
}

static nade_status search_with_factors(struct component_search *s, size_t factors)
{
    const nade_train_options *o = &s->run->options;
    s->run->architecture.factors = factors;
    if (nd_closed_is_open(o) && o->kind != NADE_KIND_GAUSSIAN) return choose_components(s);
    s->count = 0;
    return fit(s, o->kind == NADE_KIND_GAUSSIAN ? 1 : o->components);
}

/* 1, 2, 4, … factors until twice as many are no better. */
static nade_status choose_factors(struct component_search *s)
{
    struct run *run = s->run;
    nade_status status = NADE_OK;
    size_t best = 0;
    for (size_t f = 1; f < run->model->plan.columns && best == s->best_factors && !run->stop && status == NADE_OK;
         f *= 2) {
        status = search_with_factors(s, f);
        best = f;
    }
    return status;
}

nade_status nd_search_components(struct component_search *s)
{
    struct run *run = s->run;
    nade_status status =
        nd_closed_factors_are_open(&run->options) ? choose_factors(s) : search_with_factors(s, run->options.factors);
    run->architecture.factors = s->best_factors;
    if (status == NADE_OK) status = nd_closed_end(run, s->best_components);
    if (status == NADE_OK) memcpy(run->best, s->best, run->plan.parameters * sizeof *run->best);
    nd_free(&run->context->allocator, s->best);
    return status;
}
