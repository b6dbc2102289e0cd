/* Networks side by side: small networks of folds, trials and members gain little from several threads each, so several
 * networks are trained at once, one a thread.
 *
 * An iteration's updates are what is made together; validation, which has rows enough for all threads, and everything
 * that is decided are done for one network after the other, in their order.  What is done when depends on the table and
 * the options alone, never on the number of threads, and so do the bytes and the reports. */
#ifndef ND_TRAIN_SIDE_BY_SIDE_H
#define ND_TRAIN_SIDE_BY_SIDE_H

#include "train/run.h"

/* Makes ready for it, where the run's networks are to go side by side: those of one process, on a backend that can,
 * whose updates are small. */
nade_status nd_side_by_side_prepare(struct run *run);

static inline bool nd_goes_side_by_side(const struct run *run)
{
    return run->lanes != NULL;
}

/* Makes the updates of the next iteration of all networks of some runs, until a report asks to stop: then all of them
 * are told to, and stand at the same update.  nd_run_updates of each run takes over what its networks have come to. */
nade_status nd_update_side_by_side(struct run *const *run, size_t runs);

/* Goes on with some runs, an iteration of each in turn, until `until` iterations are done or one of them stops: all
 * others have finished that iteration then.  *status of each says how its last one ended; a run that failed is left
 * alone from there on.  The return value is of what concerns all. */
nade_status nd_run_side_by_side(struct run *const *run, size_t runs, uint64_t until, nade_status *status);

#endif
