/* Training several members: each is the network of a run with its own seed, whatever stops or resumes between them. */
#include <stdio.h>
#include <time.h>

#include "train_fixture.h"

enum { MEMBERS = 3 };

static nade_train_options member_options(void)
{
    nade_train_options o = small_options();
    o.members = MEMBERS;
    o.seed = 5;
    return o;
}

static uint32_t seed_of(uint32_t seed, uint32_t member)
{
    return member ? nd_random_word(seed, PURPOSE_MEMBER, member, 0, 0) : seed;
}

static void assert_parameters(const nade_model *found, size_t member, const nade_model *expected)
{
    assert_int_equal(found->plan.parameters, expected->plan.parameters);
    assert_memory_equal(nd_member_parameters(found, member), expected->parameters,
                        expected->plan.parameters * sizeof(float));
}

/* Without validation rows the last iteration counts, so that a member is a run with its seed in every bit. */
static void check_runs_of_their_own(struct fixture *f, nade_train_options o)
{
    o.valid_fraction = 0;
    nade_model *all = train(f, &o);
    assert_int_equal(all->members, MEMBERS);
    for (uint32_t j = 0; j < MEMBERS; j++) {
        nade_train_options own = o;
        own.members = 1;
        own.seed = seed_of(o.seed, j);
        nade_model *alone = train(f, &own);
        assert_int_equal(alone->members, 1);
        assert_parameters(all, j, alone);
        nade_model_free(alone);
    }
    nade_model_free(all);
}

static void test_members_are_runs_of_their_own(void **state)
{
    nade_train_options plain = member_options(), residual = member_options(), fixed = member_options();
    residual.layers = 0;
    residual.hidden = NULL;
    residual.blocks = 2;
    residual.width = 9;
    residual.dropout = 0.3;
    residual.average = 0.9;
    residual.stratify = 1;
    fixed.order = NADE_ORDER_FIXED;
    fixed.layers = 1;
    check_runs_of_their_own(*state, plain);
    check_runs_of_their_own(*state, residual);
    check_runs_of_their_own(*state, fixed);
}

/* Split and validation draws are the first's, which is what training without members gives; what each came to is in the
 * record. */
static void test_record(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = member_options(), single = o;
    single.members = 1;
    o.start = single.start = NADE_START_MARGINALS;
    nade_model *all = train(f, &o), *one = train(f, &single);
    const struct training_record *r = &all->record;
    assert_parameters(all, 0, one);
    assert_int_equal(r->member_count, MEMBERS);
    assert_true(r->iterations_done == one->record.iterations_done && r->fingerprint == one->record.fingerprint);
    assert_memory_equal(r->history, one->record.history, r->iterations_done * sizeof *r->history);
    assert_true(r->start_loss == one->record.start_loss && r->best_iteration == one->record.best_iteration);
    assert_true(r->member[0].best_iteration == r->best_iteration);
    support_assert_close("first", r->member[0].valid_loss, r->history[r->best_iteration - 1].valid_loss, 0, 0);
    for (size_t j = 1; j < MEMBERS; j++) {
        assert_true(r->member[j].valid_loss != r->member[0].valid_loss);
        assert_true(fabs(r->member[j].valid_loss - r->member[0].valid_loss) < 0.5);
        assert_in_range(r->member[j].best_iteration, 1, 4);
    }
    assert_null(strstr(nade_model_description(one), "member"));
    nade_model_free(all);
    nade_model_free(one);
}

/* ---- stops and resumes ------------------------------------------------------------------------------------------- */

struct late_stopper {
    struct support_stopper stopper;
    struct timespec wait;
};

/* Waits before it stops, so that the last checkpoint is not too recent for another. */
static int stop_late(void *user, const nade_progress *report)
{
    struct late_stopper *s = user;
    int stop = support_stop_after(&s->stopper, report);
    if (stop) nanosleep(&s->wait, NULL);
    return stop;
}

/* How long that takes depends on the disk: true when the file knows of what is wanted. */
static bool write_late_checkpoint(struct fixture *f, nade_train_options o, int stop_at, time_t wait, const char *wanted)
{
    struct late_stopper stopper = {{0, stop_at}, {wait, 0}};
    size_t size;
    o.progress = stop_late;
    o.progress_user = &stopper;
    nade_model_free(train(f, &o));
    char *bytes = model_support_read(o.checkpoint, &size);
    bool found = strstr(bytes + 8, wanted) != NULL;
    free(bytes);
    return found;
}

/* In the middle of a member, with what the others came to in the checkpoint. */
static void check_resume_within(struct fixture *f, const nade_train_options *o, int stop_at, const char *last_finished)
{
    char *folder = model_support_folder(), path[4200];
    nade_train_options part = *o, rest = *o;
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    nade_model *whole = train(f, o);
    part.checkpoint = rest.resume = path;
    time_t wait = 1;
    while (!write_late_checkpoint(f, part, stop_at, wait, last_finished) && wait < 64) wait *= 2;
    assert_true(wait < 64);
    nade_model *resumed = train(f, &rest);
    model_support_compare(resumed, whole);
    nade_model_free(resumed);
    nade_model_free(whole);
    model_support_remove_folder(folder);
}

/* Four iterations of each member; stopped after each of them, and within some. */
static void check_resume(struct fixture *f, const nade_train_options *o, int stops)
{
    char *folder = model_support_folder(), path[4200];
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    nade_model *whole = train(f, o);
    for (int n = 1; n <= stops + 3; n++) {
        struct support_stopper stopper = {0, n <= stops ? n : 3 * (n - stops) + 1};
        nade_train_options part = *o, rest = *o;
        part.progress = n <= stops ? support_stop_after : support_stop_within;
        part.progress_user = &stopper;
        part.checkpoint = rest.resume = path;
        nade_model *stopped = train(f, &part);
        assert_in_range(stopped->members, 1, MEMBERS);
        for (size_t j = 0; j < stopped->members && stopped->members > 1; j++)
            assert_memory_equal(nd_member_parameters(stopped, j), nd_member_parameters(whole, j),
                                whole->plan.parameters * sizeof(float));
        nade_model_free(stopped);
        nade_model *resumed = train(f, &rest);
        model_support_compare(resumed, whole);
        nade_model_free(resumed);
    }
    nade_model_free(whole);
    model_support_remove_folder(folder);
}

static void test_resume(void **state)
{
    nade_train_options o = member_options();
    o.updates = 10;
    check_resume(*state, &o, 12);
    check_resume_within(*state, &o, 6, "\"member.0\"");
    o.start = NADE_START_MARGINALS; /* five reports of each */
    o.average = 0.9;
    o.cooldown = 0;
    check_resume_within(*state, &o, 6, "\"member.0\"");
    check_resume_within(*state, &o, 13, "\"member.1\"");
}

/* Checkpoints that say something else of finished members. */
static void test_broken_checkpoints(void **state)
{
    static const struct {
        const char *old, *new, *fragment;
    } edits[] = {
        {"\\\"members\\\":[{", "\\\"members\\\":{{", "the checkpoint's text"},
        {"\\\"members\\\":[{", "\\\"mombers\\\":[{", "is damaged"},
        {"\\\"retries\\\":0", "\\\"retries\\\":-", "the checkpoint's text"},
        {"\\\"retries\\\":0,", "\\\"retrios\\\":0,", "the checkpoint's members are missing or no such value"},
        {"\\\"members\\\":3", "\\\"members\\\":1", "the checkpoint's members are missing or no such value"},
        {"\"member.0\"", "\"member.7\"", "the checkpoint's member.0 is missing or no such value"},
    };
    struct fixture *f = *state;
    char *folder = model_support_folder(), path[4200];
    struct support_stopper stopper = {0, 8}; /* the last iteration of the second is written in any case */
    nade_train_options o = member_options();
    nade_model *model = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    o.checkpoint = path;
    nade_model_free(train(f, &o));
    char *bytes = model_support_read(path, &size);
    nade_train_options bare;
    nade_train_options_init(&bare, sizeof bare);
    bare.resume = path;
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        char *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, bytes, size);
        char *at = strstr(copy + 8, edits[i].old);
        if (!at) fail_msg("the checkpoint has no %s", edits[i].old);
        memcpy(at, edits[i].new, strlen(edits[i].new));
        model_support_write(path, copy, size);
        assert_int_equal(nade_train(f->context, f->table, NULL, &bare, &model), NADE_BAD_INPUT);
        if (!strstr(nade_last_error(f->context), edits[i].fragment))
            fail_msg("found '%s', expected '%s'", nade_last_error(f->context), edits[i].fragment);
        free(copy);
    }
    free(bytes);
    model_support_remove_folder(folder);
}

/* A stop leaves the members that are finished, and within the first its best. */
static void test_stop(void **state)
{
    static const struct {
        int after;
        size_t members;
    } cases[] = {{2, 1}, {4, 1}, {5, 1}, {7, 1}, {8, 2}, {11, 2}, {12, 3}};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct support_stopper stopper = {0, cases[i].after};
        nade_train_options o = member_options();
        o.progress = support_stop_after;
        o.progress_user = &stopper;
        nade_model *model = train(f, &o);
        assert_int_equal(model->members, cases[i].members);
        assert_int_equal(model->record.options.members, MEMBERS);
        assert_int_equal(model->record.member_count, cases[i].members > 1 ? cases[i].members : 0);
        assert_int_equal(model->record.iterations_done, cases[i].after < 4 ? cases[i].after : 4);
        nade_model_free(model);
    }
}

/* Time is shared: members that would take hours end when their part of it is over, and all are there. */
static void test_time_limit(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = member_options();
    o.iterations = 1000000;
    o.cooldown = 0;
    o.time_limit = 0.6;
    nade_model *model = train(f, &o);
    assert_int_equal(model->members, MEMBERS);
    nade_model_free(model);
}

/* Takes longer than a member's part of the time. */
static int take_time(void *user, const nade_progress *report)
{
    static const struct timespec part = {1, 200000000};
    (void)user;
    if (report->iteration_done && report->iteration == 1) nanosleep(&part, NULL);
    return 0;
}

/* A checkpoint holds no member that ran out of time: a resumed run makes it whole. */
static void test_resume_after_time_limit(void **state)
{
    struct fixture *f = *state;
    char *folder = model_support_folder(), path[4200];
    nade_train_options o = member_options(), part = o, rest = o;
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    nade_model *whole = train(f, &o);
    part.time_limit = 3;
    part.progress = take_time;
    part.checkpoint = rest.resume = path;
    nade_model *cut = train(f, &part);
    assert_int_equal(cut->members, MEMBERS);
    nade_model *resumed = train(f, &rest);
    model_support_compare(resumed, whole);
    nade_model_free(cut);
    nade_model_free(resumed);
    nade_model_free(whole);
    model_support_remove_folder(folder);
}

/* ---- divergence ---------------------------------------------------------------------------------------------------
 */

/* A rate that rises to where some runs no longer bear it, in a later iteration than their first. */
static nade_train_options rising_options(void)
{
    nade_train_options o = member_options();
    o.members = 2;
    o.optimizer = NADE_NAG;
    o.updates = 40;
    o.warmup = 120;
    o.retries = 0;
    o.cooldown = 0;
    return o;
}

static int count_of_second(void *user, const nade_progress *report)
{
    if (report->member == 2 && report->iteration_done) ++*(int *)user;
    return 0;
}

/* A rate and a seed with which the second member, and it alone, diverges after it has finished an iteration: where that
 * is differs a little between processors. */
static bool find_divergence(struct fixture *f, nade_train_options *o)
{
    static const double rates[] = {21, 20.8, 21.2, 20.6, 21.4};
    for (size_t i = 0; i < 32 * sizeof rates / sizeof *rates; i++) {
        int done = 0;
        nade_model *model = NULL;
        o->learning_rate = rates[i / 32];
        o->seed = 1 + i % 32;
        o->progress = count_of_second;
        o->progress_user = &done;
        bool found = nade_train(f->context, f->table, NULL, o, &model) == NADE_OK && model->members == 1 && done > 0;
        nade_model_free(model);
        o->progress = NULL;
        if (found) return true;
    }
    return false;
}

/* What diverges after a resume is left out, as in a run that was never stopped. */
static void test_resume_before_divergence(void **state)
{
    nade_context_options alone;
    struct fixture f;
    double values[150];
    (void)state;
    nade_context_options_init(&alone, sizeof alone);
    alone.threads = 1;
    assert_int_equal(nade_context_create(&alone, &f.context), NADE_OK);
    for (uint32_t i = 0; i < 150; i++) values[i] = (double)nd_random_uniform(nd_random_word(6, PURPOSE_SPLIT, i, 0, 0));
    support_assert_ok(f.context, nade_table_from_array(f.context, values, 50, 3, NULL, &f.table));
    nade_train_options o = rising_options();
    assert_true(find_divergence(&f, &o));
    check_resume_within(&f, &o, (int)o.iterations + 1, "\"member.0\"");
    nade_table_free(f.table);
    nade_context_free(f.context);
}

/* ---- progress, plan, folds, refusals ----------------------------------------------------------------------------- */

struct reports {
    uint64_t member, iterations[MEMBERS];
    bool in_order;
};

static int keep_report(void *user, const nade_progress *report)
{
    struct reports *r = user;
    r->in_order = r->in_order && report->members == MEMBERS && report->member >= r->member && report->member <= MEMBERS;
    r->member = report->member;
    if (report->iteration_done) r->iterations[report->member - 1]++;
    return 0;
}

static int keep_plan(void *user, const nade_train_plan *plan)
{
    *(nade_train_plan *)user = *plan;
    return 0;
}

static void test_progress_and_plan(void **state)
{
    struct fixture *f = *state;
    struct reports reports = {.in_order = true};
    nade_train_plan plan, single;
    nade_train_options o = member_options();
    o.planned = keep_plan;
    o.planned_user = &plan;
    o.progress = keep_report;
    o.progress_user = &reports;
    nade_model_free(train(f, &o));
    o.members = 1;
    o.progress = NULL;
    o.planned_user = &single;
    nade_model_free(train(f, &o));
    assert_true(reports.in_order);
    for (size_t j = 0; j < MEMBERS; j++) assert_int_equal(reports.iterations[j], 4);
    assert_true(plan.members == MEMBERS && single.members == 1);
    assert_int_equal(plan.updates, MEMBERS * single.updates);
    assert_int_equal(plan.parameters, MEMBERS * single.parameters);
    assert_in_range(plan.memory - single.memory, (MEMBERS - 1) * single.parameters * sizeof(float),
                    MEMBERS * (single.parameters + 500) * sizeof(float));
}

/* The folds choose once; all members go that way with their own seeds. */
static void test_folds(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = member_options();
    o.folds = 4;
    o.iterations = 12;
    o.updates = 20;
    o.learning_rate = 0.02;
    nade_model *all = train(f, &o);
    o.members = 1;
    nade_model *one = train(f, &o);
    assert_int_equal(all->members, MEMBERS);
    assert_int_equal(all->record.member_count, 0);
    assert_parameters(all, 0, one);
    assert_true(memcmp(nd_member_parameters(all, 1), one->parameters, one->plan.parameters * sizeof(float)) != 0);
    assert_int_equal(all->record.iterations_done, one->record.iterations_done);
    assert_memory_equal(all->record.history, one->record.history, one->record.iterations_done * sizeof(double));
    assert_int_equal(all->record.best_iteration, one->record.best_iteration);
    /* Where no fold turned, a member is a run on all rows up to the best iteration. */
    o.folds = 4;
    o.cooldown = 0;
    o.members = MEMBERS;
    nade_model_free(all);
    nade_model_free(one);
    all = train(f, &o);
    struct support_stopper stopper = {0, (int)all->record.best_iteration};
    nade_train_options plain = o;
    plain.folds = 0;
    plain.members = 1;
    plain.valid_fraction = 0;
    plain.seed = seed_of(o.seed, 2);
    plain.progress = support_stop_after;
    plain.progress_user = &stopper;
    one = train(f, &plain);
    assert_parameters(all, 2, one);
    nade_model_free(all);
    nade_model_free(one);
}

/* Trials choose once; members are then networks of the kind that was chosen. */
static void test_trials(void **state)
{
    struct fixture *f = *state;
    for (uint64_t folds = 0; folds <= 2; folds += 2) {
        nade_train_options o = member_options();
        o.hidden = NULL;
        o.layers = 0;
        o.blocks = 1;
        o.width = 7;
        o.folds = folds;
        if (!folds) o.valid_fraction = 0.2; /* so small a table has folds without it */
        o.effort = NADE_EFFORT_NORMAL;
        o.iterations = 6;
        nade_model *all = train(f, &o);
        o.members = 1;
        nade_model *one = train(f, &o);
        assert_int_equal(all->members, MEMBERS);
        assert_parameters(all, 0, one);
        assert_int_equal(all->architecture.direct, one->architecture.direct);
        assert_true(all->record.options.dropout == one->record.options.dropout);
        assert_true(memcmp(nd_member_parameters(all, 1), one->parameters, one->plan.parameters * sizeof(float)) != 0);
        /* Another member is what its own seed gives with what was chosen. */
        o.effort = NADE_EFFORT_QUICK;
        o.dropout = one->record.options.dropout;
        o.direct = one->architecture.direct;
        o.weight_decay = one->record.options.weight_decay;
        o.members = MEMBERS;
        nade_model *chosen = train(f, &o);
        assert_memory_equal(all->parameters, chosen->parameters, MEMBERS * one->plan.parameters * sizeof(float));
        nade_model_free(chosen);
        nade_model_free(one);
        nade_model_free(all);
    }
}

static void refuse(struct fixture *f, const nade_train_options *o, const char *sentence)
{
    nade_model *model = NULL;
    assert_int_equal(nade_train(f->context, f->table, NULL, o, &model), NADE_BAD_CALL);
    assert_string_equal(nade_last_error(f->context), sentence);
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = member_options();
    o.pretrain = 2;
    refuse(f, &o, "3 members are asked for (`members`), but pretraining is for a single one");
    o.pretrain = 0;
    o.members = 65;
    refuse(f, &o, "the number of members is 65, expected a number from 1 to 64");
    o.members = 0;
    refuse(f, &o, "the number of members is 0, expected a number from 1 to 64");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_members_are_runs_of_their_own),
        TEST(test_record),
        TEST(test_resume),
        TEST(test_resume_before_divergence),
        TEST(test_broken_checkpoints),
        TEST(test_stop),
        TEST(test_time_limit),
        TEST(test_resume_after_time_limit),
        TEST(test_progress_and_plan),
        TEST(test_folds),
        TEST(test_trials),
        TEST(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
