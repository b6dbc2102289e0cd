/* Training of restricted Boltzmann machines by contrastive divergence: the gradient of the log density is what the data
 * give less what the machine's own states give, the latter after a few Gibbs steps from the data (CD-k) or from where
 * the last update's chains ended (persistent, PCD). */
#ifndef PAPER_RBM_TRAIN_H
#define PAPER_RBM_TRAIN_H

#include "rbm.h"

/* Where training rows come from. */
struct rbm_feed {
    size_t rows;
    /* The row's units for a slot of an update; false without memory. */
    bool (*list)(const void *user, size_t row, uint64_t update, uint32_t slot, struct unit_list *units);
    const void *user;
};

struct rbm_rule {
    size_t steps;       /* k */
    size_t first_steps; /* k of the first updates, from which it grows evenly over the run; 0: always steps */
    int persistent;
    int centered; /* moves as the gradient of a machine whose units are counted from their means would */
    size_t batch;
    double momentum, rate, weight_decay;
    uint64_t updates; /* of the whole run: the rate falls linearly to 0 */
    uint32_t seed;
    uint32_t purpose; /* of the chains' random numbers */
    unsigned threads;
};

/* A row of the batch, and the chain that goes with it. */
struct rbm_slot {
    struct unit_list data;
    float *given, *own; /* (hidden) probabilities given the data, and given the chain's visible units */
    bool lost;          /* the row could not be had */
    struct rbm_chain chain;
};

struct rbm_trainer {
    struct rbm *rbm;
    struct rbm_rule rule;
    struct rbm_feed feed;
    struct rbm_slot *slot; /* (batch) */
    float *gradient;       /* (parameter_count) of the mean log density of the batch, upwards */
    float *velocity;       /* (parameter_count) */
    float *mean;           /* (visible, then hidden) of the data, over the last hundred updates or so; of centered */
    uint64_t update;       /* how many have been made */
};

/* The machine is to have its first parameters.  False without memory; rbm_trainer_close in either case. */
bool rbm_trainer_open(struct rbm_trainer *trainer, struct rbm *rbm, const struct rbm_rule *rule,
                      const struct rbm_feed *feed);

/* The gradient of the update that comes next; moves the chains.  False without memory. */
bool rbm_trainer_gradient(struct rbm_trainer *trainer);

/* So many updates; false without memory. */
bool rbm_trainer_run(struct rbm_trainer *trainer, uint64_t updates);

void rbm_trainer_close(struct rbm_trainer *trainer);

#endif
