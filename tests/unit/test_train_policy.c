/* What training decides by itself: which rows it validates on and how often, rates, when it stops, what it refuses, and
 * what it says of itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/philox.h"
#include "binary_rows.h"
#include "train/split.h"

/* ---- validation ------------------------------------------------------------------------------------------------- */

/* Of 60,000 validation rows, a third zeros and then ones, the 20,000 used are spread over all: a model that has learnt
 * that ones are rare finds the loss of the mixture, not of the zeros alone. */
static void test_validation_rows_are_spaced(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 1000, rarely_one), *valid = binary_table(context, 60000, one_from_20000);
    nade_train_options o = small_options();
    o.iterations = 5;
    o.updates = 100;
    o.learning_rate = 0.05;
    nade_model *model = train(context, rows, valid, &o);
    double one = NAN, zero = NAN, states[] = {0, 1}, log_density[2];
    nade_table *both = NULL;
    support_assert_ok(context, nade_table_from_array(context, states, 2, 1, NULL, &both));
    support_assert_ok(context, nade_score(context, model, both, NULL, log_density, NULL, NULL));
    zero = -log_density[0];
    one = -log_density[1];
    assert_true(one > 5 * zero);
    assert_int_equal(model->record.valid_rows, 20000);
    size_t best = model->record.best_iteration;
    support_assert_close("validation loss", model->record.history[best - 1].valid_loss, zero / 3 + 2 * one / 3, 1e-3,
                         0);
    nade_table_free(both);
    nade_model_free(model);
    nade_table_free(valid);
    nade_table_free(rows);
}

/* About 16,000 draws, 4 to 64 a row. */
static void test_validation_repeats(void **state)
{
    const struct {
        size_t rows, repeats;
    } cases[] = {{1, 64}, {256, 64}, {257, 63}, {1000, 16}, {4096, 4}, {5000, 4}};
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 100, rarely_one);
    nade_train_options o = small_options();
    o.iterations = o.updates = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *valid = binary_table(context, cases[i].rows, rarely_one);
        nade_model *model = train(context, rows, valid, &o);
        assert_int_equal(model->record.valid_repeats, cases[i].repeats);
        nade_model_free(model);
        nade_table_free(valid);
    }
    nade_table_free(rows);
}

/* The nearest number of rows, half a row counting as one; at least one. */
static void test_split_rounds(void **state)
{
    const struct {
        size_t rows;
        double fraction;
        size_t held;
    } cases[] = {{14, 0.1, 1}, {15, 0.1, 2}, {16, 0.1, 2}, {10, 0.25, 3}, {10, 0.24, 2}, {2, 0.1, 1}, {10, 0, 0}};
    nade_context *context = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {context->allocator, NULL};
        struct split split = {0};
        nade_table *table = binary_table(context, cases[i].rows, rarely_one);
        support_assert_ok(context, nd_split_rows(context, &arena, table, cases[i].fraction, 1, &split));
        assert_int_equal(split.valid_count, cases[i].held);
        assert_int_equal(split.train_count, cases[i].rows - cases[i].held);
        nade_table_free(table);
        nd_arena_free(&arena);
    }
}

/* ---- when it ends ----------------------------------------------------------------------------------------------- */

/* Rows that say the opposite of the training rows: the first iteration is the best, and all later ones are worse. */
static void test_patience(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 200, rarely_one), *valid = binary_table(context, 50, always_one);
    nade_train_options o = small_options();
    o.iterations = 12;
    o.updates = 20;
    o.learning_rate = 0.01;
    for (uint64_t patience = 1; patience < 12; patience += 3) {
        o.patience = patience;
        nade_model *model = train(context, rows, valid, &o);
        assert_int_equal(model->record.best_iteration, 1);
        assert_int_equal(model->record.iterations_done, 1 + patience);
        nade_model_free(model);
    }
    o.patience = 0;
    o.cooldown = 0;
    nade_model *model = train(context, rows, valid, &o);
    assert_int_equal(model->record.iterations_done, 12);
    nade_model_free(model);
    nade_table_free(valid);
    nade_table_free(rows);
}

/* Batch, updates and iterations that are not given follow from the rows. */
static void test_lengths(void **state)
{
    static const struct {
        size_t rows;
        uint64_t batch, updates, iterations;
    } cases[] = {{100, 50, 40, 102}, {2000, 50, 160, 102}, {10000, 100, 400, 75}, {40000, 200, 800, 25}};
    nade_context *context = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *rows = binary_table(context, cases[i].rows, rarely_one);
        nade_train_options o = small_options();
        struct seen seen = {.stop_after = 1};
        o.batch = o.iterations = o.updates = 0;
        o.valid_fraction = 0;
        o.device = NADE_DEVICE_CPU;
        o.progress = note_iteration;
        o.progress_user = &seen;
        nade_model *model = train(context, rows, NULL, &o);
        assert_int_equal(model->record.options.batch, cases[i].batch);
        assert_int_equal(model->record.options.updates, cases[i].updates);
        assert_int_equal(model->record.options.iterations, cases[i].iterations);
        nade_model_free(model);
        nade_table_free(rows);
    }
}

/* ---- rates ------------------------------------------------------------------------------------------------------ */

static void test_default_rates(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 100, rarely_one);
    nade_train_options o = small_options();
    const struct {
        nade_optimizer optimizer;
        double given, rate;
    } cases[] = {{NADE_NAG, 0, 0.004},   {NADE_ADAM, 0, 0.001},   {NADE_LION, 0, 0.0002},
                 {NADE_NAG, 0.03, 0.03}, {NADE_ADAM, 0.03, 0.03}, {NADE_LION, 0.03, 0.03}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        o.optimizer = cases[i].optimizer;
        o.learning_rate = cases[i].given;
        nade_model *model = train(context, rows, NULL, &o);
        assert_true(model->record.options.learning_rate == cases[i].rate);
        nade_model_free(model);
    }
    nade_table_free(rows);
}

/* The rate of update u of U, counted from 0, is (1 - u/U) of the first; what is reported is that of the last one made.
 */
static int check_rate(void *user, const nade_progress *p)
{
    size_t *reports = user;
    ++*reports;
    double share = 1 - (double)(p->update - 1) / (double)p->updates;
    support_assert_close("reported rate", p->learning_rate, 0.02 * share, 1e-12, 0);
    return 0;
}

static void test_reported_rate(void **state)
{
    nade_context *context = *state;
    nade_table *rows = binary_table(context, 100, rarely_one);
    nade_train_options o = small_options();
    size_t reports = 0;
    o.learning_rate = 0.02;
    o.iterations = 3;
    o.progress = check_rate;
    o.progress_user = &reports;
    nade_model_free(train(context, rows, NULL, &o));
    assert_true(reports >= 3);
    nade_table_free(rows);
}

/* ---- limits ----------------------------------------------------------------------------------------------------- */

/* 10^15 standard deviations from the mean, on either side. */
static void test_farthest_value(void **state)
{
    double values[100], log_density;
    nade_context *context = *state;
    nade_table *rows = NULL;
    nade_train_options o = small_options();
    for (uint32_t row = 0; row < 100; row++)
        values[row] = (double)nd_random_uniform(nd_random_word(6, PURPOSE_SPLIT, row, 0, 0));
    support_assert_ok(context, nade_table_from_array(context, values, 100, 1, NULL, &rows));
    nade_model *model = train(context, rows, NULL, &o);
    const double sd = model->schema.column[0].sd, far[] = {0.99e15, -0.99e15, 1.01e15, -1.01e15};
    for (size_t i = 0; i < 4; i++) {
        double value = far[i] * sd;
        nade_table *table = NULL;
        support_assert_ok(context, nade_table_from_array(context, &value, 1, 1, NULL, &table));
        nade_status status = nade_score(context, model, table, NULL, &log_density, NULL, NULL);
        assert_int_equal(status, i < 2 ? NADE_OK : NADE_BAD_INPUT);
        if (i >= 2) assert_non_null(strstr(nade_last_error(context), "within 1e15 standard deviations"));
        nade_table_free(table);
    }
    nade_model_free(model);
    nade_table_free(rows);
}

/* Bytes live and the most that ever were; each block has its size in front. */
struct peak {
    size_t live, most;
};

enum { FRONT = 64 };

static void *counted_allocate(void *user, size_t bytes)
{
    struct peak *peak = user;
    char *block = malloc(bytes + FRONT);
    if (!block) return NULL;
    memcpy(block, &bytes, sizeof bytes);
    peak->live += bytes;
    if (peak->live > peak->most) peak->most = peak->live;
    return block + FRONT;
}

static void counted_release(void *user, void *block)
{
    struct peak *peak = user;
    size_t bytes;
    memcpy(&bytes, (char *)block - FRONT, sizeof bytes);
    peak->live -= bytes;
    free((char *)block - FRONT);
}

static int keep_estimate(void *user, const nade_train_plan *plan)
{
    *(uint64_t *)user = plan->memory;
    return 0;
}

/* What a run holds at most, and what its plan said of that; tables included in both. */
static void compare_memory_of(const char *what, size_t rows, size_t columns, const nade_train_options *network)
{
    struct peak peak = {0, 0};
    nade_context_options options;
    nade_context *context = NULL;
    nade_table *table = NULL;
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){&peak, counted_allocate, counted_release};
    options.threads = 1; /* so that counting needs no lock */
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    double *values = malloc(rows * columns * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < rows * columns; i++)
        values[i] = (double)nd_random_uniform(nd_random_word(6, PURPOSE_SPLIT, i, 0, 0));
    support_assert_ok(context, nade_table_from_array(context, values, rows, columns, NULL, &table));
    free(values);
    peak.most = peak.live;
    nade_train_options o = *network;
    uint64_t estimate = 0;
    o.iterations = o.updates = 1;
    o.planned = keep_estimate;
    o.planned_user = &estimate;
    nade_model_free(train(context, table, NULL, &o));
    double ratio = (double)peak.most / (double)estimate;
    if (!(ratio > 0.6 && ratio < 1.15))
        fail_msg("%s: training held %zu bytes, the estimate was %zu", what, peak.most, (size_t)estimate);
    nade_table_free(table);
    nade_context_free(context);
}

static void compare_memory(const char *what, size_t rows, size_t columns, size_t units, size_t batch,
                           nade_activation activation)
{
    const size_t layers[] = {units, units};
    nade_train_options o = small_options();
    o.hidden = layers;
    o.layers = 2;
    o.batch = batch;
    o.activation = activation;
    compare_memory_of(what, rows, columns, &o);
}

/* The same for a residual network. */
static void compare_residual(const char *what, size_t columns, size_t blocks, size_t width, size_t batch)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.components = 3;
    o.blocks = blocks;
    o.width = width;
    o.batch = batch;
    compare_memory_of(what, 100, columns, &o);
}

/* A table, a network and a batch that are by far the largest part of what is held. */
static void test_memory_estimate(void **state)
{
    (void)state;
    compare_memory("rows", 100000, 4, 4, 20, NADE_RELU);
    compare_memory("parameters", 100, 4, 1200, 20, NADE_RELU);
    compare_memory("batch", 100, 30, 60, 50000, NADE_RELU);
    compare_memory("hidden layers", 100, 2, 300, 5000, NADE_RELU);
    compare_memory("hidden layers and sums", 100, 2, 300, 5000, NADE_GELU);
    compare_residual("parameters of blocks", 4, 2, 700, 20);
    compare_residual("batch with a linear path", 40, 1, 50, 20000);
    compare_residual("blocks", 2, 3, 200, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_validation_rows_are_spaced),
        cmocka_unit_test(test_validation_repeats),
        cmocka_unit_test(test_split_rounds),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_default_rates),
        cmocka_unit_test(test_reported_rate),
        cmocka_unit_test(test_farthest_value),
        cmocka_unit_test(test_memory_estimate),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
