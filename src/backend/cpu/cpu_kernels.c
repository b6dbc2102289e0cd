/* Compiled several times; ND_KERNELS names the variant (see CMakeLists.txt). */
#include "backend/cpu/cpu_kernels.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_math.h"
#include "base/fault.h"
#include "base/philox.h"
#include "model/mixture.h"

#define ND_REAL float
#define ND_EXP nd_exp_u2
#define ND_SIGMOID nd_sigmoid
#define ND_TANH nd_tanh
#define ND_NORMAL nd_normal
#include "backend/activation.h"

#define ND_RATES struct float_rates
#define ND_SQRT sqrtf
#include "backend/optimizer.h"

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

/* LOOP(name of the activation's functions, whether its slope reads the sum).  The switch stands outside the loop, so
 * that each loop is one the compiler can vectorise. */
#define ACTIVATION_CASE(kind, name, reads_sum)                                                                         \
    case kind:                                                                                                         \
        LOOP(name, reads_sum) break;
#define FOR_ACTIVATION(activation)                                                                                     \
    switch (activation) {                                                                                              \
        ND_ACTIVATIONS(ACTIVATION_CASE)                                                                                \
    }

static void add_bias_activate(nade_activation activation, size_t rows, size_t width, size_t stride, const float *bias,
                              float *values)
{
#define LOOP(name, reads_sum)                                                                                          \
    for (size_t r = 0; r < rows; r++)                                                                                  \
        for (size_t i = 0; i < width; i++) values[r * stride + i] = name##_value(values[r * stride + i] + bias[i]);
    FOR_ACTIVATION(activation)
#undef LOOP
}

static void activate(nade_activation activation, size_t rows, size_t width, size_t stride, const float *sums,
                     float *values)
{
#define LOOP(name, reads_sum)                                                                                          \
    for (size_t r = 0; r < rows; r++)                                                                                  \
        for (size_t i = 0; i < width; i++) values[r * stride + i] = name##_value(sums[r * stride + i]);
    FOR_ACTIVATION(activation)
#undef LOOP
}

static void add_bias(size_t rows, size_t width, size_t stride, const float *bias, float *values)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < width; i++) values[r * stride + i] += bias[i];
}

static void multiply_slope(nade_activation activation, size_t rows, size_t width, size_t stride, const float *sums,
                           const float *values, float *delta)
{
#define LOOP(name, reads_sum)                                                                                          \
    for (size_t r = 0; r < rows; r++)                                                                                  \
        for (size_t i = 0; i < width; i++)                                                                             \
            delta[r * stride + i] *= name##_slope(reads_sum ? sums[r * stride + i] : 0, values[r * stride + i]);
    FOR_ACTIVATION(activation)
#undef LOOP
}

/* -log p(x) = log(1+exp(a)) - x·a, and p - x. */
static inline float bernoulli_cell(float a, float x, float *difference)
{
    float magnitude = a < 0 ? -a : a;
    float e = nd_exp_u2(-magnitude), p = 1 / (1 + e);
    *difference = (a < 0 ? e * p : p) - x;
    return (a > 0 ? a : 0) + nd_log1p_u3(e) - x * a;
}

static size_t whole_lanes(size_t count)
{
    return (count + ND_LANES - 1) / ND_LANES * ND_LANES;
}

/* Sums of floats in double, over fixed lanes: the order of the additions is the same for every instruction set.
 * count is a multiple of ND_LANES. */
static double sum_of(const float *values, size_t count)
{
    double lane[ND_LANES] = {0}, sum = 0;
    for (size_t i = 0; i < count; i += ND_LANES)
        for (size_t l = 0; l < ND_LANES; l++) lane[l] += (double)values[i + l];
    for (size_t l = 0; l < ND_LANES; l++) sum += lane[l];
    return sum;
}

/* In blocks that are copied and padded to whole lanes, since a loop's remainder would run cell by cell. */
static double bernoulli(size_t count, const float *x, const uint8_t *target, float factor, float *logits)
{
    enum { BLOCK = 256 };
    float value[BLOCK], logit[BLOCK], wanted[BLOCK], loss[BLOCK];
    double sum = 0;
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t block = count - first < BLOCK ? count - first : BLOCK, padded = whole_lanes(block);
        for (size_t i = 0; i < block; i++) wanted[i] = target[first + i];
        for (size_t i = block; i < padded; i++) value[i] = logit[i] = wanted[i] = 0;
        memcpy(value, x + first, block * sizeof *value);
        memcpy(logit, logits + first, block * sizeof *logit);
        for (size_t i = 0; i < padded; i++) {
            float difference, cell = bernoulli_cell(logit[i], value[i], &difference);
            logit[i] = wanted[i] != 0 ? difference * factor : 0;
            loss[i] = wanted[i] != 0 ? cell : 0;
        }
        memcpy(logits + first, logit, block * sizeof *logit);
        sum += sum_of(loss, padded);
    }
    return sum;
}

static void step(nade_optimizer optimizer, size_t count, const struct float_rates *rates, float decay,
                 const float *gradient, float *moment1, float *moment2, float *parameter)
{
    const struct float_rates r = *rates;
#define CASE(kind, name, moments, ...)                                                                                 \
    case kind:                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                           \
            float first = moment1[i], second = moments > 1 ? moment2[i] : 0, p = parameter[i];                         \
            name##_step(&r, decay, gradient[i], &first, &second, &p);                                                  \
            moment1[i] = first;                                                                                        \
            if (moments > 1) moment2[i] = second;                                                                      \
            parameter[i] = p;                                                                                          \
        }                                                                                                              \
        break;
    switch (optimizer) {
        ND_OPTIMIZERS(CASE)
    }
#undef CASE
}

static void average(size_t count, const struct float_rates *rates, const float *parameter, float *kept)
{
    const struct float_rates r = *rates;
    for (size_t i = 0; i < count; i++) average_step(&r, parameter[i], &kept[i]);
}

static double squares(size_t count, const float *values)
{
    double lane[ND_LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + ND_LANES <= count; i += ND_LANES)
        for (size_t l = 0; l < ND_LANES; l++) lane[l] += (double)values[i + l] * (double)values[i + l];
    for (size_t l = 0; i + l < count; l++) lane[l] += (double)values[i + l] * (double)values[i + l];
    for (size_t l = 0; l < ND_LANES; l++) sum += lane[l];
    return sum;
}

static void accumulate(size_t count, double x, const float *a, const float *b, double *sum)
{
    if (b && !ND_FAULT(FAULT_SCORE_DRIFT))
        for (size_t i = 0; i < count; i++) sum[i] += x * (double)a[i] + (double)b[i];
    else
        for (size_t i = 0; i < count; i++) sum[i] += x * (double)a[i];
}

static void activate_sum(nade_activation activation, size_t count, const double *sum, float *out)
{
#define LOOP(name, reads_sum)                                                                                          \
    for (size_t i = 0; i < count; i++) out[i] = name##_value((float)sum[i]);
    FOR_ACTIVATION(activation)
#undef LOOP
}

static void activate_scaled(nade_activation activation, size_t count, double scale, const double *sum, float *out)
{
#define LOOP(name, reads_sum)                                                                                          \
    for (size_t i = 0; i < count; i++) out[i] = name##_value((float)(scale * sum[i]));
    FOR_ACTIVATION(activation)
#undef LOOP
}

static double dot(size_t count, const float *a, const float *b)
{
    float lane[ND_LANES] = {0};
    size_t i = 0;
    for (; i + ND_LANES <= count; i += ND_LANES)
        for (size_t l = 0; l < ND_LANES; l++) lane[l] += a[i + l] * b[i + l];
    for (size_t l = 0; i + l < count; l++) lane[l] += a[i + l] * b[i + l];
    double sum = 0;
    for (size_t l = 0; l < ND_LANES; l++) sum += (double)lane[l];
    return sum;
}

/* The arrays of the next four are a worker's scratch and never overlap. */
static void couple(size_t outputs, const float *restrict delta, const float *restrict h, const float *restrict weight,
                   float *restrict gradient, float *restrict below)
{
    float sum[ND_UNITS];
    memcpy(sum, below, sizeof sum);
    for (size_t k = 0; k < outputs; k++, weight += ND_UNITS, gradient += ND_UNITS)
        for (size_t j = 0; j < ND_UNITS; j++) {
            gradient[j] += delta[k] * h[j];
            sum[j] += delta[k] * weight[j];
        }
    memcpy(below, sum, sizeof sum);
}

static void absorb(nade_activation activation, const float *restrict a, const float *restrict h, float *restrict below,
                   float *restrict total)
{
#define LOOP(name, reads_sum)                                                                                          \
    for (size_t j = 0; j < ND_UNITS; j++) {                                                                            \
        total[j] += below[j] * name##_slope(reads_sum ? a[j] : 0, h[j]);                                               \
        below[j] = 0;                                                                                                  \
    }
    FOR_ACTIVATION(activation)
#undef LOOP
}

static double absorb_scaled(nade_activation activation, float scale, const float *restrict a, const float *restrict h,
                            float *restrict below, float *restrict total)
{
    float lane[ND_LANES] = {0};
    double sum = 0;
#define LOOP(name, reads_sum)                                                                                          \
    for (size_t j = 0; j < ND_UNITS; j += ND_LANES)                                                                    \
        for (size_t l = 0; l < ND_LANES; l++) {                                                                        \
            float arrived = below[j + l] * name##_slope(reads_sum ? scale * a[j + l] : 0, h[j + l]);                   \
            lane[l] += arrived * a[j + l];                                                                             \
            total[j + l] += scale * arrived;                                                                           \
            below[j + l] = 0;                                                                                          \
        }
    FOR_ACTIVATION(activation)
#undef LOOP
    for (size_t l = 0; l < ND_LANES; l++) sum += (double)lane[l];
    return sum;
}

static void add_scaled(float x, const float *restrict from, float *restrict to)
{
    for (size_t j = 0; j < ND_UNITS; j++) to[j] += x * from[j];
}

/* Philox blocks that are made at once, as many as compilers make a loop of rather than unroll. */
enum { PHILOX_BLOCKS = 32 };

/* The words of blocks group … group+PHILOX_BLOCKS-1 (base/philox.h), word w of the block number b at word[w][b]. */
static void fill_words(uint32_t seed, uint32_t purpose, uint64_t draw, uint32_t row, uint32_t group,
                       uint32_t word[4][PHILOX_BLOCKS])
{
    uint32_t k0 = seed, k1 = purpose;
    for (uint32_t b = 0; b < PHILOX_BLOCKS; b++) {
        word[0][b] = (uint32_t)draw;
        word[1][b] = row;
        word[2][b] = group + b;
        word[3][b] = (uint32_t)(draw >> 32);
    }
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
        for (size_t b = 0; b < PHILOX_BLOCKS; b++) {
            uint64_t p0 = (uint64_t)0xD2511F53u * word[0][b], p1 = (uint64_t)0xCD9E8D57u * word[2][b];
            word[0][b] = (uint32_t)(p1 >> 32) ^ word[1][b] ^ k0;
            word[2][b] = (uint32_t)(p0 >> 32) ^ word[3][b] ^ k1;
            word[1][b] = (uint32_t)p1;
            word[3][b] = (uint32_t)p0;
        }
}

#include "backend/cpu/cpu_mixture_kernels.h"
#include "backend/cpu/cpu_residual_kernels.h"
#include "backend/cpu/cpu_row_kernels.h"

extern const struct cpu_kernels JOIN(nd_cpu_kernels_, ND_KERNELS);

const struct cpu_kernels JOIN(nd_cpu_kernels_, ND_KERNELS) = {
    .name = TEXT(ND_KERNELS),
    .add_bias_activate = add_bias_activate,
    .activate = activate,
    .add_bias = add_bias,
    .multiply_slope = multiply_slope,
    .bernoulli = bernoulli,
    .mixture = mixture,
    .step = step,
    .average = average,
    .squares = squares,
    .accumulate = accumulate,
    .activate_sum = activate_sum,
    .activate_scaled = activate_scaled,
    .dot = dot,
    .couple = couple,
    .absorb = absorb,
    .absorb_scaled = absorb_scaled,
    .add_scaled = add_scaled,
    .add_rows = add_rows,
    .multiply_rows = multiply_rows,
    .norm = norm,
    .norm_back = norm_back,
    .gelu = gelu,
    .drop = drop,
    .narrow = narrow,
    .select_observed = select_observed,
    .load_bytes = load_bytes,
    .load_floats = load_floats,
    .hide = hide,
    .choose = choose,
    .widen = widen,
    .sum_rows = sum_rows,
};
