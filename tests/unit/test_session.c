/* Sessions: the same bytes as without one, whatever context asks and however often, and nothing left behind. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"
#include "support/work_support.h"

enum { CALLS = 10000, ALLOCATIONS_MOST = 2000 };

struct fixture {
    struct counting counting;
    nade_context *context;
    nade_table *table;
    nade_model *model;
    struct support_answers expected; /* without a session */
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    nade_train_options train;
    assert_non_null(f);
    f->context = model_support_counting_context(&f->counting);
    f->context->threads = 1; /* the counting allocator takes no locks */
    support_assert_ok(f->context, support_work_table(f->context, &f->table));
    support_work_options(&train);
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &train, &f->model));
    support_assert_ok(f->context, support_work_ask(f->context, f->model, f->table, NULL, &f->expected));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    nade_model_free(f->model);
    nade_table_free(f->table);
    nade_context_free(f->context);
    assert_int_equal(f->counting.live, 0);
    free(f);
    return 0;
}

static nade_session *open_session(const struct fixture *f, nade_device device)
{
    nade_session *session = NULL;
    support_assert_ok(f->context, nade_session_open(f->context, f->model, device, NADE_PRECISION_AUTO, &session));
    return session;
}

static void check_answers(const struct fixture *f, nade_context *context, nade_session *session)
{
    struct support_answers answers;
    support_assert_ok(context, support_work_ask(context, f->model, f->table, session, &answers));
    assert_memory_equal(&answers, &f->expected, sizeof answers);
}

static void test_same_bytes(void **state)
{
    struct fixture *f = *state;
    nade_session *session = open_session(f, NADE_DEVICE_CPU);
    for (int round = 0; round < 3; round++) check_answers(f, f->context, session);
    nade_session_free(session);
    nade_session_free(NULL);
}

/* The device of the session counts, not that of the options, which support_work_ask says is the CPU. */
static void test_own_device(void **state)
{
    struct fixture *f = *state;
    nade_session *reference = open_session(f, NADE_DEVICE_REFERENCE);
    struct support_answers answers;
    double log_density[WORK_ROWS];
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.orderings = 3;
    options.device = NADE_DEVICE_REFERENCE;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->table, &options, log_density, NULL, NULL));
    assert_memory_not_equal(log_density, f->expected.log_density, sizeof log_density);
    support_assert_ok(f->context, support_work_ask(f->context, f->model, f->table, reference, &answers));
    assert_memory_equal(answers.log_density, log_density, sizeof log_density);
    options.device = NADE_DEVICE_CUDA; /* of which there is none */
    options.session = reference;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->table, &options, log_density, NULL, NULL));
    nade_session_free(reference);
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    nade_session *session = open_session(f, NADE_DEVICE_CPU), *untouched = session;
    nade_model *other = model_support_build(f->context);
    double log_density[WORK_ROWS], before[WORK_ROWS];
    nade_score_options options;
    assert_int_equal(nade_session_open(f->context, f->model, NADE_DEVICE_CUDA, NADE_PRECISION_AUTO, &untouched),
                     NADE_NO_DEVICE);
    assert_int_equal(nade_session_open(f->context, f->model, NADE_DEVICE_CPU, NADE_PRECISION_TF32, &untouched),
                     NADE_BAD_CALL);
    assert_int_equal(nade_session_open(f->context, NULL, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &untouched),
                     NADE_BAD_CALL);
    assert_ptr_equal(untouched, session);
    nade_session_free(session);

    session = NULL;
    support_assert_ok(f->context, nade_session_open(f->context, other, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &session));
    nade_score_options_init(&options, sizeof options);
    options.session = session;
    memset(log_density, 0x5A, sizeof log_density);
    memcpy(before, log_density, sizeof before);
    assert_int_equal(nade_score(f->context, f->model, f->table, &options, log_density, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "another model"));
    assert_memory_equal(log_density, before, sizeof before);
    nade_session_free(session);
    nade_model_free(other);
}

/* Any context may ask; the one that it was opened with may be gone, with a limit on its memory too. */
static void test_outlives_its_context(void **state)
{
    struct fixture *f = *state;
    nade_context_options limited;
    nade_context *opener = NULL, *asker = NULL;
    nade_session *session = NULL;
    nade_context_options_init(&limited, sizeof limited);
    limited.max_memory = (size_t)64 << 20;
    assert_int_equal(nade_context_create(&limited, &opener), NADE_OK);
    assert_int_equal(nade_context_create(NULL, &asker), NADE_OK);
    support_assert_ok(opener, nade_session_open(opener, f->model, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &session));
    check_answers(f, opener, session);
    check_answers(f, asker, session);
    nade_context_free(opener);
    check_answers(f, asker, session);
    check_answers(f, f->context, session);
    nade_context_free(asker);
    nade_session_free(session);
}

/* Its scratch counts for the limit of the context that opened it. */
static void test_keeps_the_limit(void **state)
{
    struct fixture *f = *state;
    nade_context_options limited;
    nade_context *context = NULL;
    nade_session *session = NULL;
    nade_context_options_init(&limited, sizeof limited);
    limited.max_memory = 50000;
    assert_int_equal(nade_context_create(&limited, &context), NADE_OK);
    assert_int_equal(nade_session_open(context, f->model, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &session),
                     NADE_NO_MEMORY);
    assert_null(session);
    nade_context_free(context);
}

static void test_every_allocation_may_fail(void **state)
{
    struct fixture *f = *state;
    nade_session *session = NULL;
    size_t live = f->counting.live, failures = 0;
    for (size_t n = 1; n < ALLOCATIONS_MOST && !session; n++) {
        f->counting.calls = 0;
        f->counting.fail_at = n;
        nade_status status = nade_session_open(f->context, f->model, NADE_DEVICE_CPU, NADE_PRECISION_AUTO, &session);
        f->counting.fail_at = 0;
        if (status == NADE_OK) break;
        assert_int_equal(status, NADE_NO_MEMORY);
        assert_null(session);
        assert_int_equal(f->counting.live, live);
        failures++;
    }
    assert_true(failures > 3);
    assert_non_null(session);

    /* A call that fails for memory leaves the session as good as it was. */
    bool failed = true;
    for (size_t n = 1; n < ALLOCATIONS_MOST && failed; n++) {
        struct support_answers answers;
        f->counting.calls = 0;
        f->counting.fail_at = n;
        nade_status status = support_work_ask(f->context, f->model, f->table, session, &answers);
        failed = f->counting.calls >= n;
        f->counting.fail_at = 0;
        assert_int_equal(status, failed ? NADE_NO_MEMORY : NADE_OK);
    }
    assert_false(failed);
    check_answers(f, f->context, session);
    nade_session_free(session);
    assert_int_equal(f->counting.live, live);
}

/* One row of the table, in a table of its own, whose types do not matter. */
static nade_table *row_of(const struct fixture *f, const double *cells)
{
    nade_table *row = NULL;
    support_assert_ok(f->context, nade_table_from_array(f->context, cells, 1, WORK_COLUMNS, NULL, &row));
    return row;
}

/* What a service does: every row by itself, all through one session. */
static void test_many_rows_by_themselves(void **state)
{
    struct fixture *f = *state;
    nade_session *session = open_session(f, NADE_DEVICE_CPU);
    double values[WORK_CELLS];
    nade_table *rows[WORK_ROWS];
    nade_score_options score;
    nade_impute_options impute;
    size_t live = 0;
    nade_score_options_init(&score, sizeof score);
    nade_impute_options_init(&impute, sizeof impute);
    score.orderings = 3;
    score.session = impute.session = session;
    support_assert_ok(f->context, nade_table_values(f->context, f->model, f->table, NULL, values, NULL, NULL, NULL));
    for (size_t r = 0; r < WORK_ROWS; r++) rows[r] = row_of(f, values + r * WORK_COLUMNS);
    for (size_t call = 0; call < CALLS; call++) {
        size_t row = call % WORK_ROWS;
        double log_density, filled[WORK_COLUMNS], surprise[WORK_COLUMNS];
        support_assert_ok(f->context, nade_score(f->context, f->model, rows[row], &score, &log_density, NULL, NULL));
        assert_memory_equal(&log_density, &f->expected.log_density[row], sizeof log_density);
        memcpy(filled, values + row * WORK_COLUMNS, sizeof filled);
        impute.first = row;
        support_assert_ok(f->context, nade_impute(f->context, f->model, &impute, 1, filled, NULL, NULL));
        assert_memory_equal(filled, &f->expected.draw[row * WORK_COLUMNS], sizeof filled);
        support_assert_ok(f->context, nade_score_cells(f->context, f->model, rows[row], &score, surprise, NULL, NULL));
        if (call == WORK_ROWS) live = f->counting.live;
        if (call > WORK_ROWS) assert_int_equal(f->counting.live, live);
    }
    for (size_t r = 0; r < WORK_ROWS; r++) nade_table_free(rows[r]);
    nade_session_free(session);
}

int main(void)
{
    setenv("NADE_CUDA_BACKEND", "", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_own_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_outlives_its_context, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keeps_the_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_rows_by_themselves, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
