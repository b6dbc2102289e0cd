#include "backend/cuda/cuda_device.h"

#include <time.h>

#include "base/context.h"
#include "base/memory.h"

nade_status nd_cuda_check(nade_context *context, cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return NADE_OK;
    cudaGetLastError(); /* an error that has been reported must not come back from the next call */
    if (error == cudaErrorMemoryAllocation)
        return nd_fail(context, NADE_NO_MEMORY, "the CUDA device has no memory left for %s", what);
    return nd_fail(context, NADE_NO_DEVICE, "%s failed on the CUDA device: %s", what, cudaGetErrorString(error));
}

void nd_work_note(struct cuda_work *work, cudaError_t error, const char *what)
{
    if (work->status == NADE_OK) work->status = nd_cuda_check(work->context, error, what);
    if (error != cudaSuccess) cudaGetLastError(); /* one that nobody reports must not come back from the next call */
}

cudaError_t nd_cuda_wait(cudaStream_t stream)
{
    enum { SHORTEST = 20000, LONGEST = 2000000 }; /* nanoseconds; each nap is a sixteenth of the wait so far */
    struct timespec nap = {.tv_nsec = SHORTEST};
    cudaError_t error;
    for (long waited = 0; (error = cudaStreamQuery(stream)) == cudaErrorNotReady; waited += nap.tv_nsec) {
        long next = waited / 16;
        nap.tv_nsec = next < SHORTEST ? SHORTEST : next > LONGEST ? LONGEST : next;
        nanosleep(&nap, NULL);
    }
    cudaGetLastError(); /* that it was not ready must not come back from the next call */
    return error;
}

cudaError_t nd_cuda_settle(cudaError_t error)
{
    return error == cudaSuccess ? cudaStreamSynchronize(ND_OWN_STREAM) : error;
}

cudaError_t nd_cuda_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return nd_cuda_settle(cudaMemcpyAsync(to, from, bytes, kind, ND_OWN_STREAM));
}

nade_status nd_cuda_alloc(nade_context *context, void **memory, size_t count, size_t size, const char *what)
{
    size_t bytes;
    *memory = NULL;
    if (!nd_multiply(count, size, &bytes)) return nd_no_memory(context, what);
    if (bytes == 0) bytes = 1;
    cudaError_t error = cudaMalloc(memory, bytes);
    if (error == cudaSuccess) error = nd_cuda_settle(cudaMemsetAsync(*memory, 0, bytes, ND_OWN_STREAM));
    return nd_cuda_check(context, error, what);
}

void nd_cuda_free(void *memory)
{
    if (memory) cudaFree(memory);
}
