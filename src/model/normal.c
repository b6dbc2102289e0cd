#include "model/normal.h"

#include <math.h>
#include <stddef.h>

static const double half_log_two_pi = 0.91893853320467274178;
static const double root_half = 0.70710678118654752440;

/* From here on Q is computed by its asymptotic series, long before erfc underflows. */
#define FAR 25.0

/* Q(z) = P(Z > z). */
static double upper_tail(double z)
{
    return 0.5 * erfc(z * root_half);
}

double nd_normal_share(double z)
{
    return upper_tail(-z);
}

/* log(Q(z) / φ(z)) for z >= 0: the part of log Q(z) that varies slowly. */
static double log_mills(double z)
{
    if (z < FAR) return log(upper_tail(z)) + 0.5 * z * z + half_log_two_pi;
    double sum = 1, term = 1;
    for (int n = 1; n <= 8; n++) {
        term *= -(2.0 * n - 1) / (z * z);
        sum += term;
    }
    return log(sum) - log(z);
}

/* An interval so narrow that exp(-z²/2) hardly bends over it: φ(middle) ∫ exp(-middle·t - t²/2) dt over ±half by Gauss
 * and Legendre's rule with eight points, which then is exact to rounding. */
static double log_narrow(double middle, double half)
{
    static const double node[] = {0.18343464249564980494, 0.52553240991632898582, 0.79666647741362673959,
                                  0.96028985649753623168};
    static const double weight[] = {0.36268378337836198297, 0.31370664587788728734, 0.22238103445337447054,
                                    0.10122853629037625915};
    double sum = 0;
    for (size_t i = 0; i < sizeof node / sizeof *node; i++) {
        double t = half * node[i];
        sum += 2 * weight[i] * exp(-0.5 * t * t) * cosh(middle * t);
    }
    return log(half) + log(sum) - 0.5 * middle * middle - half_log_two_pi;
}

/* Where both ends are far enough apart for the difference of their tails to keep its digits; middle >= 0. */
static double log_wide(double middle, double half)
{
    double low = middle - half, high = middle + half;
    if (low <= 0) return log1p(-(upper_tail(-low) + upper_tail(high)));
    double near = log_mills(low), far = log_mills(high);
    return near - 0.5 * low * low - half_log_two_pi + log1p(-exp(far - near - 2 * middle * half));
}

double nd_normal_log_around(double middle, double half)
{
    middle = fabs(middle);
    return half * fmax(middle, 1) < 0.5 ? log_narrow(middle, half) : log_wide(middle, half);
}

/* log Q(z). */
static double log_upper_tail(double z)
{
    return z <= 0 ? log1p(-upper_tail(-z)) : log_mills(z) - 0.5 * z * z - half_log_two_pi;
}

/* An end this far beyond the other and the mean is as good as infinite: what lies behind it is below 1e-340 of the
 * whole. The middle of such an interval would lose the near end's digits. */
#define AS_GOOD_AS_INFINITE 40.0

double nd_normal_log_between(double low, double high)
{
    if (isinf(low) && low == high) return -HUGE_VAL; /* beyond all that a Gaussian reaches */
    if (high > AS_GOOD_AS_INFINITE && high - low > AS_GOOD_AS_INFINITE) high = HUGE_VAL;
    if (low < -AS_GOOD_AS_INFINITE && high - low > AS_GOOD_AS_INFINITE) low = -HUGE_VAL;
    if (isinf(low)) return isinf(high) ? 0 : log_upper_tail(-high);
    if (isinf(high)) return log_upper_tail(low);
    return nd_normal_log_around(low + 0.5 * (high - low), 0.5 * (high - low));
}

/* Beyond this distance from the likeliest point of an interval lies less than 1e-31 of its probability. */
#define REACH 12.0

/* By bisection of log P, which is monotone and accurate everywhere; the calls are few. */
double nd_normal_quantile_between(double low, double high, double share)
{
    double likeliest = fmin(fmax(0, low), high);
    double left = fmax(low, likeliest - REACH), right = fmin(high, likeliest + REACH);
    double target = nd_normal_log_between(low, high) + log(share);
    while (right > left) {
        double middle = left + 0.5 * (right - left);
        if (middle <= left || middle >= right) break;
        if (nd_normal_log_between(low, middle) < target)
            left = middle;
        else
            right = middle;
    }
    return left + 0.5 * (right - left);
}
