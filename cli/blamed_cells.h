/* Which cells of rows are to blame for their being unusual, and what was expected there. */
#ifndef CLI_BLAMED_CELLS_H
#define CLI_BLAMED_CELLS_H

#include "outlier_findings.h"

/* Begins all zero.  Free in any case. */
struct blame {
    struct model_input *input;
    nade_score_options score;
    size_t columns, cells;
    bool blind;     /* a model of one ordering can't say what a cell is given the rest of its row */
    double *tail;   /* (part, columns) */
    double *values; /* (part, cells, columns): rows without one of their blamed cells each */
};

/* For parts of so many rows; 0 or an exit status. */
int blame_begin(struct blame *blame, struct model_input *input, const nade_score_options *score, size_t cells,
                size_t part);

/* Rows of a table: its columns of the model's, and their values, INFINITY where a column can't have what is found. */
struct judged_rows {
    const nade_table *table;
    size_t first;         /* number of the first row */
    const size_t *source; /* (model columns), as nade_table_values gives it */
    const double *values; /* (rows, model columns) */
};

/* Fills in the blamed cells of the rows' findings. */
nade_status blame_rows(struct blame *blame, nade_context *context, const struct judged_rows *rows,
                       const struct findings *findings, char *found);

void blame_free(struct blame *blame);

#endif
