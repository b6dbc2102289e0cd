/* Jobs of small trainings, put on the device together.
 *
 * A device takes only some thirty kernels at a time, however small they are, and a copy may have to wait for one of
 * them to end.  So trainings of one process, each in a thread of its own, wait a moment for each other and go as the
 * blocks of one kernel; what each does between its jobs is then done while no kernel runs. */
#ifndef ND_BACKEND_CUDA_SMALL_LAUNCH_H
#define ND_BACKEND_CUDA_SMALL_LAUNCH_H

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/small/cuda_small_block.h"

/* A training that will run jobs, and its end.  The device's lock is held. */
nade_status nd_together_join(nade_context *context);
void nd_together_leave(void);

/* Runs a job and waits until it is done.  All that it needs is on the device, and the device's lock is not held. */
cudaError_t nd_together_run(const struct small_job *job, enum small_kind kind);

#endif
