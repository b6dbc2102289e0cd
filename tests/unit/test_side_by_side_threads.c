/* Networks side by side: the same reports, in the same order, and the same bytes for any number of threads, and the
 * bytes of runs that have no others beside them; stopped runs, and a candidate that diverges, too. */
#include "trial_fixture.h"

enum { REPORTS_MOST = 4000 };

/* All that is told but for the time. */
struct told {
    struct heard heard;
    size_t count;
    double number[REPORTS_MOST][12];
    uint64_t made, stop_after;
};

static int note(void *user, const nade_progress *p)
{
    struct told *told = user;
    double number[12] = {(double)p->stage,   (double)p->trial,          (double)p->fold,    (double)p->iteration,
                         (double)p->update,  (double)p->iteration_done, p->learning_rate,   p->valid_loss,
                         p->best_valid_loss, (double)p->ahead,          (double)p->soonest, (double)p->made};
    if (p->mixture_components) return 0; /* the clock says how many of these there are */
    assert_true(told->count < REPORTS_MOST && p->made >= told->made);
    for (size_t i = 0; i < 12; i++) told->number[told->count][i] = isnan(number[i]) ? -1e9 : number[i];
    told->count++;
    told->made = p->made;
    hear(&told->heard, p);
    return told->stop_after && told->count >= told->stop_after;
}

static nade_model *train_with(struct fixture *f, unsigned threads, const nade_table *table, const nade_table *valid,
                              const nade_train_options *options, struct told *told)
{
    nade_train_options o = *options;
    o.planned_user = &told->heard;
    o.progress = note;
    o.progress_user = told;
    f->context->threads = threads;
    return train(f, table, valid, &o);
}

static void assert_same_told(const struct told *a, const struct told *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t r = 0; r < a->count; r++)
        for (size_t i = 0; i < 12; i++)
            if (a->number[r][i] != b->number[r][i])
                fail_msg("number %zu of report %zu is %g and %g", i, r, a->number[r][i], b->number[r][i]);
}

/* Returns the model of one thread. */
static nade_model *check_threads(struct fixture *f, const nade_table *table, const nade_table *valid,
                                 const nade_train_options *o, struct told *one)
{
    static const unsigned threads[] = {2, 3, 8};
    uint64_t stop_after = one->stop_after;
    nade_model *model = train_with(f, 1, table, valid, o, one);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct told *several = calloc(1, sizeof *several);
        assert_non_null(several);
        several->stop_after = stop_after;
        nade_model *same = train_with(f, threads[i], table, valid, o, several);
        assert_same_told(one, several);
        assert_same_file(f, model, same);
        nade_model_free(same);
        free(several);
    }
    return model;
}

/* Iterations of more than one round (side_by_side.c), so that there are reports within them. */
static nade_train_options short_options(void)
{
    static struct heard unused;
    nade_train_options o = trial_options(&unused);
    o.iterations = 6;
    o.updates = 60;
    return o;
}

static void test_trials(void **state)
{
    struct fixture *f = *state;
    static struct told told, alone;
    nade_train_options o = short_options();
    nade_model *model = check_threads(f, f->few, f->few_valid, &o, &told);
    assert_true(told.heard.trials == 5 && told.heard.rungs == 5);
    assert_true(told.made == (6 + 4 * 2) * 60);
    o = chosen_options(&o, model);
    nade_model *same = train_with(f, 2, f->few, f->few_valid, &o, &alone);
    assert_same_file(f, model, same);
    nade_model_free(same);
    nade_model_free(model);
}

static void test_trials_in_folds(void **state)
{
    struct fixture *f = *state;
    static struct told told;
    nade_train_options o = short_options();
    o.folds = 3;
    nade_model *model = check_threads(f, f->few, NULL, &o, &told);
    assert_true(told.heard.trials == 5 && told.heard.folds == 3);
    assert_true(told.made == ((6 + 4 * 2) * 3 + model->record.best_iteration) * 60);
    nade_model_free(model);
}

static void test_duel(void **state)
{
    struct fixture *f = *state;
    static struct told told;
    nade_train_options o = duel_options(NULL);
    nade_model_free(check_threads(f, f->many, f->many_valid, &o, &told));
    assert_int_equal(told.heard.rungs, 7);
}

/* A report within an iteration ends all at the same update, with one candidate and with several. */
static void test_stop(void **state)
{
    struct fixture *f = *state;
    static struct told told;
    nade_train_options o = short_options();
    told.stop_after = 12; /* five of iteration 0, five of the first round, two iterations */
    nade_model_free(check_threads(f, f->few, f->few_valid, &o, &told));
    assert_true(told.heard.chosen > 0 && told.heard.rungs == 0);
    memset(&told, 0, sizeof told);
    told.stop_after = 7;
    nade_model_free(check_threads(f, f->few, f->few_valid, &o, &told));
    assert_int_equal(told.made, 5 * 50);
    o.folds = 3;
    o.effort = NADE_EFFORT_QUICK;
    memset(&told, 0, sizeof told);
    told.stop_after = 6;
    nade_model_free(check_threads(f, f->few, NULL, &o, &told));
}

/* The fourth candidate diverges, as a direct path does whose decay is above 2 / rate. */
static void test_divergence(void **state)
{
    struct fixture *f = *state;
    static struct told told;
    nade_train_options o = short_options();
    o.direct_decay = 1e6;
    nade_model_free(check_threads(f, f->many, f->many_valid, &o, &told));
    assert_true(told.heard.done[3] == 0 && told.heard.rungs == 4);
    o.retries = 2;
    memset(&told, 0, sizeof told);
    nade_model_free(check_threads(f, f->many, f->many_valid, &o, &told));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trials), cmocka_unit_test(test_trials_in_folds), cmocka_unit_test(test_duel),
        cmocka_unit_test(test_stop),   cmocka_unit_test(test_divergence),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
