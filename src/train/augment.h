/* Rows drawn from a mixture of Gaussians, shown to a network beside the training rows (docs/recipe.md).
 *
 * Where few rows are Gaussian, or nearly, a network that is shown these alone learns them by heart before it has learnt
 * how columns lean on each other.  A mixture of Gaussians with covariances has little to learn; rows drawn from it hand
 * that on, and the rows themselves say what it lacks. */
#ifndef ND_TRAIN_AUGMENT_H
#define ND_TRAIN_AUGMENT_H

#include "train/run.h"

/* Refuses options that rows can't be drawn for; once rows and columns are known, tables that are too large. */
nade_status nd_augment_check(nade_context *context, const nade_train_options *options);

nade_status nd_augment_check_size(const struct run *run);

/* Whether such rows are cheap for the run's table: candidates with them are tried. */
bool nd_augment_is_cheap(const struct run *run);

/* *rows: the rows that run->train is, and options.augment times as many that are drawn, in run->stage_arena; the first
 * alone where there are not two columns to draw. */
nade_status nd_augment_rows(struct run *run, struct encoded_rows *rows);

#endif
