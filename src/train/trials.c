#include "train/trials.h"

#include <inttypes.h>

#include "base/fault.h"
#include "train/few_components.h"
#include "train/folds.h"
#include "train/jobs.h"
#include "train/recipe.h"
#include "train/side_by_side.h"
#include "train/standings.h"

struct trials {
    struct run *trial;                /* (run->candidates) */
    size_t alive[ND_CANDIDATES_MOST]; /* (count) their numbers, ascending */
    size_t count;
    uint64_t from, rung; /* iterations of those alive, before and after the rung that is being made */
    struct standing standing[ND_CANDIDATES_MOST]; /* (run->candidates) after the last rung that all have made */
    struct job *job;                              /* (run->candidates) of ranks; NULL: all are of this process */
    struct kept_reports *reports;                 /* (run->candidates) */
    bool stopped, by_caller;                      /* before one was left */
};

/* ---- what it takes ------------------------------------------------------------------------------------------------
 */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Iterations of all but one of `count` candidates, until that one is left, with a duel at the latest. */
static uint64_t iterations_of_others(const struct run *run, size_t count, uint64_t from, uint64_t rung)
{
    uint64_t sum = 0, most = run->options.iterations;
    for (; count > 1; count = nd_kept_after(run, count, rung, !ND_FAULT(FAULT_DUEL_UNTOLD)), from = rung, rung *= 2)
        sum += (count - 1) * (least(rung, most) - least(from, most));
    return sum;
}

uint64_t nd_trials_iterations(const struct run *run)
{
    return iterations_of_others(run, run->candidates, 0, nd_first_rung(run));
}

/* Updates an iteration of those alive from number k on. */
static uint64_t updates_from(const struct trials *trials, size_t k)
{
    uint64_t sum = 0;
    for (; k < trials->count; k++) sum += trials->trial[trials->alive[k]].updates;
    return sum;
}

static uint64_t longest_updates(const struct trials *trials)
{
    uint64_t most = 0;
    for (size_t k = 0; k < trials->count; k++) {
        uint64_t updates = trials->trial[trials->alive[k]].updates;
        most = most > updates ? most : updates;
    }
    return most;
}

/* Updates of others, after number k of those alive has made its part of the rung and if it will be chosen, or one that
 * has more of them. */
static uint64_t updates_ahead(const struct trials *trials, size_t k, const struct run *run)
{
    uint64_t most = run->options.iterations, longest = longest_updates(trials);
    uint64_t more = (longest - run->updates) * (most - least(trials->rung, most));
    uint64_t now = updates_from(trials, k + 1) * (least(trials->rung, most) - least(trials->from, most));
    size_t kept = nd_kept_after(run, trials->count, trials->rung, true);
    uint64_t later = iterations_of_others(run, kept, trials->rung, 2 * trials->rung);
    return (now + later * longest + more) * nd_networks(run);
}

/* ---- candidates ---------------------------------------------------------------------------------------------------
 */

/* A copy of the run, with memory and a network of its own.  Checkpoints are of what was chosen. */
static void copy_run(const struct run *run, size_t i, struct run *trial)
{
    const struct candidate *candidate = &run->candidate[i];
    *trial = *run;
    trial->arena = trial->stage_arena = (struct arena){run->context->allocator, NULL};
    trial->trial = i + 1;
    trial->options.checkpoint = NULL;
    trial->options.dropout = candidate->dropout;
    trial->options.direct = candidate->direct;
    trial->options.width = candidate->width;
    trial->options.weight_decay = candidate->weight_decay;
    trial->options.components = candidate->components;
    trial->options.augment = candidate->augment;
    trial->options.updates = trial->updates = candidate->updates;
    trial->model = nd_model_of_candidate(run, candidate);
    trial->architecture.direct = candidate->direct != 0;
    trial->architecture.width = candidate->width;
    trial->architecture.components = candidate->components;
}

static unsigned rank_of(const struct trials *trials, size_t number)
{
    return nd_job_rank(&trials->trial[number], 0, number);
}

static bool is_own(const struct trials *trials, size_t number)
{
    return !trials->job || rank_of(trials, number) == trials->trial[number].rank;
}

static nade_status begin_jobs(struct run *run, struct trials *trials)
{
    trials->job = nd_arena_alloc(&run->arena, run->candidates, sizeof *trials->job);
    trials->reports = nd_arena_alloc(&run->arena, run->candidates, sizeof *trials->reports);
    if (!trials->job || !trials->reports) return nd_no_memory(run->context, "the trials");
    for (size_t i = 0; i < run->candidates; i++) {
        trials->reports[i].arena = &run->arena;
        trials->trial[i].reports = &trials->reports[i];
    }
    return NADE_OK;
}

static nade_status begin_trials(struct run *run, struct trials *trials, const nade_table *table)
{
    nade_status status = NADE_OK;
    trials->trial = nd_arena_alloc(&run->arena, run->candidates, sizeof *trials->trial);
    if (!trials->trial) return nd_no_memory(run->context, "the trials");
    trials->rung = nd_first_rung(run);
    for (; trials->count < run->candidates; trials->count++) {
        copy_run(run, trials->count, &trials->trial[trials->count]);
        trials->alive[trials->count] = trials->count;
    }
    if (run->options.folds) return nd_folds_begin(run, trials->trial, trials->count, table);
    if (nd_trials_are_jobs(run)) status = begin_jobs(run, trials);
    for (size_t i = 0; i < trials->count && status == NADE_OK; i++)
        if (is_own(trials, i)) status = nd_stage_begin(&trials->trial[i], NULL, NULL);
    return status;
}

static void end_trial(struct run *trial)
{
    nd_folds_end(trial);
    nd_stage_end(trial);
}

static void give_up(struct trials *trials, size_t k)
{
    end_trial(&trials->trial[trials->alive[k]]);
    trials->count--;
    for (size_t i = k; i < trials->count; i++) trials->alive[i] = trials->alive[i + 1];
}

/* ---- rungs --------------------------------------------------------------------------------------------------------
 */

static struct standing standing_now(const struct trials *trials, size_t number)
{
    return trials->job ? trials->job[number].standing : nd_standing(&trials->trial[number], trials->rung);
}

static void keep_better(const struct run *run, struct trials *trials)
{
    struct standing standing[ND_CANDIDATES_MOST];
    bool goes_on[ND_CANDIDATES_MOST];
    for (size_t k = 0; k < trials->count; k++)
        standing[k] = trials->standing[trials->alive[k]] = standing_now(trials, trials->alive[k]);
    nd_go_on_after(run, standing, trials->count, trials->rung, goes_on);
    for (size_t k = trials->count; k > 0; k--)
        if (!goes_on[k - 1]) give_up(trials, k - 1);
}

static void tell_rung(struct run *trial)
{
    trial->progress.trial_done = 1;
    nd_tell(trial, false);
    trial->progress.trial_done = 0;
}

/* Where all diverge, the last one's sentence is the run's. */
static void give_up_diverged(struct trials *trials, size_t k)
{
    const struct run *trial = &trials->trial[trials->alive[k]];
    if (trials->count > 1)
        nd_warn(trial->context, "trial %" PRIu64 " of %zu is given up: %s", trial->trial, trial->candidates,
                trials->job ? trials->job[trial->trial - 1].error : trial->context->error);
    give_up(trials, k);
}

static void note_stop(struct trials *trials, const struct run *trial)
{
    trials->stopped = trial->stop;
    trials->by_caller = trial->stop && !trial->out_of_time;
}

/* All that are alive go on to the end of the rung, or of their runs, an iteration of each in turn. */
static nade_status run_rung_side_by_side(struct trials *trials)
{
    struct run *alive[ND_CANDIDATES_MOST];
    nade_status each[ND_CANDIDATES_MOST];
    for (size_t k = 0; k < trials->count; k++) {
        alive[k] = &trials->trial[trials->alive[k]];
        alive[k]->ahead = updates_ahead(trials, trials->count - 1, alive[k]);
        alive[k]->beside = updates_from(trials, 0) - alive[k]->updates;
        alive[k]->beside_until = trials->rung;
    }
    nade_status status = nd_run_side_by_side(alive, trials->count, trials->rung, each);
    for (size_t k = 0; k < trials->count && status == NADE_OK && !trials->stopped; k++) note_stop(trials, alive[k]);
    for (size_t k = 0; k < trials->count && status == NADE_OK && !trials->stopped; k++)
        if (each[k] == NADE_OK) tell_rung(alive[k]);
    for (size_t k = trials->count; k > 0 && status == NADE_OK; k--)
        if (each[k - 1] != NADE_OK) give_up_diverged(trials, k - 1);
    if (status != NADE_OK) return status;
    return trials->count ? NADE_OK : NADE_NOT_FINITE;
}

/* Number k of those alive goes on to the end of the rung, or of its run. */
static nade_status run_trial(struct trials *trials, size_t k)
{
    struct run *trial = &trials->trial[trials->alive[k]];
    trial->ahead = updates_ahead(trials, k, trial);
    nade_status status = nd_run_stage(trial, trials->rung);
    if (status == NADE_OK && !trial->stop) tell_rung(trial);
    return status;
}

/* This rank's own, alone. */
static void run_own(struct trials *trials)
{
    nade_context *context = trials->trial->context;
    const nade_world *world = nd_leave_ranks(context);
    bool stopped = false;
    for (size_t k = 0; k < trials->count; k++) {
        struct run *trial = &trials->trial[trials->alive[k]];
        if (!is_own(trials, trials->alive[k])) continue;
        nade_status status = stopped ? NADE_OK : run_trial(trials, k);
        nd_end_job(trial, status, &trials->job[trials->alive[k]]);
        trials->job[trials->alive[k]].standing = nd_standing(trial, trials->rung);
        stopped |= trial->stop || (status != NADE_OK && status != NADE_NOT_FINITE);
    }
    nd_join_ranks(context, world);
}

static nade_status share_jobs(struct trials *trials)
{
    nade_status status = NADE_OK;
    for (size_t k = 0; k < trials->count && status == NADE_OK; k++) {
        size_t i = trials->alive[k];
        struct job *job = &trials->job[i];
        status = nd_share_job(&trials->trial[i], rank_of(trials, i), job, &trials->reports[i]);
        trials->stopped |= job->stop != 0;
        trials->by_caller |= job->stop && !job->out_of_time;
    }
    return status;
}

/* Every rank makes its own part of the rung; then all know how the candidates have done. */
static nade_status run_shared_rung(struct trials *trials)
{
    nade_context *context = trials->trial->context;
    const struct job *job = NULL;
    run_own(trials);
    nade_status status = share_jobs(trials);
    if (status != NADE_OK) return status;
    for (size_t k = 0; k < trials->count; k += job->status == NADE_OK) {
        job = &trials->job[trials->alive[k]];
        if (job->status != NADE_OK && job->status != NADE_NOT_FINITE)
            return nd_fail(context, job->status, "%s", job->error);
        if (job->status == NADE_NOT_FINITE) give_up_diverged(trials, k);
    }
    return trials->count ? NADE_OK : nd_fail(context, NADE_NOT_FINITE, "%s", job->error);
}

/* All that are alive go on to the end of the rung, or of their runs. */
static nade_status run_rung(struct trials *trials)
{
    nade_status status = NADE_OK;
    if (trials->job) return run_shared_rung(trials);
    if (nd_goes_side_by_side(trials->trial)) return run_rung_side_by_side(trials);
    for (size_t k = 0; k < trials->count && !trials->stopped; k += status == NADE_OK) {
        const struct run *trial = &trials->trial[trials->alive[k]];
        status = run_trial(trials, k);
        note_stop(trials, trial);
        if (status != NADE_OK && status != NADE_NOT_FINITE) return status;
        if (status == NADE_NOT_FINITE) give_up_diverged(trials, k);
    }
    return trials->count ? NADE_OK : NADE_NOT_FINITE;
}

static nade_status run_rungs(const struct run *run, struct trials *trials)
{
    nade_status status = NADE_OK;
    while (status == NADE_OK && trials->count > 1 && !trials->stopped) {
        status = run_rung(trials);
        if (status != NADE_OK || trials->stopped) break;
        keep_better(run, trials);
        trials->from = trials->rung;
        trials->rung *= 2;
    }
    return status;
}

/* ---- the choice ---------------------------------------------------------------------------------------------------
 */

/* Where trials were stopped.  A caller gets the best that there is.  Where time ends a rung some have had more of it
 * than others: what they had promised before counts. */
static double loss_of(const struct trials *trials, size_t number)
{
    bool cut = !trials->by_caller && !ND_FAULT(FAULT_CUT_RUNG);
    return cut ? trials->standing[number].promises : standing_now(trials, number).has;
}

/* Of equals the first. */
static void choose(struct trials *trials)
{
    size_t best = 0;
    for (size_t k = 1; k < trials->count; k++)
        if (loss_of(trials, trials->alive[k]) < loss_of(trials, trials->alive[best])) best = k;
    for (size_t k = trials->count; k > 0; k--)
        if (k - 1 != best) give_up(trials, k - 1);
}

/* Time has ended an iteration in its middle: it counts, and the next begins where it would have. */
static nade_status go_on_after_time(struct run *run)
{
    uint64_t due = run->iteration * run->updates;
    bool cut = run->update < due;
    if (cut) run->skipped += due - run->update;
    run->update = due;
    return cut ? nd_turn_after_iteration(run) : NADE_OK;
}

/* All ranks go on with the trial together, from where its rank has brought it; or that one alone does, when it is the
 * first of several members. */
static nade_status bring_chosen(struct trials *trials)
{
    size_t chosen = trials->alive[0];
    struct run *trial = &trials->trial[chosen];
    nade_status status = NADE_OK;
    if (!trials->job) return NADE_OK;
    trial->reports = NULL;
    trial->first_rank = rank_of(trials, chosen);
    if (!is_own(trials, chosen)) status = nd_stage_begin(trial, NULL, NULL);
    if (status != NADE_OK || nd_members_are_jobs(trial)) return status;
    return nd_share_stage(trial, trial->first_rank);
}

/* The trial becomes the run, which keeps the memory that the candidates shared. */
static nade_status take_over(struct run *run, const struct run *trial, bool stop)
{
    struct arena arena = run->arena;
    const char *checkpoint = run->options.checkpoint;
    struct nade_model *model = run->model;
    *run = *trial;
    run->arena = arena;
    run->options.checkpoint = checkpoint;
    run->chosen = run->trial;
    run->trial = run->ahead = run->beside = 0;
    run->stop = stop;
    run->out_of_time = false;
    nade_status status = nd_take_few(run, model);
    return status == NADE_OK && trial->out_of_time && !stop ? go_on_after_time(run) : status;
}

nade_status nd_trials_run(struct run *run, const nade_table *table)
{
    struct trials trials = {0};
    nade_status status = begin_trials(run, &trials, table);
    if (status == NADE_OK) status = run_rungs(run, &trials);
    if (status == NADE_OK) choose(&trials);
    while (trials.count > 0 && status != NADE_OK) give_up(&trials, trials.count - 1);
    if (status == NADE_OK) status = bring_chosen(&trials);
    if (status != NADE_OK) return status;
    return take_over(run, &trials.trial[trials.alive[0]], trials.by_caller);
}
