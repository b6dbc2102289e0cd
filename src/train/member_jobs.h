/* Members as jobs of ranks: the first on the rank that has what trials chose, the second on the next, and so on. */
#ifndef ND_TRAIN_MEMBER_JOBS_H
#define ND_TRAIN_MEMBER_JOBS_H

#include "train/jobs.h"

/* Trains the first member: here, together, or, where members are jobs, on its rank alone, which then has its status in
 * run->first_status; what fails there is told when all members are. */
nade_status nd_run_first_member(struct run *run, nade_status (*train)(struct run *run));

/* The first has been trained: each rank trains its share of the others, and all ranks get them all.  run->kept then
 * holds those that came to something. */
nade_status nd_run_member_jobs(struct run *run);

#endif
