#include "backend/cpu/cpu_kernels.h"
#include "backend/cpu/cpu_products.h"
#include "backend/gaussian/gaussian_kernels.h"
#include "backend/mixture/mixture_kernels.h"

extern const struct cpu_kernels nd_cpu_kernels_baseline;
extern const struct cpu_products nd_cpu_products_baseline;
extern const struct gaussian_kernels nd_gaussian_kernels_baseline;
extern const struct mixture_kernels nd_mixture_kernels_baseline;
#ifdef NADE_X86
extern const struct cpu_kernels nd_cpu_kernels_avx2, nd_cpu_kernels_avx512;
extern const struct cpu_products nd_cpu_products_avx2, nd_cpu_products_avx512, nd_cpu_products_avx512_bf16;
extern const struct gaussian_kernels nd_gaussian_kernels_avx2, nd_gaussian_kernels_avx512;
extern const struct mixture_kernels nd_mixture_kernels_avx2, nd_mixture_kernels_avx512;

static int runs_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int runs_avx512(void)
{
    return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#endif

const struct cpu_kernels *nd_cpu_kernels_variant(size_t number)
{
    if (number == 0) return &nd_cpu_kernels_baseline;
#ifdef NADE_X86
    if (number == 1 && runs_avx2()) return &nd_cpu_kernels_avx2;
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

const struct cpu_products *nd_cpu_products_variant(size_t number)
{
    if (number == 0) return &nd_cpu_products_baseline;
#ifdef NADE_X86
    if (number == 1 && runs_avx2()) return &nd_cpu_products_avx2;
    if (number == 2 && runs_avx512()) return &nd_cpu_products_avx512;
#endif
    return NULL;
}

const struct cpu_products *nd_cpu_products(void)
{
    const struct cpu_products *best = NULL;
    for (size_t number = 0; nd_cpu_products_variant(number); number++) best = nd_cpu_products_variant(number);
    return best;
}

const struct cpu_products *nd_cpu_products_bf16(void)
{
#ifdef NADE_X86
    if (runs_avx512() && __builtin_cpu_supports("avx512bf16")) return &nd_cpu_products_avx512_bf16;
#endif
    return NULL;
}

const struct gaussian_kernels *nd_gaussian_kernels_variant(size_t number)
{
    if (number == 0) return &nd_gaussian_kernels_baseline;
#ifdef NADE_X86
    if (number == 1 && runs_avx2()) return &nd_gaussian_kernels_avx2;
    if (number == 2 && runs_avx512()) return &nd_gaussian_kernels_avx512;
#endif
    return NULL;
}

const struct gaussian_kernels *nd_gaussian_kernels(void)
{
    const struct gaussian_kernels *best = NULL;
    for (size_t number = 0; nd_gaussian_kernels_variant(number); number++) best = nd_gaussian_kernels_variant(number);
    return best;
}

const struct mixture_kernels *nd_mixture_kernels_variant(size_t number)
{
    if (number == 0) return &nd_mixture_kernels_baseline;
#ifdef NADE_X86
    if (number == 1 && runs_avx2()) return &nd_mixture_kernels_avx2;
    if (number == 2 && runs_avx512()) return &nd_mixture_kernels_avx512;
#endif
    return NULL;
}

const struct mixture_kernels *nd_mixture_kernels(void)
{
    const struct mixture_kernels *best = NULL;
    for (size_t number = 0; nd_mixture_kernels_variant(number); number++) best = nd_mixture_kernels_variant(number);
    return best;
}
