#include "train/member_jobs.h"

#include <string.h>

#include "base/fault.h"
#include "train/members.h"

static bool is_own(const struct run *run, size_t member)
{
    return nd_job_rank(run, run->first_rank, member) == run->rank;
}

nade_status nd_run_first_member(struct run *run, nade_status (*train)(struct run *run))
{
    if (!nd_members_are_jobs(run)) return train(run);
    if (!is_own(run, 0)) return NADE_OK;
    run->reports = nd_arena_alloc(&run->arena, 1, sizeof *run->reports);
    if (run->reports) run->reports->arena = &run->arena;
    const nade_world *world = nd_leave_ranks(run->context);
    run->first_status = train(run);
    nd_join_ranks(run->context, world);
    return NADE_OK;
}

/* This rank's members, alone.  A wish to stop, or a failure other than divergence, leaves out those that follow. */
static void run_own(struct run *run, struct job *job, struct kept_reports *reports)
{
    const nade_world *world = nd_leave_ranks(run->context);
    nade_status status = run->first_status;
    if (is_own(run, 0) && run->reports) reports[0] = *run->reports;
    for (size_t j = 0; j < run->options.members; j++) {
        bool goes_on = (status == NADE_OK || status == NADE_NOT_FINITE) && !nd_is_called_off(run);
        reports[j].arena = &run->arena;
        if (!is_own(run, j) || (j > 0 && !goes_on)) continue;
        run->reports = &reports[j];
        if (j > 0) status = nd_members_train(run, j);
        bool useful = status == NADE_OK && nd_is_good_member(run);
        if (useful) status = nd_member_keep(run, &run->kept[j]);
        nd_end_job(run, status, &job[j]);
        job[j].useful = useful && status == NADE_OK;
    }
    run->reports = NULL;
    nd_join_ranks(run->context, world);
}

static nade_status share_kept(struct run *run, unsigned owner, struct kept_member *kept)
{
    struct kept_member all = *kept;
    size_t bytes = run->plan.parameters * sizeof *kept->parameters;
    nade_status status = nd_share_bytes(run, owner, &all, sizeof all);
    if (status != NADE_OK) return status;
    all.parameters = kept->parameters;
    all.history = run->rank == owner ? kept->history : nd_arena_alloc(&run->arena, all.iteration, sizeof *all.history);
    *kept = all;
    if (!kept->history) return nd_no_memory(run->context, "the members");
    if (all.iteration) status = nd_share_bytes(run, owner, kept->history, all.iteration * sizeof *kept->history);
    return status == NADE_OK ? nd_share_bytes(run, owner, kept->parameters, bytes) : status;
}

static nade_status share_all(struct run *run, struct job *job, struct kept_reports *reports)
{
    nade_status status = NADE_OK;
    for (size_t j = 0; j < run->options.members && status == NADE_OK; j++) {
        unsigned owner = nd_job_rank(run, run->first_rank, j);
        status = nd_share_job(run, owner, &job[j], &reports[j]);
        if (status == NADE_OK && job[j].useful) status = share_kept(run, owner, &run->kept[j]);
    }
    return status;
}

/* Moves what member number j came to behind what is kept already. */
static void append(struct run *run, size_t j)
{
    struct kept_member *to = &run->kept[run->kept_count++], *from = &run->kept[j];
    float *parameters = to->parameters;
    if (to == from) return;
    if (!ND_FAULT(FAULT_HOLE_KEPT)) memcpy(parameters, from->parameters, run->plan.parameters * sizeof *parameters);
    *to = *from;
    to->parameters = parameters;
}

/* What all ranks conclude from how the jobs ended.  The first member must have come to something. */
static nade_status take_jobs(struct run *run, const struct job *job)
{
    bool called_off = false;
    size_t ended = run->options.members;
    for (size_t j = 0; j < run->options.members; j++) {
        bool diverged = job[j].status == NADE_NOT_FINITE && j > 0;
        if (job[j].status != NADE_OK && !diverged) return nd_fail(run->context, job[j].status, "%s", job[j].error);
        called_off |= job[j].stop && !job[j].out_of_time;
        if (job[j].useful)
            append(run, j);
        else if (diverged)
            nd_member_leave_out(run, j, job[j].error);
        else if (j < ended)
            ended = j;
    }
    run->stop = called_off;
    run->out_of_time = false;
    run->member = ended < run->options.members ? ended : (size_t)run->options.members - 1;
    return NADE_OK;
}

nade_status nd_run_member_jobs(struct run *run)
{
    size_t members = (size_t)run->options.members;
    struct job *job = nd_arena_alloc(&run->arena, members, sizeof *job);
    struct kept_reports *reports = nd_arena_alloc(&run->arena, members, sizeof *reports);
    if (!job || !reports) return nd_no_memory(run->context, "the members");
    run_own(run, job, reports);
    nade_status status = share_all(run, job, reports);
    return status == NADE_OK ? take_jobs(run, job) : status;
}
