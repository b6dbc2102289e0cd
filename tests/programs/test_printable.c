/* Text for a terminal: what it would obey, what misleads its reader is not in it, nor what is no UTF-8. */
#include "../cli/printable.c"

#include "support/cmocka_all.h"

static void expect_shown(const char *text, const char *wanted)
{
    char buffer[256];
    assert_string_equal(printable(text, buffer, sizeof buffer - 1), wanted);
    char *page = strdup(text);
    assert_non_null(page);
    make_page_printable(page);
    if (!strchr(text, '\n') && nd_utf8_valid(text)) assert_string_equal(page, wanted);
    assert_true(nd_utf8_valid(page));
    free(page);
}

/* The bytes of a code point. */
static void encode(uint32_t point, char text[5])
{
    unsigned char *to = (unsigned char *)text;
    if (point < 0x80) {
        *to++ = (unsigned char)point;
    } else if (point < 0x800) {
        *to++ = (unsigned char)(0xC0 | point >> 6);
        *to++ = (unsigned char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        *to++ = (unsigned char)(0xE0 | point >> 12);
        *to++ = (unsigned char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (unsigned char)(0x80 | (point & 0x3F));
    } else {
        *to++ = (unsigned char)(0xF0 | point >> 18);
        *to++ = (unsigned char)(0x80 | (point >> 12 & 0x3F));
        *to++ = (unsigned char)(0x80 | (point >> 6 & 0x3F));
        *to++ = (unsigned char)(0x80 | (point & 0x3F));
    }
    *to = '\0';
}

static void misleading_characters_are_marks(void **state)
{
    (void)state;
    static const uint32_t points[] = {
        0x01,   0x07,   0x09,   0x0A,   0x0D,   0x1B,    0x1F,    0x7F,    0x80,    0x85,    0x9B,   0x9D,
        0x9F,   0xAD,   0x061C, 0x180E, 0x200B, 0x200C,  0x200D,  0x200E,  0x200F,  0x2028,  0x2029, 0x202A,
        0x202B, 0x202C, 0x202D, 0x202E, 0x2060, 0x2066,  0x2067,  0x2068,  0x2069,  0x206F,  0x3164, 0xFE0F,
        0xFEFF, 0xFFF9, 0xFFFE, 0xFFFF, 0xFDD0, 0x1D173, 0xE0001, 0xE0041, 0xE01EF, 0x10FFFF};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char text[16] = "a", one[5];
        encode(points[i], one);
        strcat(strcat(text, one), "z");
        expect_shown(text, "a?z");
    }
}

static void other_characters_stay(void **state)
{
    (void)state;
    static const uint32_t points[] = {0x20,   0x7E,   0xA0,   0xE9,   0x0301, 0x05D0, 0x0628,  0x2010,  0x2027,  0x202F,
                                      0x20AC, 0x2584, 0x4E2D, 0xAC00, 0xE000, 0xFFFD, 0x1F600, 0x2F800, 0x10FFFD};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        char text[16] = "a", one[5];
        encode(points[i], one);
        strcat(strcat(text, one), "z");
        expect_shown(text, text);
    }
}

static void bytes_that_are_no_utf8_are_letters(void **state)
{
    (void)state;
    expect_shown("\x9B"
                 "31m",
                 "›31m");
    expect_shown("caf\xE9 5\x80", "café 5€");
    expect_shown("\xC0\xAF\xE2\x82z\x81\xAD\xFF", "À¯â‚z??ÿ"); /* no character, and a hyphen that is not seen */
    expect_shown("\xC3", "Ã");
}

/* Of a cut text every length is a whole number of characters, and never more than allowed. */
static void cuts_lie_between_characters(void **state)
{
    (void)state;
    const char *text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x1B\xC3\xA9\xE2\x82\xAC!";
    char buffer[64];
    uint32_t point;
    size_t whole = strlen(text);
    for (size_t limit = 3; limit <= whole + 1; limit++) {
        memset(buffer, '#', sizeof buffer);
        printable(text, buffer, limit);
        size_t length = strlen(buffer);
        assert_true(length <= limit);
        for (const char *at = buffer; *at; at += nd_utf8_decode(at, 4, &point))
            assert_true(nd_utf8_decode(at, 4, &point) > 0);
        if (limit < whole) assert_string_equal(buffer + length - 3, "...");
        if (limit >= whole) assert_null(strstr(buffer, "..."));
    }
    assert_string_equal(printable("abcdef", buffer, 6), "abcdef");
    assert_string_equal(printable("abcdefg", buffer, 6), "abc...");
    assert_string_equal(printable("ab\xC3\xA9yz", buffer, 5), "ab...");
}

static void pages_keep_their_lines(void **state)
{
    (void)state;
    char page[] = "a\tb\n\x1B[1mc\xE2\x80\xAE\n\n";
    make_page_printable(page);
    assert_string_equal(page, "a?b\n?[1mc?\n\n");
}

static void json_is_escaped(void **state)
{
    (void)state;
    char *text = printable_json("{\n\t\"caf\xC3\xA9\": \"\x7F\xC2\x9B\xE2\x80\xAE\xF3\xA0\x81\x81 \xF0\x9F\x98\x80\"}");
    assert_string_equal(text, "{\n\t\"caf\xC3\xA9\": \"\\u007F\\u009B\\u202E\\uDB40\\uDC41 \xF0\x9F\x98\x80\"}");
    free(text);
    text = printable_json("\x7F");
    assert_string_equal(text, "\\u007F");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misleading_characters_are_marks),
        cmocka_unit_test(other_characters_stay),
        cmocka_unit_test(bytes_that_are_no_utf8_are_letters),
        cmocka_unit_test(cuts_lie_between_characters),
        cmocka_unit_test(pages_keep_their_lines),
        cmocka_unit_test(json_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
