/* When and how one block makes a training's updates. */
#include "backend/cuda/small/cuda_small_launch.h"
#include "backend/cuda/train/cuda_training.h"

static const enum block saved_blocks[] = {BLOCK_PARAMETERS, BLOCK_MOMENT1, BLOCK_MOMENT2};

static int32_t widest_output(const struct plan *plan)
{
    size_t widest = 0;
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].output_width > widest) widest = plan->column[c].output_width;
    return (int32_t)widest;
}

static struct small_layer layer_of(const struct cuda_backend *backend, const struct update_rule *rule, size_t l)
{
    struct step_job step = nd_cuda_step_job(backend, rule->optimizer, l);
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

bool nd_small_is_meant(const struct cuda_backend *backend, const struct update_rule *rule)
{
    if (!rule->share_device || backend->precision != NADE_PRECISION_TF32 || !is_small(backend, rule)) return false;
    return job_of(backend, rule).layout.bytes + (int32_t)sizeof(struct small_job) <= backend->device.shared_most;
}

nade_status nd_small_prepare(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule)
{
    struct cuda_training *training = backend->training;
    nade_status status = NADE_OK;
    size_t blocks = rule->optimizer == NADE_ADAM ? 3 : 2;
    for (size_t i = 0; i < blocks && status == NADE_OK; i++) {
        void *memory = training->saved[i];
        if (!memory) status = nd_cuda_alloc(context, &memory, backend->block_size, sizeof(float), "the network");
        training->saved[i] = memory;
    }
    if (status != NADE_OK || training->together) return status;
    status = nd_together_join(context);
    training->together = status == NADE_OK;
    return status;
}

void nd_small_leave(struct cuda_training *training)
{
    if (training->together) nd_together_leave();
    training->together = false;
}

void nd_small_free(struct cuda_training *training)
{
    nd_small_leave(training);
    for (size_t i = 0; i < sizeof training->saved / sizeof *training->saved; i++) nd_cuda_free(training->saved[i]);
}

/* Saves parameters and moments, or brings them back. */
static void copy_blocks(struct cuda_work *work, const struct update_rule *rule, bool back)
{
    const struct cuda_backend *backend = work->backend;
    size_t blocks = rule->optimizer == NADE_ADAM ? 3 : 2, bytes = backend->block_size * sizeof(float);
    for (size_t i = 0; i < blocks && work->status == NADE_OK; i++) {
        float *block = backend->block[saved_blocks[i]], *saved = backend->training->saved[i];
        nd_work_note(work,
                     cudaMemcpyAsync(back ? block : saved, back ? saved : block, bytes, cudaMemcpyDeviceToDevice,
                                     backend->training->lanes.main),
                     "the updates");
    }
    nd_work_note(work, nd_cuda_wait(backend->training->lanes.main), "the updates");
}

static void run(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t updates)
{
    const struct cuda_training *training = work->backend->training;
    struct small_job job = job_of(work->backend, rule);
    job.first_draw = rule->first_draw + first;
    job.updates = (int32_t)updates;
    job.rates = training->rates;
    job.progress = training->progress;
    job.loss = training->loss;
    if (work->status == NADE_OK)
        nd_work_note(work, nd_together_run(&job, rule->optimizer == NADE_ADAM ? SMALL_ADAM : SMALL_NAG), "the updates");
}

void nd_small_run(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t updates)
{
    copy_blocks(work, rule, false);
    run(work, rule, first, updates);
}

void nd_small_repeat(struct cuda_work *work, const struct update_rule *rule, uint64_t first, uint64_t updates)
{
    copy_blocks(work, rule, true);
    nd_cuda_unlock();
    run(work, rule, first, updates);
    nd_cuda_lock();
}

void nd_small_validate(struct cuda_work *work, uint32_t seed, size_t repeats, double *sum)
{
    struct small_job job = job_of(work->backend, &work->backend->training->rule);
    job.cells = work->backend->data[DATA_VALID].view;
    job.seed = seed;
    job.repeats = (uint32_t)repeats;
    job.loss = sum;
    nd_cuda_unlock();
    if (work->status == NADE_OK) nd_work_note(work, nd_together_run(&job, SMALL_VALIDATION), "the losses");
    nd_cuda_lock();
}
