/* A CUDA backend whose arithmetic is the CPU's: with it the command goes its way with a device where there is none. */
#include <stdio.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cuda_loader.h"

static bool find_device(char *reason, size_t size)
{
    (void)reason;
    (void)size;
    return true;
}

static void device_name(char *text, size_t size)
{
    snprintf(text, size, "stand-in");
}

extern struct cuda_object nade_cuda_object;

struct cuda_object nade_cuda_object = {
    .build = NADE_BUILD, .entries = &nd_cpu_entries, .find_device = find_device, .device_name = device_name};
