/* A run whose validation no longer improves goes back to its best parameters and lets the learning rate fall to zero
 * from what it was there: parameters taken in the middle of a run, at a high rate, are noisy, and those that a falling
 * rate ends with are better by far, in densities and in samples.  So a run is as long as its table wants.
 *
 * When it happens is a function of the history alone: a resumed run finds it there. */
#include <math.h>

#include "train/run.h"

static bool may_cool(const struct run *run)
{
    return run->options.cooldown && !run->options.patience && run->valid.rows > 0 && run->stage + 1 == run->stages;
}

/* Iterations without a better validation that are waited for: some, and a part of what the best one took; and those in
 * which the rate falls, likewise. */
static uint64_t iterations_of_wait(uint64_t best)
{
    return 4 + best / 4;
}

static uint64_t iterations_of_fall(uint64_t best)
{
    return 4 + best / 2;
}

/* True when the history says so after `iteration`, whose best so far was `best`; 0 is what the run began with. */
static bool is_time(const struct run *run, uint64_t iteration, uint64_t best)
{
    return iteration - best >= iterations_of_wait(best) &&
           run->options.iterations > iteration + iterations_of_fall(best);
}

/* A rate that had just begun to rise says nothing of what a run can bear; a third of the highest is a guess. */
static double rate_after(const struct update_rule *rule, uint64_t update)
{
    double rate = nd_rate(rule, update);
    return update < rule->begin + rule->warmup || update == 0 ? fmax(rate, rule->learning_rate / 3) : rate;
}

/* The rate falls from what it was after the best iteration to zero at the end of the run, which is now nearer.  Moments
 * begin at zero, so the rate first rises for a tenth of that time: their first steps are rough. */
static void set_rule(struct run *run, uint64_t from, uint64_t best)
{
    run->before = run->rule;
    run->cooling_from = from;
    run->iterations = from + iterations_of_fall(best);
    run->rule.learning_rate = rate_after(&run->before, best * run->updates);
    run->rule.warmup = iterations_of_fall(best) * run->updates / 10;
    run->rule.begin = from * run->updates;
    run->rule.total_updates = run->iterations * run->updates;
}

nade_status nd_cooldown_after_iteration(struct run *run)
{
    if (run->cooling_from || !may_cool(run) || !is_time(run, run->iteration, run->best_iteration)) return NADE_OK;
    set_rule(run, run->iteration, run->best_iteration);
    run->progress.iterations = run->iterations;
    run->progress.updates = run->rule.total_updates;
    return nd_stage_from_best(run);
}

void nd_cooldown_resume(struct run *run)
{
    uint64_t best = 0;
    double lowest = isnan(run->start_loss) ? INFINITY : run->start_loss;
    for (uint64_t i = 0; may_cool(run) && i < run->iteration && !run->cooling_from; i++) {
        if (run->history[i].valid_loss < lowest) {
            lowest = run->history[i].valid_loss;
            best = i + 1;
        }
        if (is_time(run, i + 1, best)) set_rule(run, i + 1, best);
    }
}

uint64_t nd_soonest_end(const struct run *run)
{
    uint64_t best = run->best_iteration, patience = run->options.patience, end = run->iterations;
    bool full = run->stage + 1 == run->stages;
    uint64_t turn = best + iterations_of_wait(best);
    if (full && patience && run->valid.rows > 0 && best + patience < end) end = best + patience;
    if (!run->cooling_from && may_cool(run) && is_time(run, turn, best)) end = turn + iterations_of_fall(best);
    return end;
}
