/* Trials: several residual networks are begun, and validation chooses the one that goes on (docs/recipe.md).
 *
 * All candidates of the recipe are trained for some iterations, the better ones (standings.h) for as many again, and so
 * on until one is left.  It is a run like any other, with the course of the rate of its whole length, so that nothing
 * is trained twice, and the model is what a run with the chosen options alone gives. */
#ifndef ND_TRAIN_TRIALS_H
#define ND_TRAIN_TRIALS_H

#include "train/run.h"

/* Trains the candidates of a prepared run, in folds where it has some, until one is chosen.  The run then stands where
 * that one does, with its options, and nd_run_stage goes on from there: at once where the time for trials is over, not
 * at all where the caller has stopped them.  A candidate that diverges is out; where all do, NADE_NOT_FINITE. */
nade_status nd_trials_run(struct run *run, const nade_table *table);

/* Iterations at most of candidates that are not chosen. */
uint64_t nd_trials_iterations(const struct run *run);

#endif
