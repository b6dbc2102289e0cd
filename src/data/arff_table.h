/* ARFF, the format of WEKA, UCI and OpenML: lines that declare the columns, then rows of separated text. */
#ifndef ND_DATA_ARFF_TABLE_H
#define ND_DATA_ARFF_TABLE_H

#include "data/text_table.h"

/* Whether the first line that is no comment is @relation. */
enum recognition nd_is_arff(const unsigned char *bytes, size_t count);

/* Reads up to the first row.  Close the text in any case. */
nade_status nd_open_arff(struct source *source, const struct load_request *request, struct text_table *text);

#endif
