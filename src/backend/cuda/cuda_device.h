/* The device as host code sees it: errors, memory, copies, waiting. */
#ifndef ND_BACKEND_CUDA_DEVICE_H
#define ND_BACKEND_CUDA_DEVICE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#include "nade/nade.h"

/* NADE_OK, or the error that CUDA reported while doing `what` ("copying the rows to the device"). */
nade_status nd_cuda_check(nade_context *context, cudaError_t error, const char *what);

/* What puts work on streams until the first failure. */
struct cuda_work {
    nade_context *context;
    struct cuda_backend *backend;
    nade_status status;
};

void nd_work_note(struct cuda_work *work, cudaError_t error, const char *what);

/* Waits for a stream's work without a word to the device: a copy or an event behind it would keep what other streams
 * put into the same of the device's few queues from starting.  The host sleeps meanwhile, since it may wait for a
 * hundred trainings in as many threads. */
cudaError_t nd_cuda_wait(cudaStream_t stream);

/* The thread's own stream, for what no other work depends on: the default one would wait for other threads' work, and
 * they for it. */
#define ND_OWN_STREAM cudaStreamPerThread

/* Waits for the thread's own stream, unless there was an error before. */
cudaError_t nd_cuda_settle(cudaError_t error);

/* Copies on the thread's own stream and waits until it is done. */
cudaError_t nd_cuda_copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);

/* Zeroed device memory; NADE_NO_MEMORY with a sentence.  Freed by nd_cuda_free, which takes NULL. */
nade_status nd_cuda_alloc(nade_context *context, void **memory, size_t count, size_t size, const char *what);
void nd_cuda_free(void *memory);

#endif
