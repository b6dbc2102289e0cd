/* Numbers that stand for missing cells: which are found, what becomes of them, and that a model keeps them. */
#include "column_fixture.h"

#include <math.h>

/* A column of `rows` numbers from 20 on, a step apart, with `cells` cells that hold a text instead. */
static nade_table *read_column(nade_context *context, double step, size_t rows, size_t cells, const char *text)
{
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "a,b\n");
    for (size_t i = 0; i < rows; i++) {
        if (i % (rows / (cells ? cells : rows)) == 0 && i / (rows / (cells ? cells : rows)) < cells)
            add_text(&csv, "%s,%zu.5\n", text, i % 7);
        else
            add_text(&csv, "%g,%zu.5\n", 20 + step * (double)(i * 37 % 101), i % 7);
    }
    return read_made(context, &csv);
}

static void test_which_are_found(void **state)
{
    (void)state;
    static const struct {
        double step;
        size_t rows, cells;
        const char *text;
        size_t found;
    } cases[] = {
        {1, 6000, 300, "-999", 1},  {0.5, 200, 20, "-999", 1},  {0.5, 200, 5, "-999", 1},   {0.5, 200, 3, "-999", 1},
        {0.5, 200, 2, "-999", 0},   {0.5, 2000, 3, "-999", 0},  {0.5, 200, 20, "9999", 1},  {0.5, 200, 20, "100", 0},
        {0.5, 200, 20, "0", 0},     {0.5, 200, 0, "", 0},       {0.5, 200, 20, "-200", 1},  {0.5, 200, 20, "-1", 0},
        {0.01, 200, 20, "-1", 1},   {1000, 200, 20, "-999", 1}, {1000, 200, 20, "-998", 0}, {0.5, 200, 100, "-999", 1},
        {0.5, 200, 200, "-999", 0},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *table = read_column(context, cases[i].step, cases[i].rows, cases[i].cells, cases[i].text);
        assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, NULL), NADE_OK);
        if (table->column[0].missing_value_count != cases[i].found)
            fail_msg("case %zu: %zu found", i, table->column[0].missing_value_count);
        size_t missing = cases[i].found ? cases[i].cells : 0;
        assert_int_equal(table->column[0].missing, missing);
        for (size_t row = 0; row < cases[i].rows; row++) missing -= isnan(number_at(table, row, 0)) ? 1 : 0;
        assert_int_equal(missing, 0);
        assert_int_equal(table->column[1].missing, 0);
        nade_table_free(table);
    }
    nade_context_free(context);
}

/* Grades and kinds that are integers: what people write for unknown ones, far from the others, is missing, and the
 * column is what it is without. */
static void test_among_few_integers(void **state)
{
    (void)state;
    static const struct {
        double values[6];
        size_t count;
        const char *text;
        size_t found;
        nade_type type;
    } cases[] = {
        {{1, 2, 3, 4, 5}, 5, "-999", 1, NADE_CATEGORICAL},
        {{1, 2, 3, 4, 5}, 5, "9999", 1, NADE_CATEGORICAL},
        {{1, 2, 3, 4, 5}, 5, "98", 1, NADE_CATEGORICAL},
        {{1, 2, 3, 4, 5}, 5, "-9", 1, NADE_CATEGORICAL},
        {{2001, 2002, 2003}, 3, "-1", 1, NADE_CATEGORICAL},
        {{1, 2, 3, 4, 5}, 5, "-1", 0, NADE_CATEGORICAL}, /* not far */
        {{1, 2, 3, 4, 5}, 5, "9", 0, NADE_CATEGORICAL},
        {{1, 2, 3, 4, 5}, 5, "100", 0, NADE_CATEGORICAL}, /* a kind as any other */
        {{10, 20, 50}, 3, "99", 0, NADE_CATEGORICAL},
        {{0, 1}, 2, "-999", 1, NADE_BINARY},
        {{1}, 1, "-999", 0, NADE_CATEGORICAL}, /* what is left would say nothing */
    };
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csv_text csv = {.text = NULL};
        add_text(&csv, "a,b\n");
        for (size_t row = 0; row < 400; row++) {
            if (row % 10 == 3)
                add_text(&csv, "%s,%zu.5\n", cases[i].text, row % 7);
            else
                add_text(&csv, "%g,%zu.5\n", cases[i].values[row % cases[i].count], row % 7);
        }
        nade_table *table = read_made(context, &csv);
        warnings.count = 0;
        assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, NULL), NADE_OK);
        const struct table_column *column = &table->column[0];
        if (column->missing_value_count != cases[i].found) fail_msg("case %zu", i);
        assert_int_equal(warnings.count, cases[i].found);
        assert_int_equal(column->missing, cases[i].found ? 40 : 0);
        assert_int_equal(column->label_count, cases[i].count + 1 - cases[i].found);
        assert_int_equal(column->type, cases[i].type);
        for (size_t row = 0; row < 400; row++)
            assert_true(isnan(number_at(table, row, 0)) == (cases[i].found && row % 10 == 3));
        nade_table_free(table);
    }
    nade_table *table = read_good(context, "a\n1\n2\n-999\n1\n2\n-999\n1\n2\n-999\n1\n2\n1\n2\n1\n2\n", NULL);
    assert_int_equal(nade_table_set_type(context, table, "a", NADE_CATEGORICAL), NADE_OK);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, NULL), NADE_OK);
    assert_int_equal(table->column[0].label_count, 3); /* labels because somebody said so */
    nade_table_free(table);
    nade_context_free(context);
}

/* A label's number is not the number of a label: 99 of them and the sentinel 99 do not meet. */
static void test_labels_beside_sentinels(void **state)
{
    (void)state;
    struct csv_text csv = {.text = NULL};
    nade_context *context = new_context();
    add_text(&csv, "a,b\n");
    for (size_t row = 0; row < 600; row++)
        add_text(&csv, "%d,%zu.5\n", row % 6 == 5 ? -1 : (int)(10 + row % 6), row % 7);
    nade_table *table = read_made(context, &csv);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, NULL), NADE_OK);
    nade_model *model = train_small(context, table, 5), *read = reread(context, model);
    table = read_good(context, "a,b\n-1,1.5\n11,1.5\n-1.0,2.5\n", NULL);
    double values[6], density[3];
    assert_int_equal(nade_table_values(context, read, table, NULL, values, NULL, NULL, NULL), NADE_OK);
    assert_true(isnan(values[0]) && values[2] == 1 && isnan(values[4]));
    assert_int_equal(nade_score(context, read, table, NULL, density, NULL, NULL), NADE_OK);
    struct column_spec *spec = &read->schema.column[0];
    const double one[] = {1}; /* as the number of label 1 */
    spec->missing_values = one;
    nade_sample_options sample;
    nade_sample_options_init(&sample, sizeof sample);
    assert_int_equal(nade_sample(context, read, &sample, 1, values + 2), NADE_OK);
    nade_table_free(table);
    nade_model_free(model);
    nade_model_free(read);
    nade_context_free(context);
}

/* More than 1000 different numbers are stored otherwise; several at both ends are found together. */
static void test_both_ends_of_doubles(void **state)
{
    (void)state;
    enum { ROWS = 3000 };
    static double values[ROWS];
    static const double codes[] = {-999, -998, 9999};
    for (size_t i = 0; i < ROWS; i++) values[i] = i % 10 < 3 ? codes[i % 10] : 0.001 * (double)(i * 7919 % 30011);
    nade_context *context = new_context();
    for (int keep = 0; keep < 2; keep++) {
        nade_table *table;
        assert_int_equal(nade_table_from_array(context, values, ROWS, 1, NULL, &table), NADE_OK);
        assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, keep ? "0" : NULL), NADE_OK);
        const struct table_column *column = &table->column[0];
        assert_int_equal(column->storage, STORE_DOUBLES);
        assert_int_equal(column->missing_value_count, keep ? 0 : 3);
        assert_int_equal(column->missing, keep ? 0 : ROWS / 10 * 3);
        if (!keep) assert_true(column->missing_values[0] == -999 && column->missing_values[2] == 9999);
        nade_table_free(table);
    }
    nade_table *table = read_column(context, 0.5, 200, 20, "-999");
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, "c"), NADE_BAD_CALL);
    assert_sentence(context, "the list of columns that keep their sentinels: found 'c'");
    nade_table_free(table);
    nade_context_free(context);
}

/* A trained model takes the number for a missing cell, also after it was written and read. */
static void test_model_keeps_them(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = read_column(context, 0.5, 200, 20, "-999");
    double values[6];
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_SENTINELS, NULL), NADE_OK);
    nade_model *model = train_small(context, table, 5), *read = reread(context, model);
    table = read_good(context, "a,b\n-999,1.5\n-999.0,2.5\n30,3.5\n", NULL);
    const nade_model *models[] = {model, read};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(nade_table_values(context, models[i], table, NULL, values, NULL, NULL, NULL), NADE_OK);
        assert_true(isnan(values[0]) && isnan(values[2]) && values[4] == 30 && values[1] == 1.5);
        values[0] = -999;
        nade_sample_options sample;
        nade_sample_options_init(&sample, sizeof sample);
        assert_int_equal(nade_sample(context, models[i], &sample, 1, values), NADE_BAD_CALL);
        assert_sentence(context, "column 'a': found -999, which training took for a missing cell");
    }
    nade_model_free(model);
    nade_model_free(read);
    nade_table_free(table);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_are_found),         cmocka_unit_test(test_among_few_integers),
        cmocka_unit_test(test_labels_beside_sentinels), cmocka_unit_test(test_both_ends_of_doubles),
        cmocka_unit_test(test_model_keeps_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
