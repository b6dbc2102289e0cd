/* The negative binomial: what holds between the probabilities of a count and of all from it on, and their slopes. */
#include "model/negative_binomial.h"

#include <math.h>

#include "support/cmocka_all.h"
#include "support/support.h"

static const double counts[] = {1, 7, 300, 20000, 100000};

enum { COUNTS = sizeof counts / sizeof *counts };

static struct negative_binomial make(double log_mean, double log_dispersion)
{
    return nd_negative_binomial(exp(log_mean), exp(-log_dispersion));
}

static bool usual(double log_mean, double k) /* where neither side of k is all of it, up to rounding */
{
    return fabs(log_mean - log(k)) < 3;
}

/* P(K >= k) - P(K > k) = P(K = k), also where all three are too small for a double.  Where the size is small, one less
 * nearly all of it has fewer digits. */
static void test_from(void **state)
{
    (void)state;
    for (double m = -20; m <= 12; m += 0.8)
        for (double a = -12; a <= 9; a += 0.7)
            for (size_t i = 0; i < COUNTS; i++) {
                struct negative_binomial b = make(m, a);
                double at = nd_log_at(&b, counts[i], NULL), from = nd_log_from(&b, counts[i], NULL);
                double after = nd_log_from(&b, counts[i] + 1, NULL);
                assert_true(isfinite(at) && from <= 0 && after <= from && at <= from + 1e-9);
                if (from < -1e-3 || usual(m, counts[i]))
                    support_assert_close("a difference", -expm1(after - from), exp(at - from), 1e-5,
                                         1e-8 + 1e-9 * exp(a));
            }
}

static double difference(double m, double a, double k, bool by_mean)
{
    const double h = 4e-3, factor[] = {1, -8, 8, -1};
    double sum = 0;
    for (int s = 0; s < 4; s++) {
        double shift = h * (s < 2 ? s - 2 : s - 1);
        struct negative_binomial b = by_mean ? make(m + shift, a) : make(m, a + shift);
        sum += factor[s] * nd_log_from(&b, k, NULL);
    }
    return sum / (12 * h);
}

static void test_slopes(void **state)
{
    (void)state;
    for (double m = 0; m <= 12; m += 0.6)
        for (double a = -9; a <= 3; a += 0.5)
            for (size_t i = 0; i < COUNTS; i++) {
                struct negative_binomial b = make(m, a);
                double slope[2], log_from = nd_log_from(&b, counts[i], slope);
                assert_true(log_from == nd_log_from(&b, counts[i], NULL));
                assert_true(isfinite(slope[0]) && isfinite(slope[1]));
                if (!usual(m, counts[i])) continue;
                support_assert_close("by mean", slope[0], difference(m, a, counts[i], true), 1e-5,
                                     1e-6 + 1e-7 * exp(a));
                support_assert_close("by dispersion", slope[1], difference(m, a, counts[i], false), 1e-5,
                                     1e-6 + 1e-7 * exp(a));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_from), cmocka_unit_test(test_slopes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
