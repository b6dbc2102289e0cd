/* nade: verbs over files.  Finds the verb, parses its arguments, runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_memory.h"
#include "manual.h"
#include "max_memory.h"
#include "output.h"
#include "report.h"
#include "verbs.h"

static void print_overview(struct output *output)
{
    output_print(output, "%s\n\n", overview_sentence);
    for (size_t i = 0; i < first_call_count; i++)
        output_print(output, "  %-42s %s\n", first_calls[i].call, first_calls[i].explanation);
    output_print(output, "\nVerbs:\n");
    for (size_t i = 0; i < verb_count; i++)
        output_print(output, "  %-8s %s\n", verb_list[i]->name, verb_list[i]->summary);
    output_print(output, "\n'nade VERB --help' lists the options of a verb, 'nade --version' prints the version.\n");
}

static int unknown_verb(const struct common *common, const char *name)
{
    char known[128] = "";
    for (size_t i = 0; i < verb_count; i++) {
        size_t used = strlen(known);
        const char *joint = i == 0 ? "" : i + 1 < verb_count ? ", " : " and ";
        snprintf(known + used, sizeof known - used, "%s%s", joint, verb_list[i]->name);
    }
    return report_error(common, NADE_BAD_CALL, "unknown verb '%s'; the verbs are %s", name, known);
}

/* Writes about a verb, or about nade when verb is NULL, to stdout: print gets the verb's defaults. */
static int show_page(const struct common *common, const struct verb *verb,
                     void (*print)(struct output *output, const struct verb *verb, const void *defaults))
{
    struct output output;
    int status = output_open(&output, common, NULL);
    if (status) return status;
    void *defaults = verb ? calloc(1, verb->arguments_size) : NULL;
    if (verb && !defaults) return report_no_memory(common);
    if (verb) verb->init(defaults);
    print(&output, verb, defaults);
    free(defaults);
    return output_close(&output);
}

static void print_help_or_overview(struct output *output, const struct verb *verb, const void *defaults)
{
    if (verb)
        print_help(output, verb, defaults);
    else
        print_overview(output);
}

static int show_help(const struct common *common, const struct verb *verb)
{
    return show_page(common, verb, print_help_or_overview);
}

static int show_completion(const struct common *common, const char *shell)
{
    struct output output;
    int status = output_open(&output, common, NULL);
    if (status) return status;
    if (!print_completion(&output, shell))
        return report_error(common, NADE_BAD_CALL, "--completion: found '%s', expected bash or zsh", shell);
    return output_close(&output);
}

static int show_version(const struct common *common)
{
    struct output output;
    int status = output_open(&output, common, NULL);
    if (status) return status;
    output_print(&output, "nade %s\n", nade_version());
    return output_close(&output);
}

static int run_verb(const struct verb *verb, const struct common *common, int count, char **words)
{
    struct common *arguments = calloc(1, verb->arguments_size);
    if (!arguments) return report_no_memory(common);
    verb->init(arguments);
    arguments->json = common->json;
    int status = parse_arguments(verb, count, words, arguments);
    if (status == EXIT_DONE && !arguments->help) status = open_memory(arguments);
    if (status == EXIT_DONE) status = arguments->help ? show_help(common, verb) : verb->run(arguments);
    close_memory(arguments);
    free(arguments->given);
    free(arguments);
    return status;
}

/* `nade help [VERB]`; for packagers also `nade help --man [VERB]` and `nade help --completion SHELL`. */
static int run_help(const struct common *common, int count, char **words)
{
    bool manual = count > 0 && strcmp(words[0], "--man") == 0;
    bool completion = count > 0 && strcmp(words[0], "--completion") == 0;
    if (manual || completion) {
        count--;
        words++;
    }
    if (count > 1)
        return report_error(common, NADE_BAD_CALL, "unexpected argument '%s'; usage: nade help VERB", words[1]);
    if (completion) return show_completion(common, count ? words[0] : "");
    const struct verb *verb = count ? find_verb(words[0]) : NULL;
    if (count && !verb) return unknown_verb(common, words[0]);
    return show_page(common, verb, manual ? print_manual : print_help_or_overview);
}

/* Whether --json is among the words: errors in what stands before it are to be JSON as well. */
static int wants_json(int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++)
        if (strcmp(words[i], "--json") == 0) return 1;
    return 0;
}

/* A descriptor 0, 1 or 2 that the caller closed would be given to the first file opened, and messages would end up in
 * it.  Each gets a stand-in that refuses to be used in its usual direction. */
static void hold_standard_descriptors(void)
{
    for (int descriptor = 0; descriptor <= 2; descriptor++)
        if (fcntl(descriptor, F_GETFD) == -1) (void)!open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    /* A closed pipe is seen as a write error: data end quietly, and training outlives whoever watched its progress. */
    signal(SIGPIPE, SIG_IGN);
    /* So is a file that would exceed the limit of `ulimit -f`: the error is reported, and nothing is left half-written.
     */
    signal(SIGXFSZ, SIG_IGN);
    struct common common = {.json = wants_json(argc - 1, argv + 1)};
    guard_json_memory(common.json);
    if (argc < 2) return show_help(&common, NULL);
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) return show_version(&common);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return show_help(&common, NULL);
    if (strcmp(word, "help") == 0) return run_help(&common, argc - 2, argv + 2);
    const struct verb *verb = find_verb(word);
    return verb ? run_verb(verb, &common, argc - 2, argv + 2) : unknown_verb(&common, word);
}
