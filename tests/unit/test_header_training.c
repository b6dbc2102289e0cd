/* What the public header says of a training's reports and of the ways it ends. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"
#include "support/work_support.h"

enum { REPORTS_MOST = 1000, PRETRAIN = 2, ITERATIONS = 3, UPDATES = 60 };

struct listener {
    nade_progress report[REPORTS_MOST];
    size_t count;
    pthread_t caller;
};

static int listen(void *user, const nade_progress *report)
{
    struct listener *listener = user;
    assert_true(pthread_equal(pthread_self(), listener->caller));
    assert_int_equal(report->size, sizeof *report);
    assert_true(listener->count < REPORTS_MOST);
    listener->report[listener->count++] = *report;
    return 0;
}

struct fixture {
    nade_context *context;
    nade_table *table;
    struct listener listener;
    nade_train_options options;
};

static int set_up(void **state)
{
    static const size_t hidden[] = {5, 4, 3};
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    support_assert_ok(f->context, support_work_table(f->context, &f->table));
    support_work_options(&f->options);
    f->options.hidden = hidden;
    f->options.layers = 3;
    f->options.pretrain = PRETRAIN;
    f->options.iterations = ITERATIONS;
    f->options.updates = UPDATES;
    f->options.valid_fraction = 0.25;
    f->options.progress = listen;
    f->options.progress_user = &f->listener;
    f->listener.caller = pthread_self();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    nade_table_free(f->table);
    nade_context_free(f->context);
    free(f);
    return 0;
}

static nade_model *train(struct fixture *f)
{
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &f->options, &model));
    return model;
}

/* One report, and what has been best in its stage before it. */
static void check_report(const struct fixture *f, const nade_progress *r, double *best, uint64_t *best_iteration)
{
    double rate = f->options.learning_rate > 0 ? f->options.learning_rate : 0.001;
    bool pretraining = r->stage + 1 < r->stages;
    assert_int_equal(r->stages, 3);
    assert_int_equal(r->iterations, pretraining ? PRETRAIN : ITERATIONS);
    assert_int_equal(r->updates, r->iterations * UPDATES);
    support_assert_close("rate", r->learning_rate, rate * (1 - (double)(r->update - 1) / (double)r->updates), 1e-9, 0);
    if (r->iteration_done && r->valid_loss < *best) {
        *best = r->valid_loss;
        *best_iteration = r->iteration;
    }
    if (r->iteration_done) assert_int_equal(r->update, r->iteration * UPDATES);
    if (r->iteration_done) assert_true(isfinite(r->train_loss) && isfinite(r->valid_loss));
    assert_true(r->best_valid_loss == *best);
    assert_int_equal(r->best_iteration, *best_iteration);
}

static void test_reports(void **state)
{
    struct fixture *f = *state;
    const struct listener *l = &f->listener;
    nade_model_free(train(f));
    uint64_t stage = 0, iteration = 0, best_iteration = 0, update = 0;
    double best = INFINITY, seconds = 0;
    size_t ends = 0, signs = 0;
    for (size_t i = 0; i < l->count; i++) {
        const nade_progress *r = &l->report[i];
        if (r->stage != stage) {
            assert_int_equal(r->stage, stage + 1);
            stage++;
            iteration = best_iteration = update = 0;
            best = INFINITY;
        }
        check_report(f, r, &best, &best_iteration);
        if (r->iteration_done) assert_int_equal(r->iteration, ++iteration);
        assert_true(r->update > update || (r->iteration_done && r->update >= update));
        assert_true(r->seconds >= seconds);
        update = r->update;
        seconds = r->seconds;
        ends += r->iteration_done != 0;
        signs += r->iteration_done == 0;
    }
    assert_int_equal(stage, 2);
    assert_int_equal(ends, 2 * PRETRAIN + ITERATIONS);
    assert_true(signs >= ends); /* every few updates */
}

static void test_without_validation_rows(void **state)
{
    struct fixture *f = *state;
    f->options.valid_fraction = 0;
    nade_model_free(train(f));
    for (size_t i = 0; i < f->listener.count; i++) assert_true(isnan(f->listener.report[i].valid_loss));
}

/* A limit that is over at once still gives a model: of what there was until then. */
static void test_time_limit(void **state)
{
    struct fixture *f = *state;
    f->options.time_limit = 1e-9;
    nade_model *model = train(f);
    assert_true(f->listener.count > 0 && f->listener.count < 4);
    assert_non_null(model);
    nade_model_free(model);
}

/* Where a resumed run begins it says so before anything is done. */
static void test_resumed(void **state)
{
    struct fixture *f = *state;
    char *folder = model_support_folder(), path[4096];
    struct support_stopper stopper = {0, 1};
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    f->options.checkpoint = path;
    f->options.progress = support_stop_after;
    f->options.progress_user = &stopper;
    nade_model_free(train(f));
    f->options.checkpoint = NULL;
    f->options.resume = path;
    f->options.progress = listen;
    f->options.progress_user = &f->listener;
    nade_model_free(train(f));
    assert_int_equal(f->listener.report[0].iteration_done, 0);
    assert_int_equal(f->listener.report[0].iteration, 1);
    assert_int_equal(f->listener.report[0].update, UPDATES);
    model_support_remove_folder(folder);
}

/* Decay pulls weights, not biases: with all of the rate in it they are nearly gone, biases are not. */
static void test_weight_decay(void **state)
{
    struct fixture *f = *state;
    size_t rows, columns;
    double weights = 0, biases = 0;
    f->options.pretrain = 0;
    f->options.optimizer = NADE_NAG;
    f->options.momentum = 0;
    f->options.learning_rate = 0.01;
    f->options.weight_decay = 50;
    f->options.valid_fraction = 0;
    nade_model *model = train(f);
    const float *weight = nade_model_tensor(model, "output.weight", &rows, &columns);
    for (size_t i = 0; i < rows * columns; i++) weights = fmax(weights, fabs((double)weight[i]));
    const float *bias = nade_model_tensor(model, "output.bias", &rows, &columns);
    for (size_t i = 0; i < rows * columns; i++) biases = fmax(biases, fabs((double)bias[i]));
    assert_true(weights < 0.02);
    assert_true(biases > 0.1);
    nade_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_validation_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_resumed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_weight_decay, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
