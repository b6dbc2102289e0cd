/* Tables of Arrow's columns: every format, offsets, missing cells, names and options. */
#include <math.h>

#include "data_files.h"
#include "support/arrow_support.h"

#define BYTES(array) (array), sizeof(array)

/* A table that must be readable; the structures are released by then. */
static nade_table *load_at(nade_context *context, const struct arrow_test_column *columns, size_t count, int64_t rows,
                           int64_t offset, const nade_read_options *options)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    nade_table *table = NULL;
    arrow_test_make(columns, count, rows, offset, &schema, &array);
    if (nade_table_from_arrow(context, &schema, &array, options, &table) != NADE_OK)
        fail_msg("refused: %s", nade_last_error(context));
    assert_null(schema.release);
    assert_null(array.release);
    assert_int_equal(arrow_test_live, 0);
    return table;
}

static nade_table *load(nade_context *context, const struct arrow_test_column *columns, size_t count)
{
    return load_at(context, columns, count, columns[0].length, 0, NULL);
}

/* One column whose cells must be these numbers. */
static void expect_numbers(struct arrow_test_column column, const double *expected)
{
    nade_context *context = new_context();
    column.name = "x";
    nade_table *table = load(context, &column, 1);
    assert_int_equal(nade_table_rows(table), column.length);
    for (size_t row = 0; row < (size_t)column.length; row++) {
        double found = number_at(table, row, 0);
        if (found != expected[row] && !(isnan(found) && isnan(expected[row])))
            fail_msg("format %s, row %zu: %.17g, expected %.17g", column.format, row, found, expected[row]);
    }
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void integers(void **state)
{
    (void)state;
    const int8_t i8[] = {-128, 0, 127};
    const uint8_t u8[] = {0, 128, 255};
    const int16_t i16[] = {-32768, 1, 32767};
    const uint16_t u16[] = {0, 1, 65535};
    const int32_t i32[] = {INT32_MIN, 1, INT32_MAX};
    const uint32_t u32[] = {0, 1, UINT32_MAX};
    const int64_t i64[] = {INT64_MIN, -1, (INT64_C(1) << 53) + 1};
    const uint64_t u64[] = {0, 1, UINT64_MAX};
    const struct {
        const char *format;
        const void *bytes;
        size_t count;
        double expected[3];
    } cases[] = {
        {"c", BYTES(i8), {-128, 0, 127}},
        {"C", BYTES(u8), {0, 128, 255}},
        {"s", BYTES(i16), {-32768, 1, 32767}},
        {"S", BYTES(u16), {0, 1, 65535}},
        {"i", BYTES(i32), {-2147483648.0, 1, 2147483647}},
        {"I", BYTES(u32), {0, 1, 4294967295.0}},
        {"l", BYTES(i64), {-0x1p63, -1, 0x1p53}}, /* rounded to the nearest double */
        {"L", BYTES(u64), {0, 1, 0x1p64}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_numbers((struct arrow_test_column){.format = cases[i].format,
                                                  .length = 3,
                                                  .n_buffers = 2,
                                                  .buffers = {{NULL, 0}, {cases[i].bytes, cases[i].count}}},
                       cases[i].expected);
}

/* Floats of few bits are the decimals that were written. */
static void floats(void **state)
{
    (void)state;
    const double f64[] = {0.1, NAN, -1e300, 5e-324};
    const float f32[] = {0.1f, 1234.56f, 16777216.0f, 1e-20f, NAN, -0.0f, 0.123456789f, -3.3f, 1234567.1f, 3e38f};
    const uint16_t f16[] = {0x2E66, 0x3C00, 0xC500, 0x7E00, 0x0001};
    expect_numbers(
        (struct arrow_test_column){.format = "g", .length = 4, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(f64)}}},
        f64);
    expect_numbers(
        (struct arrow_test_column){.format = "f", .length = 10, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(f32)}}},
        (const double[]){0.1, 1234.56, 16777216, (double)1e-20f, NAN, 0, 0.12345679, -3.3, 1234567.1, (double)3e38f});
    expect_numbers(
        (struct arrow_test_column){.format = "e", .length = 5, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(f16)}}},
        (const double[]){0.1, 1, -5, NAN, 0x1p-24});
}

static void decimals(void **state)
{
    (void)state;
    const uint64_t wide[] = {1234567, 0, (uint64_t)-1234567, UINT64_MAX, 0, 1}; /* low half first */
    const int32_t narrow[] = {-12345, 5};
    const int64_t middle[] = {-12345, 5};
    expect_numbers(
        (struct arrow_test_column){
            .format = "d:38,3", .length = 3, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(wide)}}},
        (const double[]){1234.567, -1234.567, 0x1p64 / 1000});
    expect_numbers(
        (struct arrow_test_column){
            .format = "d:9,2,32", .length = 2, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(narrow)}}},
        (const double[]){-123.45, 0.05});
    expect_numbers(
        (struct arrow_test_column){
            .format = "d:9,-2,64", .length = 2, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(middle)}}},
        (const double[]){-1234500, 500});
}

/* Missing cells by bits, with offsets of the column and of the batch, whatever null_count says but 0. */
static void missing_cells(void **state)
{
    (void)state;
    nade_context *context = new_context();
    double numbers[20];
    const unsigned char present[] = {0xFF, 0xFB, 0x0D}; /* cells 10 and 17 are missing */
    for (size_t i = 0; i < 20; i++) numbers[i] = (double)i + 0.5;
    struct arrow_test_column column = {.name = "x",
                                       .format = "g",
                                       .length = 15,
                                       .offset = 5,
                                       .null_count = -1,
                                       .n_buffers = 2,
                                       .buffers = {{BYTES(present)}, {BYTES(numbers)}}};
    nade_table *table = load_at(context, &column, 1, 12, 3, NULL);
    assert_int_equal(nade_table_rows(table), 12);
    for (size_t row = 0; row < 12; row++) {
        double found = number_at(table, row, 0);
        assert_true(row + 8 == 10 || row + 8 == 17 ? isnan(found) : found == (double)row + 8.5);
    }
    assert_int_equal(table->column[0].missing, 2);
    nade_table_free(table);
    column.null_count = 0; /* then the bits do not count */
    table = load(context, &column, 1);
    assert_int_equal(table->column[0].missing, 0);
    nade_table_free(table);
    nade_context_free(context);
}

static void truths(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const unsigned char bits[] = {0xA5, 0x01}, present[] = {0xFD, 0xFF};
    const struct arrow_test_column column = {.name = "x",
                                             .format = "b",
                                             .length = 9,
                                             .null_count = 1,
                                             .n_buffers = 2,
                                             .buffers = {{BYTES(present)}, {BYTES(bits)}}};
    nade_table *table = load(context, &column, 1);
    assert_int_equal(table->column[0].type, NADE_BINARY);
    const double expected[] = {1, NAN, 1, 0, 0, 1, 0, 1, 1};
    for (size_t row = 0; row < 9; row++) {
        double found = number_at(table, row, 0);
        assert_true(found == expected[row] || (isnan(found) && row == 1));
    }
    nade_table_free(table);
    nade_context_free(context);
}

static void nothing_at_all(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const struct arrow_test_column columns[] = {{.name = "x", .format = "n", .length = 3},
                                                {.name = NULL, .format = "n", .length = 3}};
    nade_table *table = load(context, columns, 2);
    assert_int_equal(table->column[0].missing, 3);
    assert_int_equal(table->column[0].type, NADE_REAL);
    assert_string_equal(table->column[1].name, "1");
    assert_true(table->named);
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *const some_texts[] = {"007", "NA", "", "\xC3\xA4", "7", "-", "inf", "a text of more than 12 bytes",
                                         NULL};

static void expect_texts(const nade_table *table)
{
    for (size_t row = 0; some_texts[row]; row++) {
        assert_string_equal(text_at(table, row, 0), some_texts[row]);
        if (some_texts[row][0] == '\0') assert_true(nd_table_code(&table->column[0], row) == SIZE_MAX);
    }
    assert_int_equal(table->column[0].type, NADE_CATEGORICAL);
    assert_int_equal(table->column[0].missing, 1);
    for (size_t i = 0; i < table->column[0].label_count; i++) assert_false(table->column[0].labels[i].is_number);
}

/* Texts are labels whatever they look like; the empty one is a missing cell, as in a file. */
static void texts(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct arrow_test_texts made;
    arrow_test_texts(some_texts, &made);
    struct arrow_test_column column = {
        .name = "x",
        .format = "u",
        .length = (int64_t)made.count,
        .n_buffers = 3,
        .buffers = {{NULL, 0}, {made.offsets, (made.count + 1) * sizeof *made.offsets}, {made.bytes, made.used}}};
    nade_table *table = load(context, &column, 1);
    expect_texts(table);
    assert_null(nade_table_text(table, 0, 0));
    nade_table_free(table);
    column.format = "U";
    column.buffers[1].bytes = made.large_offsets;
    column.buffers[1].count = (made.count + 1) * sizeof *made.large_offsets;
    table = load(context, &column, 1);
    expect_texts(table);
    nade_table_free(table);
    nade_context_free(context);
}

/* A view: length, then the text or its beginning, buffer and place. */
static void put_view(unsigned char *view, const char *text, int32_t place)
{
    int32_t length = (int32_t)strlen(text), buffer = 1;
    memset(view, 0, 16);
    memcpy(view, &length, 4);
    memcpy(view + 4, text, (size_t)(length <= 12 ? length : 4));
    if (length > 12) memcpy(view + 8, &buffer, 4);
    if (length > 12) memcpy(view + 12, &place, 4);
}

static void text_views(void **state)
{
    (void)state;
    nade_context *context = new_context();
    unsigned char views[16 * 8];
    const int64_t sizes[] = {1, 30};
    char second[31] = "--a text of more than 12 bytes";
    for (size_t i = 0; some_texts[i]; i++) put_view(views + 16 * i, some_texts[i], 2);
    const struct arrow_test_column column = {
        .name = "x",
        .format = "vu",
        .length = 8,
        .n_buffers = 5,
        .buffers = {{NULL, 0}, {BYTES(views)}, {"?", 1}, {second, 30}, {BYTES(sizes)}}};
    nade_table *table = load(context, &column, 1);
    expect_texts(table);
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

static const char *const colours[] = {"red", "green", "blue", "never", NULL};

static void dictionary_of_texts(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct arrow_test_texts made;
    const unsigned char values_present[] = {0x0D}; /* green is missing */
    const unsigned char present[] = {0xFE};
    const int8_t i8[] = {9, 0, 1, 2, 2, 0, 0};
    const int64_t i64[] = {9, 0, 1, 2, 2, 0, 0};
    const char *const expected[] = {"", "red", "", "blue", "blue", "red", "red"};
    arrow_test_texts(colours, &made);
    const struct arrow_test_column values = {
        .format = "u",
        .length = 4,
        .null_count = 1,
        .n_buffers = 3,
        .buffers = {{BYTES(values_present)}, {made.offsets, 5 * sizeof *made.offsets}, {made.bytes, made.used}}};
    struct arrow_test_column column = {.name = "x",
                                       .format = "c",
                                       .length = 7,
                                       .null_count = 1,
                                       .n_buffers = 2,
                                       .buffers = {{BYTES(present)}, {BYTES(i8)}},
                                       .dictionary = &values};
    for (int wide = 0; wide < 2; wide++) {
        nade_table *table = load(context, &column, 1);
        for (size_t row = 0; row < 7; row++) assert_string_equal(text_at(table, row, 0), expected[row]);
        assert_int_equal(table->column[0].label_count, 2); /* what no cell has is no label */
        assert_int_equal(table->column[0].labels[0].count, 3);
        assert_int_equal(table->column[0].missing, 2);
        nade_table_free(table);
        column.format = "l";
        column.buffers[1].bytes = i64;
        column.buffers[1].count = sizeof i64;
    }
    nade_context_free(context);
}

/* Categories that are numbers are labels all the same. */
static void dictionary_of_numbers(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const double numbers[] = {2.5, 10, 0.5};
    const uint16_t indices[] = {0, 1, 2, 1, 0, 2, 2};
    const struct arrow_test_column values = {
        .format = "g", .length = 3, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(numbers)}}};
    const struct arrow_test_column column = {.name = "x",
                                             .format = "S",
                                             .length = 7,
                                             .n_buffers = 2,
                                             .buffers = {{NULL, 0}, {BYTES(indices)}},
                                             .dictionary = &values};
    nade_table *table = load(context, &column, 1);
    assert_int_equal(table->column[0].type, NADE_CATEGORICAL);
    for (size_t row = 0; row < 7; row++) assert_true(number_at(table, row, 0) == numbers[indices[row]]);
    assert_string_equal(text_at(table, 0, 0), "2.5");
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- dates ------------------------------------------------------------------------------------------------------- */

static void expect_dates(const char *format, const void *items, size_t bytes, const double *expected, const char *form)
{
    nade_context *context = new_context();
    nade_column described = {.size = sizeof described};
    const struct arrow_test_column column = {
        .name = "x", .format = format, .length = 3, .n_buffers = 2, .buffers = {{NULL, 0}, {items, bytes}}};
    nade_table *table = load(context, &column, 1);
    nade_table_column(table, 0, &described);
    assert_int_equal(described.type, NADE_DATE);
    assert_string_equal(described.form, form);
    for (size_t row = 0; row < 3; row++) assert_true(number_at(table, row, 0) == expected[row]);
    nade_table_free(table);
    nade_context_free(context);
}

static void dates(void **state)
{
    (void)state;
    const int32_t days[] = {0, -1, 19000};
    const int64_t day_ms[] = {0, -86400000, 86400000}, seconds[] = {0, -1, 1700000000};
    const int64_t thirds[] = {1500, -1, 1000}, micro[] = {1500001, -1, 1000000}, nano[] = {1500000999, -1, 0};
    const int64_t midnights[] = {0, -86400000000000, 86400000000000};
    expect_dates("tdD", days, sizeof days, (const double[]){0, -86400, 19000 * 86400.0}, "YYYY-MM-DD");
    expect_dates("tdm", day_ms, sizeof day_ms, (const double[]){0, -86400, 86400}, "YYYY-MM-DD");
    expect_dates("tss:", seconds, sizeof seconds, (const double[]){0, -1, 1700000000}, "YYYY-MM-DD hh:mm:ss");
    expect_dates("tsm:", thirds, sizeof thirds, (const double[]){1.5, -1 + 0.999, 1}, "YYYY-MM-DD hh:mm:ss.fff");
    expect_dates("tsu:", micro, sizeof micro, (const double[]){1 + 500001 / 1e6, -1 + 999999 / 1e6, 1},
                 "YYYY-MM-DD hh:mm:ss.ffffff");
    expect_dates("tsn:", nano, sizeof nano, (const double[]){1.5, -1 + 999999 / 1e6, 0},
                 "YYYY-MM-DD hh:mm:ss.ffffff"); /* cut to microseconds */
    const int64_t first[] = {INT64_MIN, -1, 0}; /* the first nanosecond that there is */
    expect_dates("tsn:", first, sizeof first, (const double[]){-9223372037 + 145224 / 1e6, -1 + 999999 / 1e6, 0},
                 "YYYY-MM-DD hh:mm:ss.ffffff");
    expect_dates("tsn:", midnights, sizeof midnights, (const double[]){0, -86400, 86400}, "YYYY-MM-DD");
    expect_dates("tss:Europe/Berlin", day_ms, sizeof day_ms, (const double[]){0, -86400000, 86400000},
                 "YYYY-MM-DD hh:mm:ssZ");
}

/* Without a date there is no form: the column is an empty one. */
static void no_dates(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const int32_t days[] = {INT32_MAX, 0};
    const unsigned char present[] = {0};
    const struct arrow_test_column column = {.name = "x",
                                             .format = "tdD",
                                             .length = 2,
                                             .null_count = 2,
                                             .n_buffers = 2,
                                             .buffers = {{BYTES(present)}, {BYTES(days)}}};
    nade_table *table = load(context, &column, 1);
    assert_int_equal(table->column[0].type, NADE_REAL);
    assert_int_equal(table->column[0].missing, 2);
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static void options(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const double numbers[] = {1.5, -1, 2.5, -1, 3.5};
    struct arrow_test_texts made;
    char path[64];
    arrow_test_texts((const char *const[]){"a", "unknown", "-1", "b", "c", NULL}, &made);
    const struct arrow_test_column columns[] = {
        {.name = "x", .format = "g", .length = 5, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(numbers)}}},
        {.name = "list", .format = "+l", .length = 5, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(numbers)}}},
        {.name = "t",
         .format = "u",
         .length = 5,
         .n_buffers = 3,
         .buffers = {{NULL, 0}, {made.offsets, 6 * sizeof *made.offsets}, {made.bytes, made.used}}}};
    nade_read_options o;
    nade_read_options_init(&o, sizeof o);
    write_file(path, "3 1 4", 5);
    o.drop = "list"; /* of a format that can't be read */
    o.missing = "unknown,-1";
    o.rows = path;
    nade_table *table = load_at(context, columns, 3, 5, 0, &o);
    unlink(path);
    assert_int_equal(nade_table_rows(table), 3);
    assert_int_equal(nade_table_columns(table), 2);
    assert_true(isnan(number_at(table, 0, 0)) && isnan(number_at(table, 1, 0)));
    assert_true(number_at(table, 2, 0) == 3.5);
    assert_string_equal(text_at(table, 0, 1), "");
    assert_string_equal(text_at(table, 1, 1), "b");
    assert_int_equal(nd_table_position(table, 2), 4);
    nade_table_free(table);
    nade_context_free(context);
}

/* Many cells, so that blocks and storages change on the way. */
static void long_columns(void **state)
{
    enum { ROWS = 70000 };
    (void)state;
    nade_context *context = new_context();
    double *numbers = malloc(ROWS * sizeof *numbers);
    int32_t *integers_made = malloc(ROWS * sizeof *integers_made);
    unsigned char *present = calloc(ROWS / 8 + 1, 1);
    assert_true(numbers && integers_made && present);
    for (size_t i = 0; i < ROWS; i++) {
        numbers[i] = (double)(i % 40000) / 8;
        integers_made[i] = (int32_t)(i * i % 997) - 500;
        if (i % 3) present[i / 8] = (unsigned char)(present[i / 8] | 1 << i % 8);
    }
    const struct arrow_test_column columns[] = {
        {.name = "x",
         .format = "g",
         .length = ROWS,
         .null_count = -1,
         .n_buffers = 2,
         .buffers = {{present, ROWS / 8 + 1}, {numbers, ROWS * sizeof *numbers}}},
        {.name = "i",
         .format = "i",
         .length = ROWS,
         .n_buffers = 2,
         .buffers = {{NULL, 0}, {integers_made, ROWS * sizeof *integers_made}}}};
    nade_table *table = load(context, columns, 2);
    assert_int_equal(table->column[0].storage, STORE_DOUBLES);
    assert_int_equal(table->column[1].storage, STORE_CODES16);
    for (size_t row = 0; row < ROWS; row++) {
        double x = number_at(table, row, 0);
        assert_true(row % 3 ? x == numbers[row] : isnan(x));
        assert_true(number_at(table, row, 1) == integers_made[row]);
    }
    nade_table_free(table);
    nade_context_free(context);
    free(numbers);
    free(integers_made);
    free(present);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(decimals),
        cmocka_unit_test(missing_cells),
        cmocka_unit_test(truths),
        cmocka_unit_test(nothing_at_all),
        cmocka_unit_test(texts),
        cmocka_unit_test(text_views),
        cmocka_unit_test(dictionary_of_texts),
        cmocka_unit_test(dictionary_of_numbers),
        cmocka_unit_test(dates),
        cmocka_unit_test(no_dates),
        cmocka_unit_test(options),
        cmocka_unit_test(long_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
