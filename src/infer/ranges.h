/* Bounds on columns of numbers, and of labels that are numbers, under which rows are drawn. */
#ifndef ND_INFER_RANGES_H
#define ND_INFER_RANGES_H

#include "model/model.h"

struct ranges {
    double *low, *high;   /* (columns), plan's units: what a drawn cell must lie between; NULL: no bounds at all */
    double *least, *most; /* (columns), data units: what the values that are returned lie between */
    size_t bounded;       /* the column that is drawn within its bounds; SIZE_MAX: none */
};

/* Reads the bounds of nade_sample_options.  Bounds on columns of labels that are not all numbers, and ones that no
 * value can meet, are refused. */
nade_status nd_read_ranges(nade_context *context, struct arena *arena, const nade_model *model,
                           const nade_sample_options *options, struct ranges *ranges);

/* Chooses the column to be drawn within its bounds: of those that are not given in all rows (rows, network columns; NaN
 * = not given) the one whose range is the least likely by itself. */
void nd_choose_bounded(const nade_model *model, size_t rows, const float *given, struct ranges *ranges);

/* True for a column that has bounds. */
bool nd_is_ranged(const struct ranges *ranges, size_t c);

/* True when every cell of a number that was not given lies within its bounds; the bounded column does by the way it is
 * drawn. */
bool nd_within_ranges(const struct ranges *ranges, const nade_model *model, const float *given, const float *cells);

#endif
