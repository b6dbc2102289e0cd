/* What the public header says of asking a model: how tables are matched to it, labels that it has not seen, seeds,
 * summaries at their edges, and readers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 12 };

struct fixture {
    nade_context *context;
    char *folder, path[4096], warning[1024];
    size_t warnings;
    nade_model *model; /* of size (real), colour (binary: red, blue) and kind (categorical: a, b, c) */
};

static void hear(void *user, const char *warning)
{
    struct fixture *f = user;
    f->warnings++;
    snprintf(f->warning, sizeof f->warning, "%s", warning);
}

static nade_table *table_of(struct fixture *f, const char *text)
{
    nade_table *table = NULL;
    model_support_write(f->path, text, strlen(text));
    support_assert_ok(f->context, nade_table_read(f->context, f->path, NULL, &table));
    return table;
}

static int set_up(void **state)
{
    static const size_t hidden[] = {4};
    struct fixture *f = calloc(1, sizeof *f);
    nade_context_options options;
    nade_train_options train;
    char text[1024] = "size,colour,kind\n";
    assert_non_null(f);
    nade_context_options_init(&options, sizeof options);
    options.warn = hear;
    options.warn_user = f;
    assert_int_equal(nade_context_create(&options, &f->context), NADE_OK);
    f->folder = model_support_folder();
    snprintf(f->path, sizeof f->path, "%s/data.csv", f->folder);
    for (size_t i = 0; i < ROWS; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%g,%s,%c\n", 0.5 + 1.25 * (double)(i * 7 % 12),
                 i % 2 ? "red" : "blue", (char)('a' + i % 3));
    }
    nade_table *table = table_of(f, text);
    nade_train_options_init(&train, sizeof train);
    train.hidden = hidden;
    train.layers = 1;
    train.iterations = train.updates = 2;
    train.valid_fraction = 0;
    train.device = NADE_DEVICE_CPU;
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &train, &f->model));
    nade_table_free(table);
    f->warnings = 0;
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    nade_model_free(f->model);
    nade_context_free(f->context);
    model_support_remove_folder(f->folder);
    free(f);
    return 0;
}

static nade_score_options options_of(size_t orderings, uint32_t seed)
{
    nade_score_options o;
    nade_score_options_init(&o, sizeof o);
    o.device = NADE_DEVICE_CPU;
    o.orderings = orderings;
    o.seed = seed;
    return o;
}

static nade_score_summary score(struct fixture *f, const char *text, const nade_score_options *o, double *log_density)
{
    nade_score_summary summary = {.size = sizeof summary};
    nade_table *table = table_of(f, text);
    support_assert_ok(f->context, nade_score(f->context, f->model, table, o, log_density, NULL, &summary));
    nade_table_free(table);
    return summary;
}

/* By name where both have names, in any order, with a warning of others; else by position. */
static void test_matching(void **state)
{
    struct fixture *f = *state;
    nade_score_options o = options_of(3, 1);
    double plain, mixed, bare;
    score(f, "size,colour,kind\n3,red,b\n", &o, &plain);
    assert_int_equal(f->warnings, 0);
    score(f, "kind,extra,size,colour\nb,9,3,red\n", &o, &mixed);
    assert_int_equal(f->warnings, 1);
    assert_non_null(strstr(f->warning, "extra"));
    score(f, "3,red,b\n", &o, &bare);
    assert_true(mixed == plain && bare == plain);
    nade_table *table = table_of(f, "size,kind\n3,b\n");
    assert_int_equal(nade_score(f->context, f->model, table, &o, &bare, NULL, NULL), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f->context), "colour"));
    nade_table_free(table);
}

static void test_unseen(void **state)
{
    static const char odd[] = "size,colour,kind\n3,red,zebra\n4,green,b\n5,blue,c\n";
    static const char holes[] = "size,colour,kind\n3,red,\n4,,b\n5,blue,c\n";
    struct fixture *f = *state;
    nade_score_options o = options_of(3, 1);
    double found[3], expected[3];
    nade_table *table = table_of(f, odd);
    assert_int_equal(nade_score(f->context, f->model, table, &o, found, NULL, NULL), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f->context), "green")); /* the column before comes first */
    nade_table_free(table);
    o.unseen_missing = 1;
    nade_score_summary summary = score(f, odd, &o, found);
    assert_int_equal(summary.unseen, 2);
    assert_non_null(strstr(summary.first_unseen, "line 2"));
    assert_non_null(strstr(summary.first_unseen, "zebra"));
    summary = score(f, holes, &o, expected);
    assert_int_equal(summary.unseen, 0);
    assert_string_equal(summary.first_unseen, "");
    assert_memory_equal(found, expected, sizeof found); /* missing cells are marginalised, and so are these */
}

static void test_seeds(void **state)
{
    static const char row[] = "size,colour,kind\n3,red,b\n";
    struct fixture *f = *state;
    nade_score_options o = options_of(1, 1);
    double first, again, other = 0;
    score(f, row, &o, &first);
    score(f, row, &o, &again);
    assert_true(first == again);
    for (o.seed = 2; o.seed < 40 && (other == 0 || other == first); o.seed++) score(f, row, &o, &other);
    assert_true(other != first);
}

/* Rows without a cell to score, a single row, a single ordering. */
static void test_edges_of_summaries(void **state)
{
    struct fixture *f = *state;
    nade_score_options o = options_of(1, 1);
    double log_density[2];
    nade_score_summary s = score(f, "size,colour,kind\n3,red,b\n", &o, log_density);
    assert_true(isnan(s.standard_error) && isnan(s.mean_spread) && isnan(s.bits_per_cell) && s.mean == log_density[0]);
    assert_true(s.rows == 1 && s.orderings == 1 && s.cells == 3 && s.empty_rows == 0);
    o.of = "colour,kind";
    s = score(f, "size,colour,kind\n3,red,b\n", &o, log_density);
    support_assert_close("bits", s.bits_per_cell, -log_density[0] / 2 / log(2), 1e-12, 0);
    o.of = NULL;
    s = score(f, "size,colour,kind\n,,\n3,red,b\n", &o, log_density);
    assert_true(log_density[0] == 0 && s.empty_rows == 1 && s.rows == 2 && s.mean == log_density[1]);
    s = score(f, "size,colour,kind\n,,\n,,\n", &o, log_density);
    assert_true(isnan(s.mean) && isnan(s.standard_error) && isnan(s.gain) && s.empty_rows == 2 && s.cells == 0);
}

/* A model in closed form has one ordering, whose densities are written row by row, and no spread. */
static void test_closed_form(void **state)
{
    enum { ASKED = 3, ORDERINGS = 8 };
    static const char rows[] = "size,colour,kind\n3,red,b\n4,blue,a\n5,,c\n";
    struct fixture *f = *state;
    nade_score_options o = options_of(ORDERINGS, 1);
    nade_train_options train;
    double log_density[ASKED], each[ASKED * ORDERINGS];
    nade_table *table = table_of(f, rows);
    nade_train_options_init(&train, sizeof train);
    train.kind = NADE_KIND_MIXTURE;
    train.components = 2;
    train.valid_fraction = 0;
    nade_model_free(f->model);
    f->model = NULL;
    support_assert_ok(f->context, nade_train(f->context, table, NULL, &train, &f->model));
    nade_table_free(table);
    for (size_t i = 0; i < ASKED * ORDERINGS; i++) each[i] = 7;
    o.each = each;
    nade_score_summary s = score(f, rows, &o, log_density);
    assert_true(s.orderings == 1 && s.mean_spread == 0);
    assert_memory_equal(each, log_density, sizeof log_density);
    for (size_t i = ASKED; i < ASKED * ORDERINGS; i++) assert_true(each[i] == 7);
}

/* A reader copies its options and outlives its context. */
static void test_reader(void **state)
{
    struct fixture *f = *state;
    char drop[] = "colour";
    nade_context *opener = NULL;
    nade_reader *reader = NULL;
    nade_table *part = NULL;
    nade_read_options o;
    nade_read_options_init(&o, sizeof o);
    o.drop = drop;
    model_support_write(f->path, "size,colour\n1,red\n2.5,blue\n", 26);
    assert_int_equal(nade_context_create(NULL, &opener), NADE_OK);
    support_assert_ok(opener, nade_reader_open(opener, f->path, &o, &reader));
    memset(drop, 'x', sizeof drop - 1);
    memset(&o, 0x5A, sizeof o);
    support_assert_ok(opener, nade_reader_next(opener, reader, 1, &part));
    nade_context_free(opener);
    assert_int_equal(nade_table_columns(part), 1);
    assert_int_equal(nade_table_rows(part), 1);
    nade_table_free(part);
    support_assert_ok(f->context, nade_reader_next(f->context, reader, 1, &part));
    assert_int_equal(nade_table_columns(part), 1);
    nade_table_free(part);
    support_assert_ok(f->context, nade_reader_next(f->context, reader, 1, &part));
    assert_null(part);
    nade_reader_free(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_matching, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unseen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_seeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_edges_of_summaries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_closed_form, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_reader, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
