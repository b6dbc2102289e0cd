/* Training with one setting or with several, all else alike: learning rates, weight decays, seeds, even tables.  The
 * run that does best on the validation rows can be chosen.
 *
 * Runs go side by side, a thread and a context each, as many at a time as the caller says: on a CUDA device one small
 * network leaves most of the chip idle, and on a processor it does not feed many cores.  A run ends in the same bytes
 * either way, and in those of a run alone.  Ranks that mpirun has started take turns at the runs (train_spread.h). */
#ifndef CLI_TRAIN_GRID_H
#define CLI_TRAIN_GRID_H

#include <jansson.h>
#include <pthread.h>

#include "nade/nade.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "train_log.h"

enum { TRAIN_LABEL = 128, TRAIN_ERROR = 1024 };

/* What is a run's own; begin with train_setting_of. */
struct train_setting {
    double rate; /* 0: the library's choice */
    double weight_decay;
    uint32_t seed;
    double stop_train_loss;          /* NaN: none */
    const char *checkpoint, *resume; /* files, NULL: none */
    const nade_table *table, *valid; /* valid may be NULL */
    char label[TRAIN_LABEL];         /* what its lines begin with */
};

/* The run of one setting.  What changes while it trains is guarded by the grid's mutex. */
struct train_run {
    struct train_grid *grid;
    struct train_setting setting;
    nade_context *context;
    double time_limit;      /* seconds; 0: none */
    nade_status status;     /* NADE_INTERRUPTED: never begun */
    bool unwanted;          /* the options' planned ended it */
    nade_model *model;      /* NULL: none was made */
    nade_progress last;     /* report of the last iteration; iteration 0: none ended */
    double best_train_loss; /* of the iteration with the best validation loss; NaN: there was none */
    bool ended;
    char error[TRAIN_ERROR]; /* the sentence, where it failed */
    nade_progress *reports;  /* (report_count) for other ranks (train_spread.h) */
    size_t report_count;
    struct progress progress;
};

/* Begins all zero. */
struct train_grid {
    struct common common, silent;      /* silent: for contexts whose warnings somebody else gives */
    size_t count, next;                /* next: the first run that nobody has taken yet */
    size_t abreast;                    /* runs at a time */
    bool spread;                       /* over ranks (train_spread.h) */
    struct train_run *run;             /* (count) */
    const struct train_run *chosen;    /* NULL: none yet */
    const nade_train_options *options; /* settings and time limit apart */
    struct train_log *log;             /* NULL: none */
    bool brief;
    pthread_mutex_t mutex;
    bool failed; /* one of the runs, so that the others need not go on */
    struct progress clock;
};

/* The setting that options hold, without tables and label. */
struct train_setting train_setting_of(const nade_train_options *options);

/* Opens a context for each of the settings, which are copied: abreast of them are to run at a time, with so many
 * threads each.  brief: no warnings, and off a terminal few lines of progress.  0 or an exit status; train_grid_close
 * in either case. */
int train_grid_open(struct train_grid *grid, const struct common *common, const struct train_setting *settings,
                    size_t count, size_t abreast, unsigned threads, bool brief);

/* Trains them all.  A time limit counts for all together: runs that follow each other share what is left of it evenly.
 * A run that diverges does not end the others.  With several settings the library's warnings, the same for all, are
 * left to the caller.  0, or an exit status where a run failed otherwise; planned, which may be in the options, says
 * itself why it ends one. */
int train_grid_train(struct train_grid *grid, const nade_train_options *options, struct train_log *log);

/* Chooses the run with the best validation loss.  0, or an exit status where all have diverged. */
int train_grid_choose(struct train_grid *grid);

/* The run that did best of those behind this one, by validation loss and, where it is equal, in the grid's order; after
 * NULL the best of all.  Runs that have diverged are none of them.  NULL: there is none. */
const struct train_run *train_grid_next(const struct train_grid *grid, const struct train_run *after);

/* How many runs of one small network a device takes at a time. */
size_t train_grid_abreast(nade_device device);

/* Seconds since training began. */
double train_grid_seconds(const struct train_grid *grid);

/* A line for each run where there are several: how far it came, and which is the chosen one. */
void train_grid_note(const struct train_grid *grid);

/* What trials chose, how much better than independent columns and than a mixture the chosen run is, by what its first
 * member came to, and whether a longer one may be better. */
void train_grid_note_worth(const struct train_grid *grid, const nade_progress *outcome);

/* What trials chose in a run, as an object; NULL without memory. */
json_t *train_grid_candidate_as_json(const struct train_run *run);

/* All runs as an array; NULL without memory. */
json_t *train_grid_as_json(const struct train_grid *grid);

void train_grid_close(struct train_grid *grid);

#endif
