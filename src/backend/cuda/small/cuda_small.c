#include "backend/cuda/small/cuda_small.h"

#include "backend/activation.h"
#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_fault.h"
#include "backend/cuda/small/cuda_small_launch.h"
#include "backend/cuda/train/cuda_graphs.h"
#include "backend/cuda/train/cuda_step_jobs.h"
#include "base/context.h"

static const enum block saved_blocks[] = {BLOCK_PARAMETERS, BLOCK_MOMENT1, BLOCK_MOMENT2};

enum { SAVED_BLOCKS = sizeof saved_blocks / sizeof *saved_blocks };

struct cuda_small {
    bool member;                /* among those of cuda_small_launch.h */
    float *saved[SAVED_BLOCKS]; /* parameters and moments before updates; NULL until first needed */
    double *valid_loss;         /* device: the sum of the validation's losses */
};

static int32_t widest_output(const struct plan *plan)
{
    size_t widest = 0;
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].output_width > widest) widest = plan->column[c].output_width;
    return (int32_t)widest;
}

static struct small_layer layer_of(const struct cuda_backend *backend, const struct update_rule *rule, size_t l)
{
    const struct step_way way = nd_cuda_step_way(rule);
    struct step_job step = nd_cuda_step_job(backend, &way, l);
    return (struct small_layer){
        .weight = step.weight,
        .moment1 = step.moment1,
        .moment2 = step.moment2,
        .bias = step.bias,
        .bias1 = step.bias1,
        .bias2 = step.bias2,
        .rows = (int32_t)step.rows,
        .columns = (int32_t)step.columns,
        .stride = (int32_t)step.stride,
        .bias_stride = (int32_t)step.bias_stride,
    };
}

static struct small_job job_of(const struct cuda_backend *backend, const struct update_rule *rule)
{
    const struct plan *plan = backend->plan;
    struct small_job job = {
        .plan = backend->device,
        .cells = backend->data[DATA_TRAIN].view,
        .seed = rule->seed,
        .strata = nd_strata(rule),
        .focus = rule->focus,
        .batch = (int32_t)rule->batch,
        .layers = (int32_t)plan->layers,
        .activation = (int)plan->activation,
    };
    for (size_t l = 0; l <= plan->layers; l++) job.layer[l] = layer_of(backend, rule, l);
    nd_small_lay_out(&job, widest_output(plan));
    return job;
}

/* Columns are taken one at a time, so that many narrow ones would leave most of each tile empty. */
static bool is_small(const struct cuda_backend *backend, const struct update_rule *rule)
{
    const struct plan *plan = backend->plan;
    if (plan->layers > ND_SMALL_LAYERS || plan->columns > ND_SMALL_COLUMNS || rule->batch > ND_SMALL_BATCH ||
        widest_output(plan) > ND_SMALL_OUTPUTS || plan->outputs < plan->columns * ND_SMALL_USUAL_OUTPUTS)
        return false;
    for (size_t l = 0; l < plan->layers; l++)
        if (nd_layer_outputs(plan, l) > ND_SMALL_UNITS) return false;
    return true;
}

static bool suits(const struct cuda_backend *backend, const struct update_rule *rule)
{
    if (!rule || !rule->share_device || backend->precision != NADE_PRECISION_TF32 || !is_small(backend, rule) ||
        nd_slope_reads_sum(backend->plan->activation) || nd_is_between(rule) ||
        rule->average > 0) /* the block keeps neither sums nor gradients nor averages */
        return false;
    return job_of(backend, rule).layout.bytes + (int32_t)sizeof(struct small_job) <= backend->device.shared_most;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* The parameters and the moments that the optimiser keeps: no more than there are blocks for. */
static size_t blocks_of_rule(const struct update_rule *rule)
{
    size_t blocks = 1 + nd_moments_of(rule->optimizer);
    return blocks < SAVED_BLOCKS ? blocks : SAVED_BLOCKS;
}

static void need_small(struct cuda_work *work, const struct update_rule *rule)
{
    struct cuda_backend *backend = work->backend;
    if (!backend->small) backend->small = nd_arena_alloc(&backend->arena, 1, sizeof *backend->small);
    if (!backend->small) {
        work->status = nd_no_memory(work->context, "training");
        return;
    }
    for (size_t i = 0; i < blocks_of_rule(rule) && work->status == NADE_OK; i++) {
        void *memory = backend->small->saved[i];
        if (!memory)
            work->status = nd_cuda_alloc(work->context, &memory, backend->block_size, sizeof(float), "the network");
        backend->small->saved[i] = memory;
    }
    void *loss = backend->small->valid_loss;
    if (work->status == NADE_OK && !loss)
        work->status = nd_cuda_alloc(work->context, &loss, 1, sizeof(double), "the validation rows");
    backend->small->valid_loss = loss;
}

static void leave(struct cuda_backend *backend)
{
    if (backend->small->member) nd_small_launch_leave();
    backend->small->member = false;
}

void nd_small_free(struct cuda_backend *backend)
{
    if (!backend->small) return;
    leave(backend);
    for (size_t i = 0; i < SAVED_BLOCKS; i++) nd_cuda_free(backend->small->saved[i]);
    nd_cuda_free(backend->small->valid_loss);
    backend->small = NULL;
}

static void prepare(struct cuda_work *work, const struct update_rule *rule)
{
    if (work->status == NADE_OK) work->status = nd_cuda_need_all_blocks(work->context, work->backend);
    if (work->status == NADE_OK) need_small(work, rule);
    if (work->status != NADE_OK || work->backend->small->member) return;
    work->status = nd_small_launch_join(work->context, work->backend->device.shared_most);
    work->backend->small->member = work->status == NADE_OK;
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

/* Saves parameters and moments, or brings them back. */
static void copy_blocks(struct cuda_work *work, const struct update_rule *rule, bool back)
{
    const struct cuda_backend *backend = work->backend;
    size_t bytes = backend->block_size * sizeof(float);
    for (size_t i = 0; i < blocks_of_rule(rule) && work->status == NADE_OK; i++) {
        if (ND_CUDA_FAULT(FAULT_CUDA_SMALL_MOMENTS) && i > 0) continue;
        float *block = backend->block[saved_blocks[i]], *saved = backend->small->saved[i];
        nd_work_note(work,
                     cudaMemcpyAsync(back ? block : saved, back ? saved : block, bytes, cudaMemcpyDeviceToDevice,
                                     backend->stream),
                     "the updates");
    }
    nd_work_note(work, nd_cuda_wait(backend->stream), "the updates");
}

static void run(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t count)
{
    const struct cuda_training *training = work->backend->training;
    struct small_job job = job_of(work->backend, rule);
    job.first_draw = rule->first_draw + first;
    job.updates = (int32_t)count;
    job.rates = training->rates;
    job.progress = training->progress;
    job.loss = training->loss;
    if (work->status == NADE_OK) nd_work_note(work, nd_small_launch(&job, (int)rule->optimizer), "the updates");
}

/* The losses of an update are known only when part of its steps have been made, so what they change is saved first. */
static void launch(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t count)
{
    copy_blocks(work, rule, false);
    run(work, rule, first, count);
}

/* Goes back to the beginning of the call and makes the updates before the failed one again. */
static void rewind_updates(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t count)
{
    copy_blocks(work, rule, true);
    run(work, rule, first, count);
}

/* ---- validation -------------------------------------------------------------------------------------------------- */

static void put_validation(struct cuda_work *work, struct cuda_validation *validation)
{
    validation->sum = work->backend->small->valid_loss;
    validation->count = work->backend->data[DATA_VALID].view.rows * validation->repeats;
}

static void run_validation(struct cuda_work *work, const struct cuda_validation *validation)
{
    struct small_job job = job_of(work->backend, &work->backend->training->rule);
    job.cells = work->backend->data[DATA_VALID].view;
    job.seed = validation->seed;
    job.repeats = ND_CUDA_FAULT(FAULT_CUDA_SMALL_REPEATS) ? 1 : (uint32_t)validation->repeats;
    job.loss = validation->sum;
    nd_work_note(work, nd_small_launch(&job, SMALL_VALIDATION), "the losses");
}

const struct training_way nd_small_way = {
    .name = "small",
    .suits = suits,
    .prepare = prepare,
    .launch = launch,
    .rewind = rewind_updates,
    .gradient_of = nd_graphs_gradient_of,
    .leave = leave,
    .put_validation = put_validation,
    .run_validation = run_validation,
};
