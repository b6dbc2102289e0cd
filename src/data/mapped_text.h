/* Rows of a CSV file that are left there (mapped_rows.h).
 *
 * Each rank has a part of the file's bytes.  Where rows begin in it only who reads all that lies before can tell, since
 * a quoted field may hold line ends: so a rank guesses that one begins behind the first line end, and goes on where the
 * rank before it came to, should that be elsewhere. */
#ifndef ND_DATA_MAPPED_TEXT_H
#define ND_DATA_MAPPED_TEXT_H

#include "data/mapped_rows.h"
#include "data/text_table.h"

/* Whether the rows of a text that has just been opened can be left in the file: of a plain CSV file of more than one
 * column, none of whose rows were chosen and none of whose texts are kept. */
bool nd_text_can_be_mapped(const struct source *source, const struct load_request *request,
                           const struct text_table *text);

/* Collective.  A table of the sample, with `mapped` set, which has taken the text over; NULL where the file has so few
 * rows that it is to be loaded, and the text is as it was. */
nade_status nd_load_mapped_text(struct source *source, struct text_table *text, nade_table **table);

/* As the functions of mapped_rows.h.  most: how many rows a block may have. */
struct share nd_mapped_text_share(const struct mapped_text *text, unsigned rank);
size_t nd_mapped_text_most(const struct mapped_text *text, size_t most);
nade_status nd_mapped_text_block(nade_context *context, const nade_table *table, size_t first, size_t count,
                                 nade_table **block);
void nd_mapped_text_free(const nade_allocator *allocator, struct mapped_text *text);

#endif
