/* The file of --log: a CSV with one line per iteration, written as training goes. */
#ifndef CLI_TRAIN_LOG_H
#define CLI_TRAIN_LOG_H

#include <stdio.h>

#include "nade/nade.h"
#include "options.h"

struct train_log {
    FILE *file; /* NULL: no log */
    const char *path;
    bool rates;             /* several learning rates share the file: each line begins with the one it belongs to */
    bool members;           /* the model has several: each line ends with the one it belongs to */
    int reason;             /* errno of the first write that failed, else 0 */
    bool resumed;           /* the file may hold lines of an earlier run, which the first report sorts out */
    struct kept_line *kept; /* (kept_count) iterations of trials: those of the chosen one will be written */
    size_t kept_count, kept_room;
};

/* Opens the file and writes the header; path may be NULL.  A resumed run has one rate.  0 or an exit status. */
int train_log_open(struct train_log *log, const struct common *common, const char *path, bool resumed, bool rates,
                   bool members);

/* Writes the line of an iteration, of the run with this rate, that has just ended; of trials those of the chosen one,
 * when it is chosen. */
void train_log_write(struct train_log *log, double rate, const nade_progress *report);

/* Closes the file and reports what went wrong with it: 0 or an exit status. */
int train_log_close(struct train_log *log, const struct common *common);

#endif
