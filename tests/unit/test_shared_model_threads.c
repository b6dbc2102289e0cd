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
    support_assert_ok(shared.context, support_work_ask(shared.context, shared.model, shared.table, &shared.answers));
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
    struct support_answers answers;
    nade_context_options_init(&options, sizeof options);
    options.threads = user->threads;
    user->wrong = ROUNDS;
    if (nade_context_create(&options, &context) != NADE_OK) return NULL;
    for (int round = 0; round < ROUNDS; round++) {
        if (support_work_ask(context, user->shared->model, user->shared->table, &answers) == NADE_OK &&
            memcmp(&answers, &user->shared->answers, sizeof answers) == 0)
            user->wrong--;
    }
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

/* No thread outlives a call, so nothing that the child needs is missing there: it can use what the parent made, its
 * context and several threads of its own included. */
static void test_fork_after_use(void **state)
{
    struct shared *shared = *state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct user user = {.shared = shared, .threads = 2};
        struct support_answers answers;
        nade_status asked = support_work_ask(shared->context, shared->model, shared->table, &answers);
        ask(&user);
        _exit(asked != NADE_OK || memcmp(&answers, &shared->answers, sizeof answers) != 0 || user.wrong != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eight_threads),
        cmocka_unit_test(test_fork_after_use),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
