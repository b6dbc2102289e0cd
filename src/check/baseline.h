/* What a model is compared with: one Gaussian, or a mixture of products of columns, fitted to rows as nade_table_values
 * gives them.  Their densities are in the units of the model's, so that they can be subtracted from each other
 * (docs/answers.md). */
#ifndef ND_CHECK_BASELINE_H
#define ND_CHECK_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/schema.h"
#include "nade/check.h"

/* What a column's cells are counted by. */
struct baseline_column {
    size_t labels; /* of a column of labels: how many; 0: its values are numbers */
    /* A number counts by the probability of its bin, the interval of values that are recorded as it, divided by unit;
     * else by its density. */
    bool binned;
    double unit;
    double step;          /* width of a bin, 0: nothing is known of one, or the values are listed */
    const double *values; /* (value_count) ascending, all that there are; NULL: any */
    size_t value_count;
    double least, most; /* the first and the last value, whose bins have all that lies beyond; infinite: none */
};

/* Rows of numbers and label numbers, NaN where a cell is missing. */
struct baseline_rows {
    const struct baseline_column *column;
    size_t columns;
    const double *values; /* (…, columns) */
    const size_t *row;    /* (count) which of them */
    size_t count;
    const nade_allocator *allocator;
};

struct baseline_method {
    nade_baseline kind;
    uint32_t seed; /* fixes the folds, and where the mixture's fits begin */
    nade_context *context;
    const struct schema *schema; /* of the rows' columns; a Gaussian has no need of it */
    int cells;                   /* what a mixture's numbers count by, as in nade_score_options */
};

/* Fits to some rows and scores others by that: score (scored->count), cell (scored->count, columns) each cell's given
 * the others of its row, NaN where it is missing, NULL: not wanted; *components gets those of a mixture, 1 of a
 * Gaussian.  NADE_NO_MEMORY may come without a sentence. */
nade_status nd_baseline_score(const struct baseline_method *method, const struct baseline_rows *fitted,
                              const struct baseline_rows *scored, double *score, double *cell, size_t *components);

/* Fits to all folds of the rows (count, columns) but one and scores that one, for each: row_score (count), cell_score
 * (count, columns), NULL: not wanted; *most gets the largest number of components.  progress, which may be NULL, is
 * told the share done; NADE_INTERRUPTED when it returns other than 0. */
enum { BASELINE_FOLDS = 5 };
nade_status nd_baseline_cross_fit(const struct baseline_method *method, const struct baseline_rows *rows,
                                  double *row_score, double *cell_score, size_t *most,
                                  int (*progress)(void *user, double done), void *user);

#endif
