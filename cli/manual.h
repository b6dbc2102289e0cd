/* Manual pages, made from the tables that parse the options, so that the two can't differ. */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "options.h"
#include "output.h"

/* Writes the manual page of a verb in the language of man(7); defaults are its initialised arguments.  For verb NULL it
 * is the page of the program itself. */
void print_manual(struct output *output, const struct verb *verb, const void *defaults);

#endif
