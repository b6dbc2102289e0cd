/* Turns: when a run goes back to its best parameters, and with what learning rate it goes on.
 *
 * - It cools down when validation no longer improves: the rate falls to zero from what it was where validation was
 * best. Parameters taken in the middle of a run, at a high rate, are noisy, and those that a falling rate ends with are
 *   better by far, in densities and in samples.  So a run is as long as its table wants.
 * - It tries again with a third of the rate when a loss is not finite, and when it has ended with a validation that is
 *   worse than the first: `retries` times at most.
 *
 * When it turns is a function of the history and of where losses were not finite: a resumed run finds it there. */
#include <inttypes.h>
#include <math.h>

#include "base/fault.h"
#include "train/run.h"

static bool is_full_run(const struct run *run)
{
    return run->stage + 1 == run->stages;
}

static bool may_cool(const struct run *run)
{
    return run->options.cooldown && !run->options.patience && run->valid_rows > 0 && is_full_run(run);
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

/* ---- when ---------------------------------------------------------------------------------------------------------
 */

/* True when the history says so after `iteration`, whose best so far was `best`; 0 is what the run began with. */
static bool is_time_to_cool(const struct run *run, uint64_t iteration, uint64_t best)
{
    return iteration - best >= iterations_of_wait(best) &&
           run->options.iterations > iteration + iterations_of_fall(best);
}

static bool is_out_of_patience(const struct run *run, uint64_t iteration, uint64_t best)
{
    uint64_t patience = run->options.patience, since = best > run->fall_from ? best : run->fall_from;
    return patience && is_full_run(run) && iteration - since >= patience + ND_FAULT(FAULT_PATIENCE);
}

bool nd_is_out_of_patience(const struct run *run)
{
    return is_out_of_patience(run, run->iteration, run->best_iteration);
}

/* The validation that no run should end below: of what it began with, else of its first iteration. */
static double first_loss(const struct run *run)
{
    return isnan(run->start_loss) ? run->history[0].valid_loss : run->start_loss;
}

static bool ended_badly(const struct run *run, uint64_t iteration, uint64_t best)
{
    bool ended = iteration == run->iterations || is_out_of_patience(run, iteration, best);
    return ended && is_full_run(run) && run->valid_rows > 0 && run->retries < run->options.retries &&
           run->history[iteration - 1].valid_loss > first_loss(run);
}

/* ---- with what rate -----------------------------------------------------------------------------------------------
 */

/* A rate that had just begun to rise says nothing of what a run can bear; a third of the highest is a guess. */
static double rate_after(const struct update_rule *rule, uint64_t update)
{
    double rate = nd_rate(rule, update);
    return update < rule->begin + rule->warmup || update == 0 ? fmax(rate, rule->learning_rate / 3) : rate;
}

/* From here to the end of the run the rate falls from `rate`.  Moments begin at zero, so it first rises for a tenth of
 * that time: their first steps are rough. */
static void begin_rule(struct run *run, uint64_t from, uint64_t best, double rate)
{
    uint64_t begin = from * run->updates, end = run->iterations * run->updates;
    run->turn[run->turns++] = (struct turn){from, best, run->rule};
    run->rule.learning_rate = rate;
    run->rule.begin = begin;
    run->rule.total_updates = end;
    run->rule.warmup = (end - begin) / 10;
}

/* The end of the run is now nearer, or farther where it had come. */
static void fall(struct run *run, uint64_t from, uint64_t best, double rate)
{
    run->fall_from = from;
    run->iterations = from + iterations_of_fall(best);
    begin_rule(run, from, best, rate);
}

/* Whether it turns after an iteration of which the best so far was `best`. */
static bool turn_after(struct run *run, uint64_t iteration, uint64_t best)
{
    if (!run->fall_from && may_cool(run) && is_time_to_cool(run, iteration, best)) {
        fall(run, iteration, best, rate_after(&run->rule, best * run->updates));
        return true;
    }
    if (!ended_badly(run, iteration, best)) return false;
    run->retries++;
    fall(run, iteration, best,
         (run->fall_from ? run->rule.learning_rate : rate_after(&run->rule, best * run->updates)) / 3);
    return true;
}

/* A loss was not finite in the iteration after `iteration`.  A rate that was still to rise is that of a run which
 * begins anew with a third of it. */
static void turn_diverged(struct run *run, uint64_t iteration, uint64_t best)
{
    const struct update_rule *rule = &run->rule;
    uint64_t update = iteration * run->updates, warmup = rule->warmup;
    bool rising = update < rule->begin + warmup;
    run->retries++;
    begin_rule(run, iteration, best,
               (rising ? rule->learning_rate : nd_rate(rule, update)) / (ND_FAULT(FAULT_RATE_NOT_LOWERED) ? 1 : 3));
    if (rising && run->rule.warmup < warmup) run->rule.warmup = warmup;
}

/* ---- turning ------------------------------------------------------------------------------------------------------
 */

nade_status nd_turn_after_iteration(struct run *run)
{
    uint64_t before = run->retries;
    if (!turn_after(run, run->iteration, run->best_iteration)) return NADE_OK;
    if (run->retries > before)
        nd_warn(run->context,
                "validation ends at %g nats per row, below the %g that training began with: it goes back to iteration "
                "%" PRIu64 ", its best, and on with a third of the learning rate",
                -run->history[run->iteration - 1].valid_loss, -first_loss(run), run->best_iteration);
    return nd_stage_from_best(run);
}

bool nd_may_retry(const struct run *run)
{
    return run->retries < run->options.retries;
}

nade_status nd_turn_after_divergence(struct run *run)
{
    const char *tensor;
    nade_status status = nd_fail_diverged(run, &tensor);
    if (status != NADE_OK) return status;
    nd_warn(run->context,
            "the loss at update %" PRIu64 " is not finite (tensor %s): training goes back to iteration %" PRIu64
            ", its best, and on with a third of the learning rate",
            run->failed, tensor, run->best_iteration);
    run->diverged[run->diverged_count++] = run->iteration;
    run->update = run->iteration * run->updates;
    turn_diverged(run, run->iteration, run->best_iteration);
    return nd_stage_from_best(run);
}

void nd_turns_resume(struct run *run)
{
    uint64_t best = 0, next = 0;
    double lowest = isnan(run->start_loss) ? INFINITY : run->start_loss;
    for (uint64_t i = 0; i <= run->iteration; i++) {
        if (i > 0 && (run->valid_rows == 0 || run->history[i - 1].valid_loss < lowest)) {
            lowest = run->history[i - 1].valid_loss;
            best = i;
        }
        if (i > 0) turn_after(run, i, best);
        for (; next < run->diverged_count && run->diverged[next] == i; next++) turn_diverged(run, i, best);
    }
}

uint64_t nd_soonest_end(const struct run *run)
{
    uint64_t best = run->best_iteration, patience = run->options.patience, end = run->iterations;
    uint64_t since = best > run->fall_from ? best : run->fall_from, turn = best + iterations_of_wait(best);
    if (is_full_run(run) && patience && run->valid_rows > 0 && since + patience < end) end = since + patience;
    if (!run->fall_from && may_cool(run) && is_time_to_cool(run, turn, best)) end = turn + iterations_of_fall(best);
    return end;
}
