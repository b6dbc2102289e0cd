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

const struct backend_entries nd_cuda_entries = {
    .name = "cuda",
    .usual = NADE_PRECISION_TF32,
    .slice = UPDATES_AT_A_TIME,
    .open = nd_cuda_open,
    .close = nd_cuda_close,
    .set_block = nd_cuda_set_block,
    .get_block = nd_cuda_get_block,
    .set_data = nd_cuda_set_data,
    .train_updates = nd_cuda_train_updates,
    .validate = nd_cuda_validate,
    .loss_and_gradients = nd_cuda_loss_and_gradients,
    .score_block = nd_cuda_score_block,
    .conditional_block = nd_cuda_conditional_block,
    .sample_block = nd_cuda_sample_block,
};

extern const struct cuda_object nade_cuda_object;

NADE_API const struct cuda_object nade_cuda_object = {NADE_BUILD, &nd_cuda_entries, find_device, nd_cuda_test_draws};
