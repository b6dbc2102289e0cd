/* What the CUDA backend does when a loss or a gradient is not finite. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "training_cases.h"

/* ---- a loss that is not finite
 * --------------------------------------------------------------------------------------- */

/* A huge rate throws the parameters out of range.  The failing update is named and changes nothing: what is there are
 * the bytes after the updates before it.  The backend can be used on. */
static void check_divergence(const struct training_case *c, nade_precision precision)
{
    struct training_rig rig, fresh;
    double loss = NAN;
    uint64_t failed = UINT64_MAX, none;
    struct update_rule wild = c->rule;
    wild.learning_rate = 1e36;
    training_open(&rig, c, NULL, precision);
    assert_int_equal(training_run(&rig, &wild, 0, UPDATES, &loss, &failed), NADE_NOT_FINITE);
    assert_true(failed >= 1 && failed < UPDATES);
    training_open(&fresh, c, NULL, precision);
    for (uint64_t u = 0; u < failed; u++)
        support_assert_ok(fresh.m.context, training_run(&fresh, &wild, u, 1, &loss, &none));
    training_assert_same(&rig, &fresh);
    assert_int_equal(training_run(&fresh, &wild, failed, 1, &loss, &failed), NADE_NOT_FINITE);
    training_assert_same(&rig, &fresh);
    float *zeros = gpu_alloc(&rig.m, rig.m.plan.parameters, sizeof *zeros);
    for (int block = BLOCK_PARAMETERS; block <= BLOCK_MOMENT2; block++)
        support_assert_ok(rig.m.context, rig.entries->set_block(rig.m.context, rig.backend, (enum block)block,
                                                                block == BLOCK_PARAMETERS ? rig.m.parameters : zeros));
    training_close(&fresh);
    training_open(&fresh, c, NULL, precision);
    support_assert_ok(rig.m.context, training_run(&rig, &c->rule, 0, 20, &loss, &failed));
    support_assert_ok(fresh.m.context, training_run(&fresh, &c->rule, 0, 20, &loss, &failed));
    training_assert_same(&rig, &fresh);
    training_close(&fresh);
    training_close(&rig);
}

static void test_divergence(void **state)
{
    (void)state;
    for (size_t p = 0; p < gpu_precision_count(); p++) {
        check_divergence(&training_cases[0], gpu_precisions[p].precision);
        check_divergence(&training_cases[2], gpu_precisions[p].precision);
        check_divergence(&training_cases[CASE_RESCALED], gpu_precisions[p].precision);
        check_divergence(&training_cases[CASE_RESIDUAL], gpu_precisions[p].precision);
        check_divergence(&training_cases[CASE_BLOCK], gpu_precisions[p].precision);
        check_divergence(&training_cases[CASE_BLOCK_ADAM], gpu_precisions[p].precision);
    }
}

static float *row_of(struct training_rig *rig, size_t tensor, size_t row)
{
    const struct tensor_view *view = &rig->m.plan.tensor[tensor];
    return rig->m.parameters + view->offset + row * view->columns;
}

static void give_parameters(struct training_rig *rig)
{
    support_assert_ok(rig->m.context,
                      rig->entries->set_block(rig->m.context, rig->backend, BLOCK_PARAMETERS, rig->m.parameters));
}

/* Two hidden units that are one for every row and cancel out in each column's mean, with weights so large that what
 * comes down to them overflows.  Scales are at their floor, so that a mean's gradient is large itself. */
static void let_gradients_overflow(struct training_rig *rig)
{
    const struct plan *plan = &rig->m.plan;
    for (size_t unit = 0; unit < 2; unit++) {
        memset(row_of(rig, 0, unit), 0, plan->tensor[0].columns * sizeof(float));
        row_of(rig, 1, 0)[unit] = 1;
    }
    for (size_t c = 0; c < plan->columns; c++) {
        size_t mean = plan->column[c].output + 1, log_scale = mean + 1;
        row_of(rig, 2, mean)[0] = 1e38f;
        row_of(rig, 2, mean)[1] = -1e38f;
        memset(row_of(rig, 2, log_scale), 0, plan->tensor[2].columns * sizeof(float));
        row_of(rig, 3, 0)[log_scale] = -50;
    }
    give_parameters(rig);
}

/* One hidden unit, which is one for every row, holds up a component of each column that explains no row.  All rows want
 * less of it: together they overflow the unit's bias, which steps to minus infinity, and no weight.  The unit is zero
 * from there on, the components' logits are very low, and every loss is finite. */
static void let_one_bias_overflow(struct training_rig *rig)
{
    const struct plan *plan = &rig->m.plan;
    memset(row_of(rig, 0, 0), 0, plan->tensor[0].columns * sizeof(float));
    row_of(rig, 1, 0)[0] = 1;
    for (size_t c = 0; c < plan->columns; c++) {
        const struct plan_column *column = &plan->column[c];
        size_t logit = column->output, mean = logit + column->stride;
        for (size_t i = 0; i < column->output_width; i++) {
            memset(row_of(rig, 2, logit + i), 0, plan->tensor[2].columns * sizeof(float));
            row_of(rig, 3, 0)[logit + i] = 0;
        }
        row_of(rig, 2, logit)[0] = 0x1.cp126f; /* about 1.5e38, the same number in every precision */
        row_of(rig, 3, 0)[logit] = -0x1.cp126f;
        row_of(rig, 3, 0)[mean] = 5;
    }
    give_parameters(rig);
}

struct overflow_case {
    struct training_case training;
    void (*let_overflow)(struct training_rig *rig);
    uint64_t told; /* the first update whose loss tells, by which the CPU knows */
};

/* The first update's loss is finite, its gradient is not.  The device looks at its parameters too, since no loss need
 * tell: the next update fails in any case. */
static void check_overflow(const struct overflow_case *overflow, const struct backend_entries *entries,
                           nade_precision precision)
{
    const struct training_case *c = &overflow->training;
    struct training_rig rig, fresh;
    double loss = NAN;
    uint64_t failed = UINT64_MAX, none;
    training_open(&rig, c, entries, precision);
    overflow->let_overflow(&rig);
    assert_int_equal(training_run(&rig, &c->rule, 0, UPDATES, &loss, &failed), NADE_NOT_FINITE);
    assert_int_equal(failed, entries == &nd_cpu_entries || gpu_stand_in() ? overflow->told : 1);
    training_open(&fresh, c, entries, precision);
    overflow->let_overflow(&fresh);
    for (uint64_t update = 0; update < failed; update++) {
        support_assert_ok(fresh.m.context, training_run(&fresh, &c->rule, update, 1, &loss, &none));
        assert_true(isfinite(loss));
    }
    training_assert_same(&rig, &fresh);
    training_close(&fresh);
    training_close(&rig);
}

static void test_gradients_that_overflow(void **state)
{
    static const struct overflow_case overflow[] = {
        {{{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
         let_gradients_overflow,
         1},
        {{{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.001, 0, 37)},
         let_gradients_overflow,
         1},
        {{{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.001, 0, 37)},
         let_gradients_overflow,
         1},
        {{{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_ADAM, 0.001, 0, 37)},
         let_gradients_overflow,
         1},
        {{{"r", 6, {20}, 1, 1, NADE_RELU, false, true, 0}, ENCODED_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
         let_gradients_overflow,
         1},
        {{{"r", 6, {20}, 1, 1, NADE_RELU, false, GPU_RESCALED, 0}, ENCODED_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
         let_gradients_overflow,
         1},
        {{{"r", 6, {20}, 1, 2, NADE_RELU, false, false, 0}, ENCODED_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
         let_one_bias_overflow,
         2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof overflow / sizeof *overflow; i++) {
        check_overflow(&overflow[i], &nd_cpu_entries, NADE_PRECISION_AUTO);
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_overflow(&overflow[i], NULL, gpu_precisions[p].precision);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_gradients_that_overflow),
    };
    int code = gpu_support_begin();
    if (code == 0) code = cmocka_run_group_tests_name("cuda losses that are not finite", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
