/* Names found among many: the sorted index, and that nothing which compares names is quadratic in their number. */
#include "data_files.h"

#include <time.h>

#include "base/name_index.h"
#include "model/encode.h"
#include "model/label_search.h"

enum { MANY = 60000, SECONDS_MOST = 5 };

static void test_places(void **state)
{
    (void)state;
    const nade_allocator allocator = nd_default_allocator();
    const char *names[] = {"pear", "apple", NULL, "fig", "apple", "", "quince", "fig", "apple"};
    struct name_index index;
    size_t first = 99, second = 99;
    assert_true(nd_names_sort(&allocator, names, 9, &index));
    assert_int_equal(index.count, 8);
    for (size_t i = 1; i < index.count; i++) assert_true(strcmp(index.entry[i - 1].name, index.entry[i].name) <= 0);
    assert_int_equal(nd_names_find(&index, "apple")->place, 1);
    assert_int_equal(nd_names_find(&index, "apple")[1].place, 4);
    assert_int_equal(nd_names_find(&index, "")->place, 5);
    assert_int_equal(nd_names_find(&index, "quince")->place, 6);
    assert_null(nd_names_find(&index, "zebra"));
    assert_null(nd_names_find(&index, "appl"));
    assert_true(nd_names_repeat(&index, &first, &second));
    assert_int_equal(first, 1);
    assert_int_equal(second, 4);
    nd_names_free(&allocator, &index);
    assert_null(nd_names_find(&index, "apple"));
    assert_true(nd_names_sort(&allocator, names, 2, &index));
    assert_false(nd_names_repeat(&index, &first, &second));
    nd_names_free(&allocator, &index);
    assert_true(nd_names_sort(&allocator, NULL, 0, &index));
    assert_null(nd_names_find(&index, ""));
    nd_names_free(&allocator, &index);
}

/* MANY names, from the last to the first if so wanted; with a byte that is no UTF-8. */
static char **make_names(bool backward)
{
    char **names = malloc(MANY * sizeof *names);
    assert_non_null(names);
    for (size_t i = 0; i < MANY; i++) {
        names[i] = malloc(32);
        assert_non_null(names[i]);
        snprintf(names[i], 32, "column \xE9 %05zu", backward ? MANY - 1 - i : i);
    }
    return names;
}

static nade_table *make_table(nade_context *context, bool backward)
{
    double *values = calloc(MANY, sizeof *values);
    char **names = make_names(backward);
    nade_table *table;
    assert_non_null(values);
    assert_int_equal(nade_table_from_array(context, values, 1, MANY, (const char *const *)(const void *)names, &table),
                     NADE_OK);
    for (size_t i = 0; i < MANY; i++) free(names[i]);
    free(names);
    free(values);
    return table;
}

static void test_many_columns(void **state)
{
    (void)state;
    clock_t start = clock();
    nade_context *context = new_context();
    nade_table *table = make_table(context, false), *other = make_table(context, true);
    struct arena arena = {context->allocator, NULL};
    const size_t row = 0, *source;
    struct schema schema;
    assert_int_equal(nd_schema_learn(context, &arena, table, &row, 1, &schema), NADE_OK);
    assert_int_equal(nd_match_columns(context, &arena, &schema, other, NULL, false, &source), NADE_OK);
    for (size_t c = 0; c < MANY; c++) assert_int_equal(source[c], MANY - 1 - c);
    char *list = malloc(32 * MANY);
    size_t used = 0;
    assert_non_null(list);
    for (size_t c = 0; c < MANY; c++)
        used += (size_t)snprintf(list + used, 32, "%s%s", c > 0 ? "," : "", column_of_table(other, c).name);
    assert_int_equal(nade_table_set_type(context, table, list, NADE_REAL), NADE_OK);
    free(list);
    nd_arena_free(&arena);
    nade_table_free(table);
    nade_table_free(other);
    nade_context_free(context);
    assert_true((clock() - start) / CLOCKS_PER_SEC < SECONDS_MOST);
}

/* A text with the names in another order, all of which are expected: the header is found, no column is extra. */
static void test_many_expected_names(void **state)
{
    (void)state;
    clock_t start = clock();
    nade_context *context = new_context();
    char **names = make_names(false), *text = malloc(40 * MANY), *at = text;
    assert_non_null(text);
    for (size_t i = 0; i < MANY; i++) at += sprintf(at, "%s%c", names[MANY - 1 - i], i + 1 < MANY ? ',' : '\n');
    for (size_t i = 0; i < MANY; i++) at += sprintf(at, "inf%c", i + 1 < MANY ? ',' : '\n');
    nade_read_options options;
    nade_read_options_init(&options, sizeof options);
    options.names = (const char *const *)(const void *)names;
    options.name_count = MANY;
    refuse_bytes(text, strlen(text), &options, NADE_BAD_INPUT, "found 'inf'");
    names[0][0] = 'C'; /* one column is extra now, and may hold anything */
    options.header = 1;
    options.name_count = 1;
    nade_table *table;
    assert_int_equal(read_bytes(context, text, strlen(text), &options, &table), NADE_OK);
    assert_int_equal(nade_table_columns(table), MANY);
    nade_table_free(table);
    for (size_t i = 0; i < MANY; i++) free(names[i]);
    free(names);
    free(text);
    nade_context_free(context);
    assert_true((clock() - start) / CLOCKS_PER_SEC < SECONDS_MOST);
}

/* Sorted or not, the same label is found. */
static void test_labels(void **state)
{
    (void)state;
    enum { LABELS = 12 };
    static const char *const labels[LABELS] = {"", "1", "07", "7", "red", "a", "b", "c", "d", "e", "f", "g"};
    const struct column_spec spec = {.labels = labels, .label_count = LABELS};
    const nade_allocator allocator = nd_default_allocator();
    struct failing_allocator none = {0, 0, 0};
    const nade_allocator failing = {&none, failing_allocate, failing_release};
    struct label_search search = {.spec = &spec, .allocator = &allocator};
    struct label_search poor = {.spec = &spec, .allocator = &failing};
    for (int round = 0; round < 3; round++) {
        struct label_search *searches[] = {&search, &poor};
        for (size_t i = 0; i < 2; i++) {
            for (size_t label = 0; label < LABELS; label++)
                assert_true(nd_label_find(searches[i], labels[label], false, 0) == (float)label);
            assert_true(nd_label_find(searches[i], "1.0", true, 1) == 1);
            assert_true(nd_label_find(searches[i], "7.0", true, 7) == -1);
            assert_true(nd_label_find(searches[i], "8", true, 8) == -1);
            assert_true(nd_label_find(searches[i], "blue", false, 0) == -1);
        }
    }
    assert_non_null(search.number);
    assert_null(poor.number);
    nd_label_search_free(&search);
    nd_label_search_free(&poor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_many_columns),
        cmocka_unit_test(test_many_expected_names),
        cmocka_unit_test(test_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
