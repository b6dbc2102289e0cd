#include "train/trainer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/fault.h"
#include "base/parallel.h"
#include "model/initial.h"
#include "model/option_rows.h"
#include "train/checkpoint.h"
#include "train/fresh_rows.h"
#include "train/run.h"

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

/* The first tensor, parameters before gradients, that is not finite; values (parameters) is scratch. */
static const char *find_tensor_not_finite(struct run *run, float *values)
{
    const struct plan *plan = &run->plan;
    const enum block blocks[] = {BLOCK_PARAMETERS, BLOCK_GRADIENT};
    for (size_t b = 0; b < 2; b++) {
        if (run->entries->get_block(run->context, run->backend, blocks[b], values) != NADE_OK) break;
        for (size_t t = 0; t < plan->tensors; t++)
            if (has_nonfinite(values + plan->tensor[t].offset, plan->tensor[t].rows * plan->tensor[t].columns))
                return plan->tensor[t].name;
    }
    return plan->tensor[nd_weight_index(plan->layers)].name; /* all finite: the outputs themselves overflow */
}

double nd_last_rate(const struct run *run)
{
    uint64_t last = run->update > 0 ? run->update - !ND_FAULT(FAULT_RATE_REPORTED) : 0;
    return nd_rate(last < run->rule.begin ? &run->before : &run->rule, last);
}

/* What a run that has diverged goes on with, or how it ends. */
static nade_status meet_divergence(struct run *run, uint64_t update)
{
    const char *name = find_tensor_not_finite(run, run->spare ? run->spare : run->best);
    if (nd_may_retry(run)) return nd_turn_after_divergence(run, update, name);
    return nd_fail(run->context, NADE_NOT_FINITE,
                   "training diverged: the loss at update %" PRIu64
                   " is not finite (tensor %s); try a lower learning rate than %g",
                   update, name, run->rule.learning_rate);
}

/* ---- iterations ------------------------------------------------------------------------------------------------- */

static void tell(struct run *run, bool iteration_done)
{
    const nade_train_options *o = &run->options;
    nade_progress *p = &run->progress;
    double seconds = nd_seconds() - run->started;
    if (o->time_limit > 0 && seconds >= o->time_limit) run->stop = true;
    if (!o->progress) return;
    p->iteration = run->iteration;
    p->update = run->update;
    p->iteration_done = iteration_done;
    p->learning_rate = nd_last_rate(run);
    p->soonest = nd_soonest_end(run) * run->updates;
    p->start_loss = run->start_loss;
    p->best_valid_loss = run->best_loss;
    p->best_iteration = run->best_iteration;
    p->seconds = seconds;
    if (o->progress(o->progress_user, p)) run->stop = true;
}

/* The updates of one iteration, in slices short enough for a sign of life.  *loss: their mean in data units.
 * NADE_NOT_FINITE: that of run->update was not finite. */
static nade_status run_updates(struct run *run, double *loss)
{
    uint64_t slice = run->entries->slice, done = 0;
    double sum = 0;
    while (done < run->updates && !run->stop) {
        uint64_t count = run->updates - done < slice ? run->updates - done : slice, failed;
        double mean;
        nade_status status =
            run->entries->train_updates(run->context, run->backend, &run->rule, run->update, count, &mean, &failed);
        if (status == NADE_NOT_FINITE) run->update = failed;
        if (status != NADE_OK) return status;
        sum += mean * (double)count;
        done += count;
        run->update += count;
        if (done < run->updates) tell(run, false);
    }
    *loss = sum / (double)done + run->train_scale;
    return NADE_OK;
}

/* Where there is an average, it takes the place of the parameters meanwhile. */
static nade_status exchange(struct run *run)
{
    if (nd_result_block(run) == BLOCK_PARAMETERS || ND_FAULT(FAULT_AVERAGE_NOT_TRIED)) return NADE_OK;
    return run->entries->exchange(run->context, run->backend);
}

static nade_status validate(struct run *run, double *loss)
{
    *loss = NAN;
    if (run->valid.rows == 0) return NADE_OK;
    nade_status status = exchange(run);
    if (status == NADE_OK)
        status = run->entries->validate(run->context, run->backend, run->rule.seed, run->valid_repeats, loss);
    if (status == NADE_OK) status = exchange(run);
    if (status != NADE_OK) return status;
    *loss += run->valid_scale;
    return NADE_OK;
}

/* Iteration 0: where a run begins as the model of independent columns, no later one is kept that is worse. */
static nade_status validate_start(struct run *run)
{
    double loss;
    if (!nd_starts_at_marginals(run) || run->valid.rows == 0 || !isnan(run->start_loss)) return NADE_OK;
    nade_status status = validate(run, &loss);
    if (status != NADE_OK || !isfinite(loss)) return status;
    run->start_loss = loss;
    if (!ND_FAULT(FAULT_START_FORGOTTEN)) run->best_loss = loss;
    run->progress.valid_loss = loss;
    tell(run, true);
    return nd_checkpoint_after_iteration(run);
}

/* Keeps the parameters of an iteration if they are the best so far; without validation rows the latest are.
 * NADE_NOT_FINITE: they can't be. */
static nade_status keep_best(struct run *run, double loss)
{
    float *kept = run->spare ? run->spare : run->best;
    if (run->valid.rows > 0 && !(loss < run->best_loss)) return NADE_OK;
    nade_status status = run->entries->get_block(run->context, run->backend, nd_result_block(run), kept);
    if (status != NADE_OK) return status;
    if (has_nonfinite(kept, run->plan.parameters)) return NADE_NOT_FINITE;
    if (run->spare) run->spare = run->best;
    run->best = kept;
    run->best_loss = loss;
    run->best_iteration = run->iteration + 1;
    return NADE_OK;
}

/* Trains and validates for one iteration.  NADE_NOT_FINITE: it could not be finished. */
static nade_status try_iteration(struct run *run, double *train_loss, double *valid_loss, bool *whole)
{
    nade_status status = run_updates(run, train_loss);
    *whole = !run->stop;
    if (status == NADE_OK) status = validate(run, valid_loss);
    if (status != NADE_OK) return status;
    bool finite = run->valid.rows == 0 || isfinite(*valid_loss);
    status = finite ? keep_best(run, *valid_loss) : NADE_NOT_FINITE;
    if (status == NADE_NOT_FINITE) run->update--; /* the last that was made is to blame */
    return status;
}

static nade_status remember(struct run *run, double train_loss, double valid_loss)
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
static nade_status run_iteration(struct run *run)
{
    double train_loss = NAN, valid_loss = NAN;
    bool whole = true;
    nade_status status = nd_fresh_before_iteration(run);
    if (status == NADE_OK) status = try_iteration(run, &train_loss, &valid_loss, &whole);
    if (status == NADE_NOT_FINITE) return meet_divergence(run, run->update);
    if (status == NADE_OK) status = remember(run, train_loss, valid_loss);
    if (status == NADE_OK && whole) status = nd_turn_after_iteration(run);
    if (status != NADE_OK) return status;
    tell(run, true); /* before the checkpoint: an iteration that it knows has been logged */
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

static nade_status run_stage(struct run *run)
{
    nade_status status = NADE_OK;
    run->progress = (nade_progress){
        .size = sizeof run->progress,
        .stage = run->stage,
        .stages = run->stages,
        .iterations = run->iterations,
        .updates = run->rule.total_updates,
        .train_loss = run->iteration ? run->history[run->iteration - 1].train_loss : NAN,
        .valid_loss = run->iteration ? run->history[run->iteration - 1].valid_loss : NAN,
    };
    if (run->iteration)
        tell(run, false); /* a resumed run first says where it stands */
    else
        status = validate_start(run);
    while (status == NADE_OK && run->iteration < run->iterations && !run->stop && !ends_early(run))
        status = run_iteration(run);
    return status;
}

static nade_status run_stages(struct run *run)
{
    nade_status status = run_stage(run);
    while (status == NADE_OK && run->stage + 1 < run->stages && !run->stop) {
        status = nd_stage_next(run);
        if (status == NADE_OK) status = run_stage(run);
    }
    return status;
}

/* ---- the result ------------------------------------------------------------------------------------------------- */

/* What is recorded of the options. */
static void record_options(const struct run *run, struct training_record *r)
{
    r->options.optimizer = run->options.optimizer;
    for (size_t i = 0; i < nd_option_row_count; i++) {
        const struct option_row *row = &nd_option_rows[i];
        char *to = (row->replication ? (char *)&r->replication : (char *)&r->options) + row->offset;
        if (row->record != NADE_NOWHERE) memcpy(to, nd_option_at(row, &run->options), nd_value_size(row->type));
    }
    r->options.learning_rate = nd_first_rate(&run->options);
    r->options.updates = run->updates;
    r->options.dropout = run->rule.dropout;
    r->replication.scaled_means = run->replication.scaled_means != 0;
    r->replication.pretrain_best = run->replication.pretrain_best != 0;
}

static nade_status fill_record(struct run *run)
{
    struct training_record *r = &run->model->record;
    record_options(run, r);
    r->iterations_done = run->iteration;
    r->best_iteration = run->best_iteration;
    r->retried = run->retries;
    r->start_loss = nd_starts_at_marginals(run) ? run->start_loss : NAN;
    r->train_rows = nd_train_rows(run);
    r->valid_rows = run->valid.rows;
    r->valid_repeats = run->valid.rows ? run->valid_repeats : 0;
    r->fingerprint = run->train_fingerprint;
    r->history = nd_arena_alloc(&run->model->arena, run->iteration, sizeof *r->history);
    if (!r->history) return nd_no_memory(run->context, "the training record");
    if (run->iteration) memcpy(r->history, run->history, run->iteration * sizeof *r->history);
    return NADE_OK;
}

/* The network of the current stage becomes the model: the full one, unless the run was stopped while pretraining. */
static nade_status finish(struct run *run)
{
    struct nade_model *model = run->model;
    if (!run->plan.blocks) model->architecture.layers = run->plan.layers;
    nade_status status = nd_plan_build(run->context, &model->arena, &model->schema, &model->architecture, &model->plan);
    if (status != NADE_OK) return status;
    model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
    if (!model->parameters) return nd_no_memory(run->context, "the parameters");
    memcpy(model->parameters, run->best, model->plan.parameters * sizeof *model->parameters);
    status = fill_record(run);
    return status == NADE_OK ? nd_model_describe(run->context, model) : status;
}

static nade_status fit_marginals(struct run *run)
{
    struct nade_model *model = run->model;
    struct pool *pool = nd_pool_create(&run->context->allocator, run->context->threads);
    if (!pool) return nd_no_memory(run->context, "threads");
    nade_status status = nd_fit_marginals(run->context, &model->arena, pool, &model->plan, &run->train, &model->schema);
    nd_pool_free(pool);
    return status;
}

static nade_status open_run(struct run *run, nade_context *context, const nade_train_options *options)
{
    *run = (struct run){.context = context,
                        .options = *options,
                        .replication = *options->replication,
                        .arena = {context->allocator, NULL}};
    run->options.replication = &run->replication;
    nd_tidy_flags(&run->options, &run->replication);
    run->model = nd_model_create(context);
    return run->model ? NADE_OK : nd_no_memory(context, "the model");
}

/* Everything the run owns, the model too unless it was handed over. */
static void free_run(struct run *run)
{
    nd_stage_end(run);
    nade_model_free(run->model);
    nd_arena_free(&run->arena);
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

nade_status nd_train(nade_context *context, const nade_table *train, const nade_table *valid,
                     const nade_train_options *options, nade_model **model)
{
    struct run run;
    struct checkpoint checkpoint = {0};
    nade_status status = open_run(&run, context, options);
    if (status == NADE_OK && options->resume) status = nd_checkpoint_open(&run, &checkpoint);
    if (status == NADE_OK) status = nd_run_prepare(&run, train, valid);
    if (status == NADE_OK && options->resume) status = nd_checkpoint_check_rows(&run, &checkpoint);
    if (status == NADE_OK) status = nd_run_plan(&run, train, valid);
    if (status == NADE_OK) status = fit_marginals(&run);
    run.started = nd_seconds();
    if (status == NADE_OK)
        status = options->resume ? nd_checkpoint_restore(&run, &checkpoint) : nd_stage_begin(&run, NULL, NULL);
    nd_checkpoint_close(&checkpoint);
    if (status == NADE_OK) status = run_stages(&run);
    if (status == NADE_OK) status = finish(&run);
    if (status == NADE_OK) {
        *model = run.model;
        run.model = NULL;
    }
    free_run(&run);
    return status;
}
