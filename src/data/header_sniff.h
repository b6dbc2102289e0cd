/* Whether the first row of a text file holds names. */
#ifndef ND_DATA_HEADER_SNIFF_H
#define ND_DATA_HEADER_SNIFF_H

#include "base/name_index.h"
#include "data/csv_head.h"

/* Looks at the first rows, whose bytes are there.  expected: names that make a header, whatever they look like; NULL:
 * none. */
nade_status nd_sniff_header(const struct source *source, struct csv_dialect dialect, const struct name_index *expected,
                            bool *header);

#endif
