#include "train/members.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fault.h"
#include "base/philox.h"
#include "train/bootstrap.h"
#include "train/checkpoint.h"
#include "train/folds.h"
#include "train/member_jobs.h"

/* ---- what is allowed --------------------------------------------------------------------------------------------- */

nade_status nd_members_check(nade_context *context, const nade_train_options *o)
{
    const char *why = o->pretrain                  ? "pretraining is for a single one"
                      : o->replication->fresh_rows ? "fresh rows are given to a single one"
                                                   : NULL;
    if (o->members == 1 || !why) return NADE_OK;
    return nd_fail(context, NADE_BAD_CALL, "%" PRIu64 " members are asked for (`members`), but %s", o->members, why);
}

uint32_t nd_member_seed(const struct run *run)
{
    uint32_t seed = run->options.seed;
    if (run->member == 0 || ND_FAULT(FAULT_MEMBERS_ONE_SEED)) return seed;
    return nd_random_word(seed, PURPOSE_MEMBER, run->member, 0, 0);
}

/* Trials have a third; folds and members share the rest, of which ranks train as many at a time as there are. */
double nd_time_limit(const struct run *run)
{
    double folds = (double)run->options.folds;
    size_t abreast = nd_members_are_jobs(run) ? run->ranks : 1;
    size_t rounds = ((size_t)run->options.members + abreast - 1) / abreast, round = run->member / abreast;
    double all = folds + (double)rounds, done = run->fold_count ? folds : folds + (double)round + 1;
    double trials = run->candidates ? run->options.time_limit / 3 : 0;
    return run->trial ? trials : trials + (run->options.time_limit - trials) * done / all;
}

/* ---- what they came to ------------------------------------------------------------------------------------------- */

/* How large they are is known when trials are over, or when they are read from a checkpoint. */
nade_status nd_members_need_room(struct run *run, size_t parameters)
{
    struct nade_model *model = run->model;
    size_t members = (size_t)run->options.members, numbers;
    if (run->kept) return NADE_OK;
    struct kept_member *kept = nd_arena_alloc(&run->arena, members, sizeof *kept);
    if (nd_multiply(members, parameters, &numbers))
        model->parameters = nd_arena_alloc(&model->arena, numbers, sizeof *model->parameters);
    if (!kept || !model->parameters) return nd_no_memory(run->context, "the members");
    for (size_t j = 0; j < members; j++) kept[j].parameters = model->parameters + j * parameters;
    run->kept = kept;
    return NADE_OK;
}

/* The history goes with the stage. */
nade_status nd_member_keep(struct run *run, struct kept_member *kept)
{
    kept->history = nd_arena_alloc(&run->arena, run->iteration, sizeof *kept->history);
    if (!kept->history) return nd_no_memory(run->context, "the training record");
    if (run->iteration) memcpy(kept->history, run->history, run->iteration * sizeof *kept->history);
    memcpy(kept->parameters, run->best, run->plan.parameters * sizeof *kept->parameters);
    kept->iteration = run->iteration;
    kept->best_iteration = run->best_iteration;
    kept->retries = run->retries;
    kept->best_loss = run->best_loss;
    kept->start_loss = run->start_loss;
    return NADE_OK;
}

/* Makes the outcome of the run that of the first. */
static void restore_first(struct run *run)
{
    const struct kept_member *first = &run->kept[0];
    run->history = first->history;
    run->iteration = first->iteration;
    run->best_iteration = first->best_iteration;
    run->retries = first->retries;
    run->best_loss = first->best_loss;
    run->start_loss = first->start_loss;
}

/* ---- one after the other ----------------------------------------------------------------------------------------- */

/* Where the caller wants an end, not the clock. */
bool nd_is_called_off(const struct run *run)
{
    return run->stop && !run->out_of_time;
}

bool nd_is_good_member(const struct run *run)
{
    bool whole = run->iteration == run->iterations && !run->options.folds;
    return run->member == 0 || whole || !nd_is_called_off(run);
}

nade_status nd_members_train(struct run *run, size_t member)
{
    if (run->out_of_time && run->iteration < run->iterations) run->cut_short = true;
    nd_stage_end(run);
    run->member = member;
    run->stop = run->out_of_time = false;
    nade_status status = nd_bootstrap_draw(run);
    if (status == NADE_OK) status = nd_stage_begin(run, NULL, NULL);
    if (status != NADE_OK) return status;
    return run->options.folds ? nd_folds_walk(run) : nd_run_stage(run, UINT64_MAX);
}

void nd_member_leave_out(const struct run *run, size_t member, const char *why)
{
    nd_warn(run->context, "member %zu of %" PRIu64 " is left out: %s", member + 1, run->options.members, why);
}

/* Keeps the member that has been trained, unless it was called off. */
static nade_status keep_next(struct run *run)
{
    if (!nd_is_good_member(run)) return NADE_OK;
    nade_status status = nd_member_keep(run, &run->kept[run->kept_count]);
    run->kept_count += status == NADE_OK;
    return status;
}

/* The first must have come to something. */
static bool is_left_out(const struct run *run, nade_status status)
{
    return status == NADE_NOT_FINITE && run->member > 0;
}

/* What training the run's member came to. */
static nade_status take_member(struct run *run, nade_status status)
{
    if (status == NADE_OK) return keep_next(run);
    if (!is_left_out(run, status)) return status;
    nd_member_leave_out(run, run->member, run->context->error);
    return NADE_OK;
}

static nade_status run_in_turn(struct run *run, nade_status status)
{
    status = take_member(run, status);
    while (status == NADE_OK && !nd_is_called_off(run) && run->member + 1 < run->options.members)
        status = take_member(run, nd_members_train(run, run->member + 1));
    return status;
}

nade_status nd_members_run(struct run *run, nade_status so_far)
{
    bool diverged = is_left_out(run, so_far) && !ND_FAULT(FAULT_RESUMED_ENDS);
    if (run->options.members == 1 || (so_far != NADE_OK && !diverged)) return so_far;
    nade_status status = nd_members_need_room(run, run->plan.parameters);
    if (status == NADE_OK) status = nd_members_are_jobs(run) ? nd_run_member_jobs(run) : run_in_turn(run, so_far);
    if (status != NADE_OK) return status;
    if (nd_is_called_off(run) && run->kept_count < run->options.members)
        nd_warn(run->context, "training was ended in member %zu of %" PRIu64 ": the model has %zu member%s",
                run->member + 1, run->options.members, run->kept_count, run->kept_count == 1 ? "" : "s");
    restore_first(run);
    run->model->members = run->kept_count;
    return NADE_OK;
}

nade_status nd_members_record(const struct run *run)
{
    struct training_record *r = &run->model->record;
    if (run->kept_count < 2 || run->options.folds) return NADE_OK;
    r->member = nd_arena_alloc(&run->model->arena, run->kept_count, sizeof *r->member);
    if (!r->member) return nd_no_memory(run->context, "the training record");
    r->member_count = run->kept_count;
    for (size_t j = 0; j < run->kept_count; j++)
        r->member[j] = (struct member_record){run->kept[j].best_loss, run->kept[j].best_iteration};
    return NADE_OK;
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

const char *nd_kept_name(size_t member, char name[ND_KEPT_NAME])
{
    snprintf(name, ND_KEPT_NAME, "member.%zu", member);
    return name;
}

static void put_count(struct json_writer *writer, const char *key, uint64_t count)
{
    nd_json_put_key(writer, key);
    nd_json_put_integer(writer, (int64_t)count);
}

static void put_real(struct json_writer *writer, const char *key, double number)
{
    nd_json_put_key(writer, key);
    nd_json_put_real(writer, number);
}

void nd_members_to_json(const struct run *run, struct json_writer *writer)
{
    if (run->member == 0) return;
    if (run->member > run->kept_count) put_count(writer, "left_out", run->member - run->kept_count);
    nd_json_put_key(writer, "members");
    nd_json_open(writer, '[');
    for (size_t j = 0; j < run->kept_count; j++) {
        const struct kept_member *kept = &run->kept[j];
        nd_json_open(writer, '{');
        put_count(writer, "best_iteration", kept->best_iteration);
        put_count(writer, "retries", kept->retries);
        put_real(writer, "best_loss", kept->best_loss);
        put_real(writer, "start_loss", kept->start_loss);
        nd_history_to_json(kept->history, kept->iteration, writer);
        nd_json_close(writer, '}');
    }
    nd_json_close(writer, ']');
}

static bool read_count(const struct json_value *object, const char *key, uint64_t *count)
{
    const struct json_value *value = nd_json_get(object, key);
    if (!nd_json_is(value, ND_INTEGER) || value->is.integer < 0) return false;
    *count = (uint64_t)value->is.integer;
    return true;
}

static double number_of(const struct json_value *object, const char *key)
{
    const struct json_value *value = nd_json_get(object, key);
    return nd_json_is_number(value) ? nd_json_number(value) : NAN;
}

static nade_status broken(struct run *run)
{
    return nd_fail(run->context, NADE_BAD_INPUT, "%s: the checkpoint's members are missing or no such value",
                   run->options.resume);
}

static nade_status read_kept(struct run *run, const struct json_value *object, struct kept_member *kept)
{
    kept->best_loss = number_of(object, "best_loss");
    kept->start_loss = number_of(object, "start_loss");
    if (!nd_json_is(object, ND_OBJECT) || !read_count(object, "best_iteration", &kept->best_iteration) ||
        !read_count(object, "retries", &kept->retries))
        return broken(run);
    const struct json_value *list = nd_json_get(object, "history");
    if (nd_history_from_json(&run->arena, list, &kept->iteration, &kept->history))
        return kept->best_iteration <= kept->iteration ? NADE_OK : broken(run);
    return !nd_json_is(list, ND_LIST) || kept->history ? broken(run) : nd_no_memory(run->context, "the members");
}

nade_status nd_members_from_json(struct run *run, const struct json_value *text)
{
    const struct json_value *list = nd_json_get(text, "members");
    uint64_t left_out = 0, most = run->options.members;
    if (!list) return NADE_OK;
    if (nd_json_get(text, "left_out") && !read_count(text, "left_out", &left_out)) return broken(run);
    bool fits = nd_json_is(list, ND_LIST) && list->is.count < most && left_out < most - list->is.count;
    if (!fits || list->is.count == 0) return broken(run);
    const struct json_value *object = nd_json_first(list);
    nade_status status = nd_members_need_room(run, run->model->plan.parameters);
    for (size_t j = 0; j < list->is.count && status == NADE_OK; j++, object = nd_json_after(object))
        status = read_kept(run, object, &run->kept[j]);
    if (status != NADE_OK) return status;
    run->kept_count = list->is.count;
    run->member = run->kept_count + (size_t)left_out;
    return NADE_OK;
}
