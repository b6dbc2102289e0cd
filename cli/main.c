/* nade: verbs over files.  Finds the verb, parses its arguments, runs it. */
#include <stdio.h>
#include <string.h>

#include "base/slips.h"
#include "program.h"
#include "report.h"
#include "verbs.h"

/* The verb that a word is likely meant for; NULL: none. */
static const char *nearest_verb(const char *name)
{
    const char *nearest = NULL;
    size_t fewest = ND_SLIPS_MOST + 1;
    for (size_t i = 0; i < program.verb_count; i++) {
        const char *verb = program.verbs[i]->name;
        if (nd_is_nearer(name, verb, &fewest)) nearest = verb;
    }
    return nearest;
}

static int unknown_verb(const struct common *common, const char *name)
{
    const char *meant = nearest_verb(name);
    if (meant) return report_error(common, NADE_BAD_CALL, "unknown verb '%s'; did you mean %s?", name, meant);
    char known[128] = "";
    for (size_t i = 0; i < program.verb_count; i++) {
        size_t used = strlen(known);
        const char *joint = i == 0 ? "" : i + 1 < program.verb_count ? ", " : " and ";
        snprintf(known + used, sizeof known - used, "%s%s", joint, program.verbs[i]->name);
    }
    return report_error(common, NADE_BAD_CALL, "unknown verb '%s'; the verbs are %s", name, known);
}

/* For bash the functions of the verbs that other programs run follow those of nade; zsh finds them by itself. */
static int complete_all(const struct common *common, char *shell)
{
    int status = show_completion(common, shell);
    bool paper = strcmp(shell, "bash") == 0 && !status;
    return paper ? run_program(common, verb_paper.program, (char *[]){"help", "--completion", shell, NULL}) : status;
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
    if (completion) return complete_all(common, count ? words[0] : "");
    const struct verb *verb = count ? find_verb(words[0]) : NULL;
    if (count && !verb) return unknown_verb(common, words[0]);
    if (verb && verb->program)
        return run_program(common, verb->program, (char *[]){"help", manual ? "--man" : NULL, NULL});
    return manual ? show_manual(common, verb) : show_help(common, verb);
}

int main(int argc, char **argv)
{
    struct common common = program_begin(argc, argv);
    if (argc < 2) return show_help(&common, NULL);
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) return show_version(&common);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return show_help(&common, NULL);
    if (strcmp(word, "help") == 0) return run_help(&common, argc - 2, argv + 2);
    const struct verb *verb = find_verb(word);
    if (verb && verb->program) return run_program(&common, verb->program, argv + 2);
    return verb ? run_verb(verb, &common, argc - 2, argv + 2) : unknown_verb(&common, word);
}
