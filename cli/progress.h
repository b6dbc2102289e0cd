/* How long work shows itself on stderr: a line that is rewritten on a terminal, one line an iteration elsewhere. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <time.h>

#include "nade/nade.h"
#include "options.h"

struct progress {
    const struct common *common;
    bool visible, terminal;
    double time_limit; /* seconds, 0: none */
    double shown;      /* seconds since start when the passing line was last written */
    struct timespec start;
};

void progress_start(struct progress *progress, const struct common *common, double time_limit);

double progress_seconds(const struct progress *progress);

/* Shows a training run's report. */
void progress_train(struct progress *progress, const nade_progress *report);

/* Shows the share of the rows scored, 0…1; only on a terminal, and only for work of more than a second. */
void progress_score(struct progress *progress, double done);

/* "1:05" or "2:03:07" from seconds. */
enum { DURATION_SIZE = 32 };
const char *format_duration(double seconds, char buffer[DURATION_SIZE]);

#endif
