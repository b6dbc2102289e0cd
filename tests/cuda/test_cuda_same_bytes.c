/* Training on the CUDA backend gives the same bytes run to run and whatever runs beside it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "training_cases.h"

/* ---- the same bytes ------------------------------------------------------------------------------------------------
 */

/* A run that can share the machine with another: nothing in it asserts. */
struct run {
    struct training_rig rig;
    nade_status status;
    double loss;
};

static void *run_training(void *argument)
{
    struct run *run = argument;
    uint64_t failed;
    run->status = NADE_OK;
    for (uint64_t first = 0; first < 200 && run->status == NADE_OK; first += 50)
        run->status = training_run(&run->rig, &run->rig.c->rule, first, 50, &run->loss, &failed);
    return NULL;
}

static void test_same_bytes_run_to_run(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        for (size_t p = 0; p < gpu_precision_count(); p++) {
            struct run first, second;
            training_open(&first.rig, &training_cases[i], NULL, gpu_precisions[p].precision);
            run_training(&first);
            support_assert_ok(first.rig.m.context, first.status);
            training_open(&second.rig, &training_cases[i], NULL, gpu_precisions[p].precision);
            run_training(&second);
            support_assert_ok(second.rig.m.context, second.status);
            assert_true(first.loss == second.loss);
            training_assert_same(&first.rig, &second.rig);
            assert_memory_not_equal(training_block(&first.rig, BLOCK_PARAMETERS), first.rig.m.parameters,
                                    first.rig.m.plan.parameters * sizeof(float));
            training_close(&first.rig);
            training_close(&second.rig);
        }
    }
}

/* Two whole graphs and a single update, three times. */
static void check_tuned(const struct training_case *c, nade_precision precision)
{
    struct training_rig first, again;
    const uint64_t updates = gpu_stand_in() ? 3 : 41;
    double loss = NAN, same = NAN;
    uint64_t failed;
    training_open(&first, c, NULL, precision);
    support_assert_ok(first.m.context, training_run(&first, &c->rule, 0, updates, &loss, &failed));
    for (int turn = 0; turn < 2; turn++) {
        training_open(&again, c, NULL, precision);
        support_assert_ok(again.m.context, training_run(&again, &c->rule, 0, updates, &same, &failed));
        assert_true(loss == same);
        training_assert_same(&first, &again);
        training_close(&again);
    }
    training_close(&first);
}

static void test_same_bytes_of_tuned_products(void **state)
{
    (void)state;
    for (size_t i = 0; i < gpu_tuned_plan_count; i++) {
        const struct gpu_tuned_plan *tuned = &gpu_tuned_plans[i];
        struct training_case c = {tuned->plan, tuned->plan.kinds[0] == 'b' ? ENCODED_BYTES : ENCODED_FLOATS,
                                  RULE(NADE_NAG, 1e-4, 0.02, gpu_tuned_batch(tuned))};
        for (size_t p = 0; p < gpu_precision_count(); p++) check_tuned(&c, gpu_precisions[p].precision);
    }
}

/* What a run that is over has left. */
struct ended {
    double loss;
    float *parameters, *moments; /* of the heap */
};

static float *copy_of_block(struct training_rig *rig, enum block block)
{
    size_t bytes = rig->m.plan.parameters * sizeof(float);
    float *copy = malloc(bytes);
    assert_non_null(copy);
    memcpy(copy, training_block(rig, block), bytes);
    return copy;
}

static struct ended run_alone(const struct training_case *c)
{
    struct run run;
    training_open(&run.rig, c, NULL, NADE_PRECISION_TF32);
    run_training(&run);
    support_assert_ok(run.rig.m.context, run.status);
    struct ended ended = {run.loss, copy_of_block(&run.rig, BLOCK_PARAMETERS), copy_of_block(&run.rig, BLOCK_MOMENT1)};
    training_close(&run.rig);
    return ended;
}

/* Two backends at once, each in a thread of its own, end like those that ran alone. */
static void check_two_at_once(const size_t *chosen)
{
    struct ended alone[2];
    struct run beside[2];
    pthread_t thread[2];
    for (size_t i = 0; i < 2; i++) alone[i] = run_alone(&training_cases[chosen[i]]);
    for (size_t i = 0; i < 2; i++) training_open(&beside[i].rig, &training_cases[chosen[i]], NULL, NADE_PRECISION_TF32);
    for (size_t i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_training, &beside[i]), 0);
    for (size_t i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (size_t i = 0; i < 2; i++) {
        size_t bytes = beside[i].rig.m.plan.parameters * sizeof(float);
        support_assert_ok(beside[i].rig.m.context, beside[i].status);
        assert_true(alone[i].loss == beside[i].loss);
        assert_memory_equal(training_block(&beside[i].rig, BLOCK_PARAMETERS), alone[i].parameters, bytes);
        assert_memory_equal(training_block(&beside[i].rig, BLOCK_MOMENT1), alone[i].moments, bytes);
        training_close(&beside[i].rig);
        free(alone[i].parameters);
        free(alone[i].moments);
    }
}

static void test_two_at_once(void **state)
{
    static const size_t chosen[][2] = {{1, 4},
                                       {CASE_BLOCK, CASE_BLOCK + 2},
                                       {CASE_BLOCK, CASE_BLOCK},
                                       {CASE_BLOCK_ADAM, CASE_BLOCK},
                                       {CASE_BLOCK + 1, 2},
                                       {CASE_CLIPPED, 2},
                                       {CASE_RESIDUAL, CASE_RESIDUAL_CLIPPED}};
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) check_two_at_once(chosen[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bytes_run_to_run),
        cmocka_unit_test(test_same_bytes_of_tuned_products),
        cmocka_unit_test(test_two_at_once),
    };
    int code = gpu_support_begin();
    if (code == 0) code = cmocka_run_group_tests_name("cuda same bytes", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
