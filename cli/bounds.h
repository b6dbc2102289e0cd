/* Bounds of columns of numbers as train takes them: --bounds COL=LO:HI and --unbounded COL. */
#ifndef CLI_BOUNDS_H
#define CLI_BOUNDS_H

#include "options.h"

/* Fills low and high (columns of the table, the caller's to free), which stay NULL where nothing is given. */
int parse_bounds(const struct common *common, const nade_table *table, const struct text_list *bounds,
                 const struct text_list *unbounded, double **low, double **high);

#endif
