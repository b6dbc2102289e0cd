/* What a column is, in words for people: "real, from 0, 57 values of their own, mapped". */
#ifndef ND_MODEL_COLUMN_WORDS_H
#define ND_MODEL_COLUMN_WORDS_H

#include "model/schema.h"

/* Fills in the kind of all columns, once all else is known of them but their marginals.  Memory comes from the
 * arena. */
nade_status nd_name_kinds(nade_context *context, struct arena *arena, struct schema *schema);

#endif
