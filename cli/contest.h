/* Two densities of the same rows: models, or what models are compared with. */
#ifndef CLI_CONTEST_H
#define CLI_CONTEST_H

#include <stdbool.h>

#include "model_input.h"
#include "nade/check.h"
#include "options.h"
#include "progress.h"

enum contender_kind { CONTENDER_MODEL, CONTENDER_INDEPENDENT, CONTENDER_GAUSSIAN, CONTENDER_MIXTURE };

struct contender {
    const char *word; /* a file's path, or what it is called */
    enum contender_kind kind;
    struct model_input input; /* of a model */
    nade_score_options options;
    bool *wanted;      /* (model columns) to be scored */
    size_t *at;        /* (columns) which of the model's columns each is */
    double *values;    /* (rows, columns) as the model reads them: NaN missing, INFINITY unseen */
    double *row;       /* (rows) log densities */
    double *cell;      /* (rows, columns) of each cell given the others; NULL: not asked for */
    size_t components; /* of a mixture */
};

/* Begins all zero but for what the caller says.  Free in any case. */
struct contest {
    struct common *common;
    const char *data, *train, *of; /* paths; a COLS list or NULL */
    uint32_t threads;
    int per_column;
    nade_read_options read;
    nade_score_options options;

    struct contender side[2];
    struct contender *lead; /* a model: its columns are those that are compared */
    nade_table *table;
    size_t rows, columns;
    bool *kept;                   /* (rows) that both sides read alike */
    size_t empty, unseen, unlike; /* rows that are not kept: without a cell; with a value that a model does not know;
                                     with cells that only one of the models takes for missing */
    size_t trained;               /* rows of train */
    struct progress progress;
    size_t done, work; /* calls of the progress */
};

/* Loads, reads and scores: 0 or an exit status. */
int contest_run(struct contest *contest, const char *a, const char *b);
void contest_free(struct contest *contest);

/* What contest.c asks of contest_scores.c: 0 or an exit status.  Baselines are scored on the rows that are kept. */
int contest_score_models(struct contest *contest);
int contest_score_fitted(struct contest *contest);

/* And the other way round.  The table's cells of the columns that are compared, (rows, columns), to be freed; NULL: an
 * exit status in *failed. */
double *contest_values(const struct contest *contest, const struct contender *side, const nade_table *table,
                       int *failed);
bool contender_is_fitted(const struct contender *side);

/* Whether a column's log densities are those of probabilities, and not of densities over a unit of the data. */
bool counts_by_probability(const nade_column *column);

/* A column's name. */
const char *contest_column(const struct contest *contest, size_t column);

/* The paired difference of two log densities, the first less the second. */
struct difference {
    size_t count;
    double mean[2], difference;
    double standard_error; /* of the difference, NaN below two */
    size_t better[2];      /* how often each is higher */
};

/* Of the rows that are kept, or of a column's cells in them. */
struct difference contest_rows(const struct contest *contest);
struct difference contest_cells(const struct contest *contest, size_t column);

#endif
