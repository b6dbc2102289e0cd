/* Tables at the edge of what is allowed (docs/formats.md, "Limits"), and how much memory such files may take. */
#include "data_files.h"

#include <malloc.h>

#include "data/csv.h"

/* The most bytes that were live at a time. */
struct counting_allocator {
    size_t live, peak;
};

static void *counting_allocate(void *user, size_t bytes)
{
    struct counting_allocator *state = user;
    void *block = malloc(bytes);
    if (block) state->live += malloc_usable_size(block);
    if (state->live > state->peak) state->peak = state->live;
    return block;
}

static void counting_release(void *user, void *block)
{
    struct counting_allocator *state = user;
    state->live -= malloc_usable_size(block);
    free(block);
}

static nade_context *counting_context(struct counting_allocator *state)
{
    nade_context_options options;
    nade_context *context;
    *state = (struct counting_allocator){0};
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){state, counting_allocate, counting_release};
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    return context;
}

/* A text of `count` bytes that begins as `begin` and is filled up with c. */
static char *filled_text(const char *begin, char c, size_t count)
{
    char *text = malloc(count + 1);
    assert_non_null(text);
    memset(text, c, count);
    memcpy(text, begin, strlen(begin));
    text[count] = '\0';
    return text;
}

static void read_row_of(const char *begin, char fill, size_t bytes, bool keep_text, nade_status expected)
{
    struct counting_allocator memory;
    nade_context *context = counting_context(&memory);
    nade_read_options options;
    nade_table *table = NULL;
    nade_read_options_init(&options, sizeof options);
    options.keep_text = keep_text;
    options.header = begin[0] != '\0'; /* told, since looking for it would take most of the time */
    options.delimiter = ',';
    size_t head = strlen(begin);
    char *text = filled_text(begin, fill, head + bytes + 3);
    memcpy(text + head + bytes, "\n1\n", 3);
    assert_int_equal(read_bytes(context, text, head + bytes + 3, &options, &table), expected);
    if (expected != NADE_OK) assert_non_null(strstr(nade_last_error(context), "of more than 67108864 bytes"));
    assert_true(memory.peak < (size_t)ND_ROW_BYTES_MOST * 3);
    nade_table_free(table);
    nade_context_free(context);
    free(text);
}

static void test_row_bytes(void **state)
{
    (void)state;
    read_row_of("x\n", 'a', ND_ROW_BYTES_MOST, false, NADE_OK);
    read_row_of("x\n", 'a', ND_ROW_BYTES_MOST + 1, false, NADE_BAD_INPUT);
}

/* Blanks around a field are no part of it, yet they are kept with the text. */
static void test_row_of_blanks(void **state)
{
    (void)state;
    read_row_of("x\n2\n", ' ', ND_ROW_BYTES_MOST, true, NADE_OK);
    read_row_of("x\n2\n", ' ', ND_ROW_BYTES_MOST + 1, true, NADE_BAD_INPUT);
}

/* A longer text makes the column unusable, not the table. */
static void test_label_bytes(void **state)
{
    (void)state;
    nade_context *context = new_context();
    char *text = filled_text("x\nb\n", 'a', 4 + ND_TEXT_BYTES_MOST);
    nade_table *table = read_good(context, text, NULL);
    assert_int_equal(table->column[0].label_count, 2);
    assert_int_equal(strlen(text_at(table, 1, 0)), ND_TEXT_BYTES_MOST);
    nade_table_free(table);
    free(text);
    text = filled_text("x\nb\n", 'a', 4 + ND_TEXT_BYTES_MOST + 1);
    table = read_good(context, text, NULL);
    assert_int_equal(table->column[0].storage, STORE_UNUSABLE);
    assert_int_equal(nade_table_set_type(context, table, "x", NADE_CATEGORICAL), NADE_BAD_INPUT);
    assert_sentence(context, "line 3, column 'x': found a text of more than 65536 bytes");
    nade_table_free(table);
    free(text);
    nade_context_free(context);
}

static void test_name_bytes(void **state)
{
    (void)state;
    nade_context *context = new_context();
    char *text = filled_text("", 'a', ND_TEXT_BYTES_MOST + 4);
    memcpy(text + ND_TEXT_BYTES_MOST, "\n1\n", 4);
    nade_table *table = read_good(context, text, NULL);
    assert_int_equal(strlen(column_of_table(table, 0).name), ND_TEXT_BYTES_MOST);
    nade_table_free(table);
    memcpy(text + ND_TEXT_BYTES_MOST, "a\n1", 4);
    refuse_text(text, "column 0 has a name of 65537 bytes");
    free(text);
    nade_context_free(context);
}

/* Parts of long rows have fewer rows than asked for, and all rows come. */
static void test_parts_of_long_rows(void **state)
{
    (void)state;
    enum { ROWS = 18, ROW_BYTES = 1 << 23 };
    struct counting_allocator memory;
    nade_context *context = counting_context(&memory);
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.keep_text = 1;
    options.header = 0;
    options.delimiter = ',';
    char path[64], *row = filled_text("", ' ', ROW_BYTES);
    strcpy(row + ROW_BYTES - 3, "1\n");
    write_file(path, "", 0);
    gzFile file = gzopen(path, "wb1");
    for (size_t i = 0; i < ROWS; i++) gzwrite(file, row, ROW_BYTES - 1);
    gzclose(file);
    nade_reader *reader;
    nade_table *table = NULL;
    size_t rows = 0, parts = 0;
    assert_int_equal(nade_reader_open(context, path, &options, &reader), NADE_OK);
    do {
        nade_table_free(table);
        assert_int_equal(nade_reader_next(context, reader, 1000, &table), NADE_OK);
        rows += table ? nade_table_rows(table) : 0;
        parts += table != NULL;
    } while (table);
    assert_int_equal(rows, ROWS);
    assert_int_equal(parts, 2);
    assert_true(memory.peak < (size_t)ND_ROW_BYTES_MOST * 7);
    nade_reader_free(reader);
    nade_context_free(context);
    unlink(path);
    free(row);
}

/* A wide array is a small file; a column of it may not cost much more than what is known of it. */
static void test_bytes_of_a_column(void **state)
{
    (void)state;
    enum { COLUMNS = 50000, BYTES_EACH = 500 };
    struct counting_allocator memory;
    nade_context *context = counting_context(&memory);
    double *values = calloc(COLUMNS, sizeof *values);
    nade_table *table;
    assert_non_null(values);
    assert_int_equal(nade_table_from_array(context, values, 1, COLUMNS, NULL, &table), NADE_OK);
    assert_true(memory.peak < (size_t)COLUMNS * BYTES_EACH);
    nade_table_free(table);
    nade_context_free(context);
    assert_int_equal(memory.live, 0);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_bytes),          cmocka_unit_test(test_row_of_blanks),
        cmocka_unit_test(test_label_bytes),        cmocka_unit_test(test_name_bytes),
        cmocka_unit_test(test_parts_of_long_rows), cmocka_unit_test(test_bytes_of_a_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
