/* nade_sample: parts, given cells, units and steps, and what it refuses. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/sampling_support.h"

enum { ROWS = 300, COLUMNS = 4 }; /* of model_support_build: binary, binary with labels, real, categorical */

struct fixture {
    nade_context *context;
    struct nade_model *model;
    nade_sample_options options;
    double values[ROWS * COLUMNS];
};

static void empty(double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) values[i] = NAN;
}

static void set_up(struct fixture *f)
{
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    f->model = model_support_build(f->context);
    nade_sample_options_init(&f->options, sizeof f->options);
    f->options.seed = 5;
    empty(f->values, (size_t)ROWS * COLUMNS);
}

static void tear_down(struct fixture *f)
{
    nade_model_free(f->model);
    nade_context_free(f->context);
}

static void test_values_of_each_type(void **state)
{
    struct fixture f;
    bool seen[3] = {false, false, false};
    (void)state;
    set_up(&f);
    support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, ROWS, f.values));
    for (size_t row = 0; row < ROWS; row++) {
        const double *v = f.values + row * COLUMNS;
        assert_true(v[0] == 0 || v[0] == 1);
        assert_true(v[1] == 0 || v[1] == 1);
        /* Recorded in steps of 0.1: the very double that the text with one decimal reads as. */
        assert_true(v[2] == nearbyint(v[2] * 10) / 10);
        assert_true(v[3] == 0 || v[3] == 1 || v[3] == 2);
        seen[(size_t)v[3]] = true;
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    tear_down(&f);
}

/* Exact draws are mean + sd·z; otherwise they are those, rounded. */
static void test_units(void **state)
{
    struct fixture f;
    double exact[ROWS * COLUMNS], shifted[ROWS * COLUMNS];
    (void)state;
    set_up(&f);
    empty(exact, (size_t)ROWS * COLUMNS);
    empty(shifted, (size_t)ROWS * COLUMNS);
    support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, ROWS, f.values));
    struct column_spec *spec = &f.model->schema.column[2];
    f.options.exact = 1;
    support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, ROWS, exact));
    spec->mean += 100;
    spec->sd *= 3;
    support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, ROWS, shifted));
    size_t rounded = 0;
    for (size_t at = 2; at < (size_t)ROWS * COLUMNS; at += COLUMNS) {
        assert_true(fabs(f.values[at] - exact[at]) <= 0.05 + 1e-12);
        rounded += f.values[at] != exact[at];
        double z = (exact[at] - (spec->mean - 100)) / (spec->sd / 3);
        support_assert_close("units", shifted[at], spec->mean + spec->sd * z, 1e-12, 0);
    }
    assert_true(rounded > ROWS / 2);
    tear_down(&f);
}

/* Row i depends on seed and i alone, so a sample made in parts is the sample made at once. */
static void test_parts(void **state)
{
    struct fixture f;
    double parts[ROWS * COLUMNS];
    (void)state;
    set_up(&f);
    for (size_t orderings = 0; orderings <= 3; orderings += 3) {
        f.options.orderings = orderings;
        f.options.first = 0;
        empty(f.values, (size_t)ROWS * COLUMNS);
        empty(parts, (size_t)ROWS * COLUMNS);
        support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, ROWS, f.values));
        for (size_t first = 0, rows; first < ROWS; first += rows) {
            rows = first + 129 < ROWS ? first / 2 + 1 : ROWS - first;
            f.options.first = first;
            support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, rows, parts + first * COLUMNS));
        }
        assert_memory_equal(parts, f.values, sizeof parts);
    }
    f.options.first = (uint64_t)1 << 33;
    empty(parts, (size_t)ROWS * COLUMNS);
    support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, ROWS, parts));
    assert_memory_not_equal(parts, f.values, sizeof parts);
    tear_down(&f);
}

static void test_given_cells_come_back(void **state)
{
    struct fixture f;
    const double given[] = {1, 0, 0.123456789, NAN};
    (void)state;
    set_up(&f);
    for (size_t row = 0; row < ROWS; row++) memcpy(f.values + row * COLUMNS, given, sizeof given);
    support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, ROWS, f.values));
    for (size_t row = 0; row < ROWS; row++) assert_memory_equal(f.values + row * COLUMNS, given, 3 * sizeof *given);
    support_assert_ok(f.context, nade_sample(f.context, f.model, &f.options, 0, NULL));
    support_assert_ok(f.context, nade_sample(f.context, f.model, NULL, 1, f.values));
    tear_down(&f);
}

/* The call fails with a sentence that holds the text, and changes nothing. */
static void expect_refusal(struct fixture *f, const char *text)
{
    double before[ROWS * COLUMNS];
    memcpy(before, f->values, sizeof before);
    assert_int_equal(nade_sample(f->context, f->model, &f->options, ROWS, f->values), NADE_BAD_CALL);
    if (!strstr(nade_last_error(f->context), text)) print_error("%s\n", nade_last_error(f->context));
    assert_non_null(strstr(nade_last_error(f->context), text));
    assert_memory_equal(before, f->values, sizeof before);
}

static void test_refuses_given_cells(void **state)
{
    static const struct {
        size_t column;
        double value;
        const char *text;
    } cases[] = {
        {0, 2, "row 299, column 'smoker': found 2, expected a whole number from 0 to 1"},
        {1, 0.5, "column 'sex': found 0.5"},
        {1, -1, "found -1"},
        {2, INFINITY, "column 'size': found inf, expected a number"},
        {2, 1e300, "within 1e15 standard deviations"},
        {3, 3, "found 3, expected a whole number from 0 to 2"},
        {3, INFINITY, "found inf"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        set_up(&f);
        f.values[(ROWS - 1) * COLUMNS + cases[i].column] = cases[i].value;
        expect_refusal(&f, cases[i].text);
        tear_down(&f);
    }
}

static void test_refuses_orderings(void **state)
{
    const size_t order[] = {0, 1, 2, 3, 0, 1, 1, 3}, fixed[] = {3, 0, 2, 1};
    struct fixture f;
    (void)state;
    set_up(&f);
    f.options.order = order;
    expect_refusal(&f, "their number is 0");
    f.options.orderings = 2;
    expect_refusal(&f, "ordering 1 is no permutation of 0 to 3");
    f.options.order = NULL;
    f.options.orderings = 1000001;
    expect_refusal(&f, "expected 1 to 1000000");
    f.options.orderings = 1;
    f.options.device = (nade_device)77;
    expect_refusal(&f, "device 77");
    f.options.device = NADE_DEVICE_AUTO;
    f.model->plan.ordering = fixed;
    f.options.order = order;
    expect_refusal(&f, "one fixed ordering and ordering 0 is another");
    f.options.order = NULL;
    f.values[0] = 1; /* column 0, smoker, without column 3 */
    expect_refusal(&f, "row 0, column 'smoker' is given but 'Stra");
    for (size_t row = 0; row < ROWS; row++) f.values[row * COLUMNS] = 1;
    expect_refusal(&f, "column 'smoker' is given but 'Stra");
    assert_null(strstr(nade_last_error(f.context), "row")); /* all are given the same: none is meant */
    tear_down(&f);
}

static void test_parameters_beyond_all_bounds(void **state)
{
    struct fixture f;
    (void)state;
    set_up(&f);
    const struct plan *plan = &f.model->plan;
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(plan->layers)];
    float *mean = f.model->parameters + weight->offset + (plan->column[2].output + 2) * weight->columns;
    for (size_t i = 0; i < 2 * weight->columns; i++) mean[i] = FLT_MAX;
    assert_int_equal(nade_sample(f.context, f.model, &f.options, ROWS, f.values), NADE_NOT_FINITE);
    assert_non_null(strstr(nade_last_error(f.context), "'size'"));
    assert_true(isnan(f.values[0]) != 0);
    tear_down(&f);
}

/* Every allocation fails once: a status, nothing leaked, values untouched. */
static void test_no_memory(void **state)
{
    struct counting counting = {0};
    double values[3 * COLUMNS];
    (void)state;
    nade_context *context = model_support_counting_context(&counting);
    struct nade_model *model = model_support_build(context);
    nade_sample_options options;
    nade_sample_options_init(&options, sizeof options);
    options.orderings = 2;
    size_t live = counting.live, calls = counting.calls;
    empty(values, sizeof values / sizeof *values);
    support_assert_ok(context, nade_sample(context, model, &options, 3, values));
    size_t needed = counting.calls - calls;
    assert_true(needed > 5 && counting.live == live);
    for (size_t fail_at = 1; fail_at <= needed; fail_at++) {
        empty(values, sizeof values / sizeof *values);
        counting.calls = 0;
        counting.fail_at = fail_at;
        assert_int_equal(nade_sample(context, model, &options, 3, values), NADE_NO_MEMORY);
        assert_true(isnan(values[0]) != 0);
        assert_int_equal(counting.live, live);
    }
    counting.fail_at = 0;
    nade_model_free(model);
    nade_context_free(context);
    assert_int_equal(counting.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_each_type),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_given_cells_come_back),
        cmocka_unit_test(test_refuses_given_cells),
        cmocka_unit_test(test_refuses_orderings),
        cmocka_unit_test(test_parameters_beyond_all_bounds),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
