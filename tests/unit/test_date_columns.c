/* Columns of dates in tables and models: found, refused, trained, kept in files, read in the model's form. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/column.h"
#include "data/date_text.h"
#include "model/model.h"
#include "model/table_values.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

enum { ROWS = 2000 };

struct bench {
    nade_context *context;
    char *folder, path[512], text[ROWS * 80];
    size_t used;
};

static void begin(struct bench *b)
{
    *b = (struct bench){.folder = model_support_folder()};
    assert_int_equal(nade_context_create(NULL, &b->context), NADE_OK);
    snprintf(b->path, sizeof b->path, "%s/table.csv", b->folder);
}

static void end(struct bench *b)
{
    nade_context_free(b->context);
    model_support_remove_folder(b->folder);
}

__attribute__((format(printf, 2, 3))) static void add(struct bench *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    b->used += (size_t)vsnprintf(b->text + b->used, sizeof b->text - b->used, format, arguments);
    va_end(arguments);
    assert_true(b->used < sizeof b->text);
}

static nade_table *read_table(struct bench *b)
{
    nade_table *table;
    model_support_write(b->path, b->text, b->used);
    support_assert_ok(b->context, nade_table_read(b->context, b->path, NULL, &table));
    b->used = 0;
    return table;
}

/* A column whose i-th cell is that of the form, on days that are `apart` days apart. */
static nade_table *dates(struct bench *b, const char *form, size_t rows, double apart)
{
    char text[ND_DATE_SIZE];
    add(b, "when\n");
    for (size_t i = 0; i < rows; i++) {
        nd_date_write(form, 1e9 + 0.25 + apart * ND_DAY * (double)i, text);
        add(b, "%s\n", text);
    }
    return read_table(b);
}

static void test_found(void **state)
{
    static const struct {
        const char *form;
        size_t rows;
        double apart;
        const char *found;
    } cases[] = {
        {"YYYY-MM-DD", 30, 1, "YYYY-MM-DD"},
        {"YYYY-MM-DD", 19, 1, NULL},
        {"YYYY-MM-DD", 30, 0, NULL},
        {"D.M.YYYY h:mm", 30, 1.3, "D.M.YYYY h:mm"},
        {"DD/MM/YYYY", 30, 1, "DD/MM/YYYY"},
        {"MM/DD/YYYY hh:mm:ss PM", 30, 1, "MM/DD/YYYY hh:mm:ss PM"},
        {"epoch", 30, 1, NULL},
        {"YYYY-MM-DDThh:mm:ss.ffZ", 30, 1, "YYYY-MM-DDThh:mm:ss.ffZ"},
        {"YYYY:MM:DD", 30, 1, NULL},
    };
    (void)state;
    static struct bench b;
    begin(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nade_table *table = dates(&b, cases[i].form, cases[i].rows, cases[i].apart);
        nade_column column = column_of_table(table, 0);
        assert_int_equal(column.type == NADE_DATE, cases[i].found != NULL);
        if (cases[i].found)
            assert_string_equal(column.form, cases[i].found);
        else
            assert_null(column.form);
        nade_table_free(table);
    }
    end(&b);
}

/* A slip in one cell makes them labels, as 2023-02-30 is none. */
static void test_set(void **state)
{
    (void)state;
    static struct bench b;
    begin(&b);
    nade_table *table = dates(&b, "YYYY-MM-DD", 5, 1);
    support_assert_ok(b.context, nade_table_set_type(b.context, table, "when", NADE_DATE));
    assert_string_equal(column_of_table(table, 0).form, "YYYY-MM-DD");
    nade_table_free(table);

    for (int i = 1; i <= 28; i++)
        add(&b, "%s2023-01-%02d,%02d/01/2023,%d\n", i == 1 ? "a,b,c\n" : "", i, i % 12 + 1, i);
    add(&b, "2023-02-30,01/02/2023,29\n");
    table = read_table(&b);
    assert_int_equal(column_of_table(table, 0).type, NADE_CATEGORICAL);
    assert_int_equal(nade_table_set_type(b.context, table, "a", NADE_DATE), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(b.context),
                           "column 'a' cannot be date: it holds dates of more than one form, "
                           "or none, expected one form; line 30 has '2023-02-30'"));
    assert_int_equal(nade_table_set_type(b.context, table, "b", NADE_DATE), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(b.context), "day and month can't be told apart"));
    assert_int_equal(nade_table_set_type(b.context, table, "c", NADE_DATE), NADE_BAD_INPUT);
    assert_int_equal(nade_table_set_type(b.context, table, "b=DD.MM.YYYY", NADE_DATE), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(b.context), "column 'b' cannot be dates like DD.MM.YYYY: it holds others; "
                                                       "line 2 has '02/01/2023'"));
    assert_int_equal(nade_table_set_type(b.context, table, "b=DD.MM", NADE_DATE), NADE_BAD_CALL);
    support_assert_ok(b.context, nade_table_set_type(b.context, table, "b=MM/DD/YYYY", NADE_DATE));
    assert_string_equal(column_of_table(table, 0).form ? "?" : column_of_table(table, 1).form, "MM/DD/YYYY");
    support_assert_ok(b.context, nade_table_set_type(b.context, table, "b", NADE_DATE));
    support_assert_ok(b.context, nade_table_set_type(b.context, table, "c=epoch", NADE_DATE));
    nade_table_free(table);
    end(&b);
}

static double uniform(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)*state / 4294967296.0;
}

/* Three years of hours; it is warm in summer, few come at weekends, at night it is dark. */
static nade_table *make_table(struct bench *b)
{
    uint32_t random = 7;
    char text[ND_DATE_SIZE];
    add(b, "when,warm,open,dark\n");
    for (int i = 0; i < ROWS; i++) {
        double day = floor(uniform(&random) * 1095), hour = floor(uniform(&random) * 24), value;
        bool weekend = fmod(day + 2, 7) >= 5; /* 2020-01-01 was a Wednesday */
        nd_date_write("DD/MM/YYYY hh:mm", 1577836800 + ND_DAY * day + 3600 * hour, text);
        value = -10 * cos(6.2832 * day / 365.25) + 2 * (uniform(&random) - 0.5);
        add(b, "%s,%.2f,%s,%s\n", i % 50 == 49 ? "" : text, value,
            uniform(&random) < (weekend ? 0.05 : 0.95) ? "yes" : "no", hour < 7 || hour > 18 ? "night" : "day");
    }
    return read_table(b);
}

static nade_model *train(struct bench *b, const nade_table *table, nade_order order, uint64_t iterations)
{
    const size_t hidden[] = {48};
    nade_train_options options;
    nade_model *model;
    nade_train_options_init(&options, sizeof options);
    options.hidden = hidden;
    options.layers = 1;
    options.order = order;
    options.masks = order == NADE_ORDER_AGNOSTIC;
    options.iterations = iterations;
    options.updates = 100;
    options.learning_rate = 0.005;
    options.device = NADE_DEVICE_CPU;
    support_assert_ok(b->context, nade_train(b->context, table, NULL, &options, &model));
    return model;
}

static double impute(struct bench *b, const nade_model *model, const char *when, size_t column)
{
    nade_impute_options options;
    double values[4] = {NAN, NAN, NAN, NAN};
    nade_impute_options_init(&options, sizeof options);
    options.method = NADE_IMPUTE_MEDIAN;
    options.device = NADE_DEVICE_CPU;
    assert_true(nd_date_read_loosely("DD/MM/YYYY hh:mm", when, &values[0]));
    support_assert_ok(b->context, nade_impute(b->context, model, &options, 1, values, NULL, NULL));
    return values[column];
}

static void check_learnt(struct bench *b, const nade_model *model)
{
    double winter = impute(b, model, "2021-01-12", 1), summer = impute(b, model, "14/07/2021 12:00", 1);
    support_assert_close("winter", winter, -10, 0, 3);
    support_assert_close("summer", summer, 10, 0, 3);
    const char *open = column_of_model(model, 2).labels[(size_t)impute(b, model, "2021-05-12 10:00", 2)];
    const char *closed =
        column_of_model(model, 2).labels[(size_t)impute(b, model, "2021-05-15 10:00", 2)]; /* Saturday */
    assert_string_equal(open, "yes");
    assert_string_equal(closed, "no");
    const char *dark = column_of_model(model, 3).labels[(size_t)impute(b, model, "2021-05-12 23:00", 3)];
    const char *light = column_of_model(model, 3).labels[(size_t)impute(b, model, "2021-05-12 12:00", 3)];
    assert_string_equal(dark, "night");
    assert_string_equal(light, "day");
}

/* Draws given that it is warm, closed and dark are mostly nights of summer weekends. */
static void check_draws(struct bench *b, const nade_model *model)
{
    enum { DRAWS = 300 };
    nade_sample_options options;
    double values[DRAWS * 4];
    size_t weekends = 0, summers = 0, nights = 0;
    nade_sample_options_init(&options, sizeof options);
    options.device = NADE_DEVICE_CPU;
    for (size_t i = 0; i < DRAWS; i++) {
        values[4 * i] = NAN;
        values[4 * i + 1] = 9.5;
        values[4 * i + 2] = strcmp(column_of_model(model, 2).labels[0], "no") ? 1 : 0;
        values[4 * i + 3] = strcmp(column_of_model(model, 3).labels[0], "night") ? 1 : 0;
    }
    support_assert_ok(b->context, nade_sample(b->context, model, &options, DRAWS, values));
    for (size_t i = 0; i < DRAWS; i++) {
        char text[ND_DATE_SIZE];
        double seconds, hour = fmod(values[4 * i], ND_DAY) / 3600;
        nd_date_write("YYYY-MM-DD hh:mm", values[4 * i], text);
        assert_true(nd_date_read_loosely("YYYY-MM-DD hh:mm", text, &seconds) && seconds == values[4 * i]);
        assert_string_equal(text + 13, ":00"); /* the unit is an hour */
        weekends += fmod(values[4 * i] - ND_FIRST_MONDAY, ND_WEEK) >= 5 * ND_DAY;
        summers += text[5] == '0' && text[6] >= '5' && text[6] <= '9';
        nights += hour < 7 || hour > 18;
    }
    assert_true((double)weekends > 0.75 * DRAWS);
    assert_true((double)summers > 0.9 * DRAWS);
    assert_true((double)nights > 0.9 * DRAWS);
}

static void score(struct bench *b, const nade_model *model, const nade_table *table, nade_device device, double *scores)
{
    nade_score_options options;
    nade_score_options_init(&options, sizeof options);
    options.device = device;
    options.orderings = 2;
    if (model->plan.ordering) options.orderings = 1;
    support_assert_ok(b->context, nade_score(b->context, model, table, &options, scores, NULL, NULL));
}

/* The file, the devices and, in a table that is scored, the model's form: 02/03/2021 is in March there. */
static void check_file(struct bench *b, const nade_model *model)
{
    nade_model *again;
    nade_table *other;
    double found[30], kept[30], exact[30], values[30 * 4];
    char path[600];
    snprintf(path, sizeof path, "%s/model", b->folder);
    support_assert_ok(b->context, nade_model_save(b->context, model, path));
    support_assert_ok(b->context, nade_model_load(b->context, path, &again));
    assert_string_equal(column_of_model(again, 0).form, "DD/MM/YYYY hh:mm");
    assert_int_equal(column_of_model(again, 0).numeric, 1);
    assert_string_equal(nade_model_description(again), nade_model_description(model));
    add(b, "when,warm,open,dark\n");
    for (int i = 0; i < 30; i++) add(b, "%02d/03/2021 %02d:00,-1.5,yes,\n", i % 12 + 1, i % 24);
    other = read_table(b);
    support_assert_ok(b->context, nade_table_values(b->context, model, other, NULL, values, NULL, NULL, NULL));
    assert_true(values[4] == 1614643200 + 3600); /* 2021-03-02 01:00 */
    score(b, model, other, NADE_DEVICE_CPU, found);
    score(b, again, other, NADE_DEVICE_CPU, kept);
    score(b, model, other, NADE_DEVICE_REFERENCE, exact);
    for (size_t i = 0; i < 30; i++) {
        assert_true(found[i] == kept[i]);
        support_assert_close("the reference", found[i], exact[i], 1e-5, 1e-5);
    }
    nade_table_free(other);
    nade_model_free(again);
}

static void test_trained(void **state)
{
    (void)state;
    static struct bench b;
    begin(&b);
    nade_table *table = make_table(&b);
    assert_string_equal(column_of_table(table, 0).form, "DD/MM/YYYY hh:mm");
    nade_model *model = train(&b, table, NADE_ORDER_AGNOSTIC, 20);
    check_learnt(&b, model);
    check_draws(&b, model);
    check_file(&b, model);
    nade_model_free(model);
    model = train(&b, table, NADE_ORDER_FIXED, 1);
    check_file(&b, model);
    nade_model_free(model);
    nade_table_free(table);
    end(&b);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {"2021-03-02", "31/02/2021 10:00", "02/03/2021 10:30"};
    (void)state;
    static struct bench b;
    begin(&b);
    nade_table *table = make_table(&b);
    nade_model *model = train(&b, table, NADE_ORDER_AGNOSTIC, 1);
    for (size_t i = 0; i < 3; i++) {
        double values[4];
        size_t unseen;
        char first[256];
        add(&b, "when,warm,open,dark\n%s,1.5,yes,day\n", bad[i]);
        nade_table *other = read_table(&b);
        assert_int_equal(nade_table_values(b.context, model, other, NULL, values, NULL, NULL, NULL), NADE_BAD_INPUT);
        assert_non_null(strstr(nade_last_error(b.context), "expected a date like DD/MM/YYYY hh:mm to the hour, from "));
        nade_status status = nade_table_values(b.context, model, other, NULL, values, NULL, &unseen, first);
        assert_int_equal(status, i < 2 ? NADE_BAD_INPUT : NADE_OK); /* the last is a date */
        if (i == 2) assert_true(unseen == 1 && isinf(values[0]));
        nade_table_free(other);
    }
    nade_model_free(model);
    nade_table_free(table);
    end(&b);
}

/* More different times than a dictionary holds are kept as seconds; what is no date there is an error at once. */
static void test_many(void **state)
{
    enum { MANY = ND_LABELS_MOST + 500, LINE = 32 };
    (void)state;
    static struct bench b;
    char *text = malloc(MANY * LINE), *at = text;
    nade_table *table;
    begin(&b);
    assert_non_null(text);
    at += sprintf(at, "when\n");
    for (int i = 0; i < MANY; i++) {
        nd_date_write("D/M/YYYY hh:mm:ss", 1e9 + 4001.0 * i, at);
        if (i == 1000) *at = '\0';
        at += strlen(at);
        at += sprintf(at, i == 1000 ? "NA\n" : "\n");
    }
    model_support_write(b.path, text, (size_t)(at - text));
    support_assert_ok(b.context, nade_table_read(b.context, b.path, NULL, &table));
    nade_column column = column_of_table(table, 0);
    assert_int_equal(column.type, NADE_DATE);
    assert_int_equal(column.missing, 1);
    assert_string_equal(column.form, "D/M/YYYY hh:mm:ss");
    for (size_t i = 0; i < MANY; i += 333)
        assert_true(nd_table_number(&table->column[0], i) == 1e9 + 4001.0 * (double)i);
    nade_table_free(table);
    at += sprintf(at, "yesterday\n");
    model_support_write(b.path, text, (size_t)(at - text));
    assert_int_equal(nade_table_read(b.context, b.path, NULL, &table), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(b.context), "found 'yesterday', expected a date like those before it"));
    free(text);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_set),
                                       cmocka_unit_test(test_trained), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
