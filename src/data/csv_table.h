/* CSV and TSV files. */
#ifndef ND_DATA_CSV_TABLE_H
#define ND_DATA_CSV_TABLE_H

#include "data/text_table.h"

/* Finds separator and header and reads up to the first row.  Close the text in any case. */
nade_status nd_open_csv(struct source *source, const struct load_request *request, struct text_table *text);

#endif
