/* Models and checkpoints with the n-th allocation failing, for every n: NADE_NO_MEMORY, nothing leaks, and the files
 * and results of before stay as they were. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 24, COLUMNS = 3, CALLS_MOST = 5000 };

struct fixture {
    struct counting counting;
    nade_context *context;
    nade_table *table;
    nade_model *model;
    char *folder;
    char model_path[200], checkpoint[200], output[200];
};

static nade_train_options small_options(void)
{
    static const size_t hidden[] = {3, 3, 3};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 3;
    o.components = 2;
    o.batch = 8;
    o.iterations = 2;
    o.updates = 1;
    o.pretrain = 1;
    o.device = NADE_DEVICE_REFERENCE; /* which calls no BLAS */
    return o;
}

static nade_train_options member_options(void)
{
    nade_train_options o = small_options();
    o.pretrain = 0;
    o.members = 3;
    o.average = 0.9;
    return o;
}

/* A run with options o, stopped after so many iterations. */
static int set_up_with(void **state, nade_train_options o, int stop_at)
{
    struct fixture *f = calloc(1, sizeof *f);
    double values[ROWS * COLUMNS];
    assert_non_null(f);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) values[i] = i % COLUMNS ? (double)(i * 7 % 5) + 0.25 : (double)(i % 2);
    f->context = model_support_counting_context(&f->counting);
    f->context->threads = 1;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &f->table));
    f->folder = model_support_folder();
    snprintf(f->model_path, sizeof f->model_path, "%s/model", f->folder);
    snprintf(f->checkpoint, sizeof f->checkpoint, "%s/checkpoint", f->folder);
    snprintf(f->output, sizeof f->output, "%s/output", f->folder);
    struct support_stopper stopper = {0, stop_at};
    o.checkpoint = f->checkpoint;
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &o, &f->model));
    support_assert_ok(f->context, nade_model_save(f->context, f->model, f->model_path));
    *state = f;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, small_options(), 1);
}

/* Stopped at the end of the second of three. */
static int set_up_members(void **state)
{
    return set_up_with(state, member_options(), 4);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    model_support_remove_folder(f->folder);
    nade_model_free(f->model);
    nade_table_free(f->table);
    nade_context_free(f->context);
    assert_int_equal(f->counting.live, 0);
    free(f);
    return 0;
}

static nade_status load(struct fixture *f, nade_model **model)
{
    return nade_model_load(f->context, f->model_path, model);
}

static nade_status save(struct fixture *f, nade_model **model)
{
    (void)model;
    return nade_model_save(f->context, f->model, f->output);
}

static nade_status write_checkpoint(struct fixture *f, nade_model **model)
{
    nade_train_options o = small_options();
    o.checkpoint = f->output;
    return nade_train(f->context, f->table, NULL, &o, model);
}

static nade_status resume(struct fixture *f, nade_model **model)
{
    nade_train_options o = small_options();
    o.resume = f->checkpoint;
    return nade_train(f->context, f->table, NULL, &o, model);
}

static nade_status train_members(struct fixture *f, nade_model **model)
{
    nade_train_options o = member_options();
    o.checkpoint = f->output;
    return nade_train(f->context, f->table, NULL, &o, model);
}

static nade_status resume_members(struct fixture *f, nade_model **model)
{
    nade_train_options o = member_options();
    o.resume = f->checkpoint;
    return nade_train(f->context, f->table, NULL, &o, model);
}

/* All that is asked of a model, with a range too. */
static nade_status ask_members(struct fixture *f, nade_model **model)
{
    double answer[ROWS], tail[ROWS * COLUMNS], drawn[ROWS * COLUMNS];
    const double low[COLUMNS] = {-HUGE_VAL, 0.5, -HUGE_VAL};
    nade_score_options scoring;
    nade_sample_options sampling;
    (void)model;
    nade_score_options_init(&scoring, sizeof scoring);
    nade_sample_options_init(&sampling, sizeof sampling);
    scoring.device = sampling.device = NADE_DEVICE_REFERENCE;
    sampling.low = low;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) drawn[i] = NAN;
    assert_int_equal(f->model->members, 2);
    nade_status status = nade_score(f->context, f->model, f->table, &scoring, answer, NULL, NULL);
    if (status == NADE_OK) status = nade_score_cells(f->context, f->model, f->table, &scoring, NULL, tail, NULL);
    if (status == NADE_OK) status = nade_sample(f->context, f->model, &sampling, ROWS, drawn);
    return status;
}

/* With an average, retries and a start, which take memory of their own. */
static nade_status train_folds(struct fixture *f, nade_model **model)
{
    nade_train_options o = small_options();
    o.pretrain = 0;
    o.folds = 2;
    o.average = 0.9;
    o.retries = 1;
    o.start = NADE_START_MARGINALS;
    return nade_train(f->context, f->table, NULL, &o, model);
}

static nade_status train_trials(struct fixture *f, nade_model **model)
{
    nade_train_options o = small_options();
    o.hidden = NULL;
    o.layers = o.pretrain = 0;
    o.width = 3;
    o.folds = 2;
    return nade_train(f->context, f->table, NULL, &o, model);
}

/* One allocation is no reason to fail: that of a folder's name, to sync it after a file was renamed. */
static void fail_each(struct fixture *f, nade_status (*work)(struct fixture *f, nade_model **model),
                      size_t forgiven_most)
{
    static const char old[] = "what was there before";
    size_t live = f->counting.live, forgiven = 0, n = 0;
    bool failed = true;
    while (failed && ++n < CALLS_MOST) {
        nade_model *untouched = f->model, *made = untouched;
        size_t size;
        model_support_write(f->output, old, sizeof old);
        f->counting.calls = 0;
        f->counting.fail_at = n;
        nade_status status = work(f, &made);
        failed = f->counting.calls >= n;
        f->counting.fail_at = 0;
        if (status != NADE_OK) {
            if (status != NADE_NO_MEMORY) fail_msg("call %zu: %d, %s", n, (int)status, nade_last_error(f->context));
            assert_non_null(strstr(nade_last_error(f->context), "not enough memory"));
            assert_ptr_equal(made, untouched);
            assert_true(failed);
        } else {
            forgiven += failed;
            if (made != untouched) nade_model_free(made);
        }
        assert_int_equal(f->counting.live, live);
        assert_int_equal(model_support_entries(f->folder), 3);
        char *bytes = model_support_read(f->output, &size);
        if (status != NADE_OK && work == save) assert_string_equal(bytes, old);
        free(bytes);
    }
    assert_in_range(n, 4, CALLS_MOST - 1);
    assert_in_range(forgiven, 0, forgiven_most);
}

static void loading(void **state)
{
    fail_each(*state, load, 0);
}

static void saving(void **state)
{
    fail_each(*state, save, 1);
}

static void writing_checkpoints(void **state)
{
    fail_each(*state, write_checkpoint, 4);
}

static void resuming(void **state)
{
    fail_each(*state, resume, 0);
}

static void training_trials(void **state)
{
    fail_each(*state, train_trials, 0);
}

static void training_folds(void **state)
{
    fail_each(*state, train_folds, 0);
}

static void training_members(void **state)
{
    fail_each(*state, train_members, 6);
}

static void resuming_members(void **state)
{
    fail_each(*state, resume_members, 0);
}

static void loading_members(void **state)
{
    fail_each(*state, load, 0);
}

static void saving_members(void **state)
{
    fail_each(*state, save, 1);
}

static void asking_members(void **state)
{
    fail_each(*state, ask_members, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loading, set_up, tear_down),
        cmocka_unit_test_setup_teardown(saving, set_up, tear_down),
        cmocka_unit_test_setup_teardown(writing_checkpoints, set_up, tear_down),
        cmocka_unit_test_setup_teardown(resuming, set_up, tear_down),
        cmocka_unit_test_setup_teardown(training_folds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(training_trials, set_up, tear_down),
        cmocka_unit_test_setup_teardown(training_members, set_up_members, tear_down),
        cmocka_unit_test_setup_teardown(resuming_members, set_up_members, tear_down),
        cmocka_unit_test_setup_teardown(loading_members, set_up_members, tear_down),
        cmocka_unit_test_setup_teardown(saving_members, set_up_members, tear_down),
        cmocka_unit_test_setup_teardown(asking_members, set_up_members, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
