/* max_memory: what is counted, who shares it, what outlives it, and what the sentence says. */
#include "data_files.h"

#include "base/memory_budget.h"

static nade_context *limited_context(struct failing_allocator *state, size_t limit)
{
    nade_context_options options;
    nade_context *context = NULL;
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){state, failing_allocate, failing_release};
    options.max_memory = limit;
    assert_int_equal(nade_context_create(&options, &context), NADE_OK);
    return context;
}

static void test_counting(void **state)
{
    (void)state;
    struct failing_allocator memory = {0, SIZE_MAX, 0};
    nade_allocator inner = {&memory, failing_allocate, failing_release}, budget;
    assert_true(nd_budget_create(&inner, 1000, &budget));
    assert_int_equal(nd_budget_limit(&budget), 1000);
    assert_int_equal(nd_budget_limit(&inner), SIZE_MAX);
    void *first = budget.allocate(budget.user, 600);
    assert_non_null(first);
    size_t calls = memory.calls;
    assert_null(budget.allocate(budget.user, 600));
    assert_null(budget.allocate(budget.user, SIZE_MAX));
    assert_int_equal(memory.calls, calls); /* refused before it was asked for */
    assert_int_equal(nd_budget_refused(&budget), SIZE_MAX);
    budget.release(budget.user, first);
    void *second = budget.allocate(budget.user, 900);
    assert_non_null(second);
    memory.fail_at = 0; /* what the allocator behind it does not have is not counted */
    assert_null(budget.allocate(budget.user, 50));
    memory.fail_at = SIZE_MAX;
    void *third = budget.allocate(budget.user, 50);
    assert_non_null(third);
    nd_budget_leave(&budget);
    budget.release(budget.user, second);
    assert_int_equal(memory.live, 2); /* the last block keeps the budget */
    budget.release(budget.user, third);
    assert_int_equal(memory.live, 0);
}

/* A table keeps its budget alive, and two contexts spend the same one. */
static void test_contexts(void **state)
{
    (void)state;
    enum { ROWS = 20000 };
    struct failing_allocator memory = {0, SIZE_MAX, 0};
    nade_context *context = limited_context(&memory, 2 << 20), *other = NULL;
    nade_context_options options;
    double *values = malloc(ROWS * sizeof *values);
    nade_table *first = NULL;
    assert_non_null(values);
    for (size_t i = 0; i < ROWS; i++) values[i] = 0.5 + (double)i;
    nade_context_options_init(&options, sizeof options);
    options.budget_of = context;
    options.max_memory = 5;
    assert_int_equal(nade_context_create(&options, &other), NADE_BAD_CALL);
    options.max_memory = 0;
    assert_int_equal(nade_context_create(&options, &other), NADE_OK);
    nade_status status = NADE_OK;
    nade_table *tables[16] = {NULL};
    size_t count = 0;
    for (; status == NADE_OK && count < 16; count++)
        status = nade_table_from_array(count % 2 ? other : context, values, ROWS, 1, NULL, &tables[count]);
    assert_int_equal(status, NADE_NO_MEMORY);
    assert_true(count > 4 && count < 14); /* 160 kB each, twice that while it is made */
    nade_context *failed = count % 2 ? context : other;
    assert_sentence(failed, "would exceed the limit of 2 MiB (`max_memory`)");
    nade_context_free(context);
    for (size_t i = 0; i + 1 < count; i++) nade_table_free(tables[i]);
    assert_int_equal(nade_table_from_array(other, values, ROWS, 1, NULL, &first), NADE_OK);
    nade_context_free(other);
    assert_true(memory.live > 1);
    nade_table_free(first);
    assert_int_equal(memory.live, 0);
    free(values);
}

static void test_too_little_for_a_context(void **state)
{
    (void)state;
    struct failing_allocator memory = {0, SIZE_MAX, 0};
    nade_context_options options;
    nade_context *context;
    nade_context_options_init(&options, sizeof options);
    options.allocator = (nade_allocator){&memory, failing_allocate, failing_release};
    options.max_memory = 100;
    assert_int_equal(nade_context_create(&options, &context), NADE_NO_MEMORY);
    assert_null(context);
    assert_int_equal(memory.live, 0);
}

/* Unpacking is counted too: a gzip'ed file needs more than a plain one. */
static void test_unpacking_is_counted(void **state)
{
    (void)state;
    size_t packed;
    unsigned char *bytes = pack("a\n1\n2\n", 6, &packed);
    for (size_t limit = (512 << 10) + 20000; limit < 1 << 20; limit += 5000) {
        struct failing_allocator memory = {0, SIZE_MAX, 0};
        nade_context *context = limited_context(&memory, limit);
        nade_table *plain = NULL, *unpacked = NULL;
        nade_status first = read_bytes(context, "a\n1\n2\n", 6, NULL, &plain);
        nade_table_free(plain);
        nade_status second = read_bytes(context, bytes, packed, NULL, &unpacked);
        nade_table_free(unpacked);
        if (first == NADE_OK && second == NADE_NO_MEMORY) assert_sentence(context, "would exceed the limit");
        nade_context_free(context);
        assert_int_equal(memory.live, 0);
        if (first == NADE_OK) {
            assert_int_equal(second, NADE_NO_MEMORY);
            break;
        }
    }
    free(bytes);
}

static void test_sizes_as_text(void **state)
{
    (void)state;
    char text[ND_BYTES_TEXT];
    assert_string_equal(nd_format_bytes(640, text), "640 bytes");
    assert_string_equal(nd_format_bytes(536870912, text), "512 MiB");
    assert_string_equal(nd_format_bytes(1.5 * 1073741824, text), "1.5 GiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_too_little_for_a_context),
        cmocka_unit_test(test_unpacking_is_counted),
        cmocka_unit_test(test_sizes_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
