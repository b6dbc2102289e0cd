/* Training with one learning rate or with several, all else alike: the run that does best on the validation rows is
 * chosen.
 *
 * On a CUDA device the runs go side by side, a thread and a context each, because one small network leaves most of the
 * chip idle.  Elsewhere they go one after the other, each with all processors.  A run ends in the same bytes either
 * way, and in those of a run alone. */
#ifndef CLI_TRAIN_GRID_H
#define CLI_TRAIN_GRID_H

#include <jansson.h>
#include <pthread.h>

#include "nade/nade.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "train_log.h"

/* The run of one rate.  What changes while it trains is guarded by the grid's mutex. */
struct rate_run {
    struct train_grid *grid;
    double rate; /* 0: the library's choice */
    char label[EXACT_SIZE + 8];
    nade_context *context;
    double time_limit;  /* seconds; 0: none */
    nade_status status; /* NADE_INTERRUPTED: never begun */
    nade_model *model;  /* NULL: none was made */
    nade_progress last; /* report of the last iteration; iteration 0: none ended */
    bool ended;
    struct progress progress;
};

struct train_grid {
    struct common common, silent; /* silent: for contexts whose warnings somebody else gives */
    size_t count;
    struct rate_run run[REALS_MOST];
    const struct rate_run *chosen; /* NULL: none yet */
    const nade_table *table, *valid;
    const nade_train_options *options; /* the learning rate apart */
    struct train_log *log;
    pthread_mutex_t mutex;
    bool failed; /* one of the runs, so that the others need not go on */
    struct progress clock;
};

/* Opens a context for each rate.  0 or an exit status; train_grid_close in either case. */
int train_grid_open(struct train_grid *grid, const struct common *common, const struct real_list *rates,
                    unsigned threads);

/* Trains and chooses.  A time limit counts for all rates together: runs that follow each other share what is left of it
 * evenly.  A rate with which training diverges is dropped unless it is the last that remains.  With several rates the
 * library's warnings, the same for all, are left to the caller.  0 or an exit status. */
int train_grid_fit(struct train_grid *grid, const nade_table *table, const nade_table *valid,
                   const nade_train_options *options, struct train_log *log);

/* True where train_grid_fit with this device runs several rates at a time. */
bool train_grid_is_parallel(nade_device device);

/* Seconds since training began. */
double train_grid_seconds(const struct train_grid *grid);

/* A line for each rate where there are several: how far it came, and which is the chosen one. */
void train_grid_note(const struct train_grid *grid);

/* The same as an array; NULL without memory. */
json_t *train_grid_as_json(const struct train_grid *grid);

void train_grid_close(struct train_grid *grid);

#endif
