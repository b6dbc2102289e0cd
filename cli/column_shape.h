/* Shapes of columns in words, for `nade info` and `nade train`. */
#ifndef CLI_COLUMN_SHAPE_H
#define CLI_COLUMN_SHAPE_H

#include <nade/nade.h>

#include "report.h"

/* What is said of a model's column beside its type: "from 0, 57 values of their own, mapped"; "": nothing. */
const char *column_shape(const nade_column *column);

/* What each column of a model, and of the table that it learns from, was taken for: a line each, or, where there are
 * many, a paragraph for those that are alike; of very many their types alone, unless all is to be told. */
void note_columns(const struct common *common, const nade_table *table, const nade_model *model, bool all);

#endif
