/* What the ways of training on the CPU share: cpu_train.c for networks of all orderings, with cpu_residual.c for the
 * residual ones among them, cpu_fixed.c for those of one. */
#ifndef ND_BACKEND_CPU_TRAIN_H
#define ND_BACKEND_CPU_TRAIN_H

#include "backend/cpu/cpu_backend.h"

/* Where the rows of a batch and their observed sets come from. */
enum source { SOURCE_TRAIN, SOURCE_VALID, SOURCE_GIVEN };

struct batch_job {
    struct cpu_backend *backend;
    const struct encoded_rows *cells;
    bool fetched; /* these are the batch's rows alone, in the order of its slots */
    enum source source;
    uint32_t seed;
    uint64_t update;         /* SOURCE_TRAIN */
    uint32_t strata, focus;  /* the same */
    size_t repeats;          /* SOURCE_VALID: slot s of the batch is repeat (first+s) % repeats of a row */
    const uint8_t *observed; /* SOURCE_GIVEN: (rows, D); not read with a fixed order */
    size_t first;            /* place of the batch's first slot in the whole */
    size_t rows;             /* of this batch */
    size_t chunk;
    double factor; /* on gradients: 1 / rows of the mean */
    bool gradients;
    bool scaled_means;                 /* as in the update rule */
    bool makes_gradients, takes_steps; /* what the section of weights is to do, in this order */
    size_t first_task;                 /* of those that a section runs */
    bool whole;                        /* the section of weights runs all its tasks, which may then come in any order */
    const struct update_rule *rule;    /* of the steps */
    struct float_rates rates;
    struct dropout_draw dropout;
};

/* Fills the slot's lines of batch.x, target, weight and factor; unless training walks along an ordering, its input too.
 */
void nd_cpu_prepare_slot(const struct batch_job *job, size_t slot, struct worker_scratch *scratch);

/* Turns the slot's outputs, in the last of batch.delta, into the loss's gradients, and fills batch.loss. */
void nd_cpu_row_loss(const struct batch_job *job, size_t slot, struct worker_scratch *scratch);

/* The optimiser's step on `count` numbers of a tensor, from its number `first` on, by their gradients. */
void nd_cpu_take_step(const struct batch_job *job, size_t tensor, size_t first, size_t count);

/* What comes between gradient and step: memory for it, and its doing (cpu_between.c). */
nade_status nd_cpu_prepare_between(nade_context *context, struct cpu_backend *backend, const struct update_rule *rule);
void nd_cpu_between(struct cpu_backend *backend, const struct update_rule *rule);

/* The first section: all of it, which gives the sum of the rows' losses, in their order; or some chunks alone, and the
 * sum from what batch.loss has then. */
double nd_cpu_run_rows(struct batch_job *job);
void nd_cpu_run_chunks(struct batch_job *job, size_t first, size_t count);
double nd_cpu_batch_loss(const struct batch_job *job);

/* The second section: all of it; or some of its tasks alone, as the job says, and how many there are. */
void nd_cpu_run_section(struct batch_job *job, bool makes_gradients, bool takes_steps);
void nd_cpu_run_tasks(struct batch_job *job, size_t first, size_t count);
size_t nd_cpu_count_tasks(const struct cpu_backend *backend);

/* Refuses sums in a fixed order that ranks can't have. */
nade_status nd_cpu_agree_on_sums(nade_context *context, const struct cpu_backend *backend);

/* A batch's gradient, and the sum of its rows' losses, by all ranks together (cpu_shared.c). */
nade_status nd_cpu_shared_gradient(nade_context *context, struct batch_job *job, double *loss);

/* Fixed order, first section: task number `task` is a chunk of the batch's rows. */
void nd_cpu_fixed_chunk(void *job, size_t task, unsigned worker);

/* Fixed order, second section: a task, how many there are, and what follows them where positions have factors. */
void nd_cpu_fixed_block(void *job, size_t task, unsigned worker);
size_t nd_cpu_fixed_tasks(const struct plan *plan);
void nd_cpu_fixed_scales(const struct batch_job *job);

/* Residual networks: rows first … first+rows-1, whole parts of the batch, to their outputs in the last of batch.delta,
 * and back from the gradients that are there then. */
void nd_cpu_residual_forward(const struct batch_job *job, size_t first, size_t rows, struct worker_scratch *scratch);
void nd_cpu_residual_backward(const struct batch_job *job, size_t first, size_t rows, struct worker_scratch *scratch);

/* The second section for what a residual network has beside its layers. */
void nd_cpu_residual_weights(const struct batch_job *job, const struct weight_block *block, unsigned worker);

#endif
