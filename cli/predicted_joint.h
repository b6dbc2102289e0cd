/* The probability of every combination of labels of several columns: a column of nade predict's output each. */
#ifndef CLI_PREDICTED_JOINT_H
#define CLI_PREDICTED_JOINT_H

#include "predicted_columns.h"

/* Columns, and combinations of their labels, at most: all orderings of the columns are walked. */
enum { JOINT_COLUMNS_MOST = 4, JOINT_MOST = 10000 };

/* Begins all zero. */
struct predicted_joint {
    const struct predicted_column *predicted; /* (count) */
    size_t count;
    size_t combinations; /* the last column's label changes first; 0: not asked for */
    double *probability; /* (part, combinations) */
    double *rows;        /* (combinations, model columns) a row with the labels of each filled in */
    size_t *orders;      /* (order_count, model columns) all orderings of the columns, the others behind them */
    size_t order_count;
    char *name; /* of one combination */
    size_t name_size;
};

/* 0 or an exit status: columns of numbers, and too many combinations, are refused. */
int begin_joint(struct predicted_joint *joint, const struct common *common, const nade_model *model,
                const struct predicted_column *predicted, size_t count, size_t part);
void free_joint(struct predicted_joint *joint);

/* For rows of values (rows, model columns) that do not hold what is asked for: the density of each combination as
 * nade_score gives it, the mean over all orderings of the columns and over members.  scoring says what is of and given.
 */
nade_status predict_joint(struct predicted_joint *joint, nade_context *context, const nade_model *model,
                          const nade_score_options *scoring, size_t rows, const double *values);

/* "a=x & b=y" of each combination, and its probability in a row; all begin with a separator. */
void write_joint_names(struct output *output, const struct predicted_joint *joint);
void write_joint_row(struct output *output, const struct predicted_joint *joint, size_t row);

#endif
