/* What is wrong with Arrow's structures is said in a sentence, and what was taken over is released once all the same.
 */
#include <math.h>

#include "data_files.h"
#include "support/arrow_support.h"

#define BYTES(array) (array), sizeof(array)

static const double numbers[] = {1, 2, 3, 4};

static struct arrow_test_column good(void)
{
    return (struct arrow_test_column){
        .name = "x", .format = "g", .length = 4, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(numbers)}}};
}

/* What a case does to structures that are good. */
typedef void spoil(struct ArrowSchema *schema, struct ArrowArray *array);

static void refuse_batch(const struct arrow_test_column *columns, size_t count, spoil *change,
                         const nade_read_options *options, nade_status expected, const char *words)
{
    nade_context *context = new_context();
    struct ArrowSchema schema;
    struct ArrowArray array;
    nade_table *untouched = (nade_table *)context, *table = untouched;
    arrow_test_make(columns, count, columns[0].length, 0, &schema, &array);
    if (change) change(&schema, &array);
    nade_status status = nade_table_from_arrow(context, &schema, &array, options, &table);
    if (status == NADE_OK) fail_msg("accepted what should be refused with '%s'", words);
    assert_sentence(context, words);
    assert_int_equal(status, expected);
    assert_ptr_equal(table, untouched);
    assert_null(schema.release);
    assert_null(array.release);
    assert_int_equal(arrow_test_live, 0);
    nade_context_free(context);
}

static void refuse(struct arrow_test_column column, spoil *change, const char *words)
{
    refuse_batch(&column, 1, change, NULL, NADE_BAD_INPUT, words);
}

/* ---- structures -------------------------------------------------------------------------------------------------- */

static void negative_length(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)schema;
    array->length = -1;
}

static void negative_offset(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)schema;
    array->children[0]->offset = -1;
}

static void child_too_short(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)schema;
    array->offset = 1;
}

static void no_cells(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)schema;
    array->children[0]->buffers[1] = NULL;
}

static void no_buffers(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)schema;
    array->children[0]->n_buffers = 1;
}

static void no_struct(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)array;
    schema->format = "g";
}

static void child_released(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)schema;
    array->children[0]->release(array->children[0]);
}

static void child_schema_released(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)array;
    schema->children[0]->release(schema->children[0]);
}

static void name_not_utf8(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)array;
    schema->children[0]->name = "\xFF";
}

static void missing_row(struct ArrowSchema *schema, struct ArrowArray *array)
{
    static const unsigned char present[] = {0x0B};
    (void)schema;
    array->buffers[0] = present;
    array->null_count = -1;
}

static void dictionary_vanished(struct ArrowSchema *schema, struct ArrowArray *array)
{
    (void)schema;
    array->children[0]->dictionary->release(array->children[0]->dictionary);
    free(array->children[0]->dictionary);
    array->children[0]->dictionary = NULL;
}

static void structures(void **state)
{
    (void)state;
    refuse(good(), negative_length, "the Arrow table: has the length -1 and the offset 0, expected none below 0");
    refuse(good(), negative_offset, "column 'x': has the length 4 and the offset -1");
    refuse(good(), child_too_short, "column 'x': has fewer cells than the table has rows");
    refuse(good(), no_cells, "column 'x': has no buffer of its cells, expected one");
    refuse(good(), no_buffers, "column 'x': has 1 buffers, expected 2");
    refuse(good(), no_struct, "has the format 'g', expected '+s', a struct of columns");
    refuse(good(), child_released, "column 'x': its array is absent or was released");
    refuse(good(), child_schema_released, "column 0: its schema is absent or was released");
    refuse(good(), name_not_utf8, "column 0: has a name that is no UTF-8");
    refuse(good(), missing_row, "row 2: is missing as a whole, expected cells that are");
}

static void children_differ(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct ArrowSchema schema, other_schema;
    struct ArrowArray array, other;
    const struct arrow_test_column columns[] = {good(), good()};
    nade_table *table = NULL;
    arrow_test_make(columns, 1, 4, 0, &schema, &other);
    arrow_test_make(columns, 2, 4, 0, &other_schema, &array);
    assert_int_equal(nade_table_from_arrow(context, &schema, &array, NULL, &table), NADE_BAD_INPUT);
    assert_sentence(context, "its array has 2 columns, its schema 1, expected as many");
    assert_int_equal(nade_table_from_arrow(context, &schema, &other, NULL, &table), NADE_BAD_CALL);
    assert_sentence(context, "its schema was released before");
    assert_int_equal(nade_table_from_arrow(context, &other_schema, &other, NULL, &table), NADE_BAD_CALL);
    assert_sentence(context, "its array was released before");
    arrow_test_make(columns, 0, 4, 0, &schema, &array);
    assert_int_equal(nade_table_from_arrow(context, &schema, &array, NULL, &table), NADE_BAD_INPUT);
    assert_sentence(context, "has 0 columns, expected 1 to 1000000");
    arrow_test_make(columns, 1, 4, 0, &schema, &array);
    assert_int_equal(nade_table_from_arrow(context, &schema, &array, NULL, NULL), NADE_BAD_CALL);
    arrow_test_make(columns, 1, 4, 0, &schema, &array);
    assert_int_equal(nade_table_from_arrow(context, NULL, &array, NULL, &table), NADE_BAD_CALL);
    assert_int_equal(nade_table_from_arrow(context, &schema, NULL, NULL, &table), NADE_BAD_CALL);
    assert_int_equal(arrow_test_live, 0);
    assert_null(table);
    nade_context_free(context);
}

static void columns_and_options(void **state)
{
    (void)state;
    const struct arrow_test_column same[] = {good(), good()};
    nade_read_options o;
    refuse_batch(same, 2, NULL, NULL, NADE_BAD_INPUT, "columns 0 and 1 both have the name 'x'");
    nade_read_options_init(&o, sizeof o);
    o.columns = "y";
    refuse_batch(same, 1, NULL, &o, NADE_BAD_CALL, "'y'");
    o.size = 1;
    refuse_batch(same, 1, NULL, &o, NADE_BAD_CALL, "read options");
    struct arrow_test_column empty = good();
    empty.length = 0;
    refuse(empty, NULL, "has no rows, expected at least one");
}

static void formats(void **state)
{
    static const char *const unknown[] = {
        "", "z", "+l", "tts", "tDx", "q", "tsx:", "tss", "d:200,99", "d:9,2,7", "d:9,2x", "+w:2", "w:4"};
    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char words[80];
        struct arrow_test_column column = good();
        column.format = unknown[i];
        snprintf(words, sizeof words, "column 'x': has the format '%s', expected", unknown[i]);
        refuse(column, NULL, words);
    }
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void numbers_and_dates(void **state)
{
    (void)state;
    const double infinite[] = {1, 2, -INFINITY, 4};
    const int64_t far[] = {0, INT64_C(253402300800), 0, 0};
    struct arrow_test_column column = good();
    column.buffers[1].bytes = infinite;
    refuse(column, NULL, "the Arrow table, row 2, column 'x': found '-inf', expected a finite number");
    column.buffers[1].bytes = far;
    column.format = "tss:";
    refuse(column, NULL, "row 1, column 'x': found a date outside of the years 1 to 9999, expected one within them");
}

/* Many numbers, so that the infinite one comes after they have become doubles. */
static void late_infinity(void **state)
{
    enum { ROWS = 5000 };
    (void)state;
    double *many = malloc(ROWS * sizeof *many);
    assert_non_null(many);
    for (size_t i = 0; i < ROWS; i++) many[i] = (double)i + 0.25;
    many[4321] = INFINITY;
    struct arrow_test_column column = good();
    column.length = ROWS;
    column.buffers[1].bytes = many;
    column.buffers[1].count = ROWS * sizeof *many;
    refuse(column, NULL, "row 4321, column 'x': found 'inf', expected a finite number");
    free(many);
}

static void texts(void **state)
{
    (void)state;
    const int32_t offsets[] = {0, 1, 2, 3, 4}, descending[] = {0, 3, 2, 3, 4};
    struct arrow_test_column column = {.name = "x",
                                       .format = "u",
                                       .length = 4,
                                       .n_buffers = 3,
                                       .buffers = {{NULL, 0},
                                                   {BYTES(offsets)},
                                                   {"ab\xFF"
                                                    "d",
                                                    4}}};
    refuse(column, NULL, "row 2, column 'x': found a text that is no UTF-8");
    column.buffers[2].bytes = "a\0cd";
    refuse(column, NULL, "row 1, column 'x': found a text with a zero byte");
    column.buffers[2].bytes = NULL;
    refuse(column, NULL, "row 0, column 'x': found an offset outside of the texts");
    column.buffers[2].bytes = "abcd";
    column.buffers[1].bytes = descending;
    refuse(column, NULL, "row 1, column 'x': found an offset outside of the texts");
}

static void views(void **state)
{
    (void)state;
    const int64_t sizes[] = {0};
    int32_t view[4] = {20, 0, 1, 0};
    struct arrow_test_column column = {.name = "x",
                                       .format = "vu",
                                       .length = 1,
                                       .n_buffers = 4,
                                       .buffers = {{NULL, 0}, {BYTES(view)}, {"", 0}, {BYTES(sizes)}}};
    refuse(column, NULL, "row 0, column 'x': found an offset outside of the texts");
    view[0] = -1;
    refuse(column, NULL, "row 0, column 'x': found an offset outside of the texts");
}

static void dictionaries(void **state)
{
    (void)state;
    const int32_t offsets[] = {0, 1, 2};
    const int8_t indices[] = {0, 1, -1, 0}, beyond[] = {0, 1, 0, 2};
    struct arrow_test_column values = {
        .format = "u", .length = 2, .n_buffers = 3, .buffers = {{NULL, 0}, {BYTES(offsets)}, {"ab", 2}}};
    struct arrow_test_column column = {.name = "x",
                                       .format = "c",
                                       .length = 4,
                                       .n_buffers = 2,
                                       .buffers = {{NULL, 0}, {BYTES(indices)}},
                                       .dictionary = &values};
    refuse(column, NULL, "row 2, column 'x': found the index -1, expected one of the dictionary's 2");
    column.buffers[1].bytes = beyond;
    refuse(column, NULL, "row 3, column 'x': found the index 2, expected one of the dictionary's 2");
    refuse(column, dictionary_vanished, "column 'x': its array and its schema disagree on a dictionary");
    values.format = "+s";
    refuse(column, NULL, "column 'x': has the format '+s'");
    values.format = "u";
    values.n_buffers = 1;
    refuse(column, NULL, "column 'x': has 1 buffers, expected 3");
    values.n_buffers = 3;
    column.format = "f";
    refuse(column, NULL, "column 0: has a dictionary, but no whole numbers as indices into it");
    const int64_t far[] = {0, INT64_MAX};
    const int8_t within[] = {0, 1, 0, 0};
    column.buffers[1].bytes = within;
    values =
        (struct arrow_test_column){.format = "tss:", .length = 2, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(far)}}};
    column.format = "c";
    refuse(column, NULL, "row 1, column 'x': found a date outside of the years 1 to 9999");
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static const struct arrow_test_column *mixed_columns(void)
{
    static double many[1200];
    static const int64_t times[1200] = {5, 6};
    static int8_t indices[1200];
    static struct arrow_test_texts made;
    static struct arrow_test_column values, columns[4];
    arrow_test_texts((const char *const[]){"one", "another", "third", NULL}, &made);
    for (size_t i = 0; i < 1200; i++) {
        many[i] = (double)i / 4;
        indices[i] = (int8_t)(i % 3);
    }
    values = (struct arrow_test_column){
        .format = "u", .length = 3, .n_buffers = 3, .buffers = {{NULL, 0}, {BYTES(made.offsets)}, {BYTES(made.bytes)}}};
    columns[0] = (struct arrow_test_column){
        .name = "x", .format = "g", .length = 1200, .n_buffers = 2, .buffers = {{NULL, 0}, {BYTES(many)}}};
    columns[1] = (struct arrow_test_column){.name = "c",
                                            .format = "c",
                                            .length = 1200,
                                            .n_buffers = 2,
                                            .buffers = {{NULL, 0}, {BYTES(indices)}},
                                            .dictionary = &values};
    columns[2] = columns[1];
    columns[2].name = "t";
    columns[2].format = "tss:";
    columns[2].dictionary = NULL;
    columns[2].buffers[1].bytes = times;
    columns[2].buffers[1].count = sizeof times;
    columns[3] = columns[1];
    columns[3].name = "n";
    columns[3].dictionary = &columns[0];
    return columns;
}

static nade_status load_mixed(nade_context *context, nade_table **table)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    nade_read_options o;
    nade_read_options_init(&o, sizeof o);
    o.missing = "17,third";
    arrow_test_make(mixed_columns(), 4, 1200, 0, &schema, &array);
    return nade_table_from_arrow(context, &schema, &array, &o, table);
}

static nade_status stream_mixed(nade_context *context, nade_table **table)
{
    struct ArrowArrayStream stream;
    const struct arrow_test_column *const batches[] = {mixed_columns(), mixed_columns()};
    struct arrow_test_stream script = {.batches = batches, .batch_count = 2, .columns = 4, .fail_at = 9};
    nade_reader *reader = NULL;
    arrow_test_stream(&script, &stream);
    nade_status status = nade_reader_from_arrow(context, &stream, NULL, &reader);
    if (status == NADE_OK) status = nade_reader_next(context, reader, SIZE_MAX, table);
    nade_reader_free(reader);
    return status;
}

static void fail_ever_later(nade_status (*work)(nade_context *context, nade_table **table))
{
    struct failing_allocator memory = {0, SIZE_MAX, 0};
    nade_context *context = failing_context(&memory);
    size_t live = memory.live, failures = 0;
    nade_table *table = NULL;
    nade_status status = NADE_NO_MEMORY;
    for (; status == NADE_NO_MEMORY; failures++) {
        memory.calls = 0;
        memory.fail_at = failures;
        status = work(context, &table);
        assert_int_equal(arrow_test_live, 0);
        if (status != NADE_NO_MEMORY) break;
        assert_null(table);
        assert_int_equal(memory.live, live);
        assert_sentence(context, "not enough memory");
    }
    if (status != NADE_OK) fail_msg("call %zu: %s", failures, nade_last_error(context));
    assert_true(failures > 20);
    nade_context_free(context);
    nade_table_free(table);
    assert_int_equal(memory.live, 0);
}

static void without_memory(void **state)
{
    (void)state;
    fail_ever_later(load_mixed);
    fail_ever_later(stream_mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structures),
        cmocka_unit_test(children_differ),
        cmocka_unit_test(columns_and_options),
        cmocka_unit_test(formats),
        cmocka_unit_test(numbers_and_dates),
        cmocka_unit_test(late_infinity),
        cmocka_unit_test(texts),
        cmocka_unit_test(views),
        cmocka_unit_test(dictionaries),
        cmocka_unit_test(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
