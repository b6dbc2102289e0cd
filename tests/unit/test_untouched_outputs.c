/* A call that fails leaves its outputs exactly as they were: each with the n-th allocation failing, for every n, and
 * with the progress function ending it at each of its calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "nade/check.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"
#include "support/work_support.h"

/* So many rows that scoring has two blocks, and cells more. */
enum { ROWS = 1100, CELLS = ROWS * WORK_COLUMNS, ORDERINGS = 2, ALLOCATIONS_MOST = 1000, CALLS_MOST = 100 };

/* All that the functions write. */
struct outputs {
    double log_density[ROWS], spread[ROWS], each[ROWS * ORDERINGS];
    nade_score_summary summary;
    double surprise[CELLS], tail[CELLS];
    int scored[WORK_COLUMNS];
    double values[CELLS], low[CELLS], high[CELLS];
    size_t source[WORK_COLUMNS], unseen;
    char first[256];
    nade_check_summary checked;
    nade_column_check column[WORK_COLUMNS];
    double baseline[WORK_ROWS], cell[WORK_CELLS];
    size_t components;
};

struct fixture {
    struct counting counting;
    nade_context *context;
    nade_table *small, *large;
    const nade_table *table; /* the one that is asked about */
    nade_model *model;
    struct outputs before, after;
    int calls, stop_at; /* of the progress function; stop_at 0: never */
};

static int on_progress(void *user, double done)
{
    struct fixture *f = user;
    assert_true(done > 0 && done <= 1);
    return ++f->calls == f->stop_at;
}

/* The work's table over and over. */
static nade_table *repeat(const struct fixture *f)
{
    double once[WORK_CELLS], *values = calloc(CELLS, sizeof *values);
    nade_table *table = NULL;
    assert_non_null(values);
    support_assert_ok(f->context, nade_table_values(f->context, f->model, f->small, NULL, once, NULL, NULL, NULL));
    for (size_t i = 0; i < CELLS; i++) values[i] = once[i % WORK_CELLS];
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, WORK_COLUMNS, NULL, &table));
    support_assert_ok(f->context, nade_table_set_type(f->context, table, "2", NADE_CATEGORICAL));
    free(values);
    return table;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    nade_train_options train;
    assert_non_null(f);
    f->context = model_support_counting_context(&f->counting);
    f->context->threads = 1;
    support_assert_ok(f->context, support_work_table(f->context, &f->small));
    support_work_options(&train);
    support_assert_ok(f->context, nade_train(f->context, f->small, NULL, &train, &f->model));
    f->large = repeat(f);
    f->table = f->small;
    memset(&f->before, 0x5A, sizeof f->before);
    f->before.summary.size = sizeof f->before.summary;
    f->before.checked.size = sizeof f->before.checked;
    f->before.column->size = sizeof *f->before.column;
    for (size_t i = 0; i < CELLS; i++) f->before.values[i] = i % 3 ? NAN : 1;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    nade_model_free(f->model);
    nade_table_free(f->small);
    nade_table_free(f->large);
    nade_context_free(f->context);
    assert_int_equal(f->counting.live, 0);
    free(f);
    return 0;
}

/* ---- the calls --------------------------------------------------------------------------------------------------- */

static nade_score_options score_options(struct fixture *f)
{
    nade_score_options o;
    nade_score_options_init(&o, sizeof o);
    o.orderings = ORDERINGS;
    o.device = NADE_DEVICE_CPU;
    o.progress = on_progress;
    o.progress_user = f;
    o.each = f->after.each;
    return o;
}

static nade_status score(struct fixture *f)
{
    nade_score_options o = score_options(f);
    return nade_score(f->context, f->model, f->table, &o, f->after.log_density, f->after.spread, &f->after.summary);
}

static nade_status score_cells(struct fixture *f)
{
    nade_score_options o = score_options(f);
    return nade_score_cells(f->context, f->model, f->table, &o, f->after.surprise, f->after.tail, f->after.scored);
}

static nade_status sample(struct fixture *f)
{
    nade_sample_options o;
    nade_sample_options_init(&o, sizeof o);
    o.device = NADE_DEVICE_CPU;
    return nade_sample(f->context, f->model, &o, WORK_ROWS, f->after.values);
}

static nade_status impute_by(struct fixture *f, nade_impute_method method)
{
    nade_impute_options o;
    nade_impute_options_init(&o, sizeof o);
    o.device = NADE_DEVICE_CPU;
    o.method = method;
    o.interval = 0.5;
    return nade_impute(f->context, f->model, &o, WORK_ROWS, f->after.values, f->after.low, f->after.high);
}

static nade_status impute_draws(struct fixture *f)
{
    return impute_by(f, NADE_IMPUTE_DRAW);
}

static nade_status impute_means(struct fixture *f)
{
    return impute_by(f, NADE_IMPUTE_MEAN);
}

static nade_status values(struct fixture *f)
{
    return nade_table_values(f->context, f->model, f->table, NULL, f->after.values, f->after.source, &f->after.unseen,
                             f->after.first);
}

static nade_status check(struct fixture *f)
{
    nade_score_options o = score_options(f);
    o.each = NULL;
    return nade_check(f->context, f->model, f->table, &o, &f->after.checked, f->after.column);
}

/* train_rows 0: by cross-fitting. */
static nade_status baseline_of(struct fixture *f, nade_baseline kind, size_t train_rows)
{
    const nade_baseline_options o = {.size = sizeof o,
                                     .kind = kind,
                                     .train = train_rows ? f->before.values : NULL,
                                     .train_rows = train_rows,
                                     .progress = on_progress,
                                     .progress_user = f};
    return nade_score_baseline(f->context, f->model, &o, WORK_ROWS, f->before.values, f->after.baseline, f->after.cell,
                               &f->after.components);
}

static nade_status gaussian(struct fixture *f)
{
    return baseline_of(f, NADE_BASELINE_GAUSSIAN, WORK_ROWS);
}

static nade_status mixture(struct fixture *f)
{
    return baseline_of(f, NADE_BASELINE_MIXTURE, 0);
}

/* Of so few rows there is one fit: each allocation's failure has its turn soon. */
static nade_status mixture_of_few(struct fixture *f)
{
    return baseline_of(f, NADE_BASELINE_MIXTURE, 9);
}

/* ---- the failures ------------------------------------------------------------------------------------------------ */

static void check_untouched(const struct fixture *f)
{
    assert_memory_equal(&f->after, &f->before, sizeof f->after);
}

static void fail_allocations(struct fixture *f, nade_status (*work)(struct fixture *f))
{
    bool failed = true;
    size_t n = 0, live = f->counting.live;
    while (failed && ++n < ALLOCATIONS_MOST) {
        memcpy(&f->after, &f->before, sizeof f->after);
        f->counting.calls = 0;
        f->counting.fail_at = n;
        nade_status status = work(f);
        failed = f->counting.calls >= n;
        f->counting.fail_at = 0;
        assert_int_equal(status, failed ? NADE_NO_MEMORY : NADE_OK);
        if (failed) check_untouched(f);
        assert_int_equal(f->counting.live, live);
    }
    assert_in_range(n, 2, ALLOCATIONS_MOST - 1);
    assert_memory_not_equal(&f->after, &f->before, sizeof f->after);
}

static void interrupt_each(struct fixture *f, nade_status (*work)(struct fixture *f), int calls_least)
{
    nade_status status = NADE_INTERRUPTED;
    for (f->stop_at = 1; status != NADE_OK && f->stop_at < CALLS_MOST; f->stop_at++) {
        memcpy(&f->after, &f->before, sizeof f->after);
        f->calls = 0;
        status = work(f);
        assert_int_equal(status, f->calls == f->stop_at ? NADE_INTERRUPTED : NADE_OK);
        if (status != NADE_OK) check_untouched(f);
    }
    assert_int_equal(status, NADE_OK);
    assert_true(f->calls >= calls_least);
    f->stop_at = 0;
}

static void test_memory(void **state)
{
    struct fixture *f = *state;
    nade_status (*const work[])(struct fixture *) = {
        score, score_cells, sample, impute_draws, impute_means, values, check, gaussian, mixture_of_few,
    };
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) fail_allocations(f, work[i]);
}

static void test_interruptions(void **state)
{
    struct fixture *f = *state;
    f->table = f->large;
    interrupt_each(f, score, 2);
    interrupt_each(f, score_cells, 5);
    interrupt_each(f, mixture, 5);
    f->table = f->small;
    interrupt_each(f, check, 1 + WORK_COLUMNS);
}

/* Rows that can't be: after many that could. */
static void test_bad_rows(void **state)
{
    struct fixture *f = *state;
    f->before.values[(WORK_ROWS - 1) * WORK_COLUMNS + 2] = 0.5; /* of a column of labels */
    nade_status (*const work[])(struct fixture *) = {sample, impute_draws, impute_means, gaussian, mixture};
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        memcpy(&f->after, &f->before, sizeof f->after);
        assert_int_equal(work[i](f), NADE_BAD_CALL);
        check_untouched(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interruptions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_rows, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
