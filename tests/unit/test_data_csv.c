/* Text files: rows, quotes, separators, headers, missing cells, gzip, selections, and each way to be wrong. */
#include "data_files.h"

#include <math.h>

static nade_read_options told(int header, char delimiter)
{
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.header = header;
    options.delimiter = delimiter;
    return options;
}

static void assert_shape(const nade_table *table, size_t rows, size_t columns, bool named)
{
    assert_int_equal(nade_table_rows(table), rows);
    assert_int_equal(nade_table_columns(table), columns);
    assert_int_equal(table->named, named);
}

static void test_header_numbers_and_missing(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = read_good(context, "a,b,c\n1,2.5,x\n?,-3e2,NA\n,nan,NULL\n+.5,7.,-nan\n", NULL);
    assert_shape(table, 4, 3, true);
    assert_string_equal(column_of_table(table, 2).name, "c");
    assert_true(number_at(table, 0, 0) == 1 && isnan(number_at(table, 1, 0)) && isnan(number_at(table, 2, 0)));
    assert_true(number_at(table, 3, 0) == 0.5);
    assert_true(number_at(table, 0, 1) == 2.5 && number_at(table, 1, 1) == -300 && number_at(table, 3, 1) == 7);
    assert_int_equal(column_of_table(table, 0).missing, 2);
    assert_int_equal(column_of_table(table, 1).missing, 1);
    assert_int_equal(column_of_table(table, 2).missing, 3);
    assert_string_equal(text_at(table, 0, 2), "x");
    assert_int_equal(table->column[2].labels[0].first_line, 2);
    nade_table_free(table);
    nade_context_free(context);
}

static void test_quotes(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = read_good(context,
                                  "name,value\n\"a,b\",1\n \"say \"\"hi\"\"\" ,2\n\"two\r\nlines\",3\n  x y  , 4 \n"
                                  "\" kept \",\"5\"\n5\" pipe,6\n\"\",7\n",
                                  NULL);
    const char *expected[] = {"a,b", "say \"hi\"", "two\r\nlines", "x y", " kept ", "5\" pipe", ""};
    assert_shape(table, 7, 2, true);
    for (size_t row = 0; row < 7; row++) {
        assert_string_equal(text_at(table, row, 0), expected[row]);
        assert_true(number_at(table, row, 1) == (double)(row + 1));
    }
    assert_int_equal(table->column[0].labels[3].first_line, 6); /* the quoted line end was counted */
    nade_table_free(table);
    nade_context_free(context);
}

static void test_line_ends_and_byte_order_mark(void **state)
{
    (void)state;
    static const char *const texts[] = {"a,b\n1,2\n3,4\n",
                                        "a,b\r\n1,2\r\n3,4\r\n",
                                        "a,b\r1,2\r3,4\r",
                                        "a,b\n1,2\n3,4",
                                        ("\xEF\xBB\xBF"
                                         "a,b\n1,2\n3,4\n"),
                                        "\n\na,b\n\n1,2\n \n3,4\n\n\n"};
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        nade_table *table = read_good(context, texts[i], NULL);
        assert_shape(table, 2, 2, true);
        assert_string_equal(column_of_table(table, 0).name, "a");
        assert_true(number_at(table, 1, 1) == 4);
        nade_table_free(table);
    }
    nade_context_free(context);
}

static void test_separators(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t columns;
    } cases[] = {
        {"1,2,3\n4,5,6\n", 3},          {"1;2;3\n4;5;6\n", 3},           {"1\t2\t3\n4\t5\t6\n", 3},
        {"1\t\t3\n\t\t\n4\t5\t6\n", 3}, {"\"a;b;c;d\",1\n\"e\",2\n", 2}, {"1\n2\n3\n", 1},
        {"a,x;b\nc;d\ne;f,y\n", 2},     {"a,b;c;d\ne,f;g;h\n", 3}, /* more fields win */
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *table = read_good(context, cases[i].text, NULL);
        assert_int_equal(nade_table_columns(table), cases[i].columns);
        nade_table_free(table);
    }
    nade_read_options options = told(0, ';');
    nade_table *table = read_good(context, "1,2\n3,4\n", &options);
    assert_shape(table, 2, 1, false);
    assert_string_equal(text_at(table, 1, 0), "3,4");
    nade_table_free(table);
    nade_context_free(context);
}

static void test_header_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool header;
    } cases[] = {
        {"1,2\n3,4\n", false},      {"a,2\nb,4\n", false}, /* text in both rows, numbers beside */
        {"a,b\n1,x\n", true},                              /* text above a number */
        {"a,b\n?,x\n", true},                              /* text above a missing cell, no number in the first line */
        {"39,x\n50,?\n", false},                           /* the first row of data holds a number */
        {"a,b\nc,d\n", true},                              /* all text, names never seen again */
        {"a,b\nc,d\na,e\n", false},                        /* 'a' is a value of its column */
        {"a,b\nb,d\n", true},                              /* 'b' is seen, but in another column */
        {"a,a\nc,d\n", false},                             /* not distinct */
        {"a,\nc,d\n", false},                              /* a name is empty */
        {"word\n1\n2\n", true},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *table = read_good(context, cases[i].text, NULL);
        if (table->named != cases[i].header) fail_msg("header of '%s' misjudged", cases[i].text);
        nade_table_free(table);
    }
    nade_context_free(context);
}

static void test_header_is_told(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_read_options options = told(1, 0);
    nade_table *table = read_good(context, "7,8,\n4,5,6\n", &options);
    assert_shape(table, 1, 3, true);
    assert_string_equal(column_of_table(table, 0).name, "7");
    assert_string_equal(column_of_table(table, 2).name, "2"); /* an empty name becomes the number */
    nade_table_free(table);
    options = told(0, 0);
    table = read_good(context, "a,b\n1,2\n", &options);
    assert_shape(table, 2, 2, false);
    assert_string_equal(text_at(table, 0, 0), "a");
    assert_string_equal(column_of_table(table, 1).name, "1");
    nade_table_free(table);
    nade_context_free(context);
}

static void test_one_column(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = read_good(context, "\nx\n1\n\n \n4\n\n\n", NULL);
    assert_shape(table, 4, 1, true);
    assert_int_equal(column_of_table(table, 0).missing, 2);
    assert_true(isnan(number_at(table, 1, 0)) && isnan(number_at(table, 2, 0)) && number_at(table, 3, 0) == 4);
    nade_table_free(table);
    nade_context_free(context);
}

static void test_selection(void **state)
{
    (void)state;
    const char *text = "id,x,y,'z\nabc,1,inf,9\ndef,2,1e999,8\n"; /* y can't be read, so it must not be looked at */
    nade_context *context = new_context();
    nade_read_options options = told(-1, 0);
    options.drop = "y, id";
    nade_table *table = read_good(context, text, &options);
    assert_shape(table, 2, 2, true);
    assert_string_equal(column_of_table(table, 1).name, "'z");
    assert_true(number_at(table, 1, 1) == 8);
    assert_int_equal(table->column[1].place, 3);
    assert_int_equal(nade_table_set_type(context, table, "3", NADE_CATEGORICAL), NADE_OK); /* the file's column 3 */
    assert_int_equal(column_of_table(table, 1).type, NADE_CATEGORICAL);
    assert_int_equal(nade_table_set_type(context, table, "2", NADE_CATEGORICAL), NADE_BAD_CALL);
    assert_sentence(context, "left out");
    nade_table_free(table);
    options.columns = "3,x-1,1-2";
    refuse_bytes(text, strlen(text), &options, NADE_BAD_CALL, "`columns`: found 'x-1'");
    options.columns = "3,1-2";
    table = read_good(context, text, &options);
    assert_shape(table, 2, 2, true);
    assert_string_equal(column_of_table(table, 0).name, "x");
    nade_table_free(table);
    options.drop = "0-3";
    refuse_bytes(text, strlen(text), &options, NADE_BAD_CALL, "no column is left");
    nade_context_free(context);
}

static void test_long_and_wide(void **state)
{
    (void)state;
    enum { COLUMNS = 400000 }; /* longer than any buffer, so that rows straddle them */
    char *text = malloc(4 * (size_t)COLUMNS + 1);
    char *at = text;
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < COLUMNS; i++) {
            *at++ = (char)('0' + (i + row) % 10);
            *at++ = i + 1 < COLUMNS ? ';' : '\n';
        }
    *at = '\0';
    nade_context *context = new_context();
    nade_table *table = read_good(context, text, NULL);
    assert_shape(table, 2, COLUMNS, false);
    for (size_t i = 0; i < COLUMNS; i++) assert_true(number_at(table, 1, i) == (double)((i + 1) % 10));
    nade_table_free(table);
    nade_context_free(context);
    free(text);
}

static void test_gzip(void **state)
{
    (void)state;
    const char *first = "a,b\n1,2\n", *second = "3,4\n5,6\n";
    size_t count, more;
    unsigned char *packed = pack(first, strlen(first), &count);
    unsigned char *next = pack(second, strlen(second), &more);
    unsigned char both[256];
    memcpy(both, packed, count);
    memcpy(both + count, next, more);
    nade_context *context = new_context();
    nade_table *table;
    assert_int_equal(read_bytes(context, both, count + more, NULL, &table), NADE_OK);
    assert_shape(table, 3, 2, true);
    assert_true(number_at(table, 2, 1) == 6);
    nade_table_free(table);
    for (size_t cut = 2; cut < count + more; cut++)
        if (cut != count) refuse_bytes(both, cut, NULL, NADE_BAD_INPUT, "end too early");
    both[count] ^= 1; /* what follows a member is no member */
    refuse_bytes(both, count + more, NULL, NADE_BAD_INPUT, "damaged");
    packed[count - 6] ^= 1; /* the checksum */
    refuse_bytes(packed, count, NULL, NADE_BAD_INPUT, "damaged");
    free(packed);
    free(next);
    nade_context_free(context);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "is empty"},
        {"\n \n\n", "is empty"},
        {"a,b\n", "has no rows"},
        {"a,b,c\n1,2,3\n4,5\n", "line 3: found 2 fields, expected 3"},
        {"a,b\n1,2\n\n3,4,5\n", "line 4: found 3 fields, expected 2"},
        {"1\n2\n3;4\n", "line 3: found 2 fields, expected 1"},
        {"a,b\n1,\"x\n2,3\n", "line 2: found a quoted field that never ends"},
        {"a,b\n1,\"x\"y\n", "line 2, column 1: found text after the closing quote"},
        {"a,b\n1,\"x\" \"y\"\n", "found text after the closing quote"},
        {"a,b,a\n1,2,3\n", "columns 0 and 2 both have the name 'a', expected each once; leave column 2 out"},
        {"a,b\n1,2\n3,inf\n", "line 3, column 'b': found 'inf', expected a finite number"},
        {"a,b\n1,2\n3,-Infinity\n", "found '-Infinity', expected a finite number"},
        {"a,b\n1,1e400\n", "line 2, column 'b': found '1e400', expected a finite number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuse_text(cases[i].text, cases[i].words);
    refuse_bytes("a,b\n1,\0\n", 8, NULL, NADE_BAD_INPUT, "line 2: found a zero byte");
    refuse_bytes("a,b\n1,\"\0\"\n", 10, NULL, NADE_BAD_INPUT, "line 2: found a zero byte");
    refuse_bytes("\xFF\xFE"
                 "1\0,\0002\0\n\0",
                 10, NULL, NADE_BAD_INPUT, "UTF-16");
}

static void test_bad_calls(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = NULL;
    assert_int_equal(nade_table_read(context, "/nowhere/at/all.csv", NULL, &table), NADE_BAD_INPUT);
    assert_sentence(context, "/nowhere/at/all.csv: cannot be opened");
    assert_int_equal(nade_table_read(context, "/tmp", NULL, &table), NADE_BAD_INPUT);
    assert_sentence(context, "/tmp: cannot be read");
    assert_int_equal(nade_table_read(context, NULL, NULL, &table), NADE_BAD_CALL);
    assert_null(table);
    nade_read_options options = told(2, 0);
    refuse_bytes("1\n", 2, &options, NADE_BAD_CALL, "header is 2");
    options = told(-1, 'e');
    refuse_bytes("1\n", 2, &options, NADE_BAD_CALL, "delimiter is 'e'");
    nade_context_free(context);
}

/* A column of more than 1000 numbers may not turn to text; a column of text may go on, and only hurts when used. */
static void test_many_values(void **state)
{
    (void)state;
    enum { ROWS = 100500 };
    char *text = malloc(64 * ROWS);
    size_t used = 0;
    used += (size_t)sprintf(text, "number,text,typo,code\n");
    for (int row = 0; row < ROWS; row++)
        used += (size_t)sprintf(text + used, row == 3 ? "%d,t%d,oops%d,c%d\n" : "%d,t%d,%d,c%d\n", row, row, row,
                                row % 300);
    memset(strstr(text, "\n77,") + 1, ' ', 2); /* missing before the column is known to hold many numbers */
    nade_context *context = new_context();
    nade_table *table = read_good(context, text, NULL);
    assert_int_equal(table->column[0].storage, STORE_DOUBLES);
    assert_int_equal(table->column[1].storage, STORE_UNUSABLE);
    assert_int_equal(table->column[2].storage, STORE_UNUSABLE);
    assert_int_equal(table->column[3].storage, STORE_CODES16);
    assert_int_equal(table->column[3].label_count, 300);
    for (size_t row = 0; row < ROWS; row++) {
        assert_true(row == 77 ? isnan(number_at(table, row, 0)) : number_at(table, row, 0) == (double)row);
        assert_int_equal(nd_table_code(&table->column[3], row), row % 300);
    }
    assert_int_equal(nd_fail_unusable(context, table, 1), NADE_BAD_INPUT);
    assert_sentence(context, "line 100002, column 'text': found text with more than 100000 different labels");
    assert_sentence(context, "leave column 'text' out");
    nd_fail_unusable(context, table, 2);
    assert_sentence(context, "line 5, column 'typo': found 'oops3' in a column of numbers");
    nade_table_free(table);
    sprintf(text + used, "oops,t,1,c\n");
    refuse_text(text, "line 100502, column 'number': found 'oops', expected a number");
    nade_context_free(context);
    free(text);
}

/* Many numbers with decimal commas beside some with points are named for what they are. */
static void test_many_decimal_commas(void **state)
{
    (void)state;
    enum { ROWS = 1500 };
    char *text = malloc(64 * ROWS);
    size_t used = (size_t)sprintf(text, "price;x\n0.25;0\n");
    for (int row = 0; row < ROWS; row++) used += (size_t)sprintf(text + used, "-%d,5;%d\n", row, row);
    nade_context *context = new_context();
    nade_table *table = read_good(context, text, NULL);
    nd_fail_unusable(context, table, 0);
    assert_sentence(context, "line 2, column 'price': found numbers with decimal commas");
    assert_sentence(context, "leave column 'price' out");
    nade_table_free(table);
    nade_context_free(context);
    free(text);
}

static void test_allocator_failures(void **state)
{
    (void)state;
    char text[32768], path[64];
    size_t used = (size_t)sprintf(text, "name;\"quoted, text\";value;drop me\n");
    for (int row = 0; row < 1200; row++)
        used += (size_t)sprintf(text + used, "%c;%d;%d;%d\n", 'a' + row % 26, row % 270, row, row);
    nade_read_options options = told(-1, 0);
    options.drop = "drop me";
    write_file(path, text, used);
    read_without_memory(path, &options);
    unlink(path);
    used = 0;
    for (int row = 0; row < 1200; row++) used += (size_t)sprintf(text + used, row == 600 ? "\n" : "t%d\n", row);
    write_file(path, text, used);
    read_without_memory(path, NULL);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_header_numbers_and_missing),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_line_ends_and_byte_order_mark),
        cmocka_unit_test(test_separators),
        cmocka_unit_test(test_header_is_found),
        cmocka_unit_test(test_header_is_told),
        cmocka_unit_test(test_one_column),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_long_and_wide),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_calls),
        cmocka_unit_test(test_many_values),
        cmocka_unit_test(test_many_decimal_commas),
        cmocka_unit_test(test_allocator_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
