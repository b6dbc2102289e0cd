/* The command line: the input's first byte chooses a verb, its lines are the words behind it.  Nothing is run. */
#include <stdlib.h>
#include <string.h>

#include "fuzz_support.h"
#include "paper_verb.h"
#include "report.h"
#include "verbs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { WORDS_MOST = 64 };
    if (size == 0) return 0;
    const struct verb *verb = program.verbs[bytes[0] % program.verb_count];
    if (verb->program) verb = &paper_verb;
    char *text = fuzz_text(bytes + 1, size - 1), *words[WORDS_MOST], *rest = text;
    int count = 0;
    while (count < WORDS_MOST && rest) {
        words[count++] = rest;
        rest = strchr(rest, '\n');
        if (rest) *rest++ = '\0';
    }
    struct common *arguments = calloc(1, verb->arguments_size);
    fuzz_demand(arguments, "there is no memory");
    verb->init(arguments);
    int status = parse_arguments(verb, count, words, arguments);
    fuzz_demand(status == EXIT_DONE || status == EXIT_WRONG, "status %d", status);
    free(arguments->given);
    free(arguments);
    free(text);
    return 0;
}
