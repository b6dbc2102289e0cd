/* The streams on which the steps of an update run beside each other, and the events that order them (cuda_graphs.c).
 */
#ifndef ND_BACKEND_CUDA_STREAMS_H
#define ND_BACKEND_CUDA_STREAMS_H

#include "backend/cuda/train/cuda_pass.h"

struct lanes {
    cudaStream_t main, gradients, steps, draws;
    void *workspace[2]; /* of main and gradients; NULL until first needed */
    cudaEvent_t drawn[ND_DRAWN], freed[ND_DRAWN];
    cudaEvent_t delta, below, gradients_done;
    cudaEvent_t *gradient, *step; /* (layers + 1) */
};

/* Opens all; a failure is work->status, and what there is by then is for nd_lanes_close.  The lists are the arena's. */
void nd_lanes_open(struct cuda_work *work, struct lanes *lanes, struct arena *arena);

/* Memory for products on main and gradients: much, and one block that trains by itself needs none. */
void nd_lanes_need_workspaces(struct cuda_work *work, struct lanes *lanes);

/* layers: the output's too. */
void nd_lanes_close(struct lanes *lanes, size_t layers);

#endif
