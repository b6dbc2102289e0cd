#include "train/trainer.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/shared_work.h"
#include "model/initial.h"
#include "model/option_rows.h"
#include "train/agreement.h"
#include "train/bootstrap.h"
#include "train/checkpoint.h"
#include "train/closed.h"
#include "train/folds.h"
#include "train/member_jobs.h"
#include "train/members.h"
#include "train/side_by_side.h"
#include "train/trials.h"
#include "train/worth.h"

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
    if (!nd_is_closed(&run->options)) r->options.prior = 0; /* a network has none */
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
    r->train_rows = run->train_rows;
    r->valid_rows = run->valid_rows;
    r->valid_repeats = run->valid_rows ? run->valid_repeats : 0;
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
    model->architecture = run->architecture;
    if (!run->plan.blocks) model->architecture.layers = run->plan.layers;
    nade_status status = nd_plan_build(run->context, &model->arena, &model->schema, &model->architecture, &model->plan);
    if (status != NADE_OK) return status;
    if (!run->kept) {
        model->parameters = nd_arena_alloc(&model->arena, model->plan.parameters, sizeof *model->parameters);
        if (!model->parameters) return nd_no_memory(run->context, "the parameters");
        memcpy(model->parameters, run->best, model->plan.parameters * sizeof *model->parameters);
    }
    status = fill_record(run);
    if (status == NADE_OK) status = nd_members_record(run);
    return status == NADE_OK ? nd_model_describe(run->context, model) : status;
}

nade_status nd_run_marginals(struct run *run, const struct encoded_rows *rows)
{
    struct nade_model *model = run->model;
    struct pool *pool = nd_pool_create(&run->context->allocator, run->context->threads);
    if (!pool) return nd_no_memory(run->context, "threads");
    nade_status status = nd_fit_marginals(run->context, &model->arena, pool, &model->plan, rows, &model->schema);
    if (status == NADE_OK && run->few)
        status = nd_fit_marginals(run->context, &run->arena, pool, &run->few->plan, rows, &run->few->schema);
    nd_pool_free(pool);
    return status;
}

static nade_status open_run(struct run *run, nade_context *context, const nade_train_options *options)
{
    *run = (struct run){.context = context,
                        .rank = nd_rank(context),
                        .ranks = nd_ranks(context),
                        .options = *options,
                        .replication = *options->replication,
                        .arena = {context->allocator, NULL},
                        .sample_arena = {context->allocator, NULL}};
    run->options.replication = &run->replication;
    nd_tidy_flags(&run->options, &run->replication);
    run->model = nd_model_create(context);
    return run->model ? NADE_OK : nd_no_memory(context, "the model");
}

/* Everything the run owns, the model too unless it was handed over. */
static void free_run(struct run *run)
{
    nd_folds_end(run);
    nd_stage_end(run);
    nade_model_free(run->model);
    nd_scratch_free(&run->scratch);
    if (run->shared) nd_shared_rows_free(run->shared); /* in the arena */
    nd_arena_free(&run->sample_arena);
    nd_arena_free(&run->arena);
    nd_pool_free(run->lanes);
}

/* The network, or those of folds, or those of trials until one is chosen. */
static nade_status begin(struct run *run, struct checkpoint *checkpoint, const nade_table *train)
{
    nade_status status;
    if (run->options.resume) {
        status = nd_checkpoint_restore(run, checkpoint);
        return status == NADE_OK ? nd_agree_on_checkpoint(run) : status;
    }
    status = nd_bootstrap_draw(run);
    if (status != NADE_OK) return status;
    if (run->candidates) return nd_trials_run(run, train);
    if (run->options.folds) return nd_folds_begin(run, run, 1, train);
    return nd_stage_begin(run, NULL, NULL);
}

static nade_status run_to_end(struct run *run)
{
    return nd_run_stage(run, UINT64_MAX);
}

/* From the first stage on, or from where a checkpoint was written or trials have come to. */
static nade_status run_stages(struct run *run, struct checkpoint *checkpoint, const nade_table *train)
{
    if (nd_is_closed(&run->options)) return nd_closed_train(run, train);
    nade_status status = begin(run, checkpoint, train);
    if (status == NADE_OK) status = run->fold_count ? run_to_end(run) : nd_run_first_member(run, run_to_end);
    while (status == NADE_OK && run->stage + 1 < run->stages && !run->stop) {
        status = nd_stage_next(run);
        if (status == NADE_OK) status = nd_run_stage(run, UINT64_MAX);
    }
    return status == NADE_OK && run->fold_count ? nd_folds_finish(run) : status;
}

/* ---- the whole ----------------------------------------------------------------------------------------------------
 */

nade_status nd_train(nade_context *context, const nade_table *train, const nade_table *valid,
                     const nade_train_options *options, nade_model **model)
{
    struct run run;
    struct checkpoint checkpoint = {0};
    uint64_t made = 0;
    nade_status status = open_run(&run, context, options);
    run.made_in_all = &made;
    if (status == NADE_OK) status = nd_agree_on_options(context, &run.options);
    if (status == NADE_OK && options->resume) status = nd_checkpoint_open(&run, &checkpoint);
    if (status == NADE_OK) status = nd_run_prepare(&run, train, valid);
    if (status == NADE_OK && options->resume) status = nd_checkpoint_check_rows(&run, &checkpoint);
    if (status == NADE_OK) status = nd_agree_on_run(&run);
    if (status == NADE_OK) status = nd_run_plan(&run, train, valid);
    if (status == NADE_OK) status = nd_run_marginals(&run, run.sample.rows ? &run.sample : &run.whole);
    run.started = nd_seconds();
    if (status == NADE_OK) status = nd_side_by_side_prepare(&run);
    if (status == NADE_OK) status = run_stages(&run, &checkpoint, train);
    nd_checkpoint_close(&checkpoint);
    status = nd_members_run(&run, status);
    if (status == NADE_OK) status = finish(&run);
    if (status == NADE_OK) {
        nd_find_worth(&run);
        *model = run.model;
        run.model = NULL;
    }
    free_run(&run);
    return status;
}
