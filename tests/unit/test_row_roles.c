/* Columns that say something of the rows: what is taken, what is refused, how rows are split by groups and times, and
 * that models of other columns pass over them. */
#include <math.h>

#include "column_fixture.h"
#include "support/support.h"
#include "train/split.h"

enum { ROWS = 300, FOLDS = 5 };

/* x, weight, group, time: groups of different sizes out of order, every 50th row without one; times with many ties. */
static nade_table *make_table(nade_context *context)
{
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "x,w,g,y,t\n");
    for (size_t i = 0; i < ROWS; i++) {
        add_text(&csv, "%zu.25,%zu,", i * i % 37, i % 3);
        if (i % 50 != 7) add_text(&csv, "p%zu", i * i % 41);
        add_text(&csv, ",%zu.5,2021-%02zu-%02zu\n", i * 7 % 19, 1 + i * 5 % 12, 1 + i * 11 % 28);
    }
    return read_made(context, &csv);
}

static void tidy(nade_context *context, nade_table *table, nade_tidy what, const char *column)
{
    support_assert_ok(context, nade_table_tidy(context, table, what, column));
}

/* ---- taking ------------------------------------------------------------------------------------------------------ */

static void test_columns_go(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = make_table(context);
    tidy(context, table, NADE_TIDY_GROUPS, "g");
    tidy(context, table, NADE_TIDY_TIMES, "4");
    tidy(context, table, NADE_TIDY_WEIGHTS, "1");
    assert_int_equal(nade_table_columns(table), 2);
    assert_string_equal(column_of_table(table, 0).name, "x");
    assert_string_equal(column_of_table(table, 1).name, "y");
    static const struct {
        const char *name, *reason;
        size_t place;
    } gone[] = {{"w", "weighs the rows", 1},
                {"g", "says which rows stay together", 2},
                {"t", "says which rows are held out", 4}};
    assert_int_equal(table->left_out_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(column_of_table(table, 2 + i).name, gone[i].name);
        assert_string_equal(column_of_table(table, 2 + i).left_out, gone[i].reason);
        assert_int_equal(table->left_out[i].place, gone[i].place);
    }
    assert_null(column_of_table(table, 5).name);
    for (size_t i = 0; i < ROWS; i++) assert_true(table->roles.weight[i] == (double)(i % 3));
    assert_true(table->roles.time[1] - table->roles.time[0] == 86400.0 * (31 + 28 + 31 + 30 + 31 + 11));
    assert_true(table->roles.whole);
    nade_table_free(table);
    nade_context_free(context);
}

/* Groups are counted by their first rows; one is missing here and there. */
static void test_groups(void **state)
{
    (void)state;
    nade_context *context = new_context();
    const char *texts = "g,x\nb,1\na,2\n,3\nb,4\n,5\na,6\nc,7\n";
    static const size_t expected[] = {0, 1, 2, 0, 3, 1, 4};
    nade_table *table = read_good(context, texts, NULL);
    tidy(context, table, NADE_TIDY_GROUPS, "g");
    assert_int_equal(table->roles.group_count, 5);
    for (size_t i = 0; i < 7; i++) assert_int_equal(table->roles.group[i], expected[i]);
    nade_table_free(table);
    enum { MANY = 3000 }; /* numbers that are no codes any more */
    double *values = malloc(2 * MANY * sizeof *values);
    for (size_t i = 0; i < MANY; i++) {
        values[2 * i] = i == 5 || i == 9 ? NAN : (double)(i % 1500) + 0.5;
        values[2 * i + 1] = (double)(i % 2);
    }
    support_assert_ok(context, nade_table_from_array(context, values, MANY, 2, NULL, &table));
    tidy(context, table, NADE_TIDY_GROUPS, "0");
    for (size_t i = 0; i < MANY; i++)
        for (size_t j = i + 1; j < i + 1600 && j < MANY; j++)
            assert_int_equal(table->roles.group[i] == table->roles.group[j], values[2 * i] == values[2 * j]);
    assert_int_equal(table->roles.group_count, 1502);
    free(values);
    nade_table_free(table);
    nade_context_free(context);
}

static void refuse(nade_context *context, const char *text, nade_tidy what, const char *column, nade_status status,
                   const char *sentence)
{
    nade_table *table = read_good(context, text, NULL);
    size_t columns = nade_table_columns(table);
    assert_int_equal(nade_table_tidy(context, table, what, column), status);
    assert_sentence(context, sentence);
    assert_int_equal(nade_table_columns(table), columns);
    nade_table_free(table);
}

static void test_refusals(void **state)
{
    (void)state;
    nade_context *context = new_context();
    refuse(context, "w,x\n1,2\n,3\n2,3\n", NADE_TIDY_WEIGHTS, "w", NADE_BAD_INPUT,
           "line 3, column 'w': found no value, expected a weight of 0 or more");
    refuse(context, "w,x\n1,2\n2,5\n-2,3\n", NADE_TIDY_WEIGHTS, "w", NADE_BAD_INPUT,
           "line 4, column 'w': found -2, expected a weight of 0 or more");
    refuse(context, "w,x\n1,2\nmuch,5\n2,3\n", NADE_TIDY_WEIGHTS, "w", NADE_BAD_INPUT,
           "line 3, column 'w': found 'much', expected a weight of 0 or more");
    refuse(context, "w,x\n0,2\n0,3\n", NADE_TIDY_WEIGHTS, "w", NADE_BAD_INPUT,
           "column 'w': all weights are 0, expected some above");
    refuse(context, "w,x\n1,2\n2,3\n", NADE_TIDY_WEIGHTS, "w,x", NADE_BAD_CALL,
           ": found 'w,x', which is 2 columns, expected one");
    refuse(context, "w,x\n1,2\n2,3\n", NADE_TIDY_WEIGHTS, "v", NADE_BAD_CALL, ": found 'v', expected");
    refuse(context, "w\n1\n2\n", NADE_TIDY_WEIGHTS, "w", NADE_BAD_CALL,
           ": 'w' is the only column, expected others to learn");
    refuse(context, "g,x\na,2\na,3\n", NADE_TIDY_GROUPS, "g", NADE_BAD_INPUT,
           "column 'g': all rows are of one group, expected several");
    refuse(context, "t,x\nsoon,2\nlate,3\n", NADE_TIDY_TIMES, "t", NADE_BAD_INPUT,
           "line 2, column 't': found 'soon', expected a number or a date");
    refuse(context, "t,x\n2020-01-02,2\n,3\n", NADE_TIDY_TIMES, "t", NADE_BAD_INPUT,
           "line 3, column 't': found no value, expected a number or a date");
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "g,x\n");
    for (size_t i = 0; i < 100002; i++) add_text(&csv, "u%zu,%zu\n", i, i % 2);
    nade_table *many = read_made(context, &csv);
    assert_int_equal(nade_table_tidy(context, many, NADE_TIDY_GROUPS, "g"), NADE_BAD_INPUT);
    assert_sentence(context,
                    "column 'g': found more than 100000 groups that have texts for names, expected fewer, or numbers");
    nade_table_free(many);
    nade_table *table = read_good(context, "w,x,v\n1,2,1\n2,3,1\n", NULL);
    tidy(context, table, NADE_TIDY_WEIGHTS, "w");
    assert_int_equal(nade_table_tidy(context, table, NADE_TIDY_WEIGHTS, "v"), NADE_BAD_CALL);
    assert_sentence(context, "the column of weights is named twice");
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- splits ------------------------------------------------------------------------------------------------------ */

static void check_together(const nade_table *table, const struct split *split)
{
    bool *validates = calloc(table->roles.group_count, sizeof *validates);
    for (size_t i = 0; i < split->valid_count; i++) validates[table->roles.group[split->valid[i]]] = true;
    for (size_t i = 0; i < split->train_count; i++) assert_false(validates[table->roles.group[split->train[i]]]);
    free(validates);
}

static void test_split_by_groups(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = make_table(context);
    tidy(context, table, NADE_TIDY_GROUPS, "g");
    static const double fractions[] = {0.001, 0.1, 0.3, 0.9, 0.999};
    for (size_t i = 0; i < 5; i++)
        for (uint32_t seed = 0; seed < 20; seed++) {
            struct arena arena = {context->allocator, NULL};
            struct split split = {0};
            support_assert_ok(context, nd_split_rows(context, &arena, table, fractions[i], seed, &split));
            assert_int_equal(split.train_count + split.valid_count, ROWS);
            assert_true(split.train_count > 0 && split.valid_count > 0);
            if (i > 0 && i < 4) assert_in_range(split.valid_count, fractions[i] * ROWS - 8, fractions[i] * ROWS + 8);
            check_together(table, &split);
            nd_arena_free(&arena);
        }
    nade_table_free(table);
    nade_context_free(context);
}

/* One that is much larger than what is wanted stays; where all are, the smallest goes. */
static void test_large_groups(void **state)
{
    (void)state;
    nade_context *context = new_context();
    struct csv_text csv = {.text = NULL};
    add_text(&csv, "g,x\n");
    for (size_t i = 0; i < 100; i++) add_text(&csv, "%s,%zu.5\n", i < 60 ? "a" : i < 80 ? "b" : "c", i % 7);
    nade_table *table = read_made(context, &csv);
    tidy(context, table, NADE_TIDY_GROUPS, "g");
    for (uint32_t seed = 0; seed < 10; seed++) {
        struct arena arena = {context->allocator, NULL};
        struct split split = {0};
        support_assert_ok(context, nd_split_rows(context, &arena, table, 0.05, seed, &split));
        assert_int_equal(split.valid_count, 20);
        check_together(table, &split);
        nd_arena_free(&arena);
    }
    nade_table_free(table);
    nade_context_free(context);
}

static void check_folds(nade_context *context, const nade_table *table, uint32_t seed)
{
    size_t seen[ROWS] = {0};
    for (size_t f = 0; f < FOLDS; f++) {
        struct arena arena = {context->allocator, NULL};
        struct split split = {0};
        support_assert_ok(context, nd_split_fold(context, &arena, table, FOLDS, f, seed, &split));
        check_together(table, &split);
        assert_in_range(split.valid_count, ROWS / FOLDS - 8, ROWS / FOLDS + 8);
        for (size_t i = 0; i < split.valid_count; i++) seen[split.valid[i]]++;
        for (size_t i = 0; i < split.train_count; i++) seen[split.train[i]] += FOLDS;
        nd_arena_free(&arena);
    }
    for (size_t i = 0; i < ROWS; i++) assert_int_equal(seen[i], 1 + FOLDS * (FOLDS - 1));
}

/* Every row validates once, groups as wholes.  Groups of one row each are no groups. */
static void test_folds_of_groups(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = make_table(context), *plain = make_table(context);
    tidy(context, table, NADE_TIDY_GROUPS, "g");
    for (uint32_t seed = 0; seed < 20; seed++) check_folds(context, table, seed);
    struct arena arena = {context->allocator, NULL};
    struct split split = {0};
    assert_int_equal(nd_split_fold(context, &arena, table, 100, 0, 0, &split), NADE_BAD_INPUT);
    assert_sentence(context,
                    "column 'g': the rows are of 27 groups, expected at least 100, since groups stay together");
    size_t *own = nd_arena_alloc(&arena, ROWS, sizeof *own);
    for (size_t i = 0; i < ROWS; i++) own[i] = i;
    table->roles.group = own;
    table->roles.group_count = ROWS;
    for (size_t f = 0; f <= FOLDS; f++) {
        struct split one = {0}, other = {0};
        if (f < FOLDS) {
            support_assert_ok(context, nd_split_fold(context, &arena, table, FOLDS, f, 3, &one));
            support_assert_ok(context, nd_split_fold(context, &arena, plain, FOLDS, f, 3, &other));
        } else {
            support_assert_ok(context, nd_split_rows(context, &arena, table, 0.1, 3, &one));
            support_assert_ok(context, nd_split_rows(context, &arena, plain, 0.1, 3, &other));
        }
        assert_int_equal(one.valid_count, other.valid_count);
        assert_memory_equal(one.valid, other.valid, one.valid_count * sizeof *one.valid);
    }
    nd_arena_free(&arena);
    nade_table_free(plain);
    nade_table_free(table);
    nade_context_free(context);
}

/* The latest are held out, all of a time on one side. */
static void test_split_by_time(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = make_table(context);
    tidy(context, table, NADE_TIDY_TIMES, "t");
    static const double fractions[] = {0.001, 0.1, 0.3, 0.9, 0.999};
    for (size_t i = 0; i < 5; i++) {
        struct arena arena = {context->allocator, NULL};
        struct split split = {0};
        double latest = -INFINITY, earliest = INFINITY;
        support_assert_ok(context, nd_split_rows(context, &arena, table, fractions[i], 3, &split));
        assert_int_equal(split.train_count + split.valid_count, ROWS);
        for (size_t k = 0; k < split.train_count; k++) latest = fmax(latest, table->roles.time[split.train[k]]);
        for (size_t k = 0; k < split.valid_count; k++) earliest = fmin(earliest, table->roles.time[split.valid[k]]);
        assert_true(latest < earliest);
        if (i > 0 && i < 4) assert_in_range(split.valid_count, fractions[i] * ROWS - 6, fractions[i] * ROWS + 6);
        nd_arena_free(&arena);
    }
    nade_table_free(table);
    nade_context_free(context);
}

/* Of three times a third each, a tenth is nearer to none than to all; one must go, and one must stay. */
static void test_ties(void **state)
{
    (void)state;
    nade_context *context = new_context();
    static const struct {
        size_t first, second; /* rows of the two latest times, of 100 */
        double fraction;
        size_t held;
    } cases[] = {{33, 33, 0.1, 33}, {33, 33, 0.5, 66}, {33, 33, 0.49, 33}, {1, 98, 0.1, 1},
                 {1, 10, 0.1, 11},  {1, 99, 0.5, 1},   {0, 99, 0.5, 99}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csv_text csv = {.text = NULL};
        struct arena arena = {context->allocator, NULL};
        struct split split = {0};
        add_text(&csv, "t,x\n");
        for (size_t row = 0; row < 100; row++)
            add_text(&csv, "%d,%zu.5\n",
                     row < cases[i].first                     ? 3
                     : row < cases[i].first + cases[i].second ? 2
                                                              : 1,
                     row % 7);
        nade_table *table = read_made(context, &csv);
        tidy(context, table, NADE_TIDY_TIMES, "t");
        support_assert_ok(context, nd_split_rows(context, &arena, table, cases[i].fraction, 0, &split));
        if (split.valid_count != cases[i].held) fail_msg("case %zu: %zu rows", i, split.valid_count);
        nd_arena_free(&arena);
        nade_table_free(table);
    }
    nade_context_free(context);
}

/* Rows without weight are nowhere. */
static void test_no_weight(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = make_table(context);
    tidy(context, table, NADE_TIDY_WEIGHTS, "w");
    for (size_t f = 0; f <= FOLDS; f++) {
        struct arena arena = {context->allocator, NULL};
        struct split split = {0};
        if (f < FOLDS)
            support_assert_ok(context, nd_split_fold(context, &arena, table, FOLDS, f, 3, &split));
        else
            support_assert_ok(context, nd_split_rows(context, &arena, table, 0.1, 3, &split));
        assert_int_equal(split.train_count + split.valid_count, 2 * ROWS / 3);
        assert_int_equal(split.valid_count, f < FOLDS ? 2 * ROWS / 3 / FOLDS : 2 * ROWS / 3 / 10);
        for (size_t i = 0; i < split.train_count; i++) assert_true(split.train[i] % 3 != 0);
        for (size_t i = 0; i < split.valid_count; i++) assert_true(split.valid[i] % 3 != 0);
        nd_arena_free(&arena);
    }
    nade_table_free(table);
    nade_context_free(context);
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* By name or place, in tables that have them, some of which may have been taken out there too. */
static void test_models_pass_over(void **state)
{
    (void)state;
    struct kept_warnings warnings;
    nade_context *context = warned_context(&warnings);
    nade_table *table = make_table(context);
    tidy(context, table, NADE_TIDY_WEIGHTS, "w");
    tidy(context, table, NADE_TIDY_GROUPS, "g");
    nade_model *model = train_small(context, table, 5), *read = reread(context, model);
    static const char *const texts[] = {"x,w,g,y,t\n1.25,1,p1,2.5,2021-01-01\n3.25,2,p2,4.5,2021-01-02\n",
                                        "1.25,1,p1,2.5,2021-01-01\n3.25,2,p2,4.5,2021-01-02\n",
                                        "y,t,x\n2.5,2021-01-01,1.25\n4.5,2021-01-02,3.25\n",
                                        "1.25,2.5,2021-01-01\n3.25,4.5,2021-01-02\n"};
    for (size_t i = 0; i < 8; i++) {
        double values[6];
        table = read_good(context, texts[i / 2], NULL);
        if (i < 4 && i % 2) tidy(context, table, NADE_TIDY_WEIGHTS, "1");
        warnings.count = 0;
        support_assert_ok(context,
                          nade_table_values(context, i % 2 ? read : model, table, NULL, values, NULL, NULL, NULL));
        assert_true(values[0] == 1.25 && values[1] == 2.5 && values[3] == 3.25 && values[4] == 4.5);
        assert_int_equal(warnings.count, 0);
        nade_table_free(table);
    }
    nade_model_free(model);
    nade_model_free(read);
    nade_context_free(context);
}

static void refuse_training(nade_context *context, const nade_table *table, const nade_table *valid,
                            const nade_train_options *options, const char *sentence)
{
    nade_model *model = NULL;
    assert_int_equal(nade_train(context, table, valid, options, &model), NADE_BAD_CALL);
    assert_sentence(context, sentence);
}

static void test_what_does_not_go_together(void **state)
{
    (void)state;
    nade_context *context = new_context();
    nade_table *table = make_table(context);
    nade_train_options o;
    nade_train_options_init(&o, sizeof o);
    tidy(context, table, NADE_TIDY_TIMES, "t");
    refuse_training(context, table, table, &o,
                    "the column to split by, 't', says which rows are held out, but there is a validation table");
    o.folds = 3;
    refuse_training(context, table, NULL, &o,
                    "3 folds are asked for (`folds`), but the column to split by says which rows are held out");
    o.folds = 0;
    o.valid_fraction = 0;
    refuse_training(context, table, NULL, &o,
                    "the column to split by, 't', says which rows are held out, but none are to be");
    o.valid_fraction = 0.1;
    tidy(context, table, NADE_TIDY_GROUPS, "g");
    refuse_training(
        context, table, NULL, &o,
        "the column to split by, 't', says which rows are held out, but the column of groups says which stay "
        "together");
    nade_table_free(table);
    nade_context_free(context);
}

static int keep_plan(void *user, const nade_train_plan *plan)
{
    *(nade_train_plan *)user = *plan;
    return 1;
}

/* Few rows have folds, unless there are too few groups for them, or times. */
static void test_automatic_folds(void **state)
{
    (void)state;
    nade_context *context = new_context();
    static const struct {
        nade_tidy what;
        const char *column;
        size_t folds, groups;
    } cases[] = {{NADE_TIDY_WEIGHTS, "w", 5, 0},
                 {NADE_TIDY_GROUPS, "g", 5, 27},
                 {NADE_TIDY_TIMES, "t", 0, 0},
                 {NADE_TIDY_GROUPS, "w", 0, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *table = make_table(context);
        nade_train_plan plan;
        nade_train_options o;
        nade_model *model = NULL;
        nade_train_options_init(&o, sizeof o);
        o.planned = keep_plan;
        o.planned_user = &plan;
        tidy(context, table, cases[i].what, cases[i].column);
        assert_int_equal(nade_train(context, table, NULL, &o, &model), NADE_INTERRUPTED);
        assert_int_equal(plan.folds, cases[i].folds);
        assert_int_equal(plan.groups, cases[i].groups);
        nade_table_free(table);
    }
    nade_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_go),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_split_by_groups),
        cmocka_unit_test(test_large_groups),
        cmocka_unit_test(test_folds_of_groups),
        cmocka_unit_test(test_split_by_time),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_no_weight),
        cmocka_unit_test(test_models_pass_over),
        cmocka_unit_test(test_what_does_not_go_together),
        cmocka_unit_test(test_automatic_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
