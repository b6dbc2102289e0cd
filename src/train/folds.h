/* Cross-validation: the length of a run is chosen by folds, then all rows are trained on for that long.
 *
 * Each of K networks is shown all rows but a Kth of them, by which it is validated.  They go side by side, an iteration
 * each in turn, with the same rule: when to turn and which iteration is best is decided by the mean of their losses.
 * The model is then trained on all rows, along the way that led to that iteration. */
#ifndef ND_TRAIN_FOLDS_H
#define ND_TRAIN_FOLDS_H

#include "train/far_cells.h"

/* Fails unless the table and the options allow folds, if any are asked for. */
nade_status nd_folds_check(nade_context *context, const nade_train_options *options, const nade_table *train,
                           const nade_table *valid);

/* Rows of a fold, and their mean sums of log sd. */
struct fold_rows {
    struct encoded_rows train, valid;
    double train_scale, valid_scale;
};

/* The rows of fold number f, which live as long as the run; cells that have no say are added to found. */
nade_status nd_fold_rows(struct run *run, const nade_table *table, size_t f, struct fold_rows *rows,
                         struct far_cells *found);

/* Begins the networks of the folds for each of the trials, which are the prepared run itself or copies of it: rows and
 * all that lives as long as the run are run's. */
nade_status nd_folds_begin(struct run *run, struct run *trial, size_t trials, const nade_table *table);

/* What follows when the folds are trained: all rows.  A caller who has stopped them gets the first fold's best network;
 * time that has run out there ended them, and what is left is for all rows. */
nade_status nd_folds_finish(struct run *run);

/* Closes what is open of them. */
void nd_folds_end(struct run *run);

/* Another member, whose stage has begun, is trained on all rows as the first was. */
nade_status nd_folds_walk(struct run *run);

#endif
