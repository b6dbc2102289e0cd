#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "completion.h"
#include "json_memory.h"
#include "manual.h"
#include "max_memory.h"
#include "output.h"
#include "ranks.h"
#include "report.h"

static void print_overview(struct output *output)
{
    output_print(output, "%s\n\n", program.sentence);
    for (size_t i = 0; i < program.first_call_count; i++)
        output_print(output, "  %-48s %s\n", program.first_calls[i].call, program.first_calls[i].explanation);
    output_print(output, "\nVerbs:\n");
    for (size_t i = 0; i < program.verb_count; i++)
        output_print(output, "  %-8s %s\n", program.verbs[i]->name, program.verbs[i]->summary);
    output_print(output, "\n'nade VERB --help' lists the options of a verb, 'nade --version' prints the version.\n");
}

/* Writes about a verb, or about the program when verb is NULL, to stdout: print gets the verb's defaults. */
static int show_page(const struct common *common, const struct verb *verb,
                     void (*print)(struct output *output, const struct verb *verb, const void *defaults))
{
    struct output output;
    int status = output_open(&output, common, NULL);
    if (status) return status;
    void *defaults = verb ? calloc(1, verb->arguments_size) : NULL;
    if (verb && !defaults) return report_no_memory(common);
    if (verb && verb->init) verb->init(defaults);
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

int show_help(const struct common *common, const struct verb *verb)
{
    return show_page(common, verb, print_help_or_overview);
}

int show_manual(const struct common *common, const struct verb *verb)
{
    return show_page(common, verb, print_manual);
}

int show_completion(const struct common *common, const char *shell)
{
    struct output output;
    int status = output_open(&output, common, NULL);
    if (status) return status;
    if (!print_completion(&output, shell))
        return report_error(common, NADE_BAD_CALL, "--completion: found '%s', expected bash or zsh", shell);
    return output_close(&output);
}

int show_version(const struct common *common)
{
    struct output output;
    int status = output_open(&output, common, NULL);
    if (status) return status;
    output_print(&output, "%s %s\n", program.name, nade_version());
    return output_close(&output);
}

int run_verb(const struct verb *verb, const struct common *common, int count, char **words)
{
    struct common *arguments = calloc(1, verb->arguments_size);
    if (!arguments) return report_no_memory(common);
    if (verb->init) verb->init(arguments);
    arguments->json = common->json;
    int status = parse_arguments(verb, count, words, arguments);
    bool idle = false;
    if (status == EXIT_DONE && !arguments->help) status = open_memory(arguments);
    if (status == EXIT_DONE && !arguments->help) status = ranks_join(arguments, verb->shares, &idle);
    if (status == EXIT_DONE && !arguments->help) status = ranks_agree(arguments, verb);
    if (status == EXIT_DONE && !idle) status = arguments->help ? show_help(common, verb) : verb->run(arguments);
    close_memory(arguments);
    free(arguments->given);
    free(arguments);
    return ranks_leave(status);
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

struct common program_begin(int count, char **words)
{
    hold_standard_descriptors();
    /* A closed pipe is seen as a write error: data end quietly, and training outlives whoever watched its progress. */
    signal(SIGPIPE, SIG_IGN);
    /* So is a file that would exceed the limit of `ulimit -f`: the error is reported, and nothing is left half-written.
     */
    signal(SIGXFSZ, SIG_IGN);
    ranks_begin(count - 1, words + 1);
    struct common common = {.json = wants_json(count - 1, words + 1)};
    guard_json_memory(common.json);
    return common;
}
