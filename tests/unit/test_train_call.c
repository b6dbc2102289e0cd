/* What training is called with, and what it tells of itself before it begins. */
#include "train_fixture.h"

/* A caller that was compiled before the option was there. */
static void test_options_of_an_older_header(void **state)
{
    struct fixture *f = *state;
    size_t older = offsetof(nade_train_options, replication);
    nade_train_options o = small_options(), small;
    o.average = -1; /* younger than that header, hence the default */
    nade_model *model = train(f, &o);
    memset(&small, 0xFF, sizeof small);
    memcpy(&small, &o, older);
    small.size = older;
    nade_model *same = train(f, &small);
    assert_string_equal(nade_model_description(model), nade_model_description(same));
    memset(&small, 0xFF, sizeof small);
    nade_train_options_init(&small, older);
    assert_memory_equal(&small.replication, &(uint64_t){UINT64_MAX}, sizeof(uint64_t));
    nade_model_free(model);
    nade_model_free(same);
}

static void expect_bad_call(struct fixture *f, const nade_train_options *o, const char *word)
{
    nade_model *model = NULL;
    assert_int_equal(nade_train(f->context, f->table, NULL, o, &model), NADE_BAD_CALL);
    assert_null(model);
    assert_non_null(strstr(nade_last_error(f->context), word));
}

static void test_bad_options(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    o.batch = 20000000;
    expect_bad_call(f, &o, "batch");
    o = small_options();
    o.momentum = 1.5;
    expect_bad_call(f, &o, "momentum");
    o = small_options();
    o.layers = 0;
    expect_bad_call(f, &o, "hidden layers");
    o = small_options();
    o.hidden = (const size_t[]){5, 0};
    expect_bad_call(f, &o, "units");
    o = small_options();
    o.components = 0;
    expect_bad_call(f, &o, "components");
    o = small_options();
    o.clip = -1;
    expect_bad_call(f, &o, "clip");
    o = small_options();
    o.learning_rate = NAN;
    expect_bad_call(f, &o, "learning rate");
    o = small_options();
    nade_replication_options replication = support_replication();
    o.replication = &replication;
    replication.stop_train_loss = INFINITY;
    expect_bad_call(f, &o, "stop at");
    replication = support_replication();
    replication.rescale = 1;
    expect_bad_call(f, &o, "the order is not fixed");
    replication = support_replication();
    replication.initial_scale = 0;
    expect_bad_call(f, &o, "initial weights");
    replication.size = 0;
    expect_bad_call(f, &o, "replication options");
    o = small_options();
    o.device = (nade_device)77;
    expect_bad_call(f, &o, "device");
}

static void test_one_row_is_refused(void **state)
{
    struct fixture *f = *state;
    const double row[] = {1, 0, 1};
    nade_table *table = NULL;
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_table_from_array(f->context, row, 1, 3, NULL, &table));
    assert_int_equal(nade_train(f->context, table, NULL, NULL, &model), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f->context), "at least 2"));
    nade_table_free(table);
}

struct planning {
    nade_train_plan plan;
    int calls, answer;
    bool training; /* a report of progress came first */
};

static int keep_plan(void *user, const nade_train_plan *plan)
{
    struct planning *planning = user;
    assert_false(planning->training);
    planning->plan = *plan;
    planning->calls++;
    return planning->answer;
}

static int note_training(void *user, const nade_progress *report)
{
    (void)report;
    ((struct planning *)user)->training = true;
    return 0;
}

static void test_plan(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = small_options();
    struct planning planning = {.answer = 1};
    nade_model *untouched = (nade_model *)&planning, *model = untouched, *without = NULL;
    o.planned = keep_plan;
    o.progress = note_training;
    o.planned_user = o.progress_user = &planning;
    assert_int_equal(nade_train(f->context, f->table, NULL, &o, &model), NADE_INTERRUPTED);
    assert_ptr_equal(model, untouched);
    assert_int_equal(planning.calls, 1);
    assert_false(planning.training);
    nade_train_plan plan = planning.plan;
    assert_int_equal(plan.size, sizeof plan);
    assert_int_equal(plan.columns, 4);
    assert_int_equal(plan.train_rows, 360);
    assert_int_equal(plan.valid_rows, 40);
    assert_int_equal(plan.inputs, 8);
    assert_int_equal(plan.outputs, 4);
    assert_int_equal(plan.parameters, 16 * 8 + 16 + 8 * 16 + 8 + 4 * 8 + 4);
    assert_int_equal(plan.updates, 160);
    assert_true(plan.memory > plan.parameters * 4);

    /* The same plan when training goes on, and the same model as without one. */
    planning = (struct planning){.answer = 0};
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &o, &model));
    assert_int_equal(planning.calls, 1);
    assert_true(planning.training);
    assert_non_null(planning.plan.model);
    planning.plan.model = plan.model = NULL; /* each run has its own */
    assert_memory_equal(&planning.plan, &plan, sizeof plan);
    o.planned = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &o, &without));
    assert_string_equal(nade_model_description(model), nade_model_description(without));
    nade_model_free(model);
    nade_model_free(without);
}

/* The plan is told even where there is too little memory for it, which then is the reason to end. */
static void test_plan_beyond_memory(void **state)
{
    struct fixture *f = *state;
    static const size_t hidden[] = {3000};
    nade_context_options limited;
    nade_context *context = NULL;
    nade_model *model = NULL;
    nade_train_options o = small_options();
    nade_context_options_init(&limited, sizeof limited);
    limited.max_memory = (size_t)4 << 20;
    assert_int_equal(nade_context_create(&limited, &context), NADE_OK);
    o.hidden = hidden;
    o.layers = 1;
    o.planned = keep_plan;
    for (int answer = 0; answer < 2; answer++) {
        struct planning planning = {.answer = answer};
        o.planned_user = &planning;
        assert_int_equal(nade_train(context, f->table, NULL, &o, &model), NADE_NO_MEMORY);
        assert_non_null(strstr(nade_last_error(context), "not enough memory for training"));
        assert_int_equal(planning.calls, 1);
        assert_true(planning.plan.memory > limited.max_memory);
    }
    assert_null(model);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_of_an_older_header), cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_one_row_is_refused),         cmocka_unit_test(test_plan),
        cmocka_unit_test(test_plan_beyond_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
