/* Networks that one block of a CUDA device trains, against the graphs of kernels.
 *
 *   test_cuda_small [PATTERN]   only the tests whose names match
 */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "training_cases.h"

/* ---- one block -----------------------------------------------------------------------------------------------------
 */

/* The first moments after one update, whose decay is left out: the gradient, but for Adam's constant factor. */
static const float *first_moments(struct training_rig *rig, const struct training_case *c, bool share)
{
    struct update_rule rule = c->rule;
    double loss = NAN;
    uint64_t failed;
    rule.share_device = share;
    rule.weight_decay = 0;
    training_open(rig, c, NULL, NADE_PRECISION_TF32);
    support_assert_ok(rig->m.context, training_run(rig, &rule, 3, 1, &loss, &failed));
    return training_block(rig, BLOCK_MOMENT1);
}

/* The validation loss of so many rows after that update. */
static double validation_of(struct training_rig *rig, size_t rows, size_t repeats)
{
    double loss = NAN;
    struct encoded_rows valid = gpu_cells(&rig->m, &rig->c->plan, rows, 77, rig->c->kind);
    support_assert_ok(rig->m.context, rig->entries->set_data(rig->m.context, rig->backend, DATA_VALID, &valid));
    support_assert_ok(rig->m.context, rig->entries->validate(rig->m.context, rig->backend, 5, repeats, &loss));
    return loss;
}

/* Every tensor's gradient is that of the graphs, up to the roundings of TF32, but not in the same bits. */
static void check_one_block(const struct training_case *c, double tolerance)
{
    struct training_rig graphs, block;
    const float *expected = first_moments(&graphs, c, false), *found = first_moments(&block, c, true);
    const struct plan *plan = &graphs.m.plan;
    for (size_t t = 0; t < plan->tensors; t++) {
        size_t first = plan->tensor[t].offset, count = plan->tensor[t].rows * plan->tensor[t].columns;
        double off = 0, all = 0;
        for (size_t i = first; i < first + count; i++) {
            off += pow((double)found[i] - (double)expected[i], 2);
            all += pow((double)expected[i], 2);
        }
        gpu_note("one block's gradients", "tf32", sqrt(off / all), tolerance);
        if (!(sqrt(off) <= tolerance * sqrt(all))) fail_msg("tensor %zu is off by %.3g", t, sqrt(off / all));
    }
    assert_memory_not_equal(found, expected, plan->parameters * sizeof *found);
    const size_t sizes[][2] = {{1, 1}, {97, 3}, {300, 2}};
    const bool lion = c->rule.optimizer == NADE_LION; /* whose steps look at signs, which roundings may turn */
    const double allowed = lion ? 1e-4 : 1e-6;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double whole = validation_of(&graphs, sizes[i][0], sizes[i][1]);
        double one = validation_of(&block, sizes[i][0], sizes[i][1]), error = fabs(one - whole) / fabs(whole);
        gpu_note(lion ? "one block's validation, lion" : "one block's validation", "tf32", error, allowed);
        if (!(error <= allowed)) fail_msg("%zu rows: loss %.9g, the graphs' %.9g", sizes[i][0], one, whole);
    }
    training_close(&graphs);
    training_close(&block);
}

/* Less than a tile of everything, and narrow columns between wide ones; few rows average little of the rounding. */
static void test_one_block(void **state)
{
    static const struct training_case odd[] = {
        {{"r", 1, {3}, 1, 1, NADE_RELU, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.003, 0, 1)},
        {{"r", 2, {1, 1}, 2, 2, NADE_TANH, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_ADAM, 0.003, 0, 3)},
        {{"brbc7", 1, {15, 16}, 2, 17, NADE_RELU, true, false, 0.2}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.003, 0, 33)},
        {{"9r", 3, {31}, 1, 42, NADE_SIGMOID, true, false, 0}, ENCODED_FLOATS, SHARED(NADE_NAG, 0.003, 0, 128)},
    };
    (void)state;
    if (gpu_stand_in()) skip();
    for (size_t i = CASE_BLOCK; i < CASE_TOO_WIDE; i++) {
        assert_true(training_cases[i].rule.share_device);
        check_one_block(&training_cases[i], 6.7e-4);
    }
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) check_one_block(&odd[i], 1.6e-3);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_block),
    };
    int code = gpu_support_begin();
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    if (code == 0) code = cmocka_run_group_tests_name("cuda small networks", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
