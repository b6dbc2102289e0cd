/* Tables that keep the text of their cells: every byte between two separators comes back. */
#include <stdio.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

/* Reads a file of these bytes in parts of so many rows and compares names and cells, in order of rows. */
static void check(const char *bytes, size_t size, size_t part, const char *drop, char separator,
                  const char *const *names, size_t columns, const char *const *cells, size_t count)
{
    char *folder = model_support_folder(), path[4096];
    nade_context *context;
    nade_reader *reader;
    nade_table *table;
    nade_read_options options;
    size_t seen = 0;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    snprintf(path, sizeof path, "%s/data.csv", folder);
    model_support_write(path, bytes, size);
    nade_read_options_init(&options, sizeof options);
    options.keep_text = 1;
    options.drop = drop;
    support_assert_ok(context, nade_reader_open(context, path, &options, &reader));
    for (;;) {
        support_assert_ok(context, nade_reader_next(context, reader, part, &table));
        if (!table) break;
        assert_int_equal(nade_table_columns(table), columns);
        assert_int_equal(separator_of_table(table), separator);
        for (size_t c = 0; c < columns; c++)
            if (names)
                assert_string_equal(nade_table_text(table, NADE_NAMES, c), names[c]);
            else
                assert_null(nade_table_text(table, NADE_NAMES, c));
        for (size_t at = 0; at < nade_table_rows(table) * columns; at++, seen++) {
            assert_true(seen < count);
            assert_string_equal(nade_table_text(table, at / columns, at % columns), cells[seen]);
        }
        assert_null(nade_table_text(table, nade_table_rows(table), 0));
        assert_null(nade_table_text(table, 0, columns + 1));
        assert_null(nade_table_text(table, NADE_NAMES, columns + 1));
        nade_table_free(table);
    }
    assert_int_equal(seen, count);
    nade_reader_free(reader);
    nade_context_free(context);
    model_support_remove_folder(folder);
}

#define CHECK(text, part, drop, separator, names, columns, cells)                                                      \
    check(text, strlen(text), part, drop, separator, names, columns, cells, sizeof(cells) / sizeof *(cells))

static void test_quotes_and_blanks(void **state)
{
    static const char text[] = "\"a,a\" ,b,  \"c\"\"c\"\r\n"
                               " 1 ,\"x, \"\"y\"\"\"  ,?\r\n"
                               "2.50,,\"two\r\nlines\"\r\n"
                               "\r\n"
                               "\t3,\"\",NA";
    static const char *const names[] = {"\"a,a\" ", "b", "  \"c\"\"c\""};
    static const char *const cells[] = {" 1 ", "\"x, \"\"y\"\"\"  ", "?", "2.50", "", "\"two\r\nlines\"", "\t3", "\"\"",
                                        "NA"};
    static const char *const fewer[] = {" 1 ", "?", "2.50", "\"two\r\nlines\"", "\t3", "NA"};
    static const char *const fewer_names[] = {"\"a,a\" ", "  \"c\"\"c\""};
    (void)state;
    CHECK(text, 100, NULL, ',', names, 3, cells);
    CHECK(text, 1, NULL, ',', names, 3, cells);
    CHECK(text, 2, "b", ',', fewer_names, 2, fewer);
}

static void test_other_layouts(void **state)
{
    static const char *const bare[] = {"1", "2", "3", "4"};
    static const char *const one[] = {"1", "", "3"};
    static const char *const name[] = {"x"};
    (void)state;
    CHECK("1;2\n3;4\n", 1, NULL, ';', NULL, 2, bare);
    CHECK("1\t2\r3\t4\r", 5, NULL, '\t', NULL, 2, bare);
    CHECK("x\n1\n\n3\n", 1, NULL, ',', name, 1, one);
}

/* Rows that cross the reader's own blocks. */
static void test_long_rows(void **state)
{
    enum { WIDTH = 700001 };
    static char text[4 * (WIDTH + 8)], *cells[8];
    char *at = text;
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        size_t length = i % 2 ? 3 : WIDTH - i;
        cells[i] = test_malloc(length + 1);
        memset(cells[i], i % 2 ? 'z' : (int)('a' + i), length);
        cells[i][length] = '\0';
        memcpy(at, cells[i], length);
        at += length;
        *at++ = i % 2 ? '\n' : ',';
    }
    check(text, (size_t)(at - text), 3, NULL, ',', NULL, 2, (const char *const *)cells, 8);
    for (size_t i = 0; i < 8; i++) test_free(cells[i]);
}

/* Every row's end, and that of the first line, whatever parts it is read in. */
static void check_ends(const char *text, const char *first, const char *const *ends, size_t rows)
{
    char *folder = model_support_folder(), path[4096];
    nade_context *context;
    nade_read_options options;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    snprintf(path, sizeof path, "%s/data.csv", folder);
    model_support_write(path, text, strlen(text));
    nade_read_options_init(&options, sizeof options);
    options.keep_text = 1;
    for (size_t part = 1; part <= rows + 1; part++) {
        nade_reader *reader;
        nade_table *table;
        size_t seen = 0;
        support_assert_ok(context, nade_reader_open(context, path, &options, &reader));
        for (;;) {
            support_assert_ok(context, nade_reader_next(context, reader, part, &table));
            if (!table) break;
            assert_string_equal(nade_table_text(table, NADE_NAMES, nade_table_columns(table)), first);
            for (size_t row = 0; row < nade_table_rows(table); row++)
                assert_string_equal(nade_table_text(table, row, nade_table_columns(table)), ends[seen++]);
            assert_null(nade_table_text(table, nade_table_rows(table), nade_table_columns(table)));
            nade_table_free(table);
        }
        assert_int_equal(seen, rows);
        nade_reader_free(reader);
    }
    nade_context_free(context);
    model_support_remove_folder(folder);
}

static void test_line_ends(void **state)
{
    static const char *const mixed[] = {"\n", "\r\n", "\r", "\r", "\r\n"};
    static const char *const open[] = {"\r\n", ""};
    static const char *const blanks[] = {"\r", "\r", "\r"};
    (void)state;
    check_ends("a,b\r\n1,2\n3,4\r\n5,6\r7,8\r\r\n9,\"x\r\ny\"\r\n", "\r\n", mixed, 5);
    check_ends("1,2\r\n3,4", "\r\n", open, 2);
    check_ends("x\r1\r\r3\r", "\r", blanks, 3);
}

static void test_not_kept(void **state)
{
    const double values[] = {1, 2};
    nade_context *context;
    nade_table *table;
    (void)state;
    assert_int_equal(nade_context_create(NULL, &context), NADE_OK);
    support_assert_ok(context, nade_table_from_array(context, values, 1, 2, NULL, &table));
    assert_null(nade_table_text(table, 0, 0));
    assert_null(nade_table_text(table, NADE_NAMES, 0));
    assert_null(nade_table_text(table, 0, nade_table_columns(table)));
    assert_null(nade_table_text(table, NADE_NAMES, nade_table_columns(table)));
    assert_int_equal(separator_of_table(table), ',');
    nade_table_free(table);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quotes_and_blanks), cmocka_unit_test(test_other_layouts),
        cmocka_unit_test(test_long_rows),         cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
