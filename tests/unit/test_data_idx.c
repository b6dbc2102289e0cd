/* IDX files: every item type, any number of dimensions, and headers that lie. */
#include "data_files.h"

#include <math.h>

struct idx {
    unsigned char bytes[4096];
    size_t count;
};

static void put(struct idx *idx, const void *bytes, size_t count)
{
    assert_true(idx->count + count <= sizeof idx->bytes);
    memcpy(idx->bytes + idx->count, bytes, count);
    idx->count += count;
}

static void begin(struct idx *idx, unsigned char type, unsigned char dimensions, const uint32_t *shape)
{
    const unsigned char magic[] = {0, 0, type, dimensions};
    idx->count = 0;
    put(idx, magic, sizeof magic);
    for (unsigned d = 0; d < dimensions; d++) {
        const unsigned char size[] = {(unsigned char)(shape[d] >> 24), (unsigned char)(shape[d] >> 16),
                                      (unsigned char)(shape[d] >> 8), (unsigned char)shape[d]};
        put(idx, size, sizeof size);
    }
}

static nade_table *read_idx(nade_context *context, const struct idx *idx, const nade_read_options *options)
{
    nade_table *table;
    if (read_bytes(context, idx->bytes, idx->count, options, &table) != NADE_OK)
        fail_msg("%s", nade_last_error(context));
    return table;
}

static void refuse(const struct idx *idx, const char *words)
{
    refuse_bytes(idx->bytes, idx->count, NULL, NADE_BAD_INPUT, words);
}

static void test_types(void **state)
{
    (void)state;
    static const struct {
        unsigned char type;
        size_t size;
        const char *bytes;
        double numbers[3];
    } cases[] = {
        {0x08, 1, "\x00\xFF\x07", {0, 255, 7}},
        {0x09, 1, "\x80\xFF\x7F", {-128, -1, 127}},
        {0x0B, 2, "\x80\x00\xFF\xFE\x01\x00", {-32768, -2, 256}},
        {0x0C, 4, "\x80\x00\x00\x00\xFF\xFF\xFF\xFD\x00\x00\x01\x00", {-2147483648.0, -3, 256}},
        {0x0D, 4, "\x3F\x80\0\0\xC0\x20\0\0\x7F\xC0\0\0", {1, -2.5, NAN}},
        {0x0E, 8, "\x3F\xF0\0\0\0\0\0\0\xC0\x04\0\0\0\0\0\0\x3F\xD0\0\0\0\0\0\0", {1, -2.5, 0.25}},
    };
    nade_context *context = new_context();
    const uint32_t shape[] = {3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idx idx;
        begin(&idx, cases[i].type, 1, shape);
        put(&idx, cases[i].bytes, 3 * cases[i].size);
        nade_table *table = read_idx(context, &idx, NULL);
        assert_int_equal(table->rows, 3);
        assert_int_equal(table->columns, 1);
        assert_true(table->array && !table->named);
        assert_int_equal(table->single, cases[i].type == 0x0D);
        for (size_t row = 0; row < 3; row++) {
            double found = number_at(table, row, 0), expected = cases[i].numbers[row];
            if (found != expected && !(isnan(found) && isnan(expected)))
                fail_msg("type %02x row %zu: %.17g, expected %.17g", cases[i].type, row, found, expected);
        }
        nade_table_free(table);
    }
    nade_context_free(context);
}

/* Images of 2 × 3: the first dimension counts the rows, the others run along the columns. */
static void test_dimensions_and_selection(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const uint32_t shape[] = {4, 2, 3};
    struct idx idx;
    begin(&idx, 0x08, 3, shape);
    for (unsigned char i = 0; i < 24; i++) put(&idx, &i, 1);
    nade_table *table = read_idx(context, &idx, NULL);
    assert_int_equal(table->rows, 4);
    assert_int_equal(table->columns, 6);
    for (size_t i = 0; i < 24; i++) assert_true(number_at(table, i / 6, i % 6) == (double)i);
    nade_table_free(table);
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.columns = "1,4-5";
    char rows[64];
    write_file(rows, "3 1\n", 4);
    options.rows = rows;
    table = read_idx(context, &idx, &options);
    assert_int_equal(table->rows, 2);
    assert_int_equal(table->columns, 3);
    for (size_t row = 0; row < 2; row++) assert_true(number_at(table, row, 2) == (double)(6 * (2 * row + 1) + 5));
    assert_int_equal(nd_table_position(table, 1), 3);
    nade_table_free(table);
    unlink(rows);
    size_t count;
    unsigned char *packed = pack(idx.bytes, idx.count, &count);
    assert_int_equal(read_bytes(context, packed, count, NULL, &table), NADE_OK);
    assert_true(number_at(table, 3, 5) == 23);
    nade_table_free(table);
    free(packed);
    nade_context_free(context);
}

static void test_lies(void **state)
{
    (void)state;
    static const struct {
        unsigned char dimensions;
        uint32_t shape[4];
        const char *words;
    } cases[] = {
        {2, {3, 3}, "fewer than the 3 x 3"},
        {2, {1, 3}, "more than the 1 x 3"},
        {1, {UINT32_MAX}, "fewer than"},
        {2, {UINT32_MAX, UINT32_MAX}, "fewer than"},
        {2, {1, UINT32_MAX}, "fewer than"},
        {4, {1, UINT32_MAX, UINT32_MAX, UINT32_MAX}, "more items than any file can hold"},
        {2, {0, 4}, "has 0 rows and 4 columns"},
        {3, {4, 0, 4}, "has 4 rows and 0 columns"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct idx idx;
        begin(&idx, 0x0B, cases[i].dimensions, cases[i].shape);
        put(&idx, "\0\1\0\2\0\3\0\4", 8);
        refuse(&idx, cases[i].words);
    }
    struct idx idx = {.count = 8};
    idx.bytes[2] = 0x0A; /* a type that IDX does not have, and no dimension: no IDX, and no text either */
    refuse(&idx, "found a zero byte, expected text");
    idx.bytes[2] = 0x08;
    refuse(&idx, "found a zero byte, expected text");
    const uint32_t two[] = {2};
    begin(&idx, 0x0D, 1, two);
    put(&idx, "\0\0\0\0\x7F\x80\0\0", 8);
    refuse(&idx, "row 1, column '0': found 'inf', expected a finite number");
}

static void test_truncations(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const uint32_t shape[] = {2, 2};
    struct idx idx;
    begin(&idx, 0x0C, 2, shape);
    put(&idx, "\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4", 16);
    for (size_t count = 0; count < idx.count; count++) {
        nade_table *table;
        assert_int_equal(read_bytes(context, idx.bytes, count, NULL, &table), NADE_BAD_INPUT);
        assert_null(table);
    }
    nade_table_free(read_idx(context, &idx, NULL));
    nade_context_free(context);
}

static void test_allocator_failures(void **state)
{
    (void)state;
    const uint32_t shape[] = {300, 3};
    struct idx idx;
    begin(&idx, 0x0B, 2, shape);
    for (unsigned i = 0; i < 900; i++) put(&idx, (const unsigned char[]){(unsigned char)(i >> 8), (unsigned char)i}, 2);
    char path[64];
    write_file(path, idx.bytes, idx.count);
    read_without_memory(path, NULL);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_dimensions_and_selection),
        cmocka_unit_test(test_lies),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_allocator_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
