/* What the shared object shows to the library that opens it. */
#include <stdio.h>

#include "backend/cuda/cuda_backend.h"
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

static void device_name(char *text, size_t size)
{
    struct cudaDeviceProp properties;
    nd_cuda_lock();
    bool known = cudaGetDeviceProperties(&properties, 0) == cudaSuccess;
    nd_cuda_unlock();
    snprintf(text, size, "%s", known ? properties.name : "");
}

/* ---- entries, each under the lock (cuda_backend.h) --------------------------------------------------------------- */

static nade_status finished(nade_status status)
{
    nd_cuda_unlock();
    return status;
}

static nade_status open_locked(nade_context *context, const struct plan *plan, nade_precision precision,
                               struct backend **backend)
{
    nd_cuda_lock();
    return finished(nd_cuda_open(context, plan, precision, backend));
}

static void close_locked(struct backend *backend)
{
    nd_cuda_lock();
    nd_cuda_close(backend);
    nd_cuda_unlock();
}

static nade_status set_block_locked(nade_context *context, struct backend *backend, enum block block,
                                    const float *values)
{
    nd_cuda_lock();
    return finished(nd_cuda_set_block(context, backend, block, values));
}

static nade_status get_block_locked(nade_context *context, struct backend *backend, enum block block, float *values)
{
    nd_cuda_lock();
    return finished(nd_cuda_get_block(context, backend, block, values));
}

static nade_status set_data_locked(nade_context *context, struct backend *backend, enum data_role role,
                                   const struct cells *cells)
{
    nd_cuda_lock();
    return finished(nd_cuda_set_data(context, backend, role, cells));
}

static nade_status set_rows_locked(nade_context *context, struct backend *backend, enum data_role role, size_t first,
                                   size_t count)
{
    nd_cuda_lock();
    return finished(nd_cuda_set_rows(context, backend, role, first, count));
}

static nade_status train_updates_locked(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                        uint64_t first, uint64_t count, double *loss, uint64_t *failed)
{
    nd_cuda_lock();
    return finished(nd_cuda_train_updates(context, backend, rule, first, count, loss, failed));
}

static nade_status validate_locked(nade_context *context, struct backend *backend, uint32_t seed, size_t repeats,
                                   double *loss)
{
    nd_cuda_lock();
    return finished(nd_cuda_validate(context, backend, seed, repeats, loss));
}

static nade_status loss_and_gradients_locked(nade_context *context, struct backend *backend, const struct cells *cells,
                                             const uint8_t *observed, double *loss)
{
    nd_cuda_lock();
    return finished(nd_cuda_loss_and_gradients(context, backend, cells, observed, loss));
}

static nade_status score_block_locked(nade_context *context, struct backend *backend, const struct cells *cells,
                                      const struct score_query *query, double *log_density)
{
    nd_cuda_lock();
    return finished(nd_cuda_score_block(context, backend, cells, query, log_density));
}

static nade_status conditional_block_locked(nade_context *context, struct backend *backend, const struct cells *cells,
                                            const size_t *target, double *outputs)
{
    nd_cuda_lock();
    return finished(nd_cuda_conditional_block(context, backend, cells, target, outputs));
}

static nade_status sample_block_locked(nade_context *context, struct backend *backend, const struct sample_query *query,
                                       size_t rows, float *cells)
{
    nd_cuda_lock();
    return finished(nd_cuda_sample_block(context, backend, query, rows, cells));
}

static nade_status test_draws_locked(nade_context *context, struct backend *backend, const struct update_rule *rule,
                                     uint64_t update, uint32_t *row, uint8_t *observed)
{
    nd_cuda_lock();
    return finished(nd_cuda_test_draws(context, backend, rule, update, row, observed));
}

const struct backend_entries nd_cuda_entries = {
    .name = "cuda",
    .usual = NADE_PRECISION_TF32,
    .slice = UPDATES_AT_A_TIME,
    .heads = ND_HEAD_BIT(NADE_BINARY) | ND_HEAD_BIT(NADE_REAL) | ND_HEAD_BIT(NADE_CATEGORICAL),
    .open = open_locked,
    .close = close_locked,
    .set_block = set_block_locked,
    .get_block = get_block_locked,
    .set_data = set_data_locked,
    .set_rows = set_rows_locked,
    .train_updates = train_updates_locked,
    .validate = validate_locked,
    .loss_and_gradients = loss_and_gradients_locked,
    .score_block = score_block_locked,
    .conditional_block = conditional_block_locked,
    .sample_block = sample_block_locked,
};

extern const struct cuda_object nade_cuda_object;

NADE_API const struct cuda_object nade_cuda_object = {NADE_BUILD, &nd_cuda_entries, find_device, test_draws_locked,
                                                      device_name};
