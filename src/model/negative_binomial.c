#include "model/negative_binomial.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- gamma functions --------------------------------------------------------------------------------------------- */

/* Differences of log Γ and of its derivative, which are exact where the functions themselves, large numbers, would lose
 * the digits that count; lgamma also writes to a global variable. */

enum { STIRLING_LEAST = 10 }; /* from which on six terms of the series do */

/* log Γ(x) - ((x - 1/2) log x - x + log √2π) */
static double stirling(double x)
{
    double y = 1 / (x * x);
    return (1.0 / 12 - y * (1.0 / 360 - y * (1.0 / 1260 - y * (1.0 / 1680 - y * (1.0 / 1188 - y * 691 / 360360))))) / x;
}

/* The derivative of log Γ at x, less log x. */
static double stirling_slope(double x)
{
    double y = 1 / (x * x);
    return -0.5 / x -
           y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132 - y * 691 / 32760)))));
}

/* log Γ(x + k) - log Γ(x), x > 0, k a whole number. */
static double log_rising(double x, double k)
{
    double product = 1;
    for (; k > 0 && x < STIRLING_LEAST; x++, k--) product *= x;
    double sum = log(product);
    if (k > 0) sum += k * log(x + k) + (x - 0.5) * log1p(k / x) - k + stirling(x + k) - stirling(x);
    return sum;
}

/* Its derivative with respect to x. */
static double rising_slope(double x, double k)
{
    double sum = 0;
    for (; k > 0 && x < STIRLING_LEAST; x++, k--) sum += 1 / x;
    if (k > 0) sum += log1p(k / x) + stirling_slope(x + k) - stirling_slope(x);
    return sum;
}

/* ---- one count --------------------------------------------------------------------------------------------------- */

struct negative_binomial nd_negative_binomial(double mean, double size)
{
    return (struct negative_binomial){
        .mean = mean,
        .size = size,
        .odds = mean / (size + mean),
        .log_odds = -log1p(size / mean),
        .log_zero = -size * log1p(mean / size),
    };
}

double nd_log_at(const struct negative_binomial *b, double k, double *slope)
{
    if (slope) {
        double by_size = rising_slope(b->size, k) - log1p(b->mean / b->size) + (b->mean - k) / (b->size + b->mean);
        slope[0] = b->size * (k - b->mean) / (b->size + b->mean);
        slope[1] = -by_size * b->size;
    }
    return log_rising(b->size, k) - log_rising(1, k) + b->log_zero + k * b->log_odds;
}

/* ---- all from a count on ----------------------------------------------------------------------------------------- */

/* That probability is the incomplete beta function I_odds(k, ρ), and 1 less it I_(1-odds)(ρ, k).  Both are the
 * probability of k times a continued fraction, which converges in some √(k + ρ) steps where its x is below
 * (a + 1) / (a + b + 2). */

enum { STEPS_MOST = 20000 };

struct with_slope {
    double value, slope; /* by log ρ */
};

/* The fraction's n-th coefficient; the slope of x is that of its logarithm. */
static struct with_slope coefficient(struct with_slope a, struct with_slope b, struct with_slope x, int n)
{
    int half = n / 2;
    double m = half, low = a.value + n - 1, high = a.value + n;
    double shrink = x.slope - a.slope / low - a.slope / high;
    if (n % 2 == 0) {
        double factor = m * x.value / (low * high);
        return (struct with_slope){factor * (b.value - m), factor * (b.slope + (b.value - m) * shrink)};
    }
    double one = a.value + m, other = one + b.value, value = -one * other * x.value / (low * high);
    return (struct with_slope){value, value * (a.slope / one + (a.slope + b.slope) / other + shrink)};
}

/* log of 1 / (1 + c1 / (1 + c2 / …)), by Lentz's method. */
static struct with_slope log_fraction(struct with_slope a, struct with_slope b, struct with_slope x)
{
    struct with_slope sum = {0, 0}, up = {HUGE_VAL, 0}, down = {1, 0};
    for (int n = 1; n <= STEPS_MOST; n++) {
        struct with_slope c = coefficient(a, b, x, n);
        double inverse = 1 / (1 + c.value * down.value);
        up.slope = (c.slope - c.value * up.slope / up.value) / up.value;
        up.value = 1 + c.value / up.value;
        down.slope = -inverse * inverse * (c.slope * down.value + c.value * down.slope);
        down.value = inverse;
        double ratio = up.value * down.value, slope = up.slope / up.value + down.slope / down.value;
        sum.value += log(ratio);
        sum.slope += slope;
        if (n % 2 == 1 && fabs(ratio - 1) < 1e-15 && fabs(slope) < 1e-14) break;
    }
    return sum;
}

double nd_log_from(const struct negative_binomial *b, double k, double *slope)
{
    double total = b->size + b->mean, at[2], log_at = nd_log_at(b, k, slope ? at : NULL), log_from;
    struct with_slope count = {k, 0}, size = {b->size, b->size}, fraction;
    if (k < 1) {
        if (slope) slope[0] = slope[1] = 0;
        return 0;
    }
    if (b->odds * (k + b->size + 2) < k + 1) {
        fraction = log_fraction(count, size, (struct with_slope){b->odds, -b->size / total});
        log_from = log_at + fraction.value;
        if (slope) slope[1] = at[1] - fraction.slope;
    } else {
        fraction = log_fraction(size, count, (struct with_slope){b->size / total, b->mean / total});
        double below = exp(log_at + log(k / b->size) + fraction.value);
        log_from = log1p(-below);
        if (slope) slope[1] = below / (1 - below) * (fraction.slope - at[1] - 1);
    }
    if (slope) slope[0] = k * exp(log_at - log_from);
    return log_from;
}

/* k times the probability of k is μ times that of k - 1 with a size larger by one and the same odds. */
double nd_mean_up_to(const struct negative_binomial *b, double most)
{
    struct negative_binomial larger = nd_negative_binomial(b->mean + b->mean / b->size, b->size + 1);
    return b->mean * -expm1(nd_log_from(&larger, most - 1, NULL)) + most * exp(nd_log_from(b, most, NULL));
}
