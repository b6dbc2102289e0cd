/* nade-paper, which `nade paper` runs: the paper's tables and figures. */
#include <string.h>

#include "paper_verb.h"
#include "program.h"
#include "report.h"

static const struct verb *const verbs[] = {&paper_verb};

const struct program program = {.name = "nade-paper", .verbs = verbs, .verb_count = 1, .one_verb = true};

/* `nade-paper help`; for packagers also `nade-paper help --man` and `nade-paper help --completion SHELL`. */
static int run_help(const struct common *common, int count, char **words)
{
    const char *word = count > 0 ? words[0] : "";
    if (strcmp(word, "--completion") == 0 && count <= 2) return show_completion(common, count == 2 ? words[1] : "");
    if (strcmp(word, "--man") == 0 && count == 1) return show_manual(common, &paper_verb);
    if (count == 0) return show_help(common, &paper_verb);
    return report_error(common, NADE_BAD_CALL, "unexpected argument '%s'; usage: nade-paper help", words[count - 1]);
}

int main(int argc, char **argv)
{
    struct common common = program_begin(argc, argv);
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--version") == 0) return show_version(&common);
    if (strcmp(word, "help") == 0) return run_help(&common, argc - 2, argv + 2);
    return run_verb(&paper_verb, &common, argc - 1, argv + 1);
}
