/* Shell completion, made from the tables that parse the options, so that the two can't differ. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include <stdbool.h>

#include "output.h"

/* Writes the completion for a shell, "bash" or "zsh".  Returns false, and writes nothing, for any other. */
bool print_completion(struct output *output, const char *shell);

#endif
