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

/* Steps of an update are numbered: layers, the output's too, then of a residual network its vectors, all in one, and
 * the linear path, of a fixed ordering the positions' factors. */
size_t nd_cuda_vector_job(const struct cuda_backend *backend);
size_t nd_cuda_direct_job(const struct cuda_backend *backend);

/* A step with rates, progress and offset left to set. */
struct step_job nd_cuda_step_job(const struct cuda_backend *backend, const struct step_way *way, size_t number);

/* Memory that the steps need besides moments: an average, the parts of a norm, the list of all.  What updates are
 * captured with; called anew for each capture. */
void nd_cuda_need_steps(struct cuda_work *work, const struct step_way *way);

/* Puts one step of update next + offset on a stream; where there is clip, what came between is done. */
void nd_cuda_put_step(struct cuda_work *work, const struct step_way *way, size_t number, uint32_t offset,
                      cudaStream_t stream);

/* What comes between, where there is clip: the squares of one step's gradient; once those of all are there, the factor
 * for all. */
void nd_cuda_put_squares(struct cuda_work *work, const struct step_way *way, size_t number, cudaStream_t stream);
void nd_cuda_put_factor(struct cuda_work *work, const struct step_way *way, cudaStream_t stream);

/* All of that at once, for a network whose whole gradient is there. */
void nd_cuda_put_steps(struct cuda_work *work, const struct step_way *way, uint32_t offset, cudaStream_t stream);

#endif
