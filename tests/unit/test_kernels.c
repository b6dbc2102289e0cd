/* The CPU's inner loops: accuracy of exp and log, agreement of all instruction sets bit for bit, agreement with the
 * heads that are the specification. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_kernels.h"
#include "backend/cpu/cpu_math.h"
#include "base/philox.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/support.h"

#define ONE_MORE(value, word) +1

/* Distance in units of the last place of the exact value. */
static double ulps(float found, double exact)
{
    float near = fabsf((float)exact);
    return fabs((double)found - exact) / (double)(nextafterf(near, HUGE_VALF) - near);
}

static void test_exp(void **state)
{
    double worst = 0;
    (void)state;
    for (int i = -87 * 4096; i <= 88 * 4096; i++) {
        float x = (float)i / 4096 + (float)i * 1e-9f;
        worst = fmax(worst, ulps(nd_exp_u2(x), exp((double)x)));
    }
    assert_true(worst > 0.4 && worst <= 2);
    assert_true(nd_exp_u2(-1000) > 0 && nd_exp_u2(-1000) < 1.3e-38f);
    assert_true(isfinite(nd_exp_u2(1000)) && nd_exp_u2(1000) > 1e38f);
    assert_true(isnan(nd_exp_u2(NAN)) && nd_exp_u2(0) == 1);
}

static void test_log(void **state)
{
    double worst = 0, worst1p = 0;
    (void)state;
    for (uint32_t i = 0; i < 2000000; i++) {
        float x = bits_float(0x00800000u + i * 1060u); /* all normal numbers, evenly over their exponents */
        worst = fmax(worst, ulps(nd_log_u3(x), log((double)x)));
        float e = (float)i / 2000000;
        worst1p = fmax(worst1p, e > 0 ? ulps(nd_log1p_u3(e), log1p((double)e)) : 0);
    }
    assert_true(worst > 0.4 && worst <= 3);
    assert_true(worst1p > 0.4 && worst1p <= 3);
    assert_true(nd_log1p_u3(0) == 0 && nd_log_u3(1) == 0 && isnan(nd_log_u3(NAN)));
}

static void test_normal(void **state)
{
    double worst = 0, tail = 0;
    (void)state;
    for (int i = -12 * 4096; i <= 12 * 4096; i++) {
        float x = (float)i / 4096;
        double exact = 0.5 * erfc(-(double)x / sqrt(2)), error = fabs((double)nd_normal(x) - exact);
        worst = fmax(worst, error);
        if (i < 0) tail = fmax(tail, error / exact);
    }
    assert_true(worst > 1e-8 && worst <= 3e-7);
    assert_true(tail > 1e-8 && tail <= 1e-5);
    assert_true(nd_normal(0) == 0.5f && nd_normal(1000) == 1 && nd_normal(-1000) < 1e-37f && isnan(nd_normal(NAN)));
}

enum { COUNT = 203, ACTIVATIONS = NADE_ACTIVATIONS(ONE_MORE), OPTIMIZERS = NADE_OPTIMIZERS(ONE_MORE) };

/* What a variant makes of the same inputs. */
struct results {
    float activated[ACTIVATIONS][2 * COUNT], slopes[ACTIVATIONS][2 * COUNT], bernoulli[COUNT], mixture[3 * 21],
        atoms[2][3 * 21], stepped[OPTIMIZERS][3][COUNT], averaged[COUNT]; /* moments and parameters */
    float activated_sum[ACTIVATIONS][COUNT], activated_scaled[ACTIVATIONS][COUNT], kept[ACTIVATIONS][2 * COUNT];
    float coupled[3][ND_UNITS], below[ND_UNITS], absorbed[ACTIVATIONS][ND_UNITS], scaled[ND_UNITS],
        absorbed_scaled[ACTIVATIONS][ND_UNITS];
    double sum[COUNT], arrived[ACTIVATIONS], dot, squares, bernoulli_loss, mixture_loss, atom_loss[2];
};

static float number(uint32_t purpose, uint32_t i, float range)
{
    return (2 * nd_random_uniform(nd_random_word(1, purpose, 0, 0, i)) - 1) * range;
}

static void run_optimizers(const struct cpu_kernels *k, struct results *r)
{
    const struct step_rates exact = {.rate = 0.01,
                                     .momentum = 0.9,
                                     .second = 0.999,
                                     .rest1 = 0.1,
                                     .rest2 = 0.001,
                                     .correction1 = 2,
                                     .correction2 = 30,
                                     .fresh = 0.03};
    const struct float_rates rates = nd_float_rates(&exact);
    float gradient[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) gradient[i] = number(101, i, 1);
    for (int o = 0; o < OPTIMIZERS; o++) {
        float(*made)[COUNT] = r->stepped[o];
        for (uint32_t i = 0; i < COUNT; i++) {
            made[0][i] = number(102, i, 1);
            made[1][i] = fabsf(number(104, i, 1));
            made[2][i] = number(103, i, 1);
        }
        k->step((nade_optimizer)o, COUNT, &rates, 0.001f, gradient, made[0], made[1], made[2]);
        bool second = nd_moments_of((nade_optimizer)o) > 1;
        for (uint32_t i = 0; i < COUNT; i++) assert_true(second == (made[1][i] != fabsf(number(104, i, 1))));
    }
    for (uint32_t i = 0; i < COUNT; i++) r->averaged[i] = number(105, i, 1);
    k->average(COUNT, &rates, gradient, r->averaged);
    for (uint32_t i = 0; i < COUNT; i++)
        support_assert_close("average", (double)r->averaged[i],
                             0.97 * (double)number(105, i, 1) + 0.03 * (double)gradient[i], 1e-6, 1e-7);
}

enum { OUTPUTS = 3 };

/* Blocks of hidden units; each must be what the loops it stands for say. */
static void run_units(const struct cpu_kernels *k, struct results *r)
{
    float h[ND_UNITS], weight[OUTPUTS][ND_UNITS], below[ND_UNITS];
    const float delta[OUTPUTS] = {0.3f, -1.1f, 0.07f};
    for (uint32_t j = 0; j < ND_UNITS; j++) {
        h[j] = number(120, j, 1);
        for (uint32_t o = 0; o < OUTPUTS; o++) {
            weight[o][j] = number(121 + o, j, 2);
            r->coupled[o][j] = number(124 + o, j, 2);
        }
        r->below[j] = number(127, j, 1);
        r->scaled[j] = number(128, j, 1);
        for (int a = 0; a < ACTIVATIONS; a++) r->absorbed[a][j] = r->absorbed_scaled[a][j] = number(129, j, 1);
    }
    k->couple(OUTPUTS, delta, h, weight[0], r->coupled[0], r->below);
    k->add_scaled(-0.6f, h, r->scaled);
    for (int a = 0; a < ACTIVATIONS; a++) {
        memcpy(below, r->below, sizeof below);
        k->absorb((nade_activation)a, weight[1], h, below, r->absorbed[a]);
        for (size_t j = 0; j < ND_UNITS; j++) assert_true(below[j] == 0);
        memcpy(below, r->below, sizeof below);
        r->arrived[a] = k->absorb_scaled((nade_activation)a, -1.7f, weight[0], h, below, r->absorbed_scaled[a]);
        for (size_t j = 0; j < ND_UNITS; j++) assert_true(below[j] == 0);
    }
    for (uint32_t j = 0; j < ND_UNITS; j += 21) {
        const float slope[] = {h[j] > 0 ? 1.0f : 0.0f, h[j] * (1 - h[j]), 1 - h[j] * h[j]};
        float expected = number(127, j, 1);
        for (uint32_t o = 0; o < OUTPUTS; o++) expected += delta[o] * weight[o][j];
        assert_true(r->below[j] == expected && r->coupled[1][j] == number(125, j, 2) + delta[1] * h[j]);
        assert_true(r->scaled[j] == number(128, j, 1) + -0.6f * h[j]);
        for (int a = NADE_RELU; a <= NADE_TANH; a++) {
            assert_true(r->absorbed[a][j] == number(129, j, 1) + r->below[j] * slope[a]);
            assert_true(r->absorbed_scaled[a][j] == number(129, j, 1) + -1.7f * (r->below[j] * slope[a]));
        }
    }
}

static double mixture_cell(const struct cpu_kernels *k, const struct plan_column *column, float x, float factor,
                           bool scaled_means, float *outputs)
{
    const uint8_t target = 1;
    return k->mixture(1, column, &x, &target, factor, scaled_means, outputs);
}

/* Three of the components are atoms; the cell is none of them, then one. */
static void run_atoms(const struct cpu_kernels *k, struct results *r)
{
    const float atom[] = {-0.25f, 0, 1.5f}, x[] = {0.3f, 1.5f};
    const struct plan_column column = {
        .components = 21, .stride = 21, .output_width = 63, .floor = 0.01, .atoms = 3, .atom = atom};
    for (size_t a = 0; a < 2; a++) {
        for (uint32_t i = 0; i < 63; i++) r->atoms[a][i] = number(130, i, 2);
        r->atom_loss[a] = mixture_cell(k, &column, x[a], 0.7f, false, r->atoms[a]);
    }
}

static void run_variant(const struct cpu_kernels *k, struct results *r)
{
    const struct plan_column column = {.components = 21, .stride = 21, .output_width = 63, .floor = 0.01};
    float bias[COUNT], x[COUNT], other[COUNT];
    uint8_t target[COUNT];
    memset(r, 0, sizeof *r);
    for (uint32_t i = 0; i < COUNT; i++) {
        bias[i] = number(105, i, 1);
        x[i] = i % 3 == 0;
        other[i] = number(106, i, 2);
        target[i] = i % 5 != 0;
        r->bernoulli[i] = number(107, i, 30);
        r->sum[i] = (double)number(108, i, 3);
    }
    for (int a = 0; a < ACTIVATIONS; a++) {
        for (uint32_t i = 0; i < 2 * COUNT; i++) r->activated[a][i] = r->slopes[a][i] = number(109, i, 12);
        memcpy(r->kept[a], r->activated[a], sizeof r->kept[a]);
        k->add_bias(2, COUNT, COUNT, bias, r->kept[a]);
        k->add_bias_activate((nade_activation)a, 2, COUNT, COUNT, bias, r->activated[a]);
        k->multiply_slope((nade_activation)a, 2, COUNT, COUNT, r->kept[a], r->activated[a], r->slopes[a]);
        float again[2 * COUNT];
        k->activate((nade_activation)a, 2, COUNT, COUNT, r->kept[a], again);
        assert_memory_equal(again, r->activated[a], sizeof again);
    }
    for (uint32_t i = 0; i < 63; i++) r->mixture[i] = number(110, i, 2);
    r->bernoulli_loss = k->bernoulli(COUNT, x, target, 0.7f, r->bernoulli);
    r->mixture_loss = mixture_cell(k, &column, 0.3f, 0.7f, false, r->mixture);
    k->accumulate(COUNT, 0.37, other, bias, r->sum);
    for (int a = 0; a < ACTIVATIONS; a++) {
        k->activate_sum((nade_activation)a, COUNT, r->sum, r->activated_sum[a]);
        k->activate_scaled((nade_activation)a, COUNT, -1.7, r->sum, r->activated_scaled[a]);
    }
    r->dot = k->dot(COUNT, bias, other);
    r->squares = k->squares(COUNT, other);
    support_assert_close("squares", r->squares, k->dot(COUNT, other, other), 1e-6, 0);
    run_atoms(k, r);
    run_optimizers(k, r);
    run_units(k, r);
}

static void test_variants_agree(void **state)
{
    static struct results plain, other;
    size_t variants = 0;
    (void)state;
    run_variant(nd_cpu_kernels_variant(0), &plain);
    assert_true(isfinite(plain.bernoulli_loss) && isfinite(plain.mixture_loss) && isfinite(plain.dot));
    while (nd_cpu_kernels_variant(variants)) {
        run_variant(nd_cpu_kernels_variant(variants++), &other);
        assert_memory_equal(&other, &plain, sizeof plain);
    }
    assert_ptr_equal(nd_cpu_kernels(), nd_cpu_kernels_variant(variants - 1));
}

static void test_activations(void **state)
{
    const struct cpu_kernels *k = nd_cpu_kernels();
    const float zero = 0;
    (void)state;
    for (int i = -4000; i <= 4000; i++) {
        float a = (float)i / 160, relu = a, sigmoid = a, tanh_value = a, gelu = a, silu = a;
        k->add_bias_activate(NADE_RELU, 1, 1, 1, &zero, &relu);
        k->add_bias_activate(NADE_SIGMOID, 1, 1, 1, &zero, &sigmoid);
        k->add_bias_activate(NADE_TANH, 1, 1, 1, &zero, &tanh_value);
        k->add_bias_activate(NADE_GELU, 1, 1, 1, &zero, &gelu);
        k->add_bias_activate(NADE_SILU, 1, 1, 1, &zero, &silu);
        assert_true(relu == fmaxf(a, 0));
        support_assert_close("silu", (double)silu, (double)a / (1 + exp(-(double)a)), 4e-7, 1e-36);
        support_assert_close("gelu", (double)gelu, 0.5 * (double)a * erfc(-(double)a / sqrt(2)), 3e-7, 3e-7);
        support_assert_close("sigmoid", (double)sigmoid, 1 / (1 + exp(-(double)a)), 4e-7, 1e-37);
        support_assert_close("tanh", (double)tanh_value, tanh((double)a), 1e-6, 0);
    }
}

/* Slopes that read the sum against differences of the values, in the kernels' own precision. */
static void test_slopes_of_sums(void **state)
{
    const struct cpu_kernels *k = nd_cpu_kernels();
    (void)state;
    for (int i = -96; i <= 96; i++)
        for (int kind = NADE_TANH + 1; kind < ACTIVATIONS; kind++) {
            const float step = 0.015625f, a = (float)i / 16, sums[] = {a - step, a, a + step};
            float values[3], slope = 1;
            k->activate((nade_activation)kind, 1, 3, 3, sums, values);
            k->multiply_slope((nade_activation)kind, 1, 1, 1, sums + 1, values + 1, &slope);
            support_assert_close("slope", (double)slope, ((double)values[2] - (double)values[0]) / (2 * (double)step),
                                 0, 1e-4);
        }
}

/* A parameter's way by hand: up, down, and not at all but for the decay. */
static void test_lion(void **state)
{
    const struct update_rule rule = {
        .optimizer = NADE_LION, .learning_rate = 0.5, .momentum = 0.75, .total_updates = 2};
    const struct step_rates rates = nd_step_rates(&rule, 1);
    const struct float_rates r = nd_float_rates(&rates);
    const float gradient[] = {40, -3, 0, 1};
    float moment[] = {-8, -8, 0, -1}, parameter[] = {2, 2, 2, 2};
    (void)state;
    assert_true(rates.rate == 0.25 && rates.second == 0.99 && nd_usual_rate(NADE_LION) == 0.0002);
    nd_cpu_kernels()->step(NADE_LION, 4, &r, 0.5f, gradient, moment, NULL, parameter);
    const float expected[] = {2 - 0.25f * (1 + 1), 2 - 0.25f * (-1 + 1), 2 - 0.25f * (0 + 1), 2 - 0.25f * (-1 + 1)};
    for (size_t i = 0; i < 4; i++) {
        assert_true(parameter[i] == expected[i]);
        const float before[] = {-8, -8, 0, -1};
        support_assert_close("moment", (double)moment[i], 0.99 * (double)before[i] + 0.01 * (double)gradient[i], 1e-6,
                             0);
    }
    const float nothing = NAN;
    nd_cpu_kernels()->step(NADE_LION, 1, &r, 0, &nothing, moment, NULL, parameter);
    assert_true(isnan(parameter[0]) && isnan(moment[0]));
}

/* Kernels against the specification, large logits, narrow scales and a far outlier included. */
static void test_heads(void **state)
{
    const struct cpu_kernels *k = nd_cpu_kernels();
    const struct head *bernoulli = nd_head_for(NADE_BINARY), *mixture = nd_head_for(NADE_REAL);
    (void)state;
    for (uint32_t i = 0; i < 400; i++) {
        float logit = number(111, i, i < 300 ? 10 : 90), x = (float)(i % 2), found = logit;
        const uint8_t target = 1;
        double outputs = (double)logit, gradient;
        double loss = bernoulli->loss_gradient(NULL, &outputs, (double)x, &gradient);
        support_assert_close("bernoulli loss", k->bernoulli(1, &x, &target, 1, &found), loss, 1e-6, 1e-6);
        support_assert_close("bernoulli gradient", (double)found, gradient, 1e-6, 2e-7);
    }
    for (uint32_t i = 0; i < 300; i++) {
        const float atom[] = {0, 0.75f, -2};
        const struct plan_column column = {.components = 1 + i % 20,
                                           .stride = 1 + i % 20,
                                           .output_width = 3 + 3 * (i % 20),
                                           .floor = 0.01,
                                           .atoms = i % 20 < i / 20 % 4 ? 0 : i / 20 % 4,
                                           .atom = atom};
        bool scaled = i % 7 < 3;
        float found[60], x = i % 50 == 0 ? 300.0f : number(112, i, 3);
        if (column.atoms && i % 3 == 0) x = atom[i % column.atoms];
        double outputs[60], gradient[60], numbers[60];
        for (uint32_t j = 0; j < column.output_width; j++) {
            found[j] = number(113, 100 * i + j, 3);
            if (j >= column.components && j % column.components < column.atoms) found[j] = 1e30f; /* not used */
            outputs[j] = (double)found[j];
        }
        double loss = mixture->loss_gradient(&column, outputs, (double)x, gradient);
        if (scaled) mixture->scale_gradient(&column, outputs, gradient);
        support_assert_close("mixture loss", mixture_cell(k, &column, x, 1, scaled, found), loss, 1e-5, 1e-5);
        for (uint32_t j = 0; j < column.output_width; j++) {
            numbers[j] = (double)found[j];
            if (j >= column.components && j % column.components < column.atoms) assert_true(found[j] == 0);
        }
        support_assert_all_close("mixture gradient", numbers, gradient, column.output_width, 3e-5);
    }
}

/* A row of real columns, hidden or not, atoms among them, gives what its cells give one by one. */
static void test_row_of_mixtures(void **state)
{
    enum { CELLS = 60, MOST = 40 };
    static float together[CELLS * 3 * MOST], alone[CELLS * 3 * MOST];
    static struct plan_column column[CELLS];
    const float atom[] = {-0.25f, 0, 1.5f};
    (void)state;
    for (uint32_t trial = 0; trial < 24; trial++) {
        size_t components = trial < 4 ? 1 : 1 + 7 * trial % MOST, width = 3 * components;
        float x[CELLS];
        uint8_t target[CELLS];
        double sum = 0;
        for (uint32_t i = 0; i < CELLS; i++) {
            column[i] = (struct plan_column){.components = components,
                                             .stride = components,
                                             .output_width = width,
                                             .floor = 0.01 + 0.001 * (double)i,
                                             .atoms = components > 3 && trial % 3 > 0 ? 3 : 0,
                                             .atom = atom};
            target[i] = (i + trial) % 4 != 0;
            x[i] = i % 9 == 5 ? atom[i % 3] : number(140 + trial, i, 3);
        }
        for (uint32_t i = 0; i < CELLS * width; i++) together[i] = alone[i] = number(170 + trial, i, 3);
        for (size_t i = 0; i < CELLS; i++)
            if (target[i])
                sum += mixture_cell(nd_cpu_kernels(), &column[i], x[i], 0.7f, trial % 2, alone + i * width);
            else
                memset(alone + i * width, 0, width * sizeof *alone);
        assert_true(nd_cpu_kernels()->mixture(CELLS, column, x, target, 0.7f, trial % 2, together) == sum);
        assert_memory_equal(together, alone, CELLS * width * sizeof *alone);
    }
}

/* The gradient of a mean is multiplied by the component's scale, the others are what they are. */
static void test_scaled_means(void **state)
{
    const struct plan_column column = {.components = 2, .stride = 2, .output_width = 6, .floor = 0.25};
    const double outputs[] = {0.3, -0.2, -1, 0.5, log(0.75), log(1.75)}, scales[] = {1, 2};
    const struct head *mixture = nd_head_for(NADE_REAL);
    double expected[6], found[6];
    (void)state;
    mixture->loss_gradient(&column, outputs, 0.1, expected);
    memcpy(found, expected, sizeof found);
    mixture->scale_gradient(&column, outputs, found);
    for (size_t c = 0; c < 2; c++) expected[2 + c] *= scales[c];
    support_assert_all_close("gradient", found, expected, 6, 1e-14);
}

/* Outputs of a diverging network: the loss is the specification's, or not finite. */
static void test_extreme_outputs(void **state)
{
    const struct cpu_kernels *k = nd_cpu_kernels();
    const struct head *mixture = nd_head_for(NADE_REAL);
    (void)state;
    for (uint32_t i = 0; i < 2000; i++) {
        const struct plan_column column = {.components = 3, .stride = 3, .output_width = 9, .floor = 0.001};
        float found[9], x = number(114, i, 5);
        double outputs[9], gradient[9];
        for (uint32_t j = 0; j < 9; j++) {
            found[j] = number(115, 16 * i + j, j < 3 ? 1e4f : j < 6 ? 1e12f : 500);
            outputs[j] = (double)found[j];
        }
        double loss = mixture->loss_gradient(&column, outputs, (double)x, gradient);
        double kernel = mixture_cell(k, &column, x, 1, false, found);
        assert_true(isfinite(loss));
        if (isfinite(kernel)) support_assert_close("loss", kernel, loss, 1e-4, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_variants_agree),
        cmocka_unit_test(test_activations),
        cmocka_unit_test(test_slopes_of_sums),
        cmocka_unit_test(test_lion),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_scaled_means),
        cmocka_unit_test(test_extreme_outputs),
        cmocka_unit_test(test_row_of_mixtures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
