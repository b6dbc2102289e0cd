/* The course of a run: what is validated and kept, when the rate falls, and that a resumed run takes the same course.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "binary_rows.h"

/* ---- averages --------------------------------------------------------------------------------------------------- */

/* With one column there is nothing to draw: the loss is that of the rows under the model that is saved. */
static void test_average_is_validated(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 400, rarely_one), *valid = binary_table(context, 50, rarely_one);
    nade_train_options o = small_options();
    o.iterations = 3;
    o.updates = 30;
    o.learning_rate = 0.05;
    double log_density[50], sum = 0;
    nade_model *plain = train(context, rows, valid, &o);
    o.average = 0.95;
    nade_model *model = train(context, rows, valid, &o);
    assert_true(model->record.options.average == 0.95);
    assert_memory_not_equal(model->parameters, plain->parameters, plain->plan.parameters * sizeof *plain->parameters);
    support_assert_ok(context, nade_score(context, model, valid, NULL, log_density, NULL, NULL));
    for (size_t row = 0; row < 50; row++) sum -= log_density[row] / 50;
    size_t best = model->record.best_iteration;
    support_assert_close("validation loss", model->record.history[best - 1].valid_loss, sum, 1e-6, 0);
    nade_model_free(model);
    nade_model_free(plain);
    nade_table_free(valid);
    nade_table_free(rows);
}

/* ---- when it ends ----------------------------------------------------------------------------------------------- */

/* Rows that say the opposite of the training rows: the first iteration is the best, and all later ones are worse.
   After four iterations without a better one the run goes back to the first, and its rate falls within
 * four more from what it was there to zero. */
static void test_cooldown(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 200, rarely_one), *valid = binary_table(context, 50, always_one);
    nade_train_options o = small_options();
    struct seen seen = {.stop_after = 0};
    o.iterations = 40;
    o.updates = 20;
    o.learning_rate = 0.01;
    o.progress = note_iteration;
    o.progress_user = &seen;
    nade_model *model = train(context, rows, valid, &o);
    assert_int_equal(model->record.best_iteration, 1);
    assert_int_equal(model->record.iterations_done, 9);
    assert_int_equal(seen.iterations, 9);
    assert_true(model->record.options.learning_rate == 0.01);
    const double first = 0.01 * (1 - 1.0 / 40);
    for (uint64_t i = 6; i <= 9; i++) /* of 80 updates it rises for 8; then after 12 of the 72 in which it falls, … */
        support_assert_close("rate", seen.rate[i], first * (1 - ((double)(i - 5) * 20 - 1 - 8) / 72), 1e-9, 0);
    /* The iteration at whose end it turns was made with the rate before. */
    support_assert_close("rate at the turn", seen.rate[5], 0.01 * (1 - 99.0 / 800), 1e-9, 0);
    nade_model_free(model);
    nade_table_free(valid);
    nade_table_free(rows);
}

/* Stopped before, at and after the turn, a run that is resumed ends with the same bytes. */
static void test_cooldown_is_resumed(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 200, rarely_one), *valid = binary_table(context, 50, always_one);
    char path[] = "/tmp/nade-cooldown-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    nade_train_options o = small_options();
    o.iterations = 40;
    o.updates = 20;
    nade_model *whole = train(context, rows, valid, &o);
    for (uint64_t stop = 3; stop <= 8; stop++) {
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
    remove(path);
    nade_model_free(whole);
    nade_table_free(valid);
    nade_table_free(rows);
}

/* ---- where it begins -------------------------------------------------------------------------------------------- */

/* The reports of a run up to its first iteration. */
struct begun {
    nade_progress start, first;
};

static int note_begin(void *user, const nade_progress *p)
{
    struct begun *begun = user;
    if (p->iteration_done && p->iteration == 0) begun->start = *p;
    if (p->iteration_done && p->iteration == 1) begun->first = *p;
    return 0;
}

/* A single column has nothing to learn beyond its marginal: every update leads away from it, and it is what is kept. */
static void check_start(nade_context *context, nade_train_options o)
{
    nade_table *rows = binary_table(context, 200, rarely_one), *valid = binary_table(context, 50, rarely_one);
    struct begun begun = {.start = {.iteration = 9}};
    double log_density[50];
    o.iterations = 40;
    o.updates = 20;
    o.progress = note_begin;
    o.progress_user = &begun;
    nade_model *model = train(context, rows, valid, &o);
    const struct training_record *r = &model->record;
    const double expected = -0.1 * log(0.1) - 0.9 * log(0.9);
    assert_int_equal(begun.start.iteration, 0);
    assert_true(begun.start.update == 0 && isnan(begun.start.train_loss));
    assert_true(begun.start.valid_loss == begun.start.best_valid_loss &&
                begun.start.start_loss == begun.start.valid_loss);
    support_assert_close("validation of the start", begun.start.valid_loss, expected, 1e-3, 0);
    assert_true(r->best_iteration == 0 && r->start_loss == begun.start.valid_loss);
    assert_true(begun.first.valid_loss > r->start_loss && r->history[0].valid_loss == begun.first.valid_loss);
    /* 4 iterations of waiting for a better one, 4 in which the rate falls. */
    assert_int_equal(r->iterations_done, 8);
    support_assert_ok(context, nade_score(context, model, valid, NULL, log_density, NULL, NULL));
    support_assert_close("density", -0.1 * log_density[0] - 0.9 * log_density[1], r->start_loss, 1e-6, 0);
    nade_model_free(model);
    nade_table_free(valid);
    nade_table_free(rows);
}

static void test_start_at_marginals(void **state)
{
    nade_train_options o = small_options();
    o.learning_rate = 0.05;
    o.start = NADE_START_MARGINALS;
    check_start(*state, o);
    o.average = 0.9;
    check_start(*state, o);
}

/* Stopped at iteration 0, before and after the turn, a run goes on to the same bytes. */
static void test_start_is_resumed(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 200, rarely_one), *valid = binary_table(context, 50, rarely_one);
    char path[] = "/tmp/nade-start-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    nade_train_options o = small_options();
    o.iterations = 40;
    o.updates = 20;
    o.warmup = 30;
    o.learning_rate = 0.05;
    o.start = NADE_START_MARGINALS;
    nade_model *whole = train(context, rows, valid, &o);
    assert_true(whole->record.best_iteration == 0 && whole->record.iterations_done == 8);
    for (uint64_t stop = 0; stop <= 7; stop++) {
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
    remove(path);
    nade_model_free(whole);
    nade_table_free(valid);
    nade_table_free(rows);
}

static int stop_at_once(void *user, const nade_progress *p)
{
    (void)user;
    (void)p;
    return 1;
}

/* Ended at the first report, a run has what it began with, which can be written and read. */
static void test_stopped_at_the_start(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 200, rarely_one);
    char path[] = "/tmp/nade-start-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    nade_train_options o = small_options();
    o.start = NADE_START_MARGINALS;
    o.progress = stop_at_once;
    nade_model *model = train(context, rows, NULL, &o), *read = NULL;
    assert_true(model->record.iterations_done == 0 && isfinite(model->record.start_loss));
    support_assert_ok(context, nade_model_save(context, model, path));
    support_assert_ok(context, nade_model_load(context, path, &read));
    assert_true(read->record.start_loss == model->record.start_loss);
    nade_model_free(read);
    nade_model_free(model);
    nade_table_free(rows);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_average_is_validated), cmocka_unit_test(test_cooldown),
        cmocka_unit_test(test_cooldown_is_resumed),  cmocka_unit_test(test_start_at_marginals),
        cmocka_unit_test(test_start_is_resumed),     cmocka_unit_test(test_stopped_at_the_start),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
