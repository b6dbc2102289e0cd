/* A table written back with its missing cells filled in, everything else as it was. */
#ifndef CLI_FILLED_ROWS_H
#define CLI_FILLED_ROWS_H

#include "nade/nade.h"
#include "output.h"

/* How several draws of a row are laid out. */
enum filled_form {
    FORM_STACKED, /* a line each, one behind the other, numbered from 0 in a first column, draw */
    FORM_LONG, /* the table as it was, then once for each draw; .imp, from 0 for what was, and .id, from 1, come first
                */
    FORM_WIDE  /* the table as it was; behind it NAME_1, NAME_2, … of each column that lacks cells, filled */
};

/* Some rows of a table and what was found for them. */
struct filled_rows {
    const nade_model *model;
    const nade_table *table; /* read with keep_text, if from text */
    const size_t *source;    /* (model columns): the table's column of each */
    size_t rows;
    size_t draws;             /* for each row */
    bool numbered;            /* stacked lines begin with the number of the draw */
    const double *given;      /* (rows, model columns), NaN: missing */
    const bool *left;         /* (rows, model columns) missing for the model, but not to be filled */
    const double *values;     /* (rows, draws, model columns) */
    const double *low, *high; /* (rows, draws, model columns); NULL: no interval */
    const bool *holed;        /* (model columns) intervals, and wide columns, are of these alone; NULL: of all */
    enum filled_form form;
    size_t first;       /* the table's first row is number `first` of the data */
    size_t imputation;  /* of the long form: what .imp is */
    size_t imputations; /* and what it is last */
};

/* The line of names, if the data have one, with those of added columns. */
void write_filled_header(struct output *output, const struct filled_rows *filled);

/* False: no memory. */
bool write_filled_rows(struct output *output, const struct filled_rows *filled);

#endif
