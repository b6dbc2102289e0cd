/* nade: verbs over files.  Finds the verb, parses its arguments, runs it. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "report.h"
#include "verbs.h"

static const struct verb *const verbs[] = {&verb_train, &verb_score, &verb_info};

enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}

static void print_lesson(struct output *output)
{
    output_print(output,
                 "nade fits one neural network to a table and gives the density of every row.\n\n"
                 "  nade train data.csv -o model.safetensors    fit a model; it finds types and sizes by itself\n"
                 "  nade score model.safetensors new.csv        the log density of each row of another table\n"
                 "  nade info model.safetensors                 what the model knows of its columns and training\n\n"
                 "Verbs:\n");
    for (size_t i = 0; i < VERB_COUNT; i++) output_print(output, "  %-8s %s\n", verbs[i]->name, verbs[i]->summary);
    output_print(output, "\n'nade VERB --help' lists the options of a verb, 'nade --version' prints the version.\n");
}

static int unknown_verb(const struct common *common, const char *name)
{
    char known[128] = "";
    for (size_t i = 0; i < VERB_COUNT; i++) {
        size_t used = strlen(known);
        const char *joint = i == 0 ? "" : i + 1 < VERB_COUNT ? ", " : " and ";
        snprintf(known + used, sizeof known - used, "%s%s", joint, verbs[i]->name);
    }
    return report_error(common, NADE_BAD_CALL, "unknown verb '%s'; the verbs are %s", name, known);
}

/* Writes the help of a verb, or the lesson when verb is NULL, to stdout. */
static int show_help(const struct common *common, const struct verb *verb)
{
    struct output output;
    int status = output_open(&output, common, NULL);
    if (status) return status;
    if (verb) {
        void *defaults = calloc(1, verb->arguments_size);
        if (!defaults) return report_no_memory(common);
        verb->init(defaults);
        print_help(&output, verb, defaults);
        free(defaults);
    } else {
        print_lesson(&output);
    }
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
    if (status == EXIT_DONE) status = arguments->help ? show_help(common, verb) : verb->run(arguments);
    free(arguments);
    return status;
}

/* `nade help [VERB]`. */
static int run_help(const struct common *common, int count, char **words)
{
    if (count == 0) return show_help(common, NULL);
    if (count > 1)
        return report_error(common, NADE_BAD_CALL, "unexpected argument '%s'; usage: nade help VERB", words[1]);
    const struct verb *verb = find_verb(words[0]);
    return verb ? show_help(common, verb) : unknown_verb(common, words[0]);
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
    struct common common = {.json = wants_json(argc - 1, argv + 1)};
    if (argc < 2) return show_help(&common, NULL);
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) return show_version(&common);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return show_help(&common, NULL);
    if (strcmp(word, "help") == 0) return run_help(&common, argc - 2, argv + 2);
    const struct verb *verb = find_verb(word);
    return verb ? run_verb(verb, &common, argc - 2, argv + 2) : unknown_verb(&common, word);
}
