/* What ranks train as jobs, a candidate, a fold's network or a member each: the model is that of one process, the
 * callers of all ranks hear of the same iterations, and what diverges is left out.  Ranks are threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/rank_threads.h"
#include "support/small_training.h"
#include "support/support.h"

enum { ROWS = 240, COLUMNS = 3 };

/* What one rank trains, and what it comes to. */
struct trained {
    nade_train_options options;
    uint64_t stop_at; /* the caller wants an end when member 1 has made so many iterations; 0: never */
    nade_status status;
    nade_model *model;
    size_t told, of_trial[8]; /* iterations that ended; of trials by their number */
    double losses;            /* the sum of their losses */
    char sentence[ND_SENTENCE];
};

static int on_progress(void *user, const nade_progress *report)
{
    struct trained *t = user;
    if (report->iteration_done) {
        t->told++;
        if (report->trial < 8) t->of_trial[report->trial]++;
        t->losses += report->train_loss > 0 || report->train_loss <= 0 ? report->train_loss : 1;
    }
    return t->stop_at && report->member == 1 && report->iteration >= t->stop_at;
}

static nade_table *make_table(nade_context *context)
{
    double cells[ROWS * COLUMNS];
    nade_table *table = NULL;
    for (size_t row = 0; row < ROWS; row++) {
        double a = (double)(row * 7 % 5 < 2), b = (double)(row * 11 % 13 < 5);
        cells[row * COLUMNS] = a;
        cells[row * COLUMNS + 1] = fabs(a - b);
        cells[row * COLUMNS + 2] = (double)(row * row % 31) / 7 + a;
    }
    if (nade_table_from_array(context, cells, ROWS, COLUMNS, NULL, &table) != NADE_OK) abort();
    return table;
}

static void train(nade_context *context, void *user)
{
    struct trained *t = user;
    nade_table *table = make_table(context);
    t->options.progress = on_progress;
    t->options.progress_user = t;
    t->status = nade_train(context, table, NULL, &t->options, &t->model);
    snprintf(t->sentence, sizeof t->sentence, "%s", nade_last_error(context));
    nade_table_free(table);
}

static nade_train_options options_of(nade_effort effort, uint64_t members, uint64_t folds)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.device = NADE_DEVICE_CPU;
    o.components = 2;
    o.batch = 40;
    o.iterations = 6;
    o.updates = 4;
    o.width = 12;
    o.seed = 3;
    o.effort = effort;
    o.members = members;
    o.folds = folds;
    if (!folds) o.valid_fraction = 0.2;
    return o;
}

static void train_with(unsigned ranks, bool exact, const struct trained *what, struct trained *t)
{
    void *user[RANKS_MOST];
    for (unsigned r = 0; r < ranks; r++) {
        t[r] = *what;
        user[r] = &t[r];
    }
    support_run_ranks(ranks, exact, train, user);
}

static void expect_same(const nade_model *one, const nade_model *other)
{
    assert_string_equal(nade_model_description(one), nade_model_description(other));
    assert_int_equal(one->members, other->members);
    size_t members = one->members ? one->members : 1;
    assert_memory_equal(one->parameters, other->parameters, members * one->plan.parameters * sizeof(float));
}

static void free_models(struct trained *t, unsigned ranks)
{
    for (unsigned r = 0; r < ranks; r++) nade_model_free(t[r].model);
}

/* Of any number of ranks each has the model of one process and has been told of all iterations. */
static void check(const struct trained *what, bool exact)
{
    struct trained alone[1], t[RANKS_MOST];
    train_with(1, exact, what, alone);
    assert_int_equal(alone->status, NADE_OK);
    for (unsigned ranks = 2; ranks <= RANKS_MOST; ranks++) {
        train_with(ranks, exact, what, t);
        for (unsigned r = 0; r < ranks; r++) {
            assert_int_equal(t[r].status, NADE_OK);
            expect_same(alone->model, t[r].model);
            assert_int_equal(alone->told, t[r].told);
            assert_true(fabs(alone->losses - t[r].losses) < 1e-9 * fabs(alone->losses));
        }
        free_models(t, ranks);
    }
    free_models(alone, 1);
}

/* What is chosen goes on with all ranks together. */
static void test_trials(void **state)
{
    struct trained what = {.options = options_of(NADE_EFFORT_NORMAL, 1, 0)};
    (void)state;
    check(&what, true);
    what.options.augment = 3; /* each begins with rows that are drawn by its rank alone */
    check(&what, true);
}

/* Two candidates have made two thirds of the run, and of the others each no more than one. */
static bool had_duel(const struct trained *t, size_t third)
{
    size_t longer = 0;
    for (size_t i = 1; i < 8; i++) longer += t->of_trial[i] > third + 1; /* iteration 0 is one */
    return longer == 2;
}

static void test_duel(void **state)
{
    bool found = false;
    (void)state;
    for (uint32_t seed = 1; seed < 60 && !found; seed++) {
        struct trained what = {.options = options_of(NADE_EFFORT_NORMAL, 1, 0)}, alone[1];
        what.options.iterations = 12;
        what.options.learning_rate = 0.02;
        what.options.seed = seed;
        train_with(1, true, &what, alone);
        assert_int_equal(alone->status, NADE_OK);
        found = had_duel(alone, 4);
        if (found) check(&what, true);
        free_models(alone, 1);
    }
    assert_true(found);
}

/* With members nothing is shared, and no sum need be exact. */
static void test_members(void **state)
{
    struct trained what = {.options = options_of(NADE_EFFORT_QUICK, 3, 0)};
    (void)state;
    check(&what, false);
    what.options.effort = NADE_EFFORT_BEST;
    check(&what, false);
    what.options.bootstrap = 1;
    check(&what, false);
}

static void test_folds(void **state)
{
    struct trained what = {.options = options_of(NADE_EFFORT_QUICK, 1, 3)};
    (void)state;
    check(&what, true);
    what.options = options_of(NADE_EFFORT_NORMAL, 3, 3);
    check(&what, false);
}

/* ---- what fails -------------------------------------------------------------------------------------------------- */

static size_t members_of(const struct trained *t)
{
    return t->status == NADE_OK ? (size_t)t->model->members : 0;
}

/* Rates at the edge of what networks bear: some members diverge. */
static void test_left_out(void **state)
{
    enum { MEMBERS = 4 };
    bool inner = false;
    (void)state;
    for (uint32_t seed = 1; seed < 400 && !inner; seed++) {
        struct trained what = {.options = options_of(NADE_EFFORT_QUICK, MEMBERS, 0)}, alone[1];
        what.options.optimizer = NADE_NAG;
        what.options.iterations = 2;
        what.options.updates = 3;
        what.options.retries = 0;
        what.options.seed = seed;
        what.options.learning_rate = 150 + 10 * (double)(seed % 40);
        train_with(1, false, &what, alone);
        size_t members = members_of(alone);
        assert_true(alone->status == NADE_OK || alone->status == NADE_NOT_FINITE);
        if (members > 1 && members < MEMBERS) {
            /* The last member alone would leave no hole. */
            struct trained t[RANKS_MOST];
            train_with(3, false, &what, t);
            for (unsigned r = 0; r < 3; r++) {
                assert_int_equal(t[r].status, NADE_OK);
                expect_same(alone->model, t[r].model);
            }
            what.options.members = MEMBERS - 1;
            struct trained fewer[1];
            train_with(1, false, &what, fewer);
            inner = members_of(fewer) == members - 1;
            free_models(fewer, 1);
            free_models(t, 3);
        }
        free_models(alone, 1);
    }
    assert_true(inner);
}

/* Whether some candidates, not all, made fewer iterations on trial than others. */
static bool some_diverged(const struct trained *t)
{
    enum { CANDIDATES = 3 };
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 1; i <= CANDIDATES; i++) {
        if (t->of_trial[i] < least) least = t->of_trial[i];
        if (t->of_trial[i] > most) most = t->of_trial[i];
    }
    return t->status == NADE_OK && least < most;
}

/* A candidate that diverges is given up, wherever it was tried. */
static void test_given_up(void **state)
{
    bool found = false;
    (void)state;
    for (uint32_t seed = 1; seed < 600 && !found; seed++) {
        struct trained what = {.options = options_of(NADE_EFFORT_NORMAL, 1, 0)}, alone[1], t[RANKS_MOST];
        what.options.optimizer = NADE_NAG;
        what.options.updates = 2;
        what.options.retries = 0;
        what.options.seed = seed;
        what.options.learning_rate = 20 + 10 * (double)(seed % 60);
        train_with(1, true, &what, alone);
        found = some_diverged(alone);
        for (unsigned ranks = 2; ranks <= 3 && found; ranks++) {
            train_with(ranks, true, &what, t);
            for (unsigned r = 0; r < ranks; r++) {
                assert_int_equal(t[r].status, NADE_OK);
                expect_same(alone->model, t[r].model);
            }
            free_models(t, ranks);
        }
        free_models(alone, 1);
    }
    assert_true(found);
}

/* A first member that diverges, and candidates that all do, fail on all ranks with one sentence. */
static void test_none_left(void **state)
{
    struct trained what = {.options = options_of(NADE_EFFORT_QUICK, 3, 0)}, t[RANKS_MOST];
    (void)state;
    what.options.optimizer = NADE_NAG;
    what.options.learning_rate = 1000;
    what.options.updates = 20;
    what.options.retries = 0;
    for (int trials = 0; trials < 2; trials++) {
        train_with(2, false, &what, t);
        for (unsigned r = 0; r < 2; r++) {
            assert_int_equal(t[r].status, NADE_NOT_FINITE);
            assert_non_null(strstr(t[r].sentence, "training diverged"));
            assert_string_equal(t[r].sentence, t[0].sentence);
        }
        what.options.effort = NADE_EFFORT_NORMAL;
        what.options.members = 1;
    }
}

/* A caller who wants an end gets what there is, and all ranks the same. */
static void test_stop(void **state)
{
    struct trained what = {.options = options_of(NADE_EFFORT_QUICK, 3, 0), .stop_at = 2}, t[RANKS_MOST];
    (void)state;
    for (uint64_t folds = 0; folds <= 3; folds += 3) {
        what.options = options_of(NADE_EFFORT_NORMAL, 3, folds);
        train_with(2, false, &what, t);
        for (unsigned r = 0; r < 2; r++) {
            assert_int_equal(t[r].status, NADE_OK);
            assert_true(t[r].model->members < 3);
            expect_same(t[0].model, t[r].model);
        }
        free_models(t, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trials),    cmocka_unit_test(test_duel),
                                       cmocka_unit_test(test_members),   cmocka_unit_test(test_folds),
                                       cmocka_unit_test(test_left_out),  cmocka_unit_test(test_given_up),
                                       cmocka_unit_test(test_none_left), cmocka_unit_test(test_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
