/* A run that is stopped and resumed ends in the same bytes; what is not its checkpoint is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 120, COLUMNS = 5 };

struct fixture {
    nade_context *context;
    nade_table *table;
    char *folder;
    char path[200];
};

static void fill(double *values)
{
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        values[i] = nd_random_word(1, PURPOSE_SPLIT, i % COLUMNS ? i - i % COLUMNS : i, 0, 0) % (2 + i % 3) == 0;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    double values[ROWS * COLUMNS];
    fill(values);
    *state = f;
    f->folder = model_support_folder();
    snprintf(f->path, sizeof f->path, "%s/checkpoint", f->folder);
    if (nade_context_create(NULL, &f->context) != NADE_OK) return 1;
    return nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &f->table) != NADE_OK;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    nade_table_free(f->table);
    nade_context_free(f->context);
    model_support_remove_folder(f->folder);
    free(f);
    return 0;
}

static const size_t three[] = {12, 8, 6};

static nade_train_options small_options(void)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = three;
    o.layers = 3;
    o.batch = 20;
    o.iterations = 6;
    o.updates = 30;
    o.pretrain = 2;
    o.weight_decay = 0.001;
    o.seed = 5;
    return o;
}

static nade_model *train(struct fixture *f, const nade_train_options *o)
{
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, o, &model));
    return model;
}

/* Two stages of pretraining with two iterations, six of the full run: stop after each of the ten, and inside one. */
static void check_resume(struct fixture *f, nade_optimizer optimizer, double average)
{
    nade_train_options o = small_options();
    o.optimizer = optimizer;
    o.average = average;
    nade_model *whole = train(f, &o);
    assert_int_equal(whole->plan.layers, 3);
    for (int n = 1; n <= 11; n++) {
        struct support_stopper stopper = {0, n == 11 ? 7 : n};
        nade_train_options part = o, rest = o;
        part.progress = n == 11 ? support_stop_within : support_stop_after;
        part.progress_user = &stopper;
        part.checkpoint = f->path;
        nade_model_free(train(f, &part));
        rest.resume = f->path;
        nade_model *resumed = train(f, &rest);
        model_support_compare(resumed, whole);
        nade_model_free(resumed);
    }
    nade_model_free(whole);
}

static void test_resume_adam(void **state)
{
    check_resume(*state, NADE_ADAM, 0);
}

static void test_resume_nag(void **state)
{
    check_resume(*state, NADE_NAG, 0);
}

static void test_resume_average(void **state)
{
    check_resume(*state, NADE_ADAM, 0.95);
}

/* Left out, the options come from the checkpoint; another value is refused by name. */
static void test_options_come_from_the_checkpoint(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options(), bare;
    struct support_stopper stopper = {0, 3};
    nade_model *whole = train(f, &o), *model = NULL;
    o.checkpoint = f->path;
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    nade_model_free(train(f, &o));
    nade_train_options_init(&bare, sizeof bare);
    bare.resume = f->path;
    nade_model *resumed = train(f, &bare);
    model_support_compare(resumed, whole);
    bare.batch = 21;
    assert_int_equal(nade_train(f->context, f->table, NULL, &bare, &model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "batch"));
    bare.batch = 20;
    bare.given = (const size_t[]){offsetof(nade_train_options, batch), offsetof(nade_train_options, iterations)};
    bare.given_count = 1;
    nade_model_free(train(f, &bare));
    bare.given_count = 2;
    assert_int_equal(nade_train(f->context, f->table, NULL, &bare, &model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "iterations"));
    bare.given_count = 0;
    bare.hidden = (const size_t[]){12, 8};
    bare.layers = 2;
    assert_int_equal(nade_train(f->context, f->table, NULL, &bare, &model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "hidden"));
    nade_model_free(resumed);
    nade_model_free(whole);
}

/* Any number but 0 means 1, and is 1 in the files. */
static void test_flags_are_0_or_1(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    nade_replication_options replication = support_replication();
    struct support_stopper stopper = {0, 3};
    replication.pretrain_best = 1;
    o.replication = &replication;
    nade_model *whole = train(f, &o);
    o.atoms = o.masks = replication.pretrain_best = -1;
    o.checkpoint = f->path;
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    nade_model_free(train(f, &o));
    o.progress = NULL;
    o.resume = f->path;
    nade_model *resumed = train(f, &o);
    model_support_compare(resumed, whole);
    nade_model_free(resumed);
    nade_model_free(whole);
}

/* A resumed run stops at the same loss, at once where that has been reached. */
static void test_the_loss_to_stop_at_is_kept(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options(), bare;
    struct support_stopper stopper = {0, 4}; /* while it pretrains */
    nade_model *all = train(f, &o), *model = NULL;
    nade_replication_options stop = support_replication(), other = stop;
    stop.stop_train_loss = all->record.history[3].train_loss + 1e-9;
    other.stop_train_loss = stop.stop_train_loss + 1;
    o.replication = &stop;
    nade_model *whole = train(f, &o);
    assert_in_range(whole->record.iterations_done, 1, 4);
    o.checkpoint = f->path;
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    nade_model_free(train(f, &o));
    nade_train_options_init(&bare, sizeof bare);
    bare.resume = f->path;
    nade_model *resumed = train(f, &bare);
    model_support_compare(resumed, whole);
    nade_model_free(resumed);
    bare.replication = &other;
    assert_int_equal(nade_train(f->context, f->table, NULL, &bare, &model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "stop_train_loss"));
    o.progress = NULL;
    nade_model_free(train(f, &o));
    bare.replication = &stop; /* it has ended: nothing is left to do */
    resumed = train(f, &bare);
    model_support_compare(resumed, whole);
    nade_model_free(resumed);
    nade_model_free(whole);
    nade_model_free(all);
}

/* A fixed ordering is kept; the same may be given again, another not, whatever their lengths.  So are factors for its
 * positions. */
static void check_fixed_ordering_is_kept(struct fixture *f, int rescale)
{
    static const size_t order[] = {4, 2, 0, 1, 3}, other[] = {0, 1, 2, 3, 4};
    nade_train_options o = small_options(), bare;
    struct support_stopper stopper = {0, 3};
    nade_model *model = NULL;
    o.order = NADE_ORDER_FIXED;
    o.layers = 1;
    o.pretrain = 0;
    o.ordering = order;
    nade_replication_options factors = support_replication(), others = factors;
    factors.rescale = rescale;
    o.replication = &factors;
    nade_model *whole = train(f, &o);
    o.checkpoint = f->path;
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    nade_model_free(train(f, &o));
    nade_train_options_init(&bare, sizeof bare);
    bare.resume = f->path;
    nade_model *resumed = train(f, &bare);
    model_support_compare(resumed, whole);
    nade_model_free(resumed);
    bare.ordering = order;
    bare.order = NADE_ORDER_FIXED;
    resumed = train(f, &bare);
    model_support_compare(resumed, whole);
    bare.ordering = other;
    assert_int_equal(nade_train(f->context, f->table, NULL, &bare, &model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "another ordering"));
    bare.ordering = order;
    others.rescale = !rescale;
    others.given = (const size_t[]){offsetof(nade_replication_options, rescale)};
    others.given_count = 1;
    bare.replication = &others;
    assert_int_equal(nade_train(f->context, f->table, NULL, &bare, &model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "another value of rescale"));
    nade_model_free(resumed);
    nade_model_free(whole);
}

static void test_fixed_ordering_is_kept(void **state)
{
    check_fixed_ordering_is_kept(*state, 0);
    check_fixed_ordering_is_kept(*state, 1);
}

static void expect_refused(struct fixture *f, const nade_table *table, const char *words)
{
    nade_train_options o;
    nade_model *model = NULL;
    nade_train_options_init(&o, sizeof o);
    o.resume = f->path;
    assert_int_equal(nade_train(f->context, table, NULL, &o, &model), NADE_BAD_INPUT);
    assert_null(model);
    if (!strstr(nade_last_error(f->context), words))
        fail_msg("'%s' does not say '%s'", nade_last_error(f->context), words);
}

static int count_plans(void *user, const nade_train_plan *plan)
{
    (void)plan;
    ++*(int *)user;
    return 1;
}

/* Before a plan is told: who only wants that would take the run for a good one. */
static void expect_no_plan(struct fixture *f, const nade_table *table, const nade_table *valid, const char *words)
{
    nade_train_options o;
    nade_model *model = NULL;
    int plans = 0;
    nade_train_options_init(&o, sizeof o);
    o.resume = f->path;
    o.planned = count_plans;
    o.planned_user = &plans;
    assert_int_equal(nade_train(f->context, table, valid, &o, &model), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f->context), words));
    assert_int_equal(plans, 0);
    assert_int_equal(nade_train(f->context, f->table, NULL, &o, &model), NADE_INTERRUPTED);
    assert_int_equal(plans, 1);
}

static void test_other_data_are_refused(void **state)
{
    struct fixture *f = *state;
    double values[ROWS * COLUMNS];
    nade_table *other = NULL;
    nade_train_options o = small_options();
    o.checkpoint = f->path;
    nade_model_free(train(f, &o));
    fill(values);
    values[7] = 1 - values[7];
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &other));
    expect_no_plan(f, other, NULL, "other");
    expect_no_plan(f, f->table, other, "other");
    nade_table_free(other);
}

/* Every truncation, a model in its place, no file at all. */
static void test_broken_checkpoints_are_refused(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    size_t size;
    o.checkpoint = f->path;
    nade_model *model = train(f, &o);
    char *bytes = model_support_read(f->path, &size);
    for (size_t length = 0; length < size; length += length < 3000 ? 37 : 997) {
        model_support_write(f->path, bytes, length);
        expect_refused(f, f->table, f->path);
    }
    for (size_t at = size - 4000; at < size; at += 397) {
        bytes[at] ^= 1;
        model_support_write(f->path, bytes, size);
        expect_refused(f, f->table, "damaged");
        bytes[at] ^= 1;
    }
    const float infinite = INFINITY;
    memcpy(bytes + size - sizeof infinite, &infinite, sizeof infinite);
    model_support_write(f->path, bytes, size);
    expect_refused(f, f->table, "the tensor best holds a number that is not finite");
    support_assert_ok(f->context, nade_model_save(f->context, model, f->path));
    expect_refused(f, f->table, "not a checkpoint");
    remove(f->path);
    expect_refused(f, f->table, f->path);
    nade_model_free(model);
    free(bytes);
}

/* What a younger version writes: it can't be gone on with as if the option were not there. */
static void test_unknown_options_are_refused(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    size_t size;
    o.checkpoint = f->path;
    nade_model_free(train(f, &o));
    char *bytes = model_support_read(f->path, &size);
    char *name = strstr(bytes + 8, "momentum"); /* the header, without zeros, begins there */
    assert_non_null(name);
    name[7] = 'n';
    model_support_write(f->path, bytes, size);
    expect_refused(f, f->table, "the checkpoint has the option momentun, which this version does not know");
    free(bytes);
}

/* Algorithm 1: stopped while pretraining, the model is the network of that depth; its stages are reported. */
static int note_stages(void *user, const nade_progress *report)
{
    uint64_t *seen = user;
    seen[report->stage] = report->iterations;
    assert_int_equal(report->stages, 3);
    return 0;
}

static void test_stages(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    uint64_t seen[3] = {0};
    struct support_stopper stopper = {0, 1};
    o.progress = note_stages;
    o.progress_user = seen;
    nade_model *model = train(f, &o);
    assert_true(seen[0] == 2 && seen[1] == 2 && seen[2] == 6);
    assert_int_equal(model->record.options.pretrain, 2);
    nade_model_free(model);
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    model = train(f, &o);
    assert_int_equal(model->plan.layers, 2);
    nade_model_free(model);
    /* Without pretraining the same seed gives another model, so the stages do something. */
    o = small_options();
    nade_model *with = train(f, &o);
    o.pretrain = 0;
    nade_model *without = train(f, &o);
    assert_memory_not_equal(with->parameters, without->parameters, with->plan.parameters * sizeof(float));
    nade_model_free(with);
    nade_model_free(without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_resume_adam, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resume_nag, setup, teardown),
        cmocka_unit_test_setup_teardown(test_resume_average, setup, teardown),
        cmocka_unit_test_setup_teardown(test_options_come_from_the_checkpoint, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_loss_to_stop_at_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fixed_ordering_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_data_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_broken_checkpoints_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unknown_options_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_flags_are_0_or_1, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stages, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
