/* The iterations of a stage: updates, validation, the best so far, and what a run does when it diverges.
 *
 * Mostly a run has one network.  With folds it has as many (folds.c): all make an iteration, one after the other or
 * side by side (side_by_side.c), and what is decided is decided by the mean of their losses, for all of them alike. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "train/agreement.h"
#include "train/checkpoint.h"
#include "train/fresh_rows.h"
#include "train/jobs.h"
#include "train/run.h"
#include "train/side_by_side.h"

double nd_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- divergence ------------------------------------------------------------------------------------------------- */

static bool has_nonfinite(const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return true;
    return false;
}

/* The number of the first tensor of a network, parameters before gradients, that is not finite. */
static size_t find_tensor_not_finite(struct run *run)
{
    float *values = run->spare ? run->spare : run->best; /* scratch: the best is lost where nothing goes back to it */
    const struct plan *plan = &run->plan;
    const enum block blocks[] = {BLOCK_PARAMETERS, BLOCK_GRADIENT};
    for (size_t b = 0; b < 2; b++) {
        if (run->entries->get_block(run->context, run->backend, blocks[b], values) != NADE_OK) break;
        for (size_t t = 0; t < plan->tensors; t++)
            if (has_nonfinite(values + plan->tensor[t].offset, plan->tensor[t].rows * plan->tensor[t].columns))
                return t;
    }
    return nd_weight_index(plan->layers); /* all finite: the outputs themselves overflow */
}

double nd_last_rate(const struct run *run)
{
    uint64_t made = run->update + run->made, last = made > 0 ? made - !ND_FAULT(FAULT_RATE_REPORTED) : 0;
    const struct update_rule *rule = &run->rule;
    for (size_t t = run->turns; t > 0 && last < run->turn[t - 1].from * run->updates; t--)
        rule = &run->turn[t - 1].before;
    return nd_rate(rule, last);
}

nade_status nd_fail_diverged(struct run *run, const char **tensor)
{
    uint64_t update = run->failed;
    struct run *network = run->failed_network;
    size_t number = nd_folds_are_jobs(run) ? (size_t)(network - run->fold) : 0, found = 0;
    if (nd_is_own_network(run, number)) found = find_tensor_not_finite(network);
    if (nd_folds_are_jobs(run)) {
        nade_status status = nd_share_bytes(run, nd_job_rank(run, 0, number), &found, sizeof found);
        if (status != NADE_OK) return status;
    }
    *tensor = network->plan.tensor[found].name;
    if (nd_may_retry(run)) return NADE_OK;
    return nd_fail(run->context, NADE_NOT_FINITE,
                   "training diverged: the loss at update %" PRIu64
                   " is not finite (tensor %s); try a lower learning rate than %g",
                   update, *tensor, run->rule.learning_rate);
}

/* ---- iterations ------------------------------------------------------------------------------------------------- */

/* What was best at the end of all that was allowed, in iterations or in time, would have gone on; where nothing is
 * validated, as when folds are over, that is known already. */
static void look_for_longer(struct run *run)
{
    if (run->valid_rows == 0) return;
    bool over = run->iteration == run->options.iterations || run->out_of_time;
    run->longer = run->stage + 1 == run->stages && run->turns == 0 && over && run->best_iteration == run->iteration;
}

/* Updates that other trials in step with this one, which has made so many, will make until they wait for each other. */
static uint64_t updates_beside(const struct run *run, uint64_t update)
{
    uint64_t until = run->beside_until < run->iterations ? run->beside_until : run->iterations;
    uint64_t end = until * run->updates * nd_networks(run);
    return run->trial && end > update ? run->beside * (end - update) / run->updates : 0;
}

static void tell_caller(struct run *run, bool iteration_done)
{
    const nade_train_options *o = &run->options;
    nade_progress *p = &run->progress;
    uint64_t networks = nd_networks(run);
    double seconds = nd_seconds() - run->started;
    if (run->time_limit > 0 && seconds >= run->time_limit) run->stop = run->out_of_time = true;
    if (!o->progress) return;
    look_for_longer(run);
    p->iteration = run->iteration;
    p->iterations = run->iterations;
    p->update = (run->update - run->skipped) * networks + run->within;
    p->updates = run->iterations * run->updates * networks;
    p->iteration_done = iteration_done;
    p->learning_rate = nd_last_rate(run);
    p->soonest = nd_soonest_end(run) * run->updates * networks;
    p->fold = run->fold_count && !iteration_done && !nd_goes_side_by_side(run) ? run->within / run->updates + 1 : 0;
    p->folds = o->folds;
    p->trial = run->trial;
    p->trials = run->candidates;
    p->chosen = run->chosen;
    p->ahead = run->ahead + updates_beside(run, p->update);
    p->made = *run->made_in_all;
    p->width = o->blocks ? o->width : 0;
    p->dropout = run->rule.dropout;
    p->direct = o->blocks && o->direct;
    p->weight_decay = o->weight_decay;
    p->column_components = o->components;
    p->augment = o->augment;
    p->longer = run->longer;
    p->member = run->member + 1;
    p->members = o->members;
    p->start_loss = run->start_loss;
    p->best_valid_loss = run->best_loss;
    p->best_iteration = run->best_iteration;
    p->seconds = seconds;
    nd_keep_report(run->reports, p);
    if (!o->progress(o->progress_user, p)) return;
    run->stop = true;
    run->out_of_time = false; /* the caller's wish goes before */
}

void nd_tell(struct run *run, bool iteration_done)
{
    tell_caller(run, iteration_done);
    nd_agree_to_stop(run);
}

/* The next few updates of a network, no more than until `until` are made: slices are short enough for a sign of life.
 */
void nd_make_slice(nade_context *context, const struct run *run, struct run *network, uint64_t until,
                   struct network_updates *own)
{
    uint64_t slice = run->entries->slice, left = until - own->made, count = left < slice ? left : slice;
    double mean;
    own->status = run->entries->train_updates(context, network->backend, &run->rule, run->update + own->made, count,
                                              &mean, &own->failed);
    if (own->status != NADE_OK) return;
    own->sum += mean * (double)count;
    own->made += count;
}

/* The loss of a network's updates is their mean in data units.  NADE_NOT_FINITE: that of run->failed was not finite. */
static nade_status take_updates(struct run *run, struct run *network)
{
    const struct network_updates *own = &network->own;
    run->failed_network = network;
    run->failed = own->failed;
    if (own->status == NADE_OK) network->loss = own->sum / (double)own->made + network->train_scale;
    return own->status;
}

/* The updates of one iteration of a network, with signs of life. */
static nade_status update_network(struct run *run, struct run *network)
{
    struct network_updates *own = &network->own;
    *own = (struct network_updates){.status = NADE_OK};
    run->made = 0;
    while (run->made < run->updates && !run->stop && own->status == NADE_OK) {
        nd_make_slice(run->context, run, network, run->updates, own);
        run->within += own->made - run->made;
        *run->made_in_all += own->made - run->made;
        run->made = own->made;
        if (own->status == NADE_OK && run->within < run->updates * nd_networks(run)) nd_tell(run, false);
    }
    return take_updates(run, network);
}

/* Of networks that are jobs each rank makes a step of its own, alone, and then knows what all have come to. */
static nade_status each_network(struct run *run, nade_status (*step)(struct run *run, struct run *network),
                                bool to_the_end)
{
    bool jobs = nd_folds_are_jobs(run);
    const nade_world *world = jobs ? nd_leave_ranks(run->context) : run->context->world;
    nade_status status = NADE_OK;
    for (size_t i = 0; i < nd_networks(run) && status == NADE_OK && (to_the_end || !run->stop); i++)
        if (nd_is_own_network(run, i)) status = step(run, nd_network(run, i));
    nd_join_ranks(run->context, world);
    return nd_share_networks(run, status);
}

/* Of networks whose turn never came, because the end did, the loss counts as none. */
nade_status nd_run_updates(struct run *run, double *loss)
{
    size_t networks = nd_networks(run);
    bool made = run->updated;
    double sum = 0;
    nade_status status = NADE_OK;
    run->within = 0;
    for (size_t i = 0; i < networks; i++) nd_network(run, i)->loss = 0;
    if (!made && nd_goes_side_by_side(run) && networks > 1) {
        status = nd_update_side_by_side(&run, 1);
        made = true;
    }
    if (status == NADE_OK) status = each_network(run, made ? take_updates : update_network, made);
    for (size_t i = 0; i < networks; i++) sum += nd_network(run, i)->loss;
    *loss = sum / (double)networks;
    if (status == NADE_OK) run->update += run->made;
    run->updated = false;
    run->within = run->made = 0;
    return status;
}

/* Where there is an average, it takes the place of the parameters meanwhile. */
static nade_status exchange(const struct run *run, struct run *network)
{
    if (nd_result_block(run) == BLOCK_PARAMETERS || ND_FAULT(FAULT_AVERAGE_NOT_TRIED)) return NADE_OK;
    return run->entries->exchange(run->context, network->backend);
}

/* In data units. */
static nade_status validate_network(struct run *run, struct run *network)
{
    double loss;
    nade_status status = exchange(run, network);
    if (status == NADE_OK)
        status = run->entries->validate(run->context, network->backend, run->options.seed, run->valid_repeats, &loss);
    if (status == NADE_OK) status = exchange(run, network);
    if (status == NADE_OK) network->loss = loss + network->valid_scale;
    return status;
}

static nade_status validate(struct run *run, double *loss)
{
    size_t rows = 0;
    for (size_t i = 0; i < nd_networks(run); i++) rows += nd_network(run, i)->valid.rows;
    *loss = rows > 0 ? 0 : NAN;
    if (rows == 0) return NADE_OK;
    nade_status status = each_network(run, validate_network, true);
    for (size_t i = 0; i < nd_networks(run); i++) {
        struct run *network = nd_network(run, i);
        if (!isfinite(network->loss)) run->failed_network = network;
        *loss += (double)network->valid.rows / (double)rows * network->loss;
    }
    return status;
}

/* Iteration 0: where a run begins as the model of independent columns, no later one is kept that is worse. */
static nade_status validate_start(struct run *run)
{
    double loss;
    if (!nd_starts_at_marginals(run) || run->valid_rows == 0 || !isnan(run->start_loss)) return NADE_OK;
    nade_status status = validate(run, &loss);
    if (status != NADE_OK || !isfinite(loss)) return status;
    run->start_loss = loss;
    if (!ND_FAULT(FAULT_START_FORGOTTEN)) run->best_loss = loss;
    run->progress.valid_loss = loss;
    nd_tell(run, true);
    return nd_checkpoint_after_iteration(run);
}

/* What a network has come to, beside its best. */
static nade_status copy_result(struct run *run, struct run *network)
{
    float *kept = network->spare ? network->spare : network->best;
    nade_status status = run->entries->get_block(run->context, network->backend, nd_result_block(run), kept);
    if (status != NADE_OK) return status;
    run->failed_network = network;
    return has_nonfinite(kept, network->plan.parameters) ? NADE_NOT_FINITE : NADE_OK;
}

nade_status nd_keep_parameters(struct run *run)
{
    nade_status status = NADE_OK;
    for (size_t i = 0; i < nd_networks(run) && status == NADE_OK; i++)
        if (nd_is_own_network(run, i)) status = copy_result(run, nd_network(run, i));
    status = nd_share_networks(run, status);
    if (status != NADE_OK) return status;
    for (size_t i = 0; i < nd_networks(run); i++) {
        struct run *network = nd_network(run, i);
        if (!network->spare) continue;
        float *kept = network->spare;
        network->spare = network->best;
        network->best = kept;
    }
    return NADE_OK;
}

/* Keeps the parameters of an iteration if they are the best so far; without validation rows the latest are. */
static nade_status keep_best(struct run *run, double loss)
{
    if (run->valid_rows > 0 && !(loss < run->best_loss)) return NADE_OK;
    nade_status status = nd_keep_parameters(run);
    if (status != NADE_OK) return status;
    run->best_loss = loss;
    run->best_iteration = run->iteration + 1;
    return NADE_OK;
}

/* Trains and validates for one iteration.  NADE_NOT_FINITE: it could not be finished. */
static nade_status try_iteration(struct run *run, double *train_loss, double *valid_loss, bool *whole)
{
    nade_status status = nd_run_updates(run, train_loss);
    *whole = !run->stop;
    if (run->fold_count && !*whole) return status; /* some of the networks are behind */
    if (status == NADE_OK) status = validate(run, valid_loss);
    if (status != NADE_OK) return status;
    run->failed = run->update - 1; /* the last that was made is to blame for what follows */
    if (run->valid_rows > 0 && !isfinite(*valid_loss)) return NADE_NOT_FINITE;
    return keep_best(run, *valid_loss);
}

nade_status nd_remember(struct run *run, double train_loss, double valid_loss)
{
    if (run->iteration == run->history_room) {
        size_t room = run->history_room ? 2 * run->history_room : 64;
        struct history_entry *history = nd_arena_alloc(&run->stage_arena, room, sizeof *history);
        if (!history) return nd_no_memory(run->context, "the training record");
        if (run->iteration) memcpy(history, run->history, run->iteration * sizeof *history);
        run->history = history;
        run->history_room = room;
    }
    run->history[run->iteration++] = (struct history_entry){train_loss, valid_loss};
    run->progress.train_loss = train_loss;
    run->progress.valid_loss = valid_loss;
    return NADE_OK;
}

/* An iteration that was stopped in its middle still counts for the result, but is never in a checkpoint: a resumed run
 * does it again, whole. */
nade_status nd_run_iteration(struct run *run)
{
    double train_loss = NAN, valid_loss = NAN;
    bool whole = true;
    nade_status status = nd_fresh_before_iteration(run);
    if (status == NADE_OK) status = try_iteration(run, &train_loss, &valid_loss, &whole);
    if (status == NADE_NOT_FINITE) return nd_turn_after_divergence(run);
    if (status == NADE_OK && run->fold_count && !whole) return NADE_OK;
    if (status == NADE_OK) status = nd_remember(run, train_loss, valid_loss);
    if (status == NADE_OK && whole) status = nd_turn_after_iteration(run);
    if (status != NADE_OK) return status;
    nd_tell(run, true); /* before the checkpoint: an iteration that it knows has been logged */
    return whole ? nd_checkpoint_after_iteration(run) : NADE_OK;
}

static bool is_low_enough(const struct run *run)
{
    return run->iteration && run->history[run->iteration - 1].train_loss < run->replication.stop_train_loss;
}

/* Stages of pretraining have their number of iterations in any case. */
static bool ends_early(const struct run *run)
{
    return run->stage + 1 == run->stages && (nd_is_out_of_patience(run) || is_low_enough(run));
}

/* A run that is resumed, or was chosen, first says where it stands; members after the first were not on trial. */
static nade_status begin_iterations(struct run *run)
{
    bool tried = run->chosen && run->member == 0;
    if (!run->iteration && !tried) return validate_start(run);
    nd_tell(run, false);
    return tried && !run->stop ? nd_checkpoint_after_iteration(run) : NADE_OK;
}

nade_status nd_open_iterations(struct run *run)
{
    run->time_limit = nd_time_limit(run);
    run->progress = (nade_progress){
        .size = sizeof run->progress,
        .stage = run->stage,
        .stages = run->stages + (run->fold_count > 0),
        .train_loss = run->iteration ? run->history[run->iteration - 1].train_loss : NAN,
        .valid_loss = run->iteration ? run->history[run->iteration - 1].valid_loss : NAN,
        .mixture_loss = NAN,
    };
    return begin_iterations(run);
}

bool nd_goes_on(const struct run *run, uint64_t until)
{
    return run->iteration < run->iterations && run->iteration < until && !run->stop && !ends_early(run);
}

nade_status nd_run_stage(struct run *run, uint64_t until)
{
    nade_status status = nd_open_iterations(run);
    while (status == NADE_OK && nd_goes_on(run, until)) status = nd_run_iteration(run);
    return status;
}
