/* How numbers are written: each form is read, written, and read back as the same double; what is none is refused. */
#include "support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/number_form.h"

static double read_in(const char *name, const char *text)
{
    struct number_form form;
    double value = NAN;
    if (!nd_form_take(name, &form)) fail_msg("'%s' is no form", name);
    return nd_form_read(&form, text, strlen(text), &value) == NUMBER_FINITE ? value : (double)NAN;
}

static const char *written_in(const char *name, double value)
{
    static char text[ND_FORMED_NUMBER];
    struct number_form form;
    char plain[ND_NUMBER_TEXT];
    if (!nd_form_take(name, &form)) fail_msg("'%s' is no form", name);
    nd_format_number(value, plain);
    nd_form_write(&form, plain, text);
    return text;
}

static const char *const forms[] = {"1234.0",      "1234.000000",   "$1,234.00",   "1.234,5 €",  "1234.5%",
                                    "($1,234.00)", "(1234.5)",      "$-1234.00",   "1234.00-",   "1.234,5- €",
                                    "€ (1.234,5)", "(1'234.0 CHF)", "h:mm",        "hh:mm",      "h:mm:ss",
                                    "hh:mm:ss",    "h:mm:ss,",      "h:mm:ss.fff", "hh:mm:ss,f", "hh:mm:ss.ffffff"};

enum { FORMS = sizeof forms / sizeof *forms };

static void test_names_of_forms(void **state)
{
    (void)state;
    static const char *const wrong[] = {"-1234.5",   "($1,234.00", "$1,234.00)", "(1234.5-)",  "$-1234.5-",
                                        "1234.00--", "h:m",        "hh:mm.ff",   "mm:ss",      "h:mm:ss.",
                                        "h:mm:ssf",  "h:mm:ss;f",  "hhh:mm",     "h:mm:ss.f ", "h:mm:ss.fffffff",
                                        "(1234.5)x"};
    struct number_form form;
    char name[ND_NUMBER_FORM_SIZE];
    for (size_t i = 0; i < FORMS; i++) {
        if (!nd_form_take(forms[i], &form)) fail_msg("'%s' is no form", forms[i]);
        nd_form_name(&form, name);
        assert_string_equal(name, forms[i]);
        assert_int_equal(nd_form_is_plain(&form), i < 2);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (nd_form_take(wrong[i], &form)) fail_msg("'%s' is a form", wrong[i]);
    assert_null(nd_plain_form_name(0));
    assert_string_equal(nd_plain_form_name(ND_DECIMALS_MOST), "1234.000000");
}

/* A pseudorandom number of some size, of few digits or of all that a double has. */
static double any_number(uint32_t *state, bool negative)
{
    *state = *state * 1664525u + 1013904223u;
    double size = ldexp((double)(*state >> 4), (int)(*state % 40) - 28);
    if (*state % 3 == 0) size = nearbyint(size * 100) / 100;
    if (*state % 3 == 1) size = nearbyint(size);
    return negative && size != 0 ? -size : size;
}

static void test_what_is_written_reads_back(void **state)
{
    (void)state;
    uint32_t random = 7;
    for (size_t i = 0; i < FORMS; i++)
        for (size_t n = 0; n < 4000; n++) {
            double value = any_number(&random, n % 2), again = read_in(forms[i], written_in(forms[i], value));
            bool other = strpbrk(written_in(forms[i], value), "e") != NULL; /* a number of seconds, or too long */
            if (!other && again != value)
                fail_msg("%s: %.17g is written %s and read %.17g", forms[i], value, written_in(forms[i], value), again);
        }
}

static void test_minus_of_all_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *form, *text;
        double value;
    } cases[] = {{"($1,234.00)", "($1,024.50)", -1024.5},
                 {"($1,234.00)", "$20.33", 20.33},
                 {"($1,234.00)", "($0.05)", -0.05},
                 {"(1234.00)", "(20.33)", -20.33},
                 {"$-1234.00", "$-12.00", -12},
                 {"$1,234.00", "-$12.00", -12},
                 {"1234.00-", "12.00-", -12},
                 {"1.234,00- €", "1.012,50- €", -1012.5},
                 {"€ (1.234,00)", "€ (1.012,50)", -1012.5},
                 {"(1234.0%)", "(5.3%)", -5.3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (read_in(cases[i].form, cases[i].text) != cases[i].value)
            fail_msg("%s: %s is read %.17g", cases[i].form, cases[i].text, read_in(cases[i].form, cases[i].text));
        assert_string_equal(written_in(cases[i].form, cases[i].value), cases[i].text);
    }
    assert_true(read_in("($1,234.00)", "-$5") == -5 && read_in("($1,234.00)", "$-5") == -5); /* however it is written */
    assert_true(read_in("$1,234.00", "($5)") == -5);
    static const char *const none[] = {"(5", "5)", "()", "(-5)", "-(5)", "((5))", "(5)-", "-5-", "5-5", "--5", "- 5"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!isnan(read_in("(1,234.5)", none[i])) || !isnan(read_in("1,234.5-", none[i])))
            fail_msg("'%s' is a number", none[i]);
    assert_true(read_in("(1,234.5)", "5.5-") == -5.5 && isnan(read_in("(1,234.5)", "5-"))); /* a grade */
    assert_true(isnan(read_in("1,234.5", "5.5-")) && read_in("1,234.5-", "5-") == -5);
}

static void test_durations(void **state)
{
    (void)state;
    static const struct {
        const char *form, *text;
        double value;
    } cases[] = {{"h:mm:ss", "0:23:37", 1417},
                 {"hh:mm:ss", "00:23:37", 1417},
                 {"h:mm", "23:37", 85020},
                 {"hh:mm", "07:05", 25500},
                 {"hh:mm", "107:05", 385500},
                 {"hh:mm:ss.fff", "00:01:02.250", 62.25},
                 {"hh:mm:ss,fff", "00:01:02,250", 62.25},
                 {"h:mm:ss", "0:00:00", 0},
                 {"h:mm:ss", "-0:00:05", -5},
                 {"h:mm:ss", "999999999:59:59", 3599999999999},
                 {"h:mm:ss", "0:00:00.1", 0.1},
                 {"hh:mm:ss.f", "26:00:00.0", 93600},
                 {"h:mm", "0:01:30", 90},
                 {"hh:mm", "00:00:00.5", 0.5},
                 {"h:mm:ss", "0:00:00.000000123", 1.23e-7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (read_in(cases[i].form, cases[i].text) != cases[i].value)
            fail_msg("%s: %s is read %.17g", cases[i].form, cases[i].text, read_in(cases[i].form, cases[i].text));
        assert_string_equal(written_in(cases[i].form, cases[i].value), cases[i].text);
    }
    static const char *const none[] = {
        "",       ":",     "1",       "1:2",      "1:60",  "0:00:60", "0:0:00", "1:00:00:00",      "0:00:00.",
        "0:00,5", "1:00 ", "1:00:0x", "+1:00:00", "1h:00", "0x1:00",  "1e5:00", "1234567890:00:00"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!isnan(read_in("h:mm:ss", none[i])) || !isnan(read_in("hh:mm", none[i])))
            fail_msg("'%s' is a duration", none[i]);
    assert_true(isnan(read_in("h:mm:ss", "23:37"))); /* minutes and seconds, or hours and minutes */
    assert_true(nd_written_duration("hh:mm") == DURATION_MINUTES_PADDED &&
                nd_written_duration("1234.00") == DURATION_NONE);
    assert_true(nd_written_duration(NULL) == DURATION_NONE);
    assert_string_equal(written_in("h:mm", 1e20), "1e+20");
}

/* As people ask: in the form, with or without what stands around the digits, or plainly. */
static void test_read_loosely(void **state)
{
    (void)state;
    struct number_form form;
    double value;
    nd_form_take("($1,234.00)", &form);
    static const char *const ways[] = {"($1,000.00)", "(1,000)", "-1000", "-$1000", "$-1,000", "-1,000.0"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!nd_form_read_loosely(&form, ways[i], &value)) fail_msg("'%s' is no number", ways[i]);
        assert_true(value == -1000);
    }
    nd_form_take("h:mm:ss", &form);
    assert_true(nd_form_read_loosely(&form, "01:00:00", &value) && value == 3600);
    assert_true(nd_form_read_loosely(&form, "90.5", &value) && value == 90.5);
    assert_false(nd_form_read_loosely(&form, "1:00", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_of_forms),     cmocka_unit_test(test_what_is_written_reads_back),
        cmocka_unit_test(test_minus_of_all_kinds), cmocka_unit_test(test_durations),
        cmocka_unit_test(test_read_loosely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
