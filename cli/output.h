/* Where a verb's data go: stdout, or a file that appears only when it is complete. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/replacement.h"
#include "options.h"

struct output {
    FILE *stream;
    const struct common *common;
    const char *path;        /* as the user wrote it, NULL: stdout */
    struct replacement file; /* of path */
    sigset_t signals;        /* those blocked before there was a temporary file */
    bool guarded;            /* against signals, because of a temporary file */
    bool page;               /* for people */
    bool windows; /* labels and units are written as Windows-1252 where they can be, as the rest of the data */
    int reason;   /* errno of the first write that failed, else 0 */
};

/* Reports what would keep path from being written, before long work rather than after it: 0 or an exit status.
 * input (may be NULL) is a file the verb reads; writing over it is refused too. */
int output_check(const struct common *common, const char *path, const char *input);

/* The same for both files that a verb may write, each NULL where it is not asked for, and all that it reads (a list
 * that ends with NULL); the two must differ. */
int output_check_files(const struct common *common, const char *output, const char *png, const char *const *inputs);

/* Opens path, or stdout when it is NULL: 0 or an exit status.  Of several threads one may have a file open at a time,
 * since there is one unfinished file that a signal removes. */
int output_open(struct output *output, const struct common *common, const char *path);

/* Opens stdout for a page that people read: what output_print writes to it passes `printable`, unlike data. */
void output_open_page(struct output *output, const struct common *common);

/* printf to the output.  After a failure it does nothing: output_close will say why. */
void output_print(struct output *output, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with bytes. */
void output_write(struct output *output, const void *bytes, size_t count);

/* Lets the reader of stdout have what was written so far. */
void output_flush(struct output *output);

/* False once a write has failed; long loops may then end early. */
bool output_good(const struct output *output);

/* True when writing failed because nobody reads the pipe any more. */
bool output_reader_gone(const struct output *output);

/* Ends the output: whatever went wrong while writing shows here.  Returns an exit status.  A reader of stdout
 * that has gone is no error. */
int output_close(struct output *output);

/* Removes the file that is being written, from whatever thread, for a process that ends at once. */
void output_remove_unfinished(void);

/* Removes what was written of a file. */
void output_abandon(struct output *output);

/* Room for any number that format_exact writes. */
enum { EXACT_SIZE = 32 };

/* The shortest of 15, 16 and 17 significant digits that reads back as the same double, or nan.  Uses buffer. */
const char *format_exact(double value, char buffer[EXACT_SIZE]);

#endif
