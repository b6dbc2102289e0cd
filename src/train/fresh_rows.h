/* Rows that take the place of others while training goes on (nade_replication_options.fresh).
 *
 * The training rows are a ring: call n of the caller's function replaces `fresh_rows` of them from row n · fresh_rows,
 * modulo their number. */
#ifndef ND_TRAIN_FRESH_ROWS_H
#define ND_TRAIN_FRESH_ROWS_H

#include "train/run.h"

/* Fails unless the table and the options allow fresh rows, if any are asked for. */
nade_status nd_fresh_check(nade_context *context, const nade_train_options *options, const nade_table *train,
                           const nade_table *valid);

/* Memory for a call's rows and for encoding them, once run->train is there. */
nade_status nd_fresh_prepare(struct run *run);

/* Before each iteration: replaces rows, and tells the backend, unless it is the run's first. */
nade_status nd_fresh_before_iteration(struct run *run);

/* In a run whose stage and counters are a checkpoint's: brings the rows to where they were when it was written, by
 * asking again for those that are still among them. */
nade_status nd_fresh_restore(struct run *run);

#endif
