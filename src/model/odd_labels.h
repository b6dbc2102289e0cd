/* Warnings of text columns that are hardly meant as labels: names of rows, and numbers with decimal commas. */
#ifndef ND_MODEL_ODD_LABELS_H
#define ND_MODEL_ODD_LABELS_H

#include "data/table.h"

/* A warning each that names text columns with at least 100 labels and more than half as many labels as cells, and
 * columns of numbers with decimal commas. */
void nd_warn_of_odd_labels(nade_context *context, const nade_table *table);

#endif
