/* Outputs of a network that are not finite are refused by every verb, with the column's name. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/reference/reference.h"
#include "model/head.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { COLUMNS = 4, ROWS = 3 }; /* of model_support_build: binary, binary with labels, real, categorical */

struct fixture {
    nade_context *context;
    struct nade_model *model;
    nade_table *table;
    char *folder;
};

static void set_up(struct fixture *f)
{
    char path[256];
    static const char text[] = "smoker,sex,size,street\n1,male,0.5,rot\n0,female,-3,\n1,male,2,rot\n";
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    f->model = model_support_build(f->context);
    f->model->schema.named = false; /* its names are no UTF-8, so columns are matched by position */
    f->folder = model_support_folder();
    snprintf(path, sizeof path, "%s/rows.csv", f->folder);
    model_support_write(path, text, strlen(text));
    support_assert_ok(f->context, nade_table_read(f->context, path, NULL, &f->table));
}

static void tear_down(struct fixture *f)
{
    nade_table_free(f->table);
    nade_model_free(f->model);
    model_support_remove_folder(f->folder);
    nade_context_free(f->context);
}

/* The last hidden units become one and the output's weights as large as they can be: finite, all of them. */
static void blow_up(struct nade_model *model, size_t output)
{
    const struct plan *plan = &model->plan;
    const struct tensor_view *bias = &plan->tensor[nd_weight_index(plan->layers - 1) + 1];
    const struct tensor_view *weight = &plan->tensor[nd_weight_index(plan->layers)];
    for (size_t i = 0; i < bias->rows; i++) model->parameters[bias->offset + i] = 50;
    for (size_t i = 0; i < weight->columns; i++)
        model->parameters[weight->offset + output * weight->columns + i] = FLT_MAX;
}

static void expect_refusal(const struct fixture *f, nade_status status, const char *what, const char *name)
{
    char expected[120];
    snprintf(expected, sizeof expected, "the model's weights give no finite output for column '%s'", name);
    if (status != NADE_NOT_FINITE || !strstr(nade_last_error(f->context), expected))
        fail_msg("%s: status %d, \"%s\", expected \"%s\"", what, (int)status, nade_last_error(f->context), expected);
}

static void check_scores(const struct fixture *f, const char *name)
{
    double density[ROWS], surprise[ROWS * COLUMNS];
    nade_score_options o;
    nade_score_options_init(&o, sizeof o);
    expect_refusal(f, nade_score(f->context, f->model, f->table, &o, density, NULL, NULL), "score", name);
    assert_non_null(strstr(nade_last_error(f->context), "rows.csv, line 2: "));
    o.cells = 1;
    expect_refusal(f, nade_score(f->context, f->model, f->table, &o, density, NULL, NULL), "cell score", name);
    expect_refusal(f, nade_score_cells(f->context, f->model, f->table, &o, surprise, NULL, NULL), "cells", name);
    assert_non_null(strstr(nade_last_error(f->context), "rows.csv, line 2: "));
}

static void check_draws(const struct fixture *f, const char *name)
{
    double values[ROWS * COLUMNS], low[ROWS * COLUMNS], high[ROWS * COLUMNS];
    nade_sample_options o;
    nade_sample_options_init(&o, sizeof o);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) values[i] = NAN;
    expect_refusal(f, nade_sample(f->context, f->model, &o, ROWS, values), "sample", name);
    for (int method = NADE_IMPUTE_DRAW; method <= NADE_IMPUTE_MODE; method++) {
        nade_impute_options p;
        nade_impute_options_init(&p, sizeof p);
        p.method = (nade_impute_method)method;
        p.interval = method == NADE_IMPUTE_DRAW ? 0 : 0.9;
        expect_refusal(f, nade_impute(f->context, f->model, &p, ROWS, values, low, high), "impute", name);
        assert_non_null(strstr(nade_last_error(f->context), "row 0: "));
        assert_true(isnan(values[0]) != 0);
    }
}

/* Of the real column a logit, a mean and a log-scale: neither of the others lets a density be not finite by itself. */
static void test_every_verb_refuses(void **state)
{
    static const struct {
        size_t column, output;
    } cases[] = {{0, 0}, {1, 0}, {2, 0}, {2, 2}, {2, 4}, {2, 5}, {3, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        set_up(&f);
        blow_up(f.model, f.model->plan.column[cases[i].column].output + cases[i].output);
        check_scores(&f, f.model->schema.column[cases[i].column].name);
        check_draws(&f, f.model->schema.column[cases[i].column].name);
        tear_down(&f);
    }
}

/* A range is looked at before anything is drawn. */
static void test_ranges(void **state)
{
    struct fixture f;
    const double low[COLUMNS] = {-INFINITY, -INFINITY, 0, -INFINITY};
    double values[COLUMNS] = {NAN, NAN, NAN, NAN};
    nade_sample_options o;
    (void)state;
    set_up(&f);
    nade_sample_options_init(&o, sizeof o);
    o.low = low;
    blow_up(f.model, f.model->plan.column[2].output + 4);
    expect_refusal(&f, nade_sample(f.context, f.model, &o, 1, values), "a range", "size");
    tear_down(&f);
}

/* ---- what backends leave ----------------------------------------------------------------------------------------- */

static void check_backend(const struct backend_entries *entries, const struct nade_model *model, nade_context *context)
{
    const size_t order[] = {0, 2, 3, 1, 2, 0, 1, 3};
    const uint64_t draw[] = {0, 1};
    const uint32_t row[] = {0, 0};
    const struct sample_query sample = {.order = order, .draw = draw, .row = row, .bounded = SIZE_MAX};
    const struct score_query score = {order, 2, COLUMNS, 0, NULL};
    float cells[2 * COLUMNS], given[COLUMNS] = {1, 0, 0.5f, 2};
    const struct encoded_rows rows = {1, COLUMNS, ENCODED_FLOATS, given};
    double density[2];
    struct backend *backend;
    support_assert_ok(context, entries->open(context, &model->plan, NADE_PRECISION_AUTO, &backend));
    support_assert_ok(context, entries->set_block(context, backend, BLOCK_PARAMETERS, model->parameters));
    for (size_t i = 0; i < 2 * COLUMNS; i++) cells[i] = NAN;
    support_assert_ok(context, entries->sample_block(context, backend, &sample, 2, cells));
    for (size_t i = 0; i < 2 * COLUMNS; i++) assert_true((isnan(cells[i]) == 0) == (i == 0)); /* 0 is drawn before 2 */
    support_assert_ok(context, entries->score_block(context, backend, &rows, &score, density));
    assert_true(isnan(density[0]) && isnan(density[1]));
    entries->close(backend);
}

static void test_backends_leave_cells_undrawn(void **state)
{
    static const struct backend_entries *const all[] = {&nd_cpu_entries, &nd_reference_float};
    (void)state;
    for (size_t b = 0; b < sizeof all / sizeof *all; b++) {
        struct fixture f;
        set_up(&f);
        blow_up(f.model, f.model->plan.column[2].output + 4);
        check_backend(all[b], f.model, f.context);
        tear_down(&f);
    }
}

/* Outputs may be as large as float32 goes, and not larger: devices compute in it. */
static void test_what_is_finite(void **state)
{
    const double good[] = {(double)FLT_MAX, -(double)FLT_MAX, 0};
    const double bad[][3] = {{NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, -INFINITY}, {0, 0, 2.0 * (double)FLT_MAX}};
    const struct plan_column column = {.head = nd_head_for(NADE_CATEGORICAL), .output_width = 3, .values = 3};
    (void)state;
    assert_true(nd_outputs_are_finite(&column, good));
    assert_true(isfinite(nd_log_bin_or_density(&column, good, 1, 0)));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(nd_outputs_are_finite(&column, bad[i]));
        assert_true(isnan(nd_log_bin_or_density(&column, bad[i], 1, 0)) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_verb_refuses),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_backends_leave_cells_undrawn),
        cmocka_unit_test(test_what_is_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
