/* The training of Boltzmann machines and deep belief networks with one setting or several, side by side. */
#ifndef PAPER_RBM_RUNS_H
#define PAPER_RBM_RUNS_H

#include "binary_split.h"
#include "rbm_score.h"

/* The run of one setting; begins with what it is to be trained with. */
struct rbm_run {
    double rate, weight_decay;
    uint32_t seed;
    struct dbn dbn;     /* its parameters are those of the best iteration, by validation, where log Z is exact, else
                           the last */
    struct log_z log_z; /* of the upmost machine */
    double valid;       /* mean log density of the validation rows, of two layers their mean bound; NaN: it diverged */
    size_t iteration;   /* the best one, of the last layer */
    bool lost;          /* there was no memory */
};

/* Trains all runs on top of a first layer (NULL: they begin with it), as many at a time as the job has threads, which
 * they share.  Each ends in the same bytes whatever
 * their number and that of the threads.  A signal ends them early: paper_check_interrupt. */
void rbm_runs_train(const struct paper_job *job, const struct binary_split *split, const struct rbm *first,
                    struct rbm_run *runs, size_t count);

/* AIS as the job's recipe has it. */
struct ais_rule rbm_ais_rule(const struct paper_job *job, const float *rates, uint32_t seed, unsigned threads);

#endif
