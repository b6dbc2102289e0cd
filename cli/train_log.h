/* The file of --log: a CSV with one line per iteration, written as training goes. */
#ifndef CLI_TRAIN_LOG_H
#define CLI_TRAIN_LOG_H

#include <stdio.h>

#include "nade/nade.h"
#include "options.h"

struct train_log {
    FILE *file; /* NULL: no log */
    const char *path;
    int reason;   /* errno of the first write that failed, else 0 */
    bool resumed; /* the file may hold lines of an earlier run, which the first report sorts out */
};

/* Opens the file and writes the header; path may be NULL.  0 or an exit status. */
int train_log_open(struct train_log *log, const struct common *common, const char *path, bool resumed);

/* Writes the line of an iteration that has just ended. */
void train_log_write(struct train_log *log, const nade_progress *report);

/* Closes the file and reports what went wrong with it: 0 or an exit status. */
int train_log_close(struct train_log *log, const struct common *common);

#endif
