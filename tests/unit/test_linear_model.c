/* Models of one ordering without hidden layers through the public interface: what they learn, that a column sees only
 * those before it, files and checkpoints, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 400, COLUMNS = 4 };

static const size_t ordering[COLUMNS] = {2, 0, 3, 1}, none[] = {0};

struct fixture {
    nade_context *context;
    nade_table *table;
    nade_model *model;
    char *folder, path[4200];
};

static double uniform(uint32_t row, uint32_t number)
{
    return (double)nd_random_uniform(nd_random_word(1, PURPOSE_SPLIT, row, 1, number));
}

/* Binary columns: each of the others is mostly the third, the second mostly the last as well. */
static void fill_values(double *values)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        double *x = values + (size_t)row * COLUMNS;
        x[2] = uniform(row, 0) < 0.4;
        x[0] = uniform(row, 1) < 0.2 + 0.6 * x[2];
        x[3] = uniform(row, 2) < 0.3 + 0.4 * x[2];
        x[1] = uniform(row, 3) < 0.1 + 0.3 * x[2] + 0.5 * x[3];
    }
}

static nade_train_options options_of(nade_optimizer optimizer)
{
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = none;
    o.layers = 1;
    o.order = NADE_ORDER_FIXED;
    o.ordering = ordering;
    o.optimizer = optimizer;
    o.batch = 50;
    o.iterations = 6;
    o.updates = 60;
    o.learning_rate = optimizer == NADE_LION ? 0.01 : 0.05;
    o.weight_decay = 0.001;
    return o;
}

static nade_model *train(struct fixture *f, const nade_train_options *o)
{
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, o, &model));
    return model;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    double values[ROWS * COLUMNS];
    nade_train_options o = options_of(NADE_ADAM);
    *state = f;
    fill_values(values);
    if (nade_context_create(NULL, &f->context) != NADE_OK) return 1;
    support_assert_ok(f->context, nade_table_from_array(f->context, values, ROWS, COLUMNS, NULL, &f->table));
    f->model = train(f, &o);
    f->folder = model_support_folder();
    snprintf(f->path, sizeof f->path, "%s/model", f->folder);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    nade_model_free(f->model);
    nade_table_free(f->table);
    nade_context_free(f->context);
    model_support_remove_folder(f->folder);
    free(f);
    return 0;
}

static size_t position_of(size_t column)
{
    size_t t = 0;
    while (ordering[t] != column) t++;
    return t;
}

/* ---- what is learnt ------------------------------------------------------------------------------------------------
 */

/* log p of a row by plain logistic regressions, from the tensors as the model file has them. */
static double plain_log_density(const nade_model *model, const double *x)
{
    size_t rows, columns;
    const float *weight = nade_model_tensor(model, "output.weight", &rows, &columns);
    assert_true(rows == COLUMNS && columns == COLUMNS);
    const float *bias = nade_model_tensor(model, "output.bias", &rows, &columns);
    double sum = 0;
    for (size_t t = 0; t < COLUMNS; t++) {
        size_t c = ordering[t];
        double logit = (double)bias[c];
        for (size_t s = 0; s < t; s++) logit += (double)weight[c * COLUMNS + ordering[s]] * x[ordering[s]];
        sum -= log1p(exp(x[c] == 1 ? -logit : logit));
    }
    return sum;
}

static void test_logistic_regressions(void **state)
{
    struct fixture *f = *state;
    double values[ROWS * COLUMNS], scores[ROWS], plain[ROWS];
    nade_score_options s;
    nade_score_options_init(&s, sizeof s);
    fill_values(values);
    for (size_t row = 0; row < ROWS; row++) plain[row] = plain_log_density(f->model, values + row * COLUMNS);
    for (int reference = 0; reference < 2; reference++) {
        s.device = reference ? NADE_DEVICE_REFERENCE : NADE_DEVICE_CPU;
        support_assert_ok(f->context, nade_score(f->context, f->model, f->table, &s, scores, NULL, NULL));
        support_assert_all_close("density", scores, plain, ROWS, 1e-6);
    }
}

/* The second column of the ordering given the first can be anything: what is learnt best is the shares of the rows. */
static void test_shares_are_learnt(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = options_of(NADE_ADAM);
    double values[ROWS * COLUMNS], count[2] = {0}, ones[2] = {0};
    size_t rows, columns;
    o.valid_fraction = o.weight_decay = 0;
    o.iterations = 40;
    o.batch = ROWS;
    nade_model *model = train(f, &o);
    const float *weight = nade_model_tensor(model, "output.weight", &rows, &columns);
    const float *bias = nade_model_tensor(model, "output.bias", &rows, &columns);
    fill_values(values);
    for (size_t row = 0; row < ROWS; row++) {
        size_t given = (size_t)values[row * COLUMNS + ordering[0]];
        count[given]++;
        ones[given] += values[row * COLUMNS + ordering[1]];
    }
    for (int given = 0; given < 2; given++) {
        double logit = (double)bias[0] + given * (double)weight[ordering[0]];
        support_assert_close("share", 1 / (1 + exp(-logit)), ones[given] / count[given], 0, 0.01);
    }
    nade_model_free(model);
}

/* Of the rows that were not held out alone: the marginals are the start, which is validated as iteration 0. */
static void test_independent_columns_are_the_start(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = options_of(NADE_ADAM);
    nade_score_summary summary = {.size = sizeof summary};
    double scores[ROWS];
    nade_score_options s;
    nade_score_options_init(&s, sizeof s);
    o.learning_rate = 100; /* all else is worse */
    o.optimizer = NADE_NAG;
    nade_model *model = train(f, &o);
    assert_non_null(strstr(nade_model_description(model), "\"best_iteration\":0"));
    support_assert_ok(f->context, nade_score(f->context, model, f->table, &s, scores, NULL, &summary));
    support_assert_close("gain", summary.gain, 0, 0, 1e-6);
    nade_model_free(model);
}

/* Whatever the optimiser: zero means zero, and all other weights have moved. */
static void test_later_columns_have_no_weight(void **state)
{
    static const nade_optimizer optimizers[] = {NADE_NAG, NADE_ADAM, NADE_LION};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++) {
        nade_train_options o = options_of(optimizers[i]);
        size_t rows, columns;
        o.clip = i == 0 ? 0.1 : 0;
        nade_model *model = train(f, &o);
        const float *weight = nade_model_tensor(model, "output.weight", &rows, &columns);
        for (size_t c = 0; c < COLUMNS; c++)
            for (size_t j = 0; j < COLUMNS; j++)
                assert_int_equal(weight[c * COLUMNS + j] != 0, position_of(j) < position_of(c));
        assert_null(nade_model_tensor(model, "hidden.0.weight", &rows, &columns));
        nade_model_free(model);
    }
}

/* ---- files ---------------------------------------------------------------------------------------------------------
 */

static void test_saved_and_loaded_are_equal(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    support_assert_ok(f->context, nade_model_save(f->context, f->model, f->path));
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    model_support_compare(loaded, f->model);
    assert_int_equal(loaded->plan.layers, 0);
    assert_non_null(strstr(nade_model_description(loaded), "\"hidden\":[],"));
    nade_model_free(loaded);
}

static char *find_in(char *bytes, size_t size, const void *part, size_t length)
{
    char *at = bytes;
    while (at < bytes + size - length && memcmp(at, part, length) != 0) at++;
    assert_memory_equal(at, part, length);
    return at;
}

static void expect_sentence(const struct fixture *f, const char *fragment)
{
    if (!strstr(nade_last_error(f->context), fragment) || !strstr(nade_last_error(f->context), f->path))
        fail_msg("found '%s', expected '%s' of %s", nade_last_error(f->context), fragment, f->path);
}

/* The model's file with some bytes replaced by as many others. */
static void expect_refused(struct fixture *f, const void *old, const void *new, size_t length, const char *fragment)
{
    size_t size;
    nade_model *model = NULL;
    support_assert_ok(f->context, nade_model_save(f->context, f->model, f->path));
    char *bytes = model_support_read(f->path, &size);
    memcpy(find_in(bytes, size, old, length), new, length);
    model_support_write(f->path, bytes, size);
    assert_int_equal(nade_model_load(f->context, f->path, &model), NADE_BAD_INPUT);
    expect_sentence(f, fragment);
    free(bytes);
}

static void expect_text_refused(struct fixture *f, const char *old, const char *new, const char *fragment)
{
    assert_int_equal(strlen(old), strlen(new));
    expect_refused(f, old, new, strlen(old), fragment);
}

static void test_broken_files_are_refused(void **state)
{
    struct fixture *f = *state;
    size_t rows, columns;
    expect_text_refused(f, "\\\"hidden\\\":[]", "\\\"hidden\\\":{}", "architecture.hidden is");
    expect_text_refused(f, "\\\"order\\\":\\\"fixed\\\",\\\"ordering\\\":[2,0,3,1]",
                        "\\\"order\\\":\\\"agnostic\\\"                    ", "architecture.hidden is []");
    expect_text_refused(f, "\\\"masks\\\":false", "\\\"masks\\\":true ", "and input masks, expected 1 or 0 without");
    /* The last column of the ordering has a weight for itself, or the first for the last. */
    const float *weight = nade_model_tensor(f->model, "output.weight", &rows, &columns);
    for (int first = 0; first < 2; first++) {
        float changed[COLUMNS * COLUMNS];
        memcpy(changed, weight, sizeof changed);
        changed[first ? 2 * COLUMNS + 1 : 1 * COLUMNS + 1] = 1e-30f;
        expect_refused(f, weight, changed, sizeof changed, "comes before it in the model's fixed ordering, expected 0");
    }
}

/* ---- checkpoints ---------------------------------------------------------------------------------------------------
 */

static void stop_after(struct fixture *f, const nade_train_options *o, int iterations)
{
    struct support_stopper stopper = {0, iterations};
    nade_train_options part = *o;
    part.progress = support_stop_after;
    part.progress_user = &stopper;
    part.checkpoint = f->path;
    nade_model_free(train(f, &part));
}

static void test_resumed_runs_are_the_same(void **state)
{
    struct fixture *f = *state;
    nade_train_options o = options_of(NADE_ADAM);
    for (int n = 1; n <= 5; n += 2) {
        nade_train_options bare;
        stop_after(f, &o, n);
        nade_train_options_init(&bare, sizeof bare);
        bare.resume = f->path;
        nade_model *resumed = train(f, &bare);
        model_support_compare(resumed, f->model);
        nade_model_free(resumed);
    }
}

/* Another network than the checkpoint's is asked for. */
static void test_another_network_is_not_resumed(void **state)
{
    static const size_t one[] = {1};
    struct fixture *f = *state;
    nade_train_options o = options_of(NADE_ADAM);
    nade_model *model = NULL;
    stop_after(f, &o, 2);
    o.resume = f->path;
    o.hidden = one;
    assert_int_equal(nade_train(f->context, f->table, NULL, &o, &model), NADE_BAD_CALL);
    expect_sentence(f, "hidden");
}

/* A weight that must be zero, in the network or in a moment, which would push it. */
static void test_broken_checkpoints_are_refused(void **state)
{
    static const char *const tensors[] = {"\"parameters\"", "\"moment1\"", "\"best\""};
    struct fixture *f = *state;
    nade_train_options o = options_of(NADE_ADAM);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        size_t size, begin, own = 2 * COLUMNS + 2;
        const float one = 1;
        uint64_t header;
        nade_model *model = NULL;
        stop_after(f, &o, 2);
        char *bytes = model_support_read(f->path, &size);
        memcpy(&header, bytes, sizeof header);
        const char *entry = find_in(bytes, size, tensors[i], strlen(tensors[i]));
        assert_int_equal(sscanf(strstr(entry, "data_offsets\":["), "data_offsets\":[%zu", &begin), 1);
        memcpy(bytes + 8 + header + begin + own * sizeof one, &one, sizeof one);
        model_support_write(f->path, bytes, size);
        nade_train_options rest = o;
        rest.resume = f->path;
        assert_int_equal(nade_train(f->context, f->table, NULL, &rest, &model), NADE_BAD_INPUT);
        expect_sentence(f, "comes before it in the fixed ordering, expected 0");
        free(bytes);
    }
}

/* ---- options -------------------------------------------------------------------------------------------------------
 */

static void expect_bad_call(struct fixture *f, const nade_train_options *o, const char *sentence)
{
    nade_model *model = NULL;
    assert_int_equal(nade_train(f->context, f->table, NULL, o, &model), NADE_BAD_CALL);
    assert_string_equal(nade_last_error(f->context), sentence);
    assert_null(model);
}

static void test_options_that_cannot_be(void **state)
{
    static const size_t two[] = {0, 0};
    struct fixture *f = *state;
    nade_train_options o = options_of(NADE_ADAM);
    nade_replication_options factors = support_replication();
    o.order = NADE_ORDER_AGNOSTIC;
    o.ordering = NULL;
    expect_bad_call(f, &o,
                    "no hidden layer (`hidden` 0) is asked for without a fixed order, expected 1 or more units, or "
                    "that order");
    o = options_of(NADE_ADAM);
    o.hidden = two;
    o.layers = 2;
    expect_bad_call(f, &o, "hidden layer 0 has 0 units, expected 1 to 1000000");
    o = options_of(NADE_ADAM);
    factors.rescale = 1;
    o.replication = &factors;
    expect_bad_call(f, &o, "factors for the positions (rescale) are asked for without a hidden layer (`hidden` 0)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logistic_regressions),
        cmocka_unit_test(test_shares_are_learnt),
        cmocka_unit_test(test_independent_columns_are_the_start),
        cmocka_unit_test(test_later_columns_have_no_weight),
        cmocka_unit_test(test_saved_and_loaded_are_equal),
        cmocka_unit_test(test_broken_files_are_refused),
        cmocka_unit_test(test_resumed_runs_are_the_same),
        cmocka_unit_test(test_another_network_is_not_resumed),
        cmocka_unit_test(test_broken_checkpoints_are_refused),
        cmocka_unit_test(test_options_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
