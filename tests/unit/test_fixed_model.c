/* Models of one ordering through the public interface: trained, saved, loaded, scored, and refused where another
 * ordering is asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/philox.h"
#include "model/model.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 300, COLUMNS = 4 };

static const size_t ordering[COLUMNS] = {2, 0, 3, 1};

struct fixture {
    nade_context *context;
    nade_table *table;
    nade_model *model;
    char *folder, path[4200];
};

/* Real columns that follow the first, with a hole here and there. */
static void fill_values(double *values)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        double first = (double)nd_random_uniform(nd_random_word(1, PURPOSE_SPLIT, row, 1, 0));
        for (uint32_t c = 0; c < COLUMNS; c++) {
            double noise = (double)nd_random_uniform(nd_random_word(1, PURPOSE_SPLIT, row, 2, c));
            bool hole = nd_random_word(1, PURPOSE_SPLIT, row, 3, c) % 10 == 0 && c != 0;
            values[row * COLUMNS + c] = hole ? NAN : first * (1 + c) + 0.3 * noise;
        }
    }
}

static int set_up(void **state, int rescale)
{
    static const size_t hidden[] = {20};
    static struct fixture f;
    double values[ROWS * COLUMNS];
    f = (struct fixture){0};
    nade_train_options o;
    fill_values(values);
    assert_int_equal(nade_context_create(NULL, &f.context), NADE_OK);
    support_assert_ok(f.context, nade_table_from_array(f.context, values, ROWS, COLUMNS, NULL, &f.table));
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 1;
    o.order = NADE_ORDER_FIXED;
    o.ordering = ordering;
    o.components = 3;
    o.batch = 50;
    o.iterations = 3;
    o.updates = 60;
    o.learning_rate = 0.02;
    nade_replication_options factors = support_replication();
    factors.rescale = rescale;
    o.replication = &factors;
    support_assert_ok(f.context, nade_train(f.context, f.table, NULL, &o, &f.model));
    f.folder = model_support_folder();
    snprintf(f.path, sizeof f.path, "%s/model", f.folder);
    support_assert_ok(f.context, nade_model_save(f.context, f.model, f.path));
    *state = &f;
    return 0;
}

static int setup(void **state)
{
    return set_up(state, 0);
}

static int setup_rescaled(void **state)
{
    return set_up(state, 1);
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    model_support_remove_folder(f->folder);
    nade_model_free(f->model);
    nade_table_free(f->table);
    nade_context_free(f->context);
    return 0;
}

static void test_saved_and_loaded_are_equal(void **state)
{
    struct fixture *f = *state;
    nade_model *loaded = NULL;
    support_assert_ok(f->context, nade_model_load(f->context, f->path, &loaded));
    model_support_compare(loaded, f->model);
    assert_memory_equal(loaded->plan.ordering, ordering, sizeof ordering);
    assert_non_null(strstr(nade_model_description(loaded), "\"order\":\"fixed\",\"ordering\":[2,0,3,1]"));
    assert_int_equal(strstr(nade_model_description(loaded), "rescale") != NULL, loaded->plan.rescale);
    nade_model_free(loaded);
}

/* They begin at one, and training moves them all. */
static void test_factors_are_learnt(void **state)
{
    struct fixture *f = *state;
    const struct plan *plan = &f->model->plan;
    assert_true(plan->rescale);
    const float *scale = f->model->parameters + plan->tensor[nd_scale_index(plan)].offset;
    for (size_t t = 0; t < COLUMNS; t++) assert_true(scale[t] != 1 && scale[t] > 0.3f && scale[t] < 3);
}

/* How many orderings are asked for, and from which seed, changes nothing; they can't disagree. */
static void test_orderings_have_no_effect(void **state)
{
    struct fixture *f = *state;
    double one[ROWS], many[ROWS], given[ROWS], spread[ROWS];
    size_t own[2 * COLUMNS];
    nade_score_options s;
    nade_score_summary summary = {.size = sizeof summary};
    nade_score_options_init(&s, sizeof s);
    s.orderings = 1;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->table, &s, one, NULL, NULL));
    s.orderings = 16;
    s.seed = 7;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->table, &s, many, spread, &summary));
    assert_memory_equal(many, one, sizeof one);
    assert_true(isnan(spread[0]) && isnan(summary.mean_spread));
    assert_true(fabs(summary.mean - summary.mean_ordering) < 1e-9 && summary.gain > 1);
    memcpy(own, ordering, sizeof ordering);
    memcpy(own + COLUMNS, ordering, sizeof ordering);
    s.orderings = 2;
    s.order = own;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->table, &s, given, NULL, NULL));
    assert_memory_equal(given, one, sizeof one);
    s.device = NADE_DEVICE_REFERENCE;
    support_assert_ok(f->context, nade_score(f->context, f->model, f->table, &s, given, NULL, NULL));
    support_assert_all_close("reference", one, given, ROWS, 1e-5);
}

static void test_another_ordering_is_refused(void **state)
{
    struct fixture *f = *state;
    const size_t orders[] = {2, 0, 3, 1, 0, 1, 2, 3};
    double log_density[ROWS];
    nade_score_options s;
    nade_score_options_init(&s, sizeof s);
    s.orderings = 2;
    s.order = orders;
    assert_int_equal(nade_score(f->context, f->model, f->table, &s, log_density, NULL, NULL), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(f->context), "trained for one fixed ordering and ordering 1 is another"));
    s.order = NULL;
    s.orderings = 0;
    assert_int_equal(nade_score(f->context, f->model, f->table, &s, log_density, NULL, NULL), NADE_BAD_CALL);
}

/* The file with one text replaced by another of the same length. */
static void expect_refused(struct fixture *f, const char *old, const char *new, const char *fragment)
{
    char other[4300];
    size_t size;
    char *bytes = model_support_read(f->path, &size), *at = bytes;
    nade_model *model = NULL;
    assert_int_equal(strlen(old), strlen(new));
    while (at < bytes + size - strlen(old) && memcmp(at, old, strlen(old)) != 0) at++;
    assert_memory_equal(at, old, strlen(old));
    memcpy(at, new, strlen(new));
    snprintf(other, sizeof other, "%s/other", f->folder);
    model_support_write(other, bytes, size);
    assert_int_equal(nade_model_load(f->context, other, &model), NADE_BAD_INPUT);
    if (!strstr(nade_last_error(f->context), fragment) || !strstr(nade_last_error(f->context), other))
        fail_msg("found '%s', expected '%s'", nade_last_error(f->context), fragment);
    free(bytes);
}

static void test_broken_factors_are_refused(void **state)
{
    struct fixture *f = *state;
    expect_refused(f, "\\\"rescale\\\":true", "\\\"rescale\\\":null",
                   "architecture.rescale is null, expected true or false");
    expect_refused(f, ",\\\"rescale\\\":true", "                 ",
                   "the model has 5 tensors, its architecture asks for 4");
    expect_refused(f, "\"position.scale\"", "\"position.scales", "JSON");
    expect_refused(f, "\"position.scale\"", "\"position.scalf\"", "the tensor position.scale is missing");
}

static void test_broken_files_are_refused(void **state)
{
    struct fixture *f = *state;
    expect_refused(f, "[2,0,3,1]", "[2,0,3,0]", "the fixed ordering has 0 at place 3, expected each column of 0 to 3");
    expect_refused(f, "[2,0,3,1]", "[2,0,9,1]", "architecture.ordering is 9, expected an integer of 0 to 3");
    expect_refused(f, "[2,0,3,1]", "[2,0,3  ]", "architecture.ordering is [2,0,3], expected a list of 4");
    expect_refused(f, "[2,0,3,1]", "[2,0,-1,]", "JSON");
    expect_refused(f, "\\\"masks\\\":false", "\\\"masks\\\":true ", "and input masks, expected 1 or 0 without");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_and_loaded_are_equal),
        cmocka_unit_test(test_orderings_have_no_effect),
        cmocka_unit_test(test_another_ordering_is_refused),
        cmocka_unit_test(test_broken_files_are_refused),
    };
    const struct CMUnitTest rescaled[] = {
        cmocka_unit_test(test_saved_and_loaded_are_equal),
        cmocka_unit_test(test_factors_are_learnt),
        cmocka_unit_test(test_orderings_have_no_effect),
        cmocka_unit_test(test_broken_factors_are_refused),
    };
    int failed = cmocka_run_group_tests(tests, setup, teardown);
    return failed + cmocka_run_group_tests_name("rescaled", rescaled, setup_rescaled, teardown);
}
