/* Arrow's streams in parts: batches that are joined and split, dictionaries that differ, failures half-way. */
#include <errno.h>
#include <math.h>

#include "data_files.h"
#include "support/arrow_support.h"

#define BYTES(array) (array), sizeof(array)

enum { BATCHES = 4, COLUMNS = 2 };

/* Batches of 3, 0, 5 and 1 rows: numbers that count the rows, and labels whose dictionaries differ. */
struct fixture {
    nade_context *context;
    double numbers[9];
    struct arrow_test_texts words[BATCHES];
    struct arrow_test_column values[BATCHES], columns[BATCHES][COLUMNS];
    const struct arrow_test_column *batches[BATCHES];
    struct arrow_test_stream script;
    struct ArrowArrayStream stream;
};

static const int64_t lengths[BATCHES] = {3, 0, 5, 1};
static const int8_t indices[] = {0, 1, 0, /* */ 1, 0, 2, 2, 1, /* */ 0};
static const char *const expected[] = {"a", "b", "a", "b", "c", "a", "a", "b", "new"};

static int set_up(void **state)
{
    static const char *const dictionaries[BATCHES][4] = {{"a", "b"}, {"unused"}, {"c", "b", "a"}, {"new"}};
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    for (size_t i = 0, row = 0; i < BATCHES; row += (size_t)lengths[i++]) {
        arrow_test_texts(dictionaries[i], &f->words[i]);
        f->values[i] = (struct arrow_test_column){
            .format = "u",
            .length = (int64_t)f->words[i].count,
            .n_buffers = 3,
            .buffers = {{NULL, 0}, {BYTES(f->words[i].offsets)}, {BYTES(f->words[i].bytes)}}};
        f->columns[i][0] =
            (struct arrow_test_column){.name = "x",
                                       .format = "g",
                                       .length = lengths[i],
                                       .n_buffers = 2,
                                       .buffers = {{NULL, 0}, {f->numbers + row, (size_t)lengths[i] * sizeof(double)}}};
        f->columns[i][1] = (struct arrow_test_column){.name = "label",
                                                      .format = "c",
                                                      .length = lengths[i],
                                                      .n_buffers = 2,
                                                      .buffers = {{NULL, 0}, {indices + row, (size_t)lengths[i]}},
                                                      .dictionary = &f->values[i]};
        f->batches[i] = f->columns[i];
    }
    for (size_t row = 0; row < 9; row++) f->numbers[row] = (double)row + 0.5;
    f->context = new_context();
    f->script = (struct arrow_test_stream){
        .batches = f->batches, .batch_count = BATCHES, .columns = COLUMNS, .fail_at = BATCHES + 1};
    arrow_test_stream(&f->script, &f->stream);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    assert_null(f->stream.release);
    assert_int_equal(arrow_test_live, 0);
    nade_context_free(f->context);
    free(f);
    return 0;
}

static nade_reader *open_reader(struct fixture *f, const nade_read_options *options)
{
    nade_reader *reader = NULL;
    if (nade_reader_from_arrow(f->context, &f->stream, options, &reader) != NADE_OK)
        fail_msg("refused: %s", nade_last_error(f->context));
    assert_null(f->stream.release);
    return reader;
}

static nade_table *next(struct fixture *f, nade_reader *reader, size_t most)
{
    nade_table *table = NULL;
    if (nade_reader_next(f->context, reader, most, &table) != NADE_OK)
        fail_msg("refused: %s", nade_last_error(f->context));
    return table;
}

static void expect_rows(const nade_table *table, size_t first, size_t count)
{
    assert_int_equal(nade_table_rows(table), count);
    for (size_t row = 0; row < count; row++) {
        assert_true(number_at(table, row, 0) == (double)(first + row) + 0.5);
        assert_string_equal(text_at(table, row, 1), expected[first + row]);
        assert_int_equal(nd_table_position(table, row), first + row);
    }
}

static void all_at_once(void **state)
{
    struct fixture *f = *state;
    nade_reader *reader = open_reader(f, NULL);
    nade_table *table = next(f, reader, SIZE_MAX);
    assert_int_equal(arrow_test_live, 0); /* at its end the stream is released */
    expect_rows(table, 0, 9);
    assert_int_equal(table->column[1].label_count, 4);
    nade_table_free(table);
    assert_null(next(f, reader, SIZE_MAX));
    assert_null(next(f, reader, 1));
    nade_reader_free(reader);
}

static void in_parts(void **state)
{
    struct fixture *f = *state;
    nade_reader *reader = open_reader(f, NULL);
    for (size_t first = 0; first < 9; first += 2) {
        nade_table *table = next(f, reader, 2);
        expect_rows(table, first, first == 8 ? 1 : 2);
        nade_table_free(table);
    }
    assert_null(next(f, reader, 2));
    nade_reader_free(reader);
}

/* A reader that nobody reads to the end releases what is left. */
static void left_early(void **state)
{
    struct fixture *f = *state;
    nade_reader *reader = open_reader(f, NULL);
    nade_table *table = next(f, reader, 4);
    assert_int_equal(f->script.next, 3);
    assert_true(arrow_test_live > 1);
    nade_reader_free(reader);
    expect_rows(table, 0, 4);
    nade_table_free(table);
}

static void listed_rows(void **state)
{
    struct fixture *f = *state;
    char path[64];
    nade_read_options o;
    nade_read_options_init(&o, sizeof o);
    write_file(path, "8 0 4 5 2", 9);
    o.rows = path;
    nade_reader *reader = open_reader(f, &o);
    unlink(path);
    const size_t rows[] = {0, 2, 4, 5, 8};
    for (size_t part = 0; part < 3; part++) {
        nade_table *table = next(f, reader, 2);
        assert_int_equal(nade_table_rows(table), part == 2 ? 1 : 2);
        for (size_t row = 0; row < nade_table_rows(table); row++) {
            size_t at = rows[2 * part + row];
            assert_true(number_at(table, row, 0) == (double)at + 0.5);
            assert_string_equal(text_at(table, row, 1), expected[at]);
            assert_int_equal(nd_table_position(table, row), at);
        }
        nade_table_free(table);
    }
    assert_null(next(f, reader, 2));
    nade_reader_free(reader);
}

static void listed_beyond(void **state)
{
    struct fixture *f = *state;
    nade_table *table = NULL;
    char path[64];
    nade_read_options o;
    nade_read_options_init(&o, sizeof o);
    write_file(path, "3 9", 3);
    o.rows = path;
    nade_reader *reader = open_reader(f, &o);
    unlink(path);
    assert_int_equal(nade_reader_next(f->context, reader, SIZE_MAX, &table), NADE_BAD_INPUT);
    assert_sentence(f->context, "found row number 9, expected 0 to 8");
    nade_reader_free(reader);
}

static void fails_half_way(void **state)
{
    struct fixture *f = *state;
    nade_table *untouched = (nade_table *)f, *table = untouched;
    f->script.fail_at = 2;
    f->script.words = "the disk is gone";
    nade_reader *reader = open_reader(f, NULL);
    assert_int_equal(nade_reader_next(f->context, reader, SIZE_MAX, &table), NADE_BAD_INPUT);
    assert_sentence(f->context, "the Arrow stream: its next batch could not be had: the disk is gone");
    assert_ptr_equal(table, untouched);
    assert_int_equal(arrow_test_live, 0);
    assert_int_equal(nade_reader_next(f->context, reader, 1, &table), NADE_BAD_CALL);
    assert_sentence(f->context, "failed before, expected no further call");
    nade_reader_free(reader);
}

static void fails_at_once(void **state)
{
    struct fixture *f = *state;
    nade_reader *reader = NULL;
    f->script.schema_error = ENOENT; /* without words */
    assert_int_equal(nade_reader_from_arrow(f->context, &f->stream, NULL, &reader), NADE_BAD_INPUT);
    assert_sentence(f->context, "the Arrow stream: its schema could not be had: No such file");
    assert_null(f->stream.release);
    assert_int_equal(nade_reader_from_arrow(f->context, &f->stream, NULL, &reader), NADE_BAD_CALL);
    assert_sentence(f->context, "was released before");
    assert_int_equal(nade_reader_from_arrow(f->context, NULL, NULL, &reader), NADE_BAD_CALL);
    arrow_test_stream(&f->script, &f->stream);
    assert_int_equal(nade_reader_from_arrow(f->context, &f->stream, NULL, NULL), NADE_BAD_CALL);
    arrow_test_stream(&f->script, &f->stream);
    f->stream.get_next = NULL;
    assert_int_equal(nade_reader_from_arrow(f->context, &f->stream, NULL, &reader), NADE_BAD_CALL);
    assert_sentence(f->context, "lacks a function");
    assert_null(reader);
}

static void bad_cells(void **state)
{
    struct fixture *f = *state;
    nade_table *table = NULL;
    f->numbers[4] = INFINITY;
    nade_reader *reader = open_reader(f, NULL);
    assert_int_equal(nade_reader_next(f->context, reader, SIZE_MAX, &table), NADE_BAD_INPUT);
    assert_sentence(f->context, "the Arrow stream, row 4, column 'x': found 'inf', expected a finite number");
    assert_int_equal(arrow_test_live, 0);
    nade_reader_free(reader);
}

static void no_rows(void **state)
{
    struct fixture *f = *state;
    nade_table *table = NULL;
    f->script.batch_count = 0;
    nade_reader *reader = open_reader(f, NULL);
    assert_int_equal(nade_reader_next(f->context, reader, 5, &table), NADE_BAD_INPUT);
    assert_sentence(f->context, "the Arrow stream: has no rows, expected at least one");
    nade_reader_free(reader);
}

/* Types of a table depend on all of its batches: dates with a time in the last one only. */
static void finest_of_all(void **state)
{
    struct fixture *f = *state;
    static const int64_t days[] = {0, 86400, 172800}, times[] = {1};
    f->columns[0][0].format = f->columns[3][0].format = "tss:";
    f->columns[0][0].buffers[1].bytes = days;
    f->columns[3][0].buffers[1].bytes = times;
    f->batches[1] = f->columns[3];
    f->script.batch_count = 2;
    nade_reader *reader = open_reader(f, NULL);
    nade_table *table = next(f, reader, SIZE_MAX);
    assert_string_equal(table->column[0].form, "YYYY-MM-DD hh:mm:ss");
    assert_int_equal(nade_table_rows(table), 4);
    nade_table_free(table);
    nade_reader_free(reader);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_at_once),    TEST(in_parts),      TEST(left_early), TEST(listed_rows), TEST(listed_beyond),
        TEST(fails_half_way), TEST(fails_at_once), TEST(bad_cells),  TEST(no_rows),     TEST(finest_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
