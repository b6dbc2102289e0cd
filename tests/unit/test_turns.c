/* What a run goes on with when it goes back to its best parameters, and the learning rates of its updates. */
#include <math.h>
#include <string.h>

#include "backend/optimizer.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "train/run.h"

enum { ROWS = 60, COLUMNS = 4 };

struct fixture {
    nade_context *context;
    nade_table *table;
    struct run run;
};

static const size_t hidden[] = {6};

static void open_run(struct fixture *f, nade_optimizer optimizer, double average)
{
    double values[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++) values[i] = (i * 7 + i / 5) % 3 == 0;
    memset(f, 0, sizeof *f);
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &f->table));
    f->run.context = f->context;
    f->run.arena.allocator = f->context->allocator;
    f->run.model = nd_model_create(f->context);
    nade_train_options *o = &f->run.options;
    nade_train_options_init(o, sizeof *o);
    f->run.replication = support_replication();
    o->replication = &f->run.replication;
    o->hidden = hidden;
    o->layers = 1;
    o->iterations = 40;
    o->updates = 10;
    o->batch = 20;
    o->learning_rate = 0.01;
    o->optimizer = optimizer;
    o->average = average;
    o->schedule = NADE_COSINE;
    o->warmup = 30;
    support_assert_ok(f->context, nd_run_prepare(&f->run, f->table, NULL));
    support_assert_ok(f->context, nd_stage_begin(&f->run, NULL, NULL));
}

static void close_run(struct fixture *f)
{
    nd_stage_end(&f->run);
    nade_model_free(f->run.model);
    nd_arena_free(&f->run.arena);
    nade_table_free(f->table);
    nade_context_free(f->context);
}

static float *block_of(struct fixture *f, enum block block)
{
    float *values = nd_arena_alloc(&f->run.arena, f->run.plan.parameters, sizeof *values);
    assert_non_null(values);
    support_assert_ok(f->context, f->run.entries->get_block(f->context, f->run.backend, block, values));
    return values;
}

/* Ten iterations of which the second was the best: its turn comes after 2 + 4 of them. */
static void go_back(struct fixture *f)
{
    struct run *run = &f->run;
    struct history_entry history[6] = {{5, 5}, {4, 4}, {3, 5}, {3, 5}, {3, 5}, {3, 5}};
    double loss;
    uint64_t failed;
    support_assert_ok(f->context,
                      run->entries->train_updates(f->context, run->backend, &run->rule, 0, 60, &loss, &failed));
    run->history = history;
    run->iteration = 5;
    run->update = 50;
    run->best_iteration = 2;
    run->best_loss = 4;
    support_assert_ok(f->context, nd_turn_after_iteration(run));
    assert_true(run->fall_from == 0 && nd_soonest_end(run) == 2 + 4 + 5);
    run->iteration = 6;
    run->update = 60;
    support_assert_ok(f->context, nd_turn_after_iteration(run));
    assert_int_equal(run->fall_from, 6);
    assert_true(run->iterations == 11 && nd_soonest_end(run) == 11);
}

static void check_return(nade_optimizer optimizer, double average)
{
    struct fixture f;
    open_run(&f, optimizer, average);
    const struct run *run = &f.run;
    const struct update_rule first = run->rule;
    size_t bytes = run->plan.parameters * sizeof(float);
    support_random_parameters(&run->plan, 7, run->best);
    go_back(&f);
    assert_memory_equal(block_of(&f, BLOCK_PARAMETERS), run->best, bytes);
    if (average > 0) assert_memory_equal(block_of(&f, BLOCK_AVERAGE), run->best, bytes);
    for (int block = BLOCK_MOMENT1; block <= BLOCK_MOMENT2; block++) {
        const float *moment = block_of(&f, (enum block)block);
        for (size_t i = 0; i < run->plan.parameters; i++) assert_true(moment[i] == 0);
    }
    /* Steps are those of a run that begins here, but for their rate. */
    struct step_rates begun = nd_step_rates(&run->rule, 60), fresh = nd_step_rates(&first, 0);
    assert_true(begun.correction1 == fresh.correction1 && begun.correction2 == fresh.correction2);
    assert_true(begun.fresh == fresh.fresh);
    /* Of the fall's 50 updates the rate rises for five to what it was after the best iteration. */
    support_assert_close("first rate", begun.rate, nd_rate(&first, 20) / 5, 1e-15, 0);
    assert_true(nd_rate(&run->rule, 64) == nd_rate(&first, 20) && nd_rate(&run->rule, 65) == nd_rate(&first, 20));
    assert_true(nd_rate(&run->rule, 66) < nd_rate(&first, 20));
    /* What is reported of the last update is the rate that it had. */
    assert_true(nd_last_rate(run) == nd_rate(&first, 59));
    f.run.update = 61;
    assert_true(nd_last_rate(run) == begun.rate);
    close_run(&f);
}

static void test_moments_begin_anew(void **state)
{
    (void)state;
    check_return(NADE_ADAM, 0);
    check_return(NADE_ADAM, 0.9);
    check_return(NADE_NAG, 0);
}

/* By hand: up within four updates, then down to zero at the end of twelve. */
static void test_rates(void **state)
{
    const double pi = 3.14159265358979323846;
    struct update_rule rule = {.learning_rate = 2, .warmup = 4, .begin = 100, .total_updates = 112};
    (void)state;
    for (uint64_t u = 0; u < 4; u++) support_assert_close("rise", nd_rate(&rule, 100 + u), 0.5 * (double)(u + 1), 0, 0);
    for (uint64_t u = 4; u < 12; u++)
        support_assert_close("fall", nd_rate(&rule, 100 + u), 2 * (1 - (double)(u - 4) / 8), 1e-15, 0);
    rule.schedule = NADE_COSINE;
    for (uint64_t u = 4; u < 12; u++)
        support_assert_close("cosine", nd_rate(&rule, 100 + u), 1 + cos(pi * (double)(u - 4) / 8), 1e-14, 0);
    rule.warmup = 0;
    assert_true(nd_rate(&rule, 100) == 2 && nd_rate(&rule, 106) < 1.0000001 && nd_rate(&rule, 111) < 0.04);
}

/* A rise that is longer than half of the run is half of it. */
static void test_warmup_is_bounded(void **state)
{
    struct fixture f;
    (void)state;
    open_run(&f, NADE_ADAM, 0);
    assert_true(f.run.rule.warmup == 30 && f.run.rule.schedule == NADE_COSINE && f.run.rule.begin == 0);
    f.run.options.warmup = 1000;
    nd_fill_rule(&f.run);
    assert_true(f.run.rule.warmup == 200);
    close_run(&f);
}

/* Without cooldown, patience is what may end a run; without either nothing does. */
static void test_soonest_end(void **state)
{
    struct fixture f;
    (void)state;
    open_run(&f, NADE_ADAM, 0);
    struct run *run = &f.run;
    run->best_iteration = 7;
    run->iteration = 8;
    assert_true(nd_soonest_end(run) == 7 + 5 + 7);
    run->best_iteration = 30; /* too late to turn */
    assert_true(nd_soonest_end(run) == 40);
    run->options.patience = 3;
    assert_true(nd_soonest_end(run) == 33);
    run->options.patience = 0;
    run->options.cooldown = 0;
    assert_true(nd_soonest_end(run) == 40);
    close_run(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_moments_begin_anew), cmocka_unit_test(test_rates),
                                       cmocka_unit_test(test_warmup_is_bounded), cmocka_unit_test(test_soonest_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
