/* One parameter's step, as in backend/optimizer.h. */
#ifndef ND_BACKEND_CUDA_OPTIMIZER_CUH
#define ND_BACKEND_CUDA_OPTIMIZER_CUH

#include "backend/cuda/cuda_kernel_tools.cuh"

namespace
{

const float adam_epsilon = 1e-8f;

/* One parameter's step; *moment2 is not touched by NAG. */
template <bool ADAM>
__device__ __forceinline__ float take_step(const struct device_rates &r, float decay, float gradient, float parameter,
                                           float *moment1, float *moment2)
{
    if (ADAM) {
        *moment1 = r.momentum * *moment1 + r.rest1 * gradient;
        *moment2 = r.second * *moment2 + r.rest2 * gradient * gradient;
        float direction = *moment1 * r.correction1 / (sqrtf(*moment2 * r.correction2) + adam_epsilon);
        return parameter - r.rate * (direction + decay * parameter);
    }
    float g = gradient + decay * parameter;
    *moment1 = r.momentum * *moment1 + g;
    return parameter - r.rate * (g + r.momentum * *moment1);
}

} /* namespace */

#endif
