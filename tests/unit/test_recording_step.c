/* The step in which numbers were recorded, where it begins, and rounding to it. */
#include "data/recording_step.h"

#include <math.h>
#include <string.h>

#include "model/real_column.h"
#include "support/cmocka_all.h"
#include "support/support.h"

static double step_of(const double *values, size_t count, bool single)
{
    struct table_column column = {.storage = STORE_DOUBLES};
    double copy[16];
    memcpy(copy, values, count * sizeof *values);
    const size_t rows[] = {0, 1, 2, 3};
    column.cells.numbers = copy;
    return nd_recording_step(&column, rows, count, single).step;
}

/* A grid that is no power of ten: enough different values on it, and enough of them off the next power of ten. */
static void test_steps_of_grids(void **state)
{
    enum { COUNT = 40 };
    static const struct {
        double unit, power, step;
        size_t distinct, tenfold;
        double first, offset; /* of the values, as they are made and as they are found */
    } cases[] = {
        {25, 100, 0.25, 12, 0, 0, 0},   {5, 1, 5, 12, 0, 0, 0},         {500, 1, 500, 12, 0, 0, 0},
        {100, 1, 100, 12, 0, 0, 0},     {3, 10, 0.3, 12, 0, 0, 0},      {25, 100, 0.01, 9, 0, 0, 0},
        {5, 1000, 0.001, 20, 36, 0, 0}, {5, 1000, 0.005, 20, 20, 0, 0}, {1, 100, 0.01, 12, 0, 0, 0},
        {100, 100, 1, 12, 0, 99, 0.99}, {100, 100, 1, 12, 0, -1, 0.99}, {50, 100, 0.5, 12, 0, 49, 0.49},
        {1000, 1, 1000, 12, 0, 1, 1},   {100, 100, 0.01, 9, 0, 99, 0},  {2, 1, 2, 22, 0, 1, 1},
        {2, 1, 1, 20, 0, 1, 0}, /* odd numbers, so few that it may be by chance */
    };
    size_t rows[COUNT];
    double values[COUNT];
    struct table_column column = {.storage = STORE_DOUBLES, .cells.numbers = values};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t row = 0; row < COUNT; row++) {
            double multiple = (double)(row % cases[i].distinct) - 3;
            rows[row] = row;
            values[row] =
                (cases[i].first + cases[i].unit * (row < cases[i].tenfold ? 10 * multiple : multiple)) / cases[i].power;
        }
        struct recording found = nd_recording_step(&column, rows, COUNT, false);
        if (found.step != cases[i].step || found.offset != cases[i].offset)
            fail_msg("case %zu: step %g from %g", i, found.step, found.offset);
        if (cases[i].step < 1e-3) continue;
        for (size_t row = 0; row < COUNT; row++)
            for (int side = -1; side <= 1; side += 2)
                assert_true(nd_round_to_step(values[row] + side * 0.3 * found.step, found.step, found.offset) ==
                            values[row]);
    }
}

/* Doubles and floats hold integers up to 2^53 and 2^24; beyond, their own precision is all that shows. */
static void test_steps_of_large_integers(void **state)
{
    const double large[] = {1e15 + 1, 1e15 - 3, -1e15}, halves[] = {1e15 + 0.5, 1e15}, larger[] = {1e16, 1e16 + 2};
    const double floats[] = {1e7, 1e7 + 1};
    (void)state;
    assert_true(step_of(large, 3, false) == 1);
    assert_true(step_of(halves, 2, false) == 0);
    assert_true(step_of(larger, 2, false) == 0);
    assert_true(step_of(floats, 2, true) == 1);
    assert_true(step_of(larger, 2, true) == 0);
}

static void test_recording_steps(void **state)
{
    const double cents[] = {7.40, NAN, 3.25, -11.05}, whole[] = {5, 1e6, -3}, fine[] = {0.1 + 1e-7, 2.5};
    const double noise[] = {0.12345678901234567, 3.9876543210987654}, single[] = {(double)0.1f, (double)7.3f};
    (void)state;
    support_assert_close("cents", step_of(cents, 4, false), 0.01, 1e-15, 0);
    assert_true(step_of(whole, 3, false) == 1);
    support_assert_close("fine", step_of(fine, 2, false), 1e-7, 1e-12, 0);
    assert_true(step_of(noise, 2, false) == 0);
    support_assert_close("float", step_of(single, 2, true), 0.1, 1e-15, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recording_steps),
        cmocka_unit_test(test_steps_of_grids),
        cmocka_unit_test(test_steps_of_large_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
