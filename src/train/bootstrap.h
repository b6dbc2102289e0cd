/* Members on samples of their own: as many rows as there are, drawn with replacement, so that members differ as models
 * of other samples of the population would.
 *
 * What is drawn are the rows of the data, with all their copies where weights only compare them, or whole groups.
 * Schema, validation rows and marginals are those of all rows. */
#ifndef ND_TRAIN_BOOTSTRAP_H
#define ND_TRAIN_BOOTSTRAP_H

#include "train/row_copies.h"
#include "train/run.h"

/* Notes what is drawn of the run's training rows, which were encoded from these, and the sum of log sd of each. */
nade_status nd_bootstrap_prepare(struct run *run, const nade_table *table, const struct row_copies *copies,
                                 const double *log_scale);

/* Makes run->train the sample of run->member; without bootstrap nothing is done. */
nade_status nd_bootstrap_draw(struct run *run);

/* Fails for a single network. */
nade_status nd_bootstrap_check(const struct run *run);

#endif
