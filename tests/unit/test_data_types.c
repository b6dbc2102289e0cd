/* Numbers, column types and their overriding, COLS lists. */
#include "data_files.h"

#include <float.h>
#include <locale.h>
#include <math.h>

#include "base/numbers.h"
#include "data/column_list.h"

static void test_parse_numbers(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "-0",
        "1",
        "+1.5",
        ".5",
        "5.",
        "1e5",
        "1E-5",
        "3.38e-005",
        "0.1",
        "123456789012345",
        "1234567890123456789",
        "9007199254740993",
        "1e22",
        "1e23",
        "8.5e-5",
        "1.7976931348623157e308",
        "2.2250738585072014e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-400",
        "0e999999999999",
        "0.000000000000000000000000000000000000000000123",
        "100000000000000000000000000000000000000000000e-40",
        "1.00000000000000011102230246251565404236316680908203125",
        "1.00000000000000011102230246251565404236316680908203124",
        "1.00000000000000011102230246251565404236316680908203126",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value = NAN;
        assert_int_equal(nd_parse_number(texts[i], strlen(texts[i]), &value), NUMBER_FINITE);
        double expected = strtod(texts[i], NULL); /* the program runs in the C locale */
        if (value != expected || signbit(value) != signbit(expected))
            fail_msg("%s read as %.17g, not %.17g", texts[i], value, expected);
    }
}

static void test_what_is_no_number(void **state)
{
    (void)state;
    static const char *const none[] = {"",   ".",  "-",     "+",   "e5",  "1e", "1e+",     "0x10", "1_000", "1,5",
                                       "1 ", " 1", "1.2.3", "--1", "nan", "1f", "infinit", "in",   "٣"};
    static const char *const infinite[] = {"inf", "-Inf", "+INFINITY", "1e309", "-1e999999999999999999999", "2e308"};
    double value = 77;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (nd_parse_number(none[i], strlen(none[i]), &value) != NUMBER_NONE) fail_msg("'%s' passed", none[i]);
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        assert_int_equal(nd_parse_number(infinite[i], strlen(infinite[i]), &value), NUMBER_INFINITE);
    assert_true(value == 77);
}

/* More digits than any double needs: what lies beyond them still decides a tie. */
static void test_very_long_numbers(void **state)
{
    (void)state;
    char text[3000] = "1.00000000000000011102230246251565404236316680908203125";
    size_t length = strlen(text);
    double value;
    memset(text + length, '0', 2000);
    text[length + 2000] = '\0';
    assert_int_equal(nd_parse_number(text, length + 2000, &value), NUMBER_FINITE);
    assert_true(value == 1);
    text[length + 1999] = '1';
    assert_int_equal(nd_parse_number(text, length + 2000, &value), NUMBER_FINITE);
    assert_true(value == 1 + DBL_EPSILON);
    memset(text, '9', 2000);
    strcpy(text + 2000, "e-1999");
    assert_int_equal(nd_parse_number(text, strlen(text), &value), NUMBER_FINITE);
    assert_true(value == 10);
}

static uint64_t next_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 31;
}

static void test_numbers_read_back(void **state)
{
    (void)state;
    uint64_t random = 1;
    char text[ND_NUMBER_TEXT];
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_bits(&random);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        nd_format_number(value, text);
        assert_int_equal(nd_parse_number(text, strlen(text), &back), NUMBER_FINITE);
        assert_true(back == value);
        double decimal = (double)(bits % 100000) / 1000;
        nd_format_number(decimal, text);
        assert_true(strlen(text) <= 6);
    }
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.1, "0.1"}, {1, "1"},           {-2.5, "-2.5"}, {1e300, "1e+300"}, {0.1 + 0.2, "0.30000000000000004"},
        {NAN, "nan"}, {-INFINITY, "-inf"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nd_format_number(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Skipped where no locale with a decimal comma is installed. */
static void test_comma_locale(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                          "fr_FR.UTF-8", "fr_FR.utf8", "nl_NL.utf8"};
    const char *chosen = NULL;
    for (size_t i = 0; i < sizeof locales / sizeof *locales && !chosen; i++) chosen = setlocale(LC_ALL, locales[i]);
    if (!chosen) skip();
    double value = 0;
    char text[ND_NUMBER_TEXT];
    enum number_kind kind = nd_parse_number("1.2345678901234567890", 21, &value);
    nd_format_number(0.1, text);
    setlocale(LC_ALL, "C");
    assert_int_equal(kind, NUMBER_FINITE);
    assert_true(value == 1.2345678901234567890);
    assert_string_equal(text, "0.1");
}

/* A table of one column: each value repeated so many times. */
static nade_table *repeat(nade_context *context, const char *const *values, size_t times)
{
    char text[65536] = "column,other\n";
    size_t used = strlen(text);
    for (size_t i = 0; values[i]; i++)
        for (size_t k = 0; k < times; k++) used += (size_t)sprintf(text + used, "%s,%zu\n", values[i], k);
    return read_good(context, text, NULL);
}

static void test_types_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *values[22];
        size_t times;
        nade_type type;
    } cases[] = {
        {{"0", "1"}, 1, NADE_BINARY},
        {{"1.0", "0", "0.000", "1", "1e0"}, 1, NADE_BINARY},
        {{"1"}, 2, NADE_BINARY},
        {{"0", "?"}, 2, NADE_BINARY},
        {{"yes", "no", "NA"}, 1, NADE_BINARY},
        {{"yes", "1"}, 1, NADE_BINARY},
        {{"yes"}, 2, NADE_CATEGORICAL},
        {{"a", "b", "c"}, 1, NADE_CATEGORICAL},
        {{"1", "2", "b"}, 1, NADE_CATEGORICAL},
        {{"true", "false", "?"}, 1, NADE_BINARY},
        {{"TRUE", "FALSE"}, 3, NADE_BINARY},
        {{"1", "2"}, 5, NADE_CATEGORICAL},
        {{"1", "2"}, 4, NADE_REAL},
        {{"1", "1.0", "2", "2.0"}, 3, NADE_CATEGORICAL}, /* two numbers, six cells each */
        {{"007", "12", "131"}, 1, NADE_CATEGORICAL},     /* codes */
        {{"02139", "90210"}, 1, NADE_CATEGORICAL},
        {{"00", "01"}, 1, NADE_BINARY},
        {{"007", "1.5", "12"}, 20, NADE_REAL}, /* zeros that only fill up */
        {{"0", "10", "205"}, 1, NADE_REAL},
        {{"-01", "5", "7"}, 1, NADE_REAL},
        {{"1.5", "2"}, 20, NADE_REAL},
        {{"", "?"}, 20, NADE_REAL},
        {{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19"},
         24,
         NADE_CATEGORICAL},
        {{"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9", "10",
          "11", "12", "13", "14", "15", "16", "17", "18", "19", "20"},
         100,
         NADE_ORDERED},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *table = repeat(context, cases[i].values, cases[i].times);
        nade_type found = column_of_table(table, 0).type;
        if (found != cases[i].type)
            fail_msg("case %zu is %s, expected %s", i, nade_type_name(found), nade_type_name(cases[i].type));
        nade_table_free(table);
    }
    nade_context_free(context);
}

/* So many cells of each of the integers from 0 on, as a column of text. */
static nade_type type_of_counts(nade_context *context, const size_t *counts, size_t distinct)
{
    static char text[1 << 16];
    size_t used = (size_t)sprintf(text, "column,other\n");
    for (size_t i = 0; i < distinct; i++)
        for (size_t k = 0; k < counts[i]; k++) used += (size_t)sprintf(text + used, "%zu,0.5\n", i);
    nade_table *table = read_good(context, text, NULL);
    nade_type type = column_of_table(table, 0).type;
    nade_table_free(table);
    return type;
}

/* No value must be frequent, if most cells repeat; those in one or two cells do not count against the limit. */
static void test_few_integers(void **state)
{
    (void)state;
    static const struct {
        size_t counts[45], distinct;
        nade_type type;
    } cases[] = {
        {{10, 53, 681, 638, 199, 18}, 6, NADE_CATEGORICAL}, /* grades of wine */
        {{500, 300, 100, 40, 10, 3, 1, 0, 1}, 9, NADE_CATEGORICAL},
        {{9, 9, 9, 9, 9}, 5, NADE_CATEGORICAL},
        {{3000, 1, 1, 1, 1, 1, 1, 1}, 8, NADE_REAL}, /* values that hardly repeat outnumber the others: rare amounts */
        {{50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 2, 2, 1},
         23,
         NADE_CATEGORICAL},
        {{50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 12}, 21, NADE_ORDERED},
        {{1, 2, 4, 6, 8, 10, 12, 14, 15, 15, 14, 12, 10, 9, 7, 5, 4, 2}, 18, NADE_REAL}, /* 150 rows, rounded */
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_type found = type_of_counts(context, cases[i].counts, cases[i].distinct);
        if (found != cases[i].type)
            fail_msg("case %zu is %s, expected %s", i, nade_type_name(found), nade_type_name(cases[i].type));
    }
    nade_context_free(context);
}

static void test_arrays_have_numbers_and_marks(void **state)
{
    (void)state;
    static const struct {
        double values[4];
        nade_type type[2];
    } cases[] = {
        {{0, 1, 1, 0}, {NADE_BINARY, NADE_BINARY}},     {{0, 1, 1, 2}, {NADE_BINARY, NADE_REAL}},
        {{0, NAN, 1, NAN}, {NADE_BINARY, NADE_BINARY}}, {{0, 1, 1, 0.5}, {NADE_BINARY, NADE_REAL}},
        {{NAN, NAN, NAN, NAN}, {NADE_REAL, NADE_REAL}}, {{0, 0, 0, 1}, {NADE_BINARY, NADE_BINARY}},
        {{0, 7, 0, 9}, {NADE_REAL, NADE_REAL}},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *table;
        assert_int_equal(nade_table_from_array(context, cases[i].values, 2, 2, NULL, &table), NADE_OK);
        assert_int_equal(column_of_table(table, 0).type, cases[i].type[0]);
        assert_int_equal(column_of_table(table, 1).type, cases[i].type[1]);
        nade_table_free(table);
    }
    nade_context_free(context);
}

static void test_types_are_overridden(void **state)
{
    (void)state;
    static const struct {
        const char *columns;
        nade_type type;
        const char *words; /* NULL: it works */
    } cases[] = {
        {"zero", NADE_REAL, NULL},
        {"zero", NADE_CATEGORICAL, NULL},
        {"pair", NADE_BINARY, NULL},
        {"text", NADE_CATEGORICAL, NULL},
        {"zero,pair", NADE_REAL, NULL},
        {"number", NADE_BINARY, "column 'number' cannot be binary: it does not hold two values"},
        {"text", NADE_REAL, "column 'text' cannot be real: it holds text, expected numbers; line 2 has 'a'"},
        {"zero,number", NADE_COUNT,
         "column 'number' cannot be count: it holds numbers that are negative or not whole, expected counts; line 2 "
         "has "
         "'1.5'"},
        {"text", NADE_BINARY, "cannot be binary"},
        {"empty", NADE_CATEGORICAL, "column 'empty' cannot be categorical: it has no value"},
        {"nothing", NADE_REAL, "the list of real columns: found 'nothing', expected the name or number of a column"},
        {"zero", (nade_type)7, "the type is 7"},
    };
    nade_context *context = new_context();
    nade_table *table = read_good(context, "zero,pair,number,text,empty\n0,1,1.5,a,\n1,2,2.5,b,\n0,1,3.5,c,\n", NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_status status = nade_table_set_type(context, table, cases[i].columns, cases[i].type);
        if ((status == NADE_OK) != !cases[i].words) fail_msg("case %zu: %s", i, nade_last_error(context));
        if (cases[i].words) assert_sentence(context, cases[i].words);
    }
    assert_int_equal(column_of_table(table, 0).type, NADE_REAL);
    assert_int_equal(column_of_table(table, 3).type, NADE_CATEGORICAL);
    assert_int_not_equal(nade_table_set_type(context, table, "zero,text", NADE_BINARY), NADE_OK);
    assert_int_equal(column_of_table(table, 0).type, NADE_REAL); /* all or none */
    nade_table_free(table);
    double many[1001];
    for (size_t i = 0; i < 1001; i++) many[i] = (double)i;
    assert_int_equal(nade_table_from_array(context, many, 1001, 1, NULL, &table), NADE_OK);
    assert_int_equal(nade_table_set_type(context, table, "0", NADE_CATEGORICAL), NADE_BAD_INPUT);
    assert_sentence(context, "more than 1000 different values");
    nade_table_free(table);
    many[1000] = -1;
    assert_int_equal(nade_table_from_array(context, many, 1001, 1, NULL, &table), NADE_OK);
    assert_int_equal(nade_table_set_type(context, table, "0", NADE_COUNT), NADE_BAD_INPUT);
    assert_sentence(context, "expected counts; row 1000 has '-1'");
    nade_table_free(table);
    nade_context_free(context);
}

static void test_column_lists(void **state)
{
    (void)state;
    static const char *const names[] = {"age", "capital-gain", "a,b", "2", "it's", "5-6", "x", NULL, " y"};
    enum { COUNT = sizeof names / sizeof *names };
    static const struct {
        const char *list, *chosen, *words;
    } cases[] = {
        {"age", "100000000", NULL},
        {"0,capital-gain", "110000000", NULL},
        {"2", "000100000", NULL}, /* a name wins over a number */
        {"5-6", "000001000", NULL},
        {"4-6", "000011100", NULL},
        {"0-2", "111000000", NULL},
        {"'a,b', age", "101000000", NULL},
        {"\"a,b\" ,'it''s'", "001010000", NULL},
        {"it's", "000010000", NULL},
        {"' y'", "000000001", NULL},
        {"6,6", "000000100", NULL},
        {"", NULL, "empty entry"},
        {"age,", NULL, "empty entry"},
        {"age,,x", NULL, "empty entry"},
        {"9", NULL, "`drop`: found column number 9, expected 0 to 8"},
        {"3-12", NULL, "column number 12"},
        {"99999999999999999999999", NULL, "expected 0 to 8"},
        {"6-3", NULL, "smaller number first"},
        {"7", NULL, "left out"},
        {"6-8", NULL, "left out"},
        {"-1", NULL, "found '-1'"},
        {"1-", NULL, "found '1-'"},
        {"'0'", NULL, "found '0'"}, /* quoted: a name, never a number */
        {"'age", NULL, "quoted name"},
        {"'age'x", NULL, "quoted name"},
        {"Age", NULL, "found 'Age', but there is no such column; did you mean 'age'?"},
        {"elsewhere", NULL, "found 'elsewhere', expected the name or number of a column"},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool chosen[COUNT];
        nade_status status = nd_parse_columns(context, "`drop`", cases[i].list, names, COUNT, chosen);
        if ((status == NADE_OK) != !cases[i].words) fail_msg("'%s': %s", cases[i].list, nade_last_error(context));
        if (cases[i].words) assert_sentence(context, cases[i].words);
        for (size_t k = 0; cases[i].chosen && k < COUNT; k++)
            if (chosen[k] != (cases[i].chosen[k] == '1')) fail_msg("'%s' at column %zu", cases[i].list, k);
    }
    const char *const twice[] = {"a", "a"};
    bool chosen[2];
    assert_int_equal(nd_parse_columns(context, "`drop`", "a", twice, 2, chosen), NADE_BAD_CALL);
    assert_sentence(context, "the name of columns 0 and 1");
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse_numbers),        cmocka_unit_test(test_what_is_no_number),
        cmocka_unit_test(test_very_long_numbers),    cmocka_unit_test(test_numbers_read_back),
        cmocka_unit_test(test_comma_locale),         cmocka_unit_test(test_types_are_found),
        cmocka_unit_test(test_few_integers),         cmocka_unit_test(test_arrays_have_numbers_and_marks),
        cmocka_unit_test(test_types_are_overridden), cmocka_unit_test(test_column_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
