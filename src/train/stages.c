/* The stages of a run: what each begins with and hands on. */
#include <math.h>
#include <string.h>

#include "base/fault.h"
#include "model/initial.h"
#include "train/augment.h"
#include "train/jobs.h"
#include "train/run.h"

static bool is_full_run(const struct run *run)
{
    return run->stage + 1 == run->stages;
}

double nd_first_rate(const nade_train_options *o)
{
    return o->learning_rate > 0 ? o->learning_rate : nd_usual_rate(o->optimizer);
}

void nd_fill_rule(struct run *run)
{
    const nade_train_options *o = &run->options;
    run->iterations = is_full_run(run) ? o->iterations : o->pretrain;
    uint64_t updates = run->iterations * run->updates;
    run->rule = (struct update_rule){
        .optimizer = o->optimizer,
        .learning_rate = nd_first_rate(o),
        .momentum = o->momentum,
        .weight_decay = o->weight_decay,
        .direct_decay = o->direct_decay,
        .dropout = o->blocks ? o->dropout : 0,
        .clip = o->clip,
        .average = o->average,
        .schedule = o->schedule,
        .warmup = o->warmup < updates / 2 ? o->warmup : updates / 2,
        .total_updates = updates,
        .first_draw = run->stage * o->pretrain * run->updates,
        .batch = o->batch,
        .seed = nd_member_seed(run),
        .stratify = o->stratify != 0,
        .focus = o->focus,
        .scaled_means = run->replication.scaled_means != 0,
        .share_device = run->replication.share_device != 0,
    };
}

static nade_status build_stage_plan(struct run *run)
{
    struct architecture architecture = run->architecture;
    if (!is_full_run(run)) architecture.layers = run->stage + 2;
    return nd_plan_build(run->context, &run->stage_arena, &run->model->schema, &architecture, &run->plan);
}

/* The hidden layers that both have; of a network of the same depth, the output layer too. */
static void inherit(const struct plan *plan, float *parameters, const struct plan *previous, const float *old)
{
    size_t tensors = previous->layers == plan->layers ? plan->tensors : 2 * previous->layers;
    for (size_t t = 0; t < tensors; t++)
        memcpy(parameters + plan->tensor[t].offset, old + previous->tensor[t].offset,
               plan->tensor[t].rows * plan->tensor[t].columns * sizeof *parameters);
}

static nade_status set_train_rows(struct run *run)
{
    if (run->shared) return run->entries->set_shared_rows(run->context, run->backend, run->shared); /* none is drawn */
    struct encoded_rows rows = run->train;
    nade_status status = run->options.augment ? nd_augment_rows(run, &rows) : NADE_OK;
    return status == NADE_OK ? run->entries->set_data(run->context, run->backend, DATA_TRAIN, &rows) : status;
}

static nade_status open_backend(struct run *run)
{
    nade_status status = nd_backend_open(run->context, &run->plan, run->options.device, run->options.precision,
                                         &run->entries, &run->backend);
    if (status == NADE_OK) status = run->entries->set_block(run->context, run->backend, BLOCK_PARAMETERS, run->best);
    if (status == NADE_OK && run->rule.average > 0)
        status = run->entries->set_block(run->context, run->backend, BLOCK_AVERAGE, run->best);
    if (status == NADE_OK) status = set_train_rows(run);
    if (status == NADE_OK) status = run->entries->set_data(run->context, run->backend, DATA_VALID, &run->valid);
    return status;
}

void nd_stage_reset(struct run *run)
{
    nd_fill_rule(run);
    run->iteration = run->update = run->made = run->within = run->skipped = 0;
    run->best_iteration = run->fall_from = run->retries = 0;
    run->diverged_count = run->turns = 0;
    run->best_loss = INFINITY;
    run->start_loss = NAN;
    run->history = NULL;
    run->history_room = 0;
}

nade_status nd_stage_begin(struct run *run, const struct plan *previous, const float *parameters)
{
    run->stage_arena.allocator = run->context->allocator;
    nade_status status = build_stage_plan(run);
    if (status != NADE_OK) return status;
    run->best = nd_arena_alloc(&run->stage_arena, run->plan.parameters, sizeof *run->best);
    run->spare = NULL;
    if (run->options.retries) run->spare = nd_arena_alloc(&run->stage_arena, run->plan.parameters, sizeof *run->spare);
    if (!run->best || (run->options.retries && !run->spare)) return nd_no_memory(run->context, "the parameters");
    nd_initial_parameters(&run->plan, &run->model->schema, nd_member_seed(run), run->replication.initial_scale,
                          run->options.start == NADE_START_MARGINALS, run->best);
    if (previous && !ND_FAULT(FAULT_STAGE_FORGETS)) inherit(&run->plan, run->best, previous, parameters);
    nd_stage_reset(run);
    return open_backend(run);
}

static nade_status restart_network(const struct run *run, struct run *network)
{
    const struct backend_entries *entries = run->entries;
    nade_status status = entries->set_block(run->context, network->backend, BLOCK_PARAMETERS, network->best);
    if (status == NADE_OK && nd_result_block(run) == BLOCK_AVERAGE)
        status = entries->set_block(run->context, network->backend, BLOCK_AVERAGE, network->best);
    if (status == NADE_OK && !ND_FAULT(FAULT_MOMENTS_KEPT))
        status = entries->set_block(run->context, network->backend, BLOCK_MOMENT1, NULL);
    if (status == NADE_OK && nd_moments_of(run->rule.optimizer) > 1)
        status = entries->set_block(run->context, network->backend, BLOCK_MOMENT2, NULL);
    return status;
}

nade_status nd_stage_from_best(struct run *run)
{
    nade_status status = NADE_OK;
    for (size_t i = 0; i < nd_networks(run) && status == NADE_OK; i++)
        if (nd_is_own_network(run, i)) status = restart_network(run, nd_network(run, i));
    return status;
}

/* Algorithm 1 trains for a number of iterations, so a stage hands on what it ended with; its best iteration only where
 * that is asked for and there are validation rows to know it by. */
static nade_status find_inherited(struct run *run, const float **parameters)
{
    *parameters = run->best;
    if (run->replication.pretrain_best && run->valid.rows > 0) return NADE_OK;
    float *last = nd_arena_alloc(&run->stage_arena, run->plan.parameters, sizeof *last);
    if (!last) return nd_no_memory(run->context, "the parameters");
    *parameters = last;
    return run->entries->get_block(run->context, run->backend, nd_result_block(run), last);
}

nade_status nd_stage_next(struct run *run)
{
    const float *parameters;
    nade_status status = find_inherited(run, &parameters);
    if (status != NADE_OK) return status;
    struct run old = *run;
    run->entries->close(run->backend);
    run->backend = NULL;
    run->stage_arena.newest = NULL;
    run->stage++;
    status = nd_stage_begin(run, &old.plan, parameters);
    /* A network that is handed on whole and best is one that the full run has to better. */
    if (parameters == old.best && old.plan.layers == run->plan.layers) run->start_loss = run->best_loss = old.best_loss;
    nd_arena_free(&old.stage_arena);
    return status;
}

void nd_stage_end(struct run *run)
{
    if (run->backend) run->entries->close(run->backend);
    run->backend = NULL;
    nd_arena_free(&run->stage_arena);
}
