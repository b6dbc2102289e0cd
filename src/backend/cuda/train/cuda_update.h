/* An update's work on its streams, in the order that they allow (cuda_streams.h). */
#ifndef ND_BACKEND_CUDA_UPDATE_H
#define ND_BACKEND_CUDA_UPDATE_H

#include "backend/cuda/train/cuda_step_jobs.h"
#include "backend/cuda/train/cuda_streams.h"

void nd_update_wait(struct cuda_work *work, cudaStream_t stream, cudaEvent_t event);
void nd_update_record(struct cuda_work *work, cudaEvent_t event, cudaStream_t stream);

/* Forward through all layers, from drawn rows `which`; after_another: each layer waits for its own step of the update
 * before. */
void nd_update_forward(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass, int which,
                       bool after_another);

/* Back through the layers, top first; with steps, those of update next + offset, each layer steps as soon as it can. */
void nd_update_backward(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass, int which,
                        const struct step_way *steps, uint32_t offset);

/* Joins the streams into main. */
void nd_update_join(struct cuda_work *work, struct update_streams *streams, bool steps);

/* The same forward on main alone, where no gradient will be asked for. */
void nd_update_outputs(struct cuda_work *work, struct update_streams *streams, struct cuda_pass *pass);

#endif
