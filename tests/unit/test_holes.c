/* Training with holes: what is missing is learnt with the values, and stays out of everybody's sight. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/philox.h"
#include "model/model.h"
#include "model/model_file.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 4000, COLUMNS = 4, DRAWN = 20000 };

static double uniform(uint32_t row, uint32_t word)
{
    return (double)nd_random_uniform(nd_random_word(5, PURPOSE_SPLIT, 0, row, word));
}

/* Column 0 is a group.  Column 1, a number about the group, is missing in a tenth of one and 60 % of the other group;
 * column 2 is missing with it, or else rarely.  Column 3 is always there. */
static void fill(double *values)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        double *v = values + row * COLUMNS;
        v[0] = uniform(row, 0) < 0.4;
        bool hole = uniform(row, 1) < (v[0] != 0 ? 0.6 : 0.1);
        v[1] = hole ? NAN : v[0] + uniform(row, 2);
        v[2] = hole || uniform(row, 3) < 0.05 ? NAN : uniform(row, 4) < 0.5;
        v[3] = uniform(row, 5) < 0.8 ? v[0] : 1 - v[0];
    }
}

static nade_train_options small_options(void)
{
    static const size_t hidden[] = {48, 48};
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    o.hidden = hidden;
    o.layers = 2;
    o.iterations = 20;
    o.updates = 300;
    o.components = 3;
    o.learning_rate = 0.002;
    o.valid_fraction = 0;
    o.holes = 1;
    return o;
}

struct world {
    nade_context *context;
    nade_table *table;
    nade_model *model;
    double values[ROWS * COLUMNS];
};

static struct world world;

static int set_up(void **state)
{
    const nade_train_options options = small_options();
    *state = &world;
    fill(world.values);
    if (nade_context_create(NULL, &world.context) != NADE_OK ||
        nade_table_from_array(world.context, world.values, ROWS, COLUMNS, NULL, &world.table) != NADE_OK)
        return 1;
    return nade_train(world.context, world.table, NULL, &options, &world.model) != NADE_OK;
}

static int tear_down(void **state)
{
    (void)state;
    nade_model_free(world.model);
    nade_table_free(world.table);
    nade_context_free(world.context);
    return 0;
}

/* Draws rows of a group, NaN: of any. */
static void draw_group(const nade_model *model, bool holes, double group, double *values)
{
    nade_sample_options o;
    nade_sample_options_init(&o, sizeof o);
    o.holes = holes;
    for (size_t i = 0; i < (size_t)DRAWN * COLUMNS; i++) values[i] = i % COLUMNS == 0 ? group : NAN;
    support_assert_ok(world.context, nade_sample(world.context, model, &o, DRAWN, values));
}

static void draw(const nade_model *model, bool holes, double *values)
{
    draw_group(model, holes, NAN, values);
}

/* Of the rows in a group, the shares that lack column 1, column 2, both, and the group's own share. */
static void find_shares(const double *values, size_t rows, double group, double shares[4])
{
    double count = 0, found[3] = {0, 0, 0};
    for (size_t row = 0; row < rows; row++) {
        const double *v = values + row * COLUMNS;
        assert_false(isnan(v[0]) || isnan(v[3]));
        if (v[0] != group) continue;
        count++;
        found[0] += isnan(v[1]) ? 1 : 0;
        found[1] += isnan(v[2]) ? 1 : 0;
        found[2] += isnan(v[1]) && isnan(v[2]) ? 1 : 0;
    }
    for (size_t i = 0; i < 3; i++) shares[i] = found[i] / count;
    shares[3] = count / (double)rows;
}

static void test_shares(void **state)
{
    static double drawn[DRAWN * COLUMNS];
    (void)state;
    draw(world.model, true, drawn);
    for (int group = 0; group < 2; group++) {
        double expected[4], found[4];
        find_shares(world.values, ROWS, group, expected);
        find_shares(drawn, DRAWN, group, found);
        for (size_t i = 0; i < 4; i++) support_assert_close("a share of holes", found[i], expected[i], 0, 0.05);
    }
}

/* The same where the group is given. */
static void test_shares_given(void **state)
{
    static double drawn[DRAWN * COLUMNS];
    (void)state;
    for (int group = 0; group < 2; group++) {
        double expected[4], found[4];
        draw_group(world.model, true, group, drawn);
        find_shares(world.values, ROWS, group, expected);
        find_shares(drawn, DRAWN, group, found);
        for (size_t i = 0; i < 3; i++) support_assert_close("a share given", found[i], expected[i], 0, 0.06);
    }
}

/* Nobody sees the network's further columns: not the header's functions, not the file's list. */
static void test_out_of_sight(void **state)
{
    static double drawn[DRAWN * COLUMNS], scores[ROWS], surprise[ROWS * COLUMNS];
    size_t rows, columns;
    nade_score_options o;
    (void)state;
    assert_int_equal(nade_model_columns(world.model), COLUMNS);
    assert_int_equal(world.model->plan.columns, COLUMNS + 4);
    assert_non_null(nade_model_tensor(world.model, "hidden.0.weight", &rows, &columns));
    assert_int_equal(columns, 2 * (COLUMNS + 4) + (world.model->plan.column[1].input_width - 1));
    draw(world.model, false, drawn);
    for (size_t i = 0; i < (size_t)DRAWN * COLUMNS; i++) assert_true(isfinite(drawn[i]));
    nade_score_options_init(&o, sizeof o);
    support_assert_ok(world.context, nade_score(world.context, world.model, world.table, &o, scores, NULL, NULL));
    support_assert_ok(world.context,
                      nade_score_cells(world.context, world.model, world.table, &o, surprise, NULL, NULL));
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) assert_true(isnan(surprise[i]) == isnan(world.values[i]));
}

static double mean_score(const nade_model *model)
{
    static double scores[ROWS];
    nade_score_options o;
    nade_score_summary summary = {.size = sizeof summary};
    nade_score_options_init(&o, sizeof o);
    support_assert_ok(world.context, nade_score(world.context, model, world.table, &o, scores, NULL, &summary));
    return summary.mean;
}

/* The densities of what is there are those of a model that knows of no holes, but for what training leaves open. */
static void test_densities(void **state)
{
    nade_train_options o = small_options();
    nade_model *plain;
    (void)state;
    o.holes = 0;
    support_assert_ok(world.context, nade_train(world.context, world.table, NULL, &o, &plain));
    support_assert_close("mean log density", mean_score(world.model), mean_score(plain), 0, 0.05);
    nade_model_free(plain);
}

static void test_file(void **state)
{
    static double drawn[DRAWN * COLUMNS], again[DRAWN * COLUMNS];
    char *folder = model_support_folder(), path[256];
    nade_model *loaded;
    (void)state;
    snprintf(path, sizeof path, "%s/model", folder);
    support_assert_ok(world.context, nade_model_save(world.context, world.model, path));
    support_assert_ok(world.context, nade_model_load(world.context, path, &loaded));
    assert_string_equal(nade_model_description(loaded), nade_model_description(world.model));
    assert_non_null(strstr(nade_model_description(loaded), "\"holes\""));
    draw(world.model, true, drawn);
    draw(loaded, true, again);
    assert_memory_equal(drawn, again, sizeof drawn);
    nade_model_free(loaded);
    model_support_remove_folder(folder);
}

/* A table that lacks nothing has the same network with holes as without, and samples without any. */
static void test_complete_table(void **state)
{
    static double drawn[DRAWN * COLUMNS], plainly[DRAWN * COLUMNS];
    static double values[ROWS * COLUMNS];
    nade_train_options o = small_options();
    nade_model *with, *without;
    nade_table *table;
    (void)state;
    fill(values);
    for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++)
        if (isnan(values[i])) values[i] = i % COLUMNS == 1 ? uniform((uint32_t)i, 9) : 1;
    support_assert_ok(world.context, nade_table_from_array(world.context, values, ROWS, COLUMNS, NULL, &table));
    o.iterations = 2;
    support_assert_ok(world.context, nade_train(world.context, table, NULL, &o, &with));
    o.holes = 0;
    support_assert_ok(world.context, nade_train(world.context, table, NULL, &o, &without));
    assert_int_equal(with->plan.parameters, without->plan.parameters);
    assert_memory_equal(with->parameters, without->parameters, with->plan.parameters * sizeof(float));
    draw(with, true, drawn);
    draw(without, false, plainly);
    assert_memory_equal(drawn, plainly, sizeof drawn);
    nade_model_free(with);
    nade_model_free(without);
    nade_table_free(table);
}

/* The option is the checkpoint's, and what the rows lack is found once more. */
static void test_resume(void **state)
{
    char *folder = model_support_folder(), path[256];
    nade_train_options o = small_options(), resumed;
    struct support_stopper stopper = {0, 1};
    nade_model *whole, *part, *end;
    (void)state;
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    o.iterations = 3;
    o.updates = 50;
    support_assert_ok(world.context, nade_train(world.context, world.table, NULL, &o, &whole));
    o.checkpoint = path;
    o.progress = support_stop_after;
    o.progress_user = &stopper;
    support_assert_ok(world.context, nade_train(world.context, world.table, NULL, &o, &part));
    nade_train_options_init(&resumed, sizeof resumed);
    resumed.resume = path;
    support_assert_ok(world.context, nade_train(world.context, world.table, NULL, &resumed, &end));
    assert_string_equal(nade_model_description(end), nade_model_description(whole));
    assert_memory_equal(end->parameters, whole->parameters, whole->plan.parameters * sizeof(float));
    assert_memory_not_equal(part->parameters, whole->parameters, whole->plan.parameters * sizeof(float));
    nade_model_free(whole);
    nade_model_free(part);
    nade_model_free(end);
    model_support_remove_folder(folder);
}

static void test_refusals(void **state)
{
    nade_train_options o = small_options();
    nade_sample_options sampling;
    nade_model *model = NULL;
    double row[COLUMNS] = {NAN, NAN, NAN, NAN};
    (void)state;
    nade_sample_options_init(&sampling, sizeof sampling);
    o.order = NADE_ORDER_FIXED;
    o.layers = 1;
    assert_int_equal(nade_train(world.context, world.table, NULL, &o, &model), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(world.context), "`holes`"));
    model = model_support_build(world.context);
    sampling.holes = 1;
    assert_int_equal(nade_sample(world.context, model, &sampling, 1, row), NADE_BAD_CALL);
    assert_non_null(strstr(nade_last_error(world.context), "trained with `holes`"));
    nade_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),    cmocka_unit_test(test_shares_given), cmocka_unit_test(test_out_of_sight),
        cmocka_unit_test(test_densities), cmocka_unit_test(test_file),         cmocka_unit_test(test_complete_table),
        cmocka_unit_test(test_resume),    cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
