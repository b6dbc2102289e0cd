/* What becomes of trials that are stopped, run out of time or diverge, and what a checkpoint and a report know of them.
 */
#include "trial_fixture.h"

/* ---- early ends ------------------------------------------------------------------------------------------------- */

/* Stopped after an iteration of the second trial, all of them end with that iteration, and the model is that of the
 * best. */
static void test_stop(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {.stop_trial = 2, .stop_iteration = 2}, alone = {0};
    nade_train_options o = trial_options(&heard);
    nade_model *model = train(f, f->many, f->many_valid, &o);
    assert_true(heard.chosen > 0 && heard.rungs == 0 && heard.reports_after == 0);
    for (size_t i = 0; i < 5; i++) assert_true(heard.loss[heard.chosen - 1] <= heard.loss[i]);
    assert_true(model->record.iterations_done == 2);
    o = chosen_options(&o, model);
    struct support_stopper stopper = {0, 3}; /* iteration 0 is one */
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    o.planned_user = &alone;
    nade_model *same = train(f, f->many, f->many_valid, &o);
    model_support_compare(model, same);
    nade_model_free(same);
    nade_model_free(model);
    /* Where a rung ends what another promises does not count. */
    heard = (struct heard){.stop_trial = 1, .stop_iteration = 12};
    o = duel_options(&heard);
    nade_model_free(train(f, f->many, f->many_valid, &o));
    for (size_t i = 0; i < 5; i++) assert_true(heard.loss[heard.chosen - 1] <= heard.loss[i]);
    /* Before anything was learnt. */
    heard = (struct heard){.stop_trial = 1, .stop_iteration = 0};
    o = trial_options(&heard);
    model = train(f, f->many, f->many_valid, &o);
    assert_true(heard.chosen == 1 && model->record.best_iteration == 0);
    nade_model_free(model);
}

/* Where the caller wants an end in the middle of an iteration, and what is told after that. */
struct middle {
    struct heard heard;
    bool wanted;
    size_t finished; /* iterations that ended then */
};

enum { LONG_ITERATION = 150 };

static int stop_in_the_middle(void *user, const nade_progress *p)
{
    struct middle *middle = user;
    middle->finished += middle->wanted && p->trial > 0 && p->iteration_done;
    middle->wanted |= p->trial > 0 && p->iteration == 1 && !p->iteration_done && p->update % LONG_ITERATION > 0;
    return middle->wanted;
}

/* Then no candidate of those in folds has made it. */
static void test_stop_within_an_iteration(void **state)
{
    struct fixture *f = *state;
    struct middle middle = {.wanted = false};
    nade_train_options o = trial_options(&middle.heard);
    o.updates = LONG_ITERATION;
    o.progress = stop_in_the_middle;
    o.progress_user = &middle;
    o.folds = 2;
    nade_model_free(train(f, f->many, NULL, &o));
    assert_true(middle.wanted);
    assert_int_equal(middle.finished, 0);
}

/* Trials that would take for ever leave two thirds of the time to what was best. */
static void test_time_limit(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options o = trial_options(&heard);
    o.iterations = 10000000;
    o.cooldown = 0;
    o.time_limit = 1.5;
    nade_model_free(train(f, f->many, f->many_valid, &o));
    assert_true(heard.chosen > 0 && heard.rungs == 0 && heard.reports_after > 0);
    assert_true(heard.chosen_seconds >= 0.5 && heard.chosen_seconds < 1.5);
    heard = (struct heard){0};
    o.time_limit = 0.4;
    o.folds = 3;
    nade_model_free(train(f, f->many, NULL, &o));
    assert_true(heard.chosen > 0 && heard.rungs == 0);
}

/* Where time ends the first rung, those that had their part of it are not better for that: the usual one goes on. */
static void test_time_within_a_rung(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {.late_trial = 3, .late_iteration = 7};
    nade_train_options o = trial_options(&heard);
    o.time_limit = 6;
    nade_model_free(train(f, f->few, f->few_valid, &o));
    assert_int_equal(heard.chosen, 1);
}

/* Where time ends a duel, what promised most before it goes on. */
static void test_time_within_a_duel(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {.late_trial = 1, .late_iteration = 20};
    nade_train_options o = duel_options(&heard);
    o.time_limit = 6;
    nade_model_free(train(f, f->many, f->many_valid, &o));
    assert_int_equal(heard.rungs, 5);
    for (size_t i = 0; i < 5; i++) assert_true(promise(&heard, heard.chosen - 1, 12) <= promise(&heard, i, 12));
    assert_true(heard.course[0][12] < heard.course[heard.chosen - 1][12]);
}

/* An iteration that time ends in its middle counts, and the next goes on from there. */
static void test_time_within_an_iteration(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options o = trial_options(&heard);
    o.updates = 10000000;
    o.time_limit = 0.6;
    nade_model *model = train(f, f->many, f->many_valid, &o);
    assert_int_equal(heard.chosen, 1);
    assert_int_equal(model->record.iterations_done, heard.tried + (heard.chosen_seconds < 0.6));
    nade_model_free(model);
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

/* A checkpoint knows what was chosen; nothing is tried again. */
static void test_checkpoint(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0}, again = {0};
    char *folder = model_support_folder(), path[200];
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    nade_train_options o = trial_options(&heard), rest;
    o.iterations = 8;
    o.checkpoint = path;
    nade_model *model = train(f, f->few, f->few_valid, &o);
    assert_true(heard.chosen > 0);
    nade_train_options_init(&rest, sizeof rest);
    rest.device = NADE_DEVICE_CPU;
    rest.resume = path;
    rest.planned = hear_plan;
    rest.progress = hear;
    rest.planned_user = rest.progress_user = &again;
    nade_model *resumed = train(f, f->few, f->few_valid, &rest);
    assert_true(again.trials == 0 && again.chosen == 0);
    model_support_compare(resumed, model);
    nade_model_free(resumed);
    nade_model_free(model);
    /* While trials run there is none. */
    remove(path);
    heard = (struct heard){.stop_trial = 3, .stop_iteration = 1};
    nade_model_free(train(f, f->few, f->few_valid, &o));
    assert_int_equal(model_support_entries(folder), 0);
    model_support_remove_folder(folder);
}

static void note_warning(void *user, const char *warning)
{
    (void)warning;
    ++*(size_t *)user;
}

/* A candidate that diverges, as a direct path does whose decay is above 2 / rate, is out; all of them are an error. */
static void test_divergence(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options o = trial_options(&heard);
    nade_context_options options;
    nade_context *context = NULL;
    nade_model *model = NULL;
    size_t warnings = 0;
    nade_context_options_init(&options, sizeof options);
    options.warn = note_warning;
    options.warn_user = &warnings;
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    o.direct_decay = 1e6;
    support_assert_ok(context, nade_train(context, f->many, f->many_valid, &o, &model));
    assert_true(warnings == 1 && heard.chosen > 0 && heard.chosen != 4 && heard.done[3] == 0 && heard.rungs == 4);
    nade_model_free(model);
    nade_context_free(context);
    o = trial_options(&heard);
    model = NULL;
    heard = (struct heard){0};
    o.optimizer = NADE_NAG;
    o.learning_rate = 1e6;
    assert_int_equal(nade_train(f->context, f->many, f->many_valid, &o, &model), NADE_NOT_FINITE);
    assert_non_null(strstr(nade_last_error(f->context), "training diverged"));
}

static void test_longer_would_help(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options o = trial_options(&heard);
    o.iterations = 8;
    nade_model_free(train(f, f->many, f->many_valid, &o));
    assert_true(heard.longer);
    o.iterations = 60;
    nade_model_free(train(f, f->few, f->few_valid, &o));
    assert_false(heard.longer);
    o.iterations = 8;
    o.folds = 2;
    heard = (struct heard){0};
    nade_model_free(train(f, f->many, NULL, &o));
    assert_true(heard.longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_within_an_iteration),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_time_within_a_rung),
        cmocka_unit_test(test_time_within_a_duel),
        cmocka_unit_test(test_time_within_an_iteration),
        cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_longer_would_help),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
