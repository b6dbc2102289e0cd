#include "train/component_search.h"

#include <math.h>

#include "base/fault.h"

/* How hard a run tries, by its effort. */
static const struct {
    size_t starts, gaussian_starts, components_most;
} efforts[] = {
    [NADE_EFFORT_QUICK] = {1, 1, 32}, [NADE_EFFORT_NORMAL] = {4, 6, 256}, [NADE_EFFORT_BEST] = {8, 12, 1000}};

/* Priors that are tried, the weakest first and with all numbers of components; and the one where nothing can choose. */
enum { PRIORS = 3 };
static const double product_priors[PRIORS] = {0.01, 0.1, 1}, product_prior = 1;
static const double gaussian_priors[PRIORS] = {0, 0.2, 2}, gaussian_prior = 0;

size_t nd_search_starts(const struct run *run)
{
    return nd_is_gaussian(run->options.kind) ? efforts[run->options.effort].gaussian_starts
                                             : efforts[run->options.effort].starts;
}

/* ---- a fit ------------------------------------------------------------------------------------------------------- */

static nade_status tell_fit(struct component_search *s)
{
    struct run *run = s->run;
    run->within = 0;
    run->update = (run->iteration + 1) * run->updates;
    nade_status status = nd_remember(run, s->of_now.train_loss, s->of_now.valid_loss);
    nd_tell(run, true);
    return status;
}

/* The best for one number of factors, or of all fits. */
struct found {
    struct closed_setting setting;
    double loss;
};

static nade_status fit(struct component_search *s, size_t components, struct found *found)
{
    struct run *run = s->run;
    s->tried[s->count++] = s->now.components = components;
    run->progress.components = run->architecture.components = components;
    run->architecture.factors = s->now.factors;
    run->progress.prior = run->options.kind == NADE_KIND_GAUSSIAN ? NAN : s->now.prior;
    s->of_now = (struct closed_outcome){.parameters = NULL};
    nade_status status = s->fit(s);
    if (status != NADE_OK) return status;
    double loss = s->of_now.valid_loss;
    if (found->setting.components == 0 || loss < found->loss) *found = (struct found){s->now, loss};
    bool better = s->best.components == 0 || loss < run->best_loss || ND_FAULT(FAULT_LAST_COMPONENTS);
    nd_free(&run->context->allocator, better ? s->of_best.parameters : s->of_now.parameters);
    if (better) {
        s->best = s->now;
        s->of_best = s->of_now;
        run->best_loss = loss;
        run->best_iteration = run->iteration + 1;
    }
    return tell_fit(s);
}

/* ---- components -------------------------------------------------------------------------------------------------- */

static size_t most_components(const struct run *run)
{
    size_t most = efforts[run->options.effort].components_most;
    return most < run->train.rows ? most : run->train.rows;
}

/* Fits so many unless that has been done or is no number to try. */
static nade_status fit_new(struct component_search *s, size_t components, struct found *found)
{
    if (components == 0 || components > most_components(s->run) || s->run->stop) return NADE_OK;
    for (size_t i = 0; i < s->count; i++)
        if (s->tried[i] == components) return NADE_OK;
    return fit(s, components, found);
}

/* What lies between the best and its neighbours. */
static nade_status look_around(struct component_search *s, struct found *found)
{
    size_t best = found->setting.components;
    nade_status status = fit_new(s, best * 3 / 4, found);
    return status == NADE_OK ? fit_new(s, best * 3 / 2, found) : status;
}

/* More and more until twice as many are no better two times, then what lies between the best and its neighbours.  What
 * other numbers of factors came to makes no difference: with more factors few components are worse than many had been
 * with fewer. */
static nade_status choose_components(struct component_search *s, struct found *found)
{
    struct run *run = s->run;
    size_t most = most_components(run), misses = 0;
    nade_status status = NADE_OK;
    s->count = 0;
    if (ND_FAULT(FAULT_FACTORS_COMPARED) && s->best.components) *found = (struct found){s->best, run->best_loss};
    for (size_t k = 1; k <= most && misses < 2 && !run->stop && status == NADE_OK; k *= 2) {
        double least = found->loss;
        status = fit(s, k, found);
        misses = found->loss < least ? 0 : misses + 1;
    }
    return status == NADE_OK ? look_around(s, found) : status;
}

/* ---- the prior --------------------------------------------------------------------------------------------------- */

/* Each stronger one with as many components as are best so far; since it bears more, with twice as many for as long as
 * that is better; and where it is the best so far, with what lies around.  One Gaussian is the same with any. */
static nade_status choose_prior(struct component_search *s, const double *priors, bool open, struct found *found)
{
    nade_status status = NADE_OK;
    if (ND_FAULT(FAULT_PRIOR_WEAKEST)) return NADE_OK;
    for (size_t i = 1; i < PRIORS && !s->run->stop && status == NADE_OK; i++) {
        size_t components = found->setting.components;
        double least = HUGE_VAL;
        s->now.prior = priors[i];
        s->count = 0;
        if (components > 1 || !nd_is_gaussian(s->run->options.kind)) status = fit(s, components, found);
        for (size_t k = 2 * components; open && found->loss < least && status == NADE_OK; k *= 2) {
            least = found->loss;
            status = fit_new(s, k, found);
        }
        if (open && found->setting.prior == priors[i] && status == NADE_OK) status = look_around(s, found);
    }
    return status;
}

/* ---- the search -------------------------------------------------------------------------------------------------- */

static nade_status search_with_factors(struct component_search *s, size_t factors)
{
    const nade_train_options *o = &s->run->options;
    const double *priors = nd_is_gaussian(o->kind) ? gaussian_priors : product_priors;
    bool open = nd_closed_is_open(o) && o->kind != NADE_KIND_GAUSSIAN, prior_open = nd_closed_prior_is_open(s->run);
    double given = o->prior >= 0 ? o->prior : nd_is_gaussian(o->kind) ? gaussian_prior : product_prior;
    struct found found = {.loss = HUGE_VAL};
    s->now = (struct closed_setting){.factors = factors, .prior = prior_open ? priors[0] : given};
    s->count = 0;
    nade_status status =
        open ? choose_components(s, &found) : fit(s, o->kind == NADE_KIND_GAUSSIAN ? 1 : o->components, &found);
    return prior_open && status == NADE_OK ? choose_prior(s, priors, open, &found) : status;
}

/* 1, 2, 4, … factors until twice as many are no better. */
static nade_status choose_factors(struct component_search *s)
{
    struct run *run = s->run;
    nade_status status = NADE_OK;
    size_t best = 0;
    for (size_t f = 1; f < run->model->plan.columns && best == s->best.factors && !run->stop && status == NADE_OK;
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
    run->architecture.components = s->best.components;
    run->architecture.factors = s->best.factors;
    run->options.prior = run->options.kind == NADE_KIND_GAUSSIAN ? 0 : s->best.prior;
    return status;
}
