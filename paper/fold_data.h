/* The table of a recipe of folds: its numbers, and which fold each row is in. */
#ifndef PAPER_FOLD_DATA_H
#define PAPER_FOLD_DATA_H

#include "nade/nade.h"
#include "options.h"

/* Where it comes from. */
struct fold_source {
    const char *recipe;         /* its name, for errors */
    const char *file;           /* a text table whose columns, those chosen, are all numbers */
    const char *columns, *drop; /* lists of columns; NULL: all, none */
    const char *folds;          /* lines of a fold, counted from 1, and a row, counted from 0; NULL: shuffled rows */
    size_t fold_count;
};

/* Begins all zero.  Free in any case. */
struct fold_data {
    size_t rows, columns;
    double *values;     /* (rows, columns) */
    const char **names; /* (columns), of the table */
    size_t *fold;       /* (rows) from 1 */
    nade_table *table;
};

/* 0 or an exit status. */
int fold_data_read(struct fold_data *data, const struct common *common, nade_context *context,
                   const struct fold_source *source);
void fold_data_free(struct fold_data *data);

/* A table of some of the rows, all columns real, to be freed.  0 or an exit status. */
int fold_data_table(const struct fold_data *data, const struct common *common, nade_context *context,
                    const size_t *rows, size_t count, nade_table **table);

#endif
