/* Files of orderings, one a line. */
#ifndef ND_DATA_ORDER_FILE_H
#define ND_DATA_ORDER_FILE_H

#include "base/context.h"

/* *order (*orderings, columns) comes from the context's allocator. */
nade_status nd_read_orderings(nade_context *context, const char *path, size_t columns, size_t **order,
                              size_t *orderings);

#endif
