/* Between the values that callers see and a network's cells. */
#ifndef ND_INFER_VALUES_H
#define ND_INFER_VALUES_H

#include "model/model.h"

/* What rows are called in messages: row i of a call is row first + i / repeats of the data.  repeats 0: rows of no
 * data, which have a number only where they are not all the same. */
struct row_names {
    uint64_t first;
    size_t repeats;
};

enum { ND_PLACE_SIZE = 32 };

/* "row 3, ", or "" for a row without a number: how messages about row `row` of values (rows, columns) begin. */
const char *nd_row_place(struct row_names names, size_t rows, size_t columns, const double *values, size_t row,
                         char place[ND_PLACE_SIZE]);

/* cells (rows, network columns) in the model's units from values (rows, columns) as nade_sample takes them; NaN stays
 * NaN, and the columns of holes are missing. With
 * a fixed ordering, what is there must come before what is not. */
nade_status nd_encode_values(nade_context *context, const nade_model *model, struct row_names names, size_t rows,
                             const double *values, float *cells);

/* The same of values that need not be what a fixed ordering begins with; columns that are not needed (columns; NULL:
 * all are) are not looked at and come out as missing. */
nade_status nd_encode_any_values(nade_context *context, const nade_model *model, struct row_names names, size_t rows,
                                 const double *values, const bool *needed, float *cells);

/* A cell in the data's units: the head's decode, or the number of a label. */
double nd_decode_value(const struct column_spec *spec, double cell, int exact);

/* Whether a cell of the column has several values: a date's may be a minute of 60 seconds, all as likely. */
bool nd_has_parts(const struct column_spec *spec);

/* The value up to which the column has this probability: where a cell has several, the one that is reached within. */
double nd_quantile_value(const struct column_spec *spec, const struct plan_column *column, const double *outputs,
                         double level, int exact);

#endif
