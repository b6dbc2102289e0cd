/* Optimiser steps of an opened network, for the kernel of cuda_steps.h. */
#ifndef ND_BACKEND_CUDA_STEP_JOBS_H
#define ND_BACKEND_CUDA_STEP_JOBS_H

#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/train/cuda_steps.h"

/* What an update's steps need besides their gradients, as the kernels take it. */
struct device_rates nd_cuda_rates(const struct update_rule *rule, uint64_t update);

/* What decides which kernels make the steps; captured updates are those of one. */
struct step_way {
    nade_optimizer optimizer;
    bool averaged;
    double clip; /* 0: none */
};

struct step_way nd_cuda_step_way(const struct update_rule *rule);

/* A layer's step with rates, progress and offset left to set; the same of the positions' factors. */
struct step_job nd_cuda_step_job(const struct cuda_backend *backend, const struct step_way *way, size_t layer);
struct step_job nd_cuda_scale_step_job(const struct cuda_backend *backend, const struct step_way *way);

/* Memory that the steps need besides moments: an average, the parts of a norm. */
void nd_cuda_need_steps(struct cuda_work *work, const struct step_way *way);

/* Puts a layer's step of update next + offset on a stream. */
void nd_cuda_put_step(struct cuda_work *work, const struct step_way *way, size_t layer, uint32_t offset,
                      cudaStream_t stream);

/* The same of all of the network, whose whole gradient is there: its norm is brought down first where there is clip. */
void nd_cuda_put_steps(struct cuda_work *work, const struct step_way *way, uint32_t offset, cudaStream_t stream);

#endif
