/* Training of a small network by one block of threads: when, and how its jobs come to the device. */
#ifndef ND_BACKEND_CUDA_SMALL_H
#define ND_BACKEND_CUDA_SMALL_H

#include "backend/cuda/train/cuda_training.h"

extern const struct training_way nd_small_way;

void nd_small_free(struct cuda_backend *backend);

#endif
