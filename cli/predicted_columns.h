/* What nade predict finds out about the columns it is asked for: a block of columns of its output each, and, where the
 * truth is in the table, how good that was. */
#ifndef CLI_PREDICTED_COLUMNS_H
#define CLI_PREDICTED_COLUMNS_H

#include <jansson.h>
#include <stdbool.h>

#include "nade/nade.h"
#include "output.h"

/* Of the cells whose truth is known, so far. */
struct prediction_quality {
    size_t cells, impossible; /* impossible: the column can't have the truth; they count in no mean of logarithms */
    size_t foreign;           /* of these, those that are no value of the column's at all: they are told by no number */
    double log_sum;           /* of log p of the truth */
    size_t hits;              /* labels: the likeliest is the truth; numbers: the interval holds it */
    double squares, distances; /* numbers: of what the mean is off by, and the median */
    double mean, deviations;   /* numbers: the mean of the truths, and the sum of squares of their distances from it */
    size_t *truths;            /* (labels) how often each is the truth */
    /* For areas under curves: what was said of each cell, (cells, labels), and its truth. */
    float *said;
    uint32_t *truth;
    size_t room; /* cells */
    double area; /* under the curve, or the mean of several; NaN: not known */
};

struct predicted_column {
    size_t column; /* of the model */
    nade_column known;
    size_t labels;                   /* 0: numbers */
    char **names;                    /* (labels) NAME=LABEL */
    double *probability;             /* (part, labels) */
    double *mean, *quantile, *log_p; /* (part), (part, 3), (part) */
    double *truth;                   /* (part) NaN where it is not known, or foreign */
    bool *foreign;                   /* (part) the cell holds what is no value of the column's */
    struct prediction_quality quality;
};

/* Labels beyond which areas under curves are not worth the memory. */
enum { CURVE_LABELS_MOST = 30 };

/* Places for so many rows at a time: 0 or an exit status. */
int begin_predicted(struct predicted_column *predicted, const struct common *common, const nade_model *model,
                    size_t column, size_t part);
void free_predicted(struct predicted_column *predicted);

/* Of several columns no two may be written under one name, as a column c=a and label a of c would: 0 or an exit status.
 */
int check_predicted_names(const struct predicted_column *predicted, size_t count, const struct common *common);

/* Predicts the column in rows of values (rows, model columns), which do not hold what is asked for; truth is set.
 * interval: the probability between the ends. */
nade_status predict_column(struct predicted_column *predicted, nade_context *context, const nade_model *model,
                           nade_session *session, double interval, size_t rows, const double *values);

/* The truth of a row, as nade_table_values gives it: INFINITY for what is no value of the column's. */
void put_truth(struct predicted_column *predicted, size_t row, double value);

/* Takes the truth of these rows into account: 0 or an exit status. */
int judge_predicted(struct predicted_column *predicted, const struct common *common, size_t rows);

/* To be called when all rows are judged: 0 or an exit status. */
int finish_predicted(struct predicted_column *predicted, const struct common *common);

/* The names of its columns of the output, and its fields in a row; both begin without a separator. */
void write_predicted_names(struct output *output, const struct predicted_column *predicted);
void write_predicted_row(struct output *output, const struct predicted_column *predicted, size_t row);

/* How good it was: a note, or an object for the summary. */
void note_predicted(const struct predicted_column *predicted, const struct common *common, double interval);
json_t *predicted_as_json(const struct predicted_column *predicted);

#endif
