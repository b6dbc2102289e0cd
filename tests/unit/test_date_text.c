/* Dates as texts: every day of two centuries there and back, forms found, and what is no date. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/date_text.h"
#include "support/cmocka_all.h"
#include "support/support.h"

static bool reads(const char *form, const char *text, double *seconds)
{
    return nd_date_read(form, text, strlen(text), seconds);
}

static void test_every_day(void **state)
{
    static const char *const forms[] = {
        "YYYY-MM-DD",          "D.M.YYYY", "MM/DD/YYYY hh:mm:ss", "YYYY-MM-DDThh:mm:ss.fff+02:00", "M/D/YYYY h:mm PM",
        "DD-MM-YYYY hh:mm pm", "epoch ms"};
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    double day = -70 * 365 - 17; /* 1900-01-01; 1900 has no leap day */
    (void)state;
    for (int year = 1900; year <= 2100; year++)
        for (int month = 1; month <= 12; month++) {
            int leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (int of_month = 1; of_month <= lengths[month - 1] + leap; of_month++, day++) {
                char text[ND_DATE_SIZE], expected[ND_DATE_SIZE];
                double seconds, time = 60 * fabs(fmod(day * 7919, 1440));
                nd_date_write("YYYY-MM-DD", ND_DAY * day + time, text);
                snprintf(expected, sizeof expected, "%04d-%02d-%02d", year, month, of_month);
                assert_string_equal(text, expected);
                for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
                    double value = ND_DAY * day + (f < 2 ? 0 : time);
                    nd_date_write(forms[f], value, text);
                    assert_true(reads(forms[f], text, &seconds));
                    assert_true(seconds == value);
                }
            }
        }
    assert_true(day == 131 * 365 + 32); /* 2101-01-01 */
}

static void test_times(void **state)
{
    static const struct {
        const char *form, *text;
        double seconds;
    } cases[] = {
        {"YYYY-MM-DD", "1970-01-01", 0},
        {"YYYY-MM-DD", "0001-01-01", ND_DATE_LEAST},
        {"YYYY-MM-DD", "9999-12-31", ND_DATE_END - ND_DAY},
        {"YYYY-MM-DD hh:mm:ss", "1969-12-31 23:59:59", -1},
        {"YYYY-MM-DDThh:mm:ssZ", "2001-09-09T01:46:40Z", 1e9},
        {"YYYY-MM-DD hh:mm:ss.ff", "1969-12-31 23:59:59.75", -0.25},
        {"YYYY-MM-DD hh:mm:ss.f", "1970-01-01 00:00:00.5", 0.5},
        {"M/D/YYYY h:mm:ss PM", "1/2/1970 12:00:01 AM", ND_DAY + 1},
        {"M/D/YYYY h:mm:ss PM", "1/1/1970 12:59:00 PM", 12 * 3600 + 59 * 60},
        {"DD/MM/YYYY h:mm pm", "01/01/1970 1:05 pm", 13 * 3600 + 300},
        {"DD.MM.YY", "31.12.68", 3124137600},
        {"M/D/YY", "1/1/69", -365 * ND_DAY},
        {"D MMM YYYY", "3 Feb 1970", 33 * ND_DAY},
        {"DD-MMM-YY", "01-May-70", 120 * ND_DAY},
        {"MMMM D, YYYY h:mm PM", "September 3, 1970 12:30 AM", 245 * ND_DAY + 1800},
        {"epoch", "-86400", -ND_DAY},
        {"epoch ms", "1500", 1.5},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[ND_DATE_SIZE];
        double seconds;
        assert_true(nd_date_form_is_good(cases[i].form));
        assert_true(reads(cases[i].form, cases[i].text, &seconds));
        assert_true(seconds == cases[i].seconds);
        nd_date_write(cases[i].form, cases[i].seconds, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_no_dates(void **state)
{
    static const char *const cases[][2] = {
        {"YYYY-MM-DD", "2023-02-30"},
        {"YYYY-MM-DD", "2023-02-29"},
        {"YYYY-MM-DD", "1900-02-29"},
        {"YYYY-MM-DD", "2023-13-01"},
        {"YYYY-MM-DD", "2023-00-10"},
        {"YYYY-MM-DD", "2023-01-00"},
        {"YYYY-MM-DD", "0000-01-01"},
        {"YYYY-MM-DD", "2023-1-1"},
        {"YYYY-MM-DD", "2023-01-011"},
        {"YYYY-MM-DD", "2023-01-01 "},
        {"YYYY-MM-DD", ""},
        {"D.M.YYYY", "01.2.2023"},
        {"YYYY-MM-DD hh:mm", "2023-01-01 24:00"},
        {"YYYY-MM-DD hh:mm", "2023-01-01 23:60"},
        {"YYYY-MM-DD hh:mm PM", "2023-01-01 13:00 PM"},
        {"YYYY-MM-DD hh:mm PM", "2023-01-01 00:00 AM"},
        {"YYYY-MM-DD hh:mm:ss", "2016-12-31 23:59:60"},
        {"DD.MM.YY", "29.02.21"},
        {"D MMM YYYY", "3 feb 1970"},
        {"D MMM YYYY", "3 Febr 1970"},
        {"epoch", "1.5"},
        {"epoch", "-"},
        {"epoch", "999999999999999"},
    };
    static const char *const bad_forms[] = {"",
                                            "YYYY-MM",
                                            "YYY-MM-DD",
                                            "YYYY-MMMMM-DD",
                                            "YYYY-MM-DD hh",
                                            "YYYY-MM-DD mm",
                                            "YYYY-MM-DD hh:mm.ff",
                                            "YYYY-MM-DD PM",
                                            "YYYY-MM-DD YYYY",
                                            "YYYY-MM-DD%s",
                                            "YYYY-MM-DD hh:mm:ss.fffffff"};
    double seconds;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_false(reads(cases[i][0], cases[i][1], &seconds));
    for (size_t i = 0; i < sizeof bad_forms / sizeof *bad_forms; i++) assert_false(nd_date_form_is_good(bad_forms[i]));
}

static void test_guesses(void **state)
{
    /* NULL: no form has them all; "?": day and month can't be told apart. */
    static const char *const cases[][4] = {
        {"2023-01-31", "2024-02-29", NULL, "YYYY-MM-DD"},
        {"2023/01/31", NULL, NULL, "YYYY/MM/DD"},
        {"31.12.2023", "01.02.2023", NULL, "DD.MM.YYYY"},
        {"1.12.2023", "31.2.2023", NULL, NULL},
        {"1.12.2023", "31.1.2023", NULL, "D.M.YYYY"},
        {"01/02/2023", "03/04/2023", NULL, "?"},
        {"01/02/2023", "13/04/2023", NULL, "DD/MM/YYYY"},
        {"01/02/2023", "03/14/2023", NULL, "MM/DD/YYYY"},
        {"01/13/2023", "13/01/2023", NULL, NULL},
        {"1/2/2023", "10/30/2023", NULL, "M/D/YYYY"},
        {"12/12/2023", "12/13/2023", NULL, "MM/DD/YYYY"},
        {"2023-01-31T10:20", NULL, NULL, "YYYY-MM-DDThh:mm"},
        {"2023-01-31 10:20", "2023-01-31 9:20", NULL, "YYYY-MM-DD h:mm"},
        {"2023-01-31 10:20:30.250", "2023-01-31 09:20:00.000", NULL, "YYYY-MM-DD hh:mm:ss.fff"},
        {"2023-01-31T10:20:30Z", NULL, NULL, "YYYY-MM-DDThh:mm:ssZ"},
        {"2023-01-31T10:20:30+02:00", "2023-01-31T10:20:30+01:00", NULL, NULL},
        {"2023-01-31T10:20:30-0500", NULL, NULL, "YYYY-MM-DDThh:mm:ss-0500"},
        {"1/2/2023 1:05 PM", "1/20/2023 12:05 AM", NULL, "M/D/YYYY h:mm PM"},
        {"2023-01-31", "2023-01-31 10:20", NULL, NULL},
        {"2023-02-30", NULL, NULL, NULL},
        {"20230131", NULL, NULL, NULL},
        {"tomorrow", NULL, NULL, NULL},
        {"31.12.23", "01.02.99", NULL, "DD.MM.YY"},
        {"01/02/23", "03/04/23", NULL, "?"},
        {"01/02/23", "12/31/23", NULL, "MM/DD/YY"},
        {"3 May 2021", "13 Jan 2021", NULL, "D MMM YYYY"},
        {"3 May 2021", "13 January 2021", NULL, "D MMMM YYYY"},
        {"May 3, 2021", "Jan 13, 2021", NULL, "MMM D, YYYY"},
        {"03-May-21", "13-Jan-21", NULL, "DD-MMM-YY"},
        {"May 3, 2021", "3 May 2021", NULL, NULL},
        {"1.2.3", NULL, NULL, NULL},
        {"1.10.21", "2.11.21", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct date_forms forms;
        const char *expected = cases[i][3];
        nd_date_guess(cases[i][0], strlen(cases[i][0]), &forms);
        for (size_t t = 1; t < 3 && cases[i][t]; t++) nd_date_narrow(cases[i][t], strlen(cases[i][t]), &forms);
        if (!expected)
            assert_int_equal(forms.count, 0);
        else if (strcmp(expected, "?") == 0)
            assert_true(nd_date_ambiguous(&forms));
        else {
            assert_true(forms.count > 0 && !nd_date_ambiguous(&forms));
            assert_string_equal(forms.form[0], expected);
            assert_true(nd_date_form_is_good(expected));
        }
    }
    support_assert_close("a day", nd_date_finest("D.M.YYYY"), ND_DAY, 0, 0);
    support_assert_close("a minute", nd_date_finest("D.M.YYYY h:mm PM"), 60, 0, 0);
    support_assert_close("a hundredth", nd_date_finest("D.M.YYYY hh:mm:ss.ff"), 0.01, 1e-15, 0);
}

/* What can be read in one way alone is, whatever the form; slashes can't. */
static void test_loosely(void **state)
{
    static const char *const same[] = {"2020-02-29", "29.02.2020", "29.2.2020", "2020-02-29 00:00",
                                       "29.02.2020 00:00:00"};
    double seconds;
    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        assert_true(nd_date_read_loosely("MM/DD/YYYY", same[i], &seconds));
        assert_true(seconds == 1582934400);
    }
    assert_false(nd_date_read_loosely("YYYY-MM-DD", "02/29/2020", &seconds));
    assert_false(nd_date_read_loosely("YYYY-MM-DD", "30.02.2020", &seconds));
    assert_true(nd_date_read_loosely("MM.DD.YYYY", "2020-02-29", &seconds));
    assert_false(nd_date_read_loosely("MM.DD.YYYY", "29.02.2020", &seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_day), cmocka_unit_test(test_times),
                                       cmocka_unit_test(test_no_dates), cmocka_unit_test(test_guesses),
                                       cmocka_unit_test(test_loosely)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
