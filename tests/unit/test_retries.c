/* Runs that diverge, and runs that end below their first validation, go back to their best parameters and on with a
 * third of the rate: what they say, when they give up, and that a resumed run does the same. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "binary_rows.h"
#include "column_fixture.h"
#include "support/model_support.h"

/* A rate with which nothing stays finite for long; a third of a third … of it does. */
static nade_train_options wild_options(void)
{
    nade_train_options o = small_options();
    o.optimizer = NADE_NAG;
    o.learning_rate = 1e6;
    o.iterations = 6;
    o.updates = 20;
    o.cooldown = 0;
    o.retries = 20;
    return o;
}

static nade_table *real_table(nade_context *context)
{
    double values[150];
    nade_table *table = NULL;
    for (uint32_t i = 0; i < 150; i++) values[i] = (double)nd_random_uniform(nd_random_word(6, PURPOSE_SPLIT, i, 0, 0));
    support_assert_ok(context, nade_table_from_array(context, values, 50, 3, NULL, &table));
    return table;
}

/* Stopped after each iteration and resumed, a run ends in the same bytes. */
static void check_resumed(nade_context *context, const nade_table *rows, const nade_table *valid, nade_train_options o,
                          const nade_model *whole)
{
    char *folder = model_support_folder(), path[200];
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    for (uint64_t stop = 1; stop < whole->record.iterations_done; stop++) {
        struct seen seen = {.stop_after = stop};
        o.checkpoint = path;
        o.resume = NULL;
        o.progress = note_iteration;
        o.progress_user = &seen;
        nade_model_free(train(context, rows, valid, &o));
        o.resume = path;
        o.progress = NULL;
        nade_model *resumed = train(context, rows, valid, &o);
        assert_string_equal(nade_model_description(resumed), nade_model_description(whole));
        assert_memory_equal(resumed->parameters, whole->parameters, whole->plan.parameters * sizeof *whole->parameters);
        nade_model_free(resumed);
    }
    model_support_remove_folder(folder);
}

static void test_divergence(void **state)
{
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    nade_table *rows = real_table(context);
    nade_train_options o = wild_options();
    (void)state;
    heard.count = 0;
    nade_model *model = train(context, rows, NULL, &o);
    assert_true(model->record.retried >= 2 && heard.count == model->record.retried);
    assert_non_null(strstr(heard.last, "is not finite (tensor "));
    assert_non_null(strstr(heard.last, "a third of the learning rate"));
    assert_int_equal(model->record.iterations_done, 6);
    for (size_t i = 0; i < 6; i++) assert_true(isfinite(model->record.history[i].valid_loss));
    o.average = 0.9;
    o.start = NADE_START_MARGINALS;
    o.optimizer = NADE_ADAM;
    nade_model *averaged = train(context, rows, NULL, &o);
    assert_true(averaged->record.retried >= 2);
    check_resumed(context, rows, NULL, o, averaged);
    nade_model_free(averaged);
    nade_model_free(model);
    nade_table_free(rows);
    nade_context_free(context);
}

/* Resumed where the rate had been lowered in later iterations too. */
static void test_divergence_is_resumed(void **state)
{
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    nade_table *rows = real_table(context);
    nade_train_options o = wild_options();
    (void)state;
    nade_model *whole = train(context, rows, NULL, &o);
    check_resumed(context, rows, NULL, o, whole);
    nade_model_free(whole);
    nade_table_free(rows);
    nade_context_free(context);
}

/* Without retries, and after the last of them, it is an error as ever. */
static void test_no_more_retries(void **state)
{
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    nade_table *rows = real_table(context);
    nade_train_options o = wild_options();
    nade_model *model = NULL;
    (void)state;
    for (o.retries = 0; o.retries < 2; o.retries++) {
        heard.count = 0;
        assert_int_equal(nade_train(context, rows, NULL, &o, &model), NADE_NOT_FINITE);
        assert_null(model);
        assert_int_equal(heard.count, o.retries);
        assert_non_null(strstr(nade_last_error(context), "training diverged: the loss at update "));
    }
    assert_non_null(strstr(nade_last_error(context), "a lower learning rate than 333333"));
    nade_table_free(rows);
    nade_context_free(context);
}

/* Rows that say the opposite of the training rows: every update makes it worse, whatever the rate. */
static void test_bad_end(void **state)
{
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    nade_table *rows = binary_table(context, 200, rarely_one), *valid = binary_table(context, 50, always_one);
    nade_train_options o = small_options();
    struct seen seen = {.stop_after = UINT64_MAX};
    (void)state;
    o.iterations = 40;
    o.updates = 20;
    o.learning_rate = 0.01;
    o.retries = 2;
    o.progress = note_iteration;
    o.progress_user = &seen;
    nade_model *model = train(context, rows, valid, &o);
    /* Back after 5 iterations, and twice more when the 4 have ended in which the rate fell. */
    assert_true(model->record.best_iteration == 1 && model->record.iterations_done == 17);
    assert_int_equal(model->record.retried, 2);
    assert_int_equal(heard.count, 2);
    assert_non_null(strstr(heard.last, "goes back to iteration 1, its best"));
    const double first = 0.01 * (1 - 1.0 / 40);
    for (uint64_t turn = 0; turn < 3; turn++)
        support_assert_close("rate", seen.rate[6 + 4 * turn], first / pow(3, (double)turn) * (1 - 11.0 / 72), 1e-9, 0);
    o.progress = NULL;
    check_resumed(context, rows, valid, o, model);
    nade_model_free(model);
    /* Of a run that patience ends, and of one whose length is given. */
    o.retries = 1;
    o.patience = 3;
    model = train(context, rows, valid, &o);
    assert_int_equal(model->record.iterations_done, 1 + 3 + 3);
    check_resumed(context, rows, valid, o, model);
    nade_model_free(model);
    o.patience = 0;
    o.cooldown = 0;
    o.iterations = 6;
    model = train(context, rows, valid, &o);
    assert_int_equal(model->record.iterations_done, 6 + 4);
    check_resumed(context, rows, valid, o, model);
    nade_model_free(model);
    nade_table_free(valid);
    nade_table_free(rows);
    nade_context_free(context);
}

/* A run that ends above its first validation does not go back. */
static void test_good_end(void **state)
{
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    nade_table *rows = binary_table(context, 200, rarely_one);
    nade_train_options o = small_options();
    (void)state;
    nade_model *plain = train(context, rows, NULL, &o);
    o.retries = 3;
    nade_model *model = train(context, rows, NULL, &o);
    assert_int_equal(model->record.retried, 0);
    assert_memory_equal(model->parameters, plain->parameters, plain->plan.parameters * sizeof *plain->parameters);
    nade_model_free(model);
    nade_model_free(plain);
    nade_table_free(rows);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_divergence), cmocka_unit_test(test_divergence_is_resumed),
                                       cmocka_unit_test(test_no_more_retries), cmocka_unit_test(test_bad_end),
                                       cmocka_unit_test(test_good_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
