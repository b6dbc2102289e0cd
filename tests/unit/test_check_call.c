/* nade_check and nade_score_baseline as calls: what they refuse, callers of an older header, and sessions. */
#include <math.h>
#include <string.h>

#include "nade/check.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "support/work_support.h"

struct answer {
    nade_check_summary summary;
    nade_column_check column[WORK_COLUMNS];
};

static nade_context *context;
static nade_table *table;
static nade_model *model;

static int set_up(void **state)
{
    nade_train_options train;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    support_assert_ok(context, support_work_table(context, &table));
    support_work_options(&train);
    support_assert_ok(context, nade_train(context, table, NULL, &train, &model));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    nade_model_free(model);
    nade_table_free(table);
    nade_context_free(context);
    return 0;
}

static struct answer empty_answer(void)
{
    struct answer answer;
    memset(&answer, 0, sizeof answer);
    answer.summary.size = sizeof answer.summary;
    answer.column->size = sizeof *answer.column;
    return answer;
}

static void refuses(nade_status status, const char *words)
{
    assert_int_equal(status, NADE_BAD_CALL);
    if (!strstr(nade_last_error(context), words)) fail_msg("'%s' is not in '%s'", words, nade_last_error(context));
}

static void test_refused(void **state)
{
    struct answer answer = empty_answer();
    nade_score_options options;
    double values[WORK_CELLS] = {0}, scores[WORK_ROWS];
    const size_t beyond = WORK_COLUMNS;
    nade_baseline_options baseline = {.size = sizeof baseline, .kind = (nade_baseline)2};
    (void)state;
    nade_score_options_init(&options, sizeof options);
    refuses(nade_check(context, model, NULL, NULL, &answer.summary, answer.column), "needs a model, a table");
    options.cells = 1;
    refuses(nade_check(context, model, table, &options, &answer.summary, answer.column), "something else");
    answer.column->size = 0;
    refuses(nade_check(context, model, table, NULL, &answer.summary, answer.column), "size of the check's first");
    refuses(nade_score_baseline(context, model, NULL, 2, values, scores, NULL, NULL), "needs a model, options");
    refuses(nade_score_baseline(context, model, &baseline, 2, values, scores, NULL, NULL), "baseline number 2");
    baseline.kind = NADE_BASELINE_GAUSSIAN;
    baseline.columns = &beyond;
    baseline.column_count = 1;
    refuses(nade_score_baseline(context, model, &baseline, 2, values, scores, NULL, NULL), "found column 5");
    baseline.columns = NULL;
    assert_int_equal(nade_score_baseline(context, model, &baseline, 1, values, scores, NULL, NULL), NADE_BAD_INPUT);
}

/* With a session and without one the same; a shorter structure gets what it has room for. */
static void test_sessions_and_sizes(void **state)
{
    struct answer one = empty_answer(), other = one;
    nade_score_options options;
    struct {
        size_t size, cells;
        double p_value;
    } shorter[WORK_COLUMNS] = {{.size = sizeof *shorter}};
    (void)state;
    nade_score_options_init(&options, sizeof options);
    support_assert_ok(context, nade_check(context, model, table, NULL, &one.summary, one.column));
    support_assert_ok(context,
                      nade_session_open(context, model, NADE_DEVICE_AUTO, NADE_PRECISION_AUTO, &options.session));
    support_assert_ok(context, nade_check(context, model, table, &options, &other.summary, other.column));
    assert_memory_equal(&one, &other, sizeof one);
    support_assert_ok(context,
                      nade_check(context, model, table, &options, &other.summary, (nade_column_check *)shorter));
    for (size_t c = 0; c < WORK_COLUMNS; c++) {
        assert_int_equal(shorter[c].cells, one.column[c].cells);
        assert_true(shorter[c].p_value == one.column[c].p_value);
    }
    assert_true(one.summary.by_column && one.summary.rows == WORK_ROWS && *one.summary.verdict);
    nade_session_free(options.session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused), cmocka_unit_test(test_sessions_and_sizes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
