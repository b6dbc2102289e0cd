/* When and how one block makes a training's updates. */
#include "backend/cuda/cuda_small.h"

#include "backend/cuda/cuda_training.h"

static const enum block saved_blocks[] = {BLOCK_PARAMETERS, BLOCK_MOMENT1, BLOCK_MOMENT2};

static int32_t widest_output(const struct plan *plan)
{
    size_t widest = 0;
    for (size_t c = 0; c < plan->columns; c++)
        if (plan->column[c].output_width > widest) widest = plan->column[c].output_width;
    return (int32_t)widest;
}

static struct small_job job_of(const struct cuda_backend *backend, const struct recipe *recipe)
{
    const struct plan *plan = backend->plan;
    struct small_job job = {
        .plan = backend->device,
        .cells = backend->data[DATA_TRAIN].view,
        .seed = recipe->seed,
        .batch = (int32_t)recipe->batch,
        .layers = (int32_t)plan->layers,
        .activation = (int)plan->activation,
    };
    for (size_t l = 0; l <= plan->layers; l++) job.layer[l] = nd_cuda_step_job(backend, recipe->optimizer, l);
    nd_small_lay_out(&job, widest_output(plan));
    return job;
}

/* Columns are taken one at a time, so that many narrow ones would leave most of each tile empty. */
static bool is_small(const struct cuda_backend *backend, const struct recipe *recipe)
{
    const struct plan *plan = backend->plan;
    if (plan->layers > ND_SMALL_LAYERS || plan->columns > ND_SMALL_COLUMNS || recipe->batch > ND_SMALL_BATCH ||
        widest_output(plan) > ND_SMALL_OUTPUTS || plan->outputs < plan->columns * ND_SMALL_USUAL_OUTPUTS)
        return false;
    for (size_t l = 0; l < plan->layers; l++)
        if (nd_layer_outputs(plan, l) > ND_SMALL_UNITS) return false;
    return true;
}

bool nd_small_is_meant(const struct cuda_backend *backend, const struct recipe *recipe)
{
    if (!recipe->share_device || backend->precision != NADE_PRECISION_TF32 || !is_small(backend, recipe)) return false;
    return job_of(backend, recipe).layout.bytes <= (size_t)backend->device.shared_most;
}

nade_status nd_small_prepare(nade_context *context, struct cuda_backend *backend, const struct recipe *recipe)
{
    nade_status status = NADE_OK;
    size_t blocks = recipe->optimizer == NADE_ADAM ? 3 : 2;
    for (size_t i = 0; i < blocks && status == NADE_OK; i++) {
        float **saved = &backend->training->saved[i];
        void *memory = *saved;
        if (!memory) status = nd_cuda_alloc(context, &memory, backend->block_size, sizeof **saved, "the network");
        *saved = memory;
    }
    return status;
}

/* Saves parameters and moments, or brings them back. */
static void copy_blocks(struct cuda_work *work, const struct recipe *recipe, bool back)
{
    const struct cuda_backend *backend = work->backend;
    size_t blocks = recipe->optimizer == NADE_ADAM ? 3 : 2, bytes = backend->block_size * sizeof(float);
    for (size_t i = 0; i < blocks && work->status == NADE_OK; i++) {
        float *block = backend->block[saved_blocks[i]], *saved = backend->training->saved[i];
        nd_work_note(work,
                     cudaMemcpyAsync(back ? block : saved, back ? saved : block, bytes, cudaMemcpyDeviceToDevice,
                                     backend->training->lanes.main),
                     "the updates");
    }
}

static void launch(struct cuda_work *work, const struct recipe *recipe, uint64_t first, uint64_t updates)
{
    const struct cuda_training *training = work->backend->training;
    struct small_job job = job_of(work->backend, recipe);
    job.first_draw = recipe->first_draw + first;
    job.updates = (int32_t)updates;
    job.rates = training->rates;
    job.progress = training->progress;
    job.loss = training->loss;
    if (work->status == NADE_OK) nd_work_note(work, nd_cuda_small_updates(&job, training->lanes.main), "the updates");
}

void nd_small_launch(struct cuda_work *work, const struct recipe *recipe, uint64_t first, uint64_t updates)
{
    copy_blocks(work, recipe, false);
    launch(work, recipe, first, updates);
}

void nd_small_repeat(struct cuda_work *work, const struct recipe *recipe, uint64_t first, uint64_t updates)
{
    copy_blocks(work, recipe, true);
    launch(work, recipe, first, updates);
    if (work->status == NADE_OK)
        nd_work_note(work, cudaStreamSynchronize(work->backend->training->lanes.main), "the updates");
}
