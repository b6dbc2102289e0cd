/* A table from Arrow is the table that a file with the same cells is: the same types, the same model byte for byte, the
 * same scores; and models and tables of either origin go together. */
#include <math.h>

#include "data_files.h"
#include "support/arrow_support.h"
#include "support/model_support.h"
#include "support/small_training.h"

#define BYTES(array) (array), sizeof(array)

enum { ROWS = 240, COLUMNS = 9 };

/* The same cells as Arrow's columns and as text. */
struct cells {
    double real[ROWS], ordered[ROWS];
    float single[ROWS];
    int32_t few[ROWS], days[ROWS];
    int64_t seconds[ROWS];
    unsigned char truths[ROWS / 8], present[ROWS / 8];
    int8_t kind[ROWS], side[ROWS];
    struct arrow_test_texts kinds, sides;
    struct arrow_test_column dictionary[2], columns[COLUMNS];
    char text[ROWS * 160];
};

static const char *const kind_names[] = {"red", "007", "blue, or so", NULL};
static const char *const side_names[] = {"left", "right", NULL};

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16 & 0x7FFF;
}

static void fill_cells(struct cells *c)
{
    unsigned seed = 7;
    for (size_t i = 0; i < ROWS; i++) {
        c->real[i] = (double)((int)draw(&seed) - 16384) / 100;
        c->single[i] = (float)draw(&seed) / 1000.0f;
        c->ordered[i] = (double)(draw(&seed) % 4) / 2;
        c->few[i] = (int32_t)(draw(&seed) % 5) + 1;
        c->days[i] = 18000 + (int32_t)(draw(&seed) % 3000);
        c->seconds[i] = INT64_C(1500000000) + (int64_t)draw(&seed) * 61;
        c->kind[i] = (int8_t)(draw(&seed) % 3);
        c->side[i] = (int8_t)(draw(&seed) % 2);
        if (draw(&seed) % 3) c->truths[i / 8] = (unsigned char)(c->truths[i / 8] | 1 << i % 8);
        if (draw(&seed) % 7) c->present[i / 8] = (unsigned char)(c->present[i / 8] | 1 << i % 8);
    }
}

static bool bit(const unsigned char *bits, size_t at)
{
    return bits[at / 8] >> at % 8 & 1;
}

/* The day of a number of days, without the library's help: good from 1970 to 2099. */
static void write_day(int64_t days, char text[64])
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 1970, month = 0;
    for (; days >= 365 + (year % 4 == 0); year++) days -= 365 + (year % 4 == 0);
    for (; days >= lengths[month] + (month == 1 && year % 4 == 0); month++)
        days -= lengths[month] + (month == 1 && year % 4 == 0);
    snprintf(text, 64, "%04d-%02d-%02d", year, month + 1, (int)days + 1);
}

static void write_text(struct cells *c, const char *const truths[2])
{
    char *to = c->text, day[64], time_of[64];
    to += sprintf(to, "real,single,ordered,few,day,time,kind,side,truth\n");
    for (size_t i = 0; i < ROWS; i++) {
        write_day(c->days[i], day);
        write_day(c->seconds[i] / 86400, time_of);
        int of_day = (int)(c->seconds[i] % 86400);
        char real[32] = "";
        if (bit(c->present, i)) sprintf(real, "%g", c->real[i]);
        to += sprintf(to, "%s,%g,%g,%d,%s,%s %02d:%02d:%02d,\"%s\",%s,%s\n", real, (double)c->single[i], c->ordered[i],
                      c->few[i], day, time_of, of_day / 3600, of_day / 60 % 60, of_day % 60, kind_names[c->kind[i]],
                      side_names[c->side[i]], truths[bit(c->truths, i)]);
    }
}

static struct arrow_test_column column_of(const char *name, const char *format, const void *bytes, size_t count)
{
    return (struct arrow_test_column){
        .name = name, .format = format, .length = ROWS, .n_buffers = 2, .buffers = {{NULL, 0}, {bytes, count}}};
}

static struct arrow_test_column dictionary_of(const char *const *names, struct arrow_test_texts *made)
{
    arrow_test_texts(names, made);
    return (struct arrow_test_column){.format = "u",
                                      .length = (int64_t)made->count,
                                      .n_buffers = 3,
                                      .buffers = {{NULL, 0}, {BYTES(made->offsets)}, {BYTES(made->bytes)}}};
}

static void make_columns(struct cells *c)
{
    c->dictionary[0] = dictionary_of(kind_names, &c->kinds);
    c->dictionary[1] = dictionary_of(side_names, &c->sides);
    c->columns[0] = column_of("real", "g", BYTES(c->real));
    c->columns[0].buffers[0].bytes = c->present;
    c->columns[0].buffers[0].count = sizeof c->present;
    c->columns[0].null_count = -1;
    c->columns[1] = column_of("single", "f", BYTES(c->single));
    c->columns[2] = column_of("ordered", "g", BYTES(c->ordered));
    c->columns[3] = column_of("few", "i", BYTES(c->few));
    c->columns[4] = column_of("day", "tdD", BYTES(c->days));
    c->columns[5] = column_of("time", "tss:", BYTES(c->seconds));
    c->columns[6] = column_of("kind", "c", BYTES(c->kind));
    c->columns[6].dictionary = &c->dictionary[0];
    c->columns[7] = column_of("side", "c", BYTES(c->side));
    c->columns[7].dictionary = &c->dictionary[1];
    c->columns[8] = column_of("truth", "b", BYTES(c->truths));
}

static nade_table *from_arrow(nade_context *context, const struct arrow_test_column *columns, size_t count)
{
    struct ArrowSchema schema;
    struct ArrowArray array;
    nade_table *table = NULL;
    arrow_test_make(columns, count, columns[0].length, 0, &schema, &array);
    if (nade_table_from_arrow(context, &schema, &array, NULL, &table) != NADE_OK)
        fail_msg("refused: %s", nade_last_error(context));
    return table;
}

static nade_model *train(nade_context *context, const nade_table *table)
{
    const size_t hidden[] = {6};
    nade_train_options o;
    nade_model *model = NULL;
    support_small_training(&o, hidden, 1, 16, 2, 3);
    if (nade_train(context, table, NULL, &o, &model) != NADE_OK) fail_msg("training: %s", nade_last_error(context));
    return model;
}

static void score(nade_context *context, const nade_model *model, const nade_table *table, double *log_density)
{
    if (nade_score(context, model, table, NULL, log_density, NULL, NULL) != NADE_OK)
        fail_msg("scoring: %s", nade_last_error(context));
}

static void refuse_score(nade_context *context, const nade_model *model, const nade_table *table, const char *words)
{
    double log_density[ROWS];
    assert_int_equal(nade_score(context, model, table, NULL, log_density, NULL, NULL), NADE_BAD_INPUT);
    assert_sentence(context, words);
}

static void expect_same_bytes(nade_context *context, const nade_model *found, const nade_model *expected)
{
    char *folder = model_support_folder(), path[2][200];
    size_t size[2];
    snprintf(path[0], sizeof path[0], "%s/found", folder);
    snprintf(path[1], sizeof path[1], "%s/expected", folder);
    assert_int_equal(nade_model_save(context, found, path[0]), NADE_OK);
    assert_int_equal(nade_model_save(context, expected, path[1]), NADE_OK);
    char *a = model_support_read(path[0], &size[0]), *b = model_support_read(path[1], &size[1]);
    assert_string_equal(nade_model_description(found), nade_model_description(expected));
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(a, b, size[0]);
    free(a);
    free(b);
    model_support_remove_folder(folder);
}

static struct cells *new_cells(const char *no, const char *yes)
{
    struct cells *c = calloc(1, sizeof *c);
    assert_non_null(c);
    fill_cells(c);
    make_columns(c);
    write_text(c, (const char *const[2]){no, yes});
    return c;
}

static void same_as_text(void **state)
{
    (void)state;
    static const nade_type types[COLUMNS] = {NADE_REAL, NADE_REAL,        NADE_ORDERED, NADE_CATEGORICAL, NADE_DATE,
                                             NADE_DATE, NADE_CATEGORICAL, NADE_BINARY,  NADE_BINARY};
    nade_context *context = new_context();
    struct cells *c = new_cells("0", "1");
    nade_table *table[2] = {from_arrow(context, c->columns, COLUMNS), read_good(context, c->text, NULL)};
    for (size_t i = 0; i < COLUMNS; i++) {
        nade_column found = {.size = sizeof found}, expected = {.size = sizeof expected};
        nade_table_column(table[0], i, &found);
        nade_table_column(table[1], i, &expected);
        assert_int_equal(found.type, types[i]);
        assert_int_equal(found.type, expected.type);
        assert_int_equal(found.missing, expected.missing);
        assert_int_equal(found.named, 1);
        assert_string_equal(found.name, expected.name);
        if (expected.form) assert_string_equal(found.form, expected.form);
    }
    nade_model *model[2] = {train(context, table[0]), train(context, table[1])};
    expect_same_bytes(context, model[0], model[1]);
    double log_density[2][ROWS];
    score(context, model[0], table[0], log_density[0]);
    score(context, model[1], table[1], log_density[1]);
    assert_memory_equal(log_density[0], log_density[1], sizeof log_density[0]);
    score(context, model[1], table[0], log_density[0]);
    assert_memory_equal(log_density[0], log_density[1], sizeof log_density[0]);
    for (size_t i = 0; i < 2; i++) {
        nade_model_free(model[i]);
        nade_table_free(table[i]);
    }
    free(c);
    nade_context_free(context);
}

/* A model of the words True and False knows truth values, and one of truth values the words. */
static void truths_and_words(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct cells *c = new_cells("False", "True");
    nade_table *table[2] = {from_arrow(context, c->columns, COLUMNS), read_good(context, c->text, NULL)};
    for (size_t trained = 0; trained < 2; trained++) {
        double log_density[2][ROWS];
        nade_model *model = train(context, table[trained]);
        score(context, model, table[0], log_density[0]);
        score(context, model, table[1], log_density[1]);
        assert_memory_equal(log_density[0], log_density[1], sizeof log_density[0]);
        nade_model_free(model);
    }
    nade_table_free(table[0]);
    nade_table_free(table[1]);
    free(c);
    nade_context_free(context);
}

/* One column as text, and the same cells as an Arrow column of another format: both score alike with a model of the
 * text; words: or the column is refused with these. */
static void score_alike(const char *text, struct arrow_test_column column, const char *words)
{
    nade_context *context = new_context();
    nade_table *table[2] = {from_arrow(context, &column, 1), read_good(context, text, NULL)};
    nade_model *model = train(context, table[1]);
    double log_density[2][ROWS];
    size_t rows = nade_table_rows(table[0]);
    if (words) {
        refuse_score(context, model, table[0], words);
    } else {
        score(context, model, table[0], log_density[0]);
        score(context, model, table[1], log_density[1]);
        assert_int_equal(rows, nade_table_rows(table[1]));
        assert_memory_equal(log_density[0], log_density[1], rows * sizeof(double));
    }
    nade_model_free(model);
    nade_table_free(table[0]);
    nade_table_free(table[1]);
    nade_context_free(context);
}

/* The text of a column x with so many rows, made of these in turn. */
static const char *lines_of(const char *const *cells, size_t rows)
{
    static char text[ROWS * 32];
    size_t count = 0, used = (size_t)sprintf(text, "x\n");
    while (cells[count]) count++;
    for (size_t row = 0; row < rows; row++) used += (size_t)sprintf(text + used, "%s\n", cells[row % count]);
    return text;
}

static void other_formats(void **state)
{
    (void)state;
    static const char *const labels[] = {"1.0", "2.0", "3.0", NULL}, *const fractions[] = {"0.5", "1.25", "1e1", NULL};
    static const char *const written[] = {"1", "2", "3", NULL}, *const days[] = {"1970-01-02", "1970-01-05", NULL};
    enum { CELLS = 60 };
    int16_t integers[CELLS];
    int32_t day_numbers[CELLS];
    double numbers[CELLS];
    const char *texts[CELLS + 1] = {NULL};
    struct arrow_test_texts made;
    for (size_t i = 0; i < CELLS; i++) {
        integers[i] = (int16_t)(i % 3 + 1);
        numbers[i] = (double)(i % 3 + 1);
        day_numbers[i] = i % 2 ? 4 : 1;
        texts[i] = written[i % 3];
    }
    struct arrow_test_column column = column_of("x", "s", BYTES(integers));
    column.length = CELLS;
    score_alike(lines_of(labels, CELLS), column, NULL); /* labels "1.0" of integers */
    column.format = "g";
    column.buffers[1].bytes = numbers;
    column.buffers[1].count = sizeof numbers;
    score_alike(lines_of(written, CELLS), column, NULL); /* labels "1" of fractions */
    column.format = "tdD";
    column.buffers[1].bytes = day_numbers;
    column.buffers[1].count = sizeof day_numbers;
    score_alike(lines_of(days, CELLS), column, NULL); /* two dates in a file are labels */
    score_alike(lines_of(fractions, CELLS), column, "row 0, column 'x': found '1970-01-02', expected a number");
    arrow_test_texts(texts, &made);
    column = (struct arrow_test_column){.name = "x",
                                        .format = "u",
                                        .length = CELLS,
                                        .n_buffers = 3,
                                        .buffers = {{NULL, 0}, {BYTES(made.offsets)}, {BYTES(made.bytes)}}};
    score_alike(lines_of(labels, CELLS), column, NULL); /* labels "1.0" of texts */
    for (size_t i = 0; i < CELLS; i++) texts[i] = fractions[i % 3];
    arrow_test_texts(texts, &made);
    score_alike(lines_of(fractions, CELLS), column, NULL); /* numbers of texts */
    for (size_t i = 0; i < CELLS; i++) texts[i] = "a";
    arrow_test_texts(texts, &made);
    score_alike(lines_of(fractions, CELLS), column, "row 0, column 'x': found 'a', expected a number");
}

/* Texts are read as the model's column writes its numbers, and marks are missing cells, as in a file. */
static void texts_as_a_file_has_them(void **state)
{
    (void)state;
    enum { CELLS = 60 };
    static const char *const forms[] = {"%d:%02d:30", "%d.%02d \xE2\x82\xAC"};
    static const char *const marks[] = {"-", "NA", "none"};
    for (size_t f = 0; f < 2; f++) {
        char written[CELLS][32];
        const char *texts[CELLS + 1] = {NULL};
        struct arrow_test_texts made;
        for (size_t i = 0; i < CELLS; i++) {
            snprintf(written[i], sizeof written[i], forms[f], (int)i % 9 + 1, (int)i);
            texts[i] = i % 20 == 7 ? marks[i / 20] : written[i];
        }
        arrow_test_texts(texts, &made);
        struct arrow_test_column column = {.name = "x",
                                           .format = "u",
                                           .length = CELLS,
                                           .n_buffers = 3,
                                           .buffers = {{NULL, 0}, {BYTES(made.offsets)}, {BYTES(made.bytes)}}};
        score_alike(lines_of(texts, CELLS), column, NULL);
    }
}

/* Texts that are dates are found as in a file; others that look like numbers are labels. */
static void dates_as_texts(void **state)
{
    (void)state;
    enum { CELLS = 40 };
    nade_context *context = new_context();
    char days[CELLS][64];
    const char *texts[CELLS + 1] = {NULL};
    struct arrow_test_texts made;
    for (size_t i = 0; i < CELLS; i++) {
        write_day((int64_t)i * 40, days[i]);
        texts[i] = days[i];
    }
    arrow_test_texts(texts, &made);
    const struct arrow_test_column column = {.name = "x",
                                             .format = "u",
                                             .length = CELLS,
                                             .n_buffers = 3,
                                             .buffers = {{NULL, 0}, {BYTES(made.offsets)}, {BYTES(made.bytes)}}};
    nade_table *table = from_arrow(context, &column, 1);
    assert_int_equal(table->column[0].type, NADE_DATE);
    assert_string_equal(table->column[0].form, "YYYY-MM-DD");
    nade_table_free(table);
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_text),   cmocka_unit_test(truths_and_words),
        cmocka_unit_test(other_formats),  cmocka_unit_test(texts_as_a_file_has_them),
        cmocka_unit_test(dates_as_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
