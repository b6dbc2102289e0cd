/* Jobs of small trainings, launched together.
 *
 * A device takes only some thirty kernels at a time, however small they are, and a copy may have to wait for one of
 * them to end.  So trainings of one process, each in a thread and mostly in a context of its own, wait a moment for
 * each other and go as the blocks of one kernel; what each does between its jobs is then done while no kernel runs.
 * They can meet nowhere but in the process: the queues of jobs are global, and the one thing of the library that is. */
#ifndef ND_BACKEND_CUDA_SMALL_LAUNCH_H
#define ND_BACKEND_CUDA_SMALL_LAUNCH_H

#include "backend/cuda/cuda_device.h"
#include "backend/cuda/small/cuda_small_block.h"

/* A training that will run jobs, and its end.  shared_most: as in struct device_plan.  The entries' lock is held. */
nade_status nd_small_launch_join(nade_context *context, int32_t shared_most);
void nd_small_launch_leave(void);

/* Runs a job and waits until it is done.  All that it needs is on the device, and the entries' lock is not held. */
cudaError_t nd_small_launch(const struct small_job *job, int kind);

#endif
