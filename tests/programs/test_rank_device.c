/* Which GPU a rank takes: that of its place on the host, of those that it may see. */
#include "rank_device.h"
#include "support/cmocka_all.h"

static void expect(const char *list, size_t devices, unsigned long place, const char *wanted)
{
    char text[16] = "";
    assert_int_equal(rank_device_choose(list, devices, place, text, sizeof text), wanted != NULL);
    if (wanted) assert_string_equal(text, wanted);
}

static void test_places(void **state)
{
    (void)state;
    expect(NULL, 4, 0, "0");
    expect(NULL, 4, 3, "3");
    expect(NULL, 2, 3, "1");
    expect(NULL, 1, 5, "0");
    expect(NULL, 0, 0, NULL);
}

/* What a launcher or a user lets the process see counts, by numbers or by names. */
static void test_lists(void **state)
{
    (void)state;
    expect("5,7", 8, 0, "5");
    expect("5,7", 8, 1, "7");
    expect("5,7", 8, 2, "5");
    expect("GPU-1a,GPU-2b,GPU-3c", 0, 2, "GPU-3c");
    expect("3", 8, 6, "3");
    expect("", 8, 1, NULL);
    expect("0,,2", 3, 1, NULL);
    expect("GPU-0123456789abcdef", 1, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_lists)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
