/* What a machine does in a second: training on a table, answers of a model.  What nade bench measures. */
#ifndef CLI_BENCH_FIGURES_H
#define CLI_BENCH_FIGURES_H

#include "nade/nade.h"
#include "options.h"

/* What is measured, and with what. */
struct bench {
    struct common *common;
    unsigned threads;
    double seconds; /* for each figure, about */
    size_t orderings;
    nade_device device;
    nade_precision precision;
};

/* Of one device; NaN: not measured. */
struct bench_figures {
    nade_device device;
    nade_precision precision;
    nade_train_plan plan;
    size_t batch;           /* rows of an update; 0: nothing was trained */
    double update_rate;     /* a second */
    double soonest, latest; /* seconds that plain training would take */
    double score_rate, sample_rate;
    double row_median, row_late; /* seconds of a row by itself: half of them, and 99 of 100, take no longer */
};

/* Seconds of a clock that only goes forward. */
double bench_seconds(void);

/* Trains on a table for a while and hands over what came out, which the caller frees: 0 or an exit status. */
int bench_training(const struct bench *bench, const nade_table *table, struct bench_figures *figures,
                   nade_model **model);

/* Lets a model score and draw rows: those given (rows, columns), or where they are NULL, some that it draws. */
int bench_answers(const struct bench *bench, const nade_model *model, const double *values, size_t rows,
                  struct bench_figures *figures);

#endif
