/* Normal probabilities of intervals, against values computed with 50 digits. */
#include <math.h>
#include <stddef.h>

#include "model/normal.h"
#include "support/cmocka_all.h"
#include "support/support.h"

static void test_around(void **state)
{
    static const double expected[][3] = {
        {0, 1e-9, -20.949057189591138526},    {0, 0.4, -1.1684657628724290665},     {0, 0.6, -0.79519371685201979726},
        {0.3, 0.001, -7.1785467832935220608}, {-1.5, 0.2, -2.952002092829877662},   {2, 0.25, -3.5814724025242829891},
        {2, 0.26, -3.5398085036562035308},    {5, 5, -0.69314718055994530942},      {5, 0.05, -15.711548623710533492},
        {8, 3, -15.064998393988725736},       {-12, 0.01, -76.828579388092279405},  {24.9, 0.3, -306.70333097728000959},
        {25.5, 0.6, -314.14041276161324794},  {30, 0.001, -457.13339680281326118},  {-37.5, 2, -634.614263155088385},
        {40, 0.5, -784.72087910431757721},    {100, 0.004, -5005.7207291210811805}, {100, 0.01, -5004.6695408734140875},
        {1000, 0.3, -499707.87139476777559},  {1e4, 1e-3, -50000000.129279317242},
    };
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const double *e = expected[i];
        support_assert_close("log P", nd_normal_log_around(e[0], e[1]), e[2], 4e-15, 1e-14);
        support_assert_close("mirrored", nd_normal_log_around(-e[0], e[1]), e[2], 4e-15, 1e-14);
    }
    assert_true(isfinite(nd_normal_log_around(1e15, 1e-12)) && isfinite(nd_normal_log_around(1e15, 1e3)));
}

/* The two ways of computing it meet without a step. */
static void test_continuous(void **state)
{
    (void)state;
    for (double middle = 0; middle < 60; middle += 0.37) {
        double half = 0.5 / fmax(middle, 1);
        double below = nd_normal_log_around(middle, half * (1 - 1e-14)), above = nd_normal_log_around(middle, half);
        support_assert_close("where the forms meet", below, above, 1e-13, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_around),
        cmocka_unit_test(test_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
