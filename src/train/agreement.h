/* What ranks compare before they train together: each has read options and rows for itself. */
#ifndef ND_TRAIN_AGREEMENT_H
#define ND_TRAIN_AGREEMENT_H

#include "train/run.h"

/* The options as they are given. */
nade_status nd_agree_on_options(nade_context *context, const nade_train_options *options);

/* Of a prepared run: rows, device, and the options that follow from them.  Fails on all ranks with a sentence about the
 * first that differs, and where there are more ranks than rows in a batch. */
nade_status nd_agree_on_run(const struct run *run);

/* Of one that was begun: where a checkpoint has brought it. */
nade_status nd_agree_on_checkpoint(const struct run *run);

/* A wish to stop, the caller's or the clock's, that one rank has is that of all. */
void nd_agree_to_stop(struct run *run);

#endif
