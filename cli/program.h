/* A program of ours as its main, manual page and completion see it: nade (cli/main.c) has several verbs, nade-paper
 * (paper/paper_main.c) has one and is called without naming it. */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include "options.h"

/* What to type first, for the program alone and for its manual page. */
struct first_call {
    const char *call, *explanation;
};

struct program {
    const char *name;
    const struct verb *const *verbs; /* (verb_count), in the order in which they are listed */
    size_t verb_count;
    bool one_verb; /* it is not named on the command line */
    const char *sentence;
    const struct first_call *first_calls; /* (first_call_count) */
    size_t first_call_count;
};

/* Each program has its own. */
extern const struct program program;

/* To be called first: what holds for the whole process, and the part of the arguments that is known before they are
 * parsed. */
struct common program_begin(int count, char **words);

/* All of the following return an exit status. */
int run_verb(const struct verb *verb, const struct common *common, int count, char **words);

/* --help and the manual page of a verb; for verb NULL of the program itself. */
int show_help(const struct common *common, const struct verb *verb);
int show_manual(const struct common *common, const struct verb *verb);
int show_completion(const struct common *common, const char *shell);
int show_version(const struct common *common);

/* Goes on as another of our programs, with these words, which end with NULL: the one beside this program's file or, if
 * there is none, the one in PATH.  Returns only if there is neither. */
int run_program(const struct common *common, const char *name, char *const *words);

#endif
