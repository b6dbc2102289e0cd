/* Checkpoints: all that a run needs to go on as if nothing had happened (docs/formats.md).
 *
 * A checkpoint is a safetensors file: the stage's parameters, best parameters, moments and, where there is one, average
 * as flat tensors, and a JSON text with the options, the counters, the history and fingerprints of the rows.  Random
 * numbers need no state. */
#ifndef ND_TRAIN_CHECKPOINT_H
#define ND_TRAIN_CHECKPOINT_H

#include "base/json.h"
#include "model/safetensors.h"
#include "train/run.h"

struct checkpoint {
    struct safetensors file;
    struct arena arena;            /* of the text's values */
    const struct json_value *text; /* an object */
    bool is_open;
};

/* Writes run->options.checkpoint, of several ranks the first, if there is one and the last writing is not too recent: a
 * fiftieth of the time at most goes into it, and a hundredth of the time that the run has taken so far passes in
 * between.  The last iteration of a stage is always written. */
nade_status nd_checkpoint_after_iteration(struct run *run);

/* Opens run->options.resume and lets its options replace the run's, except for paths, device, precision, time limit and
 * progress. An option that is neither the default nor the checkpoint's is refused by name, one of
 * options.given also when it is the default.  After any outcome
 * nd_checkpoint_close frees what there is. */
nade_status nd_checkpoint_open(struct run *run, struct checkpoint *checkpoint);

/* Refuses rows of a prepared run that are not the checkpoint's. */
nade_status nd_checkpoint_check_rows(struct run *run, const struct checkpoint *checkpoint);

/* Begins the checkpoint's stage in a prepared run and restores its state. */
nade_status nd_checkpoint_restore(struct run *run, struct checkpoint *checkpoint);

void nd_checkpoint_close(struct checkpoint *checkpoint);

/* A history as checkpoints have it; false: the list is none, or there is no memory for it. */
void nd_history_to_json(const struct history_entry *history, uint64_t count, struct json_writer *writer);
bool nd_history_from_json(struct arena *arena, const struct json_value *list, uint64_t *count,
                          struct history_entry **history);

#endif
