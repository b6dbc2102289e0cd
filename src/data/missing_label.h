/* Absence as a label of its own: the empty text, which no present cell can be. */
#ifndef ND_DATA_MISSING_LABEL_H
#define ND_DATA_MISSING_LABEL_H

#include "data/table.h"

/* Makes absence a label of its own, the empty text, in the columns of a COLS list, all or none: they become
 * categorical and have no missing cells any more. */
nade_status nd_missing_as_value(nade_context *context, struct nade_table *table, const char *list);

#endif
