/* What a table's column holds, in words. */
#ifndef ND_DATA_COLUMN_TEXT_H
#define ND_DATA_COLUMN_TEXT_H

#include "data/table.h"

/* "from 18 to 93, 57 different", "3 labels: red, green, blue; few integers that repeat": its values and, where that is
 * not plain, why it has its type.  Cut to size. */
void nd_describe_column(const struct nade_table *table, size_t column, char *text, size_t size);

#endif
