/* NPY files and arrays in memory: every item type, both orders, and headers that lie. */
#include "data_files.h"

#include <math.h>

/* A file built piece by piece. */
struct npy {
    unsigned char bytes[65536];
    size_t count;
};

static void put(struct npy *npy, const void *bytes, size_t count)
{
    assert_true(npy->count + count <= sizeof npy->bytes);
    memcpy(npy->bytes + npy->count, bytes, count);
    npy->count += count;
}

static void begin_version(struct npy *npy, unsigned char version, const char *header)
{
    size_t length = strlen(header);
    const unsigned char prefix[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', version, 0, (unsigned char)length, (unsigned char)(length >> 8), 0, 0};
    npy->count = 0;
    put(npy, prefix, version == 1 ? 10 : 12);
    put(npy, header, length);
}

static void begin(struct npy *npy, const char *type, const char *order, const char *shape)
{
    char header[256];
    sprintf(header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }   \n", type, order, shape);
    begin_version(npy, 1, header);
}

static nade_table *read_npy(nade_context *context, const struct npy *npy)
{
    nade_table *table;
    if (read_bytes(context, npy->bytes, npy->count, NULL, &table) != NADE_OK) fail_msg("%s", nade_last_error(context));
    return table;
}

static void refuse_npy(const struct npy *npy, const char *words)
{
    refuse_bytes(npy->bytes, npy->count, NULL, NADE_BAD_INPUT, words);
}

/* Each type holds three numbers, little and big end first. */
static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        size_t size;
        const char *bytes; /* big end first */
        double numbers[3];
    } cases[] = {
        {"b1", 1, "\x00\x01\x01", {0, 1, 1}},
        {"u1", 1, "\x00\xFF\x07", {0, 255, 7}},
        {"i1", 1, "\x80\xFF\x7F", {-128, -1, 127}},
        {"u2", 2, "\x00\x01\xFF\xFF\x01\x00", {1, 65535, 256}},
        {"i2", 2, "\x80\x00\xFF\xFE\x01\x00", {-32768, -2, 256}},
        {"u4", 4, "\xFF\xFF\xFF\xFF\x00\x00\x00\x02\x00\x01\x00\x00", {4294967295.0, 2, 65536}},
        {"i4", 4, "\x80\x00\x00\x00\xFF\xFF\xFF\xFD\x00\x00\x01\x00", {-2147483648.0, -3, 256}},
        {"u8", 8, "\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05\0\0\0\x01\0\0\0\0", {9223372036854775808.0, 5, 4294967296.0}},
        {"i8",
         8,
         "\x80\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFC\0\0\0\x01\0\0\0\0",
         {-9223372036854775808.0, -4, 4294967296.0}},
        {"f2", 2, "\x3C\x00\xC1\x00\x00\x01", {1, -2.5, 5.9604644775390625e-8}},
        {"f4", 4, "\x3F\x80\0\0\xC0\x20\0\0\x3E\x80\0\0", {1, -2.5, 0.25}},
        {"f8", 8, "\x3F\xF0\0\0\0\0\0\0\xC0\x04\0\0\0\0\0\0\x7F\xF8\0\0\0\0\0\0", {1, -2.5, NAN}},
    };
    nade_context *context = new_context();
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        size_t at = i / 2, size = cases[at].size;
        bool big = i % 2;
        char type[4] = {size == 1 ? '|' : big ? '>' : '<', cases[at].type[0], cases[at].type[1], 0};
        struct npy npy;
        begin(&npy, type, "False", "(3,)");
        for (size_t byte = 0; byte < 3 * size; byte++) {
            size_t from = big ? byte : byte / size * size + size - 1 - byte % size;
            put(&npy, cases[at].bytes + from, 1);
        }
        nade_table *table = read_npy(context, &npy);
        assert_int_equal(table->rows, 3);
        assert_int_equal(table->columns, 1);
        assert_int_equal(table->single, strcmp(cases[at].type, "f2") == 0 || strcmp(cases[at].type, "f4") == 0);
        for (size_t row = 0; row < 3; row++) {
            double found = number_at(table, row, 0), expected = cases[at].numbers[row];
            if (found != expected && !(isnan(found) && isnan(expected)))
                fail_msg("%s row %zu: %.17g, expected %.17g", type, row, found, expected);
        }
        nade_table_free(table);
    }
    nade_context_free(context);
}

static void test_orders_and_selection(void **state)
{
    (void)state;
    nade_context *context = new_context();
    for (int fortran = 0; fortran < 2; fortran++) {
        struct npy npy;
        begin(&npy, "|u1", fortran ? "True" : "False", "(3, 4)");
        for (size_t i = 0; i < 12; i++) {
            size_t row = fortran ? i % 3 : i / 4, column = fortran ? i / 3 : i % 4;
            unsigned char item = (unsigned char)(10 * row + column);
            put(&npy, &item, 1);
        }
        nade_table *table = read_npy(context, &npy);
        assert_true(table->array && !table->named);
        assert_string_equal(column_of_table(table, 3).name, "3");
        for (size_t i = 0; i < 12; i++) assert_true(number_at(table, i / 4, i % 4) == (double)(10 * (i / 4) + i % 4));
        nade_table_free(table);
        nade_read_options options;
        nade_read_options_init(&options, sizeof options);
        options.columns = "1-3";
        options.drop = "2";
        assert_int_equal(read_bytes(context, npy.bytes, npy.count, &options, &table), NADE_OK);
        assert_int_equal(table->columns, 2);
        assert_string_equal(column_of_table(table, 1).name, "3");
        for (size_t row = 0; row < 3; row++) assert_true(number_at(table, row, 1) == (double)(10 * row + 3));
        assert_string_equal(text_at(table, 2, 1), "23");
        nade_table_free(table);
    }
    nade_context_free(context);
}

/* Headers as other writers make them. */
static void test_header_forms(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 1), }\n",
        "{\"shape\": (2L, 1L), \"fortran_order\": True, \"descr\": \"|u1\"}",
        "{'descr':'<u1','shape':(2,),'fortran_order':False}",
    };
    nade_context *context = new_context();
    for (unsigned char version = 1; version <= 3; version++)
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
            struct npy npy;
            begin_version(&npy, version, headers[i]);
            put(&npy, "\x05\x06", 2);
            nade_table *table = read_npy(context, &npy);
            assert_int_equal(table->rows, 2);
            assert_true(number_at(table, 1, 0) == 6);
            nade_table_free(table);
        }
    nade_context_free(context);
}

static void test_broken_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "holds ' '|O'"},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", "expected the type b1"},
        {"{'descr': '|u2', 'fortran_order': False, 'shape': (1,)}", "expected the type b1"},
        {"{'descr': '<f1', 'fortran_order': False, 'shape': (1,)}", "expected the type b1"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", "expected the type b1"},
        {"{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': ()}", "has 0 dimensions"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1, 1)}", "has 3 dimensions"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (0, 5)}", "has 0 rows"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (5, 0)}", "0 columns"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}", "a shape like"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1 1)}", "a shape like"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}", "a shape like"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,", "a shape like"},
        {"{'descr': '|u1', 'fortran_order': False}", "lacks 'shape'"},
        {"{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", "each once"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), 'more': 1}", "each once"},
        {"{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}", "a comma or a closing brace"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,)} x", "blanks alone"},
        {"{'descr", "each once"},
        {"", "a dictionary in braces"},
    };
    struct npy npy;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_version(&npy, 1, cases[i].header);
        put(&npy, "\x05\x05\x05", 3);
        refuse_npy(&npy, cases[i].words);
    }
    begin_version(&npy, 4, "{}");
    refuse_npy(&npy, "version 4.0");
    begin_version(&npy, 2, "{}");
    npy.bytes[11] = 0x7F;
    refuse_npy(&npy, "claims");
    memcpy(npy.bytes + 8, "\x01\0\x10", 4); /* a byte more than the longest */
    refuse_npy(&npy, "claims");
    memcpy(npy.bytes + 8, "\0\0\x10", 4);
    refuse_npy(&npy, "cut off");
    begin(&npy, "|u1", "False", "(1,)");
    for (size_t cut = 6; cut < npy.count; cut++) {
        struct npy shorter = npy;
        shorter.count = cut;
        refuse_npy(&shorter, "cut off");
    }
}

/* The claimed size must be the size that is there, and nothing is set aside for claims alone. */
static void test_sizes_that_lie(void **state)
{
    (void)state;
    static const struct {
        const char *order, *shape, *words;
    } cases[] = {
        {"False", "(3, 2)", "fewer than the 3 x 2"},         {"True", "(3, 2)", "fewer than the 3 x 2"},
        {"False", "(2, 1)", "more than the 2 x 1"},          {"False", "(1000000000000, 2)", "fewer than"},
        {"True", "(1000000000000, 2)", "fewer than"},        {"False", "(1, 1000000000000)", "fewer than"},
        {"False", "(4294967296, 4294967296)", "fewer than"}, {"False", "(18446744073709551615, 1)", "fewer than"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct npy npy;
        begin(&npy, "<i2", cases[i].order, cases[i].shape);
        put(&npy, "\x01\0\x02\0\x03\0\x04\0\x05", 9);
        refuse_npy(&npy, cases[i].words);
    }
}

static void test_bad_items(void **state)
{
    (void)state;
    struct npy npy;
    begin(&npy, "<f4", "False", "(2, 2)");
    put(&npy, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\xFF", 16);
    refuse_npy(&npy, "row 1, column '1': found '-inf', expected a finite number");
    begin(&npy, "|b1", "True", "(2, 2)");
    put(&npy, "\0\x01\0\x07", 4);
    refuse_npy(&npy, "row 1, column '1': found the byte 7, expected 0 or 1");
}

static void test_gzip_and_blocks(void **state)
{
    (void)state;
    enum { ROWS = 30011 };
    struct npy npy;
    begin(&npy, "<u2", "False", "(30011, 1)");
    for (unsigned row = 0; row < ROWS; row++) {
        const unsigned char item[] = {(unsigned char)row, (unsigned char)(row >> 8)};
        put(&npy, item, 2);
    }
    size_t count;
    unsigned char *packed = pack(npy.bytes, npy.count, &count);
    nade_context *context = new_context();
    nade_table *table;
    assert_int_equal(read_bytes(context, packed, count, NULL, &table), NADE_OK);
    assert_int_equal(table->column[0].storage, STORE_DOUBLES);
    for (size_t row = 0; row < ROWS; row++) assert_true(number_at(table, row, 0) == (double)row);
    nade_table_free(table);
    refuse_bytes(packed, count / 2, NULL, NADE_BAD_INPUT, "end too early");
    free(packed);
    nade_context_free(context);
}

static void test_allocator_failures(void **state)
{
    (void)state;
    struct npy npy;
    char path[64];
    begin(&npy, "<f4", "False", "(600, 3)");
    for (int row = 0; row < 600; row++) {
        const float items[] = {(float)(row % 2), (float)(row % 300), (float)row / 7};
        put(&npy, items, sizeof items);
    }
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.columns = "0-2";
    size_t count;
    unsigned char *packed = pack(npy.bytes, npy.count, &count);
    write_file(path, packed, count);
    read_without_memory(path, &options);
    unlink(path);
    free(packed);
}

static void test_from_array(void **state)
{
    (void)state;
    const double values[] = {0, 1, NAN, -0.0, 1, 0};
    const char *const names[] = {"a", "b"}, *const twice[] = {"a", "a"};
    nade_context *context = new_context();
    nade_table *table = NULL;
    assert_int_equal(nade_table_from_array(context, values, 3, 2, names, &table), NADE_OK);
    assert_true(table->named && table->array);
    assert_string_equal(table->source, "the array");
    assert_string_equal(column_of_table(table, 1).name, "b");
    assert_int_equal(column_of_table(table, 0).missing, 1);
    assert_int_equal(column_of_table(table, 0).type, NADE_BINARY);
    assert_int_equal(table->column[1].storage, STORE_CODES8);
    assert_int_equal(table->column[1].label_count, 2); /* 0 and -0 are one */
    nade_table_free(table);
    table = NULL;
    assert_int_equal(nade_table_from_array(context, values, 3, 2, twice, &table), NADE_BAD_INPUT);
    assert_sentence(context, "the array: columns 0 and 1 both have the name 'a'");
    assert_int_equal(nade_table_from_array(context, values, 0, 2, NULL, &table), NADE_BAD_CALL);
    const double infinite[] = {1, 2, 3, INFINITY};
    assert_int_equal(nade_table_from_array(context, infinite, 2, 2, NULL, &table), NADE_BAD_INPUT);
    assert_sentence(context, "the array, row 1, column '1': found 'inf'");
    assert_null(table);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),           cmocka_unit_test(test_orders_and_selection),
        cmocka_unit_test(test_header_forms),    cmocka_unit_test(test_broken_headers),
        cmocka_unit_test(test_sizes_that_lie),  cmocka_unit_test(test_bad_items),
        cmocka_unit_test(test_gzip_and_blocks), cmocka_unit_test(test_allocator_failures),
        cmocka_unit_test(test_from_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
