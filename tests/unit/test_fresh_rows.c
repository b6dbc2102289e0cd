/* Rows that take the place of others while training goes on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 700, COLUMNS = 3, FRESH = 300, CALLS_MOST = 40 };

/* Rows around a centre; the second column follows the first. */
static void fill(uint32_t seed, size_t rows, double centre, double *values)
{
    for (uint32_t row = 0; row < rows; row++) {
        double u[COLUMNS];
        for (uint32_t c = 0; c < COLUMNS; c++)
            u[c] = (double)nd_random_uniform(nd_random_word(seed, PURPOSE_SPLIT, row, 0, c));
        values[row * COLUMNS] = centre + u[0];
        values[row * COLUMNS + 1] = centre + u[0] + 0.3 * u[1];
        values[row * COLUMNS + 2] = 10 * u[2];
    }
}

/* What the run asked for. */
struct source {
    double centre;
    uint64_t asked[CALLS_MOST];
    size_t calls;
    size_t fail_at; /* of the calls, counted from 1; 0: none */
    double bad;     /* put into a cell when it is not 0 */
};

static int make_fresh(void *user, uint64_t number, double *values)
{
    struct source *source = user;
    assert_true(source->calls < CALLS_MOST);
    source->asked[source->calls++] = number;
    fill(100 + (uint32_t)number, FRESH, source->centre, values);
    if (source->bad != 0) values[280 * COLUMNS + 1] = source->bad;
    return source->calls == source->fail_at;
}

struct fixture {
    nade_context *context;
    nade_table *table, *valid;
    char *folder;
    char path[200];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    static double values[ROWS * COLUMNS];
    *state = f;
    f->folder = model_support_folder();
    snprintf(f->path, sizeof f->path, "%s/checkpoint", f->folder);
    if (nade_context_create(NULL, &f->context) != NADE_OK) return 1;
    fill(1, ROWS, 5, values);
    if (nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &f->table) != NADE_OK) return 1;
    fill(2, ROWS, 5, values);
    return nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &f->valid) != NADE_OK;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    nade_table_free(f->table);
    nade_table_free(f->valid);
    nade_context_free(f->context);
    model_support_remove_folder(f->folder);
    free(f);
    return 0;
}

static nade_replication_options replication; /* of the last small_options */

static nade_train_options small_options(struct source *source)
{
    static const size_t hidden[] = {12, 8, 6};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 3;
    o.components = 3;
    o.maps = 0; /* fresh rows may be elsewhere than the first */
    o.batch = 40;
    o.iterations = 6;
    o.updates = 20;
    o.pretrain = 2;
    o.learning_rate = 0.005;
    o.valid_fraction = 0;
    o.device = NADE_DEVICE_CPU;
    replication = support_replication();
    replication.fresh = make_fresh;
    replication.fresh_user = source;
    replication.fresh_rows = FRESH;
    o.replication = &replication;
    return o;
}

static nade_model *train(struct fixture *f, const nade_train_options *o)
{
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, o, &model));
    return model;
}

/* Before every iteration but the first, counted through the stages. */
static void test_one_call_an_iteration(void **state)
{
    struct source source = {.centre = 5};
    nade_train_options o = small_options(&source);
    nade_model_free(train(*state, &o));
    assert_int_equal(source.calls, 9);
    for (size_t i = 0; i < source.calls; i++) assert_int_equal(source.asked[i], i);
}

/* Three calls replace all rows, which then lie elsewhere, where the model follows; units stay those of the first. */
static void test_the_model_follows(void **state)
{
    struct fixture *f = *state;
    static double values[ROWS * COLUMNS], log_density[ROWS];
    const double centres[] = {5, 8};
    struct source source = {.centre = 8};
    nade_train_options o = small_options(&source);
    double mean[2];
    o.pretrain = 0;
    o.iterations = 30;
    o.updates = 60;
    nade_model *model = train(f, &o);
    for (size_t i = 0; i < 2; i++) {
        nade_score_summary summary = {.size = sizeof summary};
        nade_table *table = NULL;
        fill(3, ROWS, centres[i], values);
        support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &table));
        support_assert_ok(f->context, nade_score(f->context, model, table, NULL, log_density, NULL, &summary));
        mean[i] = summary.mean;
        nade_table_free(table);
    }
    assert_true(mean[1] > mean[0] + 5);
    support_assert_close("mean", model->schema.column[0].mean, 5.5, 0, 0.05);
    nade_model_free(model);
}

static double first_rows[ROWS * COLUMNS];

/* Hands out the rows that are there already. */
static int repeat_rows(void *user, uint64_t number, double *values)
{
    size_t *calls = user;
    ++*calls;
    for (size_t row = 0; row < FRESH; row++)
        memcpy(values + row * COLUMNS, first_rows + (number * FRESH + row) % ROWS * COLUMNS, COLUMNS * sizeof *values);
    return 0;
}

/* Rows replaced by equal ones, each in its place: all that was encoded, and where, was right. */
static void test_equal_rows_change_nothing(void **state)
{
    struct fixture *f = *state;
    size_t calls = 0;
    nade_train_options o = small_options(NULL), without = o;
    fill(1, ROWS, 5, first_rows);
    replication.fresh = repeat_rows;
    replication.fresh_user = &calls;
    without.replication = NULL;
    nade_model *plain = train(f, &without), *repeated = train(f, &o);
    assert_int_equal(calls, 9);
    assert_memory_equal(plain->parameters, repeated->parameters, plain->plan.parameters * sizeof(float));
    assert_int_equal(plain->record.replication.fresh_rows, 0);
    assert_int_equal(repeated->record.replication.fresh_rows, FRESH);
    assert_true(plain->record.fingerprint == repeated->record.fingerprint);
    nade_model_free(plain);
    nade_model_free(repeated);
}

/* ---- going on ---------------------------------------------------------------------------------------------------- */

/* Stopped after any of the ten iterations, of which four pretrain, or within one. */
static void test_resumed_runs_have_the_same_bytes(void **state)
{
    struct fixture *f = *state;
    struct source source = {.centre = 6};
    nade_train_options o = small_options(&source);
    o.updates = 50;
    nade_model *whole = train(f, &o);
    for (int n = 1; n <= 11; n++) {
        struct support_stopper stopper = {0, n == 11 ? 7 : n};
        nade_train_options part = o, rest = o;
        struct source again = {.centre = 6};
        source.calls = 0;
        part.progress = n == 11 ? support_stop_within : support_stop_after;
        part.progress_user = &stopper;
        part.checkpoint = f->path;
        nade_model_free(train(f, &part));
        rest.resume = f->path;
        nade_replication_options later = replication;
        later.fresh_user = &again;
        rest.replication = &later;
        nade_model *resumed = train(f, &rest);
        model_support_compare(resumed, whole);
        if (n == 10) { /* nine calls made the pool; of these the last three are in it */
            assert_int_equal(again.calls, 3);
            assert_int_equal(again.asked[0], 6);
        }
        nade_model_free(resumed);
    }
    nade_model_free(whole);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void expect(struct fixture *f, const nade_table *table, const nade_table *valid, const nade_train_options *o,
                   nade_status status, const char *words)
{
    nade_model *model = NULL;
    assert_int_equal(nade_train(f->context, table, valid, o, &model), status);
    assert_null(model);
    if (!strstr(nade_last_error(f->context), words))
        fail_msg("'%s' does not say '%s'", nade_last_error(f->context), words);
}

static void test_what_can_not_be_done_is_refused(void **state)
{
    struct fixture *f = *state;
    struct source source = {.centre = 5};
    nade_train_options good = small_options(&source), o = good;
    nade_model *model = NULL;
    nade_replication_options bad = replication;
    o.replication = &bad;
    bad.fresh = NULL;
    expect(f, f->table, NULL, &o, NADE_BAD_CALL, "NULL");
    bad = replication;
    bad.fresh_rows = ROWS + 1;
    expect(f, f->table, NULL, &o, NADE_BAD_CALL, "at most");
    o = good;
    o.valid_fraction = 0.1;
    expect(f, f->table, NULL, &o, NADE_BAD_CALL, "validation table");
    support_assert_ok(f->context, nade_train(f->context, f->table, f->valid, &o, &model));
    nade_model_free(model);
    source.calls = 0;
    source.fail_at = 2;
    expect(f, f->table, NULL, &good, NADE_INTERRUPTED, "interrupted");
    source.fail_at = 0;
    source.bad = NAN;
    expect(f, f->table, NULL, &good, NADE_BAD_INPUT, "row 280 of the fresh rows 0, column '1'");
}

static void test_other_tables_are_refused(void **state)
{
    struct fixture *f = *state;
    static double values[ROWS * COLUMNS];
    struct source source = {.centre = 5};
    nade_train_options o = small_options(&source);
    nade_table *table = NULL;
    fill(1, ROWS, 5, values);
    values[4] = NAN;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &table));
    expect(f, table, NULL, &o, NADE_BAD_CALL, "column '1'");
    nade_table_free(table);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) values[i] = i % 7 < 3;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &table));
    expect(f, table, NULL, &o, NADE_BAD_CALL, "is binary");
    nade_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_call_an_iteration),           cmocka_unit_test(test_the_model_follows),
        cmocka_unit_test(test_equal_rows_change_nothing),       cmocka_unit_test(test_resumed_runs_have_the_same_bytes),
        cmocka_unit_test(test_what_can_not_be_done_is_refused), cmocka_unit_test(test_other_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
