/* Compiled several times; ND_KERNELS names the variant (see CMakeLists.txt). */
#include "backend/mixture/mixture_kernels.h"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

enum { LANES = ND_MIXTURE_LANES, WIDE = 4 };

/* The compiler makes as many of the processor's vectors of it as it takes. */
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* Sums of WIDE vectors stay in registers while the list passes. */
static void add_wide(size_t count, const uint32_t *list, size_t first, const double *matrix, size_t stride, double *sum)
{
    lanes *to = (lanes *)sum, a = to[0], b = to[1], c = to[2], d = to[3];
    for (size_t i = 0; i < count; i++) {
        const lanes *row = (const lanes *)(matrix + (list[i] - first) * stride);
        a += row[0];
        b += row[1];
        c += row[2];
        d += row[3];
    }
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
}

static void add_narrow(size_t count, const uint32_t *list, size_t first, const double *matrix, size_t stride,
                       double *sum)
{
    lanes a = *(lanes *)sum;
    for (size_t i = 0; i < count; i++) a += *(const lanes *)(matrix + (list[i] - first) * stride);
    *(lanes *)sum = a;
}

static void add_rows(size_t count, const uint32_t *list, size_t first, const double *matrix, size_t stride,
                     size_t width, double *sum)
{
    size_t at = 0, wide = (size_t)WIDE * LANES;
    for (; at + wide <= width; at += wide) add_wide(count, list, first, matrix + at, stride, sum + at);
    for (; at < width; at += LANES) add_narrow(count, list, first, matrix + at, stride, sum + at);
}

extern const struct mixture_kernels JOIN(nd_mixture_kernels_, ND_KERNELS);

const struct mixture_kernels JOIN(nd_mixture_kernels_, ND_KERNELS) = {
    .name = TEXT(ND_KERNELS),
    .add_rows = add_rows,
};
