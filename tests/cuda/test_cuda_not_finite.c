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
    support_assert_ok(rig->m.context,
                      rig->entries->set_block(rig->m.context, rig->backend, BLOCK_PARAMETERS, rig->m.parameters));
}

/* The first update's loss is finite, its gradient is not.  A ReLU turns a unit that is not a number into a zero, so
 * no later loss need tell; the next update fails all the same, as on the CPU. */
static void check_overflow(const struct training_case *c, const struct backend_entries *entries,
                           nade_precision precision)
{
    struct training_rig rig, fresh;
    double loss = NAN;
    uint64_t failed = UINT64_MAX, none;
    training_open(&rig, c, entries, precision);
    let_gradients_overflow(&rig);
    assert_int_equal(training_run(&rig, &c->rule, 0, UPDATES, &loss, &failed), NADE_NOT_FINITE);
    assert_int_equal(failed, 1);
    training_open(&fresh, c, entries, precision);
    let_gradients_overflow(&fresh);
    support_assert_ok(fresh.m.context, training_run(&fresh, &c->rule, 0, 1, &loss, &none));
    assert_true(isfinite(loss));
    training_assert_same(&rig, &fresh);
    training_close(&fresh);
    training_close(&rig);
}

static void test_gradients_that_overflow(void **state)
{
    static const struct training_case overflow[] = {
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, RULE(NADE_ADAM, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_ADAM, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, false, true, 0}, ENCODED_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
        {{"r", 6, {20}, 1, 1, NADE_RELU, false, GPU_RESCALED, 0}, ENCODED_FLOATS, RULE(NADE_NAG, 0.001, 0, 37)},
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
