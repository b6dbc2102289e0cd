/* The JSON reader: what it takes, what it refuses and where, and what it costs. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "support/cmocka_all.h"
#include "support/model_support.h"

/* Reads a copy that ends with the block, so that AddressSanitizer sees any byte too many. */
static const struct json_value *read_bytes(struct arena *arena, const char *text, size_t length, char **copy,
                                           struct json_fault *fault)
{
    *copy = malloc(length ? length : 1);
    assert_non_null(*copy);
    memcpy(*copy, text, length);
    return nd_json_read(arena, *copy, length, fault);
}

struct reading {
    struct arena arena;
    char *copy;
    const struct json_value *value;
    struct json_fault fault;
};

static struct reading read_text(const char *text, size_t length)
{
    struct reading reading = {.arena = {nd_default_allocator(), NULL}};
    reading.value = read_bytes(&reading.arena, text, length, &reading.copy, &reading.fault);
    return reading;
}

static void forget(struct reading *reading)
{
    nd_arena_free(&reading->arena);
    free(reading->copy);
}

static void sound_texts_are_read(void **state)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"null", "null"},
        {" true\n", "true"},
        {"\t\r\n false", "false"},
        {"0", "0"},
        {"-0", "0"},
        {"-0.0", "-0.0"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"0.1", "0.10000000000000001"},
        {"1E+2", "100.0"},
        {"1e-400", "0.0"},
        {"4.9e-324", "4.9406564584124654e-324"},
        {"1.7976931348623157e308", "1.7976931348623157e308"},
        {"0e1", "0.0"},
        {"\"\"", "\"\""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
        {"\"\\u00e9\\u20AC\\ud83d\\uDE00\"", "\"\\u00E9\\u20AC\\uD83D\\uDE00\""},
        {"\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\"", "\"\\u00E9\\u20AC\\uD83D\\uDE00\\u007F\""},
        {"[]", "[]"},
        {"{ }", "{}"},
        {"[ 1 , [ ] , { \"a\" : null } ]", "[1,[],{\"a\":null}]"},
        {"{\"\":1,\"a\":{\"\":2},\"b\":{\"\":3}}", "{\"\":1,\"a\":{\"\":2},\"b\":{\"\":3}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char shown[ND_SHOWN];
        struct reading reading = read_text(cases[i].text, strlen(cases[i].text));
        if (!reading.value) fail_msg("%s: %s", cases[i].text, reading.fault.what);
        assert_string_equal(nd_show_json(reading.value, shown), cases[i].shown);
        forget(&reading);
    }
}

struct wrong_text {
    const char *text, *what;
    size_t offset;
};

static void check_refused(const struct wrong_text *wrong, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct reading reading = read_text(wrong[i].text, strlen(wrong[i].text));
        if (reading.value) fail_msg("%s was read", wrong[i].text);
        if (!reading.fault.what || !strstr(reading.fault.what, wrong[i].what))
            fail_msg("%s: %s, expected %s", wrong[i].text, reading.fault.what, wrong[i].what);
        if (reading.fault.offset != wrong[i].offset)
            fail_msg("%s: byte %zu, expected %zu", wrong[i].text, reading.fault.offset, wrong[i].offset);
        forget(&reading);
    }
}

static void wrong_numbers_and_words_are_refused(void **state)
{
    static const struct wrong_text wrong[] = {
        {"", "no value", 0},
        {"   ", "no value", 3},
        {"01", "something follows", 1},
        {"[01]", "no comma or ]", 2},
        {"-", "no value", 0},
        {"-a", "no value", 0},
        {"--1", "no value", 0},
        {"+1", "no value", 0},
        {".5", "no value", 0},
        {"1.", "no digits behind its point", 0},
        {"1.e1", "no digits behind its point", 0},
        {"1e", "no digits in its exponent", 0},
        {"1e+", "no digits in its exponent", 0},
        {"1e999", "too large", 0},
        {"-1e999", "too large", 0},
        {"[9223372036854775808]", "more than 64 bits", 1},
        {"-9223372036854775809", "more than 64 bits", 0},
        {"99999999999999999999", "more than 64 bits", 0},
        {"0x1", "something follows", 1},
        {"NaN", "no value", 0},
        {"Infinity", "no value", 0},
        {"nul", "no value", 0},
        {"True", "no value", 0},
        {"nullx", "something follows", 4},
        {"1 2", "something follows", 2},
        {"[]]", "something follows", 2},
        {"\xEF\xBB\xBF[]", "no value", 0},
    };
    (void)state;
    check_refused(wrong, sizeof wrong / sizeof *wrong);
}

static void wrong_lists_and_objects_are_refused(void **state)
{
    static const struct wrong_text wrong[] = {
        {"[1,]", "no value", 3},
        {"[,1]", "no value", 1},
        {"[1 2]", "no comma or ]", 3},
        {"[1", "no comma or ]", 2},
        {"[1}", "no comma or ]", 2},
        {"{\"a\":1,}", "no key", 7},
        {"{,}", "no key", 1},
        {"{a:1}", "no key", 1},
        {"{1:1}", "no key", 1},
        {"{\"a\"}", "no colon", 4},
        {"{\"a\",1}", "no colon", 4},
        {"{\"a\":}", "no value", 5},
        {"{\"a\":1", "no comma or }", 6},
        {"{\"a\":1]", "no comma or }", 6},
        {"'a'", "no value", 0},
    };
    (void)state;
    check_refused(wrong, sizeof wrong / sizeof *wrong);
}

static void wrong_texts_are_refused(void **state)
{
    static const struct wrong_text wrong[] = {
        {"\"a", "does not end", 2},
        {"\"a\\\"", "does not end", 4},
        {"\"\\", "escape", 1},
        {"\"\\x\"", "escape", 1},
        {"\"\\'\"", "escape", 1},
        {"\"\\u12", "escape", 1},
        {"\"\\u12g4\"", "escape", 1},
        {"\"\\u:::0\"", "escape", 1},
        {"\"\\u@@@@\"", "escape", 1},
        {"\"a\\u0000\"", "zero character", 2},
        {"\"\\ud800\"", "half of a surrogate pair", 1},
        {"\"\\ud800x\"", "half of a surrogate pair", 1},
        {"\"\\ud800\\n\"", "half of a surrogate pair", 1},
        {"\"\\ud800\\ud800\"", "half of a surrogate pair", 1},
        {"\"\\ud800\\u0041\"", "half of a surrogate pair", 1},
        {"\"\\udc00\"", "half of a surrogate pair", 1},
        {"\"\n\"", "control character", 1},
        {"\"\x1F\"", "control character", 1},
        {"\"\x80\"", "no UTF-8", 1},
        {"\"\xC0\x80\"", "no UTF-8", 1},
        {"\"\xC1\xBF\"", "no UTF-8", 1},
        {"\"\xE0\x80\xAF\"", "no UTF-8", 1},
        {"\"\xED\xA0\x80\"", "no UTF-8", 1},
        {"\"\xF0\x80\x80\x80\"", "no UTF-8", 1},
        {"\"\xF4\x90\x80\x80\"", "no UTF-8", 1},
        {"\"\xF8\x88\x80\x80\x80\"", "no UTF-8", 1},
        {"\"\xC3", "no UTF-8", 1},
        {"\"\xE2\x82", "no UTF-8", 1},
    };
    (void)state;
    check_refused(wrong, sizeof wrong / sizeof *wrong);
}

static void repeated_keys_are_refused(void **state)
{
    static const struct wrong_text wrong[] = {
        {"{\"a\":1,\"b\":2,\"a\":3}", "repeats a key", 13},
        {"{\"a\":1,\"\\u0061\":3}", "repeats a key", 7},
        {"{\"\":1,\"\":3}", "repeats a key", 6},
        {"[{\"a\":{\"b\":1,\"b\":1}}]", "repeats a key", 13},
        {"{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0,\"2\":0,\"1\":0}", "repeats a key",
         61},
    };
    (void)state;
    check_refused(wrong, sizeof wrong / sizeof *wrong);
}

static void a_zero_byte_is_refused(void **state)
{
    struct reading zero = read_text("[\0]", 3);
    (void)state;
    assert_null(zero.value);
    forget(&zero);
}

static void every_prefix_is_refused(void **state)
{
    static const char text[] =
        "{\"k\\u00e9y\":[1,-2.5e-3,true,false,null,\"\\ud83d\\ude00\xC3\xA9\\n\"],\"o\":{\"x\":[[],{}]}}";
    (void)state;
    for (size_t length = 0; length < sizeof text; length++) {
        struct reading reading = read_text(text, length);
        if ((reading.value != NULL) != (length == sizeof text - 1)) fail_msg("%.*s", (int)length, text);
        forget(&reading);
    }
}

static void depth_has_an_edge(void **state)
{
    (void)state;
    for (size_t depth = ND_JSON_DEPTH - 1; depth <= ND_JSON_DEPTH + 1; depth++) {
        char text[2 * ND_JSON_DEPTH + 4];
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        struct reading reading = read_text(text, 2 * depth);
        assert_int_equal(reading.value != NULL, depth <= ND_JSON_DEPTH);
        forget(&reading);
    }
    enum { MANY = 1000000 };
    char *text = malloc(MANY);
    assert_non_null(text);
    memset(text, '[', MANY);
    struct reading reading = read_text(text, MANY);
    assert_null(reading.value);
    assert_int_equal(reading.fault.offset, ND_JSON_DEPTH);
    forget(&reading);
    free(text);
}

static void values_are_found(void **state)
{
    static const char text[] =
        "{\"list\":[1,[2,{\"a\":3}],2.5],\"text\":\"a\\tb\",\"flag\":true,\"none\":null,\"list2\":[]}";
    (void)state;
    struct reading reading = read_text(text, sizeof text - 1);
    const struct json_value *root = reading.value, *list = nd_json_get(root, "list");
    assert_int_equal(nd_json_count(root), 5);
    assert_int_equal(nd_json_count(list), 3);
    const struct json_value *inner = nd_json_after(list + 1);
    assert_int_equal(nd_json_count(inner), 2);
    assert_true(nd_json_number(nd_json_after(inner)) == 2.5);
    assert_int_equal(nd_json_get(nd_json_after(inner + 1), "a")->is.integer, 3);
    assert_true(nd_json_is_text(nd_json_get(root, "text"), "a\tb"));
    assert_false(nd_json_is_text(nd_json_get(root, "text"), "a"));
    assert_int_equal(nd_json_get(root, "text")->extent, 3);
    assert_true(nd_json_is_flag(nd_json_get(root, "flag")));
    assert_true(nd_json_is(nd_json_get(root, "none"), ND_NULL));
    assert_int_equal(nd_json_count(nd_json_get(root, "list2")), 0);
    assert_null(nd_json_get(root, "lis"));
    assert_null(nd_json_get(list, "a"));
    assert_null(nd_json_get(NULL, "a"));
    assert_int_equal(nd_json_count(NULL), 0);
    assert_true(nd_json_number(NULL) == 0 && nd_json_number(list) == 0);
    assert_false(nd_json_is_number(nd_json_get(root, "text")));
    forget(&reading);
}

/* A sentence holds at most ND_SHOWN bytes of a value, whatever the value is. */
static void shown_values_are_cut(void **state)
{
    (void)state;
    for (size_t length = 0; length < 200; length++) {
        char text[600] = "{\"", shown[ND_SHOWN + 8];
        memset(text + 2, 'k', length);
        memcpy(text + 2 + length, "\":[\"\xE2\x82\xAC\",1]}", 12);
        struct reading reading = read_text(text, length + 14);
        assert_non_null(reading.value);
        memset(shown, '#', sizeof shown);
        assert_ptr_equal(nd_show_json(reading.value, shown), shown);
        assert_in_range(strlen(shown), 1, ND_SHOWN - 1);
        assert_memory_equal(shown + ND_SHOWN, "########", 8);
        size_t full = length + strlen("{\"\":[\"\\u20AC\",1]}");
        assert_int_equal(strlen(shown), full <= ND_SHOWN - 4 ? full : ND_SHOWN - 1);
        assert_int_equal(strstr(shown, "...") == NULL, full <= ND_SHOWN - 4);
        memset(shown, '#', sizeof shown);
        nd_show_text(text, shown);
        assert_in_range(strlen(shown), 1, ND_SHOWN - 1);
        assert_memory_equal(shown + ND_SHOWN, "########", 8);
        forget(&reading);
    }
    char shown[ND_SHOWN];
    assert_string_equal(nd_show_json(NULL, shown), "missing");
    assert_string_equal(nd_show_text("\xFF\x1B[", shown), "\"\\u00FF\\u001B[\"");
}

/* 100,000 keys, all different or with the last repeated, in no more than some tenths of a second; 16 bytes a value. */
static void many_keys_are_quick(void **state)
{
    enum { KEYS = 100000, EACH = 12 };
    (void)state;
    for (int repeated = 0; repeated < 2; repeated++) {
        struct counting counting = {0};
        nade_context *context = model_support_counting_context(&counting);
        struct arena arena = {context->allocator, NULL};
        struct json_fault fault;
        char *text = malloc(KEYS * EACH + 3);
        assert_non_null(text);
        size_t used = 0;
        for (size_t i = 0; i < KEYS; i++)
            used += (size_t)sprintf(text + used, "%c\"%07zu\":0", i ? ',' : '{', repeated && i == KEYS - 1 ? 0 : i);
        text[used++] = '}';
        clock_t begun = clock();
        const struct json_value *value = nd_json_read(&arena, text, used, &fault);
        assert_int_equal(value == NULL, repeated);
        assert_in_range(clock() - begun, 0, 2 * CLOCKS_PER_SEC);
        assert_in_range(counting.largest, 16, 16 * (2 * KEYS + 1) + 256);
        if (value) assert_int_equal(nd_json_count(value), KEYS);
        nd_arena_free(&arena);
        free(text);
        nade_context_free(context);
        assert_int_equal(counting.live, 0);
    }
}

static void failing_memory_is_told(void **state)
{
    (void)state;
    size_t n = 1;
    for (bool read = false; !read; n++) {
        struct counting counting = {0};
        nade_context *context = model_support_counting_context(&counting);
        struct arena arena = {context->allocator, NULL};
        struct json_fault fault = {"", 0};
        char text[] = "{\"1\":0,\"2\":0,\"3\":0,\"4\":0,\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0}";
        counting.calls = 0;
        counting.fail_at = n;
        read = nd_json_read(&arena, text, sizeof text - 1, &fault) != NULL;
        if (!read) assert_null(fault.what);
        nd_arena_free(&arena);
        nade_context_free(context);
        assert_int_equal(counting.live, 0);
    }
    assert_int_equal(n, 4); /* the values, the keys to be sorted, none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_texts_are_read),
        cmocka_unit_test(wrong_numbers_and_words_are_refused),
        cmocka_unit_test(wrong_lists_and_objects_are_refused),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(repeated_keys_are_refused),
        cmocka_unit_test(a_zero_byte_is_refused),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(depth_has_an_edge),
        cmocka_unit_test(values_are_found),
        cmocka_unit_test(shown_values_are_cut),
        cmocka_unit_test(many_keys_are_quick),
        cmocka_unit_test(failing_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
