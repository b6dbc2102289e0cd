/* Jobs: parts of a run that ranks take turns at, each trained by one of them alone, so that its bytes are those of one
 * process: candidates on trial, the networks of folds, members.  Then all ranks are told what became of them. */
#ifndef ND_TRAIN_JOBS_H
#define ND_TRAIN_JOBS_H

#include "nade/world.h"
#include "train/run.h"
#include "train/standings.h"

/* Which parts of a prepared run are jobs.  With folds these are, and candidates follow each other; members are unless a
 * checkpoint is kept, which has room for one that is being trained. */
bool nd_trials_are_jobs(const struct run *run);
bool nd_folds_are_jobs(const struct run *run);
bool nd_members_are_jobs(const struct run *run);

/* Whose job number i is: 0 is that of rank `first`. */
static inline unsigned nd_job_rank(const struct run *run, unsigned first, size_t i)
{
    return (unsigned)((first + i) % run->ranks);
}

/* Between these two calls the context is that of a process without other ranks. */
const nade_world *nd_leave_ranks(nade_context *context);
void nd_join_ranks(nade_context *context, const nade_world *world);

/* Reports of iterations that a job's caller has had, for those of the other ranks. */
struct kept_reports {
    struct arena *arena;
    nade_progress *report; /* (room), of which count are there */
    size_t count, room;
};

/* Keeps a report, if it is the first or ends an iteration; without memory it is not told elsewhere. */
void nd_keep_report(struct kept_reports *kept, const nade_progress *report);

/* How a job ended.  Zeros where a rank does not know. */
struct job {
    nade_status status;
    int stop, out_of_time;    /* as of the run */
    int useful;               /* it came to something, though it may have been stopped */
    struct standing standing; /* of a candidate */
    uint64_t reports;
    char error[ND_SENTENCE]; /* where it failed */
};

/* Fills a job from the run that was it. */
void nd_end_job(const struct run *run, nade_status status, struct job *job);

/* Every rank gets what `owner` knows of a job, and the caller of each the reports that it has not had. */
nade_status nd_share_job(struct run *run, unsigned owner, struct job *job, struct kept_reports *reports);

/* Every rank's run, whose stage has begun, becomes what that of `owner` is: parameters, moments, counters, history. */
nade_status nd_share_stage(struct run *run, unsigned owner);

/* The numbers that `owner` has there. */
nade_status nd_share_bytes(const struct run *run, unsigned owner, void *bytes, size_t count);

/* Networks of folds have made a step, this rank its own: every rank gets the losses of all, and fails where one has
 * failed, as the first of them by number did. */
nade_status nd_share_networks(struct run *run, nade_status status);

/* Whether this rank trains network i. */
static inline bool nd_is_own_network(const struct run *run, size_t i)
{
    return !nd_folds_are_jobs(run) || nd_job_rank(run, 0, i) == run->rank;
}

#endif
