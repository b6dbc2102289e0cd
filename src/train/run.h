/* A training run: what is fixed, what belongs to the current stage, and what changes from iteration to iteration.
 *
 * A run has stages.  With pretraining (the paper's Algorithm 1) these are depth 2, 3, …, L, each with a new output
 * layer, its own schedule and fresh momentum, and then the full run; without it there is the full run alone. */
#ifndef ND_TRAIN_RUN_H
#define ND_TRAIN_RUN_H

#include "backend/backend.h"
#include "base/scratch_file.h"
#include "data/shared_rows.h"
#include "model/holes.h"
#include "model/model.h"

struct pool;         /* base/parallel.h */
struct fresh_rows;   /* fresh_rows.c */
struct bootstrap;    /* bootstrap.c */
struct kept_reports; /* jobs.h */

enum { ND_RETRIES_MOST = 20 }; /* what the option allows */

/* Where a run went back to its best parameters. */
struct turn {
    uint64_t from, best;       /* iterations: the last before, and the one that it went back to */
    struct update_rule before; /* the rule of the updates up to there */
};

/* What trials vary of a residual network and its training. */
struct candidate {
    double dropout;
    int direct;
    size_t width;
    double weight_decay;
    size_t components; /* of columns' mixtures */
    uint64_t augment, updates;
};

enum { ND_CANDIDATES_MOST = 16 };

/* How far a network has come with the updates of an iteration. */
struct network_updates {
    nade_status status; /* NADE_NOT_FINITE: the loss of update `failed` was not */
    uint64_t made, failed;
    double sum; /* of their losses */
};

/* What a run came to with a member that is finished. */
struct kept_member {
    float *parameters; /* (the model's plan.parameters), in the model's own */
    uint64_t iteration, best_iteration, retries;
    double best_loss, start_loss;
    struct history_entry *history; /* (iteration) */
};

struct run {
    nade_context *context;
    unsigned rank, ranks;                 /* of the context's world, also while a job leaves it (jobs.h) */
    nade_train_options options;           /* complete; a resumed run has those of its checkpoint */
    nade_replication_options replication; /* options.replication */
    const size_t *stored_ordering;        /* (stored_length) of a checkpoint; length 0: the table's own order */
    size_t stored_length;
    struct arena arena;       /* what lives as long as the run */
    struct nade_model *model; /* being made */

    struct encoded_rows train, valid;
    struct scratch_file scratch;       /* what train is in where the table's rows are mapped (mapped_training.c) */
    struct shared_rows *shared;        /* or over ranks, train having no data then; NULL: they are not spread */
    struct encoded_rows sample;        /* in their place where marginals are fitted then; no rows: train itself */
    size_t train_rows;                 /* of the data to learn from, by rules that count rows (row_copies.h) */
    struct encoded_rows whole;         /* the training rows; train is a sample of them where there is bootstrap */
    const struct bootstrap *bootstrap; /* NULL: none */
    struct arena sample_arena;         /* what train is in then */
    uint64_t train_fingerprint, valid_fingerprint; /* of the rows as they were at first */
    struct fresh_rows *fresh;                      /* NULL: the training rows stay */
    double train_scale, valid_scale; /* mean over rows of the sum of log sd: what turns losses into data units */
    uint64_t updates;                /* per iteration */
    size_t valid_rows;               /* all that validate, also where folds share them */
    size_t groups;                   /* of rows that stay together; 0: none do */
    size_t valid_repeats;
    const struct backend_entries *entries;
    uint64_t stages;
    size_t asked_blocks; /* of the options, while the network is open (recipe.c) */
    struct {
        bool dropout, direct, width, weight_decay, components, augment, updates;
    } open;                                         /* what the caller has left to the recipe */
    struct architecture architecture;               /* of the full network */
    struct candidate candidate[ND_CANDIDATES_MOST]; /* (candidates) */
    size_t candidates;                              /* that are tried; 0: there are no trials */
    struct nade_model *few; /* what the model is in trials whose columns' mixtures have fewer components
                               (few_components.c); NULL: there are none */

    /* The current stage. */
    uint64_t stage;
    struct arena stage_arena;
    struct plan plan;
    struct backend *backend;
    struct update_rule rule; /* of the next update */
    float *best;             /* (plan.parameters) of the best iteration */
    float *spare; /* (plan.parameters) what may become the best; NULL: best itself, where nothing goes back to it */
    uint64_t iterations;

    /* Counters of the stage. */
    uint64_t iteration, update; /* finished */
    uint64_t made, within;      /* updates of the iteration that is being made: by this network, by all */
    uint64_t skipped;           /* numbers of updates that were passed over */
    uint64_t failed;            /* the update whose loss was not finite, of which network */
    struct run *failed_network;
    double start_loss; /* validation loss of what the stage began with, iteration 0; NaN: it is no candidate */
    double best_loss;
    uint64_t best_iteration;
    uint64_t fall_from; /* the iteration after which it went back to let the rate fall to zero; 0: it has not */
    uint64_t retries;   /* times that it went back with a lower rate */
    uint64_t diverged[ND_RETRIES_MOST]; /* (diverged_count) iterations finished when it did because of a loss that was
                                           not finite */
    size_t diverged_count;
    struct turn turn[1 + ND_RETRIES_MOST]; /* (turns) */
    size_t turns;
    struct history_entry *history; /* (iteration) of this stage */
    size_t history_room;

    double started, checkpoint_written, checkpoint_cost; /* seconds */
    bool checkpoint_failed;                              /* and the caller was told */
    double time_limit;                                   /* seconds, of what is being done; 0: none */
    bool stop, out_of_time;                              /* out_of_time: that is why */
    bool longer;                                         /* the last iteration that was allowed was the best */
    nade_progress progress;

    uint64_t trial, chosen;   /* numbers from 1: the trial that this run is, the one that it was; 0: none */
    uint64_t ahead;           /* updates that other trials will at most have made until one is chosen */
    size_t member;            /* that is being trained (members.c) */
    struct kept_member *kept; /* (options.members), of which kept_count are finished; NULL: there is one */
    size_t kept_count;
    bool cut_short; /* time ran out in one of them: the checkpoint stays where it was then, for the whole of it */
    struct course *course; /* that folds chose (folds.c) */

    struct run *fold; /* (fold_count) while folds are trained: what is a network's own (folds.c); then their rows */
    size_t fold_count;

    struct pool *lanes;         /* threads for networks side by side (side_by_side.c); NULL: one after the other */
    struct network_updates own; /* a network's, of the iteration that is being made */
    bool updated;               /* that iteration's updates were made side by side with those of other runs */
    uint64_t *made_in_all;      /* updates of all networks since training began */
    uint64_t beside;            /* updates an iteration of the other trials that go on in step with this one, */
    uint64_t beside_until;      /* to so many iterations */

    double loss;                  /* of a network: of its updates, or its validation, whichever came last */
    struct kept_reports *reports; /* of a job; NULL: it is none */
    unsigned first_rank;          /* whose job the first member is */
    nade_status first_status;     /* how that job ended */
};

/* The networks that are trained alike: the run's one, or those of its folds. */
static inline size_t nd_networks(const struct run *run)
{
    return run->fold_count ? run->fold_count : 1;
}

static inline struct run *nd_network(struct run *run, size_t i)
{
    return run->fold_count ? &run->fold[i] : run;
}

/* Whether the run begins as the model of independent columns, which then is iteration 0, a candidate like others. */
static inline bool nd_starts_at_marginals(const struct run *run)
{
    return run->options.start == NADE_START_MARGINALS || run->options.blocks > 0 || nd_is_linear(&run->model->plan);
}

/* What is validated, kept as best and handed on. */
static inline enum block nd_result_block(const struct run *run)
{
    return run->rule.average > 0 ? BLOCK_AVERAGE : BLOCK_PARAMETERS;
}

double nd_seconds(void);

/* The seed of the member that is being trained; the seconds that may have passed when what is being done ends, 0: any
 * (members.c): folds leave time for all rows, trials for what they choose, members for each other. */
uint32_t nd_member_seed(const struct run *run);
double nd_time_limit(const struct run *run);

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
 * finished since the loss of update run->failed was not finite: an error where it may not retry.  A resumed run finds
 * out where it did. */
nade_status nd_turn_after_iteration(struct run *run);
bool nd_may_retry(const struct run *run);
nade_status nd_turn_after_divergence(struct run *run);
void nd_turns_resume(struct run *run);

bool nd_is_out_of_patience(const struct run *run);

/* Iterations after which the stage ends if validation gets no better from here on. */
uint64_t nd_soonest_end(const struct run *run);

/* Begins run->stage: plan, parameters, backend, counters at zero.  previous is the plan and parameters of the stage
 * before, or NULL for the first. */
nade_status nd_stage_begin(struct run *run, const struct plan *previous, const float *parameters);

/* Iterations until the stage ends or `until` are done, from where it stands: it may be called again to go on. */
nade_status nd_run_stage(struct run *run, uint64_t until);

/* Parts of it: says where the run begins; whether there is another iteration to make; makes it. */
nade_status nd_open_iterations(struct run *run);
bool nd_goes_on(const struct run *run, uint64_t until);
nade_status nd_run_iteration(struct run *run);

/* Adds an iteration to the history. */
nade_status nd_remember(struct run *run, double train_loss, double valid_loss);

/* Parts of an iteration.  Tells the caller where the run stands; makes an iteration's updates, *loss their mean in data
 * units, NADE_NOT_FINITE where that of run->failed was not finite; keeps what the networks have come to as their best,
 * NADE_NOT_FINITE where it can't be; fails for a run that has diverged unless it may retry, and names the tensor. */
void nd_tell(struct run *run, bool iteration_done);
void nd_make_slice(nade_context *context, const struct run *run, struct run *network, uint64_t until,
                   struct network_updates *own);
nade_status nd_run_updates(struct run *run, double *loss);
nade_status nd_keep_parameters(struct run *run);
nade_status nd_fail_diverged(struct run *run, const char **tensor);

/* Fits the columns' marginals to rows, those with few components too. */
nade_status nd_run_marginals(struct run *run, const struct encoded_rows *rows);

/* Encodes rows and finds their mean sum of log sd, and each one's, if it is wanted (each may be NULL).  Training rows
 * are told their holes: each is there in several ways (model/holes.h); validation is about rows as they are scored. */
nade_status nd_encode_rows(struct run *run, const nade_table *table, struct chosen_rows rows, bool training,
                           struct encoded_rows *cells, double *scale, const double **each);

/* Counters of a stage at zero, and its rule. */
void nd_stage_reset(struct run *run);

/* Goes on from the best parameters with moments at zero, as the rule's beginning wants it. */
nade_status nd_stage_from_best(struct run *run);

/* Begins the stage after run->stage with what that one hands on. */
nade_status nd_stage_next(struct run *run);

/* Closes the stage's backend and frees what belongs to it. */
void nd_stage_end(struct run *run);

#endif
