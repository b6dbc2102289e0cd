/* What the public header says of columns: nade_table_column, nade_model_column, nade_table_values. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "support/model_support.h"
#include "support/support.h"

static const char data[] = "size,colour,sold,code,visits\n"
                           "1.25,red,0,7,3\n"
                           ",blue,1,8,0\n"
                           "3.5,,0,,12\n";

struct fixture {
    nade_context *context;
    char *folder, path[4096];
    nade_table *table;
};

static void setup(struct fixture *f, const char *text)
{
    *f = (struct fixture){.folder = model_support_folder()};
    assert_int_equal(nade_context_create(NULL, &f->context), NADE_OK);
    snprintf(f->path, sizeof f->path, "%s/data.csv", f->folder);
    model_support_write(f->path, text, strlen(text));
    support_assert_ok(f->context, nade_table_read(f->context, f->path, NULL, &f->table));
}

static void teardown(struct fixture *f)
{
    nade_table_free(f->table);
    nade_context_free(f->context);
    model_support_remove_folder(f->folder);
}

static void check_zeros(const nade_column *column, char separator)
{
    nade_column none;
    memset(&none, 0, sizeof none);
    none.size = sizeof none;
    none.separator = separator;
    assert_int_equal(column->size, sizeof none);
    assert_null(column->name);
    assert_memory_equal(column, &none, sizeof none);
}

static void test_table(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f, data);
    support_assert_ok(f.context, nade_table_set_type(f.context, f.table, "code", NADE_CATEGORICAL));
    support_assert_ok(f.context, nade_table_set_type(f.context, f.table, "visits", NADE_COUNT));
    const struct {
        const char *name;
        nade_type type;
        int numeric;
        size_t missing;
    } expected[] = {{"size", NADE_REAL, 1, 1},
                    {"colour", NADE_BINARY, 0, 1},
                    {"sold", NADE_BINARY, 0, 0},
                    {"code", NADE_CATEGORICAL, 0, 1},
                    {"visits", NADE_COUNT, 1, 0}};
    for (size_t c = 0; c < 5; c++) {
        nade_column column = column_of_table(f.table, c);
        assert_int_equal(column.size, sizeof column);
        assert_string_equal(column.name, expected[c].name);
        assert_int_equal(column.named, 1);
        assert_int_equal(column.type, expected[c].type);
        assert_int_equal(column.numeric, expected[c].numeric);
        assert_int_equal(column.missing, expected[c].missing);
        assert_int_equal(column.label_count, 0);
        assert_null(column.labels);
        assert_null(column.kind);
    }
    nade_column beyond = column_of_table(f.table, 5);
    check_zeros(&beyond, ',');
    teardown(&f);
}

/* What each does is in the tests of absence (test_schema.c), sentinels, columns that are left out and those that say
 * something of the rows (test_row_roles.c). */
static void test_tidy_refuses(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f, data);
    for (int what = -1; what < 7; what++) {
        bool known = what >= 0 && what < 6;
        assert_int_equal(nade_table_tidy(f.context, NULL, (nade_tidy)what, "0"), NADE_BAD_CALL);
        assert_non_null(strstr(nade_last_error(f.context), known ? "needs a table" : "expected one of nade_tidy"));
        assert_int_equal(nade_table_tidy(f.context, f.table, (nade_tidy)what, "nobody"), NADE_BAD_CALL);
        assert_non_null(strstr(nade_last_error(f.context), known ? "'nobody'" : "expected one of nade_tidy"));
        assert_int_equal(nade_table_tidy(f.context, f.table, (nade_tidy)what, NULL),
                         what == 1 || what == 2 ? NADE_OK : NADE_BAD_CALL);
    }
    teardown(&f);
}

static void test_no_names(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f, "1,2\n3,4\n");
    nade_column column = column_of_table(f.table, 1);
    assert_string_equal(column.name, "1");
    assert_int_equal(column.named, 0);
    teardown(&f);
}

static nade_model *train_planned(struct fixture *f, int (*planned)(void *user, const nade_train_plan *plan))
{
    static const size_t hidden[] = {3};
    nade_train_options options;
    nade_model *model = NULL;
    nade_train_options_init(&options, sizeof options);
    options.hidden = hidden;
    options.layers = 1;
    options.iterations = options.updates = 1;
    options.valid_fraction = 0;
    options.device = NADE_DEVICE_CPU;
    options.planned = planned;
    support_assert_ok(f->context, nade_train(f->context, f->table, NULL, &options, &model));
    return model;
}

static nade_model *train_on(struct fixture *f)
{
    return train_planned(f, NULL);
}

static void check_columns(const struct nade_model *model)
{
    const struct schema *schema = &model->schema;
    for (size_t c = 0; c < schema->count; c++) {
        nade_column column = column_of_model(model, c);
        assert_ptr_equal(column.name, schema->column[c].name);
        assert_int_equal(column.named, schema->named);
        assert_int_equal(column.type, schema->column[c].type);
        assert_int_equal(column.numeric, column.type == NADE_REAL || column.type == NADE_COUNT);
        assert_memory_equal(column.kind, nade_type_name(column.type), strlen(nade_type_name(column.type)));
        assert_int_equal(column.missing, 0);
        assert_int_equal(column.label_count, schema->column[c].label_count);
        assert_int_equal(column.labels != NULL, column.label_count > 0);
        for (size_t i = 0; i < column.label_count; i++)
            assert_string_equal(column.labels[i], schema->column[c].labels[i]);
    }
    nade_column beyond = column_of_model(model, schema->count);
    check_zeros(&beyond, '\0');
}

/* Built with every other kind of column, and trained on a table with counts too. */
static void test_model(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f, data);
    nade_model *model = model_support_build(f.context);
    check_columns(model);
    nade_model_free(model);
    support_assert_ok(f.context, nade_table_set_type(f.context, f.table, "visits", NADE_COUNT));
    model = train_on(&f);
    assert_int_equal(column_of_model(model, 4).type, NADE_COUNT);
    check_columns(model);
    nade_model_free(model);
    teardown(&f);
}

static void check_kinds(const nade_model *model)
{
    static const char *const kinds[] = {"real", "binary, 2 labels", "binary", "categorical, 2 labels", "count"};
    assert_int_equal(nade_model_columns(model), 5);
    for (size_t c = 0; c < 5; c++) assert_string_equal(column_of_model(model, c).kind, kinds[c]);
}

static int check_planned(void *user, const nade_train_plan *plan)
{
    (void)user;
    check_kinds(plan->model);
    return 0;
}

/* The words for a column are there before the first update, afterwards, and when the model was read. */
static void test_kinds(void **state)
{
    struct fixture f;
    (void)state;
    setup(&f, data);
    support_assert_ok(f.context, nade_table_set_type(f.context, f.table, "code", NADE_CATEGORICAL));
    support_assert_ok(f.context, nade_table_set_type(f.context, f.table, "visits", NADE_COUNT));
    nade_model *model = train_planned(&f, check_planned), *read = NULL;
    check_kinds(model);
    support_assert_ok(f.context, nade_model_save(f.context, model, f.path));
    support_assert_ok(f.context, nade_model_load(f.context, f.path, &read));
    nade_model_free(model);
    check_kinds(read);
    nade_model_free(read);
    teardown(&f);
}

/* A program of an older header has a shorter structure: what is behind it is not its own. */
static void test_sizes(void **state)
{
    struct fixture f;
    nade_column column;
    (void)state;
    setup(&f, data);
    for (size_t size = 0; size <= sizeof column; size++) {
        memset(&column, 0x5A, sizeof column);
        memcpy(&column, &size, sizeof size);
        nade_table_column(f.table, 0, &column);
        assert_int_equal(column.size, size);
        for (size_t i = size > sizeof size ? size : sizeof size; i < sizeof column; i++)
            assert_int_equal(((unsigned char *)&column)[i], 0x5A);
        if (size > offsetof(nade_column, named)) assert_string_equal(column.name, "size");
    }
    teardown(&f);
}

/* ---- nade_table_values ------------------------------------------------------------------------------------------- */

static nade_table *read_other(struct fixture *f, const char *text)
{
    nade_table *table = NULL;
    model_support_write(f->path, text, strlen(text));
    support_assert_ok(f->context, nade_table_read(f->context, f->path, NULL, &table));
    return table;
}

/* Columns in another order and one that the model does not know; a label that it has not seen. */
static void test_values(void **state)
{
    struct fixture f;
    double values[4], before[4];
    size_t source[2] = {77, 77}, unseen = 99;
    char first[256] = "before";
    (void)state;
    setup(&f, "size,colour\n1.25,red\n2.5,blue\n-0.75,red\n");
    nade_model *model = train_on(&f);
    nade_table *good = read_other(&f, "colour,extra,size\nblue,1,0.1\n,2,\n");
    nade_table *odd = read_other(&f, "colour,size\nblue,1\ngreen,2\n");
    nade_column colour = column_of_model(model, 1);
    size_t blue = strcmp(colour.labels[1], "blue") == 0;

    support_assert_ok(f.context, nade_table_values(f.context, model, good, NULL, values, source, NULL, NULL));
    assert_true(values[0] == 0.1); /* as it was read, not as a float */
    assert_true(values[1] == (double)blue);
    assert_true(isnan(values[2]) && isnan(values[3]));
    assert_int_equal(source[0], 2);
    assert_int_equal(source[1], 0);
    support_assert_ok(f.context, nade_table_values(f.context, model, good, NULL, values, NULL, &unseen, first));
    assert_int_equal(unseen, 0);
    assert_string_equal(first, "");

    memset(values, 0x5A, sizeof values);
    memcpy(before, values, sizeof values);
    source[0] = source[1] = 77;
    assert_int_equal(nade_table_values(f.context, model, odd, NULL, values, source, NULL, first), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f.context), "green"));
    assert_non_null(strstr(nade_last_error(f.context), "line 3"));
    assert_memory_equal(values, before, sizeof values);
    assert_int_equal(source[0], 77);
    assert_string_equal(first, "");
    support_assert_ok(f.context, nade_table_values(f.context, model, odd, NULL, values, NULL, &unseen, first));
    assert_int_equal(unseen, 1);
    assert_non_null(strstr(first, "green"));
    assert_true(values[2] == 2 && isinf(values[3]));
    support_assert_ok(f.context, nade_table_values(f.context, model, odd, NULL, values, NULL, &unseen, NULL));
    assert_int_equal(unseen, 1);

    nade_table_free(good);
    nade_table_free(odd);
    nade_model_free(model);
    teardown(&f);
}

/* Columns that a table may lack, by name and by place. */
static void test_values_lacking(void **state)
{
    struct fixture f;
    double values[6];
    size_t source[3];
    const double bare[] = {1, 0, 0, 1};
    (void)state;
    setup(&f, "size,colour,rain\n1.25,red,0\n2.5,blue,1\n-0.75,red,0\n");
    nade_model *model = train_on(&f);
    nade_table *named = read_other(&f, "rain,size\n0,0.5\n1,0.25\n"), *unnamed = NULL;
    support_assert_ok(f.context, nade_table_from_array(f.context, bare, 2, 2, NULL, &unnamed));
    assert_int_equal(nade_table_values(f.context, model, named, "rain", values, NULL, NULL, NULL), NADE_BAD_INPUT);
    assert_non_null(strstr(nade_last_error(f.context), "has no column 'colour'"));
    support_assert_ok(f.context, nade_table_values(f.context, model, named, "rain,colour", values, source, NULL, NULL));
    assert_true(values[0] == 0.5 && isnan(values[1]) && values[2] == 0 && values[5] == 1);
    assert_true(source[0] == 1 && source[1] == SIZE_MAX && source[2] == 0);
    support_assert_ok(f.context, nade_table_values(f.context, model, unnamed, "colour", values, source, NULL, NULL));
    assert_true(values[0] == 1 && isnan(values[1]) && values[2] == 0 && values[5] == 1);
    assert_true(source[0] == 0 && source[1] == SIZE_MAX && source[2] == 1);
    assert_int_equal(nade_table_values(f.context, model, unnamed, NULL, values, NULL, NULL, NULL), NADE_BAD_INPUT);
    assert_int_equal(nade_table_values(f.context, model, named, "hue", values, NULL, NULL, NULL), NADE_BAD_CALL);
    nade_table_free(named);
    nade_table_free(unnamed);
    nade_model_free(model);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),    cmocka_unit_test(test_tidy_refuses),
                                       cmocka_unit_test(test_no_names), cmocka_unit_test(test_model),
                                       cmocka_unit_test(test_kinds),    cmocka_unit_test(test_sizes),
                                       cmocka_unit_test(test_values),   cmocka_unit_test(test_values_lacking)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
