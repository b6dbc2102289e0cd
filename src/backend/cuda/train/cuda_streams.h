/* The streams on which the parts of an update run beside each other, and the events that order them (cuda_update.c).
 */
#ifndef ND_BACKEND_CUDA_STREAMS_H
#define ND_BACKEND_CUDA_STREAMS_H

#include "backend/cuda/train/cuda_pass.h"

/* Those whose products need memory of their own. */
enum { WORKSPACE_MAIN, WORKSPACE_GRADIENTS, WORKSPACE_DIRECT, WORKSPACES };

struct update_streams {
    cudaStream_t main; /* the backend's */
    cudaStream_t gradients, steps, draws;
    cudaStream_t direct;         /* NULL unless there is a linear path */
    void *workspace[WORKSPACES]; /* NULL until first needed */
    cudaEvent_t drawn[ND_DRAWN], freed[ND_DRAWN];
    cudaEvent_t delta, below, gradients_done;
    cudaEvent_t factor;                              /* where gradients are clipped */
    cudaEvent_t begun, direct_done, vectors_stepped; /* of residual networks */
    cudaEvent_t *gradient, *step;                    /* (layers + 1) */
};

/* Opens all; a failure is work->status, and what there is by then is for nd_streams_close.  The lists are the arena's.
 */
void nd_streams_open(struct cuda_work *work, struct update_streams *streams, struct arena *arena);

/* Memory for products: much, and one block that trains by itself needs none. */
void nd_streams_need_workspaces(struct cuda_work *work, struct update_streams *streams);

/* layers: the output's too. */
void nd_streams_close(struct update_streams *streams, size_t layers);

#endif
