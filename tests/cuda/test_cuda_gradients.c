/* The CUDA backend against the reference in double: blocks in and out, loss, every gradient tensor, validation, over
 * the table of plans at every precision; against the CPU backend where a plan is too large for the reference.
 *
 *   test_cuda_gradients [PATTERN]   only the tests whose names match, which is what compute-sanitizer has the time for
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "base/philox.h"
#include "gpu_support.h"
#include "support/cmocka_all.h"

enum { PURPOSE_OBSERVED = 2100 };

/* Observed sets of all sizes; in the first rows none, all but one (the smallest column that is there stays hidden). */
static uint8_t *observed_sets(struct support_model *m, const struct encoded_rows *cells)
{
    uint8_t *observed = gpu_alloc(m, cells->rows * cells->columns, 1);
    for (size_t row = 0; row < cells->rows; row++) {
        float share = nd_random_uniform(nd_random_word(4, PURPOSE_OBSERVED, 0, (uint32_t)row, 0));
        bool hidden = false;
        for (size_t c = 0; c < cells->columns; c++) {
            if (isnan(nd_cell(cells, row, c))) continue;
            float uniform = nd_random_uniform(nd_random_word(4, PURPOSE_OBSERVED, 1, (uint32_t)row, (uint32_t)c));
            observed[row * cells->columns + c] = hidden && row > 0 && (row == 1 || uniform < share);
            hidden = true;
        }
    }
    return observed;
}

/* Loss and gradient (parameters) of one backend. */
static double evaluate(struct support_model *m, const struct backend_entries *entries, nade_precision precision,
                       const struct encoded_rows *cells, const uint8_t *observed, float *gradient)
{
    struct backend *backend = gpu_open(entries, m, precision);
    double loss = NAN;
    support_assert_ok(m->context, entries->loss_and_gradients(m->context, backend, cells, observed, &loss));
    support_assert_ok(m->context, entries->get_block(m->context, backend, BLOCK_GRADIENT, gradient));
    entries->close(backend);
    return loss;
}

/* |found - expected| / |expected|, Euclidean. */
static double relative_distance(const float *found, const float *expected, size_t count)
{
    double distance = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        distance += ((double)found[i] - (double)expected[i]) * ((double)found[i] - (double)expected[i]);
        norm += (double)expected[i] * (double)expected[i];
    }
    return norm > 0 ? sqrt(distance / norm) : distance > 0 ? INFINITY : 0;
}

static void compare_gradients(const struct support_model *m, const struct gpu_precision *p, const char *words,
                              const float *found, const float *expected)
{
    bool relu = m->plan.activation == NADE_RELU;
    double most = relu ? p->relu_gradient : p->gradient, allowed = gpu_bound(words, p->precision, most), worst = 0;
    for (size_t t = 0; t < m->plan.tensors; t++) {
        const struct tensor_view *view = &m->plan.tensor[t];
        double error = relative_distance(found + view->offset, expected + view->offset, view->rows * view->columns);
        gpu_note(relu ? "gradients, relu" : "gradients, smooth", p->name, error, most);
        gpu_note("gradients, of a case's own bound", p->name, error / allowed, 1);
        worst = fmax(worst, error);
        if (error <= allowed) continue;
        fail_msg("%s, gradient of %s: off by %.3g of its norm, allowed %.3g", words, view->name, error, allowed);
    }
    gpu_see(words, worst);
}

static void check_gradients(const struct gpu_plan *plan, const struct backend_entries *yardstick, enum encoding kind,
                            size_t rows)
{
    struct support_model m;
    gpu_build(&m, plan);
    struct encoded_rows cells = gpu_cells(&m, plan, rows, 11, kind);
    uint8_t *observed = gpu_is_fixed(plan) ? NULL : observed_sets(&m, &cells);
    float *expected = gpu_alloc(&m, m.plan.parameters, sizeof *expected);
    float *found = gpu_alloc(&m, m.plan.parameters, sizeof *found);
    double loss = evaluate(&m, yardstick, NADE_PRECISION_AUTO, &cells, observed, expected);
    for (size_t i = 0; i < gpu_precision_count(); i++) {
        const struct gpu_precision *p = &gpu_precisions[i];
        char described[GPU_WORDS], words[GPU_WORDS + 40];
        snprintf(words, sizeof words, "%s, %zu rows of %s", gpu_describe(plan, p->name, described), rows,
                 kind == ENCODED_BYTES ? "bytes" : "floats");
        double mine = evaluate(&m, gpu_entries(m.context), p->precision, &cells, observed, found);
        gpu_note("loss", p->name, fabs(mine - loss) / fabs(loss), p->loss);
        support_assert_close(words, mine, loss, p->loss, 0);
        compare_gradients(&m, p, words, found, expected);
    }
    support_free(&m);
}

/* 3 rows, and 200: below and above any tile. */
static void test_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++) {
        check_gradients(&gpu_plans[i], &nd_reference_double, ENCODED_FLOATS, 3);
        check_gradients(&gpu_plans[i], &nd_reference_double, ENCODED_FLOATS, 200);
    }
}

static void test_gradients_of_bytes(void **state)
{
    size_t cases = 0;
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++) {
        if (strpbrk(gpu_plans[i].kinds, "rawgm")) continue;
        check_gradients(&gpu_plans[i], &nd_reference_double, ENCODED_BYTES, 50);
        cases++;
    }
    assert_true(cases > 5);
}

static void test_wide_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_wide_plan_count; i++)
        check_gradients(&gpu_wide_plans[i], &nd_cpu_entries, ENCODED_FLOATS, 20);
}

/* More rows than a norm's gradient has parts, at both kinds of widths. */
static void test_many_rows(void **state)
{
    static const struct gpu_plan plans[] = {
        {"br", 2, {70}, 2, 3, NADE_GELU, true, GPU_RESIDUAL, 0.2},
        {"br", 2, {2053}, 1, 3, NADE_GELU, true, GPU_RESIDUAL, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        check_gradients(&plans[i], &nd_cpu_entries, ENCODED_FLOATS, gpu_stand_in() ? 20 : 1100);
}

/* Loss and gradient of a batch come out in the same bytes each time. */
static void check_same_gradients(const struct gpu_plan *plan, nade_precision precision, size_t rows)
{
    struct support_model m;
    gpu_build(&m, plan);
    const struct backend_entries *entries = gpu_entries(m.context);
    struct encoded_rows cells = gpu_cells(&m, plan, rows, 13, ENCODED_FLOATS);
    uint8_t *observed = observed_sets(&m, &cells);
    float *first = gpu_alloc(&m, m.plan.parameters, sizeof *first);
    float *again = gpu_alloc(&m, m.plan.parameters, sizeof *again);
    double loss = evaluate(&m, entries, precision, &cells, observed, first);
    for (int turn = 0; turn < 3; turn++) {
        memset(again, 0xFF, m.plan.parameters * sizeof *again);
        assert_true(evaluate(&m, entries, precision, &cells, observed, again) == loss);
        assert_memory_equal(again, first, m.plan.parameters * sizeof *again);
    }
    support_free(&m);
}

static void test_tuned_products(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_tuned_plan_count; i++) {
        const struct gpu_tuned_plan *tuned = &gpu_tuned_plans[i];
        size_t rows = gpu_tuned_batch(tuned);
        check_gradients(&tuned->plan, &nd_cpu_entries, ENCODED_FLOATS, rows);
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_same_gradients(&tuned->plan, gpu_precisions[p].precision, rows);
    }
}

/* Where no column has a choice there is nothing to lose and nothing to learn. */
static void test_one_label_each(void **state)
{
    static const struct gpu_plan plans[] = {
        {"1", 5, {17, 9}, 2, 1, NADE_RELU, true, false, 0.2},
        {"1", 5, {17}, 1, 1, NADE_TANH, false, true, 0.2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        struct support_model m;
        gpu_build(&m, &plans[i]);
        struct encoded_rows cells = gpu_cells(&m, &plans[i], 50, 14, ENCODED_BYTES);
        const uint8_t *observed = gpu_is_fixed(&plans[i]) ? NULL : observed_sets(&m, &cells);
        float *gradient = gpu_alloc(&m, m.plan.parameters, sizeof *gradient);
        for (size_t p = 0; p < gpu_precision_count(); p++) {
            memset(gradient, 0xFF, m.plan.parameters * sizeof *gradient);
            assert_true(evaluate(&m, gpu_entries(m.context), gpu_precisions[p].precision, &cells, observed, gradient) ==
                        0);
            for (size_t k = 0; k < m.plan.parameters; k++) assert_true(gradient[k] == 0);
        }
        support_free(&m);
    }
}

/* ---- validation -------------------------------------------------------------------------------------------------- */

static double validate(struct support_model *m, const struct backend_entries *entries, nade_precision precision,
                       const struct encoded_rows *cells, uint32_t seed, size_t repeats)
{
    struct backend *backend = gpu_open(entries, m, precision);
    double loss = NAN;
    support_assert_ok(m->context, entries->set_data(m->context, backend, DATA_VALID, cells));
    support_assert_ok(m->context, entries->validate(m->context, backend, seed, repeats, &loss));
    entries->close(backend);
    return loss;
}

/* The validation loss is a matter of the draws: another seed must move it by more than the tolerance. */
static void check_validation(const struct gpu_plan *plan, const struct backend_entries *yardstick, size_t rows,
                             size_t repeats)
{
    struct support_model m;
    gpu_build(&m, plan);
    struct encoded_rows cells = gpu_cells(&m, plan, rows, 12, ENCODED_FLOATS);
    double expected = validate(&m, yardstick, NADE_PRECISION_AUTO, &cells, 5, repeats);
    double other = validate(&m, yardstick, NADE_PRECISION_AUTO, &cells, 6, repeats);
    if (!gpu_is_fixed(plan) && m.plan.columns > 1)
        assert_true(fabs(other - expected) > gpu_precisions[0].loss * expected);
    for (size_t i = 0; i < gpu_precision_count(); i++) {
        const struct gpu_precision *p = &gpu_precisions[i];
        char words[GPU_WORDS];
        double found = validate(&m, gpu_entries(m.context), p->precision, &cells, 5, repeats);
        gpu_note("validation", p->name, fabs(found - expected) / fabs(expected), p->loss);
        support_assert_close(gpu_describe(plan, p->name, words), found, expected, p->loss, 0);
    }
    support_free(&m);
}

static void test_validation(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++) {
        check_validation(&gpu_plans[i], &nd_reference_double, 7, 1);
        check_validation(&gpu_plans[i], &nd_reference_double, 130, 16);
    }
}

/* 1200 draws: where a row has 60,000 outputs, more than are validated at a time. */
static void test_wide_validation(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_wide_plan_count; i++) check_validation(&gpu_wide_plans[i], &nd_cpu_entries, 80, 15);
}

/* More than 4096, which is the most at a time for any plan. */
static void test_many_validation_draws(void **state)
{
    static const struct gpu_plan plans[] = {
        {"b", 4, {6}, 1, 1, NADE_RELU, true, false, 0},      {"brc", 3, {20, 9}, 2, 3, NADE_TANH, true, false, 0.3},
        {"b", 130, {9}, 1, 1, NADE_RELU, true, false, 0},    {"r", 131, {9}, 1, 2, NADE_TANH, true, false, 0},
        {"b", 600, {9}, 1, 1, NADE_SIGMOID, true, false, 0},
    };
    const struct gpu_plan fixed = {"br", 3, {20}, 1, 2, NADE_TANH, false, true, 0.2};
    (void)state;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) check_validation(&plans[i], &nd_cpu_entries, 845, 5);
    check_validation(&fixed, &nd_cpu_entries, 4225, 1);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* What goes into a block comes out bit for bit, and no block is another one. */
static void check_blocks(const struct gpu_plan *plan, nade_precision precision)
{
    struct support_model m;
    gpu_build(&m, plan);
    const struct backend_entries *entries = gpu_entries(m.context);
    struct backend *backend = gpu_open(entries, &m, precision);
    float *values[BLOCK_COUNT], *found = gpu_alloc(&m, m.plan.parameters, sizeof *found);
    for (uint32_t b = 0; b < BLOCK_COUNT; b++) {
        values[b] = gpu_alloc(&m, m.plan.parameters, sizeof **values);
        support_random_parameters(&m.plan, 20 + b, values[b]);
        support_assert_ok(m.context, entries->set_block(m.context, backend, (enum block)b, values[b]));
    }
    for (uint32_t b = 0; b < BLOCK_COUNT; b++) {
        memset(found, 0xFF, m.plan.parameters * sizeof *found);
        support_assert_ok(m.context, entries->get_block(m.context, backend, (enum block)b, found));
        assert_memory_equal(found, values[b], m.plan.parameters * sizeof *found);
    }
    entries->close(backend);
    support_free(&m);
}

static void test_blocks_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_plan_count; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++) check_blocks(&gpu_plans[i], gpu_precisions[p].precision);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_come_back),   cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_of_bytes), cmocka_unit_test(test_one_label_each),
        cmocka_unit_test(test_validation),         cmocka_unit_test(test_wide_gradients),
        cmocka_unit_test(test_wide_validation),    cmocka_unit_test(test_many_validation_draws),
        cmocka_unit_test(test_tuned_products),     cmocka_unit_test(test_many_rows),
    };
    int code = gpu_support_begin();
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    if (code == 0) code = cmocka_run_group_tests_name("cuda gradients", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
