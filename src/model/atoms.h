/* Which values of real columns are atoms: values that repeat so often that they have a probability of their own. */
#ifndef ND_MODEL_ATOMS_H
#define ND_MODEL_ATOMS_H

#include "model/schema.h"

/* Finds the atoms of a schema's real columns in the rows it was learnt from, at most `most` a column, the most frequent
 * first.  A value is one when it holds 20 of the column's present cells and a fifth of them, or when it is a spike
 * among its neighbours (docs/model.md); and, in a column of at most 20 distinct values with 20 cells each on average,
 * when it is there at all.  One warning names the columns. */
nade_status nd_learn_atoms(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                           size_t row_count, size_t most, struct schema *schema);

#endif
