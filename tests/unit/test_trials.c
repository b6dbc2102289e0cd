/* Trials: validation chooses, only what is open is varied, and the model is that of a run with the chosen options, in
 * folds too. */
#include "train/trials.h"

#include "trial_fixture.h"

/* ---- the choice ------------------------------------------------------------------------------------------------- */

/* After a third of the run one is chosen, or what promises most and what has most go on to two thirds.  Returns whether
 * they do. */
static bool check_rungs(const struct heard *heard, uint64_t third)
{
    size_t most = 0, foremost = 0, chosen = heard->chosen - 1;
    for (size_t i = 1; i < heard->trials; i++) {
        if (promise(heard, i, third) < promise(heard, most, third)) most = i;
        if (heard->course[i][third] < heard->course[foremost][third]) foremost = i;
    }
    bool duel = most != foremost;
    assert_int_equal(heard->rungs, heard->trials + (duel ? 2 : 0));
    for (size_t i = 0; i < heard->trials; i++)
        assert_int_equal(heard->done[i], duel && (i == most || i == foremost) ? 2 * third : third);
    if (!duel) assert_int_equal(chosen, most);
    size_t other = chosen == most ? foremost : most;
    if (duel) assert_true(promise(heard, chosen, 2 * third) <= promise(heard, other, 2 * third));
    return duel;
}

/* What wins promises most, and the model is the one of that run alone. */
static double check_choice(struct fixture *f, const nade_table *table, const nade_table *valid,
                           const nade_train_options *options, bool duel)
{
    struct heard heard = {0}, alone = {0};
    nade_train_options o = *options;
    uint64_t third = o.iterations / 3;
    o.planned_user = o.progress_user = &heard;
    nade_model *model = train(f, table, valid, &o);
    assert_true(heard.trials == 5 && heard.chosen > 0);
    assert_int_equal(check_rungs(&heard, third), duel);
    double dropout = model->record.options.dropout;
    assert_true(dropout == heard.dropout[heard.chosen - 1]);
    o = chosen_options(&o, model);
    o.progress_user = o.planned_user = &alone;
    nade_model *same = train(f, table, valid, &o);
    assert_true(alone.trials == 0 && alone.chosen == 0);
    assert_same_file(f, model, same);
    assert_int_equal(heard.updates, alone.updates + (4 * third + third) * 20);
    nade_model_free(same);
    nade_model_free(model);
    return dropout;
}

static void test_validation_chooses(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = trial_options(NULL);
    assert_true(check_choice(f, f->few, f->few_valid, &o, false) > 0);
    assert_true(check_choice(f, f->many, f->many_valid, &o, false) < 0.5);
}

/* What has most and what promises most go on beside each other. */
static void test_duel(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = duel_options(NULL);
    (void)check_choice(f, f->many, f->many_valid, &o, true);
}

/* ---- what is varied --------------------------------------------------------------------------------------------- */

static size_t trials_of(struct fixture *f, const nade_train_options *o)
{
    return plan_of(f, f->many, f->many_valid, o).trials;
}

static void test_only_open_options_are_varied(void **state)
{
    static const size_t hidden[] = {9};
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options usual = trial_options(&heard), o = usual;
    assert_int_equal(trials_of(f, &o), 5);
    o.dropout = 0.3;
    assert_int_equal(trials_of(f, &o), 2); /* with the direct path and without */
    o.direct = 1;
    assert_int_equal(trials_of(f, &o), 0);
    o = usual;
    o.direct = 1;
    assert_int_equal(trials_of(f, &o), 4);
    o = usual;
    o.effort = NADE_EFFORT_QUICK;
    assert_int_equal(trials_of(f, &o), 0);
    o.effort = NADE_EFFORT_BEST;
    assert_int_equal(trials_of(f, &o), 9); /* the width is given */
    o.width = 0;
    assert_int_equal(trials_of(f, &o), 11);
    o.weight_decay = 0.2;
    assert_int_equal(trials_of(f, &o), 10);
    o = usual;
    o.width = 0;
    o.hidden = hidden;
    o.layers = 1;
    assert_int_equal(trials_of(f, &o), 0);
    o = usual;
    o.valid_fraction = 0;
    assert_int_equal(plan_of(f, f->many, NULL, &o).trials, 0);
}

static void test_given_dropout_stays(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options o = trial_options(&heard);
    o.dropout = 0.3;
    nade_model *model = train(f, f->many, f->many_valid, &o);
    assert_true(heard.trials == 2 && heard.dropout[0] == 0.3 && heard.dropout[1] == 0.3);
    assert_true(model->record.options.dropout == 0.3 && heard.chosen > 0);
    nade_model_free(model);
}

/* Eleven of them, two of twice the width, and what they take is said. */
static void test_best_tries_more(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options o = trial_options(&heard);
    nade_context_options options;
    nade_context *context = NULL;
    nade_model *model = NULL;
    o.effort = NADE_EFFORT_BEST;
    o.width = 0;
    o.iterations = o.updates = 1;
    uint64_t all = plan_of(f, f->many, f->many_valid, &o).memory;
    o.effort = NADE_EFFORT_QUICK;
    uint64_t one = plan_of(f, f->many, f->many_valid, &o).memory;
    assert_in_range(all, 11 * one, 24 * one);
    nade_context_options_init(&options, sizeof options);
    options.max_memory = (size_t)(all + all / 10); /* what is said is about what it takes */
    options.threads = 1;
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    o.effort = NADE_EFFORT_BEST;
    support_assert_ok(context, nade_train(context, f->many, f->many_valid, &o, &model));
    assert_true(heard.trials == 11 && heard.chosen > 0 && model->record.options.effort == NADE_EFFORT_BEST);
    assert_true(model->plan.hidden[0] == 128 || model->plan.hidden[0] == 256);
    nade_model_free(model);
    nade_context_free(context);
}

/* ---- folds ------------------------------------------------------------------------------------------------------ */

static void test_trials_in_folds(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0}, alone = {0};
    nade_train_options o = trial_options(&heard);
    nade_table *table = table_of(f->context, 0, 500, NARROW, exact);
    o.folds = 3;
    nade_model *model = train(f, table, NULL, &o);
    assert_true(heard.trials == 5 && heard.chosen > 0 && heard.folds == 3);
    (void)check_rungs(&heard, 8);
    o = chosen_options(&o, model);
    o.progress_user = o.planned_user = &alone;
    nade_model *same = train(f, table, NULL, &o);
    assert_same_file(f, model, same);
    assert_int_equal(heard.updates, alone.updates + 3 * (4 * 8 + 8) * 20);
    nade_model_free(same);
    nade_model_free(model);
    nade_table_free(table);
}

static size_t folds_of(struct fixture *f, uint32_t rows, const nade_train_options *o)
{
    nade_table *table = table_of(f->context, 0, rows, NARROW, exact);
    size_t folds = plan_of(f, table, NULL, o).folds;
    nade_table_free(table);
    return folds;
}

static void test_few_rows_have_folds(void **state)
{
    static const size_t hidden[] = {9}, given[] = {offsetof(nade_train_options, valid_fraction)};
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options usual = trial_options(&heard), o = usual;
    assert_int_equal(folds_of(f, 499, &o), 5);
    assert_int_equal(folds_of(f, 500, &o), 0);
    assert_int_equal(folds_of(f, 10, &o), 5);
    assert_int_equal(folds_of(f, 9, &o), 0);
    o.folds = 4;
    assert_int_equal(folds_of(f, 499, &o), 4);
    o = usual;
    o.effort = NADE_EFFORT_QUICK;
    assert_int_equal(folds_of(f, 499, &o), 0);
    o = usual;
    o.valid_fraction = 0.2;
    assert_int_equal(folds_of(f, 499, &o), 0);
    o = usual;
    o.given = given;
    o.given_count = 1;
    assert_int_equal(folds_of(f, 499, &o), 0);
    o = usual;
    o.width = 0;
    o.hidden = hidden;
    o.layers = 1;
    assert_int_equal(folds_of(f, 499, &o), 0);
    o = usual;
    o.checkpoint = "checkpoint";
    assert_int_equal(folds_of(f, 499, &o), 0);
    assert_int_equal(plan_of(f, f->few, f->few_valid, &usual).folds, 0);
    /* Rows without a cell do not count. */
    double values[20];
    nade_table *table = NULL;
    for (size_t i = 0; i < 20; i++) values[i] = i < 9 ? (double)(i % 2) : NAN;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, 20, 1, NULL, &table));
    assert_int_equal(plan_of(f, table, NULL, &usual).folds, 0);
    nade_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duel),
        cmocka_unit_test(test_validation_chooses),
        cmocka_unit_test(test_only_open_options_are_varied),
        cmocka_unit_test(test_given_dropout_stays),
        cmocka_unit_test(test_best_tries_more),
        cmocka_unit_test(test_trials_in_folds),
        cmocka_unit_test(test_few_rows_have_folds),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
