/* Optimiser steps of an opened network, for the kernel of cuda_steps.h. */
#ifndef ND_BACKEND_CUDA_STEP_JOBS_H
#define ND_BACKEND_CUDA_STEP_JOBS_H

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/train/cuda_steps.h"

/* What an update's steps need besides their gradients, as the kernels take it. */
struct device_rates nd_cuda_rates(const struct update_rule *rule, uint64_t update);

/* A layer's step with rates, progress and offset left to set; the same of the positions' factors. */
struct step_job nd_cuda_step_job(const struct cuda_backend *backend, nade_optimizer optimizer, size_t layer);
struct step_job nd_cuda_scale_step_job(const struct cuda_backend *backend, nade_optimizer optimizer);

/* Puts a layer's step of update next + offset on a stream. */
void nd_cuda_put_step(struct cuda_work *work, nade_optimizer optimizer, size_t layer, uint32_t offset,
                      cudaStream_t stream);

/* The same of all of the network, whose whole gradient is there; clip above 0: after its norm was brought down to that,
 * for which nd_cuda_need_clip made room. */
void nd_cuda_put_steps(struct cuda_work *work, nade_optimizer optimizer, double clip, uint32_t offset,
                       cudaStream_t stream);
void nd_cuda_need_clip(struct cuda_work *work);

#endif
