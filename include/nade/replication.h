/* Options of training that only the replication of published experiments needs: a nade_replication_options is reached
 * by the member `replication` of nade_train_options.
 *
 *     nade_replication_options replication;
 *     nade_replication_options_init(&replication);
 *     replication.scaled_means = 1;
 *     options.replication = &replication;
 */
#ifndef NADE_REPLICATION_H
#define NADE_REPLICATION_H

#include <math.h>
#include <string.h>

#include "nade/nade.h"

struct nade_replication_options {
    size_t size;
    double stop_train_loss; /* end after the first iteration of the full run whose train_loss is below it, in nats per
                               row and data units as nade_progress has it; NaN: never */
    /* Rows that take the place of others while training goes on: before every iteration but the run's first, fresh
     * fills values (fresh_rows, columns), in data units, and they replace the rows of train that have been there
     * longest, in turn from its first.  number counts these calls from 0 over all stages; equal numbers must give equal
     * rows, because a resumed run asks again for those that would still be there.  Called from the calling thread; a
     * nonzero return ends training with NADE_INTERRUPTED.  Only for tables of real columns without missing cells, all
     * of whose rows are trained on: with a validation table, or with valid_fraction 0.  Means, deviations, marginals
     * and the fingerprint are those of the first rows. */
    int (*fresh)(void *fresh_user, uint64_t number, double *values);
    void *fresh_user;
    size_t fresh_rows; /* at most as many as train has; 0: none, and fresh is not called */
    int rescale; /* 1, NADE_ORDER_FIXED only: a learnt factor for each position of the ordering on the sums that enter
                    the hidden units there, as in the authors' RNADE of 2013 (docs/model.md) */
    double initial_scale; /* hidden weights begin uniform in ±initial_scale/sqrt(inputs of the layer) */
    int scaled_means; /* 1: updates see the gradient of each Gaussian's mean times its scale, as in the authors' code: a
                         narrow Gaussian then takes no leaps, and larger rates hold (docs/model.md) */
    int pretrain_best; /* 1: a stage of pretraining hands on the parameters of its best iteration, not of its last, and
                          the full run keeps those that it began with unless it betters them (best_iteration 0).
                          Without validation rows no iteration is known to be best, and the last is handed on */
    int share_device; /* 1: many trainings run on one CUDA device at the same time, a thread each, so take little of it.
                         A small network (docs/cuda.md says which) then has one multiprocessor to itself: slower
                         alone, faster beside a hundred others.  Sums are rounded in another order, and results differ
                         by that */
    const size_t *given; /* as in nade_train_options: offsetof(nade_replication_options, MEMBER) */
    size_t given_count;
};

/* Their rows, as in train_options.h. */
/* clang-format off */
#define NADE_REPLICATION_FLAGS(ROW) \
    ROW(rescale, FLAG, 0, 0, 1, 18, NADE_NOWHERE, MODEL, "rescale", NULL, NULL, \
        "with --order fixed: learn a factor for each position of the ordering, which begins at 1 and multiplies what " \
        "enters the hidden units there") \
    ROW(scaled_means, FLAG, 0, 0, 1, 20, 16, TRAINING, "scaled-means", NULL, NULL, \
        "real columns: multiply the gradient of each Gaussian's mean by its scale, as the authors' code does; with nag " \
        "larger rates hold") \
    ROW(initial_scale, REAL, 1, 1e-6, 1e3, 19, 15, TRAINING, "initial-scale", "S", "the scale of the initial weights", \
        "hidden weights begin within S / sqrt(units that enter the layer) of 0; 2.45 keeps the variance of relu units " \
        "from layer to layer") \
    ROW(pretrain_best, FLAG, 0, 0, 1, 21, 17, TRAINING, "pretrain-best", NULL, NULL, \
        "go on from the best iteration of each depth, not from its last; the full run begins with it as the best so far")

/* For programs: no flags. */
#define NADE_REPLICATION_CALLS(ROW) \
    ROW(stop_train_loss, BOUND, NAN, 0, 0, 16, NADE_NOWHERE, NO, NULL, NULL, NULL, NULL) \
    ROW(fresh_rows, SIZE, 0, 0, 1e15, 17, 14, NO, NULL, NULL, NULL, NULL) \
    ROW(share_device, FLAG, 0, 0, 1, NADE_NOWHERE, NADE_NOWHERE, NO, NULL, NULL, NULL, NULL)
/* clang-format on */

#define NADE_REPLICATION_OPTIONS(ROW)                                                                                  \
    NADE_REPLICATION_FLAGS(ROW)                                                                                        \
    NADE_REPLICATION_CALLS(ROW)

/* Sets every default: none of them. */
static inline void nade_replication_options_init(nade_replication_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
#define NADE_SET_DEFAULT(member, type, usual, ...) options->member = usual;
    NADE_REPLICATION_OPTIONS(NADE_SET_DEFAULT)
#undef NADE_SET_DEFAULT
}

#endif
