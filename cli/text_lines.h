/* The lines of a text file, one at a time in memory of a fixed size.  getline takes as much as a line is long, whatever
 * --max-memory says, and where it gets none its callers see the end of the file. */
#ifndef CLI_TEXT_LINES_H
#define CLI_TEXT_LINES_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"

/* Bytes of a line, its end included: the longest name of a column and what may stand around it. */
enum { LINE_MOST = 1 << 17 };

struct text_lines {
    const struct common *common;
    const char *path;
    FILE *file;
    char *text;    /* the line at hand, without its end */
    size_t number; /* its own, from 1 */
};

/* 0 or an exit status; to be closed in any case. */
int text_lines_open(struct text_lines *lines, const struct common *common, const char *path);
void text_lines_close(struct text_lines *lines);

/* Reads the next line; *there is false behind the last.  0 or an exit status. */
int text_lines_next(struct text_lines *lines, bool *there);

#endif
