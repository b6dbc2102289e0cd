/* A training on the device: its buffers, and the two ways in which its updates run. */
#ifndef ND_BACKEND_CUDA_TRAINING_H
#define ND_BACKEND_CUDA_TRAINING_H

#include "backend/cuda/train/cuda_streams.h"

enum { ND_GRAPH_UPDATES = 20 };

/* What the graphs were captured for; other values need other graphs. */
struct captured {
    size_t batch;
    nade_optimizer optimizer;
    uint32_t seed;
    cudaGraphExec_t many, one; /* ND_GRAPH_UPDATES updates, and a single one */
};

struct cuda_training {
    struct cuda_pass train, valid;
    struct lanes lanes;
    struct captured captured;
    struct update_rule rule; /* of the last updates; batch 0: there were none */
    struct device_progress *progress;
    double *row_loss; /* (ND_GRAPH_UPDATES, batch) */
    size_t updates;   /* room in the arrays below */
    struct device_rates *rates;
    double *loss;
    struct device_rates *host_rates; /* (updates) */
    double *host_loss;               /* (updates) */
    double *valid_loss;              /* (valid_losses + 1): of validation rows, and their sum */
    size_t valid_losses;
    bool together;      /* among those of cuda_small_launch.h */
    float *saved[3];    /* parameters and moments before updates that one block makes; NULL until first needed */
    struct arena arena; /* what has the backend's life */
    struct arena room;  /* host_rates, host_loss */
};

/* The rows of update `offset` of a graph, drawn into half `which` of the buffers. */
struct draw_job nd_train_draw(const struct cuda_backend *backend, uint32_t seed, uint32_t offset, int which);

/* ---- as graphs of many kernels (cuda_graphs.c) ------------------------------------------------------------------ */

/* Buffers and graphs for updates of the rule, whose losses and rates have room. */
nade_status nd_graphs_prepare(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule);

void nd_graphs_launch(struct cuda_work *work, uint64_t updates);

/* The gradient of rows drawn by the job, without a step; *loss: their mean loss. */
nade_status nd_gradient_alone(struct cuda_work *work, const struct draw_job *job, size_t rows, double *loss);

/* ---- by one block (cuda_small.c) --------------------------------------------------------------------------------- */

/* Whether updates of the rule are to be made by one block, and can be. */
bool nd_small_is_meant(const struct cuda_backend *backend, const struct update_rule *rule);

/* What they need besides; and its end. */
nade_status nd_small_prepare(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule);
void nd_small_free(struct cuda_training *training);

/* Others need not wait for this training any more. */
void nd_small_leave(struct cuda_training *training);

/* Saves parameters and moments and makes `updates` updates, the first of them being `first`; progress and rates are on
 * their way on the main lane.  The device's lock is not held. */
void nd_small_run(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t updates);

/* After an update that failed: parameters and moments as they were before it.  The lock is held. */
void nd_small_repeat(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t updates);

/* *sum, on the device, = the losses of all validation rows under all their draws; after updates by one block.  The lock
 * is held. */
void nd_small_validate(struct cuda_work *work, uint32_t seed, size_t repeats, double *sum);

#endif
