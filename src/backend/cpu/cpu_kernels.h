/* The CPU backend's inner loops, compiled once for each instruction set and chosen when a backend opens.
 *
 * All variants perform the same operations in the same order (sums run over ND_LANES fixed lanes, nothing is contracted
 * to fused multiply-adds), so they agree bit for bit.  Arrays need no alignment. */
#ifndef ND_BACKEND_CPU_KERNELS_H
#define ND_BACKEND_CPU_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "backend/optimizer.h"
#include "base/philox.h"
#include "model/plan.h"

enum { ND_LANES = 16 };

/* What an update drops. */
struct dropout_draw {
    uint32_t seed;
    uint64_t update;
    uint32_t threshold; /* 0: nothing */
    float scale;
};

/* Hidden units that training with a fixed order takes together. */
enum { ND_UNITS = 64 };

/* Keys of columns that are made at once, and numbers that select_observed needs room for: all keys, and once more those
 * of the columns that are present. */
enum { ND_KEYS = 128 };
static inline size_t nd_key_space(size_t columns)
{
    return 2 * ((columns + ND_KEYS - 1) / ND_KEYS * ND_KEYS);
}

struct cpu_kernels {
    const char *name;

    /* values (rows, width) with row stride: values = activation(values + bias). */
    void (*add_bias_activate)(nade_activation activation, size_t rows, size_t width, size_t stride, const float *bias,
                              float *values);

    /* The same in two steps, where the sums are kept: values += bias; then values = activation(sums). */
    void (*add_bias)(size_t rows, size_t width, size_t stride, const float *bias, float *values);
    void (*activate)(nade_activation activation, size_t rows, size_t width, size_t stride, const float *sums,
                     float *values);

    /* delta (rows, width) *= the activation's slope.  Here and below, sums are read only where the slope reads them
     * (nd_slope_reads_sum). */
    void (*multiply_slope)(nade_activation activation, size_t rows, size_t width, size_t stride, const float *sums,
                           const float *values, float *delta);

    /* count columns of a row: where target is 1, logits become factor·(p - x) and the loss -log p(x) is added to the
     * result; elsewhere they become 0. */
    double (*bernoulli)(size_t count, const float *x, const uint8_t *target, float factor, float *logits);

    /* count real columns of a row, whose blocks follow each other from outputs on: where target is 1, a block becomes
     * factor times the loss's gradient and the loss is added to the result; elsewhere it becomes 0. */
    double (*mixture)(size_t count, const struct plan_column *column, const float *x, const uint8_t *target,
                      float factor, bool scaled_means, float *outputs);

    /* The optimiser's step of count numbers; moment2 is not touched where it keeps one moment. */
    void (*step)(nade_optimizer optimizer, size_t count, const struct float_rates *rates, float decay,
                 const float *gradient, float *moment1, float *moment2, float *parameter);

    /* Moves count numbers of the average towards the parameters, which have stepped. */
    void (*average)(size_t count, const struct float_rates *rates, const float *parameter, float *average);

    /* The sum of the values' squares. */
    double (*squares)(size_t count, const float *values);

    /* sum += x·a + b; b may be NULL. */
    void (*accumulate)(size_t count, double x, const float *a, const float *b, double *sum);

    /* out = activation((float)sum). */
    void (*activate_sum)(nade_activation activation, size_t count, const double *sum, float *out);

    /* out = activation((float)(scale·sum)). */
    void (*activate_scaled)(nade_activation activation, size_t count, double scale, const double *sum, float *out);

    double (*dot)(size_t count, const float *a, const float *b);

    /* Of ND_UNITS hidden units h and `outputs` outputs with gradients delta: gradient (outputs, ND_UNITS) += delta·h,
     * and below (ND_UNITS) += the sum over outputs of delta·weight (outputs, ND_UNITS). */
    void (*couple)(size_t outputs, const float *delta, const float *h, const float *weight, float *gradient,
                   float *below);

    /* Of ND_UNITS hidden units h = activation(a): total += below times the activation's slope; below = 0. */
    void (*absorb)(nade_activation activation, const float *a, const float *h, float *below, float *total);

    /* Of ND_UNITS hidden units h = activation(scale·a): total += what arrives at a, scale·below·slope; below = 0.
     * Returns what arrives at scale: the sum over units of below·slope·a. */
    double (*absorb_scaled)(nade_activation activation, float scale, const float *a, const float *h, float *below,
                            float *total);

    /* to (ND_UNITS) += x·from. */
    void (*add_scaled)(float x, const float *from, float *to);

    /* Residual networks (cpu_residual_kernels.h).  Here (rows, width) have the row stride. */

    /* to += from + bias. */
    void (*add_rows)(size_t rows, size_t width, size_t stride, const float *bias, const float *from, float *to);

    /* values *= factors. */
    void (*multiply_rows)(size_t rows, size_t width, size_t stride, const float *factors, float *values);

    /* LayerNorm of h: unit = (h - mean)·inverse, inverse (rows) = 1/deviation, out = unit·weight + bias.  unit may be
     * out, or NULL with inverse. */
    void (*norm)(size_t rows, size_t width, size_t stride, const float *h, const float *weight, const float *bias,
                 float *unit, float *inverse, float *out);

    /* Back through it: delta arrives at out; below = above + what arrives at h; the gradients of weight and bias
     * (width) grow.  above may be NULL: zeros. */
    void (*norm_back)(size_t rows, size_t width, size_t stride, const float *delta, const float *weight,
                      const float *unit, const float *inverse, const float *above, float *below, float *weight_gradient,
                      float *bias_gradient);

    /* values = gelu(values + bias), slopes = its slope there; bias may be NULL, and so may slopes. */
    void (*gelu)(size_t rows, size_t width, size_t stride, const float *bias, float *values, float *slopes);

    /* Dropout (model/draws.h) of `count` units of a slot, the first of which is number `unit`: values and slopes become
     * 0 or scale times what they are. */
    void (*drop)(const struct dropout_draw *draw, uint32_t slot, uint32_t unit, size_t count, float *values,
                 float *slopes);

    /* out = (float)sum. */
    void (*narrow)(size_t count, const double *sum, float *out);

    /* Rows of a batch (cpu_row_kernels.h). */

    /* nd_select_observed; keys is scratch of nd_key_space(columns) numbers. */
    void (*select_observed)(uint32_t seed, enum purpose purpose, uint64_t draw, uint32_t row, size_t columns,
                            const uint8_t *present, size_t count, uint32_t *keys, uint8_t *observed);

    /* A row's cells as they are encoded: x (columns) = the cells, 0 where missing; present (columns).  Return how many
     * are present. */
    uint32_t (*load_bytes)(size_t columns, const uint8_t *from, float *x, uint8_t *present);
    uint32_t (*load_floats)(size_t columns, const float *from, float *x, uint8_t *present);

    /* Takes what is missing out of observed, target = present and not observed; returns how many of these are. */
    uint32_t (*hide)(size_t columns, const uint8_t *present, uint8_t *observed, uint8_t *target);

    /* to = from where seen, else 0. */
    void (*choose)(size_t count, const uint8_t *seen, const float *from, float *to);

    void (*widen)(size_t count, const uint8_t *from, float *to);

    /* sums (width) = the sum over rows of values (rows, width), row after row. */
    void (*sum_rows)(size_t rows, size_t width, size_t stride, const float *values, float *sums);
};

/* The best variant for this processor. */
const struct cpu_kernels *nd_cpu_kernels(void);

/* The variants this processor can run, from the plainest up; NULL past the last.  For tests. */
const struct cpu_kernels *nd_cpu_kernels_variant(size_t number);

#endif
