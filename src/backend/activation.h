/* The activations of hidden units, each written once: the reference, the CPU's kernels of every instruction set and
 * CUDA's kernels compile these functions.
 *
 * ROW(a value of nade_activation, the name of its functions, whether its slope reads the sum).  A backend keeps sums,
 * what enters the activation, only for those whose slope reads them: of the others the slope is a function of the
 * value, and it is called with any number for the sum. */
#ifndef ND_BACKEND_ACTIVATION_H
#define ND_BACKEND_ACTIVATION_H

#include <stdbool.h>

#include "nade/nade.h"

#define ND_ACTIVATIONS(ROW)                                                                                            \
    ROW(NADE_RELU, relu, false)                                                                                        \
    ROW(NADE_SIGMOID, sigmoid, false)                                                                                  \
    ROW(NADE_TANH, tanh, false)                                                                                        \
    ROW(NADE_GELU, gelu, true)                                                                                         \
    ROW(NADE_SILU, silu, true)

static inline bool nd_slope_reads_sum(nade_activation activation)
{
#define ROW(kind, name, reads_sum)                                                                                     \
    case kind: return reads_sum;
    switch (activation) {
        ND_ACTIVATIONS(ROW)
    }
#undef ROW
    return false;
}

#endif

/* Who computes includes this with ND_REAL defined: its number; ND_INLINE where `static inline` does not do; and as
 * functions of a number ND_EXP, ND_SIGMOID, ND_TANH and ND_NORMAL, the distribution function of the standard normal. */
#if defined(ND_REAL) && !defined(ND_ACTIVATION_VALUES)
#define ND_ACTIVATION_VALUES

#ifndef ND_INLINE
#define ND_INLINE static inline
#endif

/* NaN goes through, so that the loss tells. */
ND_INLINE ND_REAL relu_value(ND_REAL a)
{
    return a <= 0 ? 0 : a;
}

ND_INLINE ND_REAL relu_slope(ND_REAL a, ND_REAL h)
{
    (void)a;
    return h > 0 ? 1 : 0;
}

ND_INLINE ND_REAL sigmoid_value(ND_REAL a)
{
    return ND_SIGMOID(a);
}

ND_INLINE ND_REAL sigmoid_slope(ND_REAL a, ND_REAL h)
{
    (void)a;
    return h * (1 - h);
}

ND_INLINE ND_REAL tanh_value(ND_REAL a)
{
    return ND_TANH(a);
}

ND_INLINE ND_REAL tanh_slope(ND_REAL a, ND_REAL h)
{
    (void)a;
    return 1 - h * h;
}

ND_INLINE ND_REAL gelu_value(ND_REAL a)
{
    return a * ND_NORMAL(a);
}

ND_INLINE ND_REAL gelu_slope(ND_REAL a, ND_REAL h)
{
    (void)h;
    return ND_NORMAL(a) + a * ((ND_REAL)0.39894228040143267794 * ND_EXP((ND_REAL)-0.5 * a * a));
}

ND_INLINE ND_REAL silu_value(ND_REAL a)
{
    return a * ND_SIGMOID(a);
}

ND_INLINE ND_REAL silu_slope(ND_REAL a, ND_REAL h)
{
    ND_REAL s = ND_SIGMOID(a);
    return s + h * (1 - s);
}

/* The same for an activation that is known only when it runs; loops that are to be vectorised make their own switch of
 * the list, outside. */
ND_INLINE ND_REAL activation_value(int kind, ND_REAL a)
{
#define ROW(kind, name, reads_sum)                                                                                     \
    case kind: return name##_value(a);
    switch (kind) {
        ND_ACTIVATIONS(ROW)
    }
#undef ROW
    return a;
}

ND_INLINE ND_REAL activation_slope(int kind, ND_REAL a, ND_REAL h)
{
#define ROW(kind, name, reads_sum)                                                                                     \
    case kind: return name##_slope(a, h);
    switch (kind) {
        ND_ACTIVATIONS(ROW)
    }
#undef ROW
    return 1;
}

#endif
