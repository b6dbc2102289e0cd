#include "backend/cpu/cpu_kernels.h"

extern const struct cpu_kernels nd_cpu_kernels_baseline;
#ifdef NADE_X86
extern const struct cpu_kernels nd_cpu_kernels_avx2, nd_cpu_kernels_avx512;

static int runs_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

const struct cpu_kernels *nd_cpu_kernels_variant(size_t number)
{
    if (number == 0) return &nd_cpu_kernels_baseline;
#ifdef NADE_X86
    if (number == 1 && __builtin_cpu_supports("avx2")) return &nd_cpu_kernels_avx2;
    if (number == 2 && runs_avx512()) return &nd_cpu_kernels_avx512;
#endif
    return NULL;
}

const struct cpu_kernels *nd_cpu_kernels(void)
{
    const struct cpu_kernels *best = NULL;
    for (size_t number = 0; nd_cpu_kernels_variant(number); number++) best = nd_cpu_kernels_variant(number);
    return best;
}
