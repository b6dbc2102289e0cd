/* One model and one table serve eight threads at once, each with a context of its own, and a process that was forked
 * after they were used: all get the bytes that a single thread gets. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka_all.h"
#include "support/support.h"
#include "support/work_support.h"

enum { THREADS = 8, ROUNDS = 4 };

struct shared {
    nade_context *context;
    nade_table *table;
    nade_model *model;
    struct support_answers answers;
};

struct user {
    const struct shared *shared;
    pthread_t thread;
    unsigned threads; /* that its own context may use */
    int wrong;        /* rounds that failed or gave other bytes */
};

static int set_up(void **state)
{
    static struct shared shared;
    nade_context_options options;
    nade_train_options train;
    nade_context_options_init(&options, sizeof options);
    options.threads = 1;
    assert_int_equal(nade_context_create(&options, &shared.context), NADE_OK);
    support_assert_ok(shared.context, support_work_table(shared.context, &shared.table));
    support_work_options(&train);
    support_assert_ok(shared.context, nade_train(shared.context, shared.table, NULL, &train, &shared.model));
    support_assert_ok(shared.context,
                      support_work_ask(shared.context, shared.model, shared.table, NULL, &shared.answers));
    *state = &shared;
    return 0;
}

static int tear_down(void **state)
{
    struct shared *shared = *state;
    nade_model_free(shared->model);
    nade_table_free(shared->table);
    nade_context_free(shared->context);
    return 0;
}

static void *ask(void *argument)
{
    struct user *user = argument;
    nade_context_options options;
    nade_context *context = NULL;
    nade_session *session = NULL;
    const nade_model *model = user->shared->model;
    struct support_answers answers;
    nade_context_options_init(&options, sizeof options);
    options.threads = user->threads;
    user->wrong = ROUNDS;
    if (nade_context_create(&options, &context) != NADE_OK) return NULL;
    if (nade_session_open(context, model, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &session) != NADE_OK) return NULL;
    for (int round = 0; round < ROUNDS; round++) {
        if (support_work_ask(context, model, user->shared->table, round % 2 ? session : NULL, &answers) == NADE_OK &&
            memcmp(&answers, &user->shared->answers, sizeof answers) == 0)
            user->wrong--;
    }
    nade_session_free(session);
    nade_context_free(context);
    return NULL;
}

static void test_eight_threads(void **state)
{
    struct user users[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        users[i] = (struct user){.shared = *state, .threads = 1 + i % 3};
        assert_int_equal(pthread_create(&users[i].thread, NULL, ask, &users[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(users[i].thread, NULL);
        assert_int_equal(users[i].wrong, 0);
    }
}

/* No thread outlives a call without a session, so nothing that the child needs is missing there: it can use what the
 * parent made, its context and several threads of its own included, and a session that it opens itself.  That of the
 * parent, whose threads stay there, is none of its business. */
static void test_fork_after_use(void **state)
{
    struct shared *shared = *state;
    nade_session *session = NULL;
    struct support_answers again;
    int status;
    support_assert_ok(shared->context, nade_session_open(shared->context, shared->model, NADE_DEVICE_CPU,
                                                         NADE_PRECISION_AUTO, &session));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct user user = {.shared = shared, .threads = 2};
        struct support_answers answers;
        nade_status asked = support_work_ask(shared->context, shared->model, shared->table, NULL, &answers);
        ask(&user);
        _exit(asked != NADE_OK || memcmp(&answers, &shared->answers, sizeof answers) != 0 || user.wrong != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    support_assert_ok(shared->context,
                      support_work_ask(shared->context, shared->model, shared->table, session, &again));
    assert_memory_equal(&again, &shared->answers, sizeof again);
    nade_session_free(session);
}

struct errand {
    const struct shared *shared;
    nade_context *context;
    nade_session *session;
    struct support_answers answers;
    nade_status status;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;
    errand->status = support_work_ask(errand->context, errand->shared->model, errand->shared->table, errand->session,
                                      &errand->answers);
    return NULL;
}

/* A session goes from thread to thread, as long as they use it in turn. */
static void test_session_changes_threads(void **state)
{
    struct shared *shared = *state;
    nade_context_options options;
    struct errand errand = {.shared = shared};
    nade_context_options_init(&options, sizeof options);
    options.threads = 3;
    assert_int_equal(nade_context_create(&options, &errand.context), NADE_OK);
    support_assert_ok(errand.context, nade_session_open(errand.context, shared->model, NADE_DEVICE_CPU,
                                                        NADE_PRECISION_AUTO, &errand.session));
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, run_errand, &errand), 0);
        pthread_join(thread, NULL);
        support_assert_ok(errand.context, errand.status);
        assert_memory_equal(&errand.answers, &shared->answers, sizeof errand.answers);
    }
    nade_context_free(errand.context);
    nade_session_free(errand.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eight_threads),
        cmocka_unit_test(test_fork_after_use),
        cmocka_unit_test(test_session_changes_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
