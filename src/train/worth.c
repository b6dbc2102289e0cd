#include "train/worth.h"

#include <math.h>

#include "base/fault.h"
#include "base/shared_work.h"
#include "train/closed.h"
#include "train/folds.h"
#include "train/schema_mixture.h"

/* More rows make a mixture little better. */
enum { ROWS_MOST = 20000 };

/* What it may take: a share of the training, and seconds. */
static const double share = 0.1, least = 1, most = 10;

/* One that suits most tables stands for those that would be tried. */
static const double prior = 0.1;

/* Seconds from now on. */
static double time_for_mixture(const struct run *run)
{
    double spent = nd_seconds() - run->started, limit = run->options.time_limit;
    double time = fmin(fmax(share * spent, least), most);
    return limit > 0 ? fmin(time, limit - spent) : time;
}

static bool is_wanted(const struct run *run)
{
    const nade_train_options *o = &run->options;
    return o->progress && o->compare && o->effort != NADE_EFFORT_QUICK && !nd_is_closed(o) &&
           nd_starts_at_marginals(run) && !isnan(run->start_loss) && !run->stop && time_for_mixture(run) > 0 &&
           nd_ranks(run->context) == 1;
}

/* The caller hears of the run as it was in the report before. */
static int tell_caller(struct run *run)
{
    nade_progress *p = &run->progress;
    p->iteration_done = p->trial_done = 0;
    p->seconds = nd_seconds() - run->started;
    return run->options.progress(run->options.progress_user, p);
}

/* A sign of life, so that the caller can end this too. */
static int on_fit(void *user, const nade_progress *report)
{
    struct run *run = user;
    run->progress.mixture_components = report->components;
    return tell_caller(run);
}

/* Rows that are learnt from and that validate: the run's own, or those of its folds. */
static nade_status find_rows(const struct run *run, struct arena *arena, struct fold_rows **rows, size_t *parts)
{
    nade_status status = NADE_OK;
    *parts = run->options.folds ? (size_t)run->options.folds : 1;
    *rows = nd_arena_alloc(arena, *parts, sizeof **rows);
    if (!*rows) return nd_no_memory(run->context, "the folds");
    for (size_t i = 0; i < *parts && status == NADE_OK; i++) {
        const struct run *part = run->options.folds ? &run->fold[i] : run;
        bool all = !run->options.folds || ND_FAULT(FAULT_WORTH_OF_ALL_ROWS);
        (*rows)[i] = (struct fold_rows){.valid = part->valid, .valid_scale = part->valid_scale};
        status = nd_spaced_rows(run->context, arena, all ? &run->whole : &part->train, ROWS_MOST, &(*rows)[i].train);
    }
    return status;
}

static void open_mixture(struct run *run, struct run *mixture)
{
    nd_open_mixture_run(run->context, run->model, NADE_KIND_MIXTURE, run->made_in_all, mixture);
    mixture->train = run->whole;
    mixture->valid_rows = run->valid_rows;
    mixture->time_limit = time_for_mixture(run);
    mixture->options.prior = prior;
    mixture->options.seed = run->options.seed;
    mixture->options.progress = on_fit;
    mixture->options.progress_user = run;
}

static nade_status fit_mixture(struct run *run)
{
    struct run mixture;
    struct fold_rows *rows;
    size_t parts;
    open_mixture(run, &mixture);
    nade_status status = find_rows(run, &mixture.arena, &rows, &parts);
    if (status == NADE_OK) status = nd_closed_search(&mixture, rows, parts);
    bool called_off = mixture.stop && !mixture.out_of_time;
    if (status == NADE_OK && !called_off) {
        run->progress.mixture_loss = mixture.best_loss;
        run->progress.mixture_components = mixture.architecture.components;
        run->progress.mixture_cut = mixture.stop;
        tell_caller(run);
    }
    nd_arena_free(&mixture.stage_arena);
    nd_arena_free(&mixture.arena);
    return status;
}

void nd_find_worth(struct run *run)
{
    if (!is_wanted(run)) return;
    nd_stage_end(run);
    nade_status status = fit_mixture(run);
    if (status != NADE_OK)
        nd_warn(run->context, "there is no mixture to compare the network with: %s", run->context->error);
}
