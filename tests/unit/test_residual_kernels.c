/* The CPU's kernels of residual networks: all instruction sets agree bit for bit, and each is what its formula says. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_kernels.h"
#include "model/draws.h"
#include "support/cmocka_all.h"
#include "support/support.h"

/* A width that is no multiple of the lanes, rows that have gaps between them. */
enum { WIDTH = 203, STRIDE = 208, ROWS = 3, COUNT = ROWS * STRIDE };

struct results {
    float added[COUNT], multiplied[COUNT], unit[COUNT], inverse[ROWS], normed[COUNT], plain[COUNT], below[COUNT],
        alone[COUNT], weight_gradient[WIDTH], bias_gradient[WIDTH], value[COUNT], slope[COUNT], only_value[COUNT],
        dropped[WIDTH], dropped_slope[WIDTH], narrowed[WIDTH];
};

static const struct dropout_draw dropout = {7, (UINT64_C(1) << 32) + 3, 19661, 1.4286f};
static float first[COUNT], second[COUNT], weight[WIDTH], bias[WIDTH];
static double sums[WIDTH];

static float number(uint32_t purpose, uint32_t i, float range)
{
    return (2 * nd_random_uniform(nd_random_word(1, purpose, 0, 0, i)) - 1) * range;
}

static int fill(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        first[i] = number(201, i, 4) + 3;
        second[i] = number(202, i, 6);
    }
    for (uint32_t i = 0; i < WIDTH; i++) {
        weight[i] = 1 + number(203, i, 0.5f);
        bias[i] = number(204, i, 1);
        sums[i] = (double)number(205, i, 1) * 1.000000001;
    }
    return 0;
}

static void run(const struct cpu_kernels *k, struct results *r)
{
    memset(r, 0, sizeof *r);
    memcpy(r->added, first, sizeof first);
    k->add_rows(ROWS, WIDTH, STRIDE, bias, second, r->added);
    memcpy(r->multiplied, first, sizeof first);
    k->multiply_rows(ROWS, WIDTH, STRIDE, second, r->multiplied);
    k->norm(ROWS, WIDTH, STRIDE, first, weight, bias, r->unit, r->inverse, r->normed);
    k->norm(ROWS, WIDTH, STRIDE, first, weight, bias, NULL, NULL, r->plain);
    k->norm_back(ROWS, WIDTH, STRIDE, second, weight, r->unit, r->inverse, first, r->below, r->weight_gradient,
                 r->bias_gradient);
    k->norm_back(ROWS, WIDTH, STRIDE, second, weight, r->unit, r->inverse, NULL, r->alone, r->weight_gradient,
                 r->bias_gradient);
    memcpy(r->value, second, sizeof second);
    memcpy(r->only_value, second, sizeof second);
    k->gelu(ROWS, WIDTH, STRIDE, bias, r->value, r->slope);
    k->gelu(ROWS, WIDTH, STRIDE, bias, r->only_value, NULL);
    memcpy(r->dropped, first, sizeof r->dropped);
    memcpy(r->dropped_slope, second, sizeof r->dropped_slope);
    k->drop(&dropout, 5, 2 * WIDTH, WIDTH, r->dropped, r->dropped_slope);
    k->narrow(WIDTH, sums, r->narrowed);
}

static void check_norm(const struct results *r, size_t row)
{
    const float *h = first + row * STRIDE, *delta = second + row * STRIDE;
    double mean = 0, variance = 0, arrived = 0, product = 0;
    for (size_t i = 0; i < WIDTH; i++) mean += (double)h[i] / WIDTH;
    for (size_t i = 0; i < WIDTH; i++) variance += ((double)h[i] - mean) * ((double)h[i] - mean) / WIDTH;
    double inverse = 1 / sqrt(variance + ND_NORM_EPSILON);
    support_assert_close("inverse", (double)r->inverse[row], inverse, 1e-6, 0);
    for (size_t i = 0; i < WIDTH; i++) {
        double unit = ((double)h[i] - mean) * inverse, d = (double)delta[i] * (double)weight[i];
        support_assert_close("unit", (double)r->unit[row * STRIDE + i], unit, 1e-6, 1e-6);
        support_assert_close("normed", (double)r->normed[row * STRIDE + i], unit * (double)weight[i] + (double)bias[i],
                             1e-6, 1e-6);
        arrived += d / WIDTH;
        product += d * unit / WIDTH;
    }
    for (size_t i = 0; i < WIDTH; i++) {
        double unit = ((double)h[i] - mean) * inverse, d = (double)delta[i] * (double)weight[i];
        double below = inverse * (d - arrived - unit * product);
        support_assert_close("below", (double)r->alone[row * STRIDE + i], below, 2e-6, 2e-6);
        support_assert_close("below and above", (double)r->below[row * STRIDE + i], below + (double)h[i], 2e-6, 2e-6);
    }
}

/* Both calls of norm_back add to the gradients. */
static void check_norm_gradients(const struct results *r)
{
    for (size_t i = 0; i < WIDTH; i++) {
        double by_weight = 0, by_bias = 0;
        for (size_t row = 0; row < ROWS; row++) {
            size_t at = row * STRIDE + i;
            by_weight += 2 * (double)second[at] * (double)r->unit[at];
            by_bias += 2 * (double)second[at];
        }
        support_assert_close("weight's gradient", (double)r->weight_gradient[i], by_weight, 1e-5, 1e-5);
        support_assert_close("bias's gradient", (double)r->bias_gradient[i], by_bias, 1e-5, 1e-5);
    }
}

static void check_gelu(const struct results *r, size_t at, size_t unit)
{
    double a = (double)(second[at] + bias[unit]), normal = 0.5 * erfc(-a / sqrt(2));
    support_assert_close("gelu", (double)r->value[at], a * normal, 1e-5, 1e-6);
    support_assert_close("slope", (double)r->slope[at], normal + a * exp(-0.5 * a * a) / sqrt(8 * atan(1)), 1e-5, 1e-6);
    assert_memory_equal(&r->only_value[at], &r->value[at], sizeof r->value[at]);
}

static void test_formulas(void **state)
{
    static struct results r;
    (void)state;
    run(nd_cpu_kernels_variant(0), &r);
    for (size_t row = 0; row < ROWS; row++) {
        check_norm(&r, row);
        for (size_t i = 0; i < WIDTH; i++) {
            size_t at = row * STRIDE + i;
            assert_true(r.added[at] == first[at] + (second[at] + bias[i]));
            assert_true(r.multiplied[at] == first[at] * second[at]);
            check_gelu(&r, at, i);
        }
    }
    check_norm_gradients(&r);
    assert_memory_equal(r.plain, r.normed, sizeof r.plain);
    for (size_t i = 0; i < WIDTH; i++) assert_true(r.narrowed[i] == (float)sums[i]);
}

/* What lies between rows is not touched: outputs stay as they were. */
static void test_gaps_stay(void **state)
{
    static struct results r;
    (void)state;
    run(nd_cpu_kernels_variant(0), &r);
    for (size_t row = 0; row < ROWS; row++)
        for (size_t at = row * STRIDE + WIDTH; at < (row + 1) * STRIDE; at++) {
            assert_true(r.added[at] == first[at] && r.multiplied[at] == first[at] && r.value[at] == second[at]);
            assert_true(r.unit[at] == 0 && r.normed[at] == 0 && r.below[at] == 0 && r.slope[at] == 0);
        }
}

/* The units that model/draws.h drops, wherever in a Philox block the first one lies. */
static void test_dropout(void **state)
{
    (void)state;
    for (uint32_t unit = 0; unit < 1500; unit += 37) {
        float values[WIDTH], slopes[WIDTH];
        size_t count = unit % 5 ? WIDTH : unit % 7, dropped = 0;
        memcpy(values, first, sizeof values);
        memcpy(slopes, second, sizeof slopes);
        nd_cpu_kernels()->drop(&dropout, 9, unit, count, values, slopes);
        for (uint32_t i = 0; i < count; i++) {
            bool gone = nd_dropout_bits(dropout.seed, dropout.update, 9, unit + i) < dropout.threshold;
            assert_true(values[i] == (gone ? 0.0f : dropout.scale) * first[i]);
            assert_true(slopes[i] == (gone ? 0.0f : dropout.scale) * second[i]);
            dropped += gone;
        }
        for (size_t i = count; i < WIDTH; i++) assert_true(values[i] == first[i] && slopes[i] == second[i]);
        if (count == WIDTH) assert_in_range(dropped, WIDTH / 6, WIDTH / 2);
    }
}

static void test_variants_agree(void **state)
{
    static struct results expected, found;
    (void)state;
    run(nd_cpu_kernels_variant(0), &expected);
    for (size_t v = 1; nd_cpu_kernels_variant(v); v++) {
        run(nd_cpu_kernels_variant(v), &found);
        assert_memory_equal(&found, &expected, sizeof found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas), cmocka_unit_test(test_gaps_stay),
                                       cmocka_unit_test(test_dropout), cmocka_unit_test(test_variants_agree)};
    return cmocka_run_group_tests(tests, fill, NULL);
}
