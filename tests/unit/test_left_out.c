/* Which columns are taken for numbers and names of rows, and that models of other columns know them. */
#include "column_fixture.h"

enum { ROWS = 60 };

/* A table of one column, whose cells the format makes of a number, and another one. */
static nade_table *read_column(nade_context *context, const char *name, const char *format, const size_t *numbers)
{
    struct csv_text csv = {.text = NULL};
    char cell[64];
    add_text(&csv, "%s,other\n", name);
    for (size_t i = 0; i < ROWS; i++) {
        snprintf(cell, sizeof cell, format, numbers[i]);
        add_text(&csv, "%s,%zu.5\n", cell, i * i % 17);
    }
    return read_made(context, &csv);
}

static void test_which_go(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format;
        size_t first, step, modulus;
        size_t columns;
    } cases[] = {
        {"id", "%zu", 0, 1, 10000, 1},
        {"id", "%zu", 1001, 1, 10000, 1},
        {"id", "%zu", 0, 7, ROWS, 1},
        {"id", "%zu", 5, 9, 10000, 1},
        {"id", "%zu", 5, 11, 10000, 2},
        {"x", "%zu", 0, 7, 61, 2},
        {"x", "%zu", 3, 977, 1009, 2},
        {"", "%zu", 3, 977, 1009, 1},
        {"Unnamed: 0", "%zu", 3, 977, 1009, 1},
        {"x", "%zu", 0, 1, ROWS - 1, 2},
        {"year", "%zu", 1960, 1, 10000, 2},
        {"day", "%zu", 20190101, 1, 30000000, 2},
        {"second", "%zu", 1600000000, 5, 2000000000, 2},
        {"x", "%zu.5", 0, 1, 10000, 2},
        {"name", "row %zu", 0, 1, 10000, 1},
        {"name", "row %zu", 0, 1, 56, 1},
        {"name", "row %zu", 0, 1, 31, 1},
        {"name", "row %zu", 0, 1, 30, 2},
        {"zip", "0%zu", 1000, 17, 100000, 1},
        {"x", "\"%zu,5\"", 0, 1, 10000, 2},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t numbers[ROWS];
        for (size_t row = 0; row < ROWS; row++)
            numbers[row] = (cases[i].first + row * cases[i].step) % cases[i].modulus;
        nade_table *table = read_column(context, cases[i].name, cases[i].format, numbers);
        assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, NULL), NADE_OK);
        if (nade_table_columns(table) != cases[i].columns) fail_msg("case %zu", i);
        assert_string_equal(column_of_table(table, cases[i].columns - 1).name, "other");
        nade_table_free(table);
    }
    nade_context_free(context);
}

static void test_what_stays(void **state)
{
    (void)state;
    size_t numbers[ROWS];
    nade_context *context = new_context();
    for (size_t row = 0; row < ROWS; row++) numbers[row] = row;
    nade_table *table = read_column(context, "id", "%zu", numbers);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, "none"), NADE_BAD_CALL);
    assert_sentence(context, "the list of columns to keep: found 'none'");
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, "id"), NADE_OK);
    assert_int_equal(nade_table_columns(table), 2);
    assert_int_equal(nade_table_set_type(context, table, "id", NADE_REAL), NADE_OK);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, NULL), NADE_OK);
    assert_int_equal(nade_table_columns(table), 2);
    nade_table_free(table);
    table = read_good(context, "a,b\n1,\n2,\n", NULL); /* too few rows to tell, and an empty column */
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, "b"), NADE_OK);
    assert_int_equal(nade_table_columns(table), 1);
    nade_table_free(table);
    double values[ROWS];
    for (size_t row = 0; row < ROWS; row++) values[row] = (double)row;
    assert_int_equal(nade_table_from_array(context, values, ROWS, 1, NULL, &table), NADE_OK);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, NULL), NADE_OK);
    assert_int_equal(nade_table_columns(table), 1);
    nade_table_free(table);
    nade_context_free(context);
}

/* A trained model, also after it was written and read, passes over the column, by its name or place. */
static void test_models_know_them(void **state)
{
    (void)state;
    size_t numbers[ROWS];
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    for (size_t row = 0; row < ROWS; row++) numbers[row] = row;
    nade_table *table = read_column(context, "id", "%zu", numbers), *bare;
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_COLUMNS, NULL), NADE_OK);
    assert_int_equal(warnings.count, 1);
    nade_model *model = train_small(context, table, 5), *read = reread(context, model);
    table = read_good(context, "id,other\n7,1.5\n8,2.5\n", NULL);
    bare = read_good(context, "7,1.5\n8,2.5\n", NULL);
    const nade_model *models[] = {model, read};
    for (size_t i = 0; i < 4; i++) {
        double values[2];
        size_t source;
        warnings.count = 0;
        assert_int_equal(
            nade_table_values(context, models[i / 2], i % 2 ? bare : table, NULL, values, &source, NULL, NULL),
            NADE_OK);
        assert_true(values[0] == 1.5 && values[1] == 2.5 && source == 1);
        assert_int_equal(warnings.count, 0);
    }
    nade_model_free(model);
    nade_model_free(read);
    nade_table_free(bare);
    nade_table_free(table);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_go),
        cmocka_unit_test(test_what_stays),
        cmocka_unit_test(test_models_know_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
