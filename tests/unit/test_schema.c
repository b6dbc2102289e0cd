/* From tables to a model's columns and cells: labels, units, matching, refusals. */
#include <math.h>

#include "model/encode.h"
#include "model/far_values.h"
#include "model/odd_labels.h"
#include "model/real_column.h"
#include "model/schema.h"
#include "support/support.h"
#include "unit/column_fixture.h"

static nade_status try_to_learn(nade_context *context, struct arena *arena, const char *text, struct schema *schema)
{
    nade_table *table = read_good(context, text, NULL);
    size_t *rows = nd_arena_alloc(arena, table->rows, sizeof *rows);
    for (size_t i = 0; i < table->rows; i++) rows[i] = i;
    nade_status status = nd_schema_learn(context, arena, table, rows, table->rows, schema);
    nade_table_free(table);
    return status;
}

/* Learns from all rows of a text. */
static void learn(nade_context *context, struct arena *arena, const char *text, struct schema *schema)
{
    support_assert_ok(context, try_to_learn(context, arena, text, schema));
}

static const char mixed[] = "sex,age,town,flag\n"
                            "m,20,Rome,0\n"
                            "f,30.5,Oslo,1\n"
                            "f,NA,Rome,1\n"
                            "m,40,Bern,0\n";

static void test_learns_columns(void **state)
{
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    (void)state;
    learn(context, &arena, mixed, &s);
    assert_true(s.named && s.count == 4);
    assert_int_equal(s.column[0].type, NADE_BINARY);
    assert_int_equal(s.column[0].label_count, 2);
    assert_string_equal(s.column[0].labels[0], "f");
    assert_int_equal(s.column[1].type, NADE_REAL);
    support_assert_close("mean", s.column[1].mean, (20 + 30.5 + 40) / 3, 1e-15, 0);
    support_assert_close("sd", s.column[1].sd, sqrt(66.72222222222221), 1e-12, 0);
    support_assert_close("step", s.column[1].step, 0.1, 1e-15, 0);
    support_assert_close("floor", s.column[1].floor, 0.1 / s.column[1].sd / sqrt(12.0), 1e-12, 0);
    assert_int_equal(s.column[2].type, NADE_CATEGORICAL);
    assert_string_equal(s.column[2].labels[2], "Rome");
    assert_int_equal(s.column[3].label_count, 0);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* Columns in another order and one too many: matched by name, the extra one ignored with a warning. */
static void test_encodes_by_name(void **state)
{
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    double log_scale[2];
    (void)state;
    learn(context, &arena, mixed, &s);
    nade_table *table = read_good(context, "town,note,flag,age,sex\nOslo,x,1,?,f\nRome,y,0.0,40,m\n", NULL);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells));
    nd_log_scale(&s, &cells, NULL, log_scale);
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.last, "'note'"));
    assert_true(cells.kind == ENCODED_FLOATS && cells.rows == 2 && cells.columns == 4);
    assert_true(nd_cell(&cells, 0, 0) == 0 && nd_cell(&cells, 1, 0) == 1);
    assert_true(isnan(nd_cell(&cells, 0, 1)) && log_scale[0] == 0);
    support_assert_close("z", (double)nd_cell(&cells, 1, 1), (40 - s.column[1].mean) / s.column[1].sd, 1e-6, 0);
    support_assert_close("log sd", log_scale[1], log(s.column[1].sd), 1e-15, 0);
    assert_true(nd_cell(&cells, 0, 2) == 1 && nd_cell(&cells, 1, 2) == 2);
    assert_true(nd_cell(&cells, 0, 3) == 1 && nd_cell(&cells, 1, 3) == 0);
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

static void refuse_rows(const char *text, const char *words)
{
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    learn(context, &arena, mixed, &s);
    nade_table *table = read_good(context, text, NULL);
    assert_int_equal(nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells), NADE_BAD_INPUT);
    assert_sentence(context, words);
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

static void test_refuses_what_the_model_does_not_know(void **state)
{
    (void)state;
    refuse_rows("sex,age,town,flag\nm,20,Rome,1\nm,20,Paris,1\n", "line 3, column 'town': found 'Paris'");
    refuse_rows("sex,age,town,flag\nx,20,Rome,1\nm,1,Rome,0\n", "line 2, column 'sex': found 'x'");
    refuse_rows("sex,age,town,flag\nm,20,Rome,1\nm,old,Rome,1\n",
                "line 3, column 'age': found 'old', expected a number");
    refuse_rows("sex,age,town,flag\nm,20,Rome,2\n", "column 'flag': found '2', expected 0 or 1");
    refuse_rows("sex,age,town,flag\nm,1e300,Rome,1\n", "column 'age': found '1e300'");
    refuse_rows("sex,age,town\nm,20,Rome\n", "no column 'flag'");
    refuse_rows("m,20,Rome\nf,20,Rome\n", "has 3 columns, the model expects 4");
}

/* Asked to, unknown labels of discrete columns become missing cells and are counted; the first row's is named.  Text in
 * a real column stays an error. */
static void test_unseen_labels_as_missing(void **state)
{
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    struct unseen_cells unseen = {.count = 0};
    (void)state;
    learn(context, &arena, mixed, &s);
    nade_table *table =
        read_good(context, "sex,age,town,flag\nm,20,Rome,1\nx,20,Rome,1\nf,20,Paris,2\nm,3,Paris,0\n", NULL);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, &unseen, &cells));
    assert_int_equal(unseen.count, 4);
    assert_string_equal(unseen.first, "line 3, column 'sex': 'x'");
    assert_true(isnan(nd_cell(&cells, 1, 0)) && isnan(nd_cell(&cells, 2, 2)) && isnan(nd_cell(&cells, 3, 2)));
    assert_true(isnan(nd_cell(&cells, 2, 3)) && nd_cell(&cells, 0, 2) == 2 && nd_cell(&cells, 3, 3) == 0);
    nade_table_free(table);
    table = read_good(context, "sex,age,town,flag\nm,old,Rome,1\n", NULL);
    assert_int_equal(nd_encode(context, &arena, &s, table, NULL, 0, NULL, &unseen, &cells), NADE_BAD_INPUT);
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* Absence as a label: texts and numbers, and in the tables that are encoded later. */
static void test_missing_as_value(void **state)
{
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    struct unseen_cells unseen = {.count = 0};
    size_t rows[] = {0, 1, 2, 3};
    (void)state;
    nade_table *table = read_good(context, "k,flag,town,x\n2,1,Rome,1.5\n,0,?,2.5\n2.0,,Oslo,\n-1,1,Rome,3.5\n", NULL);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_ABSENCE, "k,nobody"), NADE_BAD_CALL);
    assert_sentence(context, "the list of columns whose absence is a value");
    assert_int_equal(column_of_table(table, 0).missing, 1);
    support_assert_ok(context, nade_table_tidy(context, table, NADE_TIDY_ABSENCE, "0-2"));
    support_assert_ok(context, nade_table_tidy(context, table, NADE_TIDY_ABSENCE, "k"));
    for (size_t c = 0; c < 3; c++) {
        assert_int_equal(column_of_table(table, c).type, NADE_CATEGORICAL);
        assert_int_equal(column_of_table(table, c).missing, 0);
    }
    assert_int_equal(column_of_table(table, 3).missing, 1);
    assert_int_equal(nade_table_set_type(context, table, "k", NADE_REAL), NADE_BAD_INPUT);
    support_assert_ok(context, nd_schema_learn(context, &arena, table, rows, 4, &s));
    assert_int_equal(s.column[0].label_count, 3);
    assert_string_equal(s.column[0].labels[0], "");
    assert_string_equal(s.column[0].labels[1], "-1");
    assert_string_equal(s.column[0].labels[2], "2");
    assert_int_equal(s.column[1].label_count, 3);
    assert_int_equal(s.column[2].label_count, 3);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells));
    assert_true(nd_cell(&cells, 0, 0) == 2 && nd_cell(&cells, 1, 0) == 0 && nd_cell(&cells, 2, 0) == 2);
    assert_true(nd_cell(&cells, 2, 1) == 0 && nd_cell(&cells, 1, 2) == 0 && isnan(nd_cell(&cells, 2, 3)));
    nade_table_free(table);
    table = read_good(context, "k,flag,town,x\n,NA,?,\n7,1,Bern,1\n", NULL);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, &unseen, &cells));
    for (size_t c = 0; c < 3; c++) assert_true(nd_cell(&cells, 0, c) == 0);
    assert_true(isnan(nd_cell(&cells, 0, 3)) && isnan(nd_cell(&cells, 1, 0)) && isnan(nd_cell(&cells, 1, 2)));
    assert_int_equal(unseen.count, 2);
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* One label more than a byte has codes for, one more than a column of numbers, and a column that can't have labels. */
static void test_missing_as_value_limits(void **state)
{
    static double values[1000 * 3];
    nade_context *context = new_context();
    nade_table *table;
    (void)state;
    for (size_t row = 0; row < 1000; row++) {
        values[3 * row] = row < 255 ? (double)row : NAN;
        values[3 * row + 1] = (double)row;
        values[3 * row + 2] = (double)row + 0.5;
    }
    support_assert_ok(context, nade_table_from_array(context, values, 1000, 3, NULL, &table));
    assert_int_equal(table->column[0].storage, STORE_CODES8);
    support_assert_ok(context, nade_table_tidy(context, table, NADE_TIDY_ABSENCE, "0"));
    assert_int_equal(table->column[0].storage, STORE_CODES16);
    for (size_t row = 0; row < 1000; row++)
        assert_int_equal(nd_table_code(&table->column[0], row), row < 255 ? row : 255);
    support_assert_ok(context, nade_table_tidy(context, table, NADE_TIDY_ABSENCE, "1"));
    assert_int_equal(table->column[1].label_count, 1001);
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_ABSENCE, "2"), NADE_BAD_INPUT);
    assert_sentence(context, "column '2'");
    nade_table_free(table);
    nade_context_free(context);
}

/* "2", "2.0" and "02" are one label, named as most cells are; a byte a cell where all columns are discrete. */
static void test_numeric_labels(void **state)
{
    char text[4096] = "k,b\n";
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    (void)state;
    for (int i = 0; i < 25; i++) strcat(text, "1E1,0\n2,1\n2.0,1\n2.0,1\n-1,0\n");
    learn(context, &arena, text, &s);
    assert_int_equal(s.column[0].type, NADE_CATEGORICAL);
    assert_int_equal(s.column[0].label_count, 3);
    assert_string_equal(s.column[0].labels[0], "-1");
    assert_string_equal(s.column[0].labels[1], "2.0");
    assert_string_equal(s.column[0].labels[2], "1E1");
    nade_table *table = read_good(context, "k,b\n02,1\n10,0\n,1\n", NULL);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells));
    assert_int_equal(cells.kind, ENCODED_BYTES);
    assert_true(nd_cell(&cells, 0, 0) == 1 && nd_cell(&cells, 1, 0) == 2 && isnan(nd_cell(&cells, 2, 0)));
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* A column with a leading zero holds codes: labels that are equal as numbers but not as texts stay apart. */
static void test_labels_with_leading_zeros(void **state)
{
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    (void)state;
    learn(context, &arena, "k,x\n07,1.5\n7,2.5\nA,3\n", &s);
    assert_int_equal(s.column[0].label_count, 3);
    nade_table *table = read_good(context, "k,x\n7,1\n07,1\nA,2\n", NULL);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells));
    assert_string_equal(s.column[0].labels[(size_t)nd_cell(&cells, 0, 0)], "7");
    assert_string_equal(s.column[0].labels[(size_t)nd_cell(&cells, 1, 0)], "07");
    assert_string_equal(s.column[0].labels[(size_t)nd_cell(&cells, 2, 0)], "A");
    nade_table_free(table);
    table = read_good(context, "k,x\n7.0,1\n", NULL);
    assert_int_equal(nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells), NADE_BAD_INPUT);
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* Codes are labels as they are written, whatever numbers they are. */
static void test_labels_that_are_codes(void **state)
{
    char text[4096] = "zip,ward\n";
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    (void)state;
    for (int i = 0; i < 20; i++) strcat(text, "10001,01\n1234,00\n02139,01\n01234,01\n");
    learn(context, &arena, text, &s);
    assert_true(s.column[0].type == NADE_CATEGORICAL && s.column[0].label_count == 4);
    assert_string_equal(s.column[0].labels[0], "01234");
    assert_string_equal(s.column[0].labels[2], "10001");
    assert_string_equal(s.column[0].labels[3], "1234");
    assert_true(s.column[1].type == NADE_BINARY && s.column[1].label_count == 2);
    assert_string_equal(s.column[1].labels[0], "00");
    nade_table *table = read_good(context, "zip,ward\n2139,1\n1234,0\n", NULL);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells));
    assert_true(nd_cell(&cells, 0, 0) == 1 && nd_cell(&cells, 0, 1) == 1);
    assert_true(nd_cell(&cells, 1, 0) == 3 && nd_cell(&cells, 1, 1) == 0);
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* A Latin-1 file trains, and a UTF-8 file with the same names and labels matches it. */
static void test_latin1(void **state)
{
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    struct encoded_rows cells;
    (void)state;
    learn(context, &arena,
          "stra\xdf"
          "e,n\nd\xfcn,1.5\nbreit,2\n\xf6"
          "de,3\n",
          &s);
    assert_string_equal(s.column[0].name, "stra\xc3\x9f"
                                          "e");
    nade_table *table = read_good(context,
                                  "n,stra\xc3\x9f"
                                  "e\n1,d\xc3\xbcn\n2,breit\n",
                                  NULL);
    support_assert_ok(context, nd_encode(context, &arena, &s, table, NULL, 0, NULL, NULL, &cells));
    assert_string_equal(s.column[0].labels[(size_t)nd_cell(&cells, 0, 0)], "d\xc3\xbcn");
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

static void test_constant_columns_warn(void **state)
{
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    (void)state;
    learn(context, &arena, "a,b\n7.25,1.5\n7.25,2.5\n7.25,3\n", &s);
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.last, "column 'a'"));
    assert_true(s.column[0].sd == 1 && s.column[0].mean == 7.25);
    nd_arena_free(&arena);
    nade_context_free(context);
}

static void test_a_column_without_values_is_refused(void **state)
{
    nade_context *context = new_context();
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    const size_t rows[] = {0, 1};
    (void)state;
    nade_table *table = read_good(context, "a,b\nNA,1.5\n,2.5\n", NULL);
    assert_int_equal(nd_schema_learn(context, &arena, table, rows, 2, &s), NADE_BAD_INPUT);
    assert_sentence(context, "column 'a' has no values");
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* The deviation counts as 1 only for numbers that rounding alone may tell apart, and never in silence. */
static void test_deviations_of_any_size(void **state)
{
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    struct arena arena = {context->allocator, NULL};
    struct schema s = {0};
    (void)state;
    learn(context, &arena, "a,b,c\n1000000000000003,1e-200,-1e200\n1000000000000001,3e-200,1e200\n", &s);
    assert_int_equal(warnings.count, 0);
    assert_true(s.column[0].mean == 1000000000000002 && s.column[0].sd == 1 && s.column[0].step == 1);
    support_assert_close("small", s.column[1].sd, 1e-200, 0, 1e-214);
    support_assert_close("large", s.column[2].sd, 1e200, 1e-14, 0);
    learn(context, &arena, "a\n1000000000000003\n1000000000000009\n", &s);
    assert_true(s.column[0].mean == 1000000000000006 && s.column[0].sd == 3);
    learn(context, &arena, "a\n0.3\n0.30000000000000004\n", &s);
    assert_true(s.column[0].sd == 1 && warnings.count == 1);
    assert_non_null(strstr(warnings.last, "'a' of"));
    assert_non_null(strstr(warnings.last, "a single value, up to rounding, in the training rows"));
    learn(context, &arena, "a\n6e-311\n3e-311\n0\n", &s); /* a deviation that no model file may hold */
    assert_true(s.column[0].sd == 1 && warnings.count == 2);
    learn(context, &arena, "a\n1e100\n1.0000000000000002e100\n", &s); /* cells stay within reach of the mean */
    assert_true(s.column[0].sd > 1e83 && s.column[0].sd < 1e85 && warnings.count == 3);
    assert_int_equal(try_to_learn(context, &arena, "a,b\n1,1\n2,-1.1e200\n", &s), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(context), "line 3, column 'b': found -1.1e+200, expected a number from "));
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* One value far from the rest of a column is named, unless the rest is as coarse as the floor. */
static void test_warns_of_far_values(void **state)
{
    enum { ROWS = 200 };
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    struct arena arena = {context->allocator, NULL};
    size_t rows[ROWS];
    double values[ROWS][4];
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = i;
        for (size_t c = 0; c < 4; c++) values[i][c] = (double)(i * 37 % 101) / 101;
    }
    values[0][1] = values[1][1] = 999999;
    values[2][1] = -1e7;
    values[0][2] = 50;
    for (size_t i = 1; i < ROWS; i++) values[i][3] = (double)(i % 3);
    nade_table *table;
    struct schema s = {0};
    support_assert_ok(context, nade_table_from_array(context, &values[0][0], ROWS, 4, NULL, &table));
    support_assert_ok(context, nd_schema_learn(context, &arena, table, rows, ROWS, &s));
    support_assert_ok(context, nd_warn_of_far_values(context, table, rows, ROWS, &s));
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.last, ": '1' (-10000000, 999999); leave"));
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* Of many rows some are looked at to find a column, and all to name its values. */
static void test_warns_of_far_values_among_many(void **state)
{
    enum { ROWS = 66000, PASSED_OVER = 142 };
    static double values[ROWS];
    static size_t rows[ROWS];
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    struct arena arena = {context->allocator, NULL};
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = i;
        values[i] = (double)(i * 37 % 101) / 101;
    }
    values[0] = 999999;
    values[PASSED_OVER] = -1e7;
    nade_table *table;
    struct schema s = {0};
    support_assert_ok(context, nade_table_from_array(context, values, ROWS, 1, NULL, &table));
    support_assert_ok(context, nd_schema_learn(context, &arena, table, rows, ROWS, &s));
    support_assert_ok(context, nd_warn_of_far_values(context, table, rows, ROWS, &s));
    assert_int_equal(warnings.count, 1);
    assert_non_null(strstr(warnings.last, ": '0' (-10000000, 999999); leave"));
    nade_table_free(table);
    nd_arena_free(&arena);
    nade_context_free(context);
}

/* How many warnings of odd labels a text gives. */
static size_t odd_labels(const char *text, const char *words)
{
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    nade_table *table = read_good(context, text, NULL);
    nd_warn_of_odd_labels(context, table);
    if (words) assert_non_null(strstr(warnings.last, words));
    nade_table_free(table);
    nade_context_free(context);
    return warnings.count;
}

static void test_warns_of_odd_labels(void **state)
{
    char text[8192] = "id;kind;x\n", more[8192];
    size_t used = strlen(text);
    (void)state;
    for (int i = 0; i < 198; i++) used += (size_t)sprintf(text + used, "p%d;k%d;%d.5\n", i < 100 ? i : 0, i % 99, i);
    strcpy(more, text);
    strcat(more, "p0;k1;3\np0;k1;3\n");
    assert_int_equal(odd_labels(text, "column 'id': there are more than half as many labels as cells"), 1);
    assert_int_equal(odd_labels(more, NULL), 0);
    assert_int_equal(odd_labels("a;b\n3,5;u\n-12.25;v\n7;w\n;w\n", "column 'a': numbers with decimal commas"), 1);
    assert_int_equal(odd_labels("a;b\n3,500;u\n1.25;v\n7;w\nx;w\n", NULL), 0);
    assert_int_equal(odd_labels("a;b\n3,5;u\n1,2,3;v\n7;w\n", NULL), 0);
    assert_int_equal(odd_labels("a;b\n3.5;u\nx;v\n7;w\n", NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_learns_columns),
        cmocka_unit_test(test_encodes_by_name),
        cmocka_unit_test(test_refuses_what_the_model_does_not_know),
        cmocka_unit_test(test_unseen_labels_as_missing),
        cmocka_unit_test(test_missing_as_value),
        cmocka_unit_test(test_missing_as_value_limits),
        cmocka_unit_test(test_numeric_labels),
        cmocka_unit_test(test_labels_with_leading_zeros),
        cmocka_unit_test(test_labels_that_are_codes),
        cmocka_unit_test(test_latin1),
        cmocka_unit_test(test_constant_columns_warn),
        cmocka_unit_test(test_a_column_without_values_is_refused),
        cmocka_unit_test(test_deviations_of_any_size),
        cmocka_unit_test(test_warns_of_far_values),
        cmocka_unit_test(test_warns_of_far_values_among_many),
        cmocka_unit_test(test_warns_of_odd_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
