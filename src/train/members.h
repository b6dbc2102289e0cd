/* Members: several networks, alike but for their seeds, that make one model together.  The first is the network that
 * training without members gives.  Each other one has its own initial parameters, rows, masks and dropout, but the
 * split, the schema, the validation draws and the options of the first.  They are trained one after the other, or as
 * jobs of ranks (member_jobs.h); with folds all walk the course that the folds chose.  One that diverges is left out,
 * unless it is the first. */
#ifndef ND_TRAIN_MEMBERS_H
#define ND_TRAIN_MEMBERS_H

#include "base/json.h"
#include "train/run.h"

/* What members can't be asked for together with. */
nade_status nd_members_check(nade_context *context, const nade_train_options *options);

/* The first, or after a resume another, has been trained, and that ended with so_far: keeps it, or leaves it out, and
 * trains the others.  Afterwards the run's counters and history are the first's again. */
nade_status nd_members_run(struct run *run, nade_status so_far);

/* Parts of it.  Makes room for what members come to, of so many parameters each; trains member number `member`, which
 * is not the first; whether what the run came to is one: a member that is called off before its last iteration is none,
 * but the first is better than nothing; keeps it as `kept`, an element of run->kept; says that one is left out, and
 * why.
 */
nade_status nd_members_need_room(struct run *run, size_t parameters);
nade_status nd_members_train(struct run *run, size_t member);
bool nd_is_called_off(const struct run *run);
bool nd_is_good_member(const struct run *run);
nade_status nd_member_keep(struct run *run, struct kept_member *kept);
void nd_member_leave_out(const struct run *run, size_t member, const char *why);

/* Puts into the model's record what each of several came to; with folds that is the same for all. */
nade_status nd_members_record(const struct run *run);

/* Checkpoints: what is known of finished members, only where there are some; their parameters are tensors named by
 * nd_kept_name. */
void nd_members_to_json(const struct run *run, struct json_writer *writer);
nade_status nd_members_from_json(struct run *run, const struct json_value *text);
enum { ND_KEPT_NAME = 16 };
const char *nd_kept_name(size_t member, char name[ND_KEPT_NAME]);

#endif
