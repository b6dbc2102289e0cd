/* Trainings at the same time, a thread and a context each, on tables that they share: each ends in the bytes of a
 * training alone, and its progress is reported from its own thread. */
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/philox.h"
#include "gpu_support.h"
#include "model/draws.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/support.h"

enum { ROWS = 300, COLUMNS = 5, RUNS = 3, ITERATIONS = 3, UPDATES = 30 };

struct tables {
    nade_context *context;
    nade_table *train, *valid;
};

struct training {
    const struct tables *tables;
    nade_precision precision;
    nade_order order;
    double rate;
    nade_context *context;
    nade_status status;
    nade_model *model;
    pthread_t thread;
    size_t reports, elsewhere; /* elsewhere: those from another thread */
};

/* Two real columns, three of 0 and 1, and holes. */
static void fill_values(uint32_t seed, double *values)
{
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t c = 0; c < COLUMNS; c++) {
            uint32_t word = nd_random_word(seed, PURPOSE_SPLIT, row, 1, c);
            double value = c < 2 ? (double)(word % 1000) / 100 : word % 2;
            values[row * COLUMNS + c] = word / 1000 % 20 == 0 ? NAN : value;
        }
}

static int setup(void **state)
{
    static struct tables t;
    double values[ROWS * COLUMNS];
    *state = &t;
    if (nade_context_create(NULL, &t.context) != NADE_OK) return 1;
    fill_values(1, values);
    if (nade_table_from_array(t.context, values, ROWS, COLUMNS, NULL, &t.train) != NADE_OK) return 1;
    fill_values(2, values);
    return nade_table_from_array(t.context, values, ROWS, COLUMNS, NULL, &t.valid) != NADE_OK;
}

static int teardown(void **state)
{
    struct tables *t = *state;
    nade_table_free(t->train);
    nade_table_free(t->valid);
    nade_context_free(t->context);
    return 0;
}

static int count_report(void *user, const nade_progress *report)
{
    struct training *training = user;
    (void)report;
    training->reports++;
    training->elsewhere += !pthread_equal(pthread_self(), training->thread);
    return 0;
}

static void *train(void *argument)
{
    static const size_t hidden[] = {24, 16};
    struct training *training = argument;
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.components = 3;
    o.batch = 50;
    o.iterations = ITERATIONS;
    o.updates = UPDATES;
    o.layers = training->order == NADE_ORDER_FIXED ? 1 : 2;
    o.order = training->order;
    o.pretrain = training->order == NADE_ORDER_FIXED ? 0 : 1;
    o.learning_rate = training->rate;
    o.device = gpu_stand_in() ? NADE_DEVICE_CPU : NADE_DEVICE_CUDA;
    o.precision = training->precision;
    o.progress = count_report;
    o.progress_user = training;
    training->thread = pthread_self();
    training->status =
        nade_train(training->context, training->tables->train, training->tables->valid, &o, &training->model);
    return NULL;
}

static void begin(struct training *training, const struct tables *tables, nade_precision precision, nade_order order,
                  size_t number)
{
    nade_context_options options;
    nade_context_options_init(&options, sizeof options);
    options.threads = 1 + (unsigned)number % 2;
    *training = (struct training){
        .tables = tables, .precision = precision, .order = order, .rate = 0.002 * (double)(number + 1)};
    assert_int_equal(nade_context_create(&options, &training->context), NADE_OK);
}

static void finish(struct training *training)
{
    nade_model_free(training->model);
    nade_context_free(training->context);
}

static void compare(const struct training *found, const struct training *expected)
{
    support_assert_ok(found->context, found->status);
    support_assert_ok(expected->context, expected->status);
    const struct nade_model *a = found->model, *b = expected->model;
    assert_int_equal(a->plan.parameters, b->plan.parameters);
    assert_memory_equal(a->parameters, b->parameters, a->plan.parameters * sizeof *a->parameters);
    assert_string_equal(nade_model_description(a), nade_model_description(b));
    assert_true(found->reports >= ITERATIONS);
    assert_int_equal(found->elsewhere, 0);
}

static void check(const struct tables *tables, nade_precision precision, nade_order order)
{
    struct training alone[RUNS], together[RUNS];
    pthread_t thread[RUNS];
    for (size_t i = 0; i < RUNS; i++) {
        begin(&alone[i], tables, precision, order, i);
        train(&alone[i]);
        begin(&together[i], tables, precision, order, i);
    }
    for (size_t i = 0; i < RUNS; i++) assert_int_equal(pthread_create(&thread[i], NULL, train, &together[i]), 0);
    for (size_t i = 0; i < RUNS; i++) pthread_join(thread[i], NULL);
    for (size_t i = 0; i < RUNS; i++) compare(&together[i], &alone[i]);
    assert_string_not_equal(nade_model_description(alone[0].model), nade_model_description(alone[1].model));
    for (size_t i = 0; i < RUNS; i++) {
        finish(&alone[i]);
        finish(&together[i]);
    }
}

static void test_all_orders(void **state)
{
    for (size_t i = 0; i < gpu_precision_count(); i++) check(*state, gpu_precisions[i].precision, NADE_ORDER_AGNOSTIC);
}

static void test_fixed_order(void **state)
{
    for (size_t i = 0; i < gpu_precision_count(); i++) check(*state, gpu_precisions[i].precision, NADE_ORDER_FIXED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_orders),
        cmocka_unit_test(test_fixed_order),
    };
    int code = gpu_support_begin();
    return code ? code : cmocka_run_group_tests(tests, setup, teardown);
}
