/* Held-out cells that lie far from all that was learnt from do not choose the model: it is the one that empty cells in
 * their places would choose.  That is for slips: where more than few are far they all count. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "binary_rows.h"
#include "column_fixture.h"

enum { COLUMNS = 3, LEARNT = 120, HELD = 40 };

/* Around 0, so that no bound is found. */
static double number(uint32_t seed, size_t at)
{
    return -0.5 + (double)nd_random_uniform(nd_random_word(seed, PURPOSE_SPLIT, at, 0, 0));
}

static void fill(uint32_t seed, size_t rows, double *values)
{
    for (size_t at = 0; at < rows * COLUMNS; at++) values[at] = number(seed, at);
}

static nade_table *table_of(nade_context *context, const double *values, size_t rows)
{
    nade_table *table = NULL;
    support_assert_ok(context, nade_table_from_array(context, values, rows, COLUMNS, NULL, &table));
    return table;
}

/* Trained on numbers from -0.5 to 0.5, validated on held. */
static nade_model *validate_on(nade_context *context, const double *held, int maps)
{
    double learnt[LEARNT * COLUMNS];
    fill(1, LEARNT, learnt);
    nade_table *rows = table_of(context, learnt, LEARNT), *valid = table_of(context, held, HELD);
    nade_train_options o = small_options();
    o.maps = maps;
    nade_model *model = train(context, rows, valid, &o);
    nade_table_free(valid);
    nade_table_free(rows);
    return model;
}

static void assert_same_history(const nade_model *a, const nade_model *b)
{
    assert_int_equal(a->record.iterations_done, b->record.iterations_done);
    for (size_t i = 0; i < a->record.iterations_done; i++)
        assert_true(a->record.history[i].valid_loss == b->record.history[i].valid_loss);
}

static void test_far_cell_is_as_if_missing(void **state)
{
    const double far[] = {1000, -1000, 1.52, -1.52};
    double held[HELD * COLUMNS];
    (void)state;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        struct kept_warnings heard;
        nade_context *context = warned_context(&heard);
        fill(2, HELD, held);
        held[7] = NAN;
        nade_model *without = validate_on(context, held, 1);
        assert_int_equal(heard.count, 0);
        held[7] = far[i];
        nade_model *with = validate_on(context, held, 1);
        assert_int_equal(heard.count, 1);
        char text[64];
        snprintf(text, sizeof text, "%.15g in column '1'", far[i]);
        assert_non_null(strstr(heard.last, text));
        assert_same_history(with, without);
        nade_model_free(with);
        nade_model_free(without);
        nade_context_free(context);
    }
}

/* 2.7 deviations beyond the outermost cell, which are 0.29 each: 3.5 would be far. */
static void test_near_cells_count(void **state)
{
    double held[HELD * COLUMNS];
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    (void)state;
    fill(2, HELD, held);
    nade_model *usual = validate_on(context, held, 1);
    held[7] = 1.28;
    nade_model *near = validate_on(context, held, 1);
    assert_int_equal(heard.count, 0);
    assert_true(near->record.history[0].valid_loss != usual->record.history[0].valid_loss);
    nade_model_free(near);
    nade_model_free(usual);
    nade_context_free(context);
}

/* Without maps, as in the paper's recipe, all cells count. */
static void test_all_count_without_maps(void **state)
{
    double held[HELD * COLUMNS];
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    (void)state;
    fill(2, HELD, held);
    nade_model *usual = validate_on(context, held, 0);
    held[7] = 1000;
    nade_model *far = validate_on(context, held, 0);
    assert_int_equal(heard.count, 0);
    assert_true(far->record.history[0].valid_loss > usual->record.history[0].valid_loss + 100);
    nade_model_free(far);
    nade_model_free(usual);
    nade_context_free(context);
}

static nade_model *validate_rows(nade_context *context, const double *held, size_t rows)
{
    double learnt[LEARNT * COLUMNS];
    fill(1, LEARNT, learnt);
    nade_table *table = table_of(context, learnt, LEARNT), *valid = table_of(context, held, rows);
    nade_train_options o = small_options();
    nade_model *model = train(context, table, valid, &o);
    nade_table_free(valid);
    nade_table_free(table);
    return model;
}

/* A row of which nothing is left has no say, whichever of its cells comes first, nor has one that holds nothing. */
static void test_far_rows_go(void **state)
{
    static const double last[][COLUMNS] = {{1000, -500, NAN}, {-500, 1000, NAN}, {NAN, NAN, 1000}, {1e6, 1e6, 1e6}};
    double held[HELD * COLUMNS];
    (void)state;
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        struct kept_warnings heard;
        nade_context *context = warned_context(&heard);
        fill(2, HELD, held);
        nade_model *without = validate_rows(context, held, HELD - 1);
        memcpy(held + (HELD - 1) * COLUMNS, last[i], sizeof last[i]);
        nade_model *with = validate_rows(context, held, HELD);
        assert_int_equal(heard.count, 1);
        assert_same_history(with, without);
        assert_int_equal(with->record.valid_rows, HELD - 1);
        nade_model_free(with);
        nade_model_free(without);
        nade_context_free(context);
    }
}

/* What shares of rows are slips: up to so many of so many cells of a column are left out; one more, and all count. */
static void test_more_than_slips_count(void **state)
{
    static const struct {
        size_t rows, slips;
    } cases[] = {{39, 1}, {40, 2}, {299, 2}, {300, 3}};
    double held[300 * COLUMNS];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t far = cases[i].slips; far <= cases[i].slips + 1; far++) {
            struct kept_warnings heard;
            char share[64];
            nade_context *context = warned_context(&heard);
            fill(2, cases[i].rows, held);
            for (size_t row = 0; row < far; row++) held[row * COLUMNS + 1] = 1000;
            nade_model *model = validate_rows(context, held, cases[i].rows);
            assert_int_equal(heard.count, 1);
            snprintf(share, sizeof share, "%.3g %% of the held-out cells in column '1' lie far",
                     100 * (double)far / (double)cases[i].rows);
            bool counts = far > cases[i].slips;
            assert_true(counts == (strstr(heard.last, share) != NULL));
            assert_true(counts == (model->record.history[0].valid_loss > 3));
            assert_true(counts || (strstr(heard.last, "cells of the held-out rows, such as") != NULL) == (far > 1));
            nade_model_free(model);
            nade_context_free(context);
        }
}

/* Rows that hold nothing else: each of the columns has few far cells, and together they would take out too many. */
static void test_rows_of_slips(void **state)
{
    for (size_t far = 2; far <= 3; far++) {
        double held[HELD * COLUMNS];
        struct kept_warnings heard;
        nade_context *context = warned_context(&heard);
        (void)state;
        fill(2, HELD, held);
        for (size_t row = 0; row < far; row++)
            for (size_t c = 0; c < COLUMNS; c++) held[row * COLUMNS + c] = row == c ? 1000 : NAN;
        nade_model *model = validate_rows(context, held, HELD);
        assert_int_equal(heard.count, 1);
        assert_int_equal(model->record.valid_rows, far > 2 ? HELD : HELD - far);
        assert_true((far > 2) == (model->record.history[0].valid_loss > 3));
        assert_true((far > 2) == (strstr(heard.last, "7.5 % of the held-out rows lie far") != NULL));
        nade_model_free(model);
        nade_context_free(context);
    }
}

/* A column all of whose held-out cells are far does not vanish. */
static void test_all_far(void **state)
{
    double held[HELD * COLUMNS];
    struct kept_warnings heard;
    nade_context *context = warned_context(&heard);
    (void)state;
    for (size_t at = 0; at < HELD * COLUMNS; at++) held[at] = 1000;
    nade_model *model = validate_on(context, held, 1);
    assert_int_equal(heard.count, 1);
    assert_non_null(strstr(heard.last, "100 % of the held-out cells in column '0', and many in others, lie far"));
    assert_int_equal(model->record.valid_rows, HELD);
    assert_true(model->record.history[0].valid_loss > 100);
    nade_model_free(model);
    nade_context_free(context);
}

/* Each row is held out in one fold: a cell far from all others is there once, and nothing else changes with its size.
 */
static void test_folds(void **state)
{
    double values[LEARNT * COLUMNS], sizes[] = {1e3, 1e4};
    double loss[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct kept_warnings heard;
        nade_context *context = warned_context(&heard);
        fill(1, LEARNT, values);
        values[7] = sizes[i];
        nade_table *rows = table_of(context, values, LEARNT);
        nade_train_options o = small_options();
        o.atoms = 0;
        o.folds = 4;
        o.iterations = 1;
        nade_model *model = train(context, rows, NULL, &o);
        loss[i] = model->record.history[0].valid_loss;
        assert_true(heard.count >= 1);
        assert_non_null(strstr(heard.last, "held-out rows"));
        assert_non_null(strstr(heard.last, "column '1'"));
        nade_model_free(model);
        nade_table_free(rows);
        nade_context_free(context);
    }
    assert_true(fabs(loss[0] - loss[1]) < 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far_cell_is_as_if_missing),
        cmocka_unit_test(test_near_cells_count),
        cmocka_unit_test(test_all_count_without_maps),
        cmocka_unit_test(test_far_rows_go),
        cmocka_unit_test(test_more_than_slips_count),
        cmocka_unit_test(test_rows_of_slips),
        cmocka_unit_test(test_all_far),
        cmocka_unit_test(test_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
