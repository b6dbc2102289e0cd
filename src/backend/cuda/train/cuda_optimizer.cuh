/* One parameter's step: the functions of backend/optimizer.h on the device. */
#ifndef ND_BACKEND_CUDA_OPTIMIZER_CUH
#define ND_BACKEND_CUDA_OPTIMIZER_CUH

#include "backend/cuda/cuda_kernel_tools.cuh"

#define ND_RATES struct device_rates
#define ND_SQRT sqrtf
#include "backend/optimizer.h"

namespace
{

/* Whether an optimiser keeps a second moment. */
#define ROW(kind, name, moments, usual_rate, second) || (OPTIMIZER == kind && (moments) > 1)
template <nade_optimizer OPTIMIZER> constexpr bool has_second = false ND_OPTIMIZERS(ROW);
#undef ROW

/* Moves a parameter; *moment2 is not touched where there is none. */
template <nade_optimizer OPTIMIZER>
__device__ __forceinline__ void take_step(const struct device_rates &r, float decay, float gradient, float *moment1,
                                          float *moment2, float *parameter)
{
#define ROW(kind, name, moments, usual_rate, second)                                                                   \
    if constexpr (OPTIMIZER == kind) name##_step(&r, decay, gradient, moment1, moment2, parameter);
    ND_OPTIMIZERS(ROW)
#undef ROW
}

} /* namespace */

#endif
