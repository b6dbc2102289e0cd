/* Training and validation of a network of one ordering. */
#ifndef ND_BACKEND_CUDA_FIXED_H
#define ND_BACKEND_CUDA_FIXED_H

#include "backend/cuda/train/cuda_training.h"

extern const struct training_way nd_fixed_way;

void nd_fixed_free(struct cuda_backend *backend);

#endif
