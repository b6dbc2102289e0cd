/* Where cells are missing, learnt with the values.
 *
 * On demand the network has further binary columns behind those of the data, two for each of the I columns of which
 * training rows lack cells.  The first I are 1 where the row's cell is missing, else 0.  The other I are stand-ins: 0
 * where the row's cell is missing, and missing where it is there.  So every row has the same number of cells, and the
 * objective, which draws how many of a row's cells are observed, weighs all rows alike whatever they lack; without
 * them, rows with holes would count for more where little is observed, and samples have too many holes.
 *
 * Training has each row in ND_WAYS ways: as it is without holes, all further columns missing; told what it lacks, all
 * of them there; and as a pattern, those that say what is missing alone.
 * Answers are about rows of the first kind, and so are densities.  The third is what samplers ask first, the second
 * what they ask then.
 *
 * These columns are in plans and encoded rows, and nowhere else: no table, no ordering of a caller's and no answer has
 * them. */
#ifndef ND_MODEL_HOLES_H
#define ND_MODEL_HOLES_H

#include "model/schema.h"

enum { ND_WAYS = 3 };

/* Finds of each column the share of the chosen rows that lack its cell, and with that schema->hole. */
nade_status nd_learn_holes(nade_context *context, struct arena *arena, const nade_table *table, const size_t *rows,
                           size_t row_count, struct schema *schema);

/* Makes schema->hole from the columns' missing_share.  False: no memory. */
bool nd_list_holes(struct arena *arena, struct schema *schema);

/* Makes of rows that were encoded for the schema, ND_WAYS times all of them one after the other, as above. */
void nd_mark_holes(const struct schema *schema, const struct encoded_rows *cells);

#endif
