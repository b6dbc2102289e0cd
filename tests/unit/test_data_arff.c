/* ARFF files: declarations, quotes and comments, what is declared against what is found, parts, and each way to be
 * wrong. */
#include "data_files.h"

#include <math.h>

#include "data/arff_table.h"

#define HEAD "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n"

static void assert_names(const nade_table *table, const char *const *names, size_t count)
{
    assert_int_equal(nade_table_columns(table), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(column_of_table(table, i).name, names[i]);
        assert_true(column_of_table(table, i).named);
    }
}

/* As files of UCI and OpenML have it. */
static const char iris[] = "% 1. Title: Iris Plants, \"a database\"\n%\n\n"
                           "@RELATION iris\n\n"
                           "@ATTRIBUTE sepallength\tREAL\n"
                           "@attribute 'sepal width, cm' Numeric % as measured\n"
                           "@attribute \"it's\" integer [0,7]\n"
                           "@attribute it\\'s string\n"
                           "   @attribute class{Iris-setosa, 'Iris versi\\'color',\"c d\"}\n"
                           "% the rows\n"
                           "@DATA\n"
                           "% 50 of each\n"
                           "5.1, 3.5 ,0,  plain text,Iris-setosa\n"
                           "\n"
                           "4.9,?,7,'50%, or \"half\"','Iris versi\\'color' % the second\n"
                           "  ?,3.25,1,\"it's\",  \"c d\"  \n";

static void test_declarations_and_rows(void **state)
{
    (void)state;
    static const char *const names[] = {"sepallength", "sepal width, cm", "it's", "it\\'s", "class"};
    static const char *const texts[] = {"plain text", "50%, or \"half\"", "it's"};
    static const char *const classes[] = {"Iris-setosa", "Iris versi'color", "c d"};
    nade_context *context = new_context();
    nade_table *table = read_good(context, iris, NULL);
    assert_int_equal(nade_table_rows(table), 3);
    assert_names(table, names, 5);
    assert_true(number_at(table, 0, 0) == 5.1 && number_at(table, 1, 0) == 4.9 && isnan(number_at(table, 2, 0)));
    assert_true(number_at(table, 0, 1) == 3.5 && isnan(number_at(table, 1, 1)) && number_at(table, 2, 1) == 3.25);
    for (size_t row = 0; row < 3; row++) {
        assert_string_equal(text_at(table, row, 3), texts[row]);
        assert_string_equal(text_at(table, row, 4), classes[row]);
    }
    assert_int_equal(nd_table_position(table, 0), 14);
    assert_int_equal(nd_table_position(table, 1), 16);
    nade_table_free(table);
    nade_context_free(context);
}

static void test_line_ends_mark_and_gzip(void **state)
{
    (void)state;
    static const char *const texts[] = {"\xEF\xBB\xBF" HEAD "1,a\n2,b\n",
                                        "@relation r\r\n@attribute x real\r\n@attribute y {a,b}\r\n@data\r\n1,a\r\n2,b",
                                        "@relation r\r@attribute x real\r@attribute y {a,b}\r@data\r1,a\r2,b\r",
                                        "\n\n% c\n" HEAD "1,a\n% c\n2,b\n% end"};
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t packed;
        unsigned char *bytes = pack(texts[i], strlen(texts[i]), &packed);
        nade_table *plain = read_good(context, texts[i], NULL), *unpacked;
        assert_int_equal(read_bytes(context, bytes, packed, NULL, &unpacked), NADE_OK);
        const nade_table *both[] = {plain, unpacked};
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(nade_table_rows(both[k]), 2);
            assert_true(number_at(both[k], 1, 0) == 2);
            assert_string_equal(text_at(both[k], 1, 1), "b");
        }
        nade_table_free(plain);
        nade_table_free(unpacked);
        free(bytes);
    }
    nade_context_free(context);
}

/* 60 rows of few whole numbers, each often: categorical in CSV, here what is declared. */
static void test_declared_types(void **state)
{
    (void)state;
    static const nade_type expected[] = {NADE_REAL, NADE_CATEGORICAL, NADE_BINARY, NADE_BINARY, NADE_CATEGORICAL};
    char text[4096] = "@relation r\n@attribute n integer\n@attribute k {1,2,3}\n@attribute zero_one numeric\n"
                      "@attribute two { '3}', 4 } % of two\n@attribute rare string\n@data\n";
    for (int row = 0; row < 60; row++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d,%d,%d,%d,%d.5\n", row % 3 + 1, row % 3 + 1,
                 row % 2, row % 2 + 3, row % 9);
    nade_context *context = new_context();
    nade_table *table = read_good(context, text, NULL);
    for (size_t i = 0; i < 5; i++) assert_int_equal(column_of_table(table, i).type, expected[i]);
    nade_table_free(table);
    nade_context_free(context);
}

/* Blank lines are nothing, in tables of one column too. */
static void test_one_column(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = read_good(context, "@relation r\n@attribute x real\n@data\n1\n\n% c\n2\n", NULL);
    assert_int_equal(nade_table_rows(table), 2);
    assert_int_equal(column_of_table(table, 0).missing, 0);
    nade_table_free(table);
    nade_context_free(context);
}

static void test_options(void **state)
{
    (void)state;
    static const char *const names[] = {"x"};
    nade_read_options options;
    nade_context *context = new_context();
    nade_read_options_init(&options, sizeof options);
    options.drop = "y,when";
    options.delimiter = ';';
    options.header = 0;
    nade_table *table = read_good(
        context, "@relation r\n@attribute x real\n@attribute y {a}\n@attribute when date \"yyyy\"\n@data\n1;a;2020\n",
        &options);
    assert_names(table, names, 1);
    assert_true(number_at(table, 0, 0) == 1);
    nade_table_free(table);
    nade_context_free(context);
}

/* A file is scored with dates that the model does not ask for. */
static void test_extra_columns_may_be_anything(void **state)
{
    (void)state;
    static const char *const expected[] = {"x"};
    static const char text[] =
        "@relation r\n@attribute x real\n@attribute when date\n@attribute n real\n@data\n1,2020,?\n2,2021,b\n";
    nade_read_options options;
    nade_context *context = new_context();
    nade_read_options_init(&options, sizeof options);
    options.names = expected;
    options.name_count = 1;
    nade_table *table = read_good(context, text, &options);
    assert_int_equal(nade_table_rows(table), 2);
    nade_table_free(table);
    nade_context_free(context);
    refuse_text(text, "line 7, column 'n': found 'b', expected a number, as the file declares");
}

/* Few dates are dates where the file says so. */
static void test_dates(void **state)
{
    (void)state;
    static const char text[] = "@relation r\n@attribute when date \"yyyy-MM-dd'T'HH:mm\"\n@attribute x string\n@data\n"
                               "'2020-01-01T10:00',2020-01-01\n?,2020-01-02\n'2020-02-29T11:30',2020-01-03\n";
    nade_context *context = new_context();
    nade_table *table = read_good(context, text, NULL);
    nade_column when = {.size = sizeof when}, x = {.size = sizeof x};
    nade_table_column(table, 0, &when);
    nade_table_column(table, 1, &x);
    assert_int_equal(when.type, NADE_DATE);
    assert_int_equal(when.missing, 1);
    assert_string_equal(when.form, "YYYY-MM-DDThh:mm");
    assert_int_equal(x.type, NADE_CATEGORICAL);
    assert_null(x.form);
    nade_table_free(table);
    nade_context_free(context);
}

/* Kept cells and names are those of a CSV file. */
static void test_kept_text(void **state)
{
    (void)state;
    static const char *const cells[] = {"5.1",
                                        "3.5",
                                        "0",
                                        "plain text",
                                        "Iris-setosa",
                                        "4.9",
                                        "?",
                                        "7",
                                        "\"50%, or \"\"half\"\"\"",
                                        "Iris versi'color",
                                        "?",
                                        "3.25",
                                        "1",
                                        "it's",
                                        "c d"};
    nade_read_options options;
    nade_reader *reader;
    nade_table *table;
    char path[64];
    nade_context *context = new_context();
    nade_read_options_init(&options, sizeof options);
    options.keep_text = 1;
    write_file(path, iris, strlen(iris));
    assert_int_equal(nade_reader_open(context, path, &options, &reader), NADE_OK);
    for (size_t row = 0; row < 3; row++) {
        assert_int_equal(nade_reader_next(context, reader, 1, &table), NADE_OK);
        assert_int_equal(nade_table_rows(table), 1);
        assert_int_equal(separator_of_table(table), ',');
        assert_string_equal(nade_table_text(table, NADE_NAMES, 0), "sepallength");
        assert_string_equal(nade_table_text(table, NADE_NAMES, 1), "\"sepal width, cm\"");
        for (size_t c = 0; c < 5; c++) assert_string_equal(nade_table_text(table, 0, c), cells[row * 5 + c]);
        assert_string_equal(nade_table_text(table, 0, 5), "\n");
        nade_table_free(table);
    }
    assert_int_equal(nade_reader_next(context, reader, 1, &table), NADE_OK);
    assert_null(table);
    nade_reader_free(reader);
    unlink(path);
    nade_context_free(context);
}

static void test_what_is_recognised(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum recognition expected;
    } cases[] = {{"", FILE_NEEDS_MORE},
                 {"@rel", FILE_NEEDS_MORE},
                 {"% a comment", FILE_NEEDS_MORE},
                 {"% a comment\n\r\n  % more\n\t@ReLaTioN", FILE_IS_IT},
                 {"\xEF\xBB\xBF@relation", FILE_IS_IT},
                 {"\xEF\xBB", FILE_NEEDS_MORE},
                 {"% fat,weight\n12,80\n", FILE_IS_OTHER},
                 {"a", FILE_IS_OTHER},
                 {"@related,x\n", FILE_IS_OTHER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(nd_is_arff((const unsigned char *)cases[i].text, strlen(cases[i].text)), cases[i].expected);
    nade_context *context = new_context();
    nade_table *table = read_good(context, "% fat,weight\n12,80\n", NULL);
    assert_string_equal(column_of_table(table, 0).name, "% fat");
    nade_table_free(table);
    nade_context_free(context);
}

static void test_refusals(void **state)
{
    (void)state;
    refuse_text("@relation r\n@attribute x real\n", "ends before @data");
    refuse_text("@relation r\n@data\n1\n", "line 2: found @data, expected an @attribute before it");
    refuse_text("@relation r\n@attribute\n@data\n", "line 2: found '', expected an attribute's name");
    refuse_text("@relation r\n@attribute 'x y real\n@data\n", "line 2: found ''x y real', expected a closing quote");
    refuse_text("@relation r\n@attribute x\n@data\n", "line 2: found '', expected the attribute's type");
    refuse_text("@relation r\n@attribute x double\n", "line 2: found 'double', expected the attribute's type: numeric");
    refuse_text("@relation r\n% c\n@attribute bag relational\n",
                "line 3: found 'relational', expected an attribute with one");
    refuse_text("@relation r\n@attribute x {a,b\n@data\n1\n",
                "line 2: found '{a,b', expected a list of labels that ends with }");
    refuse_text("@relation r\n@attribute x {a,'b}\n@data\n1\n", "line 2: found '{a,'b}', expected a list of labels");
    refuse_text("@relation r\n\n@attribute x { , }\n@data\n1\n",
                "line 3: found '{ , }', expected a list of labels such as {a,b,c}");
    refuse_text("@relation r\n@inputs x\n", "line 2: found '@inputs x', expected @attribute or @data");
    refuse_text(HEAD, "has no rows");
    refuse_text(HEAD "{0 1, 1 a}\n", "line 5: found a sparse row, {NUMBER VALUE,...}, expected all values of the row");
    refuse_text(HEAD "1,a\n1,a,{5}\n", "line 6: found 3 fields, expected 2 as there are attributes");
    refuse_text(HEAD "1,a\n\nx,b\n", "line 7, column 'x': found 'x', expected a number, as the file declares");
    refuse_text(HEAD "1,'a\n", "line 5: found a quoted field that never ends");
    refuse_text(HEAD "1,'a' b\n", "line 5, column 1: found text after the closing quote");
    refuse_text(HEAD "inf,a\n", "line 5, column 'x': found 'inf', expected a finite number");
    refuse_text("@relation r\n@attribute x real\n@attribute x real\n@data\n1,2\n", "both have the name 'x'");
    refuse_bytes(HEAD "1,\0\n", sizeof HEAD + 3, NULL, NADE_BAD_INPUT, "line 5: found a zero byte");
    refuse_bytes("@relation r\n\0", 13, NULL, NADE_BAD_INPUT, "line 2: found a zero byte");
}

static void test_memory(void **state)
{
    (void)state;
    char path[64];
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.keep_text = 1;
    write_file(path, iris, strlen(iris));
    read_without_memory(path, &options);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declarations_and_rows),
        cmocka_unit_test(test_line_ends_mark_and_gzip),
        cmocka_unit_test(test_declared_types),
        cmocka_unit_test(test_one_column),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_extra_columns_may_be_anything),
        cmocka_unit_test(test_dates),
        cmocka_unit_test(test_kept_text),
        cmocka_unit_test(test_what_is_recognised),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
