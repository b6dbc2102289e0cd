/* exp, log and the like for arrays: branch-free, so that the compiler vectorises the loops around them.
 *
 * Accuracy is held by tests/unit/test_kernels.c: exp within 2 ulp over its range, log and log1p within 3; the normal
 * distribution function within 3e-7, its lower tail down to -12 also within 1e-5 of itself.  NaN goes through.  exp is
 * clamped to [2^-126, 2^127·1.9], which is all that losses and gradients in float need. */
#ifndef ND_BACKEND_CPU_MATH_H
#define ND_BACKEND_CPU_MATH_H

#include <stdint.h>
#include <string.h>

static inline uint32_t float_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* x = n·log 2 + r with |r| <= log(2)/2; exp(r) by its Taylor series to r^7, whose next term is below 2^-27. */
static inline float nd_exp_u2(float x)
{
    const float rounder = 12582912.0f; /* 1.5·2^23: adding it rounds to an integer */
    x = x < -87.33654f ? -87.33654f : x;
    x = x > 88.37626f ? 88.37626f : x;
    float shifted = x * 1.44269504f + rounder;
    float n = shifted - rounder;
    float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = (p * r) * r + r;
    uint32_t exponent = (float_bits(shifted) - float_bits(rounder)) << 23;
    return bits_float(float_bits(p + 1.0f) + exponent);
}

static inline float nd_sigmoid(float x)
{
    float e = nd_exp_u2(x < 0 ? x : -x), p = 1 / (1 + e);
    return x < 0 ? e * p : p;
}

/* 1 - 2/(exp(2|x|)+1); for small x the series keeps the relative accuracy that the difference loses. */
static inline float nd_tanh(float x)
{
    float magnitude = x < 0 ? -x : x;
    float e = nd_exp_u2(2 * magnitude), q = x * x;
    float large = 1 - 2 / (e + 1);
    float small = magnitude * (1 + q * (-1.0f / 3 + q * (2.0f / 15 + q * (-17.0f / 315 + q * (62.0f / 2835)))));
    float value = magnitude < 0.3f ? small : large;
    return x < 0 ? -value : value;
}

/* exp(-x²/2). */
static inline float nd_bell(float x)
{
    return nd_exp_u2(-0.5f * x * x);
}

/* P(X <= x) of the standard normal X, given nd_bell(x).  The tail beyond |x| is that times erfc(z) exp(z²)/2 at
 * z = |x|/sqrt(2), which is t times a polynomial in t = 1/(1 + 0.3 z): interpolated at Chebyshev's points of z = 0…9.3,
 * within 2.4e-8 of itself. */
static inline float nd_normal_from(float x, float bell)
{
    float magnitude = x < 0 ? -x : x;
    float t = 1 / (1 + 0.212132034f * magnitude);
    float p = -0.065169618f;
    p = p * t + 0.244901847f;
    p = p * t + -0.260839019f;
    p = p * t + 0.279654185f;
    p = p * t + -0.0516604589f;
    p = p * t + 0.109474128f;
    p = p * t + 0.0736058423f;
    p = p * t + 0.0854447623f;
    p = p * t + 0.0845883209f;
    float tail = t * p * bell;
    return x < 0 ? tail : 1 - tail;
}

static inline float nd_normal(float x)
{
    return nd_normal_from(x, nd_bell(x));
}

/* 2·atanh(s) for |s| <= 1/3. */
static inline float twice_atanh(float s)
{
    float q = s * s;
    float p = 1.0f / 15;
    p = p * q + 1.0f / 13;
    p = p * q + 1.0f / 11;
    p = p * q + 1.0f / 9;
    p = p * q + 1.0f / 7;
    p = p * q + 1.0f / 5;
    p = p * q + 1.0f / 3;
    return 2 * (s + s * (q * p));
}

/* log(1 + e) for 0 <= e <= 1. */
static inline float nd_log1p_u3(float e)
{
    return twice_atanh(e / (2.0f + e));
}

/* log x for normal x > 0: x = m·2^n with m in [sqrt(1/2), sqrt(2)). */
static inline float nd_log_u3(float x)
{
    uint32_t bits = float_bits(x) - 0x3f3504f3u; /* sqrt(1/2) */
    float n = (float)((int32_t)bits >> 23);
    float m = bits_float((bits & 0x007fffffu) + 0x3f3504f3u);
    float tail = twice_atanh((m - 1) / (m + 1));
    float result = n * 0.693359375f + (tail + n * -2.12194440e-4f);
    return x == x ? result : x;
}

#endif
