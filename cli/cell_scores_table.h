/* score --per-column: each cell's surprise and tail probability as CSV, and their means. */
#ifndef CLI_CELL_SCORES_TABLE_H
#define CLI_CELL_SCORES_TABLE_H

#include "nade/nade.h"
#include "output.h"

/* Begins all zero. */
struct cell_scores_table {
    size_t columns;          /* of the model */
    double *surprise, *tail; /* (part, columns) */
    int *scored;             /* (columns) */
    double *sum;             /* (columns) of surprise so far */
    size_t *count;           /* (columns) cells scored so far */
    size_t rows;             /* so far */
};

/* Rows to read at a time. */
size_t cell_scores_part(const nade_model *model);

/* Makes room for parts of so many rows: 0 or an exit status. */
int cell_scores_begin(struct cell_scores_table *table, const struct common *common, const nade_model *model,
                      size_t part);
void cell_scores_free(struct cell_scores_table *table);

/* Scores the rows of a part and writes them, before the first a line of names. */
nade_status cell_scores_add(struct cell_scores_table *table, nade_context *context, const nade_model *model,
                            const nade_table *part, const nade_score_options *options, struct output *output);

/* Reports the mean surprise of each column. */
int cell_scores_report(const struct cell_scores_table *table, const struct common *common, const nade_model *model,
                       const nade_score_options *options);

#endif
