/* How long work shows itself on stderr: a line that is rewritten on a terminal, one line an iteration elsewhere. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <time.h>

#include "nade/nade.h"
#include "options.h"

struct progress {
    const struct common *common;
    const char *label; /* what each line of training begins with, "" where one run is all there is */
    bool visible, terminal;
    double time_limit;   /* seconds, 0: none */
    double shown;        /* seconds since start when the passing line was last written */
    uint64_t part;       /* rates are measured from the first report of a member's stage, or its trials; 0: none yet */
    uint64_t first_made; /* updates of all networks by then */
    double first_seconds;
    double rate;         /* updates per second of the last report that had one */
    bool announced;      /* it was said how long the run will take */
    bool chosen;         /* it was said which trial goes on */
    nade_progress usual; /* a report of the first trial, which others are told apart from */
    struct timespec start;
};

void progress_start(struct progress *progress, const struct common *common, double time_limit);

double progress_seconds(const struct progress *progress);

/* Shows a training run's report. */
void progress_train(struct progress *progress, const nade_progress *report);

/* What a trial has of its own: "dropout 0.2, direct path". */
enum { CANDIDATE_SIZE = 256 };
const char *format_candidate(const struct progress *progress, const nade_progress *report, char text[CANDIDATE_SIZE]);

/* Shows how many rows are done ("scored"), where nobody knows how many there will be; only on a terminal, and only for
 * work of more than a second. */
void progress_rows(struct progress *progress, const char *done, size_t rows);

/* The same for work ("sampling") of which the share done, 0…1, is known, with the time left. */
void progress_share(struct progress *progress, const char *work, double done);

/* "1:05" or "2:03:07" from seconds. */
enum { DURATION_SIZE = 32 };
const char *format_duration(double seconds, char buffer[DURATION_SIZE]);

#endif
