/* Every type has a name and a head, and a head has what its properties promise. */
#include "model/head.h"
#include "support/cmocka_all.h"

static void test_types(void **state)
{
    size_t count = 0;
    (void)state;
    while (nade_type_name((nade_type)count)) {
        const struct head *head = nd_head_for((nade_type)count);
        assert_non_null(head);
        assert_int_equal(head->type, count);
        count++;
    }
    assert_in_range(count, 3, ND_TYPES_MOST);
    assert_null(nade_type_name((nade_type)(count + 1)));
    assert_null(nade_type_name((nade_type)-1));
    assert_null(nd_head_for((nade_type)count));
    assert_string_equal(nade_type_name(NADE_BINARY), "binary");
    assert_string_equal(nade_type_name(NADE_REAL), "real");
    assert_string_equal(nade_type_name(NADE_CATEGORICAL), "categorical");
}

static void test_promises(void **state)
{
    (void)state;
    for (size_t i = 0; nade_type_name((nade_type)i); i++) {
        const struct head *head = nd_head_for((nade_type)i);
        assert_true(head->write && head->read && head->plan && head->encode && head->log_density);
        assert_true(head->loss_gradient && head->fit_marginal && head->sample && head->mode && head->tail);
        assert_true(head->learn || head->measure);
        bool numbers = !head->labels;
        bool ranges = head->range != NULL; /* labels may have them, where they are numbers */
        assert_true(ranges == (head->sample_between != NULL) && ranges == (head->log_between != NULL));
        assert_true(ranges || !numbers);
        assert_true(numbers == (head->mean && head->quantile && head->decode && head->expected));
        assert_false(head->labels && head->continuous);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_types), cmocka_unit_test(test_promises)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
