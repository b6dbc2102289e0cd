/* As much of CUDA's runtime as host code of the backend names that is tested without a device. */
#ifndef TESTS_FAKE_CUDA_RUNTIME_H
#define TESTS_FAKE_CUDA_RUNTIME_H

#include <stddef.h>

typedef enum { cudaSuccess = 0, cudaErrorUnknown = 999 } cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
typedef struct CUstream_st *cudaStream_t;

#define cudaStreamNonBlocking 1u

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);

#endif
