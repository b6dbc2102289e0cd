/* The rows that a scoring call is about: a table's, or values that the caller has. */
#ifndef ND_INFER_SCORED_ROWS_H
#define ND_INFER_SCORED_ROWS_H

#include "infer/session.h"
#include "model/encode.h"

struct scored_rows {
    const nade_table *table; /* NULL: values */
    struct encoded_rows cells;
    const float *labels;        /* (rows, columns) of columns with rare ones that are scored; NULL: none */
    struct unseen_cells unseen; /* of a table */
};

/* Encodes the columns that are needed (model columns), and the labels of those in `of`, which share values. */
nade_status nd_take_scored_rows(nade_context *context, struct arena *arena, const nade_model *model,
                                const nade_table *table, const nade_score_options *options, const bool *needed,
                                const bool *of, struct scored_rows *rows);

/* Where a row is, for messages, and what all of them are called. */
struct row_place nd_scored_place(const struct scored_rows *rows, size_t row);
const char *nd_scored_source(const struct scored_rows *rows);

#endif
