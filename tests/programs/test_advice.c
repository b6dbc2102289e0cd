/* The command's flags in the library's sentences. */
#include "advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"

static void expect(const char *sentence, const char *wanted)
{
    char buffer[400];
    assert_string_equal(with_flags(sentence, buffer, sizeof buffer), wanted);
}

static void test_options_become_flags(void **state)
{
    (void)state;
    expect("`of`: found 'x', expected the name or number of a column",
           "--of: found 'x', expected the name or number of a column");
    expect("column 'a' is in `of` and in `given`, expected it in one of them",
           "column 'a' is in --of and in --given, expected it in one of them");
    expect("the limit is 2 MiB (`max_memory`); smaller `hidden` or `batch` need less",
           "the limit is 2 MiB (--max-memory); smaller --hidden or --batch need less");
    expect("the list of binary columns: found '7'", "--binary: found '7'");
}

static void test_names_come_again(void **state)
{
    (void)state;
    expect("t.csv, line 3, column 'a b': found text; leave column 'a b' out",
           "t.csv, line 3, column 'a b': found text; leave the column out with --drop 'a b'");
    expect("expected each once; leave column 12 out", "expected each once; leave one out with --drop 12");
    expect("a number (or make column 'age' categorical)", "a number (or give --categorical age)");
}

/* A shell and the list of columns give back the very name. */
static void test_names_can_be_pasted(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"age", "age"},         {"größe_2.5", "größe_2.5"}, {"a,b", "'\"a,b\"'"},
        {" a", "'\" a\"'"},     {"a ", "'\"a \"'"},         {"$HOME", "'$HOME'"},
        {"it's", "'it'\\''s'"}, {"5\" pipe", "'5\" pipe'"}, {"\"a\", b's", "'\"\"\"a\"\", b'\\''s\"'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sentence[100], wanted[100];
        snprintf(sentence, sizeof sentence, "leave column '%s' out", cases[i][0]);
        snprintf(wanted, sizeof wanted, "leave the column out with --drop %s", cases[i][1]);
        expect(sentence, wanted);
    }
}

static void test_all_else_stays(void **state)
{
    (void)state;
    const char *const same[] = {"",
                                "`",
                                "`no_option` and `of",
                                "leave column 'a",
                                "leave column 'a' in",
                                "100 % of column 'x'",
                                "the list of columns"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) expect(same[i], same[i]);
}

/* Quoted texts are the user's; the ' inside a word is no quote. */
static void test_quoted_texts_stay(void **state)
{
    (void)state;
    expect("column '`drop`': found '`of`', expected it in `given`",
           "column '`drop`': found '`of`', expected it in --given");
    expect("column 'it's `of`' is in `of`", "column 'it's `of`' is in --of");
    expect("the row's `columns` can't be 'leave such columns out'",
           "the row's --columns can't be 'leave such columns out'");
    expect("found '', expected `columns`", "found '', expected --columns");
    expect("found ', expected `columns`", "found ', expected --columns");
    expect("column '`drop`': leave column '`drop`' out", "column '`drop`': leave the column out with --drop '`drop`'");
}

/* A sentence grows; what does not fit is cut, wherever that is. */
static void test_cut(void **state)
{
    (void)state;
    const char *sentence = "x: leave column 'age' out, `of`", *whole = "x: leave the column out with --drop age, --of";
    for (size_t size = 1; size <= strlen(whole) + 1; size++) {
        char *buffer = malloc(size);
        assert_non_null(buffer);
        with_flags(sentence, buffer, size);
        assert_int_equal(strlen(buffer), size - 1);
        assert_memory_equal(buffer, whole, size - 1);
        free(buffer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_become_flags), cmocka_unit_test(test_names_come_again),
        cmocka_unit_test(test_names_can_be_pasted),  cmocka_unit_test(test_all_else_stays),
        cmocka_unit_test(test_quoted_texts_stay),    cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
