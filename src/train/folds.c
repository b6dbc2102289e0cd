#include "train/folds.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "data/row_roles.h"
#include "train/member_jobs.h"
#include "train/row_copies.h"
#include "train/split.h"

/* ---- what is allowed --------------------------------------------------------------------------------------------- */

static nade_status refuse(nade_context *context, uint64_t folds, const char *why)
{
    return nd_fail(context, NADE_BAD_CALL, "%" PRIu64 " folds are asked for (`folds`), but %s", folds, why);
}

nade_status nd_folds_check(nade_context *context, const nade_train_options *o, const nade_table *train,
                           const nade_table *valid)
{
    if (o->folds == 0) return NADE_OK;
    if (valid) return refuse(context, o->folds, "there is a validation table, which they would do without");
    if (o->pretrain) return refuse(context, o->folds, "pretraining can't be done in folds");
    if (o->replication->fresh_rows) return refuse(context, o->folds, "fresh rows would be shown to all of them");
    if (o->checkpoint || o->resume)
        return refuse(context, o->folds, "the networks of folds are in no checkpoint: train without one");
    if (train->roles.time) return refuse(context, o->folds, "the column to split by says which rows are held out");
    if (train->rows < 2 * o->folds)
        return nd_fail(context, NADE_BAD_INPUT, "%s has %zu rows, expected at least two for each of %" PRIu64 " folds",
                       train->source, train->rows, o->folds);
    return NADE_OK;
}

/* ---- the folds' networks ----------------------------------------------------------------------------------------- */

/* So many copies of the rows that validate that all folds together are a list of all rows: the mean over them is then
 * that of a table. */
static double valid_length(const nade_table *table, const struct split *split)
{
    double train = nd_sum_weights(table, split->train, split->train_count);
    double valid = nd_sum_weights(table, split->valid, split->valid_count);
    double all = ND_COPIES * (double)(split->train_count + split->valid_count);
    if (ND_FAULT(FAULT_FOLDS_ALIKE)) return 0;
    return fmax(1, nearbyint(all * (valid / (train + valid))));
}

static nade_status copy_fold(struct run *run, const nade_table *table, size_t f, const struct split *split,
                             struct row_copies *train, struct row_copies *valid)
{
    struct copying copying = {.seed = run->options.seed, .part = PART_FOLDS + 2 * f};
    nade_status status =
        nd_copy_rows(run->context, &run->arena, table, split->train, split->train_count, &copying, train);
    if (status != NADE_OK) return status;
    copying.part++;
    copying.length = valid_length(table, split);
    status = nd_copy_rows(run->context, &run->arena, table, split->valid, split->valid_count, &copying, valid);
    if (ND_FAULT(FAULT_FOLDS_UNWEIGHED)) {
        train->listed = (struct chosen_rows){split->train, split->train_count};
        valid->listed = (struct chosen_rows){split->valid, split->valid_count};
    }
    return status;
}

nade_status nd_fold_rows(struct run *run, const nade_table *table, size_t f, struct fold_rows *rows,
                         struct far_cells *found)
{
    struct split split = {0};
    struct row_copies train, valid;
    nade_status status =
        nd_split_fold(run->context, &run->arena, table, run->options.folds, f, run->options.seed, &split);
    if (status != NADE_OK) return status;
    if (split.train_count == 0 || split.valid_count == 0)
        return nd_fail(run->context, NADE_BAD_INPUT, "%s has too few rows with a present cell for %" PRIu64 " folds",
                       table->source, run->options.folds);
    status = copy_fold(run, table, f, &split, &train, &valid);
    if (status == NADE_OK)
        status = nd_encode_rows(run, table, train.listed, true, &rows->train, &rows->train_scale, NULL);
    if (status != NADE_OK) return status;
    status = nd_encode_rows(run, table, valid.listed, false, &rows->valid, &rows->valid_scale, NULL);
    if (status != NADE_OK) return status;
    bool copied = valid.listed.count != valid.counted.count;
    return nd_forget_far_cells(run, &rows->train, &rows->valid, copied, &rows->valid_scale, found);
}

/* The network of fold number f, which has everything but the rows of the run. */
static nade_status begin_network(struct run *run, size_t f, const struct fold_rows *rows)
{
    struct run *fold = &run->fold[f];
    *fold = *run;
    fold->fold = NULL;
    fold->fold_count = 0;
    fold->stage_arena = (struct arena){run->context->allocator, NULL};
    fold->train = rows->train;
    fold->valid = rows->valid;
    fold->train_scale = rows->train_scale;
    fold->valid_scale = rows->valid_scale;
    run->fold_count = f + 1;
    return nd_stage_begin(fold, NULL, NULL);
}

static nade_status begin_fold(struct run *run, struct run *trial, size_t trials, const nade_table *table, size_t f,
                              struct far_cells *found)
{
    struct fold_rows rows;
    nade_status status = nd_fold_rows(run, table, f, &rows, found);
    if (status == NADE_OK && nd_starts_at_marginals(run))
        status = nd_run_marginals(run, ND_FAULT(FAULT_FOLD_MARGINALS) ? &run->whole : &rows.train);
    for (size_t t = 0; t < trials && status == NADE_OK; t++) status = begin_network(&trial[t], f, &rows);
    return status;
}

nade_status nd_folds_begin(struct run *run, struct run *trial, size_t trials, const nade_table *table)
{
    size_t folds = (size_t)run->options.folds;
    struct far_cells found = {0};
    nade_status status = NADE_OK;
    for (size_t t = 0; t < trials; t++) {
        trial[t].stage_arena.allocator = run->context->allocator;
        nd_stage_reset(&trial[t]);
        trial[t].fold = nd_arena_alloc(&run->arena, folds, sizeof *trial[t].fold);
        if (!trial[t].fold) return nd_no_memory(run->context, "the folds");
    }
    for (size_t f = 0; f < folds && status == NADE_OK; f++) status = begin_fold(run, trial, trials, table, f, &found);
    nd_warn_of_far_cells(run, &found);
    if (status == NADE_OK && nd_starts_at_marginals(run))
        status = nd_run_marginals(run, &run->whole); /* those of all rows again */
    return status;
}

void nd_folds_end(struct run *run)
{
    for (size_t f = 0; f < run->fold_count; f++) nd_stage_end(&run->fold[f]);
    run->fold_count = 0;
}

/* ---- the way to an iteration ------------------------------------------------------------------------------------- */

/* Iterations first+1…last that are made with one rule. */
struct stretch {
    struct update_rule rule;
    uint64_t first, last;
};

enum { STRETCHES_MOST = 2 + ND_RETRIES_MOST };

/* What the run with folds came to. */
struct course {
    struct stretch stretch[STRETCHES_MOST];
    size_t stretches;
    struct history_entry *history;
    uint64_t iteration, best_iteration, retries;
    double best_loss, start_loss;
};

/* From an iteration back to the beginning: iterations that a turn went back behind are left out. */
static void find_way(const struct run *run, struct course *course)
{
    struct stretch back[STRETCHES_MOST];
    const struct update_rule *rule = &run->rule;
    uint64_t last = run->best_iteration;
    size_t count = 0;
    for (size_t t = run->turns; t > 0; rule = &run->turn[--t].before) {
        const struct turn *turn = &run->turn[t - 1];
        if (last <= turn->from || ND_FAULT(FAULT_WAY_STRAIGHT)) continue; /* the turn came later */
        back[count++] = (struct stretch){*rule, turn->from, last};
        last = turn->best;
    }
    back[count++] = (struct stretch){*rule, 0, last};
    for (size_t i = 0; i < count; i++) course->stretch[i] = back[count - 1 - i];
    course->stretches = count;
}

static struct course course_of(const struct run *run)
{
    struct course course = {
        .history = run->history,
        .iteration = run->iteration,
        .best_iteration = run->best_iteration,
        .retries = run->retries,
        .best_loss = run->best_loss,
        .start_loss = run->start_loss,
    };
    find_way(run, &course);
    return course;
}

static void restore_course(struct run *run, const struct course *course)
{
    run->history = course->history;
    run->iteration = course->iteration;
    run->best_iteration = course->best_iteration;
    run->retries = course->retries;
    run->best_loss = course->best_loss;
    run->start_loss = course->start_loss;
}

/* ---- all rows ---------------------------------------------------------------------------------------------------- */

/* There is no validation to go back by, so a lower rate goes on from the last iteration. */
static nade_status lower_rate(struct run *run, double *factor)
{
    const char *tensor;
    nade_status status = nd_fail_diverged(run, &tensor);
    if (status != NADE_OK) return status;
    nd_warn(run->context,
            "the loss at update %" PRIu64 " of all rows is not finite (tensor %s): training goes on from the iteration "
            "before with a third of the learning rate",
            run->failed, tensor);
    run->retries++;
    *factor /= 3;
    run->rule.learning_rate /= 3;
    run->rule.begin = run->update;
    return nd_stage_from_best(run);
}

static nade_status walk_iteration(struct run *run, double *factor)
{
    nade_status status = nd_run_updates(run, &run->progress.train_loss);
    run->failed = status == NADE_OK ? run->update - 1 : run->failed;
    if (status == NADE_OK) status = nd_keep_parameters(run);
    if (status == NADE_NOT_FINITE) return lower_rate(run, factor);
    if (status != NADE_OK) return status;
    run->iteration++;
    nd_tell(run, true);
    return NADE_OK;
}

static nade_status walk_stretch(struct run *run, const struct stretch *stretch, double *factor)
{
    uint64_t done = run->iteration, count = stretch->last - stretch->first;
    nade_status status = done > 0 ? nd_stage_from_best(run) : NADE_OK;
    run->rule = stretch->rule;
    run->rule.seed = nd_member_seed(run);
    run->rule.learning_rate *= *factor;
    while (run->iteration < done + count && status == NADE_OK && !run->stop) {
        uint64_t next = stretch->first + (run->iteration - done);
        run->update = next * run->updates;
        run->skipped = (next - run->iteration) * run->updates;
        status = walk_iteration(run, factor);
    }
    return status;
}

static nade_status walk(struct run *run, const struct course *course)
{
    nade_status status = NADE_OK;
    double factor = 1;
    size_t valid_rows = run->valid_rows;
    run->valid_rows = 0; /* nothing is decided any more */
    run->iteration = run->iterations = 0;
    for (size_t i = 0; i < course->stretches; i++)
        run->iterations += course->stretch[i].last - course->stretch[i].first;
    run->time_limit = nd_time_limit(run);
    run->stop = run->out_of_time = false;
    run->progress.stage = 1;
    run->progress.train_loss = run->progress.valid_loss = NAN;
    for (size_t i = 0; i < course->stretches && status == NADE_OK && !run->stop; i++)
        status = walk_stretch(run, &course->stretch[i], &factor);
    run->valid_rows = valid_rows;
    return status;
}

static nade_status walk_first(struct run *run)
{
    return walk(run, run->course);
}

/* The best of fold number 0, which its rank has. */
static nade_status take_first_fold(struct run *run)
{
    memcpy(run->best, run->fold[0].best, run->plan.parameters * sizeof *run->best);
    return run->ranks > 1 ? nd_share_bytes(run, 0, run->best, run->plan.parameters * sizeof *run->best) : NADE_OK;
}

/* The folds' networks are gone before that of all rows is there, but for one that is to be the model. */
static nade_status finish_folds(struct run *run, const struct course *course)
{
    bool stopped = run->stop && !run->out_of_time;
    if (!stopped) nd_folds_end(run);
    size_t folds = run->fold_count;
    run->fold_count = 0; /* the run's own network from here on */
    nade_status status = nd_stage_begin(run, NULL, NULL);
    restore_course(run, course);
    if (status == NADE_OK && stopped) status = take_first_fold(run);
    if (status == NADE_OK && !stopped) status = nd_run_first_member(run, walk_first);
    run->iteration = course->iteration;
    run->fold_count = folds;
    nd_folds_end(run);
    return status;
}

nade_status nd_folds_finish(struct run *run)
{
    run->course = nd_arena_alloc(&run->arena, 1, sizeof *run->course);
    if (!run->course) return nd_no_memory(run->context, "the folds");
    *run->course = course_of(run);
    run->progress.folds_cut = run->out_of_time && run->iteration < run->iterations;
    run->course->history = nd_arena_alloc(&run->arena, run->iteration, sizeof *run->history);
    if (!run->course->history) return nd_no_memory(run->context, "the training record");
    if (run->iteration) memcpy(run->course->history, run->history, run->iteration * sizeof *run->history);
    return finish_folds(run, run->course);
}

nade_status nd_folds_walk(struct run *run)
{
    restore_course(run, run->course);
    nade_status status = walk(run, run->course);
    run->iteration = run->course->iteration;
    return status;
}
