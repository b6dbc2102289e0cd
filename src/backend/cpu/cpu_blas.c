#include "backend/cpu/cpu_blas.h"

#include <cblas.h>
#include <pthread.h>
#include <stdint.h>

#ifdef NADE_OPENBLAS
static pthread_once_t opened = PTHREAD_ONCE_INIT;

static void use_one_thread(void)
{
    openblas_set_num_threads(1);
}

void nd_blas_open(void)
{
    pthread_once(&opened, use_one_thread);
}
#else
void nd_blas_open(void)
{
}
#endif

size_t nd_blas_slack(size_t stride)
{
    enum { REGISTER = 16 };
    return stride + REGISTER;
}

float *nd_blas_alloc(struct arena *arena, size_t rows, size_t stride)
{
    size_t count;
    if (!nd_multiply(rows, stride, &count) || count > SIZE_MAX - nd_blas_slack(stride)) return NULL;
    return nd_arena_alloc(arena, count + nd_blas_slack(stride), sizeof(float));
}

void nd_blas_forward(size_t rows, size_t inputs, size_t outputs, const float *in, size_t in_stride, const float *weight,
                     float *out, size_t out_stride)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)outputs, (int)inputs, 1, in, (int)in_stride,
                weight, (int)inputs, 0, out, (int)out_stride);
}

void nd_blas_backward(size_t rows, size_t inputs, size_t outputs, const float *delta, size_t delta_stride,
                      const float *weight, float *below, size_t below_stride)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)inputs, (int)outputs, 1, delta,
                (int)delta_stride, weight, (int)inputs, 0, below, (int)below_stride);
}

void nd_blas_weight_gradient(size_t rows, size_t inputs, size_t outputs, const float *delta, size_t delta_stride,
                             const float *in, size_t in_stride, float *gradient)
{
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)outputs, (int)inputs, (int)rows, 1, delta,
                (int)delta_stride, in, (int)in_stride, 0, gradient, (int)inputs);
}
