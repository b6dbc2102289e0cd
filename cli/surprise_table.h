/* score --per-column: each cell's surprise and tail probability as CSV, and their means. */
#ifndef CLI_SURPRISE_TABLE_H
#define CLI_SURPRISE_TABLE_H

#include "nade/nade.h"
#include "output.h"

/* Begins all zero. */
struct surprise_table {
    size_t columns;          /* of the model */
    double *surprise, *tail; /* (part, columns) */
    int *scored;             /* (columns) */
    double *sum;             /* (columns) of surprise so far */
    size_t *count;           /* (columns) cells scored so far */
    size_t rows;             /* so far */
};

/* Rows to read at a time. */
size_t surprise_part(const nade_model *model);

/* Makes room for parts of so many rows: 0 or an exit status. */
int surprise_begin(struct surprise_table *table, const struct common *common, const nade_model *model, size_t part);
void surprise_free(struct surprise_table *table);

/* Scores the rows of a part and writes them, before the first a line of names. */
nade_status surprise_add(struct surprise_table *table, nade_context *context, const nade_model *model,
                         const nade_table *part, const nade_score_options *options, struct output *output);

/* Reports the mean surprise of each column. */
int surprise_report(const struct surprise_table *table, const struct common *common, const nade_model *model,
                    const nade_score_options *options);

#endif
