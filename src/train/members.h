/* Members: several networks, alike but for their seeds, that make one model together.  The first is the network that
 * training without members gives.  Each other one has its own initial parameters, rows, masks and dropout, but the
 * split, the schema, the validation draws and the options of the first.  They are trained one after the other; with
 * folds all walk the course that the folds chose. */
#ifndef ND_TRAIN_MEMBERS_H
#define ND_TRAIN_MEMBERS_H

#include "base/json.h"
#include "train/run.h"

/* What members can't be asked for together with. */
nade_status nd_members_check(nade_context *context, const nade_train_options *options);

/* The first, or after a resume another, has been trained: keeps it and trains the others.  Afterwards the run's
 * counters and history are the first's again. */
nade_status nd_members_run(struct run *run);

/* Puts into the model's record what each of several came to; with folds that is the same for all. */
nade_status nd_members_record(const struct run *run);

/* Checkpoints: what is known of finished members, only where there are some; their parameters are tensors named by
 * nd_kept_name. */
void nd_members_to_json(const struct run *run, struct json_writer *writer);
nade_status nd_members_from_json(struct run *run, const struct json_value *text);
enum { ND_KEPT_NAME = 16 };
const char *nd_kept_name(size_t member, char name[ND_KEPT_NAME]);

#endif
