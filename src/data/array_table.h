/* Arrays in memory. */
#ifndef ND_DATA_ARRAY_TABLE_H
#define ND_DATA_ARRAY_TABLE_H

#include "data/table.h"

/* A copy of an array in memory (rows, columns), row-major. */
nade_status nd_load_array(nade_context *context, const double *values, size_t rows, size_t columns,
                          const char *const *names, nade_table **table);

#endif
