/* The JSON writer: the bytes that model files have had since format version 1, and back again. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/philox.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"

static void everything_is_written(void **state)
{
    static const double reals[] = {0,
                                   -0.0,
                                   1,
                                   0.1,
                                   -2.5,
                                   1e15,
                                   1e16,
                                   1e17,
                                   123456789012345680.0,
                                   1e-4,
                                   1e-5,
                                   1e300,
                                   -1e-9,
                                   5e22,
                                   DBL_MAX,
                                   4.9406564584124654e-324,
                                   NAN,
                                   INFINITY};
    static const char expected[] =
        "{\"reals\":[0.0,-0.0,1.0,0.10000000000000001,-2.5,1000000000000000.0,10000000000000000.0,1e17,"
        "1.2345678901234568e17,0.0001,1.0000000000000001e-5,1.0000000000000001e300,-1.0000000000000001e-9,"
        "4.9999999999999996e22,1.7976931348623157e308,4.9406564584124654e-324,null,null],\"empty\":{},\"none\":[],"
        "\"\":[[],[true,false,null]],\"most\":9223372036854775807,\"least\":-9223372036854775808,"
        "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001F\x7F/\xC3\xA9\xF0\x9F\x98\x80\":\"\"}";
    (void)state;
    nade_allocator allocator = nd_default_allocator();
    struct json_writer w = {.allocator = &allocator};
    nd_json_open(&w, '{');
    nd_json_put_key(&w, "reals");
    nd_json_open(&w, '[');
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) nd_json_put_real(&w, reals[i]);
    nd_json_close(&w, ']');
    nd_json_put_key(&w, "empty");
    nd_json_open(&w, '{');
    nd_json_close(&w, '}');
    nd_json_put_key(&w, "none");
    nd_json_open(&w, '[');
    nd_json_close(&w, ']');
    nd_json_put_key(&w, "");
    nd_json_open(&w, '[');
    nd_json_open(&w, '[');
    nd_json_close(&w, ']');
    nd_json_open(&w, '[');
    nd_json_put_flag(&w, true);
    nd_json_put_flag(&w, false);
    nd_json_put_null(&w);
    nd_json_close(&w, ']');
    nd_json_close(&w, ']');
    nd_json_put_key(&w, "most");
    nd_json_put_integer(&w, INT64_MAX);
    nd_json_put_key(&w, "least");
    nd_json_put_integer(&w, INT64_MIN);
    nd_json_put_key(&w, "a\"\\\b\f\n\r\t\x01\x1F\x7F/\xC3\xA9\xF0\x9F\x98\x80");
    nd_json_put_text(&w, "");
    nd_json_close(&w, '}');
    assert_string_equal(nd_json_written(&w), expected);
    assert_int_equal(w.length, sizeof expected - 1);
    nd_json_discard(&w);
}

/* Any double and any text without a zero come back as they were. */
static void what_is_written_reads_back(void **state)
{
    enum { ROUNDS = 20000 };
    (void)state;
    nade_allocator allocator = nd_default_allocator();
    struct json_writer w = {.allocator = &allocator};
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct philox_block random = nd_philox(7, 3000, 0, i, 0);
        uint64_t bits = (uint64_t)random.word[0] << 32 | random.word[1];
        double number;
        memcpy(&number, &bits, sizeof number);
        if (!isfinite(number)) continue;
        char text[] = {(char)(1 + random.word[2] % 127), (char)(1 + random.word[3] % 127), '\0'};
        nd_json_open(&w, '{');
        nd_json_put_key(&w, text);
        nd_json_put_real(&w, number);
        nd_json_close(&w, '}');
        struct arena arena = {allocator, NULL};
        struct json_fault fault;
        nd_json_written(&w);
        const struct json_value *value = nd_json_read(&arena, w.text, w.length, &fault);
        assert_non_null(value);
        assert_string_equal(value[1].is.text, text);
        double back = nd_json_number(value + 2);
        assert_memory_equal(&back, &number, sizeof back);
        nd_arena_free(&arena);
        nd_json_discard(&w);
    }
}

static void failing_memory_is_remembered(void **state)
{
    (void)state;
    size_t n = 1;
    for (const char *text = NULL; !text; n++) {
        struct counting counting = {0};
        nade_context *context = model_support_counting_context(&counting);
        struct json_writer w = {.allocator = &context->allocator};
        counting.calls = 0;
        counting.fail_at = n;
        nd_json_open(&w, '[');
        for (size_t i = 0; i < 2000; i++) nd_json_put_text(&w, "some text");
        nd_json_close(&w, ']');
        text = nd_json_written(&w);
        nd_json_discard(&w);
        nade_context_free(context);
        assert_int_equal(counting.live, 0);
    }
    assert_in_range(n, 4, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_written),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(failing_memory_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
