/* Tables in parts against tables as a whole, lists of rows, and standard input. */
#include "data_files.h"

#include <math.h>
#include <sys/wait.h>
#include <time.h>

static nade_read_options options_of(const char *rows)
{
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.rows = rows;
    return options;
}

static bool same_cell(const nade_table *a, size_t row, const nade_table *b, size_t other, size_t column)
{
    if (!nd_column_is_numeric(&a->column[column]) || !nd_column_is_numeric(&b->column[column]))
        return strcmp(text_at(a, row, column), text_at(b, other, column)) == 0;
    double x = number_at(a, row, column), y = number_at(b, other, column);
    return x == y || (isnan(x) && isnan(y));
}

/* Reads the file in parts of `most` rows and holds them against the whole. */
static void compare_parts(nade_context *context, const char *path, const nade_read_options *options, size_t most)
{
    nade_table *whole = NULL, *part = NULL;
    nade_reader *reader = NULL;
    if (nade_table_read(context, path, options, &whole) != NADE_OK) fail_msg("%s", nade_last_error(context));
    assert_int_equal(nade_reader_open(context, path, options, &reader), NADE_OK);
    size_t at = 0;
    for (;;) {
        assert_int_equal(nade_reader_next(context, reader, most, &part), NADE_OK);
        if (!part) break;
        assert_true(nade_table_rows(part) <= most);
        assert_true(nade_table_rows(part) == most || at + nade_table_rows(part) == whole->rows);
        assert_int_equal(part->columns, whole->columns);
        assert_int_equal(part->named, whole->named);
        assert_int_equal(part->array, whole->array);
        assert_int_equal(part->single, whole->single);
        assert_string_equal(part->source, whole->source);
        for (size_t c = 0; c < whole->columns; c++) {
            assert_string_equal(column_of_table(part, c).name, column_of_table(whole, c).name);
            assert_int_equal(part->column[c].place, whole->column[c].place);
        }
        for (size_t row = 0; row < part->rows; row++, at++) {
            assert_int_equal(nd_table_position(part, row), nd_table_position(whole, at));
            for (size_t c = 0; c < whole->columns; c++) assert_true(same_cell(part, row, whole, at, c));
        }
        nade_table_free(part);
    }
    assert_int_equal(at, whole->rows);
    assert_int_equal(nade_reader_next(context, reader, most, &part), NADE_OK);
    assert_null(part);
    nade_reader_free(reader);
    nade_table_free(whole);
}

static void compare_bytes(const void *bytes, size_t count, const char *rows)
{
    nade_context *context = new_context();
    char path[64], list[64];
    write_file(path, bytes, count);
    nade_read_options options = options_of(NULL);
    if (rows) {
        write_file(list, rows, strlen(rows));
        options.rows = list;
    }
    static const size_t sizes[] = {1, 2, 3, 7, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare_parts(context, path, &options, sizes[i]);
    options.drop = "0";
    if (memchr(bytes, ',', count)) compare_parts(context, path, &options, 2);
    unlink(path);
    if (rows) unlink(list);
    nade_context_free(context);
}

static void test_text_in_parts(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a,b,c\n1,x,0.5\n2,y,\n3,\"z\nz\",1\n\n4,x,2\n5,y,7",
        "1,2\r\n3,4\r\n5,6\r\n7,8\r\n9,10\r\n11,12\r\n",
        "v\n\n\n1\n\n2\n\n\n\n3\n4\n\n\n",
        "1\n\n2\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        compare_bytes(texts[i], strlen(texts[i]), NULL);
        compare_bytes(texts[i], strlen(texts[i]), "1, 0\n");
        size_t count;
        unsigned char *packed = pack(texts[i], strlen(texts[i]), &count);
        compare_bytes(packed, count, NULL);
        free(packed);
    }
}

static void test_arrays_in_parts(void **state)
{
    (void)state;
    static const char true_header[] = "{'descr': '<f4', 'fortran_order': True, 'shape': (5, 3)}";
    static const char false_header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (5, 3)}";
    for (int fortran = 0; fortran < 2; fortran++) {
        unsigned char bytes[256] = "\x93NUMPY\x01\x00\x40\x00";
        memset(bytes + 10, ' ', 64);
        memcpy(bytes + 10, fortran ? true_header : false_header, strlen(fortran ? true_header : false_header));
        size_t count = 10 + 64;
        for (int i = 0; i < 15; i++, count += 4) {
            float item = i == 4 ? NAN : (float)i / 2;
            memcpy(bytes + count, &item, 4);
        }
        compare_bytes(bytes, count, NULL);
        compare_bytes(bytes, count, "4\n0\n2\n");
    }
}

/* Whichever way the items lie, the same rows are kept. */
static void test_rows_of_array(void **state)
{
    (void)state;
    nade_context *context = new_context();
    char list[64];
    write_file(list, "2 0", 3);
    nade_read_options options = options_of(list);
    for (int fortran = 0; fortran < 2; fortran++) {
        unsigned char bytes[128] = "\x93NUMPY\x01\x00\x40\x00";
        memset(bytes + 10, ' ', 64);
        sprintf((char *)bytes + 10, "{'descr': '|u1', 'fortran_order': %s, 'shape': (3, 2)}",
                fortran ? "True" : "False");
        *strchr((char *)bytes + 10, '\0') = ' ';
        for (size_t i = 0; i < 6; i++)
            bytes[74 + i] = (unsigned char)(fortran ? 10 * (i % 3) + i / 3 : 10 * (i / 2) + i % 2);
        nade_table *table;
        assert_int_equal(read_bytes(context, bytes, 80, &options, &table), NADE_OK);
        assert_int_equal(table->rows, 2);
        for (size_t c = 0; c < 2; c++)
            assert_true(number_at(table, 0, c) == (double)c && number_at(table, 1, c) == (double)(20 + c));
        assert_int_equal(nd_table_position(table, 1), 2);
        nade_table_free(table);
    }
    unlink(list);
    nade_context_free(context);
}

/* Rows are counted below the header, blank lines of a one-column table included. */
static void test_rows_kept(void **state)
{
    (void)state;
    nade_context *context = new_context();
    char list[64];
    write_file(list, "\n3,\t0\r\n  1\n", 11);
    nade_read_options options = options_of(list);
    nade_table *table = read_good(context, "a,b\n10,x\n11,y\n12,inf\n13,x\n", &options);
    assert_int_equal(table->rows, 3);
    assert_true(number_at(table, 0, 0) == 10 && number_at(table, 1, 0) == 11 && number_at(table, 2, 0) == 13);
    assert_int_equal(nd_table_position(table, 2), 5);
    assert_int_equal(table->column[1].label_count, 2);
    nade_table_free(table);
    table = read_good(context, "a\n10\n\n\n13\n14\n", &options);
    assert_true(number_at(table, 0, 0) == 10 && isnan(number_at(table, 1, 0)) && number_at(table, 2, 0) == 13);
    assert_int_equal(nd_table_position(table, 1), 3); /* the first of two blank lines */
    nade_table_free(table);
    nade_table *none;
    assert_int_equal(read_bytes(context, "1,2\n1,2\n1\n1,2\n", 14, &options, &none), NADE_BAD_INPUT);
    assert_sentence(context, "line 3: found 1 fields");
    unlink(list);
    nade_context_free(context);
}

static void test_bad_row_lists(void **state)
{
    (void)state;
    static const struct {
        const char *list, *words;
    } cases[] = {
        {"0\n1 4\n", "line 2: found row number 4, expected 0 to 3"},
        {"99999999999999999999999\n", "line 1: found row number 18446744073709551615, expected 0 to 3"},
        {"0\n2\n\n0\n", "line 4: found row 0, which is on line 1 already, expected each once"},
        {"1 1\n", "line 1: found row 1, which is on line 1 already"},
        {"0\n-1\n", "line 2: found '-1', expected row numbers separated by blanks or commas"},
        {"1.0\n", "line 1: found '1.0', expected row numbers"},
        {"row\n0\n", "line 1: found 'row', expected row numbers"},
        {"0;1\n", "line 1: found '0;1'"},
        {"", "is empty, expected row numbers"},
        {" \n,\n", "is empty, expected row numbers"},
    };
    static const char text[] = "a,b\n0,1\n1,2\n2,3\n3,4\n";
    nade_context *context = new_context();
    char path[64];
    write_file(path, text, strlen(text));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char list[64];
        write_file(list, cases[i].list, strlen(cases[i].list));
        nade_read_options options = options_of(list);
        nade_table *table = NULL;
        assert_int_equal(nade_table_read(context, path, &options, &table), NADE_BAD_INPUT);
        assert_sentence(context, cases[i].words);
        assert_sentence(context, list);
        assert_null(table);
        nade_reader *reader = NULL;
        nade_status status = nade_reader_open(context, path, &options, &reader);
        while (status == NADE_OK && !table) status = nade_reader_next(context, reader, 100, &table);
        assert_int_equal(status, NADE_BAD_INPUT);
        assert_sentence(context, cases[i].words);
        nade_reader_free(reader);
        unlink(list);
    }
    nade_read_options options = options_of("/nonexistent/rows");
    nade_table *table = NULL;
    assert_int_equal(nade_table_read(context, path, &options, &table), NADE_BAD_INPUT);
    assert_sentence(context, "/nonexistent/rows: cannot be opened");
    unlink(path);
    nade_context_free(context);
}

/* A fault in a later part keeps its line; what came before was handed out. */
static void test_fault_in_later_part(void **state)
{
    (void)state;
    nade_context *context = new_context(), *other = new_context();
    char path[64];
    write_file(path, "a,b\n1,2\n3,4\n5,6\n\n7\n", 20);
    nade_reader *reader = NULL;
    nade_table *table = NULL;
    assert_int_equal(nade_reader_open(context, path, NULL, &reader), NADE_OK);
    nade_context_free(context); /* a reader outlives its context */
    assert_int_equal(nade_reader_next(other, reader, 2, &table), NADE_OK);
    assert_int_equal(nade_table_rows(table), 2);
    nade_table_free(table);
    table = NULL;
    assert_int_equal(nade_reader_next(other, reader, 2, &table), NADE_BAD_INPUT);
    assert_sentence(other, "line 6: found 1 fields, expected 2");
    assert_null(table);
    nade_reader_free(reader);
    unlink(path);
    nade_context_free(other);
}

static void test_bad_calls(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_reader *reader = NULL;
    nade_table *table = NULL;
    assert_int_equal(nade_reader_open(context, NULL, NULL, &reader), NADE_BAD_CALL);
    assert_int_equal(nade_reader_open(context, "/nonexistent/x", NULL, &reader), NADE_BAD_INPUT);
    assert_sentence(context, "/nonexistent/x: cannot be opened");
    assert_null(reader);
    char path[64];
    write_file(path, "a\nb\n", 4);
    nade_read_options options = options_of(NULL);
    options.header = 1;
    options.columns = "nosuch";
    assert_int_equal(nade_reader_open(context, path, &options, &reader), NADE_OK);
    assert_int_equal(nade_reader_next(context, reader, 0, &table), NADE_BAD_CALL);
    assert_int_equal(nade_reader_next(context, reader, 1, &table), NADE_BAD_CALL);
    assert_sentence(context, "found 'nosuch'");
    nade_reader_free(reader);
    nade_reader_free(NULL);
    unlink(path);
    write_file(path, "a,b\n", 4);
    options.columns = NULL;
    assert_int_equal(nade_reader_open(context, path, &options, &reader), NADE_OK);
    assert_int_equal(nade_reader_next(context, reader, 1, &table), NADE_BAD_INPUT);
    assert_sentence(context, "has no rows");
    nade_reader_free(reader);
    unlink(path);
    nade_context_free(context);
}

/* Puts bytes on standard input, through a pipe that gives them in small pieces, while read is called. */
static void with_input(const void *bytes, size_t count, void (*read)(nade_context *context))
{
    int ends[2], before = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(before >= 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    pid_t writer = fork();
    if (writer == 0) {
        for (size_t i = 0; i < count; i++) {
            const struct timespec pause = {0, 2000000};
            if (i < 5) nanosleep(&pause, NULL); /* the first bytes come one by one */
            if (write(ends[1], (const char *)bytes + i, 1) != 1) _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    nade_context *context = new_context();
    read(context);
    nade_context_free(context);
    dup2(before, STDIN_FILENO);
    close(before);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
}

static void expect_table(nade_context *context)
{
    nade_table *table = NULL;
    if (nade_table_read(context, "-", NULL, &table) != NADE_OK) fail_msg("%s", nade_last_error(context));
    assert_int_equal(table->rows, 3);
    assert_string_equal(table->source, "standard input");
    assert_true(number_at(table, 2, 1) == 6);
    nade_table_free(table);
}

static void expect_parts(nade_context *context)
{
    nade_reader *reader = NULL;
    nade_table *table = NULL;
    assert_int_equal(nade_reader_open(context, "-", NULL, &reader), NADE_OK);
    assert_int_equal(nade_reader_next(context, reader, 2, &table), NADE_OK);
    assert_int_equal(table->rows, 2);
    nade_table_free(table);
    assert_int_equal(nade_reader_next(context, reader, 2, &table), NADE_OK);
    assert_true(table->rows == 1 && number_at(table, 0, 1) == 6);
    nade_table_free(table);
    nade_reader_free(reader);
}

static void expect_nothing(nade_context *context)
{
    nade_table *table = NULL;
    assert_int_equal(nade_table_read(context, "-", NULL, &table), NADE_BAD_INPUT);
    assert_sentence(context, "standard input: is empty");
}

/* Rows that are there are handed out though more may follow, and a part of a row is waited for. */
static void test_rows_as_they_come(void **state)
{
    (void)state;
    static const struct {
        const char *written; /* NULL: the end */
        size_t rows;
    } steps[] = {{"a,b\n1,2\n3,4\n5,", 2}, {"6\n", 1}, {"7,8\r\n", 1}, {"\n9,\"x\n\"\n", 1}, {NULL, 0}};
    int ends[2];
    char path[64];
    nade_context *context = new_context();
    nade_reader *reader = NULL;
    nade_table *table = NULL;
    nade_read_options options = options_of(NULL);
    options.header = 1;
    options.delimiter = ',';
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    alarm(60); /* waiting for more would be for ever */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t count = steps[i].written ? strlen(steps[i].written) : 0;
        if (count > 0)
            assert_int_equal(write(ends[1], steps[i].written, count), (ssize_t)count);
        else
            close(ends[1]);
        if (!reader) assert_int_equal(nade_reader_open(context, path, &options, &reader), NADE_OK);
        assert_int_equal(nade_reader_next(context, reader, 100, &table), NADE_OK);
        assert_int_equal(table ? table->rows : 0, steps[i].rows);
        nade_table_free(table);
    }
    alarm(0);
    nade_reader_free(reader);
    close(ends[0]);
    nade_context_free(context);
}

static void test_standard_input(void **state)
{
    (void)state;
    static const char text[] = "a,b\n1,2\n3,4\n5,6\n";
    size_t count;
    unsigned char *packed = pack(text, strlen(text), &count);
    with_input(text, strlen(text), expect_table);
    with_input(packed, count, expect_table);
    with_input(text, strlen(text), expect_parts);
    with_input(packed, count, expect_parts);
    with_input(text, 0, expect_nothing);
    free(packed);
}

/* Reads the file in parts with an allocator that fails ever later. */
static void read_parts_without_memory(const char *path, const nade_read_options *options)
{
    struct failing_allocator state = {0, SIZE_MAX, 0};
    nade_context *context = failing_context(&state);
    size_t live = state.live, failures = 0;
    nade_status status = NADE_NO_MEMORY;
    for (; status == NADE_NO_MEMORY; failures++) {
        nade_reader *reader = NULL;
        nade_table *table = NULL;
        state.calls = 0;
        state.fail_at = failures;
        status = nade_reader_open(context, path, options, &reader);
        for (bool more = status == NADE_OK; more; nade_table_free(table)) {
            table = NULL;
            status = nade_reader_next(context, reader, 40, &table);
            more = status == NADE_OK && table;
        }
        if (status != NADE_OK) assert_sentence(context, "not enough memory");
        nade_reader_free(reader);
        assert_int_equal(state.live, live);
    }
    assert_int_equal(status, NADE_OK);
    assert_true(failures > 20);
    nade_context_free(context);
    assert_int_equal(state.live, 0);
}

static void test_allocator_failures(void **state)
{
    (void)state;
    char path[64], list[64], text[4096] = "a,b\n";
    for (int row = 0; row < 100; row++) sprintf(text + strlen(text), "%d,%s%d\n", row, row % 3 ? "x" : "y", row % 7);
    write_file(path, text, strlen(text));
    write_file(list, "99\n0 4 50 51\n7\n", 15);
    nade_read_options options = options_of(list);
    options.columns = "0-1";
    read_parts_without_memory(path, &options);
    read_without_memory(path, &options);
    options.rows = NULL;
    read_parts_without_memory(path, &options);
    unlink(path);
    unlink(list);
    unsigned char npy[1024] = "\x93NUMPY\x01\x00\x40\x00";
    static const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (100, 3)}";
    memset(npy + 10, ' ', 64);
    memcpy(npy + 10, header, strlen(header));
    for (int i = 0; i < 300; i++) npy[74 + i] = (unsigned char)(i % 251);
    write_file(path, npy, 374);
    read_parts_without_memory(path, NULL);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_in_parts),  cmocka_unit_test(test_arrays_in_parts),
        cmocka_unit_test(test_rows_kept),      cmocka_unit_test(test_rows_of_array),
        cmocka_unit_test(test_bad_row_lists),  cmocka_unit_test(test_fault_in_later_part),
        cmocka_unit_test(test_bad_calls),      cmocka_unit_test(test_rows_as_they_come),
        cmocka_unit_test(test_standard_input), cmocka_unit_test(test_allocator_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
