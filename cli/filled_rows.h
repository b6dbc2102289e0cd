/* A table written back with its missing cells filled in, everything else as it was. */
#ifndef CLI_FILLED_ROWS_H
#define CLI_FILLED_ROWS_H

#include "nade/nade.h"
#include "output.h"

/* Some rows of a table and what was found for them. */
struct filled_rows {
    const nade_model *model;
    const nade_table *table; /* read with keep_text, if from text */
    const size_t *source;    /* (model columns): the table's column of each */
    size_t rows;
    size_t draws;             /* lines for each row */
    bool numbered;            /* they begin with the number of the draw */
    const double *given;      /* (rows, model columns), NaN: missing */
    const bool *left;         /* (rows, model columns) missing for the model, but not to be filled */
    const double *values;     /* (rows, draws, model columns) */
    const double *low, *high; /* (rows, draws, model columns); NULL: no interval */
    const bool *holed;        /* (model columns) intervals are written of these alone; NULL: of all */
};

/* The line of names, if the data have one, with those of added columns. */
void write_filled_header(struct output *output, const struct filled_rows *filled);

/* False: no memory. */
bool write_filled_rows(struct output *output, const struct filled_rows *filled);

#endif
