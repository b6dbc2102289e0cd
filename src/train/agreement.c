#include "train/agreement.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/shared_work.h"
#include "model/option_rows.h"
#include "train/jobs.h"

enum { OTHERS = 3, WHAT = 64 }; /* beside the options; bytes of a name */

static nade_status check_batch(const struct run *run)
{
    size_t ranks = nd_ranks(run->context);
    if (run->options.kind != NADE_KIND_NETWORK) return NADE_OK; /* which have no batches, and are not shared */
    if (!run->entries->shares && !nd_members_are_jobs(run))
        nd_warn(run->context, "the device %s does not share updates: each of the %zu ranks makes all of them",
                run->entries->name, ranks);
    if (ranks <= run->options.batch) return NADE_OK;
    return nd_fail(run->context, NADE_BAD_CALL,
                   "there are %zu ranks for batches of %zu rows, expected at most one for each row (`batch`)", ranks,
                   (size_t)run->options.batch);
}

static uint64_t hash_layers(const nade_train_options *o)
{
    uint64_t hash = nd_hash(0, &o->layers, sizeof o->layers);
    return o->hidden ? nd_hash(hash, o->hidden, o->layers * sizeof *o->hidden) : hash;
}

nade_status nd_agree_on_options(nade_context *context, const nade_train_options *o)
{
    size_t count = nd_option_row_count;
    if (nd_ranks(context) == 1) return NADE_OK;
    struct agreed *list = nd_alloc(&context->allocator, count + OTHERS, sizeof *list);
    char(*what)[WHAT] = nd_alloc(&context->allocator, count, sizeof *what);
    nade_status status = list && what ? NADE_OK : nd_no_memory(context, "what ranks compare");
    for (size_t i = 0; i < count && status == NADE_OK; i++) {
        double value = nd_option_number(&nd_option_rows[i], o);
        snprintf(what[i], WHAT, "the option %s", nd_option_rows[i].name);
        list[i] = (struct agreed){what[i], nd_hash(0, &value, sizeof value)};
    }
    if (status == NADE_OK) {
        list[count++] = (struct agreed){"the list of hidden layers", hash_layers(o)};
        list[count++] = (struct agreed){"whether sums are exact", (uint64_t)nd_exact_sums(context)};
        list[count++] = (struct agreed){"whether a checkpoint is resumed", o->resume != NULL};
        status = nd_agree(context, list, count);
    }
    nd_free(&context->allocator, list);
    nd_free(&context->allocator, what);
    return status;
}

nade_status nd_agree_on_run(const struct run *run)
{
    const char *device = run->entries->name;
    const struct agreed list[] = {{"the table of training rows", run->train_fingerprint},
                                  {"the table of validation rows", run->valid_fingerprint},
                                  {"the device", nd_hash(0, device, strlen(device))}};
    if (nd_ranks(run->context) == 1) return NADE_OK;
    nade_status status = nd_agree(run->context, list, sizeof list / sizeof *list);
    if (status == NADE_OK) status = nd_agree_on_options(run->context, &run->options);
    return status == NADE_OK ? check_batch(run) : status;
}

nade_status nd_agree_on_checkpoint(const struct run *run)
{
    uint64_t hash = nd_hash(0, &run->iteration, sizeof run->iteration);
    hash = nd_hash(hash, &run->stage, sizeof run->stage);
    hash = nd_hash(hash, &run->member, sizeof run->member);
    hash = nd_hash(hash, &run->best_loss, sizeof run->best_loss);
    hash = nd_hash(hash, run->best, run->plan.parameters * sizeof *run->best);
    return nd_agree(run->context, &(struct agreed){"the checkpoint", hash}, 1);
}

void nd_agree_to_stop(struct run *run)
{
    enum { BY_CLOCK = 1, BY_CALLER = 2 };
    unsigned wish = !run->stop ? 0 : run->out_of_time ? BY_CLOCK : BY_CALLER;
    if (nd_unite(run->context, &wish, sizeof wish) != NADE_OK) return; /* the next call fails too, and says so */
    run->stop = wish != 0;
    run->out_of_time = wish == BY_CLOCK;
}
