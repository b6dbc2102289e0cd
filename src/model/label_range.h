/* Ranges of columns whose labels are all numbers, as ratings are: the labels within, those of the shared value
 * included. Ends are these numbers in data units and in the plan's alike, since labels need not be in their order. */
#ifndef ND_MODEL_LABEL_RANGE_H
#define ND_MODEL_LABEL_RANGE_H

#include "model/head.h"

/* Finds the numbers of a column's labels, if all are numbers, absence aside.  False: no memory. */
bool nd_number_labels(struct arena *arena, struct column_spec *spec);

/* True when a label's number lies between two.  The column's labels are numbers. */
bool nd_label_is_between(const struct column_spec *spec, size_t label, double low, double high);

/* A draw from the rare labels between two; uniform is in [0, 1). */
size_t nd_draw_rare_between(const struct column_spec *spec, double low, double high, double uniform);

/* Functions of struct head. */
nade_status nd_range_labels(nade_context *context, const struct column_spec *spec, bool exact, struct range *range);
double nd_log_between_labels(const struct plan_column *column, const double *outputs, double low, double high);
double nd_sample_between_labels(const struct plan_column *column, const double *outputs, double low, double high,
                                const uint32_t words[4]);

#endif
