/* A warning of values so far from the rest that they blur a column: the floor on the scales follows the standard
 * deviation, and a code like 999999 for "unknown" makes that larger than all the other values' differences. */
#ifndef ND_MODEL_FAR_VALUES_H
#define ND_MODEL_FAR_VALUES_H

#include "model/schema.h"

/* One warning that names real columns whose least scale, the floor in data units, exceeds a tenth of their
 * interquartile range because few values lie far from the rest, and these values. */
nade_status nd_warn_of_far_values(nade_context *context, const nade_table *table, const size_t *rows, size_t row_count,
                                  const struct schema *schema);

#endif
