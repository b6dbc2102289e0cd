/* A table's cells as the numbers that callers see. */
#ifndef ND_MODEL_TABLE_VALUES_H
#define ND_MODEL_TABLE_VALUES_H

#include "model/encode.h"
#include "model/model.h"

/* See nade_table_values in the public header; unseen says whether such cells are refused. */
nade_status nd_table_values(nade_context *context, const nade_model *model, const nade_table *table,
                            const char *may_lack, double *values, size_t *source, struct unseen_cells *unseen);

#endif
