/* Trials with few components in columns' mixtures and with drawn rows: chosen where columns lean on each other as
 * Gaussians do and not where they lie in clusters, and the model is that of a run with as many given, in folds and of
 * several members too.
 */
#include "trial_fixture.h"

enum { COLUMNS = 6, ROWS = 200, VALID_ROWS = 300 };

static double uniform(uint32_t row, uint32_t column)
{
    return nd_random_word(7, PURPOSE_SPLIT, row, 5, column) / 0x1p32;
}

/* About normal, of deviation 1. */
static double normal(uint32_t row, uint32_t column)
{
    double sum = -6;
    for (uint32_t i = 0; i < 12; i++) sum += uniform(row, 100 * column + i);
    return sum;
}

/* The last column is -1.5 in some rows, an atom. */
static double leaning(uint32_t row, uint32_t column)
{
    double value = normal(row, 0) + normal(row, 1) * (column % 2 ? 1 : -1) + 0.3 * normal(row, 2 + column);
    return column == COLUMNS - 1 ? fmax(-1.5, value) : value;
}

static double clustered(uint32_t row, uint32_t column)
{
    double cluster = floor(4 * uniform(row, 0)) + 4 * floor(2 * uniform(row, 1));
    return fmod((column + 1) * cluster, 8) + 0.01 * normal(row, 2 + column);
}

/* What a table's trials choose, and that this is the run of these options. */
static size_t components_of(struct fixture *f, const nade_table *table, const nade_table *valid, uint64_t members)
{
    struct heard heard = {0}, alone = {0};
    nade_train_options o = trial_options(&heard);
    o.members = members;
    o.updates = 0; /* candidates have what they want */
    o.iterations = 12;
    nade_model *model = train(f, table, valid, &o);
    assert_int_equal(heard.trials, 4);
    size_t components = model->architecture.components;
    assert_int_equal(model->plan.components, components);
    o = chosen_options(&o, model);
    o.progress_user = o.planned_user = &alone;
    nade_model *same = train(f, table, valid, &o);
    assert_int_equal(alone.trials, 0);
    assert_same_file(f, model, same);
    nade_model_free(same);
    nade_model_free(model);
    return components;
}

static size_t components_for(struct fixture *f, double (*cell)(uint32_t row, uint32_t column), bool folds,
                             uint64_t members)
{
    nade_table *table = table_of(f->context, 0, ROWS, COLUMNS, cell);
    nade_table *valid = table_of(f->context, 1000, VALID_ROWS, COLUMNS, cell);
    size_t components = components_of(f, table, folds ? NULL : valid, members);
    nade_table_free(table);
    nade_table_free(valid);
    return components;
}

static void test_few_are_chosen(void **state)
{
    assert_int_equal(components_for(*state, leaning, false, 1), 2);
}

static void test_many_are_chosen(void **state)
{
    assert_int_equal(components_for(*state, clustered, false, 1), 20);
}

static void test_few_in_folds(void **state)
{
    assert_int_equal(components_for(*state, leaning, true, 1), 2);
}

static void test_few_in_members(void **state)
{
    assert_int_equal(components_for(*state, leaning, false, 2), 2);
}

static void test_given_components_stay(void **state)
{
    struct fixture *f = *state;
    struct heard heard = {0};
    nade_train_options o = trial_options(&heard);
    nade_table *table = table_of(f->context, 0, ROWS, COLUMNS, leaning);
    o.components = 7;
    nade_model *model = train(f, table, table, &o);
    assert_int_equal(heard.trials, 4);
    assert_int_equal(model->architecture.components, 7);
    nade_model_free(model);
    static const size_t given[] = {offsetof(nade_train_options, components)};
    o.components = 20;
    o.given = given;
    o.given_count = 1;
    model = train(f, table, table, &o);
    assert_int_equal(model->architecture.components, 20);
    nade_model_free(model);
    nade_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_are_chosen),        cmocka_unit_test(test_many_are_chosen),
        cmocka_unit_test(test_few_in_folds),          cmocka_unit_test(test_few_in_members),
        cmocka_unit_test(test_given_components_stay),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
