/* Verbs and their options, where the programs' own do not show it. */
#include "options.h"

#include <string.h>

#include "program.h"
#include "support/cmocka_all.h"

static int run_plain(void *arguments)
{
    return ((struct common *)arguments)->quiet ? 7 : 1;
}

/* All defaults are zero: there is nothing to set. */
static void test_a_verb_without_init(void **state)
{
    (void)state;
    const struct verb plain = {.name = "plain",
                               .summary = "nothing",
                               .usage = "",
                               .description = "",
                               .arguments_size = sizeof(struct common),
                               .run = run_plain};
    const struct common common = {0};
    char quiet[] = "--quiet", help[] = "--help", *words[] = {quiet, help};
    assert_int_equal(run_verb(&plain, &common, 1, words), 7);
    assert_int_equal(run_verb(&plain, &common, 2, words), 0);
    assert_int_equal(show_manual(&common, &plain), 0);
}

static void test_choices_in_help(void **state)
{
    (void)state;
    static const struct choice choices[] = {{"a", 0}, {"b", 1}, {"c", 2}, {NULL, 0}};
    struct option option = {.name = "x", .help = "one of %s, in words", .choices = choices};
    char text[HELP_SIZE];
    assert_string_equal(option_help(&option, text), "one of a, b or c, in words");
    option.choices = choices + 2;
    assert_string_equal(option_help(&option, text), "one of c, in words");
    option.choices = NULL;
    assert_string_equal(option_help(&option, text), option.help);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_verb_without_init),
        cmocka_unit_test(test_choices_in_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
