/* The first 100 updates on the CUDA backend against the CPU's, rows that change under way, runs that go on, and
 * averages. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "support/cmocka_all.h"
#include "training_cases.h"

/* ---- the first updates --------------------------------------------------------------------------------------------
 */

/* Losses of single updates.  Roundings grow from update to update; in float the contract is 1e-4 over the first 100.
 * The coarser precisions see the same rows and masks, so a loss stays near; their share here is what one may expect of
 * a batch's loss with parameters that are off by a few roundings. */
static const double trace_tolerance[] = {5e-6, 1.3e-2, 2.1e-2};

/* Lion steps by signs, which roundings may turn: each that turns moves a parameter by twice the rate. */
static const double lion_tolerance[] = {6e-8, 4.1e-4, 6.1e-4};

static void compare_losses(const struct training_case *c, const struct gpu_precision *p, double tolerance,
                           const double *found, const double *expected)
{
    char words[GPU_WORDS];
    gpu_describe(&c->plan, p->name, words);
    for (size_t u = 0; u < UPDATES; u++) {
        double error = fabs(found[u] - expected[u]) / fabs(expected[u]);
        gpu_note(c->rule.optimizer == NADE_LION ? "losses of 100 updates, lion" : "losses of 100 updates", p->name,
                 error, tolerance);
        if (error <= tolerance) continue;
        fail_msg("%s, update %zu: loss %.9g, the CPU's %.9g, off by %.3g, allowed %.3g", words, u, found[u],
                 expected[u], error, tolerance);
    }
}

static void run_updates(struct training_rig *rig, double *loss)
{
    uint64_t failed;
    for (uint64_t u = 0; u < UPDATES; u++)
        support_assert_ok(rig->m.context, training_run(rig, &rig->c->rule, u, 1, &loss[u], &failed));
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i];
    return sum / (double)count;
}

/* What an update would find if those before it had changed nothing. */
static double untrained_loss(const struct training_case *c, uint64_t update)
{
    struct training_rig rig;
    double loss = NAN;
    uint64_t failed;
    training_open(&rig, c, &nd_cpu_entries, NADE_PRECISION_AUTO);
    support_assert_ok(rig.m.context, training_run(&rig, &c->rule, update, 1, &loss, &failed));
    training_close(&rig);
    return loss;
}

static void check_updates(const struct training_case *c)
{
    struct training_rig cpu;
    double expected[UPDATES], found[UPDATES], mean = NAN;
    bool lion = c->rule.optimizer == NADE_LION;
    training_open(&cpu, c, &nd_cpu_entries, NADE_PRECISION_AUTO);
    run_updates(&cpu, expected);
    /* Something was learnt: a backend whose updates change nothing is noticed. */
    assert_true(fabs(untrained_loss(c, UPDATES - 1) - expected[UPDATES - 1]) > 2e-3 * fabs(expected[UPDATES - 1]));
    training_close(&cpu);
    for (size_t i = 0; i < gpu_precision_count(); i++) {
        struct training_rig single, whole;
        uint64_t failed = 0;
        training_open(&single, c, NULL, gpu_precisions[i].precision);
        run_updates(&single, found);
        compare_losses(c, &gpu_precisions[i], (lion ? lion_tolerance : trace_tolerance)[i], found, expected);
        /* All in one call: the same mean, the same bytes. */
        training_open(&whole, c, NULL, gpu_precisions[i].precision);
        support_assert_ok(whole.m.context, training_run(&whole, &c->rule, 0, UPDATES, &mean, &failed));
        support_assert_close("mean loss", mean, mean_of(found, UPDATES), 1e-12, 0);
        training_assert_same(&single, &whole);
        training_close(&single);
        training_close(&whole);
    }
}

static void test_first_updates(void **state)
{
    (void)state;
    for (size_t i = 0; i < CASES; i++) check_updates(&training_cases[i]);
}

/* Drawn d that are spread over a batch: graphs, labels with holes, one block. */
static void test_stratified(void **state)
{
    static const size_t chosen[] = {0, 5, CASE_BLOCK};
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++) {
        struct training_case stratified = training_cases[chosen[i]];
        stratified.rule.stratify = true;
        check_updates(&stratified);
    }
}

/* ---- rows that change --------------------------------------------------------------------------------------------
 */

/* Two stretches of rows become others, with a hole where holes is true. */
static void change_rows(struct training_rig *rig, bool holes)
{
    size_t columns = rig->cells.columns, size = rig->c->kind == ENCODED_FLOATS ? sizeof(float) : 1;
    struct encoded_rows others = gpu_cells(&rig->m, &rig->c->plan, TABLE_ROWS, 32, rig->c->kind);
    char *to = (char *)rig->cells.data;
    for (size_t row = 0; row < TABLE_ROWS; row++)
        if ((row >= 100 && row < 250) || row >= 490)
            memcpy(to + row * columns * size, (const char *)others.data + row * columns * size, columns * size);
    if (holes) ((float *)rig->cells.data)[200 * columns] = NAN;
}

static void copy_blocks(struct training_rig *from, struct training_rig *to)
{
    for (int block = BLOCK_PARAMETERS; block <= BLOCK_MOMENT2; block++)
        support_assert_ok(to->m.context, to->entries->set_block(to->m.context, to->backend, (enum block)block,
                                                                training_block(from, (enum block)block)));
}

/* Updates that were captured with the old rows go on with the new ones, as those of a backend that never had others. */
static void check_changed_rows(const struct training_case *c, bool holes, nade_precision precision)
{
    struct training_rig rig, fresh, same;
    double loss = NAN, expected = NAN, unchanged = NAN;
    uint64_t failed;
    training_open(&rig, c, NULL, precision);
    training_open(&fresh, c, NULL, precision);
    training_open(&same, c, NULL, precision);
    support_assert_ok(rig.m.context, training_run(&rig, &c->rule, 0, 41, &loss, &failed));
    copy_blocks(&rig, &fresh);
    copy_blocks(&rig, &same);
    change_rows(&rig, holes);
    support_assert_ok(rig.m.context, rig.entries->set_rows(rig.m.context, rig.backend, DATA_TRAIN, 100, 150));
    support_assert_ok(rig.m.context, rig.entries->set_rows(rig.m.context, rig.backend, DATA_TRAIN, 490, 10));
    change_rows(&fresh, holes);
    support_assert_ok(fresh.m.context,
                      fresh.entries->set_data(fresh.m.context, fresh.backend, DATA_TRAIN, &fresh.cells));
    support_assert_ok(rig.m.context, training_run(&rig, &c->rule, 41, 41, &loss, &failed));
    support_assert_ok(fresh.m.context, training_run(&fresh, &c->rule, 41, 41, &expected, &failed));
    support_assert_ok(same.m.context, training_run(&same, &c->rule, 41, 41, &unchanged, &failed));
    assert_true(loss == expected && loss != unchanged);
    training_assert_same(&rig, &fresh);
    training_close(&rig);
    training_close(&fresh);
    training_close(&same);
}

static void test_changed_rows(void **state)
{
    static const struct {
        size_t number;
        bool holes;
    } chosen[] = {{0, false},
                  {1, false},
                  {2, false},
                  {2, true},
                  {3, false},
                  {13, false},
                  {14, false},
                  {CASE_BLOCK, false},
                  {CASE_BLOCK, true},
                  {CASE_BLOCK + 2, false},
                  {CASE_CLIPPED, false},
                  {CASE_RESIDUAL, false}};
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_changed_rows(&training_cases[chosen[i].number], chosen[i].holes, gpu_precisions[p].precision);
}

/* ---- going on ---------------------------------------------------------------------------------------------------- */

/* Blocks that were fetched and set in another backend go on to the same bytes; so does a backend whose updates were
 * captured for another dropout. */
static void check_going_on(const struct training_case *c, nade_precision precision)
{
    struct training_rig rig, fresh;
    struct update_rule other = c->rule;
    double loss = NAN, expected = NAN;
    uint64_t failed;
    other.dropout = c->rule.dropout > 0 ? 0.7 : 0;
    training_open(&rig, c, NULL, precision);
    training_open(&fresh, c, NULL, precision);
    support_assert_ok(rig.m.context, training_run(&rig, &c->rule, 0, 41, &loss, &failed));
    copy_blocks(&rig, &fresh);
    support_assert_ok(rig.m.context, training_run(&rig, &other, 41, 41, &loss, &failed));
    support_assert_ok(fresh.m.context, training_run(&fresh, &other, 41, 41, &expected, &failed));
    assert_true(loss == expected);
    training_assert_same(&rig, &fresh);
    training_close(&rig);
    training_close(&fresh);
}

static void test_going_on(void **state)
{
    static const size_t chosen[] = {1, CASE_RESCALED, CASE_RESIDUAL, CASE_RESIDUAL_CLIPPED, CASE_BLOCK};
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_going_on(&training_cases[chosen[i]], gpu_precisions[p].precision);
}

/* ---- averages ---------------------------------------------------------------------------------------------------- */

/* expected follows the parameters as docs/model.md says; the average follows expected. */
static void check_average_after(struct training_rig *rig, uint64_t update, double decay, double *expected)
{
    double kept = fmin(decay, (1 + (double)update) / (10 + (double)update));
    const float *parameters = training_block(rig, BLOCK_PARAMETERS), *average = training_block(rig, BLOCK_AVERAGE);
    for (size_t i = 0; i < rig->m.plan.parameters; i++) {
        expected[i] = kept * expected[i] + (1 - kept) * (double)parameters[i];
        support_assert_close("average", (double)average[i], expected[i], 1e-5, 1e-6);
    }
}

/* Update by update, then in one call as in graphs, then once more after the average was validated in the parameters'
 * place.  All else is as without an average, where that is trained in the same way. */
static void check_average(const struct training_case *c, nade_precision precision)
{
    enum { SINGLE = 25, ALL = 66 };
    struct training_case averaged = *c;
    struct training_rig rig, plain, whole;
    double loss = NAN;
    uint64_t failed;
    averaged.rule.average = 0.9;
    training_open(&rig, &averaged, NULL, precision);
    training_open(&plain, c, NULL, precision);
    training_open(&whole, &averaged, NULL, precision);
    double *expected = gpu_alloc(&rig.m, rig.m.plan.parameters, sizeof *expected);
    for (size_t i = 0; i < rig.m.plan.parameters; i++) expected[i] = (double)rig.m.parameters[i];
    for (uint64_t u = 0; u < SINGLE; u++) {
        support_assert_ok(rig.m.context, training_run(&rig, &averaged.rule, u, 1, &loss, &failed));
        check_average_after(&rig, u, 0.9, expected);
    }
    support_assert_ok(rig.m.context, training_run(&rig, &averaged.rule, SINGLE, ALL - SINGLE, &loss, &failed));
    support_assert_ok(plain.m.context, training_run(&plain, &c->rule, 0, ALL, &loss, &failed));
    support_assert_ok(whole.m.context, training_run(&whole, &averaged.rule, 0, ALL, &loss, &failed));
    training_assert_same(&rig, &whole);
    if (!c->rule.share_device) training_assert_same(&rig, &plain);
    const size_t bytes = rig.m.plan.parameters * sizeof(float);
    const float *average = training_block(&rig, BLOCK_AVERAGE), *parameters = training_block(&rig, BLOCK_PARAMETERS);
    assert_memory_equal(average, training_block(&whole, BLOCK_AVERAGE), bytes);
    support_assert_ok(rig.m.context, rig.entries->exchange(rig.m.context, rig.backend));
    assert_memory_equal(training_block(&rig, BLOCK_PARAMETERS), average, bytes);
    assert_memory_equal(training_block(&rig, BLOCK_AVERAGE), parameters, bytes);
    support_assert_ok(rig.m.context, rig.entries->set_data(rig.m.context, rig.backend, DATA_VALID, &rig.cells));
    support_assert_ok(plain.m.context,
                      plain.entries->set_data(plain.m.context, plain.backend, DATA_VALID, &plain.cells));
    support_assert_ok(plain.m.context,
                      plain.entries->set_block(plain.m.context, plain.backend, BLOCK_PARAMETERS, average));
    double found = NAN, direct = NAN;
    support_assert_ok(rig.m.context, rig.entries->validate(rig.m.context, rig.backend, 3, 2, &found));
    support_assert_ok(plain.m.context, plain.entries->validate(plain.m.context, plain.backend, 3, 2, &direct));
    if (!c->rule.share_device) assert_true(found == direct);
    support_assert_ok(rig.m.context, rig.entries->exchange(rig.m.context, rig.backend));
    support_assert_ok(rig.m.context, training_run(&rig, &averaged.rule, ALL, 21, &loss, &failed));
    support_assert_ok(whole.m.context, training_run(&whole, &averaged.rule, ALL, 21, &loss, &failed));
    training_assert_same(&rig, &whole);
    training_close(&rig);
    training_close(&plain);
    training_close(&whole);
}

static void test_average(void **state)
{
    static const size_t chosen[] = {
        0, 3, 5, 13, CASE_RESCALED, CASE_CLIPPED, CASE_RESIDUAL, CASE_RESIDUAL_CLIPPED, CASE_BLOCK, CASE_BLOCK_ADAM};
    (void)state;
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        for (size_t p = 0; p < gpu_precision_count(); p++)
            check_average(&training_cases[chosen[i]], gpu_precisions[p].precision);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_updates), cmocka_unit_test(test_stratified), cmocka_unit_test(test_changed_rows),
        cmocka_unit_test(test_going_on),      cmocka_unit_test(test_average),
    };
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    int code = gpu_support_begin();
    if (code == 0) code = cmocka_run_group_tests_name("cuda training", tests, NULL, NULL);
    gpu_print_notes();
    return code;
}
