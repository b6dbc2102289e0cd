/* What the shared object shows to the library that opens it, and the one place that takes the object's lock. */
#include <pthread.h>
#include <stdio.h>

#include "backend/cuda/cuda_blocks.h"
#include "backend/cuda/cuda_matrix.h"
#include "backend/cuda/cuda_rows.h"
#include "backend/cuda/score/cuda_score.h"
#include "backend/cuda/train/cuda_graphs.h"
#include "backend/cuda_loader.h"

/* The oldest chips that the kernels are compiled for. */
enum { CAPABILITY_LEAST = 8, UPDATES_AT_A_TIME = 500 };

/* Without a driver the runtime only says that it is too old. */
static void explain(cudaError_t error, char *reason, size_t size)
{
    int driver = 0;
    if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0)
        snprintf(reason, size, "no NVIDIA driver is loaded");
    else
        snprintf(reason, size, "CUDA says \"%s\"", cudaGetErrorString(error));
}

/* Looks at the device that the runtime would take; CUDA_VISIBLE_DEVICES chooses among several. */
static bool find_device(char *reason, size_t size)
{
    int count = 0, capability = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count == 0) error = cudaErrorNoDevice;
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, 0);
    if (error == cudaSuccess && capability >= CAPABILITY_LEAST) error = nd_cuda_try_kernel();
    if (error != cudaSuccess)
        explain(error, reason, size);
    else if (capability < CAPABILITY_LEAST)
        snprintf(reason, size, "its compute capability is %d, expected %d or more", capability, CAPABILITY_LEAST);
    return error == cudaSuccess && capability >= CAPABILITY_LEAST;
}

/* ---- the lock ---------------------------------------------------------------------------------------------------- */

/* CUDA fails a capture when another thread of the process allocates, frees, loads kernels or captures at the wrong
 * moment.  So all work is put on streams under one lock of the process, whatever context it is for; updates, and the
 * waiting for losses and parameters, go without it, so that others go on meanwhile.  Nothing below the entries knows of
 * the lock. */
static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock(void)
{
    pthread_mutex_lock(&device_lock);
}

static nade_status unlock(nade_status status)
{
    pthread_mutex_unlock(&device_lock);
    return status;
}

static struct cuda_backend *of_ours(struct backend *backend)
{
    return (struct cuda_backend *)backend;
}

static void device_name(char *text, size_t size)
{
    struct cudaDeviceProp properties;
    lock();
    cudaError_t error = cudaGetDeviceProperties(&properties, 0);
    unlock(NADE_OK);
    snprintf(text, size, "%s", error == cudaSuccess ? properties.name : "");
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static nade_status open_network(nade_context *context, const struct plan *plan, nade_precision precision,
                                struct backend **backend)
{
    struct cuda_backend *opened = NULL;
    lock();
    nade_status status = nd_cuda_open(context, plan, precision, &opened);
    if (status == NADE_OK) *backend = (struct backend *)opened;
    return unlock(status);
}

static void close_network(struct backend *backend)
{
    lock();
    nd_cuda_close(of_ours(backend));
    unlock(NADE_OK);
}

static nade_status set_block(nade_context *context, struct backend *backend, enum block block, const float *values)
{
    lock();
    return unlock(nd_cuda_set_block(context, of_ours(backend), block, values));
}

static nade_status get_block(nade_context *context, struct backend *backend, enum block block, float *values)
{
    lock();
    nade_status status = unlock(nd_cuda_pack_block(context, of_ours(backend), block));
    return status == NADE_OK ? nd_cuda_fetch_block(context, of_ours(backend), values) : status;
}

static nade_status exchange(nade_context *context, struct backend *backend)
{
    lock();
    return unlock(nd_cuda_exchange(context, of_ours(backend)));
}

static nade_status set_data(nade_context *context, struct backend *backend, enum data_role role,
                            const struct encoded_rows *cells)
{
    lock();
    return unlock(nd_cuda_set_data(context, of_ours(backend), role, cells));
}

static nade_status set_rows(nade_context *context, struct backend *backend, enum data_role role, size_t first,
                            size_t count)
{
    lock();
    return unlock(nd_cuda_set_rows(context, of_ours(backend), role, first, count));
}

static nade_status train_updates(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                 uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    lock();
    nade_status status = unlock(nd_training_prepare(context, of_ours(backend), rule, count));
    if (status == NADE_OK) status = nd_training_run(context, of_ours(backend), first, count, loss, failed);
    if (status != NADE_NOT_FINITE) return status;
    lock();
    return unlock(nd_training_fail(context, of_ours(backend), *failed));
}

static nade_status validate(nade_context *context, struct backend *backend, uint32_t seed, size_t repeats, double *loss)
{
    struct cuda_validation validation = {.seed = seed, .repeats = repeats};
    lock();
    nade_status status = unlock(nd_validation_prepare(context, of_ours(backend), &validation));
    return status == NADE_OK ? nd_validation_run(context, of_ours(backend), &validation, loss) : status;
}

static nade_status loss_and_gradients(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                                      const uint8_t *observed, double *loss)
{
    lock();
    return unlock(nd_training_gradients(context, of_ours(backend), cells, observed, loss));
}

static nade_status score_block(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                               const struct score_query *query, double *log_density)
{
    lock();
    return unlock(nd_score_densities(context, of_ours(backend), cells, query, log_density));
}

static nade_status conditional_block(nade_context *context, struct backend *backend, const struct encoded_rows *cells,
                                     const size_t *target, double *outputs)
{
    lock();
    return unlock(nd_score_conditionals(context, of_ours(backend), cells, target, outputs));
}

static nade_status sample_block(nade_context *context, struct backend *backend, const struct sample_query *query,
                                size_t rows, float *cells)
{
    lock();
    return unlock(nd_score_samples(context, of_ours(backend), query, rows, cells));
}

static nade_status test_draws(nade_context *context, struct backend *backend, const struct update_rule *rule,
                              uint64_t update, uint32_t *row, uint8_t *observed)
{
    lock();
    return unlock(nd_graphs_test_draws(context, of_ours(backend), rule, update, row, observed));
}

const struct backend_entries nd_cuda_entries = {
    .name = "cuda",
    .usual = NADE_PRECISION_TF32,
    .fast = true,
    .slice = UPDATES_AT_A_TIME,
    .residual = true,
    .heads =
        ND_HEAD_BIT(NADE_BINARY) | ND_HEAD_BIT(NADE_REAL) | ND_HEAD_BIT(NADE_CATEGORICAL) | ND_HEAD_BIT(NADE_ORDERED),
    .open = open_network,
    .close = close_network,
    .set_block = set_block,
    .get_block = get_block,
    .set_data = set_data,
    .set_rows = set_rows,
    .train_updates = train_updates,
    .exchange = exchange,
    .validate = validate,
    .loss_and_gradients = loss_and_gradients,
    .score_block = score_block,
    .conditional_block = conditional_block,
    .sample_block = sample_block,
};

extern const struct cuda_object nade_cuda_object;

NADE_API const struct cuda_object nade_cuda_object = {NADE_BUILD, &nd_cuda_entries, find_device, test_draws,
                                                      device_name};
