/* A training run: what is fixed, what belongs to the current stage, and what changes from iteration to iteration.
 *
 * A run has stages.  With pretraining (the paper's Algorithm 1) these are depth 2, 3, …, L, each with a new output
 * layer, its own schedule and fresh momentum, and then the full run; without it there is the full run alone. */
#ifndef ND_TRAIN_RUN_H
#define ND_TRAIN_RUN_H

#include "backend/backend.h"
#include "model/holes.h"
#include "model/model.h"

struct fresh_rows; /* fresh_rows.c */

enum { ND_RETRIES_MOST = 20 }; /* what the option allows */

struct run {
    nade_context *context;
    nade_train_options options;           /* complete; a resumed run has those of its checkpoint */
    nade_replication_options replication; /* options.replication */
    const size_t *stored_ordering;        /* (stored_length) of a checkpoint; length 0: the table's own order */
    size_t stored_length;
    struct arena arena;       /* what lives as long as the run */
    struct nade_model *model; /* being made */

    struct encoded_rows train, valid;
    uint64_t train_fingerprint, valid_fingerprint; /* of the rows as they were at first */
    struct fresh_rows *fresh;                      /* NULL: the training rows stay */
    double train_scale, valid_scale; /* mean over rows of the sum of log sd: what turns losses into data units */
    uint64_t updates;                /* per iteration */
    size_t valid_repeats;
    const struct backend_entries *entries;
    uint64_t stages;
    size_t asked_blocks; /* of the options, while the network is open (recipe.c) */

    /* The current stage. */
    uint64_t stage;
    struct arena stage_arena;
    struct plan plan;
    struct backend *backend;
    struct update_rule rule;   /* of the next update */
    struct update_rule before; /* of the updates before rule.begin */
    float *best;               /* (plan.parameters) of the best iteration */
    float *spare; /* (plan.parameters) what may become the best; NULL: best itself, where nothing goes back to it */
    uint64_t iterations;

    /* Counters of the stage. */
    uint64_t iteration, update; /* finished */
    double start_loss;          /* validation loss of what the stage began with, iteration 0; NaN: it is no candidate */
    double best_loss;
    uint64_t best_iteration;
    uint64_t fall_from; /* the iteration after which it went back to let the rate fall to zero; 0: it has not */
    uint64_t retries;   /* times that it went back with a lower rate */
    uint64_t diverged[ND_RETRIES_MOST]; /* (diverged_count) iterations finished when it did because of a loss that was
                                           not finite */
    size_t diverged_count;
    struct history_entry *history; /* (iteration) of this stage */
    size_t history_room;

    double started, checkpoint_written, checkpoint_cost; /* seconds */
    bool checkpoint_failed;                              /* and the caller was told */
    bool stop;
    nade_progress progress;
};

/* Rows of the data to learn from: where holes are learnt, run->train has each in several ways (model/holes.h). */
static inline size_t nd_train_rows(const struct run *run)
{
    return run->model->schema.hole_count > 0 ? run->train.rows / ND_WAYS : run->train.rows;
}

/* Whether the run begins as the model of independent columns, which then is iteration 0, a candidate like others. */
static inline bool nd_starts_at_marginals(const struct run *run)
{
    return run->options.start == NADE_START_MARGINALS || run->options.blocks > 0;
}

/* What is validated, kept as best and handed on. */
static inline enum block nd_result_block(const struct run *run)
{
    return run->rule.average > 0 ? BLOCK_AVERAGE : BLOCK_PARAMETERS;
}

double nd_seconds(void);

/* Checks the options, splits, learns the schema, encodes the rows.  Everything but the stage is then set. */
nade_status nd_run_prepare(struct run *run, const nade_table *train, const nade_table *valid);

/* Tells the caller what the prepared run will take; then refuses one that would exceed the memory allowed. */
nade_status nd_run_plan(const struct run *run, const nade_table *train, const nade_table *valid);

/* The learning rate at the start. */
double nd_first_rate(const nade_train_options *options);

/* The rule of run->stage's updates, and how many iterations it has. */
void nd_fill_rule(struct run *run);

/* The rate of the last update that was made. */
double nd_last_rate(const struct run *run);

/* Goes back to the best parameters, if it is time for that (turns.c): after an iteration; after one that could not be
 * finished since the loss of an update was not finite, where nd_may_retry says so.  A resumed run finds out where it
 * did. */
nade_status nd_turn_after_iteration(struct run *run);
bool nd_may_retry(const struct run *run);
nade_status nd_turn_after_divergence(struct run *run, uint64_t update, const char *tensor);
void nd_turns_resume(struct run *run);

bool nd_is_out_of_patience(const struct run *run);

/* Iterations after which the stage ends if validation gets no better from here on. */
uint64_t nd_soonest_end(const struct run *run);

/* Begins run->stage: plan, parameters, backend, counters at zero.  previous is the plan and parameters of the stage
 * before, or NULL for the first. */
nade_status nd_stage_begin(struct run *run, const struct plan *previous, const float *parameters);

/* Goes on from the best parameters with moments at zero, as the rule's beginning wants it. */
nade_status nd_stage_from_best(struct run *run);

/* Begins the stage after run->stage with what that one hands on. */
nade_status nd_stage_next(struct run *run);

/* Closes the stage's backend and frees what belongs to it. */
void nd_stage_end(struct run *run);

#endif
