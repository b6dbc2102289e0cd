#include "train/jobs.h"

#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/memory.h"
#include "base/shared_work.h"
#include "train/agreement.h"

/* One rank can train alone with them; where they are spread over ranks, no rank can. */
static bool rows_are_everywhere(const struct run *run)
{
    return run->ranks > 1 && !run->shared;
}

bool nd_trials_are_jobs(const struct run *run)
{
    return rows_are_everywhere(run) && run->candidates > 0 && run->options.folds == 0;
}

bool nd_folds_are_jobs(const struct run *run)
{
    return rows_are_everywhere(run) && run->fold_count > 0;
}

bool nd_members_are_jobs(const struct run *run)
{
    const nade_train_options *o = &run->options;
    return rows_are_everywhere(run) && o->members > 1 && !o->checkpoint && !o->resume;
}

const nade_world *nd_leave_ranks(nade_context *context)
{
    const nade_world *world = context->world;
    context->world = NULL;
    return world;
}

void nd_join_ranks(nade_context *context, const nade_world *world)
{
    context->world = world;
}

nade_status nd_share_bytes(const struct run *run, unsigned owner, void *bytes, size_t count)
{
    if (run->rank != owner) memset(bytes, 0, count);
    return nd_unite(run->context, bytes, count);
}

/* ---- one job ----------------------------------------------------------------------------------------------------- */

void nd_keep_report(struct kept_reports *kept, const nade_progress *report)
{
    if (!kept || (!report->iteration_done && kept->count > 0)) return;
    if (kept->count == kept->room) {
        size_t room = kept->room ? 2 * kept->room : 64;
        nade_progress *grown = nd_arena_alloc(kept->arena, room, sizeof *grown);
        if (!grown) return;
        if (kept->count) memcpy(grown, kept->report, kept->count * sizeof *grown);
        kept->report = grown;
        kept->room = room;
    }
    kept->report[kept->count++] = *report;
}

void nd_end_job(const struct run *run, nade_status status, struct job *job)
{
    *job = (struct job){.status = status, .stop = run->stop, .out_of_time = run->out_of_time};
    if (status != NADE_OK) snprintf(job->error, sizeof job->error, "%s", run->context->error);
}

/* Those of the owner, to the callers of the others. */
static nade_status share_reports(struct run *run, unsigned owner, size_t count, const struct kept_reports *kept)
{
    const nade_train_options *o = &run->options;
    if (count == 0 || ND_FAULT(FAULT_JOBS_UNTOLD)) return NADE_OK;
    nade_progress *all = nd_alloc(&run->context->allocator, count, sizeof *all);
    if (!all) return nd_no_memory(run->context, "reports of other ranks");
    if (run->rank == owner) memcpy(all, kept->report, count * sizeof *all);
    nade_status status = nd_share_bytes(run, owner, all, count * sizeof *all);
    for (size_t i = 0; i < count && status == NADE_OK && run->rank != owner && o->progress; i++)
        (void)o->progress(o->progress_user, &all[i]); /* a wish to stop comes again with the next report */
    nd_free(&run->context->allocator, all);
    return status;
}

nade_status nd_share_job(struct run *run, unsigned owner, struct job *job, struct kept_reports *reports)
{
    job->reports = reports->count;
    nade_status status = nd_share_bytes(run, owner, job, sizeof *job);
    if (status == NADE_OK) status = share_reports(run, owner, (size_t)job->reports, reports);
    reports->count = 0;
    return status;
}

/* ---- where a run stands ------------------------------------------------------------------------------------------ */

/* What changes from iteration to iteration, but for what lies behind pointers. */
#define MOVED(member)                                                                                                  \
    {                                                                                                                  \
        offsetof(struct run, member), sizeof((struct run *)NULL)->member                                               \
    }
static const struct {
    size_t offset, size;
} moved[] = {MOVED(rule),    MOVED(iterations),     MOVED(iteration),  MOVED(update),         MOVED(skipped),
             MOVED(failed),  MOVED(start_loss),     MOVED(best_loss),  MOVED(best_iteration), MOVED(fall_from),
             MOVED(retries), MOVED(diverged),       MOVED(turn),       MOVED(turns),          MOVED(longer),
             MOVED(stop),    MOVED(diverged_count), MOVED(out_of_time)};

static nade_status share_history(struct run *run, unsigned owner)
{
    if (run->rank != owner) {
        run->history = nd_arena_alloc(&run->stage_arena, run->iteration ? run->iteration : 1, sizeof *run->history);
        run->history_room = run->history ? run->iteration : 0;
    }
    if (!run->history && run->iteration) return nd_no_memory(run->context, "the training record");
    return run->iteration ? nd_share_bytes(run, owner, run->history, run->iteration * sizeof *run->history) : NADE_OK;
}

static nade_status share_block(const struct run *run, unsigned owner, enum block block, float *values)
{
    nade_status status = NADE_OK, shared;
    if (run->rank == owner) status = run->entries->get_block(run->context, run->backend, block, values);
    shared = nd_share_bytes(run, owner, values, run->plan.parameters * sizeof *values);
    if (status == NADE_OK) status = shared;
    if (status != NADE_OK || run->rank == owner) return status;
    return run->entries->set_block(run->context, run->backend, block, values);
}

static nade_status share_blocks(struct run *run, unsigned owner)
{
    static const enum block blocks[] = {BLOCK_PARAMETERS, BLOCK_MOMENT1, BLOCK_MOMENT2, BLOCK_AVERAGE};
    size_t count = nd_result_block(run) == BLOCK_AVERAGE ? 4 : 3;
    float *values = nd_alloc(&run->context->allocator, run->plan.parameters, sizeof *values);
    nade_status status = values ? NADE_OK : nd_no_memory(run->context, "the parameters");
    for (size_t b = 0; b < (ND_FAULT(FAULT_JOB_MOMENTS_LEFT) ? 1 : count) && status == NADE_OK; b++)
        status = share_block(run, owner, blocks[b], values);
    nd_free(&run->context->allocator, values);
    return status;
}

nade_status nd_share_stage(struct run *run, unsigned owner)
{
    nade_status status = NADE_OK;
    for (size_t i = 0; i < sizeof moved / sizeof *moved && status == NADE_OK; i++)
        status = nd_share_bytes(run, owner, (char *)run + moved[i].offset, moved[i].size);
    if (status == NADE_OK) status = share_history(run, owner);
    if (status == NADE_OK) status = nd_share_bytes(run, owner, run->best, run->plan.parameters * sizeof *run->best);
    return status == NADE_OK ? share_blocks(run, owner) : status;
}

/* ---- networks of folds ------------------------------------------------------------------------------------------- */

/* What one rank tells the others of a step of its networks. */
struct step {
    nade_status status;
    uint64_t network, failed, made;
    char error[ND_SENTENCE];
};

static void fill_step(const struct run *run, nade_status status, struct step *step)
{
    step->status = status;
    step->made = run->made;
    if (status == NADE_OK) return;
    step->failed = run->failed;
    if (run->failed_network) step->network = (uint64_t)(run->failed_network - run->fold);
    snprintf(step->error, sizeof step->error, "%s", run->context->error);
}

/* What is no divergence ends the run, whoever else has diverged. */
static bool is_graver(const struct step *step, const struct step *than)
{
    if (step->status == NADE_OK || than->status == NADE_OK) return step->status != NADE_OK;
    bool ends = step->status != NADE_NOT_FINITE, other_ends = than->status != NADE_NOT_FINITE;
    return ends != other_ends ? ends : step->network < than->network;
}

static nade_status take_steps(struct run *run, const struct step *step)
{
    const struct step *worst = &step[0];
    for (unsigned r = 1; r < run->ranks; r++)
        if (is_graver(&step[r], worst)) worst = &step[r];
    for (unsigned r = 0; r < run->ranks; r++)
        if (step[r].made > run->made) run->made = step[r].made;
    if (worst->status == NADE_OK) return NADE_OK;
    run->failed = worst->failed;
    run->failed_network = &run->fold[worst->network];
    if (worst->status == NADE_NOT_FINITE) return NADE_NOT_FINITE;
    return worst == &step[run->rank] ? worst->status : nd_fail(run->context, worst->status, "%s", worst->error);
}

static nade_status share_losses(struct run *run)
{
    double *loss = nd_alloc(&run->context->allocator, run->fold_count, sizeof *loss);
    if (!loss) return nd_no_memory(run->context, "the folds");
    for (size_t i = 0; i < run->fold_count; i++)
        if (nd_is_own_network(run, i)) loss[i] = run->fold[i].loss;
    nade_status status = nd_unite(run->context, loss, run->fold_count * sizeof *loss);
    for (size_t i = 0; i < run->fold_count; i++) run->fold[i].loss = loss[i];
    nd_free(&run->context->allocator, loss);
    return status;
}

nade_status nd_share_networks(struct run *run, nade_status status)
{
    if (!nd_folds_are_jobs(run)) return status;
    struct step *step = nd_alloc(&run->context->allocator, run->ranks, sizeof *step);
    if (!step) return nd_no_memory(run->context, "the folds");
    fill_step(run, status, &step[run->rank]);
    nade_status shared = nd_unite(run->context, step, run->ranks * sizeof *step);
    shared = shared == NADE_OK ? take_steps(run, step) : shared;
    nd_free(&run->context->allocator, step);
    if (shared == NADE_OK) nd_agree_to_stop(run);
    return shared == NADE_OK ? share_losses(run) : shared;
}
