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

#endif
