/* Shapes of columns in words, for `nade info` and `nade train`. */
#ifndef CLI_COLUMN_SHAPE_H
#define CLI_COLUMN_SHAPE_H

#include <nade/nade.h>

#include "report.h"

/* What is said of a model's column beside its type: "from 0, 57 values of their own, mapped"; "": nothing. */
const char *column_shape(const nade_column *column);

/* A line for each column of numbers that has a shape: the first few, or all. */
void note_shapes(const struct common *common, const nade_model *model, bool all);

#endif
