#include "backend/cuda/train/cuda_training.h"

#include <limits.h>

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/fixed/cuda_fixed.h"
#include "backend/cuda/small/cuda_small.h"
#include "backend/cuda/train/cuda_graphs.h"
#include "backend/cuda/train/cuda_step_jobs.h"
#include "base/context.h"

/* The first that suits is taken; the last always does. */
static const struct training_way *const ways[] = {&nd_fixed_way, &nd_small_way, &nd_graph_way};

static const struct training_way *choose_way(const struct cuda_backend *backend, const struct update_rule *rule)
{
    size_t i = 0;
    while (i + 1 < sizeof ways / sizeof *ways && !ways[i]->suits(backend, rule)) i++;
    return ways[i];
}

/* ---- what all ways share ----------------------------------------------------------------------------------------- */

void nd_training_forget(struct cuda_backend *backend)
{
    nd_graphs_forget(backend);
}

void nd_training_free(struct cuda_backend *backend)
{
    struct cuda_training *training = backend->training;
    nd_graphs_free(backend);
    nd_fixed_free(backend);
    nd_small_free(backend);
    if (!training) return;
    nd_cuda_free(training->progress);
    nd_cuda_free(training->rates);
    nd_cuda_free(training->loss);
    nd_cuda_free(training->squares);
    nd_cuda_free(training->jobs);
    nd_arena_free(&training->room);
    backend->training = NULL;
}

/* Room for `updates` losses and rates; graphs know where it lies. */
static nade_status need_room(nade_context *context, struct cuda_backend *backend, size_t updates)
{
    struct cuda_training *training = backend->training;
    if (updates <= training->updates) return NADE_OK;
    nd_training_forget(backend);
    void *rates = NULL, *loss = NULL;
    nade_status status = nd_cuda_alloc(context, &rates, updates, sizeof *training->rates, "training");
    if (status == NADE_OK) status = nd_cuda_alloc(context, &loss, updates, sizeof *training->loss, "training");
    nd_cuda_free(training->rates);
    nd_cuda_free(training->loss);
    training->rates = rates;
    training->loss = loss;
    nd_arena_free(&training->room);
    training->host_rates = nd_arena_alloc(&training->room, updates, sizeof *training->host_rates);
    training->host_loss = nd_arena_alloc(&training->room, updates, sizeof *training->host_loss);
    if (status == NADE_OK && (!training->host_rates || !training->host_loss))
        status = nd_no_memory(context, "training");
    training->updates = status == NADE_OK ? updates : 0;
    return status;
}

void nd_training_need(struct cuda_work *work, size_t updates)
{
    struct cuda_backend *backend = work->backend;
    if (work->status != NADE_OK) return;
    if (!backend->training) {
        backend->training = nd_arena_alloc(&backend->arena, 1, sizeof *backend->training);
        if (backend->training) backend->training->room.allocator = work->context->allocator;
    }
    if (!backend->training) {
        work->status = nd_no_memory(work->context, "training");
        return;
    }
    void *progress = backend->training->progress;
    if (!progress)
        work->status = nd_cuda_alloc(work->context, &progress, 1, sizeof(struct device_progress), "training");
    backend->training->progress = progress;
    if (work->status == NADE_OK) work->status = need_room(work->context, backend, updates);
}

void nd_training_start(struct cuda_work *work, uint64_t first_draw)
{
    struct device_progress progress = {.failed = INT32_MAX, .first_draw = first_draw};
    cudaStream_t stream = work->backend->stream;
    if (work->status != NADE_OK) return;
    cudaError_t error =
        cudaMemcpyAsync(work->backend->training->progress, &progress, sizeof progress, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream); /* progress lives on this stack */
    nd_work_note(work, error, "starting the updates");
}

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static nade_status scale_means(nade_context *context, struct cuda_backend *backend, bool scaled)
{
    if (backend->scaled_means == scaled) return NADE_OK;
    nade_status status = nd_cuda_scale_means(context, &backend->device, scaled);
    if (status == NADE_OK) backend->scaled_means = scaled;
    return status;
}

nade_status nd_training_prepare(nade_context *context, struct cuda_backend *backend, const struct update_rule *rule,
                                uint64_t count)
{
    struct cuda_work work = {context, backend, scale_means(context, backend, rule->scaled_means)};
    if (work.status == NADE_OK) nd_training_need(&work, (size_t)count);
    if (work.status != NADE_OK) return work.status;
    const struct training_way *way = choose_way(backend, rule), *last = backend->training->way;
    if (last && last != way && last->leave) last->leave(backend);
    way->prepare(&work, rule);
    if (work.status != NADE_OK) return work.status;
    backend->training->way = way;
    backend->training->rule = *rule;
    return NADE_OK;
}

/* Puts what the updates begin with on the stream. */
static void send_start(struct cuda_work *work, uint64_t first, uint64_t count)
{
    struct cuda_training *training = work->backend->training;
    nd_training_start(work, training->rule.first_draw + first);
    for (uint64_t u = 0; u < count; u++) training->host_rates[u] = nd_cuda_rates(&training->rule, first + u);
    if (work->status == NADE_OK)
        nd_work_note(work,
                     cudaMemcpyAsync(training->rates, training->host_rates, count * sizeof *training->rates,
                                     cudaMemcpyHostToDevice, work->backend->stream),
                     "starting the updates");
}

/* Waits for the updates and fetches their losses and how far they came. */
static void fetch_end(struct cuda_work *work, uint64_t count, struct device_progress *progress)
{
    struct cuda_training *training = work->backend->training;
    cudaStream_t stream = work->backend->stream;
    cudaError_t error = nd_cuda_wait(stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(training->host_loss, training->loss, count * sizeof(double), cudaMemcpyDeviceToHost,
                                stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(progress, training->progress, sizeof *progress, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    nd_work_note(work, error, "the updates");
}

nade_status nd_training_run(nade_context *context, struct cuda_backend *backend, uint64_t first, uint64_t count,
                            double *loss, uint64_t *failed)
{
    struct cuda_training *training = backend->training;
    struct cuda_work work = {context, backend, NADE_OK};
    struct device_progress progress = {0};
    *failed = first;
    if (backend->not_finite) return NADE_NOT_FINITE;
    send_start(&work, first, count);
    training->way->launch(&work, &training->rule, first, count);
    fetch_end(&work, count, &progress);
    if (work.status != NADE_OK) return work.status;
    backend->not_finite = progress.failed == (int32_t)count;
    if (progress.failed < (int32_t)count) {
        *failed = first + (uint64_t)progress.failed;
        if (training->way->rewind) training->way->rewind(&work, &training->rule, first, (uint64_t)progress.failed);
        return work.status == NADE_OK ? NADE_NOT_FINITE : work.status;
    }
    *loss = 0;
    for (uint64_t u = 0; u < count; u++) *loss += training->host_loss[u] / (double)count;
    return NADE_OK;
}

nade_status nd_training_fail(nade_context *context, struct cuda_backend *backend, uint64_t failed)
{
    const struct cuda_training *training = backend->training;
    struct cuda_work work = {context, backend, NADE_OK};
    if (training->way->gradient_of) training->way->gradient_of(&work, &training->rule, failed);
    return work.status == NADE_OK ? nd_fail(context, NADE_NOT_FINITE, "the loss is not finite") : work.status;
}

/* ---- validation, gradients --------------------------------------------------------------------------------------- */

/* The way of the last updates; before the first, what would be taken for them. */
static const struct training_way *last_way(const struct cuda_backend *backend)
{
    return backend->training && backend->training->way ? backend->training->way : choose_way(backend, NULL);
}

nade_status nd_validation_prepare(nade_context *context, struct cuda_backend *backend,
                                  struct cuda_validation *validation)
{
    struct cuda_work work = {context, backend, NADE_OK};
    last_way(backend)->put_validation(&work, validation);
    return work.status;
}

nade_status nd_validation_run(nade_context *context, struct cuda_backend *backend,
                              const struct cuda_validation *validation, double *loss)
{
    const struct training_way *way = last_way(backend);
    struct cuda_work work = {context, backend, NADE_OK};
    double sum = 0;
    if (way->run_validation) way->run_validation(&work, validation);
    cudaError_t error = nd_cuda_wait(backend->stream);
    if (work.status == NADE_OK && error == cudaSuccess)
        error = nd_cuda_copy(&sum, validation->sum, sizeof sum, cudaMemcpyDeviceToHost);
    nd_work_note(&work, error, "the losses");
    *loss = sum / (double)validation->count;
    return work.status;
}

nade_status nd_training_gradients(nade_context *context, struct cuda_backend *backend, const struct encoded_rows *cells,
                                  const uint8_t *observed, double *loss)
{
    struct cuda_work work = {context, backend, scale_means(context, backend, false)};
    if (work.status == NADE_OK) choose_way(backend, NULL)->gradients(&work, cells, observed, loss);
    return work.status;
}
